"""Parts of populations as sources and targets: the same connections as plain NumPy makes."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._describe.resolve import Resolver
from tests.network.networks import LIF, RUN, Sum, start
from tests.oracle import network as oracle
from tests.oracle import synapses
from tests.oracle.quantiles import probabilities
from tests.refusing import assert_refused

DT, SEED = 0.1, 11
SIZES = {"A": 14, "B": 21}
FIRST = {"A": 0, "B": 14}
POINTS = {
    k: np.stack([10.0 * (np.arange(n) % 5), 10.0 * (np.arange(n) // 5)], axis=1)
    for k, n in SIZES.items()
}
AREA = jn.space.Area([-1.0, 5.0], [25.0, 25.0])
AREAS = {"corner": jn.space.Area([5.0, -np.inf], [np.inf, 11.0])}


def corner(points):
    return np.flatnonzero((points[:, 0] >= 5) & (points[:, 1] < 11))


def middle(points):
    return np.flatnonzero((points[:, 0] < 25) & (points[:, 1] >= 5) & (points[:, 1] < 25))


WHERE = {
    "all": (None, lambda n, x: np.arange(n)),
    "slice": (slice(2, 9), lambda n, x: np.arange(2, 9)),
    "tail": (slice(5, None), lambda n, x: np.arange(5, n)),
    "head": (slice(None, 4), lambda n, x: np.arange(4)),
    "range": (range(3, 10), lambda n, x: np.arange(3, 10)),
    "indices": ([0, 3, 4, 11], lambda n, x: np.array([0, 3, 4, 11])),
    "one": (np.array([13]), lambda n, x: np.array([13])),
    "area": (AREA, lambda n, x: middle(x)),
    "named area": ("corner", lambda n, x: corner(x)),
}
PAIRS = [
    ("all", "slice"),
    ("slice", "indices"),
    ("indices", "slice"),
    ("indices", "area"),
    ("area", "named area"),
    ("named area", "tail"),
    ("range", "head"),
    ("one", "indices"),
    ("tail", "one"),
]
DENSE = jn.connectivity.AllToAll()


def neurons(name, where):
    return WHERE[where][1](SIZES[name], POINTS[name])


def part(name, where):
    return jn.Part(name, WHERE[where][0])


def weight_of(i, j):
    return 100.0 * i + j + 0.5


def delay_of(i, j):
    return 0.1 * (1 + (3 * i + j) % 7)


def project(source, target, rule=DENSE, **values):
    values = {"weight": 1.0, "delay": 0.1, "synapse": jn.synapses.Delta(), **values}
    return jn.Projection(source, target, rule, **values)


def describe(projections, model=None, **options):
    model = model or Sum()
    populations = [jn.Population(k, n, model, positions=POINTS[k]) for k, n in SIZES.items()]
    return jn.Description(populations, projections, areas=AREAS, **options)


def build(*projections, **options):
    return jn.build(describe(projections, **options), SEED, DT)


def same(connections, pre, post, weight, delay):
    """Equal to plain arrays, whatever their order."""
    order = np.lexsort((post, pre))
    np.testing.assert_array_equal(connections.pre, pre[order])
    np.testing.assert_array_equal(connections.post, post[order])
    weight, delay = (np.broadcast_to(x, pre.shape)[order] for x in (weight, delay))
    np.testing.assert_array_equal(connections.weight, weight.astype(np.float32))
    np.testing.assert_allclose(connections.delay, delay, rtol=1e-12)


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=[f"{a} to {b}" for a, b in PAIRS])
def test_every_kind_of_value(source, target):
    pre, post = neurons("A", source), neurons("B", target)
    rng, shape = np.random.default_rng(5), (pre.size, post.size)
    i, j = (x.ravel() for x in np.meshgrid(pre, post, indexing="ij"))
    matrix = rng.normal(3.0, 1.0, shape), 0.1 * rng.integers(1, 300, shape)
    law = jn.Uniform(-2.0, 5.0), jn.Uniform(0.1, 4.0)
    count = 3 * pre.size
    chosen = rng.integers(0, pre.size, count), rng.integers(0, post.size, count)
    each = rng.normal(0.0, 9.0, count), 0.1 * rng.integers(1, 20, count)
    ends = part("A", source), part("B", target)
    explicit = jn.connectivity.Explicit(*chosen)
    net = build(
        project(*ends, weight=2.5, delay=0.3, name="number"),
        project(*ends, weight=matrix[0], delay=matrix[1], name="matrix"),
        project(*ends, weight=law[0], delay=law[1], name="law"),
        project(*ends, weight=weight_of, delay=delay_of, name="function"),
        project(*ends, explicit, weight=each[0], delay=each[1], name="each"),
        project(*ends, explicit, weight=matrix[0], delay=0.2, name="picked"),
    )
    same(net.connections("number"), i, j, 2.5, 0.3)
    same(net.connections("matrix"), i, j, matrix[0].ravel(), matrix[1].ravel())
    same(net.connections("function"), i, j, weight_of(i, j), delay_of(i, j))
    same(net.connections("each"), pre[chosen[0]], post[chosen[1]], *each)
    same(net.connections("picked"), pre[chosen[0]], post[chosen[1]], matrix[0][chosen], 0.2)
    positions = np.tile(np.arange(post.size), pre.size)
    u, t = (probabilities(SEED, "law", i, positions, which) for which in (0, 1))
    steps = np.maximum(np.rint((0.1 + 3.9 * t) / DT), 1)
    same(net.connections("law"), i, j, -2.0 + 7.0 * u, DT * steps)


def test_parts_that_are_drawn_in_pieces():
    """One row per chunk, two blocks of targets, indices on both sides."""
    pre, post = np.array([1, 2, 5, 9]), np.arange(3, 140_003, 2)
    populations = [jn.Population("A", 11, Sum()), jn.Population("B", 140_010, Sum())]
    weight = np.arange(280_000.0).reshape(4, -1)
    p = project(jn.Part("A", pre), jn.Part("B", post), weight=weight, delay=delay_of)
    c = jn.build(jn.Description(populations, [p]), SEED, DT).connections("A->B")
    i, j = (x.ravel() for x in np.meshgrid(pre, post, indexing="ij"))
    same(c, i, j, weight.ravel(), delay_of(i, j))


def test_one_to_one_and_random_rules_count_inside_the_parts():
    ends = part("A", "indices"), jn.Part("B", [2, 9, 17, 20])
    net = build(
        project(*ends, jn.connectivity.OneToOne(), weight=[1.0, 2.0, 3.0, 4.0], name="one"),
        project(*ends, jn.connectivity.FixedIndegree(3, multapses=False), name="indegree"),
        project(*ends, jn.connectivity.FixedProbability(0.5), name="chance"),
    )
    same(
        net.connections("one"),
        np.array([0, 3, 4, 11]),
        np.array([2, 9, 17, 20]),
        np.arange(1, 5.0),
        0.1,
    )
    c = net.connections("indegree")
    np.testing.assert_array_equal(np.bincount(c.post, minlength=21)[[2, 9, 17, 20]], 3)
    assert len(c) == 12 == len(set(zip(c.pre.tolist(), c.post.tolist())))
    for name in ("indegree", "chance"):
        c = net.connections(name)
        assert len(c) > 0
        assert set(c.pre) <= {0, 3, 4, 11}
        assert set(c.post) <= {2, 9, 17, 20}


def test_a_part_draws_as_a_population_of_its_neurons():
    """Who connects is drawn by the number in the part; so a part is a population of its own."""
    rule = jn.connectivity.FixedProbability(0.4)
    net = build(project(part("A", "indices"), part("B", "range"), rule, name="p"))
    small = [jn.Population("a", 4, Sum()), jn.Population("b", 7, Sum())]
    alone = jn.build(jn.Description(small, [project("a", "b", rule, name="p")]), SEED, DT)
    got, want = net.connections("p"), alone.connections("p")
    assert 0 < len(want) < 28
    np.testing.assert_array_equal(got.pre, np.array([0, 3, 4, 11])[want.pre])
    np.testing.assert_array_equal(got.post, want.post + 3)


def test_autapses_of_parts():
    rule = jn.connectivity.AllToAll(autapses=False)
    net = build(
        project(part("A", "indices"), part("A", "indices"), rule, name="equal"),
        project(jn.Part("A", slice(0, 3)), jn.Part("A", [0, 1, 2]), rule, name="equal kinds"),
        project(jn.Part("A", slice(0, 3)), jn.Part("A", slice(3, 6)), rule, name="apart"),
        project(jn.Part("A", slice(0, 3)), jn.Part("A", slice(1, 4)), DENSE, name="overlap"),
    )
    who = np.array([0, 3, 4, 11])
    pairs = {
        "equal": [(a, b) for a in who for b in who if a != b],
        "equal kinds": [(a, b) for a in range(3) for b in range(3) if a != b],
        "apart": [(a, b) for a in range(3) for b in range(3, 6)],
        "overlap": [(a, b) for a in range(3) for b in range(1, 4)],
    }
    for name, expected in pairs.items():
        c = net.connections(name)
        assert list(zip(c.pre.tolist(), c.post.tolist())) == expected


def test_masks_and_ranges_are_the_indices_they_mean():
    mask = np.isin(np.arange(14), [1, 4, 7])
    resolver = Resolver(describe(()), np.uint32(0))
    for where in (range(1, 8, 3), mask, [1, 4, 7]):
        np.testing.assert_array_equal(resolver.neurons(jn.Part("A", where)), [1, 4, 7])
        assert repr(jn.Part("A", where)) == "Part('A', 3 neurons)"
    assert jn.Part("A", range(2, 9)).where == slice(2, 9)


def test_a_mask_of_another_length():
    assert_refused(
        lambda: describe([project(jn.Part("A", [True, False, True]), "B")]), OF_A, "where"
    )


@pytest.mark.parametrize("nobody", [slice(4, 4), [], np.zeros(14, bool), slice(14, None)])
def test_a_part_of_nobody(nobody):
    for ends in ((jn.Part("A", nobody), "B"), ("A", jn.Part("A", nobody))):
        assert_refused(lambda e=ends: describe([project(*e)]), OF_A, "where")
    driven = jn.Stimulation(jn.Part("A", nobody), jn.stimuli.Current(1.0))
    assert_refused(lambda: describe((), stimuli=[driven]), OF_A, "where")


def test_a_part_of_no_population():
    """A population without neurons has parts, which have none."""
    cells = [jn.Population("A", 0, Sum()), jn.Population("B", 3, Sum())]
    law = jn.Uniform(0.1, 1.0)
    p = project(jn.Part("A", slice(0, None)), "B", weight=law, delay=law)
    assert jn.build(jn.Description(cells, [p]), SEED, DT).n_synapses == 0


def between_parts():
    """Projections between parts, of every storage, and the same as plain arrays."""
    rng, synapse = np.random.default_rng(2), jn.synapses.Exponential(1.7)
    pairs = [("A", "slice", "B", "indices"), ("B", "area", "A", "named area")]
    pairs += [("A", "indices", "A", "tail"), ("B", "range", "B", "indices")]
    projections, plain = [], []
    for number, (source, a, target, b) in enumerate(pairs):
        pre, post = neurons(source, a), neurons(target, b)
        i, j = (x.ravel() for x in np.meshgrid(pre, post, indexing="ij"))
        shape = (pre.size, post.size)
        matrix = rng.normal(40.0, 60.0, shape), 0.1 * rng.integers(1, 40, shape)
        pair = [(30.0, 0.7), matrix, (weight_of, delay_of), (matrix[0], 0.2)][number]
        values = {"weight": pair[0], "delay": pair[1], "synapse": synapse, "name": f"p{number}"}
        projections.append(project(part(source, a), part(target, b), **values))
        weight, delay = (x(i, j) if callable(x) else np.ravel(x) + np.zeros(i.size) for x in pair)
        steps = np.rint(delay / DT).astype(int)
        ends = {"pre": i + FIRST[source], "post": j + FIRST[target], "receptor": 0}
        plain.append({**ends, "weight": weight, "delay_steps": steps})
    return projections, plain


def test_voltages_and_spikes_of_the_oracle(x64):
    projections, plain = between_parts()
    v0, model, amplitudes = start(SIZES), jn.neurons.LIF(**LIF), {"A": 300.0, "B": 260.0}
    populations = [
        jn.Population(k, n, model, {"v": v0[k]}, positions=POINTS[k]) for k, n in SIZES.items()
    ]
    currents = [jn.Stimulation(k, jn.stimuli.Current(x)) for k, x in amplitudes.items()]
    net = jn.build(jn.Description(populations, projections, currents, AREAS), 0, DT, jnp.float64)
    groups = [{"n": n, "current": amplitudes[k], **LIF} for k, n in SIZES.items()]
    receptors = [{"kind": synapses.exponential, "params": {"tau_syn": 1.7}}]
    started = np.concatenate(list(v0.values()))
    spikes, trace = oracle.run(groups, plain, 300, DT, started, receptors, range(35))
    record = jn.Record(variables={"A": "v", "B": "v"})
    recording = RUN(net, net.init(0), 300, None, record)[1]
    v = np.concatenate([recording.traces[k]["v"] for k in "AB"], axis=1)
    np.testing.assert_allclose(v, trace, rtol=1e-9)
    dense = np.concatenate([recording.spikes.dense(k) for k in "AB"], axis=1)
    assert [tuple(x) for x in np.argwhere(dense)] == spikes
    assert len(spikes) > 100


OF_A = "part of 'A'"
BAD = {
    "no name": (lambda: jn.Part(3), "Part", "population", "3"),
    "slice with a step": (lambda: jn.Part("A", slice(0, 8, 2)), OF_A, "where", "slice(0, 8, 2)"),
    "range backwards": (lambda: jn.Part("A", range(8, 0, -2)), OF_A, "where", "[8 6 4 2]"),
    "backwards": (lambda: jn.Part("A", slice(5, 2)), OF_A, "where", "slice(5, 2, None)"),
    "from the end": (lambda: jn.Part("A", slice(-3, None)), OF_A, "where", "slice(-3, None, None)"),
    "half": (lambda: jn.Part("A", slice(0.5, 2)), OF_A, "where", "slice(0.5, 2, None)"),
    "unsorted": (lambda: jn.Part("A", [3, 1]), OF_A, "where", "[3 1]"),
    "repeated": (lambda: jn.Part("A", [1, 1, 2]), OF_A, "where", "[1 1 2]"),
    "negative": (lambda: jn.Part("A", [-1, 2]), OF_A, "where", "[-1  2]"),
    "many": (lambda: jn.Part("A", np.zeros(20, int)), OF_A, "where", "20 indices from 0 to 0"),
    "floats": (lambda: jn.Part("A", [0.5]), OF_A, "where", "[0.5]"),
    "mask too long": (
        lambda: build(project(jn.Part("A", np.ones(15, bool)), "B")),
        *(OF_A, "where", "15"),
    ),
    "an area of nobody": (
        lambda: build(project(jn.Part("A", jn.space.Area([1e3, 0.0], [2e3, 1.0])), "B")),
        *(OF_A, "where", "Area(low=(1000.0, 0.0), high=(2000.0,"),
    ),
    "matrix": (lambda: jn.Part("A", [[1, 2]]), OF_A, "where", "[[1, 2]]"),
    "outside": (lambda: build(project(jn.Part("A", [2, 14]), "B")), OF_A, "where", "14"),
    "slice outside": (
        lambda: build(project("A", jn.Part("B", slice(2, 22)))),
        *("part of 'B'", "where", "21"),
    ),
    "slice that starts outside": (
        lambda: build(project(jn.Part("A", slice(20, None)), "B")),
        *(OF_A, "where"),
    ),
    "stimulated outside": (
        lambda: describe((), stimuli=[jn.Stimulation(jn.Part("A", [99]), jn.stimuli.Current(1.0))]),
        *(OF_A, "where", "99"),
    ),
    "population": (
        lambda: build(project(jn.Part("C", [2]), "B")),
        *("projection 'C->B'", "source", "'C'"),
    ),
    "area": (lambda: build(project(jn.Part("A", "center"), "B")), OF_A, "where", "'center'"),
    "no positions": (
        lambda: jn.Description([jn.Population("A", 3, Sum())], [project(jn.Part("A", AREA), "A")]),
        *(OF_A, "where", "Area(low=(-1.0, 5.0), high=(25.0, 25.0))"),
    ),
    "dimensions": (
        lambda: build(project(jn.Part("A", jn.space.Area([0.0], [1.0])), "B")),
        *(OF_A, "where", "shape (14, 2)"),
    ),
    "overlap": (
        lambda: build(
            project(
                jn.Part("A", slice(0, 3)),
                jn.Part("A", [2, 5]),
                jn.connectivity.AllToAll(autapses=False),
            )
        ),
        *("projection 'A->A'", "rule", "parts that overlap"),
    ),
    "matrix of the wrong shape": (
        lambda: build(project(part("A", "slice"), "B", weight=np.ones((14, 21)))),
        *("projection 'A->B'", "weight", "shape (14, 21)"),
    ),
    "one to one": (
        lambda: build(project(part("A", "slice"), "B", jn.connectivity.OneToOne())),
        *("projection 'A->B'", "rule", "7 and 21"),
    ),
    "explicit": (
        lambda: build(project(part("A", "slice"), "B", jn.connectivity.Explicit([7], [0]))),
        *("projection 'A->B'", "pre", "7 at index 0 (1 of 1 are not)"),
    ),
    "not areas": (lambda: jn.Description([], areas={"x": 3}), "Description", "areas", "3 at ['x']"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(case):
    assert_refused(*BAD[case])


def test_what_a_part_prints():
    shown = [repr(jn.Part("A", x)) for x in (None, [1, 5], slice(0, 3), "corner")]
    assert shown == [
        "Part('A')",
        "Part('A', 2 neurons)",
        "Part('A', 0:3)",
        "Part('A', corner)",
    ]
