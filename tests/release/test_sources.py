"""Which neurons a release may have: with spikes, with a voltage, or with a rate."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

N, rl, syn = jn.neurons, jn.release, jn.synapses
AMPA, CURRENT, DIRECT = syn.AMPA(), syn.Exponential(), syn.Direct("ex")
RULE = jn.connectivity.AllToAll()
SPIKING = (
    rl.Spikes(),
    rl.TsodyksMarkram(),
    rl.QuantalRelease(),
    rl.NMDAGate(),
    rl.RateRelease(),
    rl.ClearedTransmitter(),
    rl.DecayingTransmitter(),
    rl.PulsedTransmitter(),
)


class Peaks(NamedTuple):
    v: jax.Array


class PeakRelease(jn.Release):
    """Of spikes and voltages: rate units have none of the former, and still release."""

    def init(self, n):
        return Peaks(jnp.zeros(n))

    def step(self, state, spikes, v, dt):
        v = jnp.maximum(state.v, v)
        return Peaks(v), jnp.where(spikes, 0.0, v)


class Passing(jn.Release):
    """Returns v, without a word on what it reads."""

    def init(self, n):
        return ()

    def step(self, state, spikes, v, dt):
        return state, v


def build(source, release, synapse=CURRENT, target=None, couple=False, modulators=()):
    """Connections from the population S of three sources onto T."""
    cells = [jn.Population("S", 3, source), jn.Population("T", 2, target or N.LIF())]
    kind, more = (jn.Coupling, {}) if couple else (jn.Projection, {"delay": 0.1})
    made = [kind("S", "T", RULE, weight=1.0, synapse=synapse, release=release, name="p", **more)]
    senders = {"couplings" if couple else "projections": made}
    return jn.build(jn.Description(cells, modulators=modulators, **senders), 0, 0.1)


@pytest.mark.slow(but=["Spikes"])
@pytest.mark.parametrize("release", SPIKING, ids=lambda x: type(x).__name__)
def test_what_waits_for_spikes_needs_them(release):
    name = type(release).__name__
    for unit, couple in ((N.LinearRate(), False), (N.LeakyIntegrator(), True)):
        kind = type(unit).__name__
        with pytest.raises(ValueError, match=rf"'p': release must be .*{kind}.*got {name}"):
            build(unit, release, couple=couple)
    build(N.LIF(), release)


def test_a_release_of_more_than_spikes_does_not_need_them():
    build(N.LinearRate(), PeakRelease())


def test_a_modulator_needs_spikes_or_a_signal():
    level = jn.Modulator("m", 10.0, source="S", scales={"T": {"e_l": 0.1}})
    assert_refused(
        lambda: build(N.TanhRate(), rl.Graded(), modulators=[level]),
        "modulator 'm'",
        "source",
        "'S', a TanhRate, which never spikes",
    )
    build(N.LIF(), rl.Spikes(), modulators=[level])


REFUSED = {
    "no voltage": (N.Relay(), rl.Graded(), CURRENT, "'p': release must"),
    "draws": (
        N.PoissonSource(9.0),
        rl.Graded(),
        CURRENT,
        "'p': release must",
    ),
    "not said": (N.Relay(), Passing(), CURRENT, r"Passing \(\w+ 'p'\): step must"),
    "rate": (
        N.LinearRate(),
        rl.VoltageRelease(),
        AMPA,
        "'p': release must",
    ),
    "voltage": (N.LIF(), rl.Graded(), AMPA, "'p': release must"),
    "any rate": (N.LinearRate(), rl.Graded(), AMPA, "a LinearRate: a rate that may be negative"),
    "several": (N.LIF(), rl.Graded(), syn.Several((CURRENT, AMPA), (1.0, 1.0)), "its voltage"),
    "port": (N.TanhRate(), rl.Graded(), DIRECT, "'p': release must"),
}


@pytest.mark.parametrize("couple", [False, True])
@pytest.mark.parametrize("case", REFUSED)
def test_graded_release_needs_what_it_releases(case, couple):
    source, release, synapse, message = REFUSED[case]
    target = N.IafPscExp() if case == "port" else None
    with pytest.raises(ValueError, match=message):
        build(source, release, synapse, target, couple)


@pytest.mark.parametrize("couple", [False, True])
def test_rates_that_are_never_negative_open_channels(couple):
    build(N.ThresholdLinearRate(), rl.Graded(), AMPA, couple=couple)
    build(N.ThresholdLinearRate(), rl.Graded(), DIRECT, N.IafPscExp(), couple)
