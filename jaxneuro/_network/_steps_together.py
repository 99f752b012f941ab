"""Several steps between two exchanges: as many as the shortest delay has.

What is released in a step arrives after the shortest delay at the earliest. So the neurons of a
device can take that many steps before they must know what others released; then all of it is
exchanged at once, and delivered step by step, in the order in which single steps would deliver.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxneuro._network._network_state import NetworkState, Output

from .._kernels import Released


def steps_together(
    net: Any, state: NetworkState, inputs: Mapping[str, jax.Array], steps: int
) -> tuple[NetworkState, Output]:
    """`steps` steps of one device, inside `shard_map`; the output has an axis of steps.

    `net` a `SpreadNetwork` with peers, and without couplings, modulators and plastic weights;
    `inputs` (steps, ...).
    """
    rings, pathways = net.deliver_last_step(state)
    releases = tuple(p.release for p in pathways)
    kept = tuple(g._replace(ring=None, released=None) for g in state.groups)

    def one(carry: tuple, now: Mapping[str, jax.Array]) -> tuple:
        step, groups, releases = carry
        new, spikes = net.moved(groups, rings, step, now)
        here = tuple(Released.of_spikes(fired) for fired in spikes)
        releases, values = _released(net, releases, new, spikes)
        return (step + 1, new, releases), (here, values)

    inputs = {name: jnp.asarray(x, net.dtype) for name, x in inputs.items()}
    carry = state.step, kept, releases
    (step, groups, releases), (here, values) = lax.scan(one, carry, inputs, length=steps)
    everywhere = tuple(peers.released_in_steps(r) for peers, r in zip(net.peers, here))
    own = tuple(_own(net, p, x, everywhere) for p, x in zip(net.pathways, values))
    rings = _delivered(net, state.step, rings, everywhere, own, steps)
    last = jax.tree.map(lambda x: x[-1], (everywhere, own))
    new = state._replace(
        step=step,
        groups=tuple(g._replace(ring=r, released=x) for g, r, x in zip(groups, rings, last[0])),
        pathways=tuple(
            p._replace(release=release, released=x)
            for p, release, x in zip(pathways, releases, last[1])
        ),
    )
    spikes = [r.dense_in_steps(p.n) for r, p in zip(everywhere, net.peers)]
    return new, Output(net.by_name(spikes, axis=1), tuple(r.bits for r in everywhere))


def _released(net: Any, releases: tuple, groups: tuple, spikes: tuple) -> tuple[tuple, tuple]:
    """The releases after a step, and what each released here; None where that is the spikes."""
    new, values = [], []
    for p, release in zip(net.pathways, releases):
        if p.release.plain:
            new.append(release)
            values.append(None)
            continue
        v = net.groups[p.source].model.voltage(groups[p.source].neurons)
        release, x = p.release.step(release, spikes[p.source], v, net.dt)
        new.append(release)
        values.append(x.astype(net.dtype))
    return tuple(new), tuple(values)


def _own(net: Any, pathway: Any, values: Any, everywhere: tuple) -> Released | None:
    """What all sources of a pathway released in each step, None where that is the spikes."""
    if values is None:
        return None
    peers = net.peers[pathway.source]
    if pathway.release.with_spikes:
        return Released(everywhere[pathway.source].bits, peers.gather(values))
    return peers.released_in_steps(jax.vmap(Released.of_values)(values))


def _delivered(
    net: Any, first: jax.Array, rings: list, everywhere: tuple, own: tuple, steps: int
) -> tuple:
    """The rings after all steps but the last have been delivered."""

    def one(rings: tuple, now: tuple) -> tuple:
        step, spikes, mine = now
        new, cleared = list(rings), set()
        for p, released in zip(net.pathways, mine):
            x = spikes[p.source] if released is None else released
            new[p.target] = p.deliver_now(new[p.target], x, step, p.target not in cleared)
            cleared.add(p.target)
        return tuple(new), None

    before = jax.tree.map(lambda x: x[:-1], (everywhere, own))
    numbers = first + jnp.arange(steps - 1, dtype=first.dtype)
    return lax.scan(one, tuple(rings), (numbers, *before))[0]
