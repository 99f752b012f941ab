"""Checks delivery and its derivative on this card against NumPy: all kinds of section, races."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels.clock import Clock
from jaxneuro._kernels.cotangents import value_cotangents
from jaxneuro._kernels.deliver import deliver
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._kernels.table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, ring_place

from ._run import DT

STEPS = 60
QUANTA = 1024  # of a ring of integers, in one


class Wires(NamedTuple):
    """The connections of a pathway as NumPy reads them: arrays (synapses,)."""

    source: np.ndarray
    place: np.ndarray  # receptor and target
    steps: np.ndarray
    weight: np.ndarray


def eighths(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Weights whose sums are exact in float32, in any order."""
    return ((3 * i + 7 * j) % 17 - 8) / 8


def _network(sizes: tuple[int, int], p: float, own_weight: bool, own_delay: bool) -> jn.Network:
    """Three projections from each of two populations onto another group."""
    rng = np.random.default_rng(1)
    target = jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid())
    populations = [
        *(jn.Population(name, n, jn.neurons.LIF()) for name, n in zip("AB", (sizes[0], 77))),
        jn.Population("T", sizes[1], target),
    ]

    def projection(source: str, number: int) -> jn.Projection:
        n = dict(zip("AB", (sizes[0], 77)))[source]
        pre, post = np.nonzero(rng.random((n, sizes[1])) < p)
        return jn.Projection(
            source,
            "T",
            jn.connectivity.Explicit(np.r_[pre, pre[:5]], np.r_[post, post[:5]]),  # some twice
            weight=eighths if own_weight else (number + 1) / 4,
            delay=(lambda i, j: DT * (1 + (i + 5 * j) % 23)) if own_delay else DT * (number + 1),
            synapse=jn.synapses.Exponential(tau_syn=1.0 + number % 2),
            name=f"{source}{number}",
        )

    projections = [projection(source, number) for source in "AB" for number in range(3)]
    return jn.build(jn.Description(populations, projections), key=1, dt=DT)


def wires_of(net: jn.Network) -> Wires:
    """All connections of the only pathway of a network."""
    (pathway,) = net.pathways
    pieces = []
    n = net.groups[pathway.target].n
    for name, receptor in zip(pathway.projections, pathway.inputs):
        c = net.connections(name)
        first, onto = (net.population(x)[1].start for x in (c.source, c.target))
        steps = np.rint(c.delay / DT).astype(np.int64)
        pieces.append((c.pre + first, ring_place(receptor, onto + c.post, n), steps, c.weight))
    return Wires(*(np.concatenate(x) for x in zip(*pieces)))


def expected(wires: Wires, values: np.ndarray, places: int) -> np.ndarray:
    """Arrivals (steps, places) when step k releases `values[k]`."""
    out = np.zeros((len(values) + int(wires.steps.max()), places))
    for k, value in enumerate(values):
        np.add.at(out, (k + wires.steps, wires.place), value[wires.source] * wires.weight)
    return out[: len(values)]


def arrivals(net: jn.Network, values: np.ndarray, bits: bool, dtype: Any, call: Callable) -> Any:
    """Arrivals step by step: delivery in a loop, as in a network."""
    (p,) = net.pathways
    target = net.groups[p.target]
    shape = (target.slots, len(target.receptors) * target.n)
    scale = (p.weight * p.gain)[p.table.block_projection]
    scale = scale * QUANTA if dtype == jnp.int32 else scale
    pad = -values.shape[1] % 64
    padded = np.pad((values != 0).astype(np.uint8), [(0, 0), (0, pad)])
    packed = jnp.asarray(np.packbits(padded, axis=1, bitorder="little"))
    given = SpikeOutput(packed, None if bits else jnp.asarray(values, jnp.float32))

    @jax.jit
    def loop(given, scale, weights, table):
        def body(carry, now):
            ring, released, k = carry
            ring = call(ring, released, k - 1, scale, weights, table, True)
            return (ring, now, k + 1), ring[k % shape[0]]

        silent = jax.tree.map(lambda x: jnp.zeros_like(x[0]), given)
        start = jnp.zeros(shape, dtype), silent, jnp.int32(0)
        return jax.lax.scan(body, start, given)[1]

    return np.asarray(loop(given, scale, p.weights, p.table))


def caller(interpret: bool) -> Callable:
    """`deliver` as the network calls it, or the kernel interpreted on a CPU."""
    if not interpret:
        return deliver
    from jaxneuro._kernels.gpu_deliver import deliver_pallas

    return lambda *args: deliver_pallas(*args, interpret=True)


def smoke(interpret: bool) -> Iterator[tuple[str, bool]]:
    """Name and success of a check of every kind of section, kind of release and ring."""
    rng = np.random.default_rng(0)
    steps = 8 if interpret else STEPS
    kinds = list(itertools.product((False, True), repeat=3))
    for own_weight, own_delay, few in kinds[::3] if interpret else kinds:
        net = _network((150, 60), 0.02 if few else 0.5, own_weight, own_delay)
        (p,) = net.pathways
        flags = np.bitwise_or.reduce(np.asarray(p.table.sections)[:, 4])
        kind = HAS_WEIGHTS * own_weight | HAS_DELAYS * own_delay | HAS_TAGS * few
        found = int(flags) & (HAS_WEIGHTS | HAS_DELAYS | HAS_TAGS) == kind
        wires, n = wires_of(net), net.groups[p.source].n
        spikes = rng.integers(0, 2, (steps, n))
        values = rng.integers(-2, 3, (steps, n)) / 2
        for release, dtype in ((spikes, jnp.float32), (spikes, jnp.int32), (values, jnp.float32)):
            bits = release is spikes
            got = arrivals(net, release, bits, dtype, caller(interpret))
            want = expected(wires, release, got.shape[1]) * (QUANTA if dtype == jnp.int32 else 1)
            name = f"weights {own_weight}, delays {own_delay}, tags {few}, "
            name += f"{'spikes' if bits else 'values'}, {np.dtype(dtype).name}"
            yield name, found and bool(np.array_equal(got, want))


def drawn(interpret: bool) -> Iterator[tuple[str, bool]]:
    """Rows drawn in the kernel equal the stored ones bit for bit, in a ring of integers."""
    rules = jn.connectivity
    for rule, own in ((rules.FixedProbability(0.2), True), (rules.FixedOutdegree(40), False)):
        got = []
        for stored in (True, False):
            net = _one_projection(200, 100, dataclasses.replace(rule, stored=stored), own)
            spikes = np.ones((4 if interpret else STEPS, 200))
            got.append(arrivals(net, spikes, True, jnp.int32, caller(interpret)))
        name = f"{type(rule).__name__} drawn in the kernel"
        yield name, bool(got[0].any()) and bool(np.array_equal(*got))


def cotangents(interpret: bool) -> Iterator[tuple[str, bool]]:
    """Those of spikes, of every kind of section, equal sums in NumPy that are exact in float32."""
    rng, step = np.random.default_rng(2), 37
    kinds = list(itertools.product((False, True), repeat=3))
    for own_weight, own_delay, few in kinds[::3] if interpret else kinds:
        net = _network((150, 60), 0.02 if few else 0.5, own_weight, own_delay)
        (p,) = net.pathways
        n, target, wires = net.groups[p.source].n, net.groups[p.target], wires_of(net)
        slots, places = target.slots, len(target.receptors) * target.n
        ring = rng.integers(-3, 4, (slots, places)).astype(np.float32)
        counted = rng.random(n) < 0.5
        read = wires.weight * ring[(step + wires.steps) % slots, wires.place]
        want = np.where(counted, np.bincount(wires.source, read, n), 0.0)
        bits = np.packbits(np.pad(counted, (0, -n % 64)), bitorder="little")
        scale = (p.weight * p.gain)[p.table.block_projection]
        weights = jnp.asarray(p.weights)
        given = jnp.asarray(ring), jnp.asarray(bits), Clock.of(jnp.int32(step)), scale, weights
        if interpret:
            from jaxneuro._kernels.gpu_cotangents import values_pallas

            got = values_pallas(*given, p.table, n, interpret=True)
        else:
            got = value_cotangents(*given, p.table, n, False)[1]
        name = f"cotangents, weights {own_weight}, delays {own_delay}, tags {few}"
        yield name, bool(want.any()) and bool(np.array_equal(got, want))


def races(interpret: bool) -> Iterator[tuple[str, bool]]:
    """100 steps of every neuron firing with a delay of one step: the same exact sums each time.

    Spread over many targets and crowded onto 16 of them.
    """
    steps, sources = (3, 40) if interpret else (100, 4000)
    for name, targets, p in (("spread", sources, 0.1), ("crowded", 16, 1.0)):
        net = _one_projection(sources, targets, jn.connectivity.FixedProbability(p), eighths)
        ones = np.ones((steps, net.groups[net.pathways[0].source].n))
        want = expected(wires_of(net), ones[:2], targets)[1]
        for dtype in (jnp.float32, jnp.int32):
            got = arrivals(net, ones, True, dtype, caller(interpret))
            want_now = want * (QUANTA if dtype == jnp.int32 else 1)
            same = bool((got[1:] == want_now).all()) and not got[0].any()
            yield f"{name}, {np.dtype(dtype).name}, {steps} times", same


def _one_projection(sources: int, targets: int, rule: Any, weight: Any) -> jn.Network:
    """With `weight` True also delays are drawn, with False both are one number."""
    own = weight is True
    wire = jn.Projection(
        "A",
        "T",
        rule,
        weight=jn.Normal(1.0, 0.3) if own else weight or 0.5,
        delay=jn.Normal(1.5, 0.5, low=DT, high=3.0) if own else DT,
        synapse=jn.synapses.Exponential(),
    )
    target = jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid())
    populations = [
        jn.Population("A", sources, jn.neurons.LIF()),
        jn.Population("T", targets, target),
    ]
    return jn.build(jn.Description(populations, [wire]), key=1, dt=DT)
