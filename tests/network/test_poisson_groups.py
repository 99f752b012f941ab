"""Poisson inputs of many populations are one draw, with nothing spread over the neurons."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.native import native_available
from tests.network.networks import LIF

SIZES = {"A": 130, "B": 70, "C": 200}
RATES = {"A": 9_000.0, "B": 3_000.0, "C": 16_000.0}
WHERE = {"A": "A", "B": jn.Part("B", slice(20, 70)), "C": "C"}


def build(names="ABC", rates=RATES, where=WHERE, stimulus=jn.stimuli.Poisson):
    lif = jn.neurons.LIF(**LIF)
    populations = [jn.Population(k, SIZES[k], lif) for k in names]
    stimuli = [
        jn.Stimulation(
            where[k], stimulus(rates[k]), weight=0.3, synapse=jn.synapses.Delta(), name=f"P{k}"
        )
        for k in names
    ]
    return jn.build(jn.Description(populations, [], stimuli), key=0, dt=0.1)


def same_counts(v, w):
    """A count is worth 0.3 mV; the sums of a voltage may be rounded in another order."""
    np.testing.assert_allclose(v, w, atol=1e-3, rtol=0)


@jax.jit
def run(net):
    record = jn.Record(variables=dict.fromkeys(net.populations, "v"))
    return jn.scan(net, net.init(3), 60, None, record)[1].traces


def voltages(net):
    return {k: np.asarray(x["v"]) for k, x in run(net).items()}


@pytest.fixture(scope="module")
def as_it_is():
    return voltages(build())


@pytest.mark.slow
@pytest.mark.parametrize(
    "stimulus",
    [jn.stimuli.Poisson, lambda r: jn.stimuli.Gamma(r, order=2)],
    ids=["Poisson", "Gamma"],
)
def test_together_as_each_population_alone(stimulus):
    together = voltages(build(stimulus=stimulus))
    for k in SIZES:
        same_counts(together[k], voltages(build([k], stimulus=stimulus))[k])


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_nothing_is_as_long_as_the_group():
    net = build()
    (stimulus,) = net.groups[0].expand().stimuli
    assert stimulus.model.rate.shape == (3,)
    stream = net.init(0).groups[0].stimuli[0].stream
    assert stream.sizes == (130, 50, 200)
    assert [x.shape for x in (stream.high, stream.low, stream.index)] == [(3,)] * 3


def test_a_rate_per_neuron_in_one_of_them(as_it_is):
    rates = {**RATES, "B": np.full(50, RATES["B"])}
    net = build(rates=rates)
    assert net.groups[0].expand().stimuli[0].model.rate.shape == (380,)
    for k, v in voltages(net).items():
        same_counts(v, as_it_is[k])


def test_neurons_that_are_no_stretch(as_it_is):
    chosen = np.arange(0, 130, 2)
    some = voltages(build(where={**WHERE, "A": jn.Part("A", chosen)}))["A"]
    every = as_it_is["A"]
    same_counts(some[:, 0::2], every[:, 0::2])
    assert (some[:, 1::2] == some[:, 1:2]).all()


def test_set_changes_one_rate():
    net, other = build(), build(rates={**RATES, "B": 6_000.0})
    got, want = voltages(net.set("PB", rate=6_000.0)), voltages(other)
    for k in SIZES:
        same_counts(got[k], want[k])


@pytest.mark.slow
def test_signals_with_a_value_per_population():
    waves = {k: jn.stimuli.Sinusoid(r, r / 2, 20.0) for k, r in RATES.items()}
    together = voltages(build(rates=waves))
    for k in SIZES:
        same_counts(together[k], voltages(build([k], rates=waves))[k])


@pytest.mark.slow
def test_populations_of_single_neurons_and_of_none():
    sizes, lif = {"A": 1, "B": 0, "C": 1, "D": 1}, jn.neurons.LIF(**LIF)
    rates = {"A": 9e3, "B": 1e3, "C": 2e4, "D": 3e4}
    stimuli = [
        jn.Stimulation(k, jn.stimuli.Poisson(r), weight=0.3, synapse=jn.synapses.Delta())
        for k, r in rates.items()
    ]

    @functools.cache
    def alone(names):
        populations = [jn.Population(k, sizes[k], lif) for k in names]
        chosen = [s for s in stimuli if s.target in names]
        return voltages(jn.build(jn.Description(populations, [], chosen), key=0, dt=0.1))

    for names in ("ABCD", "AB", "BD"):
        together = alone(names)
        for k in names:
            same_counts(together[k], alone(k)[k])


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_one_call_in_the_loop_on_a_cpu_and_none_for_cuda():
    net = build()
    five = jax.jit(lambda net, state: jn.scan(net, state, 5))
    text = five.lower(net, net.init(0)).compile().as_text()
    assert text.count('custom_call_target="jaxneuro_poisson"') == 1
    traced = five.trace(net, net.init(0))
    assert "jaxneuro_poisson" not in traced.lower(lowering_platforms=("cuda",)).as_text()


def test_a_gradient_with_respect_to_the_weight():
    net = build()

    @jax.jit
    def loss(weight):
        changed = net.set("PA", weight=weight)
        return jnp.sum(jn.scan(changed, changed.init(0), 8)[0].groups[0].neurons.v)

    gradient = jax.jit(jax.grad(loss))(0.3)
    step = 1e-2
    difference = (loss(0.3 + step) - loss(0.3 - step)) / (2 * step)
    assert gradient > 1.0
    np.testing.assert_allclose(gradient, difference, rtol=0.02)
