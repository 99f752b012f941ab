"""Models that a person writes in a notebook run in a network, under vmap and grad."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import SCAN, events


class QIFState(NamedTuple):
    v: jax.Array


class QIF(jn.Neuron):
    """Quadratic integrate-and-fire, explicit Euler; it counts on a current."""

    tau_m: jax.Array = jn.param(10.0, unit="ms", above=0.0)
    v_th: jax.Array = jn.param(10.0, unit="mV")
    surrogate: jn.surrogates.Surrogate | None = jn.surrogates.FastSigmoid()

    def init(self, n):
        return QIFState(jnp.full(n, -2.0, self.tau_m.dtype))

    def step(self, state, drive, dt):
        v = state.v + dt / self.tau_m * (state.v**2 + drive.current)
        spikes, fired = jn.surrogates.threshold(v, self.v_th, self.surrogate, state.v)
        return QIFState(jnp.where(fired, -self.v_th, v)), spikes


class DepressionState(NamedTuple):
    x: jax.Array


class Depression(jn.Release):
    """Each spike uses the fraction u of what is left; it recovers with tau."""

    u: jax.Array = jn.param(0.4, at_least=0.0, at_most=1.0)
    tau: jax.Array = jn.param(30.0, unit="ms", above=0.0)

    def init(self, n):
        return DepressionState(jnp.ones(n, self.u.dtype))

    def step(self, state, spikes, v, dt):
        value = state.x * self.u * spikes.astype(state.x.dtype)
        x = 1.0 - (1.0 - state.x + value) * jnp.exp(-dt / self.tau)
        return DepressionState(x), value


class SineState(NamedTuple):
    pass


class Sine(jn.Stimulus):
    """A current that swings between 0 and twice its mean."""

    mean: jax.Array = jn.param(unit="pA")
    period: jax.Array = jn.param(20.0, unit="ms", above=0.0)

    def init(self, n, stream):
        return SineState()

    def step(self, state, step, dt):
        phase = 2 * jnp.pi * step.astype(self.mean.dtype) * dt / self.period
        return state, jn.Drive(current=self.mean * (1.0 - jnp.cos(phase)))


class GradedState(NamedTuple):
    pass


class Graded(jn.Release):
    """Hands over v in every step, with or without a spike."""

    slope: jax.Array = jn.param(1.0)

    def init(self, n):
        return GradedState()

    def step(self, state, spikes, v, dt):
        return state, self.slope * v


def network(surrogate=None, u=0.4):
    populations = [
        jn.Population("A", 6, QIF(surrogate=surrogate), initial={"v": np.linspace(-2, 2, 6)}),
        jn.Population("B", 5, jn.neurons.LIF()),
    ]
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential()
    values = {"weight": 2500.0, "delay": 0.5, "synapse": synapse}
    projections = [
        jn.Projection("A", "B", rule, **values, release=Depression(u=u)),
        jn.Projection("B", "A", rule, **{**values, "weight": 0.3}),
    ]
    return jn.build(
        jn.Description(populations, projections, [jn.Stimulation("A", Sine(6.0))]), 0, 0.1
    )


def test_they_run_together():
    spikes = events(network(), 600)
    assert len(spikes["A"]) > 20
    assert len(spikes["B"]) > 5


def test_a_release_depresses():
    """The current in B is what the recursion of the release gives for A's spikes."""
    net = network()
    record = jn.Record(variables={"A->B": "current"})
    _, recording = jax.jit(jn.scan, static_argnums=(2, 4))(net, net.init(0), 600, None, record)
    spikes = np.asarray(recording.spikes.dense("A"), float)
    x, current, released, expected = np.ones(6), 0.0, [], []
    for k in range(600):
        arrived = released[k - 5].sum() * 2500.0 if k >= 5 else 0.0
        current = current * np.exp(-0.1 / 2.0) + arrived
        expected.append(current)
        released.append(x * 0.4 * spikes[k])
        x = 1.0 - (1.0 - x + released[-1]) * np.exp(-0.1 / 30.0)
    got = np.asarray(recording.traces["A->B"]["current"])
    np.testing.assert_allclose(got, np.tile(np.array(expected)[:, None], 5), rtol=1e-4, atol=1e-3)
    assert len(events(network(u=0.1), 600)["B"]) < len(events(net, 600)["B"])


def test_a_release_of_arrays_in_a_shared_group():
    """One number per source neuron, though the group holds other populations too."""
    u = np.linspace(0.1, 0.9, 4)
    neuron = jn.neurons.LIF()
    populations = [jn.Population(k, n, neuron) for k, n in (("A", 3), ("B", 4), ("C", 2))]
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(1e6)
    values = {"weight": 1.0, "delay": 0.1, "synapse": synapse}
    release = Depression(u=u, tau=9e3)  # as long as none is warned of
    p = jn.Projection("B", "C", rule, **values, release=release)
    net = jn.build(jn.Description(populations, [p]), 0, 0.1)
    kick = np.zeros((4, 4), np.float32)
    kick[0] = 1e6
    state, _ = SCAN(net, net.init(0), 4, {"B": kick})
    np.testing.assert_allclose(net.read(state, "B->C", "current"), u.sum(), rtol=1e-3)


def test_a_graded_release_delivers_every_step():
    populations = [
        jn.Population("A", 3, jn.neurons.LIF(), initial={"v": [-70.0, -60.0, -65.0]}),
        jn.Population("B", 2, jn.neurons.LIF()),
    ]
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Delta()
    p = jn.Projection("A", "B", rule, weight=0.0, delay=0.1, synapse=synapse, release=Graded())
    net = jn.build(jn.Description(populations, [p]), 0, 0.1).set("A->B", weight=1.0)
    state, _ = SCAN(net, net.init(0), 1)
    released = np.asarray(state.pathways[0].released.values)
    decay = np.exp(-0.1 / 10.0)
    expected = -70.0 + np.array([0.0, 10.0, 5.0]) * decay
    np.testing.assert_allclose(released[:3], expected, rtol=1e-6)
    state, _ = SCAN(net, state, 1)
    np.testing.assert_allclose(net.read(state, "B", "v"), -70.0 + expected.sum(), rtol=1e-5)


@pytest.mark.slow
def test_under_vmap():
    net, gains = network(), np.float32([0.0, 0.5, 1.0, 2.0])

    def counts(gain):
        changed = net.set("A->B", gain=gain)
        return jn.scan(changed, changed.init(0), 400)[1].spikes.counts("B")

    many, alone = np.asarray(jax.jit(jax.vmap(counts))(gains)), jax.jit(counts)
    for gain, row in zip(gains, many):
        np.testing.assert_array_equal(row, alone(gain))
    assert many.sum(axis=1)[0] == 0 < many.sum(axis=1)[-1]


@pytest.mark.slow
def test_under_grad():
    net = network(jn.surrogates.FastSigmoid())

    def loss(mean, gain, tau):
        changed = net.set("Sine->A", mean=mean).set("A->B", gain=gain).set("A", tau_m=tau)
        state, _ = jn.scan(changed, changed.init(0), 300)
        return jnp.mean(changed.read(state, "B", "v"))

    slopes = jax.jit(jax.grad(loss, (0, 1, 2)))(6.0, 1.0, 10.0)
    assert all(np.isfinite(s) and s != 0 for s in slopes)


def test_a_neuron_that_ignores_its_drive_is_refused():
    populations = [jn.Population("A", 3, QIF()), jn.Population("B", 2, QIF())]
    values = {"weight": 1.0, "delay": 0.1, "synapse": jn.synapses.Delta()}
    p = jn.Projection("A", "B", jn.connectivity.AllToAll(), **values)
    current = jn.Stimulation("A", jn.stimuli.Current(1.0))
    message = r"QIF \(population 'A'\): step must"
    with pytest.raises(ValueError, match=message):
        jn.build(jn.Description(populations, [p], [current]), 0, 0.1)


class WrongState(NamedTuple):
    g: jax.Array


class WithoutDrive(jn.Synapse):
    def init(self, n):
        return WrongState(jnp.zeros(n))

    def step(self, state, arrivals, v, dt):
        return WrongState(arrivals), state.g


class AnotherState(jn.Synapse):
    def init(self, n):
        return WrongState(jnp.zeros(n))

    def step(self, state, arrivals, v, dt):
        return state.g + arrivals, jn.Drive(state.g)


@pytest.mark.parametrize(
    ("synapse", "message"),
    [
        (WithoutDrive(), "WithoutDrive: step must"),
        (AnotherState(), "AnotherState: step must"),
    ],
)
def test_a_synapse_of_the_wrong_kind_is_refused(synapse, message):
    cells = [jn.Population("A", 2, jn.neurons.LIF())]
    rule = jn.connectivity.AllToAll()
    wires = [jn.Projection("A", "A", rule, weight=1.0, delay=0.1, synapse=synapse)]
    with pytest.raises(ValueError, match=message):
        jn.build(jn.Description(cells, wires), 0, 0.1)
