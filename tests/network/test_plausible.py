"""Weights, delays and stimuli in another unit, also those of a function; rules that draw none."""

from typing import Any

import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

C, S, ST = jn.connectivity, jn.synapses, jn.stimuli
E = jn.Population("E", 200, jn.neurons.LIF(), positions=jn.space.Grid((20, 10), spacing=20.0))
ROW = C.FixedIndegree(5)


def described(weight: Any = 1.0, synapse: Any = None, rule: Any = ROW, delay: Any = 1.0):
    wire = jn.Projection("E", "E", rule, weight=weight, delay=delay, synapse=synapse or S.Delta())
    return jn.Description([E], [wire])


def built(*args, **more):
    return jn.build(described(*args, **more), 1, 0.1)


def driven(stimulus, **more):
    return jn.build(jn.Description([E], [], [jn.Stimulation("E", stimulus, **more)]), 1, 0.1)


def coupled(weight):
    return jn.build(
        jn.Description([E], couplings=[jn.Coupling("E", "E", ROW, weight=weight, symmetric=False)]),
        1,
        0.1,
    )


def sent(weight, stimulus):
    return driven(stimulus, weight=weight, synapse=S.Delta())


REFUSED = {
    "mu of weights": (
        lambda: described(jn.LogNormal(87.0, 0.1), S.Exponential()),
        *("projection 'E->E'", "weight", "mu = 87, a median of exp(mu) = 6.08e+37 pA"),
    ),
    "m/s": (
        lambda: built(delay=jn.space.ConductionDelay(speed=0.003)),
        *("projection 'E->E'", "delay", "140159 ms"),
    ),
    "rate of a source": (
        lambda: jn.build(
            jn.Description([jn.Population("S", 2, jn.neurons.PoissonSource(5e4))]), 1, 0.1
        ),
        *("population 'S'", "dt", "0.1 ms"),
    ),
    "sigma of weights": (lambda: jn.LogNormal(1.0, 200.0), "LogNormal", "sigma", "200.0"),
    "mu of delays": (
        lambda: described(delay=jn.LogNormal(10.0, 1.0)),
        *("projection 'E->E'", "delay", "mu = 10, a median of exp(mu) = 2.2e+04 ms"),
    ),
}
WARNED = {
    "a function": (
        lambda: built(lambda i, j: 3e-10 + 0.0 * i, S.Exponential()),
        r"'E->E': weight must be in pA; got 3e-10.* mean 300 \(A -> pA\)",
    ),
    "a profile": (
        lambda: built(jn.space.Gaussian(sigma=40.0, peak=3e-10), S.Exponential()),
        r"weight must be in pA.*\(A -> pA\)",
    ),
    "a coupling": (
        lambda: coupled(lambda i, j: 1e-9 + 0.0 * i),
        r"coupling 'E~E': weight must be in nS.* mean 1 \(S -> nS\)",
    ),
    "volts": (lambda: built(1e-4), r"jumps of v in mV; got at most 0\.0001, of which all 5 syn.*"),
    "volts by a function": (lambda: built(lambda i, j: 1e-4 + 0.0 * i), r"mean 0\.1 \(V -> mV\)"),
    "volts by a law": (lambda: built(jn.Normal(2e-4, 1e-5)), "jumps of v in mV"),
    "volts of a stimulus": (lambda: sent(1e-4, ST.Poisson(1e3)), "20 spikes in 0.02 s make 0.002"),
    "volts of spikes": (lambda: sent(1e-4, ST.SpikeTimes([1.0])), "one spike makes 0.0001 mV"),
    "m/s": (
        lambda: built(delay=jn.space.ConductionDelay(speed=0.3)),
        r"\(0\.3 m/s is 300 um/ms\); got 0\.3, with which a spike travels 1402 ms over 420",
    ),
    "um/s": (lambda: built(delay=jn.space.ConductionDelay(3e5)), "distance makes no difference"),
    "nA": (
        lambda: driven(ST.Current(0.25)),
        r"Current is in pA; got at most 0\.25, which moves v by 0\.01 mV.* 250 \(nA -> pA\)",
    ),
    "a signal in nA": (
        lambda: driven(ST.Current(ST.Sinusoid(0.0, 0.3, 5.0))),
        r"got at most 0\.3, which .* mean 300 \(nA -> pA\)|mean -300 \(nA -> pA\)",
    ),
    "weights in nA": (
        lambda: built(0.016, S.Exponential(5.0)),
        r"weights of Exponential are in pA; got at most 0\.016.*all 5 syn.* 16 \(nA -> pA\)",
    ),
    "weights in uS": (
        lambda: built(0.001, S.AMPA()),
        r"weights of AMPA are in nS; .* mV: did you mean 1 \(uS -> nS\)",
    ),
    "spikes in nA": (
        lambda: driven(ST.Poisson(8e3), weight=0.02, synapse=S.Exponential(5.0)),
        r"got at most 0\.02, of which 160 spikes in 0\.02 s make 0\.064 mV.* mean 20 ",
    ),
    "a range in mm": (
        lambda: built(rule=C.DistanceProbability(jn.space.Gaussian(sigma=0.04))),
        "'E->E' has no synapses: DistanceProbability connects none of the 40,000 pairs",
    ),
}
FINE = {
    "a function": lambda: built(lambda i, j: 10.0 + 0.0 * i, S.Exponential()),
    "none": lambda: built(rule=C.FixedProbability(0.0)),
    "weights like 1/n": lambda: sent(1e-4, ST.Poisson(1e6)),
    "many small currents": lambda: driven(ST.Poisson(1e6), weight=0.02, synapse=S.Exponential()),
    "currents into a normalised model": lambda: jn.build(
        jn.Description(
            [jn.Population("E", 3, jn.neurons.LIF(1.0, 1.0, 0.0, 1.0, 0.0))],
            [],
            [jn.Stimulation("E", ST.Current(0.02))],
        ),
        1,
        0.1,
    ),
    "a probe": lambda: jn.build(
        jn.Description(
            [E],
            [],
            [jn.Stimulation("E", ST.Current(x), name=f"{x}") for x in (300.0, 0.1)],
        ),
        1,
        0.1,
    ),
    "zeros": lambda: built(lambda i, j: 0.0 * i),
    "the fastest source": lambda: jn.build(
        jn.Description([jn.Population("S", 2, jn.neurons.PoissonSource(1e4))]), 1, 0.1
    ),
    "a bounded law": lambda: jn.LogNormal(1.0, 200.0, high=50.0),
    "mu": lambda: described(jn.LogNormal(np.log(87.0), 0.5), S.Exponential()),
    "no delay": lambda: built(delay=jn.space.ConductionDelay(1e9)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert_refused(*REFUSED[case])


@pytest.mark.parametrize("case", WARNED)
def test_warned_of(case):
    make, message = WARNED[case]
    with pytest.warns(UserWarning, match=message) as seen:
        make()
    assert len(seen) == 1
    assert seen[0].filename == __file__


@pytest.mark.parametrize("case", FINE)
def test_what_may_be_meant(case):
    FINE[case]()
