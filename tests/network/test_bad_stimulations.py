"""What is refused of stimulations, of models that do not fit their role, and of new values."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import RUN, SCAN, NothingState, Sum, Train
from tests.refusing import assert_refused

DELTA, CURRENT, POISSON = jn.synapses.Delta(), jn.stimuli.Current(1.0), jn.stimuli.Poisson(10.0)
LIF = jn.neurons.LIF


class PairState(NamedTuple):
    v: jnp.ndarray
    w: jnp.ndarray


class Neuron(jn.Neuron):
    """`step` does what the function `does` says."""

    does: object = jn.static()

    def init(self, n):
        return PairState(jnp.zeros(n, jnp.float32), jnp.zeros(n, jnp.float32))

    def step(self, state, drive, dt):
        return self.does(state, drive)


class Current(jn.Stimulus):
    """`step` gives what the function `does` says."""

    does: object = jn.static()

    def init(self, n, stream):
        return NothingState(), jnp.zeros(n, jnp.float32)

    def step(self, state, step, dt):
        return self.does(state)


class Spikes(jn.SpikeStimulus):
    does: object = jn.static()

    def init(self, n, stream):
        return NothingState(), jnp.zeros(n, jnp.float32)

    def step(self, state, step, dt):
        return self.does(state)


class Numbers(jn.Stimulus):
    """A current with numbers of its own."""

    numbers: jnp.ndarray = jn.table()

    def init(self, n, stream):
        return NothingState()

    def step(self, state, step, dt):
        return state, jn.Drive(current=jnp.asarray(self.numbers, jnp.float32)[step])


class Listed(jn.Stimulus):
    """A current in the steps of a static tuple."""

    steps: tuple[int, ...] = jn.static((1, 2))

    def init(self, n, stream):
        return NothingState()

    def step(self, state, step, dt):
        return state, jn.Drive(current=jnp.isin(step, np.array(self.steps)).astype(jnp.float32))


def stimulate(stimulus=POISSON, target="E", **options):
    if isinstance(stimulus, jn.SpikeStimulus):
        options = {"weight": 1.0, "synapse": DELTA, **options}
    return jn.Stimulation(target, stimulus, **options)


def build(*stimuli, model=None, projections=()):
    populations = [jn.Population(k, n, model or Sum()) for k, n in (("E", 8), ("I", 3))]
    return jn.build(jn.Description(populations, projections, stimuli), 0, 0.1)


PLAIN = {"rule": jn.connectivity.AllToAll(), "weight": 1.0, "delay": 0.1, "synapse": DELTA}
NET = build(
    stimulate(),
    stimulate(CURRENT),
    stimulate(jn.stimuli.Current(jn.stimuli.Sinusoid(1.0, 2.0, 3.0)), "I", name="wave"),
    projections=[jn.Projection("E", "I", **PLAIN)],
)

SENT, DRIVEN = "stimulation 'Poisson->E'", "stimulation 'Current->E'"
OWN_CURRENT = "Current (stimulation 'Current->E')"
OWN_SPIKES = "Spikes (stimulation 'Spikes->E')"
OWN_NEURON = "Neuron (population 'E')"
REFUSED = {
    # a stimulation
    "no name": (
        lambda: jn.Stimulation(None, CURRENT),
        *("stimulation 'Current->NoneType'", "target", "None"),
    ),
    "a class": (
        lambda: jn.Stimulation("E", jn.stimuli.Poisson, name="s"),
        *("stimulation 's'", "stimulus", "Poisson"),
    ),
    "no weight": (lambda: jn.Stimulation("E", POISSON, synapse=DELTA), SENT, "weight", "None"),
    "no synapse": (lambda: jn.Stimulation("E", POISSON, weight=1.0), SENT, "synapse", "None"),
    "not a synapse": (lambda: stimulate(synapse="exp"), SENT, "synapse", "'exp'"),
    "weight of a current": (lambda: stimulate(CURRENT, weight=1.0), DRIVEN, "weight", "1.0"),
    "synapse of a current": (
        lambda: stimulate(CURRENT, synapse=DELTA),
        *(DRIVEN, "synapse", "Delta()"),
    ),
    "nan": (lambda: stimulate(weight=[1.0, np.nan]), SENT, "weight", "nan at index 1"),
    "function": (lambda: stimulate(weight=lambda j: 1.0 * j), SENT, "weight"),
    "matrix": (lambda: stimulate(weight=np.ones((8, 1))), SENT, "weight", "(8, 1) array"),
    "beyond float32": (lambda: stimulate(weight=1e39), SENT, "weight", "1e+39"),
    "negative delay": (lambda: stimulate(delay=-0.1), SENT, "delay", "-0.1"),
    "never starts": (lambda: stimulate(start=np.inf), SENT, "start", "inf"),
    "backwards": (lambda: stimulate(start=5.0, stop=3.0), SENT, "stop", "3.0 ms"),
    # its description
    "weights": (lambda: build(stimulate(weight=np.ones(3))), SENT, "weight", "(3,)"),
    "weights of a part": (
        lambda: build(stimulate(target=jn.Part("E", [1, 2]), weight=np.ones(8))),
        *(SENT, "weight", "(8,)"),
    ),
    "rates of a part": (
        lambda: build(stimulate(jn.stimuli.Poisson(np.ones(8)), jn.Part("E", slice(0, 2)))),
        *(SENT, "rate", "(8,)"),
    ),
    "synapses": (
        lambda: build(stimulate(synapse=jn.synapses.Exponential(np.ones(3)))),
        *("stimulation 'Poisson->E': synapse", "tau_syn", "(3,)"),
    ),
    "twice": (
        lambda: build(stimulate(), stimulate()),
        *("Description", "stimuli", "stimulation 'Poisson->E' and stimulation"),
    ),
    "not a stimulation": (
        lambda: jn.Description([], stimuli=[POISSON]),
        *("Description", "stimuli", "Poisson(rate=10 Hz) at [0]"),
    ),
    # its times on the grid
    **{
        f"{k} off the grid": (
            lambda k=k: build(stimulate(**{k: 0.25})),
            *(SENT, k, "0.25 ms, between 0.2 and 0.3 ms"),
        )
        for k in ("delay", "start", "stop")
    },
    "too late": (lambda: build(stimulate(start=3e8)), SENT, "stop", "inf ms"),
    "much too late": (lambda: build(stimulate(stop=1e12)), SENT, "stop", "1e+12 ms"),
    "rate": (lambda: build(stimulate(jn.stimuli.Poisson(1e10))), SENT, "rate", "1e+06 events"),
    # a stimulus that does not fit its role
    "no drive": (
        lambda: build(stimulate(Current(lambda s: (s, s[1])))),
        *(OWN_CURRENT, "step", "float32[8]"),
    ),
    "empty drive": (
        lambda: build(stimulate(Current(lambda s: (s, jn.Drive())))),
        *(OWN_CURRENT, "step", "Drive()"),
    ),
    "drive of a wrong shape": (
        lambda: build(stimulate(Current(lambda s: (s, jn.Drive(current=s[1][1:]))))),
        *(OWN_CURRENT, "step", "float32[7]"),
    ),
    "state of a stimulus": (
        lambda: build(stimulate(Current(lambda s: (s[1], jn.Drive(current=s[1]))))),
        *(OWN_CURRENT, "step", "float32[8]"),
    ),
    "counts": (
        lambda: build(stimulate(Spikes(lambda s: (s, s[1] > 0)))),
        *(OWN_SPIKES, "step", "bool[8]"),
    ),
    "number of counts": (
        lambda: build(stimulate(Spikes(lambda s: (s, s[1][1:])))),
        *(OWN_SPIKES, "step", "float32[7] for 8 neurons"),
    ),
    "drive of spikes": (
        lambda: build(stimulate(Spikes(lambda s: (s, jn.Drive(current=s[1]))))),
        *(OWN_SPIKES, "step", "Drive(current=float32[8])"),
    ),
    # a neuron that does not fit its role
    "state of a neuron": (
        lambda: build(model=Neuron(lambda s, d: (NothingState(), s.v > 0))),
        *(OWN_NEURON, "step", "NothingState()"),
    ),
    "shape of a state": (
        lambda: build(model=Neuron(lambda s, d: (PairState(s.v, s.w[:1]), s.v > 0))),
        *(OWN_NEURON, "step", "w=float32[1]"),
    ),
    "spikes": (
        lambda: build(model=Neuron(lambda s, d: (s, s.v[:1] > 0))),
        *(OWN_NEURON, "step", "bool[1]"),
    ),
    "kind of spikes": (
        lambda: build(model=Neuron(lambda s, d: (s, jnp.zeros(2, jnp.int32)))),
        *(OWN_NEURON, "step", "int32[2]"),
    ),
    "deaf": (
        lambda: build(stimulate(CURRENT), model=Neuron(lambda s, d: (s, d.jumped(s.v) > 0))),
        *(OWN_NEURON, "step", "one that ignores it"),
    ),
    "deaf to spikes": (
        lambda: build(stimulate(), model=Neuron(lambda s, d: (s, d.current_at(s.v) > 0))),
        *(OWN_NEURON, "step", "one that ignores it"),
    ),
    "a current into a relay": (
        lambda: build(stimulate(CURRENT), model=jn.neurons.Relay()),
        *("Relay (population 'E')", "step", "one that ignores it"),
    ),
    "spikes into a source": (
        lambda: build(stimulate(), model=jn.neurons.PoissonSource(9.0)),
        *("PoissonSource (population 'E')", "step", "one that ignores it"),
    ),
    # new values
    "unknown parameter": (
        lambda: NET.set("Poisson->E", amplitude=1.0),
        *("", "parameter of stimulation 'Poisson->E'", "'amplitude'"),
    ),
    "weight that is none": (
        lambda: NET.set("Current->E", weight=1.0),
        *("", "parameter of stimulation 'Current->E'", "'weight'"),
    ),
    "weights set": (lambda: NET.set("Poisson->E", weight=np.ones(3)), SENT, "weight", "shape (3,)"),
    "nan set": (lambda: NET.set("Poisson->E", weight=np.inf), SENT, "weight", "inf"),
    "rates set": (lambda: NET.set("Poisson->E", rate=np.ones(3)), SENT, "rate", "shape (3,)"),
    "negative rate set": (lambda: NET.set("Poisson->E", rate=-1.0), SENT, "rate", "-1.0"),
    "large rate set": (lambda: NET.set("Poisson->E", rate=1e10), SENT, "rate", "1e+06 events"),
    "text set": (lambda: NET.set("Poisson->E", weight="big"), SENT, "weight", "'big'"),
    "text of a projection set": (
        lambda: NET.set("E->I", weight="big"),
        *("projection 'E->I'", "weight", "'big'"),
    ),
    "a wave for a number": (
        lambda: NET.set("Current->E", amplitude=jn.stimuli.Sinusoid(1.0, 2.0, 3.0)),
        *(DRIVEN, "amplitude", "another kind"),
    ),
    "a number for a wave": (
        lambda: NET.set("wave", amplitude=1.0),
        *("stimulation 'wave'", "amplitude", "another kind"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert_refused(*REFUSED[case])


def test_one_stimulus_with_numbers_of_its_own_for_two_populations():
    net = build(*(stimulate(Numbers(np.arange(5.0)), k) for k in "EI"))
    assert len(net.groups[0].stimuli) == 2
    shared = Numbers(np.arange(5.0))
    net = build(*(stimulate(shared, k) for k in "EI"))
    state, _ = SCAN(net, net.init(0), 5)
    np.testing.assert_array_equal(state.groups[0].neurons.v, 10.0)


def test_a_stimulus_with_a_static_tuple():
    build(stimulate(Listed()))


@pytest.mark.parametrize(
    "stimulus", [POISSON, CURRENT, Train()], ids=["Poisson", "Current", "Train"]
)
@pytest.mark.parametrize("target", ["N", jn.Part("N", slice(0, 0)), jn.Part("N", [])], ids=str)
def test_nobody_may_be_driven(stimulus, target):
    populations = [jn.Population("E", 4, Sum()), jn.Population("N", 0, Sum())]
    net = jn.build(jn.Description(populations, (), [stimulate(stimulus, target)]), 0, 0.1)
    state, _ = RUN(net, net.init(0), 3, None, jn.Record(spikes=False))
    np.testing.assert_array_equal(state.groups[0].neurons.v, 0)
