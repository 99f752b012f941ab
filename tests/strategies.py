"""Random tables of connections, with the same connections as the oracle reads them.

A table is laid out by the package from listed bundles; its weight column is first made of the
numbers of the connections, so that the place of every connection is known.
"""

import dataclasses

import hypothesis.strategies as st
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels.bits import packed_bytes
from jaxneuro._kernels.table import Table, ring_slots
from jaxneuro._tables.bundles import ListedBundle, Placement
from jaxneuro._tables.lay_out import lay_out


@dataclasses.dataclass
class Wiring:
    """One projection: who connects to whom; weights and delays one per connection.

    `own_weight`, `own_delay`: whether they are kept per connection; the first counts if not.
    """

    source: int
    target: int
    receptor: int
    pre: np.ndarray
    post: np.ndarray
    weight: np.ndarray
    delay: np.ndarray
    own_weight: bool
    own_delay: bool
    gain: float


@dataclasses.dataclass
class Case:
    """A table and all that `deliver` needs, beside what the oracle needs."""

    table: Table
    scale: np.ndarray  # per block
    weights: np.ndarray  # per synapse with a weight of its own, in the order of the table
    column: np.ndarray  # the number of the oracle's connection at each place of `weights`
    shape: tuple[int, int, int]
    n_sources: int
    connections: list[tuple]
    gains: np.ndarray  # per projection

    def scale_of(self, gains):
        return np.asarray(gains)[np.asarray(self.table.block_projection)]

    def weights_column(self, weights):
        """A column of the table from one weight per connection."""
        return np.asarray(weights)[self.column]


def starts(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(int)


# Two kinds of neuron make two groups: all sources in one, all targets in the other.
SOURCE, TARGET = jn.neurons.LIF(), jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid())


def build_case(sources, targets, n_receptors, wirings, dtype=np.float32) -> Case:
    """The case of some bundles between populations of the given sizes; no network is described."""
    rows, places = starts(sources), starts(targets)
    wirings = sorted(wirings, key=lambda w: w.source)
    placements, connections = [], []
    for number, w in enumerate(wirings):
        ids = np.arange(len(connections), len(connections) + w.pre.size)
        bundle = ListedBundle(
            w.pre,
            w.post,
            sources[w.source],
            targets[w.target],
            weights=ids if w.own_weight else None,
            delays=w.delay if w.own_delay else int(w.delay[0]) if w.delay.size else 1,
        )
        first = int(rows[w.source]), int(places[w.target])
        placements.append(Placement(bundle, number, *first, w.receptor))
        for c in range(w.pre.size):
            pair = first[0] + int(w.pre[c]), first[1] + int(w.post[c])
            weight = float(w.weight[c]) if w.own_weight else 1.0
            steps = int(w.delay[c] if w.own_delay else w.delay[0])
            connections.append((*pair, w.receptor, weight, steps, number))
    table, ids, longest = lay_out(placements, int(places[-1]), np.float64)
    gains = np.asarray([w.gain * _single(w) for w in wirings], dtype)
    column = np.asarray(ids).astype(int)
    return Case(
        table=table,
        scale=gains[np.asarray(table.block_projection)],
        weights=np.array([c[3] for c in connections], dtype)[column],
        column=column,
        shape=(ring_slots(longest), n_receptors, int(places[-1])),
        n_sources=int(rows[-1]),
        connections=connections,
        gains=gains,
    )


def _single(w):
    return 1.0 if w.own_weight or not w.pre.size else float(w.weight[0])


def numbers(exact: bool):
    """Numbers: multiples of 1/8, whose sums and products float32 keeps, or any others."""
    if exact:
        return st.integers(-16, 16).map(lambda x: x / 8)
    return st.floats(-3, 3, width=32, allow_subnormal=False)


@st.composite
def wirings(draw, sources, targets, n_receptors, exact=True):
    """One projection between two of the populations."""
    source = draw(st.integers(0, len(sources) - 1))
    target = draw(st.integers(0, len(targets) - 1))
    n_pre, n_post = sources[source], targets[target]
    size = draw(st.sampled_from([0, 1, 4, 12, 60])) if n_pre and n_post else 0
    seed = draw(st.integers(0, 2**16))
    longest = draw(st.sampled_from([1, 2, 5, 300]))
    rng = np.random.default_rng(seed)
    pre, post = rng.integers(0, max(n_pre, 1), size), rng.integers(0, max(n_post, 1), size)
    if size >= 4:  # an edge given twice
        pre[1], post[1] = pre[0], post[0]
    values = draw(st.lists(numbers(exact), min_size=3, max_size=3))
    return Wiring(
        source,
        target,
        draw(st.integers(0, n_receptors - 1)),
        pre,
        post,
        weight=rng.choice(values, size),
        delay=rng.integers(1, longest + 1, size),
        own_weight=draw(st.booleans()),
        own_delay=draw(st.booleans()),
        gain=draw(numbers(exact)),
    )


@st.composite
def cases(draw, exact=True, dtype=np.float32):
    """Random tables: several populations (empty ones too), receptors and projections."""
    sources = draw(st.lists(st.sampled_from([0, 1, 5, 70]), min_size=1, max_size=3))
    targets = draw(st.lists(st.sampled_from([0, 1, 7, 40]), min_size=1, max_size=3))
    n_receptors = draw(st.integers(1, 2))
    one = wirings(sources, targets, n_receptors, exact)
    drawn = draw(st.lists(one, min_size=1, max_size=5))
    return build_case(sources, targets, n_receptors, drawn, dtype)


# The shapes of tables that are compiled: sources, targets, receptors, and for each projection its
# source, target, receptor, synapses, longest delay, and whether weights and delays are its own.
OWN, SHARED = (True, True), (False, False)
LAYOUTS = {
    "every kind, an empty population, no synapse": (
        (5, 0, 70),
        (7, 40),
        2,
        (
            (0, 0, 0, 60, 5, OWN),
            (0, 1, 1, 12, 2, SHARED),
            (2, 1, 0, 60, 5, (True, False)),
            (2, 0, 1, 4, 1, (False, True)),
            (2, 1, 1, 0, 1, OWN),
        ),
    ),
    "nobody": ((0,), (0, 7), 1, ((0, 1, 0, 0, 1, OWN),)),
    "tags": (
        (70,),
        (7, 1, 40),
        2,
        ((0, 0, 0, 12, 2, OWN), (0, 1, 1, 4, 2, OWN), (0, 2, 0, 60, 2, OWN)),
    ),
    "one for all, one neuron, two bytes of delay": (
        (5, 1),
        (40, 1),
        1,
        ((0, 0, 0, 60, 300, SHARED), (1, 0, 0, 12, 300, OWN), (1, 1, 0, 1, 1, SHARED)),
    ),
}


@st.composite
def cases_of_a_layout(draw, exact=True, dtype=np.float32):
    """Tables of equal shapes, so that their programs are one: who is connected, and how, is drawn.

    The numbers of synapses per source of each layout are given to its sources in any order.
    """
    sources, targets, n_receptors, specs = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    values = draw(st.lists(numbers(exact), min_size=3, max_size=3))
    order, made = [rng.permutation(n) for n in sources], []
    for number, (source, target, receptor, size, longest, own) in enumerate(specs):
        pre = np.random.default_rng(number).integers(0, max(sources[source], 1), size)
        post = rng.integers(0, max(targets[target], 1), size)
        delay = rng.integers(1, longest + 1, size)
        delay[:1] = longest
        if size >= 4:  # an edge given twice
            pre[1], post[1] = pre[0], post[0]
        pre, weight = order[source][pre] if size else pre, rng.choice(values, size)
        gain = draw(numbers(exact))
        made.append(Wiring(source, target, receptor, pre, post, weight, delay, *own, gain))
    return build_case(sources, targets, n_receptors, made, dtype)


@st.composite
def released(draw, n, exact=True, dtype=np.float32):
    """What n sources release: nothing, everything, some; spikes or values; as a float array."""
    kind = draw(st.sampled_from(["none", "all", "some", "values"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    if kind == "values":
        values = draw(st.lists(numbers(exact), min_size=3, max_size=3))
        return rng.choice(np.array([0.0, *values]), n).astype(dtype)
    return (rng.random(n) < {"none": 0.0, "all": 1.1, "some": 0.3}[kind]).astype(dtype)


def packed(spikes):
    """Spikes as bits, written without the package: first neuron in the lowest bit."""
    bits = np.zeros(packed_bytes(len(spikes)), np.uint8)
    for i in np.flatnonzero(spikes):
        bits[i // 8] |= np.uint8(1 << (i % 8))
    return bits
