"""Noise currents: their laws, their correlations in time, their independence."""

import functools

import jax
import numpy as np
import pytest
import scipy.stats

from jaxneuro.stimuli import OrnsteinUhlenbeck, WhiteNoise
from tests.stimuli.driving import DT, correlation, prepare, run, scan, start, stream_of

N = 2000
NOISES = {
    "WhiteNoise": WhiteNoise(10.0, 30.0, 0.5),
    "OrnsteinUhlenbeck": OrnsteinUhlenbeck(10.0, 30.0, 4.0),
}
every_noise = pytest.mark.parametrize("model", NOISES.values(), ids=NOISES.keys())


@pytest.mark.parametrize("first", [0, 2**24 + 3])
def test_white_noise_holds_for_its_interval(first):
    first -= first % 5
    x = run(WhiteNoise(10.0, 30.0, 0.5), N, 100, first)
    for k in range(1, 100):
        assert (x[k] == x[k - 1]).all() == (k % 5 != 0)
    drawn = x[::5]
    assert abs(drawn.mean() - 10.0) < 5 * 30.0 / np.sqrt(drawn.size)
    assert abs(drawn.std() - 30.0) < 5 * 30.0 / np.sqrt(2 * drawn.size)
    assert scipy.stats.kstest((drawn.ravel() - 10.0) / 30.0, "norm").pvalue > 1e-4
    for a, b in ((drawn[1:], drawn[:-1]), (drawn[:, 1:], drawn[:, :-1])):
        r, error = correlation(a, b)
        assert abs(r) < 5 * error


def test_intervals_of_each_neuron():
    every = np.asarray([1, 3, 10])
    x = run(WhiteNoise(0.0, 1.0, every * DT), 3, 60)
    for i, e in enumerate(every):
        changed = np.flatnonzero(np.diff(x[:, i])) + 1
        assert changed.tolist() == list(range(e, 60, e))
    alone = run(WhiteNoise(0.0, 1.0, 0.3), 3, 60)
    np.testing.assert_array_equal(x[:, 1], alone[:, 1])


def test_the_ornstein_uhlenbeck_process_is_stationary_from_the_start():
    mean, sd, tau = 10.0, 30.0, 2.0
    x = run(OrnsteinUhlenbeck(mean, sd, tau), 20_000, 101)
    for k in (0, 1, 10, 100):
        assert abs(x[k].mean() - mean) < 5 * sd / np.sqrt(x[k].size)
        assert abs(x[k].std() - sd) < 5 * sd / np.sqrt(2 * x[k].size)
        assert scipy.stats.kstest((x[k] - mean) / sd, "norm").pvalue > 1e-4
    for lag in (1, 5, 20, 60):
        r, error = correlation(x[0], x[lag])
        assert abs(r - np.exp(-lag * DT / tau)) < 5 * error
        r = correlation(x[40], x[40 + lag])[0]
        assert abs(r - np.exp(-lag * DT / tau)) < 5 * error


def test_the_process_does_not_depend_on_the_time_step():
    """Variance and correlation at one lag for steps shorter and longer than tau."""
    for dt, lag in ((0.01, 100), (0.5, 2), (1.0, 1)):
        x = run(OrnsteinUhlenbeck(0.0, 1.0, 0.7), 20_000, lag + 1, dt=dt)
        r, error = correlation(x[0], x[lag])
        assert abs(r - np.exp(-1.0 / 0.7)) < 5 * error
        assert abs(x[lag].var() - 1) < 5 * np.sqrt(2 / 20_000)


@every_noise
def test_noises_are_independent(model):
    here = run(model, N, 40)
    pairs = {
        "neuron": (here[::5, 1:], here[::5, :-1]),
        "name": (here[::5], run(model, N, 40, name="y")[::5]),
        "seed": (here[::5], run(model, N, 40, seed=3)[::5]),
    }
    for what, (a, b) in pairs.items():
        r = correlation(a, b)[0]
        # Of the Ornstein-Uhlenbeck process at least the first samples are worth one each.
        assert abs(r) < 5 / np.sqrt(N), what


@pytest.mark.slow
@every_noise
def test_a_run_in_pieces_is_the_whole_run(model):
    ready = prepare(model, 50)
    state = start(ready, 50)
    _, whole = scan(ready, state, 100)
    pieces, first = [], 0
    for size in (3, 47, 50):
        state, out = scan(ready, state, size, first)
        pieces.append(np.asarray(out.current))
        first += size
    np.testing.assert_array_equal(np.concatenate(pieces), whole.current)


@every_noise
def test_negative_steps_and_batches(model):
    ready = prepare(model, 20)
    states = [start(ready, 20, seed) for seed in range(3)]
    batch = jax.tree.map(lambda *x: np.stack(x), *states)

    def go(state):
        steps = np.arange(-20, 30, dtype=np.int32)
        return jax.lax.scan(lambda s, k: ready.step(s, k, DT), state, steps)[1].current

    one = jax.jit(go)
    alone = np.stack([one(s) for s in states])
    assert np.isfinite(alone).all()
    np.testing.assert_allclose(jax.jit(jax.vmap(go))(batch), alone, rtol=1e-5, atol=1e-4)


def test_gradients_of_the_noise():
    """mean and sd scale the same draws."""

    @jax.jit
    @functools.partial(jax.value_and_grad, argnums=(0, 1))
    def total(mean, sd):
        model = OrnsteinUhlenbeck(mean, sd, 3.0)
        state, sums = model.init(10, stream_of(10)), 0.0
        for k in range(3):
            state, drive = model.step(state, np.int32(k), DT)
            sums = sums + drive.current.sum()
        return sums

    value, (by_mean, by_sd) = total(np.float32(1.0), np.float32(2.0))
    np.testing.assert_allclose(by_mean, 30.0, rtol=1e-6)
    np.testing.assert_allclose(by_sd, (float(value) - 30.0) / 2.0, rtol=1e-4)


OFF = {
    "off the grid": (WhiteNoise(0.0, 1.0, 0.25), "x: interval .*between 0.2 and 0.3 ms"),
    "short": (WhiteNoise(0.0, 1.0, 1e-9), "interval must be at least 1 time step"),
    "length": (WhiteNoise(np.ones(4), 1.0), r"x: mean must be one number .*\(3,\)"),
    "length of sd": (OrnsteinUhlenbeck(0.0, np.ones(4), 1.0), r"x: sd must be one number"),
}


@pytest.mark.parametrize("name", OFF)
def test_what_is_refused_when_a_network_is_built(name):
    model, message = OFF[name]
    with pytest.raises(ValueError, match=message):
        prepare(model, 3)
