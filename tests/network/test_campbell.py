"""Campbell's theorem: mean and variance of a membrane under Poisson input, by closed forms.

For a rate r and a postsynaptic potential psp(t): mean r int psp dt, variance r int psp^2 dt
(Rice 1944). Arrivals lie on the time grid and v is read just after them, so that a delta
synapse has sums in place of the integrals; they differ by dt / 2 tau_m.
"""

import numpy as np
import pytest

import jaxneuro as jn

N, DT, TAU, C = 3000, 0.1, 10.0, 200.0
RATE = np.repeat([200.0, 1000.0, 5000.0], N // 3)  # Hz
NEURON = jn.neurons.LIF(tau_m=TAU, c_m=C, e_l=-70.0, v_th=1e6, v_reset=-70.0)


def membranes(weight, synapse, rate=RATE):
    """v - e_l in the steady state, (samples, N); samples are 6 tau_m apart: independent."""
    s = jn.Stimulation("E", jn.stimuli.Poisson(rate), weight=weight, synapse=synapse)
    net = jn.build(jn.Description([jn.Population("E", N, NEURON)], (), [s]), 0, DT)
    record = jn.Record(spikes=False, variables={"E": "v"}, interval=60.0)
    v = jn.simulate(net, 720.0, key=1, record=record).traces["E"]["v"]
    return v[2:] + 70.0  # from 180 ms on


def moments(v):
    """Mean and variance per third of the neurons, and their standard errors."""
    parts = v.astype(np.float64).reshape(v.shape[0], 3, -1).transpose(1, 0, 2).reshape(3, -1)
    n, mean, variance = parts.shape[1], parts.mean(axis=1), parts.var(axis=1, ddof=1)
    fourth = ((parts - mean[:, None]) ** 4).mean(axis=1)
    return mean, variance, np.sqrt(variance / n), np.sqrt((fourth - variance**2) / n)


def check(v, mean, variance):
    got_mean, got_variance, mean_error, variance_error = moments(v)
    assert (abs(got_mean - mean) < 4.5 * mean_error).all()
    assert (abs(got_variance - variance) < 4.5 * variance_error).all()
    assert (variance_error < 0.05 * variance).all()  # so that the test says something


@pytest.mark.slow
def test_delta_synapse():
    jump, decay, count = 0.3, np.exp(-DT / TAU), RATE[:: N // 3] * DT * 1e-3
    v = membranes(jump, jn.synapses.Delta())
    check(v, jump * count / (1 - decay), jump**2 * count / (1 - decay**2))
    integral = jump * RATE[:: N // 3] * 1e-3 * TAU, jump**2 * RATE[:: N // 3] * 1e-3 * TAU / 2
    np.testing.assert_allclose(moments(v)[0], integral[0], rtol=0.02)
    np.testing.assert_allclose(moments(v)[1], integral[1], rtol=0.1)


@pytest.mark.slow(but=["5.0"])
@pytest.mark.parametrize("tau_syn", [0.5, 5.0])
def test_exponential_synapse(tau_syn):
    weight, rate = 60.0, RATE[:: N // 3] * 1e-3
    v = membranes(weight, jn.synapses.Exponential(tau_syn))
    charge = weight * tau_syn / C  # mV
    mean = charge * rate * TAU
    variance = charge**2 * rate * TAU**2 / (2 * (TAU + tau_syn))
    check(v, mean, variance)


@pytest.mark.slow
def test_neurons_are_independent():
    """The mean over neurons varies as 1/N of what one neuron does."""
    v = membranes(0.3, jn.synapses.Delta(), rate=1000.0)
    one, all_of_them = v.var(axis=0).mean(), v.mean(axis=1).var(ddof=1)
    # 10 samples: chi-square with 9 degrees of freedom, 1e-4 on either side.
    assert 0.08 < all_of_them * N / one < 3.9
    correlation = np.corrcoef(v.T[:200])[np.triu_indices(200, 1)]
    assert abs(correlation.mean()) < 4.5 * correlation.std() / np.sqrt(200)


def test_two_stimuli_are_independent():
    """Variances add up; the same stimulus given twice has two names and draws twice."""
    delta, p = jn.synapses.Delta(), jn.stimuli.Poisson(1000.0)
    two = [
        jn.Stimulation("E", p, weight=w, synapse=delta, name=name)
        for w, name in ((0.3, "up"), (-0.3, "down"))
    ]
    net = jn.build(jn.Description([jn.Population("E", N, NEURON)], (), two), 0, DT)
    v = np.asarray(jn.simulate(net, 200.0, key=1).state.groups[0].neurons.v) + 70.0
    decay = np.exp(-DT / TAU)
    expected = 2 * 0.3**2 * 0.1 / (1 - decay**2)
    assert abs(v.mean()) < 4.5 * np.sqrt(expected / N)
    assert abs(v.var(ddof=1) - expected) < 4.5 * expected * np.sqrt(2 / N) * 1.1
