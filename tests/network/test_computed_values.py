"""Weights and delays that are functions: of the two neurons, or of their distance."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import Sum, voltages
from tests.refusing import assert_refused

DT = 0.1
SIZES = {"A": 7, "B": 12}
POINTS = {
    "A": np.stack([13.0 * np.arange(7), 40.0 - 6.0 * np.arange(7)], axis=1),
    "B": np.stack([8.0 * np.arange(12), 3.0 * np.arange(12) % 17], axis=1),
}
DENSE, DELTA = jn.connectivity.AllToAll(), jn.synapses.Delta()
SPACE = jn.space


def project(rule=DENSE, **values):
    values = {"weight": 1.0, "delay": 0.1, "synapse": DELTA, **values}
    return jn.Projection("A", "B", rule, **values)


def build(*projections, positions=POINTS, dt=DT, **options):
    populations = [jn.Population(k, n, Sum(), positions=positions.get(k)) for k, n in SIZES.items()]
    return jn.build(jn.Description(populations, projections, **options), 0, dt)


def values(net, what, name="A->B"):
    """Weights or delays as a matrix (A, B)."""
    return net.connections(name).sparse(what).toarray()


def distances(period=(np.inf, np.inf)):
    """Distances between A and B by loops."""
    out = np.zeros((7, 12))
    for i, a in enumerate(POINTS["A"]):
        for j, b in enumerate(POINTS["B"]):
            gaps = [abs(x - y) for x, y in zip(a, b)]
            gaps = [g if p == np.inf else min(g % p, p - g % p) for g, p in zip(gaps, period)]
            out[i, j] = np.hypot(*gaps)
    return out


I, J = np.indices((7, 12))  # noqa: E741


@pytest.mark.slow
def test_functions_get_arrays_of_indices_of_the_populations():
    seen = []

    def watched(i, j):
        seen.append((i, j))
        return 2.0 * i - j

    rule = jn.connectivity.FixedProbability(0.5)
    net = build(project(rule, weight=watched, delay=lambda i, j: 0.1 + 0.1 * i))
    c = net.connections("A->B")
    assert 20 < len(c) < 64
    np.testing.assert_array_equal(c.weight, 2.0 * c.pre - c.post)
    np.testing.assert_allclose(c.delay, 0.1 + 0.1 * c.pre, rtol=1e-12)
    for i, j in seen:
        assert isinstance(i, np.ndarray)
        assert isinstance(j, np.ndarray)
        assert i.shape == j.shape
        assert i.ndim == 1
        assert np.issubdtype(i.dtype, np.integer)
        assert np.issubdtype(j.dtype, np.integer)
    asked = np.concatenate([np.stack(pair) for pair in seen], axis=1)
    assert {tuple(x) for x in asked.T} == set(zip(c.pre.tolist(), c.post.tolist()))


def test_what_a_function_may_return():
    """One number for all, whole numbers, arrays of JAX: all become floats."""
    functions = {
        "one": lambda i, j: 4,
        "whole": lambda i, j: i * j,
        "float32": lambda i, j: np.float32(0.1) * j,
        "jax": lambda i, j: jnp.asarray(i + j),
        "list": lambda i, j: [float(x) for x in i],
    }
    net = build(*(project(weight=f, name=k) for k, f in functions.items()))
    for name, expected in zip(
        functions, (np.full((7, 12), 4), I * J, np.float32(0.1) * J, I + J, I)
    ):
        np.testing.assert_array_equal(values(net, "weight", name), np.float32(expected))


def test_large_projections_ask_in_pieces():
    """More targets than a block has and more synapses than a chunk: the same function."""
    populations = [jn.Population("A", 4, Sum()), jn.Population("B", 70_000, Sum())]
    p = project(weight=lambda i, j: i + j / 131_072, delay=lambda i, j: 0.1 * (1 + j % 5))
    c = jn.build(jn.Description(populations, [p]), 0, DT).connections("A->B")
    np.testing.assert_array_equal(c.pre, np.repeat(np.arange(4), 70_000))
    np.testing.assert_array_equal(c.post, np.tile(np.arange(70_000), 4))
    np.testing.assert_array_equal(c.weight, np.float32(c.pre + c.post / 131_072))
    np.testing.assert_array_equal(np.rint(c.delay / DT), 1 + c.post % 5)


def test_delays_are_rounded_to_the_grid_and_at_least_one_step():
    given = np.array([0.0, 0.02, 0.06, 0.1, 0.14, 0.16, 0.249, 0.251, 1.04, 1.06, 25.4, 25.46])
    net = build(project(delay=lambda i, j: given[j]))
    steps = np.rint(values(net, "delay") / DT)
    np.testing.assert_array_equal(steps[0], [1, 1, 1, 1, 1, 2, 2, 3, 10, 11, 254, 255])
    assert (steps == steps[0]).all()
    assert net.groups[0].slots == 256


@pytest.mark.parametrize("longest", [3, 255, 256, 2000])
def test_long_delays_and_the_ring(longest):
    net = build(project(delay=lambda i, j: DT * np.where((i == 2) & (j == 5), longest, 1 + j)))
    expected = 1 + J
    expected[2, 5] = longest
    np.testing.assert_array_equal(np.rint(values(net, "delay") / DT), expected)
    assert net.groups[0].slots == max(longest, 12) + 1


@pytest.mark.parametrize("weight", [2.0, lambda i, j: 1.0 + i + 10 * j], ids=["one", "computed"])
def test_spikes_arrive_when_and_as_the_functions_say(weight):
    """Every neuron of A spikes once; delays beyond a byte, exact sums in B."""
    late = lambda i, j: DT * (1 + (i * 53 + j * 31) % 290)  # noqa: E731
    net = build(project(weight=weight, delay=late)).set("A", v_th=0.5)
    inputs = np.zeros((300, 7))
    inputs[np.arange(7), np.arange(7)] = 1.0
    expected = np.zeros((300, 12))
    for i in range(7):
        for j in range(12):
            w = weight if np.isscalar(weight) else weight(i, j)
            expected[i + 1 + (i * 53 + j * 31) % 290 :, j] += w
    np.testing.assert_array_equal(voltages(net, 300, inputs={"A": inputs})["B"], expected)


def test_weights_by_distance():
    d = distances()
    gauss = SPACE.Gaussian(30.0, 2.0)
    net = build(
        project(weight=SPACE.ByDistance(lambda d: 100.0 - d), name="plain"),
        project(weight=SPACE.ByDistance(gauss), name="profile"),
    )
    np.testing.assert_allclose(values(net, "weight", "plain"), 100.0 - d, rtol=1e-6)
    np.testing.assert_allclose(values(net, "weight", "profile"), gauss(d), rtol=1e-6)
    assert np.ptp(gauss(d)) > 0.5


def test_delays_by_distance():
    d = distances()
    net = build(
        project(delay=SPACE.ConductionDelay(speed=20.0, offset=0.5), name="axon"),
        project(delay=SPACE.ConductionDelay(speed=1e9), name="fast"),
        project(delay=SPACE.ByDistance(lambda d: d / 3.0), name="plain"),
    )
    for name, delay in (("axon", 0.5 + d / 20.0), ("fast", 0 * d), ("plain", d / 3.0)):
        steps = np.maximum(np.rint(delay / DT), 1)
        np.testing.assert_array_equal(np.rint(values(net, "delay", name) / DT), steps)
    assert net.groups[0].slots == 1 + int(np.rint(d.max() / 3.0 / DT))


def test_known_bounds_keep_delays_narrow():
    """A delay by speed is known to fit in a byte; of a function nobody knows it before."""
    narrow = build(project(delay=SPACE.ConductionDelay(speed=20.0)))
    wide = build(project(delay=SPACE.ConductionDelay(speed=2.0)))
    function = build(project(delay=lambda i, j: 0.1 + 0 * i))
    dtypes = [net.pathways[0].table.delays.dtype for net in (narrow, wide, function)]
    assert dtypes == [np.uint8, np.uint16, np.uint16]


def test_distances_in_a_space_that_repeats():
    period = (50.0, np.inf)
    layouts = {k: SPACE.Free(x, period=period) for k, x in POINTS.items()}
    net = build(project(weight=SPACE.ByDistance(lambda d: d)), positions=layouts)
    np.testing.assert_allclose(values(net, "weight"), distances(period), rtol=1e-6)
    assert (distances(period) < distances() - 1).any()


def test_by_distance_with_parts_uses_their_own_positions():
    source, target = jn.Part("A", [1, 4, 6]), jn.Part("B", slice(3, 8))
    p = jn.Projection(
        source, target, DENSE, weight=SPACE.ByDistance(lambda d: d + 1.0), delay=0.1, synapse=DELTA
    )
    expected = np.zeros((7, 12))
    expected[np.ix_([1, 4, 6], range(3, 8))] = 1.0 + distances()[[1, 4, 6], 3:8]
    np.testing.assert_allclose(values(build(p), "weight"), expected, rtol=1e-6)


def nan_at(i, j):
    return np.where((i == 3) & (j == 2), np.nan, 1.0)


BY, AXON = SPACE.ByDistance, SPACE.ConductionDelay
REFUSED = {
    "shape": (
        {"weight": lambda i, j: np.ones(3)},
        *("projection 'A->B'", "weight", "shape (3,) for 84"),
    ),
    "matrix": (
        {"delay": lambda i, j: np.ones((i.size, 1))},
        *("projection 'A->B'", "delay", "shape (84, 1) for 84"),
    ),
    "drawn": (
        {"weight": lambda i, j: np.random.random(i.size)},
        *("projection 'A->B'", "weight", "draws from np.random"),
    ),
    "drawn delays": (
        {"delay": BY(lambda d: 1.0 + np.random.random(d.size))},
        *("projection 'A->B'", "delay", "draws from np.random"),
    ),
    "nan": ({"weight": nan_at}, "projection 'A->B'", "weight", "nan at index 38"),
    "infinite": ({"weight": lambda i, j: np.inf}, "projection 'A->B'", "weight", "inf"),
    "nan delay": ({"delay": nan_at}, "projection 'A->B'", "delay", "nan at index 38"),
    "negative": (
        {"delay": lambda i, j: 0.5 - i},
        *("projection 'A->B'", "delay", "-0.5 at index 12"),
    ),
    "too long": ({"delay": lambda i, j: 7e3}, "projection 'A->B'", "delay", "7000 ms"),
    "a class": ({"weight": SPACE.Gaussian}, "projection 'A->B'", "weight", "the class Gaussian"),
    "a text": ({"delay": "far"}, "projection 'A->B'", "delay", "'far'"),
    "infinite by distance": (
        {"weight": BY(lambda d: 1.0 / (d > 8.0))},
        *("projection 'A->B': weight", "function", "inf for 3 -> 5 at distance 7.07107 um"),
    ),
    "shape by distance": (
        {"weight": BY(lambda d: 1.0)},
        *("projection 'A->B': weight", "function", "shape (), float64"),
    ),
    "negative by distance": (
        {"delay": BY(lambda d: -d)},
        *("projection 'A->B'", "delay", "-40.0 at index 0"),
    ),
    "too slow": ({"delay": AXON(speed=0.01)}, "projection 'A->B'", "delay", "9666.4 ms"),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("given", "owner", "field", "got"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(given, owner, field, got):
    assert_refused(lambda: build(project(**given)), owner, field, got)


@pytest.mark.parametrize("given", [{"weight": BY(lambda d: d)}, {"delay": AXON(10.0)}], ids=list)
@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ({"A": POINTS["A"]}, "projection 'A->B': (weight|delay): target must"),
        ({"B": POINTS["B"]}, "projection 'A->B': (weight|delay): source must"),
        (
            {"A": POINTS["A"][:, :1], "B": POINTS["B"]},
            "projection 'A->B': (weight|delay): target must",
        ),
        (
            {"A": POINTS["A"], "B": SPACE.Free(POINTS["B"], period=90.0)},
            "projection 'A->B': (weight|delay): target must",
        ),
    ],
    ids=["target", "source", "dimensions", "periods"],
)
def test_positions_that_do_not_fit(given, positions, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        build(project(**given), positions=positions)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda i: i, "projection 'A->B': weight must"),
        (lambda i, j: 1 / 0, "projection 'A->B': weight must"),
        (
            lambda i, j: 1.0 if i < j else 2.0,
            "projection 'A->B': weight must",
        ),
        (lambda i, j: 1j * i, "projection 'A->B': weight must"),
        (lambda i, j: 1e39 + i, "projection 'A->B': weight must"),
    ],
)
def test_whatever_a_function_raises_names_the_projection(function, message):
    p = jn.Projection(
        "A",
        "B",
        jn.connectivity.AllToAll(),
        weight=function,
        delay=1.0,
        synapse=jn.synapses.Delta(),
    )
    described = jn.Description([jn.Population(k, 4, jn.neurons.LIF()) for k in "AB"], [p])
    with pytest.raises(ValueError, match=f"(?s){message}"):
        jn.build(described, 0, 0.1)


def test_a_profile_is_a_weight_by_distance():
    line = jn.space.Grid((5,), spacing=10.0)
    profile = jn.space.Gaussian(10.0, peak=3.0)
    weights = []
    for weight in (profile, jn.space.ByDistance(profile)):
        p = jn.Projection(
            "A",
            "A",
            jn.connectivity.AllToAll(),
            weight=weight,
            delay=1.0,
            synapse=jn.synapses.Delta(),
        )
        population = jn.Population("A", 5, jn.neurons.LIF(), positions=line)
        net = jn.build(jn.Description([population], [p]), 0, 0.1)
        weights.append(net.connections("A->A").weight)
    np.testing.assert_array_equal(*weights)
    assert weights[0][0] == 3.0
