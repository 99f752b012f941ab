"""What a plastic projection refuses, before anything is drawn, and what it says."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

P, NAME = jn.plasticity, "in->out"


def description(rule, connect=None, delay=1.0, weight=0.3, **more):
    synapse = jn.synapses.Exponential(tau_syn=5.0)
    return jn.Description(
        [
            jn.Population("in", 20, jn.neurons.PoissonSource(20.0)),
            jn.Population("out", 20, jn.neurons.LIF()),
        ],
        [
            jn.Projection(
                *("in", "out", connect or jn.connectivity.FixedProbability(0.3)),
                **{
                    "weight": weight,
                    "delay": delay,
                    "synapse": synapse,
                    "plasticity": rule,
                    **more,
                },
            )
        ],
    )


def built(*args, build=None, **more):
    return jn.build(description(*args, **more), key=1, dt=0.1, **(build or {}))


class Mixing(jn.Plasticity):
    """Divides by the sum of all weights, which a rule does not see."""

    def on_pre(self, synapse, pre, post):
        return {"weight": synapse.weight / jnp.sum(synapse.weight)}


class Other(jn.Plasticity):
    """Changes a variable that it does not declare."""

    def on_pre(self, synapse, pre, post):
        return {"eligibility": synapse.weight}


class Missing(jn.Plasticity):
    """Reads a trace that it does not declare."""

    def on_pre(self, synapse, pre, post):
        return {"weight": synapse.weight + post.y}


class Own(jn.Plasticity):
    """A rule whose declarations are given."""

    tau: float = jn.static(20.0)
    named: str = jn.static("x")
    hears: object = jn.static(())
    often: object = jn.static((None, None))
    acts: str = jn.static("on_pre")

    @property
    def signals(self):
        return self.hears

    def pre_traces(self):
        return {self.named: jn.Trace(self.tau)}

    def intervals(self):
        return self.often

    def on_pre(self, synapse, pre, post):
        return {"weight": 0.9 * synapse.weight} if self.acts == "on_pre" else {}

    def on_tick(self, synapse, pre, post):
        return {"weight": 0.9 * synapse.weight} if self.acts == "on_tick" else {}


PAIR = P.PairSTDP(w_max=1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: built(PAIR, weight=1.5), "within the bounds of PairSTDP, 0 to 1; got 1.5"),
        (lambda: built(PAIR, weight=-0.1), "projection 'in->out': weight must"),
        (lambda: built(PAIR, weight=jn.Uniform(0.5, 1.5)), "within the bounds"),
        (
            lambda: built(PAIR, jn.connectivity.FixedProbability(0.3, stored=False)),
            "projection 'in->out': plasticity must",
        ),
        (
            lambda: built(PAIR, build={"deterministic": True}),
            "projection 'in->out': plasticity must",
        ),
        (
            lambda: built(PAIR, build={"weights": jnp.bfloat16}),
            "projection 'in->out': plasticity must",
        ),
        (lambda: built(P.PairSTDP(rate=np.ones(20), w_max=1.0)), "one number for all synapses"),
        (lambda: built(Mixing()), r"Mixing \(projection 'in->out'\): methods must"),
        (lambda: built(Other()), r"Other \(projection 'in->out'\): on_pre must"),
        (lambda: built(Missing()), r"Missing \(projection 'in->out'\): on_pre must"),
        (lambda: built(PAIR, axonal=1.0), "at least one time step"),
        (lambda: built(PAIR, axonal=0.55), "axonal"),
        (lambda: built(PAIR, axonal=1.0, delay=jn.Uniform(0.5, 3.0)), "at least one time step"),
        (lambda: built(None, axonal=0.5), "projection 'in->out': axonal must"),
        (lambda: built(PAIR, axonal=-1.0), "projection 'in->out': axonal must"),
        (lambda: built(P.PairSTDP), "must be a"),
        (lambda: built(Own(tau=-5.0)), r"Own \(projection 'in->out'\): pre_traces must"),
        (lambda: built(Own(tau=0.0)), r"Own \(projection 'in->out'\): pre_traces must"),
        (lambda: built(Own(named="released")), r"Own \(projection 'in->out'\): pre_traces must"),
        (lambda: built(Own(hears="reward")), "a tuple of names"),
        (lambda: built(Own(hears=("out",))), r"Own \(projection 'in->out'\): signals must"),
        (lambda: built(Own(often=(-1.0, None))), r"Own \(projection 'in->out'\): intervals must"),
        (
            lambda: built(P.Hebb(0.1, interval=0.25)),
            r"Hebb \(projection 'in->out'\): interval must",
        ),
        (
            lambda: built(P.Normalized(P.Hebb(0.1, interval=0.25), total=1.0)),
            r"Normalized \(projection 'in->out'\): interval must .*got 0.25 ms",
        ),
        (
            lambda: built(P.ClopathSTDP(delay=0.25)),
            r"ClopathSTDP \(projection 'in->out'\): delay must",
        ),
        (lambda: built(Own(acts="on_tick")), r"Own \(projection 'in->out'\): intervals must"),
        (lambda: built(Own(acts="nothing")), r"Own \(projection 'in->out'\): methods must"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "the input of 'reward' must be .*got none"),
        ({"reward": np.zeros(9)}, "got shape"),
        ({"reward": np.zeros((10, 20))}, "got shape"),
        ({"reward": np.full(10, np.nan)}, "finite"),
        ({"reward": np.zeros(10), "dopamine": np.zeros(10)}, "dopamine"),
    ],
)
def test_a_reward_of_the_wrong_shape(inputs, message):
    net = built(P.RewardModulatedSTDP(w_max=1.0))
    with pytest.raises(ValueError, match=message):
        jn.simulate(net, 1.0, inputs=inputs, progress=False)


def test_a_voltage_that_is_not_there():
    description = jn.Description(
        [jn.Population("in", 2, jn.neurons.Relay()), jn.Population("out", 2, jn.neurons.Relay())],
        [
            jn.Projection(
                *("in", "out", jn.connectivity.AllToAll()),
                weight=0.3,
                delay=1.0,
                synapse=jn.synapses.Delta(),
                plasticity=P.ClopathSTDP(),
            )
        ],
    )
    with pytest.raises(ValueError, match=r"ClopathSTDP \(projection 'in->out'\): step_post must"):
        jn.build(description, key=1, dt=0.1)


@pytest.mark.parametrize("rule", [PAIR, P.Hebb(0.1), P.RewardModulatedSTDP(w_max=1.0)])
def test_targets_that_never_spike(rule):
    rates = [jn.Population(name, 2, jn.neurons.LinearRate()) for name in ("in", "out")]
    how = {"weight": 0.3, "delay": 1.0, "release": jn.release.Graded()}
    p = jn.Projection(
        *("in", "out", jn.connectivity.AllToAll()),
        **how,
        synapse=jn.synapses.Direct("input"),
        plasticity=rule,
    )
    assert_refused(
        lambda: jn.build(jn.Description(rates, [p]), 1, 0.1),
        "projection 'in->out'",
        "plasticity",
        type(rule).__name__,
    )


def test_a_step_without_its_signal():
    net = built(P.RewardModulatedSTDP(w_max=1.0))
    for inputs in (None, {"reward": np.zeros(2)}):
        with pytest.raises(jn.InvalidValueError) as caught:
            net.step(net.init(0), inputs)
        assert (caught.value.owner, caught.value.field) == ("step", "the input of 'reward'")


def test_weights_that_do_not_change_cannot_be_asked_for():
    net = built(None)
    with pytest.raises(ValueError, match="projection 'in->out': plasticity must"):
        net.weights(net.init(0), NAME)
    with pytest.raises(ValueError, match="projection 'in->out': plasticity must"):
        net.freeze(net.init(0), NAME)


@pytest.mark.parametrize("rule", [jn.connectivity.OneToOne(), jn.connectivity.AllToAll()])
def test_every_rule_of_connection_works(rule):
    net = built(PAIR, rule)
    result = jn.simulate(net, 100.0, progress=False)
    connected = net.connections(NAME, result.state)
    assert len(connected) == (20 if isinstance(rule, jn.connectivity.OneToOne) else 400)
    assert connected.weight.shape == net.connections(NAME).weight.shape
    np.testing.assert_allclose(net.connections(NAME).weight, 0.3)


def test_parameters_are_set_by_name():
    net = built(PAIR)
    assert float(net.set(NAME, rate=0.5).pathways[0].plastic.rule.rate) == 0.5
    with pytest.raises(ValueError, match="projection 'in->out': rate must"):
        net.set(NAME, rate=np.ones(20))
    with pytest.raises(ValueError, match="tau_plus"):
        net.set(NAME, tau_plus=-1.0)
