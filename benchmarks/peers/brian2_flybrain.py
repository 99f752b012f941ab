"""Brian2: the model of the fly's brain (Shiu et al. 2024) on random edges, 20 neurons driven."""

from __future__ import annotations

from _common import Stopwatch, arguments
from _fly_edges import (
    DELAY_MS,
    DRIVE_MV,
    DRIVEN,
    EDGES,
    NEURONS,
    RATE_HZ,
    WEIGHT_MV,
    random_edges,
)


def main() -> None:
    args = arguments(NEURONS, edges=EDGES)
    import _brian2
    from brian2 import Hz, NeuronGroup, PoissonInput, Synapses, ms, mV

    _brian2.set_up(args)
    edges = random_edges(args.neurons, args.edges, args.seed)
    with Stopwatch() as making:
        group = NeuronGroup(
            args.neurons,
            """dv/dt = (v0 - v + g)/tau_m : volt (unless refractory)
            dg/dt = -g/tau_syn : volt (unless refractory)""",
            threshold="v > v_th",
            reset="v = v0; g = 0*mV",
            refractory=2.2 * ms,
            method="linear",
            namespace={"v0": -52 * mV, "v_th": -45 * mV, "tau_m": 20 * ms, "tau_syn": 5 * ms},
        )
        group.v = -52 * mV
        synapses = Synapses(group, group, "w : volt", on_pre="g += w", delay=DELAY_MS * ms)
        synapses.connect(i=edges["pre"], j=edges["post"])
        synapses.w = WEIGHT_MV * edges["weight"] * mV
        drive = PoissonInput(group[:DRIVEN], "v", 1, RATE_HZ * Hz, weight=DRIVE_MV * mV)
    _brian2.run("flybrain", args, group, (synapses,), making.wall, (drive,))


if __name__ == "__main__":
    main()
