"""COBA and CUBA: rates over 10 seeds, against published bands and the oracle.

The bands are those of other simulators (Brette et al. 2007, benchmarks 1 and 2, in the form
that Brian2 distributes), 4,000 neurons, 1 s. The published spread of single COBA seeds (19.5 to
24 Hz) is of a few runs: 8 of 60 seeds of the oracle fall below it (mean 21.0, sd 1.16, least
18.99 Hz), so a single seed is held to four of the oracle's standard deviations instead.
"""

import numpy as np
import pytest

import jaxneuro as jn
from tests.oracle import balanced as oracle

pytestmark = pytest.mark.science
SEEDS = range(10)
N = 4000


def describe(e_l, current, synapse, weights):
    neuron = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=e_l, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    sizes = {"E": (4 * N) // 5, "I": N // 5}
    start = {"v": jn.Uniform(-60.0, -50.0)}
    rule = jn.connectivity.FixedProbability(80 / N)
    projections = [
        jn.Projection(a, b, rule, weight=weights[a], delay=0.1, synapse=synapse[a])
        for a in sizes
        for b in sizes
    ]
    stimuli = [jn.Stimulation(k, jn.stimuli.Current(current)) for k in sizes]
    populations = [jn.Population(k, n, neuron, initial=start) for k, n in sizes.items()]
    return jn.Description(populations, projections, stimuli)


conductance, current = jn.synapses.ExponentialConductance, jn.synapses.Exponential
COBA = describe(
    -60.0, 200.0, {"E": conductance(5.0, 0.0), "I": conductance(10.0, -80.0)}, {"E": 6.0, "I": 67.0}
)
CUBA = describe(-49.0, 0.0, {"E": current(5.0), "I": current(10.0)}, {"E": 16.2, "I": -90.0})


def ours(description):
    """(rates [Hz], CVs) over the seeds."""
    rates, cvs = [], []
    for seed in SEEDS:
        result = jn.simulate(jn.build(description, seed, 0.1), 1000.0, key=seed, progress=False)
        rates.append(sum(len(trains) for trains in result.spikes.values()) / N)
        each = [jn.analysis.interval_cv(result, k) for k in "EI"]
        cvs.append(np.average(each, weights=[0.8, 0.2]))
    return np.array(rates), np.array(cvs)


def theirs(simulate):
    return (np.array(x) for x in zip(*(simulate(seed) for seed in SEEDS)))


def agree(a, b):
    """Two means within three standard errors of their difference."""
    error = np.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
    print(f"{a.mean():.3f} ({a.min():.2f} to {a.max():.2f}), oracle {b.mean():.3f} +- {error:.3f}")
    assert abs(a.mean() - b.mean()) < 3 * error


def test_coba():
    rates, cvs = ours(COBA)
    assert 20.0 <= rates.mean() <= 22.5
    assert np.abs(rates - 21.0).max() < 4 * 1.16
    expected, expected_cvs = theirs(oracle.coba)
    agree(rates, expected)
    agree(cvs, expected_cvs)


def test_cuba():
    rates, cvs = ours(CUBA)
    assert 5.3 <= rates.mean() <= 5.75
    expected, expected_cvs = theirs(oracle.cuba)
    agree(rates, expected)
    agree(cvs, expected_cvs)
