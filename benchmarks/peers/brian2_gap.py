"""Brian2: a sheet of Izhikevich neurons with gap junctions, by a `summed` variable."""

from __future__ import annotations

import numpy as np
from _common import Stopwatch, arguments

RADIUS = 2


def pairs(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all pairs of neurons within the radius, in both directions."""
    y, x = np.divmod(np.arange(side**2), side)
    near = range(-RADIUS, RADIUS + 1)
    found = []
    for dy in near:
        for dx in near:
            if 0 < dx**2 + dy**2 <= RADIUS**2:
                inside = (x + dx >= 0) & (x + dx < side) & (y + dy >= 0) & (y + dy < side)
                i = np.flatnonzero(inside)
                found.append((i, i + dy * side + dx))
    i, j = (np.concatenate(part) for part in zip(*found))
    return i, j


def main() -> None:
    args = arguments(40_000, side=200, individual=0)
    args.neurons = args.side**2
    import _brian2
    from brian2 import NeuronGroup, Synapses, ms

    _brian2.set_up(args)
    with Stopwatch() as making:
        group = NeuronGroup(
            args.neurons,
            """dv/dt = (0.04*v**2 + 5*v + 140 - u + 10 + gap)/ms : 1
            du/dt = 0.02*(0.2*v - u)/ms : 1
            gap : 1""",
            threshold="v >= 30",
            reset="v = -65; u += 8",
            method="euler",
            dt=0.1 * ms,
        )
        group.v = "-65 + 95*rand()"
        group.u = 0.2 * -65
        model = "gap_post = {}*(v_pre - v_post) : 1 (summed)"
        model = "w : 1\n" + model.format("w") if args.individual else model.format("0.02")
        synapses = Synapses(group, group, model)
        i, j = pairs(args.side)
        # Sorted by the target, as the loop over synapses then writes its sums in their order.
        order = np.lexsort((i, j))
        synapses.connect(i=i[order], j=j[order])
        if args.individual:
            synapses.w = "0.01 + 0.02*rand()"
    _brian2.run("gap", args, group, (synapses,), making.wall)


if __name__ == "__main__":
    main()
