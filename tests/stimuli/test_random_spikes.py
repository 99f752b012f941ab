"""Random spike trains: counts, intervals, correlations and independence."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from jaxneuro.stimuli import (
    DeadTimePoisson,
    Gamma,
    MultipleInteraction,
    Poisson,
    PulsePackets,
    Sinusoid,
    Steps,
)
from tests.oracle import stimuli as oracle
from tests.stimuli.driving import (
    DT,
    correlation,
    intervals,
    prepare,
    run,
    scan,
    start,
    stream_of,
)

N, STEPS = 1000, 2000
TRAINS = {
    "Poisson": Poisson(40.0),
    "Poisson, sinusoid": Poisson(Sinusoid(50.0, 40.0, 20.0)),
    "Gamma": Gamma(40.0, 3),
    "DeadTimePoisson": DeadTimePoisson(40.0, 4.0),
    "MultipleInteraction": MultipleInteraction(40.0, 0.2),
    "PulsePackets": PulsePackets(np.arange(5.0, 200.0, 20.0), 3, 1.0),
}
every_train = pytest.mark.parametrize("model", TRAINS.values(), ids=TRAINS.keys())


def check_sums(counts, mean):
    """Mean and variance of the sums over time of Poisson trains."""
    sums = counts.sum(axis=0)
    assert abs(sums.mean() - mean) < 5 * np.sqrt(mean / sums.size)
    # The variance of the sample variance of Poisson numbers.
    assert abs(sums.var() - mean) < 5 * np.sqrt((2 * mean**2 + mean) / sums.size)


@pytest.mark.parametrize("first", [0, 2**24 + 1])
@pytest.mark.parametrize("rate", [20.0, 800.0, 3e4])
def test_poisson_counts(rate, first):
    counts = run(Poisson(rate), N, STEPS, first)
    mean = rate * DT * 1e-3
    check_sums(counts, mean * STEPS)
    classes = np.arange(int(scipy.stats.poisson(mean).ppf(1 - 1e-5)) + 1)
    got = np.bincount(np.minimum(counts, classes[-1]).astype(int).ravel(), minlength=classes.size)
    expected = scipy.stats.poisson(mean).pmf(classes) * counts.size
    expected[-1] = counts.size - expected[:-1].sum()
    assert scipy.stats.chisquare(got, expected).pvalue > 1e-4


def test_poisson_rates_of_each_neuron():
    rates = np.linspace(0.0, 2000.0, N)
    sums = run(Poisson(rates), N, STEPS).sum(axis=0)
    expected = rates * STEPS * DT * 1e-3
    z = (sums - expected)[1:] / np.sqrt(expected[1:])
    assert sums[0] == 0
    assert abs(z.mean()) < 5 / np.sqrt(N)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / N)


@pytest.mark.parametrize("make", [Poisson, lambda rate: Gamma(rate, 4)])
def test_a_rate_that_changes_is_followed(make):
    first = 2**30
    counts = run(make(Sinusoid(300.0, 250.0, 40.0)), N, 500, first).mean(axis=1)
    rates = [oracle.sinusoid(first + k, 300.0, 250.0, 40.0, 0.0, DT) for k in range(500)]
    expected = np.asarray(rates) * DT * 1e-3
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected / N) + 1e-9).all()
    steps = run(make(Steps([10.0, 20.0], [100.0, 900.0])), N, 400).sum(axis=1)
    assert (steps[:100] == 0).all()
    for part, rate in ((slice(100, 200), 100.0), (slice(200, 400), 900.0)):
        mean = rate * DT * 1e-3 * N * steps[part].size
        assert abs(steps[part].sum() - mean) < 5 * np.sqrt(mean)


def test_a_function_as_rate():
    counts = run(Poisson(lambda t: 100.0 * t), N, 300).mean(axis=1)
    expected = 100.0 * (np.arange(300) + 0.5) * DT * DT * 1e-3
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected / N) + 5 / N).all()


@pytest.mark.slow(but=["-1.0-Poisson"])
@pytest.mark.parametrize(
    "make", [Poisson, lambda r: Gamma(r, 2), lambda r: MultipleInteraction(r, 0.5)]
)
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_rate_that_is_none_gives_nan(make, bad):
    counts = run(make(lambda t: jnp.where(t < 1.0, 100.0, bad)), 5, 20)
    assert np.isfinite(counts[:10]).all()
    assert np.isnan(counts[10:]).all()


@pytest.mark.slow(but=["1"])
@pytest.mark.parametrize("order", [1, 2, 5, 10])
def test_gamma_intervals(order):
    rate = 200.0
    counts = run(Gamma(rate, order), N, 4 * STEPS)
    mean = rate * DT * 1e-3
    each = counts.mean(axis=0) / mean
    assert abs(each.mean() - 1) < 5 * each.std() / np.sqrt(N)
    between = intervals(counts)
    # The grid and spikes that share a step add a little; long intervals are cut off at the end.
    assert abs(between.std() / between.mean() - 1 / np.sqrt(order)) < 0.02
    assert abs(correlation(between[1:], between[:-1])[0]) < 0.02
    # In equilibrium from the start: as many spikes in the first steps as anywhere.
    early = counts[:20].sum()
    assert abs(early - 20 * N * mean) < 5 * np.sqrt(20 * N * mean)


def test_gamma_of_order_one_is_poisson():
    np.testing.assert_array_equal(run(Gamma(300.0, 1), N, 200), run(Poisson(300.0), N, 200))


@pytest.mark.slow(but=["50.0-5.0"])
@pytest.mark.parametrize(("rate", "dead"), [(50.0, 0.0), (50.0, 5.0), (150.0, 5.0), (196.0, 5.0)])
def test_dead_time_intervals(rate, dead):
    counts = run(DeadTimePoisson(rate, dead), N, 4 * STEPS)
    steps = round(dead / DT)
    mean, cv = oracle.dead_time_intervals(rate, steps, DT)
    assert set(np.unique(counts)) == {0.0, 1.0}
    between = intervals(counts)
    assert between.min() == steps + 1
    np.testing.assert_allclose(mean, 1e3 / rate)
    duration = counts.shape[0] * DT
    # Variance of the count of a renewal process: cv^2 per expected spike.
    expected, error = duration / mean, np.sqrt(duration / mean / N) * max(cv, 0.05)
    assert abs(counts.sum(axis=0).mean() - expected) < 5 * error
    assert abs(between.std() / between.mean() - cv) < 0.03
    p = 1 / (mean / DT - steps)
    if p < 1:
        free = between - steps - 1
        assert abs((free == 0).mean() - p) < 5 * np.sqrt(p * (1 - p) / free.size)


@pytest.mark.slow
def test_dead_time_starts_in_equilibrium():
    counts = run(DeadTimePoisson(150.0, 5.0), 100_000, 60)
    mean = 150.0 * DT * 1e-3
    error = np.sqrt(mean * (1 - mean) / 100_000)
    assert (np.abs(counts.mean(axis=1) - mean) < 5 * error).all()


@pytest.mark.slow
def test_dead_times_and_rates_of_each_neuron():
    rates, dead = np.resize([0.0, 20.0, 100.0], N), np.resize([2.0, 4.0], N)
    counts = run(DeadTimePoisson(rates, dead), N, 5 * STEPS)
    for rate in (0.0, 20.0, 100.0):
        sums = counts[:, rates == rate].sum(axis=0)
        expected = rate * 5 * STEPS * DT * 1e-3
        assert abs(sums.mean() - expected) <= 5 * np.sqrt(expected / sums.size)
    for d in (2.0, 4.0):
        assert intervals(counts[:, dead == d]).min() == round(d / DT) + 1


@pytest.mark.parametrize(("rate", "c"), [(400.0, 0.05), (300.0, 0.3), (2000.0, 0.9), (100.0, 1.0)])
def test_multiple_interaction(rate, c):
    n, n_steps = 20, 20_000
    counts = run(MultipleInteraction(rate, c), n, n_steps)
    mean = rate * DT * 1e-3
    # The sum over neurons varies with the mother process.
    error = np.sqrt(mean * (1 + (n - 1) * c) / (n * n_steps))
    assert abs(counts.mean() - mean) < 5 * error
    for column in counts.T[:4]:
        assert abs(column.var() - mean) < 5 * np.sqrt((mean + 2 * mean**2) / n_steps)
    pairs = np.corrcoef(counts.T)[np.triu_indices(n, 1)]
    assert abs(pairs.mean() - c) < 0.1 * c + 1e-9
    if c == 1:
        assert (counts == counts[:, :1]).all()
    # No correlation at other lags.
    late = [np.corrcoef(counts[1:, i], counts[:-1, i + 1])[0, 1] for i in range(n - 1)]
    assert np.abs(late).max() < 5 / np.sqrt(n_steps)


@pytest.mark.slow(but=["Poisson"])
@every_train
def test_trains_are_independent(model):
    """Neurons, steps, names and seeds; the neurons of a multiple interaction process are not."""
    n, n_steps = 200, STEPS
    here = run(model, n, n_steps)
    pairs = {
        "name": (here, run(model, n, n_steps, name="y")),
        "seed": (here, run(model, n, n_steps, seed=1)),
        "neuron": (here[:, 1:], here[:, :-1]),
        "step": (here[1:], here[:-1]),
    }
    if isinstance(model, MultipleInteraction):
        del pairs["neuron"]
    if isinstance(model, PulsePackets) or "Sinusoid" in repr(model):
        # A common rate correlates all: take away its part.
        centred = here - here.mean(axis=1, keepdims=True)
        other = pairs["name"][1] - pairs["name"][1].mean(axis=1, keepdims=True)
        pairs = {"neuron": (centred[:, 1:], centred[:, :-1]), "name": (centred, other)}
    if isinstance(model, DeadTimePoisson | Gamma | PulsePackets):
        pairs.pop("step", None)  # regular: a spike makes the next one late
    for what, (a, b) in pairs.items():
        r, error = correlation(a, b)
        factor = 4.0 if isinstance(model, MultipleInteraction | PulsePackets) else 1.0
        assert abs(r) < 5 * error * factor + 1 / n**2, what


@pytest.mark.slow(but=["Poisson"])
@every_train
def test_a_run_in_pieces_is_the_whole_run(model):
    ready = prepare(model, 50)
    state = start(ready, 50)
    _, whole = scan(ready, state, 600)
    pieces, first = [], 0
    for size in (200, 200, 200):
        state, out = scan(ready, state, size, first)
        pieces.append(np.asarray(out))
        first += size
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


@every_train
def test_negative_steps_do_not_break_a_train(model):
    ready = prepare(model, 50)
    state = start(ready, 50)
    state, before = scan(ready, state, 30, first=-30)
    assert np.isfinite(np.asarray(before)).all()
    if isinstance(model, PulsePackets):
        assert not before.any()
        _, late = scan(ready, state, 300)
        np.testing.assert_array_equal(late, scan(ready, start(ready, 50), 300)[1])


@every_train
def test_a_neuron_draws_the_same_in_any_population(model):
    few, many = (run(model, n, 600) for n in (7, 50))
    np.testing.assert_array_equal(few, many[:, :7])


@pytest.mark.slow(but=["Poisson"])
@every_train
def test_a_batch_of_seeds_draws_as_each_alone(model):
    ready = prepare(model, 20)
    states = [start(ready, 20, seed) for seed in range(3)]
    batch = jax.tree.map(lambda *x: np.stack(x), *states)

    def go(model, state):
        return jax.lax.scan(
            lambda s, k: model.step(s, k, DT), state, np.arange(50, dtype=np.int32)
        )[1]

    one = jax.jit(go)
    alone = np.stack([one(ready, s) for s in states])
    np.testing.assert_array_equal(jax.jit(jax.vmap(go, (None, 0)))(ready, batch), alone)


OFF = {
    "too fast": (Poisson(2e8), "x: rate must be of at most 16383 events.*got 20000 events"),
    "too fast at times": (Poisson(Steps([1.0], [2e8])), "at most 16383 events"),
    "too many stages": (Gamma(1e8, 2), "at most 16383 events.*got 20000"),
    "too fast a mother": (MultipleInteraction(1e8, 0.5), "at most 16383 events"),
    "length": (Poisson(np.ones(4)), r"x: rate must be one number .*\(3,\); got shape \(4,\)"),
    "length of correlation": (MultipleInteraction(1.0, np.ones(4)), r"correlation must be one"),
    "length of dead time": (DeadTimePoisson(1.0, np.ones(4)), r"dead_time must be one number"),
    "dead time off the grid": (DeadTimePoisson(1.0, 0.25), "x: dead_time .*between 0.2 and 0.3"),
    "rate and dead time": (DeadTimePoisson(200.0, 5.0), r"at most .* 196.078 Hz; got 200"),
    "one of them": (DeadTimePoisson([1.0, 1e3, 1.0], 1.0), r"at most .* 909.091 Hz; got 1000"),
}


@pytest.mark.parametrize("name", OFF)
def test_what_is_refused_when_a_network_is_built(name):
    model, message = OFF[name]
    with pytest.raises(ValueError, match=message):
        prepare(model, 3)


def test_a_whole_number_of_numpy_is_an_order():
    order = Gamma(40.0, np.int64(3)).order
    assert (order, type(order)) == (3, int)


def test_the_gradient_of_counts_is_0_by_the_rate_and_exact_by_the_weight():
    @jax.jit
    @functools.partial(jax.value_and_grad, argnums=(0, 1))
    def total(rate, weight):
        return (weight * Poisson(rate).step(Poisson(rate).init(50, stream), 7, DT)[1]).sum()

    stream = stream_of(50)
    _, (by_rate, by_weight) = total(np.float32(2000.0), np.float32(3.0))
    assert by_rate == 0
    assert by_weight == total(np.float32(2000.0), np.float32(1.0))[0] > 0


def test_a_rate_set_too_high_for_the_dead_time_gives_nan():
    model = DeadTimePoisson(300.0, 5.0)
    assert np.isnan(scan(model, model.init(4, stream_of(4)), 3)[1]).all()
