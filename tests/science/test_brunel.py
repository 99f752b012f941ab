"""Brunel's network against diffusion theory and NEST's example (reference values, section 2)."""

import numpy as np
import pytest

import jaxneuro as jn
from benchmarks.brunel import description

pytestmark = pytest.mark.science


def test_the_example_of_nest():
    """V_reset 0: 32.0 Hz within 2 %, CV 0.14 to 0.20, theory 32.03 Hz."""
    net = jn.build(description(12_500), key=3, dt=0.1)
    result = jn.simulate(net, 1500.0, key=4)
    rate = result.rate("E", start=500.0)
    cv = jn.analysis.interval_cv(result, "E", start=500.0)
    print(f"rate {rate:.2f} Hz, CV {cv:.3f}")
    assert rate == pytest.approx(32.0, rel=0.02)
    assert 0.14 < cv < 0.20


def paper(g, eta):
    """The network of 2000: V_reset 10 mV, J 0.1 mV, delay 1.5 ms."""
    sizes, inputs = {"E": 10_000, "I": 2_500}, {"E": 1000, "I": 250}
    model = jn.neurons.LIF(tau_m=20.0, e_l=0.0, v_th=20.0, v_reset=10.0, t_ref=2.0)
    delta, weights = jn.synapses.Delta(), {"E": 0.1, "I": -0.1 * g}
    populations = [
        jn.Population(k, n, model, {"v": jn.Uniform(0.0, 20.0)}) for k, n in sizes.items()
    ]
    projections = [
        jn.Projection(
            s,
            t,
            jn.connectivity.FixedIndegree(inputs[s]),
            weight=weights[s],
            delay=1.5,
            synapse=delta,
        )
        for s in sizes
        for t in sizes
    ]
    outside = jn.stimuli.Poisson(eta * 10_000.0)
    stimuli = [jn.Stimulation(k, outside, weight=0.1, synapse=delta) for k in sizes]
    return jn.Description(populations, projections, stimuli)


# Asynchronous irregular points of the paper's phase diagram (fig. 2, delay 1.5 ms).
@pytest.mark.parametrize(("g", "eta"), [(5.0, 2.0), (5.0, 1.5), (4.5, 1.5)])
def test_asynchronous_regimes_follow_the_theory(g, eta):
    """The rate within 5 % of the self-consistent rate of diffusion theory."""
    net = jn.build(paper(g, eta), key=5, dt=0.1)
    result = jn.simulate(net, 1500.0, key=6)
    late = result.events("E")[0] > 500.0
    rate = late.sum() / 10_000
    indegrees = np.array([[1000, 250], [1000, 250]])
    weights = np.array([[0.1, -0.1 * g]] * 2)
    theory = jn.analysis.self_consistent_rates(
        indegrees, weights, 20.0, 20.0, 10.0, 2.0, eta * 1e4, 0.1, start=40.0
    )[0]
    print(f"g {g}, eta {eta}: {rate:.2f} Hz, theory {theory:.2f} Hz")
    assert rate == pytest.approx(theory, rel=0.05)
