"""A group in one launch: interpreted against the plain step, and lowered for CUDA."""

import functools
import logging

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network import runtime
from jaxneuro._network.moved import fused_move, plain_move
from jaxneuro._run import scan as scan_file
from jaxneuro.release import TsodyksMarkramState
from tests import zoo
from tests.kernels.test_fused_scan import check
from tests.kernels.test_gpu import KERNEL, for_cuda

N, STEPS = 130, 40
RULE = jn.connectivity.FixedProbability(0.2)
CURRENT = jn.synapses.Exponential(3.0)
NMDA = jn.synapses.NMDA()


@pytest.fixture(autouse=True)
def one_step_at_a_time(monkeypatch):
    """So that launches of a step can be counted where the tests run on a GPU."""
    monkeypatch.setattr(scan_file, "TOGETHER_ON_GPU", 1)


def network(
    neuron=None, synapse=CURRENT, weight=30.0, delay=0.3, release=None, on=(), dt=0.1, **how
):
    neuron = jn.neurons.LIF() if neuron is None else neuron
    release = jn.release.Spikes() if release is None else release
    wire = jn.Projection(
        *("E", "E", RULE), weight=weight, delay=delay, synapse=synapse, release=release
    )
    description = jn.Description([jn.Population("E", N, neuron)], [wire], stimuli=on)
    return jn.build(description, key=0, dt=dt, **how)


def spikes(stimulus, part="E", weight=200.0, **when):
    return jn.Stimulation(part, stimulus, weight=weight, synapse=CURRENT, **when)


def merged():
    """Two populations with different parameters in one group, and an input into one."""
    fast, slow = (jn.neurons.LIF(tau_m=tau) for tau in (8.0, 15.0))
    populations = [jn.Population("A", 70, fast), jn.Population("B", 66, slow)]
    wires = [
        jn.Projection("A", "B", RULE, weight=40.0, delay=0.5, synapse=CURRENT),
        jn.Projection("B", "A", RULE, weight=-40.0, delay=0.2, synapse=jn.synapses.Alpha(1.0)),
    ]
    on = [jn.Stimulation("A", jn.stimuli.Current(500.0), start=0.5, stop=3.0)]
    on += [spikes(jn.stimuli.Poisson(rate), name) for name, rate in (("A", 5e3), ("B", 9e3))]
    return jn.build(jn.Description(populations, wires, stimuli=on), key=0, dt=0.1)


def coupled():
    cell = jn.neurons.Izhikevich()
    lattice = jn.Coupling("E", "E", jn.connectivity.FixedProbability(0.05), weight=0.5)
    drive = jn.Stimulation("E", jn.stimuli.WhiteNoise(30.0, 10.0, 0.3))
    description = jn.Description(
        [jn.Population("E", N, cell)], couplings=[lattice], stimuli=[drive]
    )
    return jn.build(description, key=0, dt=0.1)


DRIVE = (jn.Stimulation("E", jn.stimuli.Current(3000.0)),)
NETWORKS = {
    "static": lambda: network(on=DRIVE),
    "one slot": lambda: network(delay=0.1, on=DRIVE),
    "deterministic": lambda: network(on=DRIVE, deterministic=True),
    "short-term plasticity": lambda: network(release=jn.release.TsodyksMarkram(), on=DRIVE),
    "quantal release": lambda: network(release=jn.release.QuantalRelease(), on=DRIVE),
    "NMDA": lambda: network(synapse=NMDA, weight=0.1, on=DRIVE),
    "Poisson": lambda: network(on=[spikes(jn.stimuli.Poisson(9e3))]),
    "Poisson, many a step": lambda: network(on=[spikes(jn.stimuli.Poisson(3e5), weight=9.0)]),
    "Gamma": lambda: network(on=[spikes(jn.stimuli.Gamma(2e3, 3), weight=900.0)]),
    "noise": lambda: network(
        on=[jn.Stimulation("E", jn.stimuli.OrnsteinUhlenbeck(3000.0, 200.0, 3.0))]
    ),
    "some neurons driven": lambda: network(
        on=[*DRIVE, spikes(jn.stimuli.Poisson(9e3), jn.Part("E", range(9)))]
    ),
    "spikes at given times": lambda: network(
        on=[*DRIVE, spikes(jn.stimuli.SpikeTimes([0.3, 2.0]), weight=900.0)]
    ),
    "merged": merged,
    "escape": lambda: network(jn.neurons.EscapeRateLIF(), on=DRIVE),
    "gap junctions": coupled,
}


@functools.partial(jax.jit, static_argnames="fused")
def run(net, state, inputs, fused):
    """The state after a scan, and its spikes."""
    del fused  # another program
    state, recording = jn.scan(net, state, STEPS, inputs)
    return state, recording.spikes.bits


def both(monkeypatch, net, inputs=None):
    args = net, net.init(3), inputs or {}
    want = run(*args, fused=False)
    monkeypatch.setattr(runtime, "move", functools.partial(fused_move, interpret=True))
    return run(*args, fused=True), want


def joined(x):
    """Resources with the digits below those of their dtype, which XLA drops when it interprets."""
    if not isinstance(x, TsodyksMarkramState):
        return x
    whole = [np.float64(a) + np.float64(b) for a, b in ((x.x, x.x_low), (x.u, x.u_low))]
    return x._replace(x=whole[0], u=whole[1], x_low=(), u_low=())


@pytest.mark.slow(but=["NMDA"])
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_equals_the_plain_step(name, monkeypatch):
    got, want = both(monkeypatch, NETWORKS[name]())
    is_leaf = lambda x: isinstance(x, TsodyksMarkramState)  # noqa: E731
    check(*(jax.tree.map(joined, x, is_leaf=is_leaf) for x in (got, want)))
    assert np.bitwise_count(np.asarray(want[1])).sum() > 10


@pytest.mark.slow(but=["shape0"])
@pytest.mark.parametrize("shape", [(), (N,)])
def test_inputs_of_a_run(shape, monkeypatch):
    x = np.random.default_rng(1).uniform(300.0, 900.0, (STEPS, *shape)).astype(np.float32)
    check(*both(monkeypatch, network(), {"E": x}))


def test_what_is_known_before_the_loop(monkeypatch):
    """The launch reads it from where a ring would be."""
    cells = [
        jn.Population("in", 40, jn.neurons.Relay()),
        jn.Population("E", N, jn.neurons.LIF(), {"v": jn.Uniform(-70.0, -55.0)}),
    ]
    link = jn.Projection(
        *("in", "E", jn.connectivity.AllToAll()),
        weight=jn.Uniform(100.0, 400.0),
        delay=0.3,
        synapse=jn.synapses.Exponential(3.0),
    )
    net = jn.build(jn.Description(cells, [link]), 0, 0.1)
    assert net.pathways[0].dense.given == "in"
    trains = np.random.default_rng(2).random((STEPS, 40)) < 0.1
    got, want = both(monkeypatch, net, {"in": trains})
    assert np.bitwise_count(np.asarray(want[1][0])).sum() > 10
    check(got, want)


def test_float64(monkeypatch, x64):
    got, want = both(monkeypatch, network(on=DRIVE, dtype=jnp.float64))
    assert want[0].groups[0].neurons.v.dtype == jnp.float64
    check(got, want, 1e-12)


def lowered(net):
    """Kernels in the loop of a scan for CUDA."""
    state = jax.eval_shape(net.init, 0)
    return for_cuda(lambda *x: jn.scan(*x, STEPS), net, state).count(KERNEL)


@pytest.mark.slow(but=["Gamma"])
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_delivery_and_group_are_a_launch_each(name, caplog):
    caplog.set_level(logging.INFO, "jaxneuro")
    assert lowered(NETWORKS[name]()) == 2
    assert not caplog.messages


def with_model(model):
    """A network with a neuron, a receptor or a release model of the zoo."""
    parts = {"neuron": jn.neurons.LIF(), "synapse": CURRENT, "release": jn.release.Spikes()}
    kinds = {"neuron": jn.Neuron, "synapse": jn.Synapse, "release": jn.Release}
    parts |= {name: model for name, kind in kinds.items() if isinstance(model, kind)}
    wire = {"weight": 1.0, "delay": 0.3, "synapse": jn.synapses.Delta()}
    cells = [jn.Population("A", N, parts["neuron"]), jn.Population("B", N, jn.neurons.LIF())]
    wires = [jn.Projection("A", "B", RULE, **wire | {"release": parts["release"]})]
    wires += [jn.Projection("B", "B", RULE, **wire | {"synapse": parts["synapse"]})]
    return jn.build(jn.Description(cells, wires), key=0, dt=zoo.setting(model).dt)


def fits(model):
    """Whether a model is one that a network can have here, and that acts neuron by neuron."""
    if isinstance(model, jn.Stimulus) or getattr(model, "surrogate", None) is not None:
        return False
    rates = isinstance(model, jn.Neuron) and "Rate" in type(model).__name__
    direct = isinstance(model, jn.synapses.Direct | jn.neurons.LeakyIntegrator)
    return not (rates or direct or getattr(model, "ports", ()))


@pytest.mark.slow
@pytest.mark.parametrize("name", [k for k, case in zoo.CASES.items() if fits(case.model)])
def test_every_model_goes_into_the_launch(name, caplog):
    caplog.set_level(logging.INFO, "jaxneuro")
    net = with_model(zoo.CASES[name].model)
    assert lowered(net) == len(net.groups) + len(net.pathways)
    assert not caplog.messages


class MeanField(jn.neurons.LIF):
    """Each neuron is pulled to the mean of all."""

    def step(self, state, drive, dt):
        pull = jn.Drive(current=jnp.mean(state.v) - state.v + drive.current)
        return super().step(state, pull, dt)


def test_neurons_that_look_at_each_other_are_left_to_xla(caplog):
    caplog.set_level(logging.INFO, "jaxneuro")
    assert lowered(network(MeanField())) == 1
    assert "reduce_sum" in caplog.text


def test_a_batch_is_a_launch_for_all():
    net = network(on=DRIVE)

    def one(tau, net, state):
        return jn.scan(net.set("E", tau_m=tau), state, STEPS)

    many = for_cuda(jax.vmap(one, (0, None, None)), jnp.full(3, 9.0), net, net.init(0))
    assert many.count(KERNEL) == 2


def test_on_a_cpu_the_plain_step_runs(monkeypatch):
    net = network(on=DRIVE)
    args = net, net.init(3), {}
    got = jax.jit(lambda *x: jn.scan(x[0], x[1], STEPS, x[2]))(*args)
    monkeypatch.setattr(runtime, "move", plain_move)
    want = jax.jit(lambda *x: jn.scan(x[0], x[1], STEPS, x[2]))(*args)
    jax.tree.map(np.testing.assert_array_equal, got, want)
