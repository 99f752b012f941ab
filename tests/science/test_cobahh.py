"""COBAHH (Brette et al. 2007, benchmark 3) at 4,000 neurons against Brian2."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.neurons.test_traub_miles import cobahh, started

pytestmark = pytest.mark.science
# Brian2 2.9.0 with NumPy 1.26.4: its example COBAHH (exponential Euler, dt 0.1 ms) with a delay of
# 0.1 ms, 1 s, seeds 0 to 15, spikes per neuron. Without the delay the mean of 10 seeds is 37.2.
BRIAN2 = np.array(
    [
        *(36.939, 37.712, 35.157, 35.740, 37.280, 40.601, 35.878, 39.779),
        *(37.107, 37.582, 36.475, 35.195, 33.737, 37.957, 38.132, 32.285),
    ]
)
# From seed to seed the rate varies by 2 Hz in Brian2, and by 2.6 Hz here and in a simulation of
# the same scheme in NumPy (mean of 15 seeds 36.0): 10 % of the mean is two to three standard
# errors of the difference of two such samples. Here 16 seeds have 34.8 (standard error 0.6). In a
# simulation in C++, 32 seeds, the order of events does not matter: 35.6 (0.5) as here, and with
# the conductances as they stand at the start of the step, spikes counted while v is above -20 mV
# but once in 3 ms, as in Brian2. Networks are chaotic: other rounding moves a seed as far.
SPREAD = 2.6


def test_rates_are_those_of_brian2():
    rates = []
    for seed in range(10):
        net = jn.build(cobahh(4000, 0.02), seed, 0.1)
        result = jn.simulate(net, 1000.0, state=started(net, seed), progress=False)
        assert all(
            np.isfinite(x).all() for x in jax.tree.leaves([g.neurons for g in result.state.groups])
        )
        counts = {k: result.events(k)[0].size for k in "EI"}
        rates.append(sum(counts.values()) / 4000)
    assert np.mean(rates) == pytest.approx(BRIAN2.mean(), rel=0.1), rates
    assert np.abs(rates - BRIAN2.mean()).max() < 4 * SPREAD, rates
