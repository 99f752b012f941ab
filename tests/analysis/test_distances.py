"""Distances of spike trains and of runs against loops, limits and Elephant."""

import math
import warnings

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
import scipy.stats

import jaxneuro as jn
from jaxneuro import SpikeTrains
from jaxneuro.analysis import (
    coincidence_factor,
    compare,
    count_correlation,
    interval_cvs,
    neuron_rates,
    psth,
    van_rossum,
    victor_purpura,
)
from tests import runs
from tests.oracle import analysis_distances as oracle
from tests.refusing import assert_refused

TRAIN = st.lists(st.integers(1, 300), max_size=12).map(lambda x: [0.5 * s for s in sorted(x)])
SHORT = st.lists(st.integers(1, 60), max_size=5, unique=True).map(sorted)
EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 300)), unique=True, max_size=60)
COST = st.sampled_from([0.0, 0.01, 0.3, 7.0])
TAU = st.sampled_from([0.1, 3.0, 40.0, 1e6])
DISTANCES = {
    "victor_purpura": lambda a, b: victor_purpura(a, b, cost=0.1),
    "van_rossum": lambda a, b: van_rossum(a, b, tau=10.0),
}
every_distance = pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES.keys())


def given(events, stop=150.0):
    events = sorted(events, key=lambda e: e[1])
    return SpikeTrains([0.5 * s for _, s in events], [i for i, _ in events], 5, 0.0, stop)


@hypothesis.given(a=TRAIN, b=TRAIN, cost=COST)
def test_victor_purpura_equals_the_loop(a, b, cost):
    want = oracle.victor_purpura(a, b, cost)
    assert victor_purpura(a, b, cost=cost) == pytest.approx(want, rel=1e-12, abs=1e-12)


@hypothesis.given(a=TRAIN, b=TRAIN, tau=TAU)
def test_van_rossum_equals_the_double_sums(a, b, tau):
    want = oracle.van_rossum(a, b, tau)
    # The sums cancel: of a distance near 0 half of the digits are left.
    assert van_rossum(a, b, tau=tau) == pytest.approx(want, rel=1e-9, abs=2e-7)


def test_van_rossum_is_the_integral():
    a, b = [3.0, 8.0, 8.5, 40.0], [3.5, 20.0, 41.0]
    want = oracle.van_rossum_integral(a, b, 5.0, 1e-3)
    assert van_rossum(a, b, tau=5.0) == pytest.approx(want, rel=1e-6)


@every_distance
@hypothesis.given(a=TRAIN, b=TRAIN, c=TRAIN, seed=st.integers(0, 9))
def test_it_is_a_metric(distance, a, b, c, seed):
    assert distance(a, a) == 0.0
    assert distance(a, b) == pytest.approx(distance(b, a), abs=1e-9)
    assert (distance(a, b) > 1e-9) is (a != b)
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-9
    shuffled = np.random.default_rng(seed).permutation(a)
    assert distance(shuffled, np.array(b)) == pytest.approx(distance(a, b), abs=1e-12)


def test_limits():
    rng = np.random.default_rng(0)
    a, b = np.split(rng.permutation(np.arange(5.0, 500.0, 5.0))[:30], [12])
    assert victor_purpura(a, b, cost=0.0) == 6
    assert victor_purpura(a, b, cost=1e6) == 30
    assert victor_purpura(a, [], cost=1.0) == victor_purpura([], a, cost=0.0) == 12
    assert victor_purpura([10.0], [13.0], cost=0.1) == pytest.approx(0.3)
    assert van_rossum(a, b, tau=0.1) == pytest.approx(math.sqrt(30 / 2), rel=1e-12)
    assert van_rossum(a, b, tau=1e9) == pytest.approx(6 / math.sqrt(2), rel=1e-6)
    # Van Rossum (2001): D^2 is 1/2 of a spike too much and 1 - exp(-shift / tau) of one moved.
    assert van_rossum([7.0], [], tau=10.0) == pytest.approx(math.sqrt(1 / 2), rel=1e-12)
    moved = van_rossum([7.0], [7.0 + 1e-6], tau=10.0)
    assert moved == pytest.approx(math.sqrt(-math.expm1(-1e-7)), rel=1e-6)
    assert victor_purpura([], [], cost=1.0) == van_rossum([], [], tau=1.0) == 0.0


# Elephant 1.2.1 (NumPy 2.4.6), of the trains below, `t_stop=500 * pq.ms`, the pairs i < j:
# victor_purpura_distance(trains, cost / pq.ms), van_rossum_distance(trains, tau * pq.ms).
ELEPHANT_COST = {
    0.0: [8, 5, 12, 13, 20, 7],
    0.02: [12.9956130652, 11.7479675711, 12, 16.5210414439, 20, 7],
    0.2: [25.5339608495, 19, 12, 25.0912881332, 20, 7],
    5.0: [32, 19, 12, 27, 20, 7],
}
ELEPHANT_TAU = {
    1.0: [5.64139679771, 4.4610836182, 3.49621311261, 5.19601094173, 4.5373741811, 2.77089688148],
    10.0: [
        5.66910302375,
        5.13218661901,
        3.74378676068,
        6.71880615807,
        5.98045419532,
        3.88684335762,
    ],
    100.0: [
        6.8256119454,
        5.50398230528,
        6.77557953536,
        8.78723176535,
        12.1527435375,
        5.52592065259,
    ],
}


def test_elephant():
    rng = np.random.default_rng(1996)
    each = [np.sort(rng.uniform(0.0, 500.0, n)) for n in (12, 20, 7, 0)]
    owners = np.repeat(np.arange(4), [12, 20, 7, 0])
    trains, pairs = SpikeTrains(np.concatenate(each), owners, 4, 0.0, 500.0), np.triu_indices(4, 1)
    for cost, want in ELEPHANT_COST.items():
        np.testing.assert_allclose(victor_purpura(trains, cost=cost)[pairs], want, rtol=1e-11)
    for tau, want in ELEPHANT_TAU.items():
        got = math.sqrt(2) * van_rossum(trains, tau=tau)[pairs]
        np.testing.assert_allclose(got, want, rtol=1e-11)


@hypothesis.given(events=EVENTS)
def test_a_matrix_is_its_pairs(events):
    trains = given(events)
    each = [trains.of(k) for k in range(5)]
    for function, more in (
        (victor_purpura, {"cost": 0.1}),
        (van_rossum, {"tau": 10.0}),
        (coincidence_factor, {"delta": 2.0}),
    ):
        got = function(trains, **more)
        of_two = more | ({"start": 0.0, "stop": 150.0} if "delta" in more else {})
        want = [[function(a, b, **of_two) for b in each] for a in each]
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
        few = function(trains, neurons=3, **more)
        np.testing.assert_allclose(few, got[:3, :3], rtol=1e-9, atol=1e-9)


def test_a_window_of_two_arrays():
    a, b = [1.0, 5.0, 9.0], np.array([5.0, 30.0])
    assert victor_purpura(a, b, cost=0.0, start=1.0, stop=20.0) == 1
    assert victor_purpura(a, b, cost=0.0, start=5.0) == 0
    assert isinstance(van_rossum(a, b, tau=1.0), float)


@hypothesis.given(a=SHORT, b=SHORT, delta=st.sampled_from([1, 4, 20, 40]))
def test_the_coincidence_factor_equals_the_loop(a, b, delta):
    found = oracle.most_pairs(a, b, delta)
    want = oracle.coincidence_factor(a, b, float(delta), 100.0, found)
    got = coincidence_factor(a, b, delta=float(delta), start=0.0, stop=100.0)
    assert got == pytest.approx(want, rel=1e-12, abs=1e-12, nan_ok=True)


def test_coincidences_by_chance_and_without_spikes():
    rng = np.random.default_rng(3)
    # Rare spikes: at most a part in a hundred of them has a second one within 2 delta.
    a, b = (np.sort(rng.uniform(0.0, 1e6, 4000)) for _ in range(2))
    window = {"start": 0.0, "stop": 1e6}
    got = coincidence_factor(a, b, delta=1.0, **window)
    # About 2 r delta n = 32 coincidences, as Poisson numbers are.
    assert abs(got) < 5 * math.sqrt(32) / 4000
    assert coincidence_factor(a, a, delta=1.0, **window) == pytest.approx(1.0, rel=1e-12)
    assert coincidence_factor(a, a + 0.1 * rng.random(4000), delta=0.1, **window) > 0.99
    assert coincidence_factor(a, [], delta=1.0, **window) == 0.0
    assert coincidence_factor([], b, delta=1.0, **window) == 0.0
    assert math.isnan(coincidence_factor([], [], delta=1.0, **window))
    # 3 spikes in 10 ms are 1.2 of a window of 4 ms.
    assert math.isnan(coincidence_factor([5.0], [1.0, 5.0, 9.0], delta=2.0, start=0.0, stop=10.0))


@hypothesis.given(
    events=EVENTS,
    onsets=st.lists(st.integers(0, 300), max_size=8),
    begin=st.integers(-60, 20),
    width=st.sampled_from([1, 6, 20]),
)
def test_psth_equals_the_loop(events, onsets, begin, width):
    onsets, bins = [*onsets, 150], 4
    want, left = oracle.psth(
        [s for _, s in events], 5, onsets, begin, width, bins, first=0, last=300
    )
    assert left
    window = (0.5 * begin, 0.5 * (begin + width * bins))
    ask = {"onsets": [0.5 * x for x in onsets], "window": window, "bin_ms": 0.5 * width}
    centres, rates = psth(given(events), **ask)
    np.testing.assert_allclose(rates, np.array(want) * 2000.0, rtol=1e-12)
    np.testing.assert_allclose(centres, 0.5 * (begin + width * (np.arange(bins) + 0.5)))


def test_psth_of_counts_and_of_one_event():
    counts = np.zeros(1000, np.int64)
    counts[[99, 499, 899]] = 4  # a spike of both neurons at each, and of another two
    few = runs.result(None, {"E": 2}, 100.0, counts={"E": counts})
    centres, rates = psth(few, onsets=[9.0, 49.0, 89.0], window=(0.0, 5.5), bin_ms=1.0)
    assert centres.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert rates.tolist() == [2000.0, 0.0, 0.0, 0.0, 0.0]
    one = psth(few, onsets=[9.0, 49.0, 98.0], window=(0.0, 5.0), bin_ms=5.0, start=20.0)
    assert one[1].tolist() == [400.0]


def a_run(seed, rate=0.02, sizes=None, duration=400.0):
    rng = np.random.default_rng(seed)
    sizes = {"E": 12, "I": 5} if sizes is None else sizes
    spikes = {
        name: [(float(t + 1), i) for t, i in np.argwhere(rng.random((int(duration), n)) < rate)]
        for name, n in sizes.items()
    }
    return runs.result(spikes, sizes, duration, dt=1.0)


def test_compare_equals_the_loop_and_scipy():
    a, b = a_run(0), a_run(1, 0.04)
    found = compare(a, b, neurons=6, bin_ms=4.0, start=20.0)
    assert [(x.population, x.measure) for x in found.rows] == [
        (name, measure) for name in "EI" for measure in ("rate", "cv", "correlation")
    ]
    for name in "EI":
        values = [{}, {}]
        for run, own in zip((a, b), values):
            own["rate"] = neuron_rates(run, name, start=20.0)
            own["cv"] = interval_cvs(run, name, start=20.0)
            matrix = count_correlation(run.spikes[name], bin_ms=4.0, start=20.0)[1][:6, :6]
            own["correlation"] = matrix[np.triu_indices(len(matrix), 1)]
        for measure in values[0]:
            x, y = (own[measure][~np.isnan(own[measure])] for own in values)
            row = found[name, measure]
            np.testing.assert_allclose(row.a, x, rtol=1e-12)
            np.testing.assert_allclose(row.b, y, rtol=1e-12)
            near = [np.round(v, 12).tolist() for v in (row.a, row.b)]
            assert row.distance == pytest.approx(float(oracle.ks_distance(*near)), rel=1e-12)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of an approximate p
                p = scipy.stats.ks_2samp(*near).pvalue
            np.testing.assert_equal(row.p, math.nan if measure == "correlation" else p)
            assert (row.mean_a, row.mean_b) == (row.a.mean(), row.b.mean())
    assert found["E", "rate"].distance > 0.7
    lines = repr(found).splitlines()
    assert lines[0].split() == ["population", "measure", "distance", "p", "mean", "a", "mean", "b"]
    assert len(lines) == 7
    assert len({len(line) for line in lines}) == 1
    assert [line.split()[3] == "-" for line in lines[1:]] == 2 * [False, False, True]
    row = found["E", "rate"]
    assert repr(row).startswith(f"rate of 'E': distance {row.distance:.3g}, p ")


def drawn_trains(seed, chance, n=24, steps=6000):
    """Ascending steps of each neuron."""
    spikes = np.random.default_rng(seed).random((n, steps)) < chance
    return [(np.flatnonzero(x) + 1).tolist() for x in spikes]


def of_steps(trains, dt=0.1, steps=6000):
    """Spike trains of the steps of each neuron."""
    pairs = sorted((step, i) for i, train in enumerate(trains) for step in train)
    times, neurons = np.array([k for k, _ in pairs]) * dt, [i for _, i in pairs]
    return SpikeTrains(times, neurons, len(trains), 0.0, steps * dt)


@pytest.mark.parametrize("other", ["backwards", "another run"])
def test_compare_is_exact(other):
    """Equal values count as equal, however they were rounded: as fractions, distances are these."""
    trains = drawn_trains(0, 0.001)
    if other == "backwards":
        others = [[6001 - k for k in reversed(train)] for train in trains]
    else:
        others = drawn_trains(1, 0.0012)
    found = compare(of_steps(trains), of_steps(others), bin_ms=2.0)
    both = trains, others
    want = {
        "rate": oracle.ks_distance(*([len(x) for x in run] for run in both)),
        "cv": oracle.ks_distance(*map(oracle.squared_cvs, both)),
        "correlation": oracle.ks_distance(
            *(oracle.signed_squared_correlations(run, 20, 300) for run in both)
        ),
    }
    for measure, distance in want.items():
        assert (distance == 0) is (other == "backwards")
        assert found["", measure].distance == pytest.approx(float(distance), rel=1e-14, abs=0.0)
        if other == "backwards" and measure != "correlation":
            assert found["", measure].p == 1.0


def test_compare_a_run_with_itself_and_with_none():
    a = a_run(0)
    assert {x.distance for x in compare(a, a).rows} == {0.0}
    silent = a_run(0, 0.0)
    found = compare(a, silent, populations="E")
    assert found["E", "rate"].distance == 1.0
    assert math.isnan(found["E", "cv"].distance)
    assert math.isnan(found["E", "correlation"].mean_b)
    nobody = {"E": 1, "I": 0}
    assert len(compare(a_run(2, sizes=nobody), a_run(3, sizes=nobody)).rows) == 6


def test_what_compare_takes():
    recording = jax.tree.map(np.asarray, runs.batch())
    one, other = recording[0, 1], recording[1, 2]
    want = repr(compare(one.result(), other.result()))
    assert repr(compare(one, other)) == want
    trains = [x.result().spikes["E"] for x in (one, other)]
    of_arrays = compare(*trains)
    assert [x[2:4] for x in of_arrays.rows] == [x[2:4] for x in compare(one, other).rows[:3]]
    assert of_arrays["", "cv"].population == ""
    assert_refused(lambda: compare(recording, one), "compare", "the recording")


def test_of_a_run_on_disk(tmp_path):
    net = jn.build(jn.Description([jn.Population("E", 4, jn.neurons.LIF())]), 0, 0.5)
    ask = {"inputs": {"E": np.full((400, 4), 600.0)}}
    kept = jn.simulate(net, 200.0, **ask)
    jn.simulate(net, 200.0, save=tmp_path / "run", every=100.0, **ask)
    disk = jn.Recording.open(tmp_path / "run")
    assert repr(compare(disk, kept)) == repr(compare(kept, kept))
    for function, more in (
        (victor_purpura, {"cost": 0.1}),
        (van_rossum, {"tau": 10.0, "start": 50.0}),
        (coincidence_factor, {"delta": 2.0}),
        (psth, {"onsets": [50.0, 150.0], "window": (-10.0, 20.0)}),
    ):
        np.testing.assert_array_equal(function(disk, "E", **more), function(kept, "E", **more))


def test_bad_arguments_are_refused():
    trains = SpikeTrains([1.0], [0], 1, 0.0, 10.0)
    a, run = np.array([1.0, 2.0]), a_run(0)
    onsets = {"onsets": [5.0], "window": (-1.0, 2.0), "bin_ms": 1.0}
    for call, owner, field in (
        (lambda: victor_purpura(a, a, cost=-1.0), "victor_purpura", "cost"),
        (lambda: victor_purpura(a, a, cost=math.inf), "victor_purpura", "cost"),
        (lambda: victor_purpura(a, cost=1.0), "victor_purpura", "the second train"),
        (lambda: victor_purpura(a, [np.nan], cost=1.0), "victor_purpura", "the second train"),
        (lambda: van_rossum([[1.0]], a, tau=1.0), "van_rossum", "the first train"),
        (lambda: van_rossum(a, a, tau=0.0), "van_rossum", "tau"),
        (lambda: van_rossum(a, a, tau=1.0, start=3.0, stop=3.0), "van_rossum", "stop"),
        (lambda: van_rossum(a, a, tau=1.0, start="x"), "van_rossum", "start"),
        (lambda: van_rossum(trains, tau=1.0, neurons=0), "van_rossum", "neurons"),
        (lambda: van_rossum(3, tau=1.0), "van_rossum", "the source"),
        (lambda: coincidence_factor(a, a, delta=-2.0), "coincidence_factor", "delta"),
        (lambda: coincidence_factor(a, a, delta=2.0), "coincidence_factor", "start and stop"),
        (lambda: psth(trains, **onsets | {"onsets": "a"}), "psth", "onsets"),
        (lambda: psth(trains, **onsets | {"onsets": []}), "psth", "onsets"),
        (lambda: psth(trains, **onsets | {"onsets": [9.0]}), "psth", "onsets"),
        (lambda: psth(trains, **onsets | {"window": (2.0, -1.0)}), "psth", "window"),
        (lambda: psth(trains, **onsets | {"window": 3.0}), "psth", "window"),
        (lambda: psth(trains, **onsets | {"bin_ms": 4.0}), "psth", "bin_ms"),
        (lambda: compare(run, 3), "compare", "the source"),
        (lambda: compare(run, trains), "compare", "a and b"),
        (lambda: compare(run, jn.analysis.Traces([1.0], [1.0])), "compare", "b"),
        (lambda: compare(run, run, populations=[]), "compare", "populations"),
        (lambda: compare(run, run, populations=3), "compare", "populations"),
        (lambda: compare(run, run, populations="X"), "compare", "population"),
        (lambda: compare(run, a_run(0, sizes={"E": 2})), "compare", "population"),
        (lambda: compare(run, run, neurons=1), "compare", "neurons"),
        (lambda: compare(run, run, bin_ms=300.0), "compare", "bin_ms"),
        (lambda: compare(run, run, stop=3.0), "compare", "bin_ms"),
        (lambda: compare(trains, trains, populations="E"), "compare", "the name"),
    ):
        assert_refused(call, owner, field)
    with pytest.raises(jn.InvalidValueError, match="there is no row named 'E, rates'"):
        compare(run, run)["E", "rates"]
    with pytest.raises(jn.InvalidValueError, match="return the recording from the function"):
        jax.eval_shape(lambda x: compare(x, run).rows[0].p, runs.batch()[0, 0])
