"""Targets of plastic synapses in one launch: interpreted, they do what they do on a CPU."""

import logging

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
import jaxneuro.plasticity as pl
from jaxneuro._kernels.bits import pack
from jaxneuro._kernels.clock import Clock
from jaxneuro._kernels.event_log import EventLog
from jaxneuro._kernels.gpu_targets import targets_pallas
from jaxneuro._network.targets import Fired, TargetNumbers, step_targets
from tests.kernels.test_fused_scan import check
from tests.kernels.test_gpu import KERNEL, for_cuda

N, FIRST, STEPS = 300, 5, 30
PAIR = pl.PairSTDP()
RULES = {
    "spikes": PAIR,
    "numbers in the log": pl.TripletSTDP(),
    "events of its own": pl.ClopathSTDP(),
    "numbers in the ring": pl.BCM(1e-4, 10.0, interval=1.0),
}


def network(rule, neuron=None):
    """Plastic synapses onto the second population of a group."""
    neuron = jn.neurons.AdEx() if neuron is None else neuron
    cells = [jn.Population("A", FIRST, neuron), jn.Population("B", N, neuron)]
    wire = {"weight": 0.5, "delay": 0.3, "synapse": jn.synapses.Delta(), "plasticity": rule}
    connected = jn.connectivity.FixedProbability(0.1)
    return jn.build(jn.Description(cells, [jn.Projection("A", "B", connected, **wire)]), 0, dt=0.1)


@pytest.mark.slow(but=["numbers in the log"])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_interpreted_it_is_the_step_of_the_rule(rule):
    net = network(rule)
    plastic = net.expand().pathways[0].plastic
    how = plastic._target_step(np.dtype(np.float32))
    held = net.init(0).pathways[0].plastic
    start = TargetNumbers(held.targets, held.low, held.target_ring, held.log)
    rng = np.random.default_rng(1)
    spikes = rng.random((STEPS, FIRST + N)) < 0.2
    v = rng.normal(-55.0, 15.0, spikes.shape).astype(np.float32)

    def run(fused):
        def one(before, now):
            k, fired, v = now
            clock, fired = Clock(jnp.int32(3), k), Fired(pack(fired), v)
            if not fused:
                return step_targets(how, plastic.rule, before, fired, clock)
            of_targets = before.state, before.ring, before.log
            new = targets_pallas(how, plastic.rule, *of_targets, fired, clock, interpret=True)
            state, ring, log, limit = new
            return TargetNumbers(state, before.low, ring, EventLog(*log)), limit

        steps = jnp.arange(STEPS, dtype=jnp.int32)
        return jax.jit(lambda start: jax.lax.scan(one, start, (steps, spikes, v)))(start)

    got, want = run(True), run(False)
    check(got, want)
    log = want[0].log
    assert int(log.count) > 100
    for name in ("count", "head", "events"):
        np.testing.assert_array_equal(getattr(got[0].log, name), getattr(log, name))


def kernels(net):
    inputs = dict.fromkeys(net.signals, 0.0)
    text = for_cuda(lambda net, state: jn.scan(net, state, 5, inputs)[0], net, net.init(0))
    return text.count(KERNEL)


OTHERS = (
    *(pl.PowerLawSTDP(), pl.TraceSTDP(), pl.DiehlCookSTDP(), pl.VogelsSTDP()),
    *(pl.Hebb(1e-4, interval=1.0), pl.Oja(1e-4, interval=1.0), pl.RewardModulatedSTDP()),
    *(pl.Normalized(PAIR, 10.0), pl.HomeostaticScaling(PAIR, 5.0)),
    pl.PairSTDP(pairing="nearest_symmetric"),
)


@pytest.mark.slow
@pytest.mark.parametrize("rule", OTHERS, ids=lambda rule: type(rule).__name__)
def test_every_rule_goes_into_the_launch(rule, caplog):
    caplog.set_level(logging.INFO, "jaxneuro")
    assert kernels(network(rule)) == 4
    assert not caplog.messages


class Mixed(pl.PairSTDP):
    """Each target sees the mean of all."""

    def step_post(self, state, spikes, v, dt):
        numbers, events, state = super().step_post(state, spikes, v, dt)
        return numbers, events, {k: x - x.mean() * 0.01 for k, x in state.items()}


@pytest.mark.slow
def test_a_rule_that_mixes_targets_takes_more_launches(caplog):
    caplog.set_level(logging.INFO, "jaxneuro")
    assert kernels(network(Mixed())) == 4
    (line,) = caplog.messages
    assert "Mixed" in line
    assert "reduce_sum" in line
