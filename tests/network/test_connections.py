"""`Network.connections` gives back what was put in, however the table stores it."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, ONE_PLACE
from tests.network.networks import Sum
from tests.refusing import assert_refused

DT = 0.1
DELTA, SLOW = jn.synapses.Delta(), jn.synapses.Exponential(9.0)
SIZES = {"A": 9, "B": 16, "C": 30}
WEIGHTS, DELAYS = ("one", "each"), ("one", "each", "long")
COLUMNS = ("pre", "post", "weight", "delay")


def arrays(rng, source, target, count, weight, delay, sizes=SIZES, **more):
    """Connections with repeated pairs, in no order, as plain arrays."""
    steps = rng.integers(1, {"one": 200, "each": 255, "long": 3000}[delay], count)
    values = rng.normal(0.0, 7.0, count)
    return {
        "source": source,
        "target": target,
        "pre": rng.integers(0, sizes[source], count),
        "post": rng.integers(0, sizes[target], count),
        "weight": np.full(count, values[0]) if weight == "one" else values,
        "delay": DT * (np.full(count, steps[0]) if delay == "one" else steps),
        "one": [k for k, kind in (("weight", weight), ("delay", delay)) if kind == "one"],
        "synapse": DELTA,
        **more,
    }


def project(name, c, **options):
    """The projection of such arrays: one number where all are one."""
    values = {k: c[k] for k in ("weight", "delay")}
    values.update((k, c[k][0] if c[k].size else 0.5) for k in c["one"])
    rule = jn.connectivity.Explicit(c["pre"], c["post"])
    options = {"synapse": c["synapse"], "name": name, **options}
    return jn.Projection(c["source"], c["target"], rule, **values, **options)


def build(made, sizes=SIZES, **options):
    populations = [jn.Population(k, n, Sum()) for k, n in sizes.items()]
    return jn.build(
        jn.Description(populations, [project(k, c) for k, c in made.items()]), 0, DT, **options
    )


def check(net, name, c, dtype=np.float32):
    """The connections of a projection are the arrays, sorted by source and target."""
    got = net.connections(name)
    order = np.lexsort((c["post"], c["pre"]))
    assert (got.source, got.target) == (c["source"], c["target"])
    assert got.shape == (net.populations[got.source], net.populations[got.target])
    for key in ("pre", "post"):
        assert getattr(got, key).dtype == np.int64
        np.testing.assert_array_equal(getattr(got, key), c[key][order])
    np.testing.assert_array_equal(got.weight, c["weight"][order].astype(dtype))
    np.testing.assert_allclose(got.delay, c["delay"][order], rtol=1e-12)
    assert len(got) == c["pre"].size


def flags(net):
    return [int(words[4]) for p in net.pathways for words in np.asarray(p.table.sections)]


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("few", [True, False], ids=["tags", "pointers"])
def test_every_layout(weight, delay, few):
    """Three targets of a source, two projections onto one of them, in the middle of the group."""
    rng, count = np.random.default_rng(3), 12 if few else 400
    kinds = {"p1": ("B", "A"), "p2": ("B", "B"), "p3": ("B", "C"), "p4": ("B", "B")}
    made = {
        k: arrays(rng, *ends, count, weight, delay, synapse=SLOW if k == "p4" else DELTA)
        for k, ends in kinds.items()
    }
    net = build(made)
    (flag,) = flags(net)
    assert bool(flag & HAS_TAGS) == few
    assert bool(flag & HAS_WEIGHTS) == (weight == "each")
    assert bool(flag & HAS_DELAYS) == (delay != "one")
    assert not flag & ONE_PLACE
    table = net.pathways[0].table
    assert table.delays.dtype == (np.uint16 if delay == "long" else np.uint8)
    assert table.block_offset.size == 4
    for name, c in made.items():
        check(net, name, c)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_one_place(weight):
    """Blocks of one receptor and one delay: targets count from the start of the group."""
    rng = np.random.default_rng(4)
    made = {f"to {k}": arrays(rng, "B", k, 14, weight, "one") for k in SIZES}
    for c in made.values():
        c["delay"] = np.full(14, 0.7)
    net = build(made)
    assert flags(net) == [HAS_TAGS | ONE_PLACE | HAS_WEIGHTS * (weight == "each")]
    for name, c in made.items():
        check(net, name, c)


def test_many_sections():
    """Three sources, each with all kinds of columns; some with tags, one block alone, one empty."""
    rng, made = np.random.default_rng(5), {}
    for source in SIZES:
        for weight in WEIGHTS:
            for delay in DELAYS[:2]:
                for k, target in enumerate(SIZES):
                    count = [300, 9, 0][(k + len(made)) % 3]
                    name = f"{source}{target} {weight} {delay}"
                    if count or "each" in (weight, delay):
                        c = arrays(rng, source, target, max(count, 1), weight, delay)
                        short = {key: c[key][:count] for key in ("pre", "post", "weight", "delay")}
                        made[name] = {**c, **short}
    net = build(made)
    assert len(flags(net)) == 12
    assert len(set(flags(net))) > 5
    assert net.n_synapses == sum(c["pre"].size for c in made.values())
    for name, c in made.items():
        check(net, name, c)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("delay", DELAYS[:2])
def test_more_targets_than_16_bits(weight, delay):
    """Blocks of 65,536 targets, in rows with those of another projection."""
    sizes, rng = {"A": 3, "B": 140_001, "C": 5}, np.random.default_rng(6)
    made = {
        "far": arrays(rng, "A", "B", 900, weight, delay, sizes),
        "near": arrays(rng, "A", "C", 60, weight, delay, sizes),
    }
    made["far"]["post"][:6] = [65_535, 65_536, 131_071, 131_072, 140_000, 0]
    net = build(made, sizes)
    assert net.pathways[0].table.block_offset.size == 4
    for name, c in made.items():
        check(net, name, c)


def test_other_groups_and_release_models():
    """Pathways of their own: other neuron models, other receptors, float64."""
    rng = np.random.default_rng(7)
    made = {f"{a}{b}": arrays(rng, a, b, 50, "each", "each") for a in SIZES for b in SIZES}
    surrogate = jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid())
    models = dict(zip(SIZES, (jn.neurons.LIF(), surrogate, jn.neurons.LIF())))
    populations = [jn.Population(k, n, models[k]) for k, n in SIZES.items()]
    projections = [project(k, c, synapse=[DELTA, SLOW][k in "AB"]) for k, c in made.items()]
    net = jn.build(jn.Description(populations, projections), 0, DT)
    assert len(net.pathways) == 4
    for name, c in made.items():
        check(net, name, c)


def test_float64_weights_are_exact(x64):
    made = {"p": arrays(np.random.default_rng(8), "A", "B", 70, "each", "each")}
    check(build(made, dtype=jnp.float64), "p", made["p"], np.float64)


def test_the_order_of_the_description_and_other_projections_do_not_matter():
    rng = np.random.default_rng(9)
    made = {f"p{k}": arrays(rng, "B", "C", 25, "each", "each") for k in range(4)}
    for chosen in (["p2"], ["p3", "p2", "p0"], list(made)[::-1]):
        check(build({k: made[k] for k in chosen}), "p2", made["p2"])


def test_gain_is_not_in_the_weight_and_a_set_weight_is():
    c = arrays(np.random.default_rng(10), "A", "B", 40, "one", "one")
    populations = [jn.Population(k, n, Sum()) for k, n in SIZES.items()]
    net = jn.build(jn.Description(populations, [project("p", c, gain=3.0)]), 0, DT)
    check(net, "p", c)
    np.testing.assert_array_equal(net.set("p", weight=-4.25).connections("p").weight, -4.25)
    check(net.set("p", gain=7.0), "p", c)


def test_multapses_and_sparse_matrices():
    rng = np.random.default_rng(11)
    c = arrays(rng, "A", "B", 300, "each", "each")  # 144 pairs
    net = build({"p": c})
    dense = np.zeros((2, 9, 16))
    for i, j, *values in zip(c["pre"], c["post"], np.float32(c["weight"]), c["delay"]):
        dense[:, i, j] += values
    got = net.connections("p")
    weight, delay = got.sparse(), got.sparse("delay")
    assert weight.shape == (9, 16)
    assert weight.nnz == 300
    np.testing.assert_allclose(weight.toarray(), dense[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(delay.toarray(), dense[1], rtol=1e-12)
    assert_refused(lambda: got.sparse("gain"), "", "value of connections", "'gain'")


@pytest.mark.parametrize(
    "rule", [jn.connectivity.Explicit([], []), jn.connectivity.FixedProbability(0.0)], ids=repr
)
@pytest.mark.parametrize("value", [1.0, jn.Uniform(0.5, 1.5)], ids=["one", "each"])
def test_empty_projections(rule, value):
    """Alone, and beside another one in the same pathway."""
    empty = jn.Projection("A", "B", rule, weight=value, delay=value, synapse=DELTA, name="none")
    c = arrays(np.random.default_rng(12), "A", "B", 40, "each", "one")
    populations = [jn.Population(k, n, Sum()) for k, n in SIZES.items()]
    for more in ([], [project("p", c)]):
        net = jn.build(jn.Description(populations, [empty, *more]), 0, DT)
        got = net.connections("none")
        assert len(got) == 0
        assert got.shape == got.sparse().shape == (9, 16)
        assert [x.size for x in (got.pre, got.post, got.weight, got.delay)] == [0] * 4
        assert got.pre.dtype == got.post.dtype == np.int64
    check(net, "p", c)


def test_populations_of_nobody():
    sizes = {"A": 0, "B": 5}
    rule = jn.connectivity.AllToAll()
    ends = [(a, b) for a in sizes for b in sizes]
    projections = [
        jn.Projection(a, b, rule, weight=1.0, delay=0.1, synapse=DELTA, name=a + b) for a, b in ends
    ]
    populations = [jn.Population(k, n, Sum()) for k, n in sizes.items()]
    net = jn.build(jn.Description(populations, projections), 0, DT)
    for a, b in ends:
        assert len(net.connections(a + b)) == sizes[a] * sizes[b]
        assert net.connections(a + b).shape == (sizes[a], sizes[b])


def test_unknown_names_and_what_is_printed():
    made = {"p1": arrays(np.random.default_rng(13), "A", "B", 1, "each", "one")}
    net = build(made)
    assert_refused(lambda: net.connections("p2"), "", "projection", "'p2'")
    assert_refused(lambda: net.connections("A"), "", "projection", "'A'")
    assert repr(net.connections("p1")) == "Connections: A to B, 1 synapse"
