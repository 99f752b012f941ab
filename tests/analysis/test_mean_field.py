"""Self-consistent rates: published networks, and every solution put back into the equation."""

import numpy as np
import pytest

from jaxneuro.analysis import (
    cv_diffusion,
    input_moments,
    membrane_moments,
    self_consistent_rates,
    siegert,
)
from tests.oracle import analysis_diffusion as oracle
from tests.refusing import assert_refused

# The balanced network of Brunel (2000) with g = 5, eta = 2 and 20 kHz of external spikes.
INDEGREES = np.array([[1000.0, 250.0]] * 2)
WEIGHTS = np.array([[0.1, -0.5]] * 2)
NEURON = {"tau_m": 20.0, "v_th": 20.0, "v_reset": 0.0, "t_ref": 2.0}
EXTERNAL = {"external_rate": 20_000.0, "external_weight": 0.1}


def test_the_balanced_network_has_its_published_rate():
    rates = self_consistent_rates(INDEGREES, WEIGHTS, **NEURON, **EXTERNAL)
    np.testing.assert_allclose(rates, 32.03, rtol=2e-4)
    # One population that stands for both is the same network.
    one = self_consistent_rates([[1000.0]], [[-0.025]], **NEURON, **EXTERNAL)
    assert one.shape == (1,)


@pytest.mark.parametrize("g", [3.0, 4.5, 5.0, 8.0])
@pytest.mark.parametrize("start", [0.0, 10.0, [400.0, 0.0]])
def test_the_solution_solves_the_equation(g, start):
    weights = np.array([[0.1, -0.1 * g]] * 2)
    rates = self_consistent_rates(INDEGREES, weights, **NEURON, **EXTERNAL, start=start)
    mu, sigma = input_moments(rates, INDEGREES, weights, 20.0, **EXTERNAL)
    for rate, m, s in zip(rates, mu, sigma):
        assert oracle.rate_by_quadrature(m, s, 20.0, 20.0, 0.0, 2.0) == pytest.approx(
            rate, rel=1e-8
        )


def test_the_input_is_campbells():
    rates = np.array([7.0, 11.0])
    mu, sigma = input_moments(rates, INDEGREES, WEIGHTS, 20.0, **EXTERNAL, e_l=-60.0)
    parts = [
        membrane_moments(1000 * 7.0, 0.1, 20.0),
        membrane_moments(250 * 11.0, -0.5, 20.0),
        membrane_moments(20_000.0, 0.1, 20.0),
    ]
    np.testing.assert_allclose(mu, -60.0 + sum(p[0] for p in parts), rtol=1e-12)
    np.testing.assert_allclose(sigma**2 / 2, sum(p[1] for p in parts), rtol=1e-12)


def test_rows_are_targets():
    # Only the first population excites, only the second is excited.
    rates = self_consistent_rates(
        [[0, 0], [800, 0]],
        [[0, 0], [0.2, 0]],
        **NEURON,
        external_rate=[20_000.0, 0.0],
        external_weight=0.1,
    )
    alone = siegert(40.0, np.sqrt(4.0), 20.0, 20.0, 0.0, 2.0)
    assert rates[0] == pytest.approx(alone, rel=1e-9)
    drive = 0.02 * 800 * rates[0] * 0.2
    assert rates[1] == pytest.approx(
        siegert(drive, np.sqrt(drive * 0.2), 20.0, 20.0, 0.0, 2.0), rel=1e-9
    )


def test_the_start_chooses_among_solutions():
    # Strong recurrent excitation: nearly silent, or as fast as the refractory time allows.
    network = {"indegrees": [[1000.0]], "weights": [[0.1]], **NEURON}
    network |= {"external_rate": 5000.0, "external_weight": 0.1}
    low = self_consistent_rates(**network, start=0.0)
    high = self_consistent_rates(**network, start=400.0)
    assert low[0] < 1.0
    assert high[0] > 300.0
    for rates in (low, high):
        mu, sigma = input_moments(rates, [[1000.0]], [[0.1]], 20.0, 5000.0, 0.1)
        assert siegert(mu, sigma, **NEURON) == pytest.approx(rates, rel=1e-8, abs=1e-8)


def test_strong_feedback_is_solved():
    # 30 times the synapses: each Hz takes 75 mV away.
    rates = self_consistent_rates(
        30 * INDEGREES, WEIGHTS, **NEURON, external_rate=6e5, external_weight=0.1
    )
    mu, sigma = input_moments(rates, 30 * INDEGREES, WEIGHTS, 20.0, 6e5, 0.1)
    np.testing.assert_allclose(siegert(mu, sigma, **NEURON), rates, rtol=1e-8)
    assert (cv_diffusion(mu, sigma, **NEURON) > 0.5).all()


def test_populations_may_differ():
    rng = np.random.default_rng(0)
    p = 8
    indegrees = rng.integers(100, 1500, (p, p))
    signs = np.where(np.arange(p) % 2, -5.0, 1.0)
    weights = 0.1 * np.broadcast_to(signs, (p, p))
    given = {
        "tau_m": rng.uniform(8, 20, p),
        "v_th": rng.uniform(14, 20, p),
        "v_reset": rng.uniform(0, 5, p),
        "t_ref": 2.0,
    }
    external = {"external_rate": rng.uniform(1e4, 3e4, p), "external_weight": 0.1, "e_l": 1.0}
    rates = self_consistent_rates(indegrees, weights, **given, **external, tau_syn=0.5)
    mu, sigma = input_moments(rates, indegrees, weights, given["tau_m"], **external)
    np.testing.assert_allclose(
        siegert(mu, sigma, **given, tau_syn=0.5), rates, rtol=1e-8, atol=1e-8
    )
    order = rng.permutation(p)
    shuffled = self_consistent_rates(
        indegrees[np.ix_(order, order)],
        weights[np.ix_(order, order)],
        **{k: v[order] if np.ndim(v) else v for k, v in given.items()},
        **{k: v[order] if np.ndim(v) else v for k, v in external.items()},
        tau_syn=0.5,
    )
    np.testing.assert_allclose(shuffled, rates[order], rtol=1e-6, atol=1e-6)


def test_no_solution_is_an_error():
    # Without a refractory time, excitation that outgrows the threshold has no stationary rate.
    with pytest.raises(RuntimeError, match="no stationary rates were found from start"):
        self_consistent_rates(
            [[1000.0]], [[1.0]], 20.0, 20.0, 0.0, external_rate=20_000.0, external_weight=0.1
        )


@pytest.mark.parametrize(
    ("change", "field", "got"),
    [
        ({"indegrees": [[1.0, 2.0]]}, "indegrees and weights", "(1, 2) and (2, 2)"),
        ({"weights": [[1.0]]}, "indegrees and weights", "(2, 2) and (1, 1)"),
        ({"indegrees": -INDEGREES}, "indegrees", "-1000.0 at index 0"),
        ({"weights": WEIGHTS * np.nan}, "weights", "nan at index 0"),
        ({"tau_m": [1.0, 2.0, 3.0]}, "tau_m", "(3,)"),
        ({"tau_m": -1.0}, "tau_m", "-1.0"),
        ({"external_rate": -1.0}, "external_rate", "-1.0"),
        ({"start": -1.0}, "start", "-1.0"),
        ({"start": [1.0]}, "start", "(1,)"),
        ({"v_th": [20.0, 20.0, 20.0]}, "v_th", "(3,)"),
        ({"v_reset": 30.0}, "v_reset", "30.0 and 20.0 mV"),
    ],
)
def test_bad_networks_are_refused(change, field, got):
    given = {"indegrees": INDEGREES, "weights": WEIGHTS, **NEURON, **EXTERNAL}
    assert_refused(
        lambda: self_consistent_rates(**{**given, **change}), "self_consistent_rates", field, got
    )
