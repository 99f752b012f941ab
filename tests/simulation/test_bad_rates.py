"""A state that turns NaN because of the rate of a stimulation: the error names it."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn

SYNAPSE = jn.synapses.Exponential(2.0)


def message(stimuli, ms=20.0, sizes=(3, 4)):
    cells = [jn.Population(k, n, jn.neurons.LIF()) for k, n in zip("AB", sizes)]
    net = jn.build(jn.Description(cells, (), stimuli), 0, 0.1)
    with pytest.raises(jn.NonFiniteError) as caught:
        jn.simulate(net, ms)
    return str(caught.value)


def driven(target, rate, name, kind: Any = jn.stimuli.Poisson, weight=1.0, **more):
    return jn.Stimulation(target, kind(rate), weight=weight, synapse=SYNAPSE, name=name, **more)


def falling(t):
    """Negative from t = 5 ms: first in the step from 5.0 to 5.1 ms."""
    return 1000.0 - 200.0 * t


def test_the_first_negative_rate():
    good = driven("A", lambda t: 500.0 + t, "good")
    later = driven("A", lambda t: 2000.0 - 200.0 * t, "later")
    got = message([good, later, driven("B", falling, "P")])
    assert "The cause may be stimulation 'P': its rate is -10 Hz at 5 ms; it must be" in got
    assert "Lower the weights" not in got
    assert got.endswith(".result of this error holds what was recorded until then")


def test_a_rate_that_is_nan():
    got = message([driven("A", lambda t: jnp.where(t > 3.0, jnp.nan, 5.0), "P")])
    assert "'P': its rate is nan Hz at 3 ms" in got


def test_a_rate_that_is_too_high():
    """16383 events per step of 0.1 ms are 1.6e8 Hz; 3 events per spike a third of that."""
    got = message([driven("A", lambda t: 1e8 * t, "P")])
    assert "'P': its rate is 1.65e+08 Hz at 1.6 ms" in got
    gamma = driven("A", lambda t: 1e8 * t, "P", lambda rate: jn.stimuli.Gamma(rate, 3))
    assert "'P': its rate is 5.5e+07 Hz at 0.5 ms" in message([gamma])


def test_a_delay_and_a_window():
    """The rate is a function of the time before the delay, and does not matter when off."""
    late = driven("A", falling, "late", delay=2.0)
    assert "'late': its rate is -10 Hz at 7 ms" in message([late])
    off = driven("A", falling, "off", delay=2.0, start=8.0)
    assert "'off': its rate is -610 Hz at 10 ms" in message([off])
    never = driven("A", falling, "never", stop=4.0)
    assert "'late'" in message([never, late])


def test_one_rate_per_neuron():
    low = np.asarray([1000.0, 1000.0, 1000.0, 0.5])
    got = message([driven("B", lambda t: low - 1.0 * t, "P")])
    assert "'P': its rate is -0.05 Hz at 0.5 ms" in got


def test_other_causes_keep_the_advice():
    current = jn.Stimulation("A", jn.stimuli.Current(lambda t: jnp.where(t > 3.0, jnp.inf, 0.0)))
    good = driven("A", lambda t: 500.0 + t, "good")
    got = message([good, current])
    assert "stimulation" not in got
    assert "Lower dt or the weights, or check the inputs; .result" in got
