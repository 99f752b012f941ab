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


LINK = f"projection '{NAME}'"
OWN = f"Own ({LINK})"
REFUSED = {
    "weight above w_max": (lambda: built(PAIR, weight=1.5), LINK, "weight", "1.5 to 1.5"),
    "weight below w_min": (lambda: built(PAIR, weight=-0.1), LINK, "weight", "-0.1 to -0.1"),
    "drawn weights": (lambda: built(PAIR, weight=jn.Uniform(0.5, 1.5)), LINK, "weight", "0.50"),
    "unstored": (
        lambda: built(PAIR, jn.connectivity.FixedProbability(0.3, stored=False)),
        *(LINK, "plasticity", "PairSTDP"),
    ),
    "deterministic": (
        lambda: built(PAIR, build={"deterministic": True}),
        *(LINK, "plasticity", "PairSTDP"),
    ),
    "coarse weights": (
        lambda: built(PAIR, build={"weights": jnp.bfloat16}),
        *(LINK, "plasticity", "PairSTDP"),
    ),
    "undeclared variable": (
        lambda: built(Other()),
        *("Other (projection 'in->out')", "on_pre", "one of 'eligibility'"),
    ),
    "undeclared trace": (
        lambda: built(Missing()),
        *("Missing (projection 'in->out')", "on_pre", "'y'"),
    ),
    "axonal as long as the delay": (
        lambda: built(PAIR, axonal=1.0),
        *(LINK, "axonal", "1 ms and a delay of 1 ms"),
    ),
    "axonal off the grid": (
        lambda: built(PAIR, axonal=0.55),
        *(LINK, "axonal", "0.55 ms, between 0.5 and 0.6 ms"),
    ),
    "axonal longer than drawn delays": (
        lambda: built(PAIR, axonal=1.0, delay=jn.Uniform(0.5, 3.0)),
        *(LINK, "axonal", "1 ms and a delay of 0.5 ms"),
    ),
    "axonal without plasticity": (lambda: built(None, axonal=0.5), LINK, "axonal", "0.5 ms"),
    "negative axonal": (lambda: built(PAIR, axonal=-1.0), LINK, "axonal", "-1.0"),
    "class": (lambda: built(P.PairSTDP), LINK, "plasticity", "PairSTDP"),
    "negative tau": (lambda: built(Own(tau=-5.0)), OWN, "pre_traces", "-5.0 at ['x']"),
    "reserved name": (lambda: built(Own(named="released")), OWN, "pre_traces", "'released'"),
    "signal as a text": (lambda: built(Own(hears="reward")), OWN, "signals", "'reward'"),
    "signal of a population": (lambda: built(Own(hears=("out",))), OWN, "signals", "'out'"),
    "negative interval": (lambda: built(Own(often=(-1.0, None))), OWN, "intervals", "-1.0"),
    "interval off the grid": (
        lambda: built(P.Hebb(0.1, interval=0.25)),
        *("Hebb (projection 'in->out')", "interval", "0.25 ms, between 0.2 and 0.3 ms"),
    ),
    "interval inside Normalized": (
        lambda: built(P.Normalized(P.Hebb(0.1, interval=0.25), total=1.0)),
        *("Normalized (projection 'in->out')", "interval", "0.25 ms, between 0.2 and 0.3 ms"),
    ),
    "ClopathSTDP delay": (
        lambda: built(P.ClopathSTDP(delay=0.25)),
        *("ClopathSTDP (projection 'in->out')", "delay", "0.25 ms, between 0.2 and 0.3 ms"),
    ),
    "tick without an interval": (
        lambda: built(Own(acts="on_tick")),
        *(OWN, "intervals", "None, for never"),
    ),
    "rule that does nothing": (
        lambda: built(Own(acts="nothing")),
        *(OWN, "methods", "none, so that no weight changes"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert_refused(*REFUSED[case])


REWARD = "the input of 'reward'"
SIGNALS = {
    "none": ({}, REWARD, "none"),
    "too few": ({"reward": np.zeros(9)}, REWARD, "shape (9,)"),
    "one per neuron": ({"reward": np.zeros((10, 20))}, REWARD, "shape (10, 20)"),
    "nan": ({"reward": np.full(10, np.nan)}, REWARD, "nan at index 0"),
    "unknown": (
        {"reward": np.zeros(10), "dopamine": np.zeros(10)},
        *("population to drive", "'dopamine'"),
    ),
}


@pytest.mark.parametrize("case", SIGNALS)
def test_a_reward_of_the_wrong_shape(case):
    inputs, field, got = SIGNALS[case]
    net = built(P.RewardModulatedSTDP(w_max=1.0))
    assert_refused(lambda: jn.simulate(net, 1.0, inputs=inputs), "simulate", field, got)


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
    assert_refused(lambda: jn.build(description, 1, 0.1), f"ClopathSTDP ({LINK})", "step_post")


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
        assert_refused(lambda x=inputs: net.step(net.init(0), x), "step", REWARD)


def test_weights_that_do_not_change_cannot_be_asked_for():
    net = built(None)
    for ask in (net.weights, net.freeze):
        assert_refused(lambda f=ask: f(net.init(0), NAME), LINK, "plasticity")


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
    assert_refused(lambda: net.set(NAME, rate=np.ones(20)), LINK, "rate", "(20,)")
    assert_refused(lambda: net.set(NAME, tau_plus=-1.0), LINK, "tau_plus", "-1.0")
