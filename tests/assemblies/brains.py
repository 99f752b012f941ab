"""Small brains, what happens to them, and the oracle with the same synapses."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro._kernels.redraw import gap_rows
from jaxneuro._numerics.streams import seed_of, stream_key
from tests.oracle import assemblies as oracle

ROUNDS = 36  # more than a word of the history has bits


def dense(seed, wire):
    """The synapses of a fibre: bool (sources, targets)."""
    edges = np.zeros((wire.places, wire.target.n), bool)
    if wire.p > 0:
        key = stream_key(seed_of(seed), wire.name, "synapses")
        counts, targets = gap_rows(key, 0, *edges.shape, wire.p)
        edges[np.repeat(np.arange(len(edges)), counts), targets] = True
    return edges


def oracle_of(brain, seed, beta=None):
    """The oracle of a brain without sampled areas; `beta` by fibre."""
    beta = brain.beta if beta is None else beta
    areas = {a.name: oracle.Area(a.n, a.k, a.refraction, a.homeostasis) for a in brain.areas}
    stimuli = {s.name: s.size for s in brain.stimuli}
    fibres = [
        oracle.Fibre(f.source, f.target, dense(seed, wire), np.float32(b), f.w_max)
        for f, wire, b in zip(brain.fibres, brain.wires, np.asarray(beta))
    ]
    return oracle.Brain(areas, stimuli, fibres)


class Events(NamedTuple):
    """What happens before each round, (rounds, ...), and in it.

    **Fields** `active` (F,), `plastic`; `fixed`, `cleared`, `rested` (A,) flags; `given` (A,)
    whether the cap of an area is set, to `neurons` by area (k,), -1 is nobody.
    """

    active: Any
    plastic: Any
    fixed: Any
    cleared: Any
    rested: Any
    given: Any
    neurons: tuple[Any, ...]


def events_of(brain, rng, rounds=ROUNDS):
    """Random events: mostly learning, now and then all the others."""
    size = rounds, len(brain.areas)
    rare = lambda chance: rng.random(size) < chance  # noqa: E731
    often = rng.random(len(brain.fibres)) ** 0.5  # some fibres are seldom active
    return Events(
        rng.random((rounds, len(brain.fibres))) < often,
        rng.random(rounds) < 0.8,
        np.cumsum(rare(0.1), axis=0) % 3 == 1,
        rare(0.04),
        rare(0.1),
        rare(0.06),
        tuple(np.stack([_neurons(a, rng) for _ in range(rounds)]) for a in brain.areas),
    )


def _neurons(area, rng):
    out = rng.choice(area.n, area.k, replace=False).astype(np.int32)
    out[: rng.integers(0, area.k + 1) if rng.random() < 0.6 else 0] = -1
    return rng.permutation(out)


def happened(brain, state, now):
    """The state after what happens before a round."""
    for number, area in enumerate(brain.areas):
        given = lambda s, name, at=number: brain.with_cap(s, name, now.neurons[at])  # noqa: E731
        ways = (now.cleared, brain.clear), (now.rested, brain.rest), (now.given, given)
        for flags, change in ways:
            state = _where(flags[number], change(state, area.name), state)
        state = brain.fix(state, area.name, now.fixed[number])
    return state


def _where(flag, new, old):
    return jax.tree.map(lambda x, y: y if x is y else jnp.where(flag, x, y), new, old)


def happened_by_hand(areas, now):
    """The same to the areas of the oracle, in their order."""
    for number, area in enumerate(areas):
        if now.cleared[number]:
            area.cap = None
        if now.rested[number]:
            area.wins[:] = 0
        if now.given[number]:
            some = np.sort(now.neurons[number][now.neurons[number] >= 0])
            area.cap = some if some.size else None  # where nobody fires there is no cap
            area.ever[some] = True
        area.fixed = bool(now.fixed[number])


def caps_and_supports(brain, state):
    """By area: the cap, -1 where nobody is, and the support."""
    out = []
    for area in brain.areas:
        out.append((brain.cap(state, area.name), brain.support(state, area.name)))
    return out


def followed(brain, seed, events):
    """The state after all events, and caps and supports after each round: for a `jit`."""

    def one(state, now):
        state = brain.step(happened(brain, state, now), now.active, now.plastic)
        return state, caps_and_supports(brain, state)

    return jax.lax.scan(one, brain.init(seed), events)


def followed_by_hand(brain, seed, events, beta=None):
    """The oracle after all events, and what `followed` gives, in NumPy."""
    exact = oracle_of(brain, seed, beta)
    areas, seen = list(exact.areas.values()), []
    for number in range(len(events.plastic)):
        now = jax.tree.map(lambda x, at=number: x[at], events)
        happened_by_hand(areas, now)
        exact.step(now.active, bool(now.plastic))
        seen.append([(_padded(a), a.support) for a in areas])
    return exact, [tuple(map(np.stack, zip(*area))) for area in zip(*seen)]


def _padded(area):
    cap = np.full(area.k, -1, np.int32)
    if area.cap is not None:
        cap[: len(area.cap)] = area.cap
    return cap
