"""The example of working memory: its weights, and what it makes of a bump whose course is known."""

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():  # it sets up a process of its own; this one has begun
    warnings.simplefilter("ignore", RuntimeWarning)
    from examples import working_memory as example


@pytest.mark.slow
def test_weights_are_those_of_the_ring():
    """A Gaussian of sd 14.4 degrees on a constant, with its top at 1.62 times the mean."""
    n = 64
    wires = example.network("control", n).connections("E->E")
    weights = np.zeros((n, n))
    weights[wires.pre, wires.post] = wires.weight
    np.testing.assert_allclose(weights.mean(0), 0.381 * 2048 / n, rtol=1e-6)
    for shift in (1, 17):  # a function of the difference alone
        np.testing.assert_allclose(np.roll(weights, (shift, shift), (0, 1)), weights, rtol=1e-6)
    np.testing.assert_allclose(weights, weights.T, rtol=1e-6)
    np.testing.assert_allclose(np.diag(weights) / weights.mean(), 1.62, rtol=1e-6)
    bell = weights[0] / weights.mean() - weights[0, n // 2] / weights.mean()
    ratio = bell[4] / bell[0]  # 4 cells are 22.5 degrees
    np.testing.assert_allclose(ratio, np.exp(-((22.5 / 14.4) ** 2) / 2), rtol=1e-5)


def test_drift_of_a_random_walk():
    """Steps of variance 4 deg2 a window, and a distractor that moves the bump by 50 degrees."""
    steps = np.random.default_rng(1).normal(0.0, 2.0, (200, 45))
    steps[:, -example.AFTER - 1] += 50.0
    angle = np.cumsum(steps, axis=1)
    held, late, squares, slope = example.drift(0.7 * np.exp(1j * np.radians(angle)))
    first, last = example.BEFORE + 3, 45 - example.AFTER - 1
    np.testing.assert_allclose(held - held[:, :1], angle[:, first:last] - angle[:, [first]])
    np.testing.assert_allclose(late, angle[:, last - 1 :] - angle[:, [last - 1]], atol=1e-9)
    assert abs(slope * example.WINDOW / 4.0 - 1.0) < 0.1
    assert abs(squares[9] / squares[0] / 10.0 - 1.0) < 0.1
