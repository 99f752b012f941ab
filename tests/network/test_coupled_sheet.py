"""The sheet of the example: coupled neurons agree with their neighbours, others do not."""

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():  # it sets up a process of its own; this one has begun
    warnings.simplefilter("ignore", RuntimeWarning)
    from examples import neurotransmitters


@pytest.fixture(scope="module")
def agreement():
    """Correlation of v at distances 0 to 19 on the sheet of 100 x 100, by variant."""
    net = neurotransmitters.network()
    found = {}
    for variant in ("not coupled", "electrical"):
        v, _ = neurotransmitters.run(net, variant, 150.0)
        found[variant] = neurotransmitters.correlation(v[75:])
    return found


@pytest.mark.slow
def test_gap_junctions_make_neighbours_agree(agreement):
    c = agreement["electrical"]
    assert c[1] > 0.3
    assert c[1] > c[5] > c[19]


@pytest.mark.slow
def test_neurons_that_are_not_coupled_do_not_agree(agreement):
    """19,800 pairs: chance is 0.007, less what the samples have in common."""
    assert np.abs(agreement["not coupled"][1:]).max() < 0.02


def test_the_correlation_is_that_of_pairs():
    """Of a plane wave it is the cosine of the phase along one axis, and 1 along the other."""
    x = np.arange(120)
    v = np.stack([np.cos(2 * np.pi * (x - t) / 12.0)[:, None].repeat(120, 1) for t in range(12)])
    expected = (1.0 + np.cos(2 * np.pi * np.arange(20) / 12.0)) / 2.0
    np.testing.assert_allclose(neurotransmitters.correlation(v), expected, atol=0.01)
