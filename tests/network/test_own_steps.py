"""Steps of users that run but do not do what is meant: `build` or `shard` finds them by tracing."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn


class State(NamedTuple):
    v: jax.Array


class Own(jn.Neuron):
    tau: jn.Parameter = jn.param(10.0, unit="ms", above=0.0)

    def init(self, n):
        return State(jnp.zeros(n))

    def step(self, state, drive, dt):
        v = state.v + dt * drive.current_at(state.v) / self.tau + self.more(state.v)
        return State(v), self.spikes(v)

    def more(self, v):
        return 0.0

    def spikes(self, v):
        return v > 1.0


class Deaf(jn.Synapse):
    def init(self, n):
        return State(jnp.zeros(n))

    def step(self, state, arrivals, v, dt):
        return State(0.9 * state.v), jn.Drive(current=state.v)


class Uncertain(jn.Release):
    def init(self, n):
        return State(jnp.zeros(n))

    def step(self, state, spikes, v, dt):
        return state, jnp.where(spikes, jax.random.uniform(jax.random.key(1), spikes.shape), 0.0)


class Noise(jn.Stimulus):
    def init(self, n, stream):
        return ()

    def step(self, state, step, dt):
        return state, jn.Drive(current=jax.random.uniform(self.key(step)))

    def key(self, step):
        return jax.random.key(1)


class NewNoise(Noise):
    def key(self, step):
        return jax.random.fold_in(jax.random.key(1), step)


class Noisy(jn.channels.Channel):
    gates = ("p",)
    g: jn.Parameter = jn.param(1.0)
    e_rev: jn.Parameter = jn.param(-70.0)

    def rates(self, v):
        return (jn.integrators.Gate(0.1 + 0 * v, 0.1 + 0 * v),)

    def open(self, v, p):
        return p * np.random.random()


class Wobble(jn.stimuli.Signal):
    def bounds(self):
        return None

    def at(self, step, dt):
        return jnp.asarray(np.random.random())


def own(**methods):
    return type("Own", (Own,), methods)


def adding(more):
    return own(more=lambda self, v: more(v))


def described(neuron=Own, synapse=jn.synapses.Exponential, release=jn.release.Spikes, noise=None):
    wires = {"weight": 1.0, "delay": 1.0, "synapse": synapse(), "release": release()}
    p = jn.Projection("E", "E", jn.connectivity.OneToOne(), **wires)
    stimuli = [] if noise is None else [jn.Stimulation("E", noise())]
    return jn.Description([jn.Population("E", 3, neuron())], [p], stimuli)


def drawn(v):
    return jax.random.normal(jax.random.key(0), v.shape)


ALIKE = r"Own \(population 'E'\): step must"
REFUSED = {
    "numpy": (
        {"neuron": adding(lambda v: np.random.normal(size=v.shape))},
        ALIKE,
    ),
    "a key": ({"neuron": adding(drawn)}, ALIKE),
    "a key in a jit": ({"neuron": adding(jax.jit(drawn))}, ALIKE),
    "a release": ({"release": Uncertain}, r"Uncertain \(projection 'E->E'\): step must"),
    "a stimulus": ({"noise": Noise}, r"Noise \(stimulation 'Noise->E'\): step must"),
    "a channel": (
        {"neuron": lambda: jn.neurons.HodgkinHuxley(channels=[Noisy()])},
        r"Noisy of HodgkinHuxley \(population 'E'\): step must",
    ),
    "a signal": (
        {"noise": lambda: jn.stimuli.Current(Wobble())},
        r"Wobble of Current \(stimulation 'Current->E'\): step must",
    ),
    "a deaf synapse": ({"synapse": Deaf}, "Deaf: step must"),
    "v instead of spikes": (
        {"neuron": own(spikes=lambda self, v: v)},
        ALIKE,
    ),
    "a probability instead of spikes": (
        {"neuron": own(spikes=lambda self, v: jax.nn.sigmoid(v + 50.0))},
        ALIKE,
    ),
}
FINE = {
    "a plain model": {},
    "a key with the step": {"noise": NewNoise},
    "a surrogate": {"neuron": own(spikes=lambda self, v: jnp.where(v > 1.0, 1.0, 0.0))},
    "a mean on one device": {"neuron": adding(lambda v: v.mean())},
}
MIXED = {
    "mean": (lambda v: v.mean(), "reduce_sum"),
    "neighbours": (lambda v: jnp.roll(v, 1), "slice"),
    "ranks": (lambda v: jnp.sort(v), "sort"),
    "sums": (jnp.cumsum, "cumsum"),
    "a product": (lambda v: v @ v, "dot_general"),
    "others": (lambda v: v[jnp.zeros_like(v, int)], "gather"),
}


@pytest.mark.slow(but=["numpy"])
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    given, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        jn.build(described(**given), 1, 0.1)


@pytest.mark.parametrize("case", FINE)
def test_what_may_be_meant(case):
    jn.build(described(**FINE[case]), 1, 0.1)


MESH = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",))


@pytest.mark.parametrize("case", MIXED)
def test_refused_over_a_mesh(case):
    more, name = MIXED[case]
    with pytest.raises(ValueError, match=rf"step must be .*over a mesh .*got {name}"):
        jn.build(described(adding(more)), 1, 0.1, mesh=MESH)


def test_each_by_itself_over_a_mesh():
    apart = adding(lambda v: jnp.where(jnp.any(v > 1.0), v, v).reshape(1, -1).sum(axis=0))
    jn.parallel.shard(jn.build(described(apart), 1, 0.1), MESH)
    with pytest.raises(ValueError, match=ALIKE):
        jn.parallel.shard(jn.build(described(adding(lambda v: v.mean())), 1, 0.1), MESH)


def learning(neuron=Own):
    wires = {"synapse": jn.synapses.Exponential(5.0), "weight": 0.5, "delay": 1.0}
    rule = jn.plasticity.PairSTDP(w_max=1.0)
    p = jn.Projection("E", "E", jn.connectivity.AllToAll(), plasticity=rule, **wires)
    current = jn.Stimulation("E", jn.stimuli.Current(np.linspace(0.5, 8.0, 16)))
    return jn.Description([jn.Population("E", 16, neuron())], [p], [current])


def ran(net):
    result = jn.simulate(net, 20.0, key=0, record=jn.Record(variables={"E": "v"}))
    return result.spikes["E"].times, result.traces["E"]["v"], net.weights(result.state, "E->E")


@pytest.mark.slow(but=["64"])
@pytest.mark.parametrize("bits", [32, 64])
def test_float32(bits, request):
    """What `jnp.zeros` makes and the numbers of a rule may have 64 bits, a network has 32."""
    if bits == 64:
        request.getfixturevalue("x64")
    two = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("d",))
    net = jn.build(learning(), 0, 0.1)
    state = jax.eval_shape(lambda net: net.init(0), net)
    floats = [x.dtype for x in jax.tree.leaves((net, state)) if x.dtype.kind == "f"]
    assert set(floats) == {np.dtype("float32")}
    alone = ran(net)
    assert alone[0].size
    assert alone[1].dtype == np.float32
    assert (alone[2] != 0.5).any()
    for many in (jn.build(learning(), 0, 0.1, mesh=two), jn.parallel.shard(net, two)):
        for x, y in zip(alone, ran(many)):
            np.testing.assert_array_equal(x, y)
