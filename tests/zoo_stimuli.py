"""Every stimulus, with the oracles that say what it gives: the stimuli of the zoo.

`STIMULI` holds (model, oracle, close) by name; `close` is how near float64 comes to the oracle, in
parts of the largest value. Counts are equal: a word within the rounding of float32 of a
threshold would change one, and none of these draws has one.
"""

import numpy as np

import jaxneuro as jn
from tests.oracle import random_stimuli as drawn
from tests.oracle.stimuli import value_at
from tests.oracle.threefry import stream_key
from tests.zoo_case import CLOSE

st = jn.stimuli
SEED, NAME = 3, "zoo"
# `cycles` keeps 1e-9 of a cycle, whatever the dtype.
OF_A_CYCLE = 2 * np.pi * 1e-9


def parabola(t):
    """A function of time for JAX and NumPy."""
    return 3.0 * t * (20.0 - t)


def current_oracle(params, steps, n, dt):
    values = [value_at(params["amplitude"], k, dt) for k in np.asarray(steps)]
    return {"current": [np.broadcast_to(x, n) for x in values]}


def drawing(function, output):
    """The oracle of a stimulus that draws where those of the zoo do."""

    def oracle(params, steps, n, dt):
        key = stream_key(SEED, NAME, "stimulus")
        return {output: function(params, np.asarray(steps, np.int64), n, dt, key)}

    return oracle


CURRENTS = {
    "Current": (123.0, CLOSE),
    "Current, Sinusoid": (st.Sinusoid(80.0, 120.0, 43.0, 0.7), OF_A_CYCLE),
    "Current, Steps": (st.Steps([0.4, 1.1, 5.0, 9.0], [70.0, -35.0, 110.0, 20.0]), CLOSE),
    "Current, Ramp": (st.Ramp(-40.0, 95.0, 0.7, 17.9), CLOSE),
    "Current, Pulses": (st.Pulses(150.0, 1.2, 3.1, 0.5, -20.0), CLOSE),
    "Current, function": (parabola, CLOSE),
}
SPIKES = {
    "Poisson": (st.Poisson(450.0), drawn.poisson),
    "Poisson, two a step": (st.Poisson(20_300.0), drawn.poisson),
    "Poisson, Sinusoid": (st.Poisson(st.Sinusoid(900.0, 700.0, 43.0, 0.7)), drawn.poisson),
    "Gamma": (st.Gamma(st.Ramp(300.0, 1700.0, 0.7, 17.9), 3), drawn.gamma),
    "DeadTimePoisson": (st.DeadTimePoisson(270.0, 1.3), drawn.dead_time_poisson),
    "MultipleInteraction": (st.MultipleInteraction(9100.0, 0.3), drawn.multiple_interaction),
    "SpikeTimes": (
        st.SpikeTimes(0.1 * (1 + 7 * np.arange(150) % 451), np.arange(150) % 3),
        drawn.spike_times,
    ),
    "SpikeTimes of all": (st.SpikeTimes([0.3, 0.1, 7.0, 0.3, 19.9]), drawn.spike_times),
    "PulsePackets": (st.PulsePackets([0.9, 6.0, 30.0], 4, 0.8), drawn.pulse_packets),
}
NOISES = {
    "WhiteNoise": (st.WhiteNoise(60.0, 200.0, 0.4), drawn.white_noise),
    "OrnsteinUhlenbeck": (st.OrnsteinUhlenbeck(60.0, 200.0, 3.3), drawn.ornstein_uhlenbeck),
}
# Its counts come from alias tables, which are tested as laws (tests/numerics/test_poisson.py):
# an oracle would be those tables again.
NO_ORACLE = {"Poisson, fifty a step": (st.Poisson(500_000.0), None, CLOSE)}

STIMULI = {
    **{k: (st.Current(x), current_oracle, close) for k, (x, close) in CURRENTS.items()},
    **{k: (model, drawing(f, "counts"), CLOSE) for k, (model, f) in SPIKES.items()},
    **{k: (model, drawing(f, "current"), CLOSE) for k, (model, f) in NOISES.items()},
    **NO_ORACLE,
}
