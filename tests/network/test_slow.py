"""Slow variables of networks: what is chosen, what it costs, where it goes, what is warned of."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from jaxneuro._network.slow import slow_names

BETWEEN = {
    "rule": jn.connectivity.AllToAll(),
    "weight": 1.0,
    "delay": 0.1,
    "synapse": jn.synapses.Exponential(),
}
SLOW = jn.neurons.ALIF(tau_m=50.0, tau_theta=1e6)


def of_neurons(model=SLOW, dt=0.1, n=4, start=None, **more):
    return jn.build(jn.Description([jn.Population("E", n, model, start or {})]), 0, dt, **more)


def connected(n=12):
    """A network with a slow variable of each kind: neurons, receptors, rules and modulators."""
    populations = [jn.Population("E", n, SLOW, {"v": jn.Uniform(-70.0, -56.0)})]
    rule = jn.plasticity.HomeostaticScaling(jn.plasticity.PairSTDP(), 10.0, tau=1e5)
    ends = BETWEEN | {"synapse": jn.synapses.Exponential(tau_syn=2e3), "weight": 2.0}
    projection = jn.Projection("E", "E", **ends, plasticity=rule)
    drive = jn.Stimulation("E", jn.stimuli.Current(200.0), name="drive")
    level = jn.Modulator("level", tau=1e6, scales={"E": {"beta": 0.1}}, source="E")
    return jn.build(jn.Description(populations, [projection], [drive], modulators=[level]), 0, 0.1)


def test_where_nothing_is_slow_nothing_is_kept():
    net = of_neurons(jn.neurons.LIF(tau_m=20.0))
    assert slow_names(net) == []
    assert jax.tree.leaves(net.init(0).groups[0].low) == []
    assert "digits" not in repr(net)


def test_a_network_in_float64_keeps_nothing(x64):
    assert slow_names(of_neurons(dtype=jnp.float64)) == []


def test_what_is_slow_is_part_of_the_network():
    net = connected()
    names = ["theta of E", "v of E", "current of E", "own_rate of E->E", "level of level"]
    assert slow_names(net) == names
    assert "kept with more digits: 'theta of E'" in repr(net)


@pytest.mark.slow
def test_levels_and_rates_of_rules_decay_as_they_should():
    """Over 20 s: exp(-t / tau) of what neurons without a spike leave alone."""
    rule = jn.plasticity.HomeostaticScaling(None, 10.0, tau=1e6)
    still = jn.Population("E", 2, jn.neurons.LIF())
    projection = jn.Projection("E", "E", **BETWEEN, plasticity=rule)
    level = jn.Modulator("level", tau=1e7, start=1.0, scales={"E->E": {"gain": 0.1}})
    net = jn.build(jn.Description([still], [projection], modulators=[level]), 0, 0.1)
    state = jax.jit(lambda net: jn.scan(net, net.init(0), 200_000)[0])(net)
    (level,) = state.modulators
    lost = 1.0 - float(level.level[0]) - float(level.low["level"][0])
    assert lost == pytest.approx(-math.expm1(-20_000.0 / 1e7), rel=0.01)
    plastic = state.pathways[0].plastic
    rate = np.asarray(plastic.targets["own_rate"], np.float64) + plastic.low["own_rate"]
    np.testing.assert_allclose(1.0 - rate / 10.0, -math.expm1(-20_000.0 / 1e6), rtol=0.01)


def leaves_of(net, state):
    """The state as of one device, without rows of synapses, which wait for their next visit."""
    whole = net.as_one_device(state)
    plastic = whole.pathways[0].plastic
    cells = [g.cells for g in whole.groups]
    return jax.tree.leaves((cells, plastic.targets, plastic.low, whole.modulators))


@pytest.mark.slow
def test_over_devices_they_have_the_same_bits():
    net = connected()
    mesh = Mesh(np.array(jax.devices()[:2]), ("d",))
    laid = jn.parallel.shard(net, mesh)
    alone, apart = (jax.jit(lambda net: jn.scan(net, net.init(0), 300)[0])(x) for x in (net, laid))
    assert any(np.abs(x).max() > 0 for x in jax.tree.leaves(alone.groups[0].low))
    for a, b in zip(leaves_of(net, alone), leaves_of(laid, apart), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_a_run_goes_on_as_the_whole_one(tmp_path):
    net = connected()
    whole = jn.simulate(net, 40.0)
    first = jn.simulate(net, 20.0)
    jn.checkpoint.save(tmp_path / "state.npz", first.state)
    state = jn.checkpoint.load(tmp_path / "state.npz", net.init(0))
    second = jn.simulate(net, 20.0, state=state)
    assert jax.tree.leaves(second.state.groups[0].low)
    for a, b in zip(jax.tree.leaves(whole.state), jax.tree.leaves(second.state), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_under_vmap_a_run_is_the_run():
    net = of_neurons(start={"v": -56.0})

    def last(beta):
        return jn.scan(net.set("E", beta=beta), net.init(0), 50, {"E": 200.0})[0].groups[0]

    betas = jnp.array([1.0, 3.0])
    every = jax.jit(jax.vmap(last))(betas)
    for k, beta in enumerate(betas):
        one = jax.jit(last)(beta)
        for a, b in zip(jax.tree.leaves(every), jax.tree.leaves(one), strict=True):
            np.testing.assert_array_equal(a[k], b)


def test_the_gradient_is_that_of_the_step_as_it_is_written(x64):
    model = jn.neurons.LIF(tau_m=50.0, c_m=200.0)

    def depolarisation(current, net):
        state, _ = jn.scan(net, net.init(0), 100, {"E": current})
        return state.groups[0].neurons.v.sum()

    slopes = [
        jax.jit(jax.grad(depolarisation))(jnp.asarray(200.0, dtype), of_neurons(model, dtype=dtype))
        for dtype in (jnp.float32, jnp.float64)
    ]
    assert slow_names(of_neurons(model)) == ["v of E"]
    assert slopes[0] == pytest.approx(float(slopes[1]), rel=1e-5)
    # Four neurons, 10 ms: tau / c_m (1 - exp(-t / tau)) each.
    assert slopes[1] == pytest.approx(4 * 50.0 / 200.0 * -math.expm1(-10.0 / 50.0), rel=1e-9)


def test_what_is_set_has_no_digits_below():
    net = of_neurons(start={"theta": 1.0})
    state = jax.jit(lambda net: jn.scan(net, net.init(0), 2000)[0])(net)
    assert np.all(np.asarray(state.groups[0].low[0]["theta"]) != 0.0)
    state = net.with_values(state, "E", theta=0.0)
    np.testing.assert_array_equal(state.groups[0].low[0]["theta"], 0.0)
    np.testing.assert_array_equal(state.groups[0].neurons.theta, 0.0)


def test_a_value_that_comes_later_is_warned_of():
    net = of_neurons(jn.neurons.ALIF())
    with pytest.warns(UserWarning, match="'E': tau_theta = 1e\\+06 ms is too long for float32"):
        net.set("E", tau_theta=1e6)
    net.set("E", tau_theta=2e3)  # a few digits are lost, and no percent
    with pytest.warns(UserWarning, match="tau_m = 50 ms is too long"):
        net.set("E", tau_m=50.0)
    with pytest.warns(UserWarning, match="tau_theta") as warned:
        net.set("E", tau_theta=1e6).set("E", tau_m=15.0)
    assert len(warned) == 1
    slow = of_neurons()
    slow.set("E", tau_theta=1e8)  # they are kept already
    jax.jit(lambda tau: net.set("E", tau_theta=tau).get("E", "tau_theta"))(1e6)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"release": jn.release.NMDAGate(tau_decay=1e5)}, "tau_decay = 100000 ms"),
        ({"plasticity": jn.plasticity.PairSTDP(tau_plus=2e5)}, "tau_plus = 200000 ms"),
        ({"plasticity": jn.plasticity.RewardModulatedSTDP(tau_c=2e5)}, "tau_c = 200000 ms"),
    ],
    ids=lambda x: "" if isinstance(x, str) else "".join(x),
)
def test_what_stays_a_single_number_is_warned_of(more, words):
    populations = [jn.Population("E", 2, jn.neurons.LIF())]
    projection = jn.Projection("E", "E", **BETWEEN, **more)
    with pytest.warns(UserWarning, match=f"{words} is too long for float32.*dtype=jnp.float64"):
        jn.build(jn.Description(populations, [projection]), 0, 0.1)


class OwnState(NamedTuple):
    x: jax.Array


class Own(jn.Neuron):
    tau_x: jn.Parameter = jn.param(1e6, unit="ms", above=0.0)

    def init(self, n):
        return OwnState(jnp.ones(n))

    def step(self, state, drive, dt):
        x = state.x - dt * state.x / self.tau_x
        return OwnState(x), x > 2.0


class Told(Own):
    def time_constants(self):
        return {"x": self.tau_x}


class Wrong(Own):
    def time_constants(self):
        return {"y": self.tau_x}


class Spiking(Own):
    def time_constants(self):
        return {"x": "long"}


class Losing(Told):
    def step(self, state, drive, dt):
        x = jnp.sqrt(state.x * state.x)
        return OwnState(x), x > 2.0


def test_a_model_of_a_user_says_what_is_slow():
    with pytest.warns(UserWarning, match="tau_x = 1e\\+06 ms is too long"):
        of_neurons(Own())
    net = of_neurons(Told())
    state = jax.jit(lambda net: jn.scan(net, net.init(0), 20_000)[0])(net)
    x = np.asarray(state.groups[0].neurons.x, np.float64) + state.groups[0].low[0]["x"]
    np.testing.assert_allclose(1.0 - x, -math.expm1(-2000.0 / 1e6), rtol=1e-3)
    with pytest.raises(jn.InvalidValueError, match="state variable named 'y'"):
        of_neurons(Wrong())
    with pytest.raises(jn.InvalidValueError, match="time_constants must be numbers"):
        of_neurons(Spiking())
    losing = of_neurons(Losing())
    with pytest.warns(UserWarning, match="below those of 'x' of OwnState are lost"):
        losing.init(0)


def test_a_state_of_a_network_without_slow_variables_is_told_apart():
    state = of_neurons(jn.neurons.ALIF()).init(0)
    with pytest.raises(jn.InvalidValueError, match="further digits of theta of 'E'"):
        jn.simulate(of_neurons(), 1.0, state=state)
