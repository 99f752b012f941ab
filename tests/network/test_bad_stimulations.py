"""What is refused of stimulations, of models that do not fit their role, and of new values."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import RUN, SCAN, NothingState, Sum, Train

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

REFUSED = {
    # a stimulation
    "no name": (
        lambda: jn.Stimulation(None, CURRENT),
        "stimulation 'Current->NoneType': target must",
    ),
    "name": (lambda: stimulate(name=3), "stimulation 3: name must"),
    "a class": (
        lambda: jn.Stimulation("E", jn.stimuli.Poisson, name="s"),
        "stimulation 's': stimulus must be a Stimulus; got .*call it",
    ),
    "a number": (
        lambda: jn.Stimulation("E", 3.0, name="s"),
        "stimulus must be a Stimulus; got 3.0",
    ),
    "no weight": (
        lambda: jn.Stimulation("E", POISSON, synapse=DELTA),
        "stimulation 'Poisson->E': weight must",
    ),
    "no synapse": (
        lambda: jn.Stimulation("E", POISSON, weight=1.0),
        "stimulation 'Poisson->E': synapse must",
    ),
    "not a synapse": (lambda: stimulate(synapse="exp"), "'Poisson->E': synapse must be a Synapse"),
    "weight of a current": (
        lambda: stimulate(CURRENT, weight=1.0),
        "stimulation 'Current->E': weight must",
    ),
    "synapse of a current": (
        lambda: stimulate(CURRENT, synapse=DELTA),
        "stimulation 'Current->E': synapse must",
    ),
    "text": (lambda: stimulate(weight="big"), "'Poisson->E': weight must be a number.* got 'big'"),
    "nan": (lambda: stimulate(weight=[1.0, np.nan]), "weight must be finite; got nan at index 1"),
    "function": (
        lambda: stimulate(weight=lambda j: 1.0 * j),
        "stimulation 'Poisson->E': weight must",
    ),
    "matrix": (lambda: stimulate(weight=np.ones((8, 1))), "weight must be one number, one per"),
    "beyond float32": (lambda: stimulate(weight=1e39), r"weight must be at most 3.4e\+38 in size"),
    "negative delay": (
        lambda: stimulate(delay=-0.1),
        "stimulation 'Poisson->E': delay must",
    ),
    "start": (lambda: stimulate(start=np.nan), "stimulation 'Poisson->E': start must"),
    "stop": (lambda: stimulate(stop="late"), "stimulation 'Poisson->E': stop must"),
    "flag": (lambda: stimulate(stop=True), "stimulation 'Poisson->E': stop must"),
    "never starts": (lambda: stimulate(start=np.inf), "stimulation 'Poisson->E': start must"),
    "never comes": (
        lambda: stimulate(delay=np.inf),
        "stimulation 'Poisson->E': delay must",
    ),
    "backwards": (
        lambda: stimulate(start=5.0, stop=3.0),
        "stimulation 'Poisson->E': stop must",
    ),
    # its description
    "unknown": (lambda: build(stimulate(target="X")), "no population named 'X'.*'E', 'I'"),
    "weights": (
        lambda: build(stimulate(weight=np.ones(3))),
        r"'Poisson->E': weight must be one number or one per neuron, shape \(8,\); got \(3,\)",
    ),
    "weights of a part": (
        lambda: build(stimulate(target=jn.Part("E", [1, 2]), weight=np.ones(8))),
        r"weight must be one number or one per neuron, shape \(2,\); got \(8,\)",
    ),
    "rates of a part": (
        lambda: build(stimulate(jn.stimuli.Poisson(np.ones(8)), jn.Part("E", slice(0, 2)))),
        r"stimulation 'Poisson->E': rate must be one number or one per neuron.*\(2,\); got \(8,\)",
    ),
    "synapses": (
        lambda: build(stimulate(synapse=jn.synapses.Exponential(np.ones(3)))),
        r"stimulation 'Poisson->E': synapse: tau_syn must be .*\(8,\); got \(3,\)",
    ),
    "twice": (lambda: build(stimulate(), stimulate()), "Description: stimuli must"),
    "no list": (
        lambda: jn.Description([], stimuli=stimulate()),
        "Description: stimuli must",
    ),
    "not a stimulation": (
        lambda: jn.Description([], stimuli=[POISSON]),
        "Description: stimuli must",
    ),
    # its times on the grid
    **{
        f"{k} off the grid": (
            lambda k=k: build(stimulate(**{k: 0.25})),
            f"stimulation 'Poisson->E': {k} must be a whole number of time steps.*0.2 and 0.3 ms",
        )
        for k in ("delay", "start", "stop")
    },
    "too late": (
        lambda: build(stimulate(start=3e8)),
        "stimulation 'Poisson->E': stop must",
    ),
    "much too late": (lambda: build(stimulate(stop=1e12)), r"stop must be below 2\^31 steps"),
    "rate": (
        lambda: build(stimulate(jn.stimuli.Poisson(1e10))),
        "stimulation 'Poisson->E': rate must be of at most 16383 events .* got 1e.06",
    ),
    # a stimulus that does not fit its role
    "no drive": (
        lambda: build(stimulate(Current(lambda s: (s, s[1])))),
        r"Current \(stimulation 'Current->E'\): step must",
    ),
    "empty drive": (
        lambda: build(stimulate(Current(lambda s: (s, jn.Drive())))),
        r"Current \(stimulation 'Current->E'\): step must",
    ),
    "drive of a wrong shape": (
        lambda: build(stimulate(Current(lambda s: (s, jn.Drive(current=s[1][1:]))))),
        r"Current \(stimulation 'Current->E'\): step must",
    ),
    "state of a stimulus": (
        lambda: build(stimulate(Current(lambda s: (s[1], jn.Drive(current=s[1]))))),
        r"Current \(stimulation 'Current->E'\): step must",
    ),
    "counts": (
        lambda: build(stimulate(Spikes(lambda s: (s, s[1] > 0)))),
        r"Spikes \(stimulation 'Spikes->E'\): step must",
    ),
    "number of counts": (
        lambda: build(stimulate(Spikes(lambda s: (s, s[1][1:])))),
        r"Spikes \(stimulation 'Spikes->E'\): step must",
    ),
    "drive of spikes": (
        lambda: build(stimulate(Spikes(lambda s: (s, jn.Drive(current=s[1]))))),
        r"Spikes \(stimulation 'Spikes->E'\): step must",
    ),
    # a neuron that does not fit its role
    "state of a neuron": (
        lambda: build(model=Neuron(lambda s, d: (NothingState(), s.v > 0))),
        r"Neuron \(population 'E'\): step must",
    ),
    "shape of a state": (
        lambda: build(model=Neuron(lambda s, d: (PairState(s.v, s.w[:1]), s.v > 0))),
        r"Neuron \(population 'E'\): step must",
    ),
    "spikes": (
        lambda: build(model=Neuron(lambda s, d: (s, s.v[:1] > 0))),
        r"Neuron \(population 'E'\): step must",
    ),
    "kind of spikes": (
        lambda: build(model=Neuron(lambda s, d: (s, jnp.zeros(2, jnp.int32)))),
        r"Neuron \(population 'E'\): step must",
    ),
    "deaf": (
        lambda: build(stimulate(CURRENT), model=Neuron(lambda s, d: (s, d.jumped(s.v) > 0))),
        r"Neuron \(population 'E'\): step must",
    ),
    "deaf to spikes": (
        lambda: build(stimulate(), model=Neuron(lambda s, d: (s, d.current_at(s.v) > 0))),
        r"Neuron \(population 'E'\): step must",
    ),
    "refractory": (
        lambda: build(model=LIF(t_ref=7000.0)),
        "population 'E': t_ref must be at most 65535 steps, 6553.5 ms; got 7000 ms",
    ),
    # new values
    "unknown name": (
        lambda: NET.set("Poisson", rate=1.0),
        "no population, .* named 'Poisson'.*'E', 'I', 'E->I', 'Curr.*'wave'",
    ),
    "unknown parameter": (
        lambda: NET.set("Poisson->E", amplitude=1.0),
        "no parameter of stimulation 'Poisson->E' named 'amplitude'.*'rate', 'weight'",
    ),
    "weight that is none": (
        lambda: NET.set("Current->E", weight=1.0),
        "no parameter of stimulation 'Current->E' named 'weight'.*'amplitude'$",
    ),
    "window": (lambda: NET.set("Poisson->E", start=1.0), "no parameter of .* named 'start'"),
    "weights set": (
        lambda: NET.set("Poisson->E", weight=np.ones(3)),
        "stimulation 'Poisson->E': weight must",
    ),
    "nan set": (
        lambda: NET.set("Poisson->E", weight=np.inf),
        "stimulation 'Poisson->E': weight must be finite; got inf",
    ),
    "rates set": (
        lambda: NET.set("Poisson->E", rate=np.ones(3)),
        "stimulation 'Poisson->E': rate must",
    ),
    "negative rate set": (
        lambda: NET.set("Poisson->E", rate=-1.0),
        "stimulation 'Poisson->E': rate must",
    ),
    "a wave for a number": (
        lambda: NET.set("Current->E", amplitude=jn.stimuli.Sinusoid(1.0, 2.0, 3.0)),
        "stimulation 'Current->E': amplitude must",
    ),
    "a number for a wave": (
        lambda: NET.set("wave", amplitude=1.0),
        "stimulation 'wave': amplitude must",
    ),
    "gains": (
        lambda: NET.set("E->I", gain=np.ones(2)),
        r"projection 'E->I': gain must be one number; got shape \(2,\)",
    ),
    "unknown for a projection": (
        lambda: NET.set("E->I", tau=1.0),
        "no parameter of projection 'E->I' named 'tau'.*'gain', 'weight'",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make()


def test_a_rate_that_cannot_be_drawn_is_not_set():
    with pytest.raises(ValueError, match="rate must be of at most"):
        NET.set("Poisson->E", rate=1e10)


@pytest.mark.parametrize("name", ["Poisson->E", "E->I"])
def test_weights_that_are_no_numbers_are_not_set(name):
    with pytest.raises(ValueError, match="weight must be"):
        NET.set(name, weight="big")


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
