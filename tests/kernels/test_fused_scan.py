"""Many steps in one launch: interpreted against the plain loop, and lowered for CUDA."""

import functools
import logging
import sys

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels import fused_scan as elementwise
from jaxneuro._kernels.call import for_gpu_kernel, materialize
from jaxneuro._kernels.fused_scan import Elementwise, NotFusedError
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._run import one_launch as _one_launch
from jaxneuro._run.chunks import _chunk
from tests import zoo
from tests.kernels.test_gpu import KERNEL, for_cuda

STEPS, DT = 60, 0.05
PA = 600.0  # of a current at which integrate-and-fire neurons spike often
MODELS = {
    "LIF": (jn.neurons.LIF(t_ref=0.3, tau_m=3.0), 5 * PA),
    "LIF, surrogate": (jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid()), 20 * PA),
    "Izhikevich": (jn.neurons.Izhikevich(), 20.0),
    "HodgkinHuxley": (jn.neurons.HodgkinHuxley(), 60.0),
    "HodgkinHuxley, exponential Euler": (
        jn.neurons.HodgkinHuxley(method=jn.integrators.exponential_euler),
        60.0,
    ),
    "EscapeRateLIF": (jn.neurons.EscapeRateLIF(), 5 * PA),
}


def network(model, n=300, stimuli=(), dt=DT, dtype=jnp.float32):
    description = jn.Description([jn.Population("E", n, model)], stimuli=stimuli)
    return jn.build(description, key=0, dt=dt, dtype=dtype)


def current(size, shape):
    drawn = np.random.default_rng(1).uniform(0.3, 1.5, (STEPS, *shape))
    return (size * drawn).astype(np.float64 if jax.config.jax_enable_x64 else np.float32)


@functools.partial(jax.jit, static_argnames=("record", "steps"))
def loop(net, state, inputs, record, steps=STEPS):
    """The recording of the plain loop, with the state, as `fused` gives them."""
    state, r = jn.scan(net, state, steps, inputs, record)
    bits = () if r.spikes is None else r.spikes.bits
    traces = {name: dict(variables) for name, variables in r.traces.items()}
    return state, bits, dict(r.counts), traces


def one_launch(net, state, inputs, record, steps=STEPS):
    options = {"lanes": 128, "interpret": True}
    record = record.named(net, state)
    state, out = _one_launch.fused(net, net.expand(), state, inputs, record, steps, **options)
    (bits, counts), sampled, _ = out
    return state, bits, counts, sampled.get("traces", {})


launch = jax.jit(one_launch, static_argnames=("record", "steps"))


def apart(tree):
    """Without the masks of what has a derivative, and these."""
    released = lambda x: isinstance(x, SpikeOutput)  # noqa: E731
    masks = [x.counted for x in jax.tree.leaves(tree, is_leaf=released) if released(x)]
    rest = lambda x: x._replace(counted=None) if released(x) else x  # noqa: E731
    return jax.tree.map(rest, tree, is_leaf=released), [x for x in masks if x is not None]


def check(got, want, bound=2e-5):
    """Equal in every bit but those of floats, which are near: spikes are equal.

    In one launch all spikes may have a derivative, which is more than those that have one.
    """
    (got, counted), (want, fewer) = apart(got), apart(want)
    for a, b in zip(counted, fewer, strict=True):
        assert not (np.asarray(b) & ~np.asarray(a)).any()
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if jnp.issubdtype(a.dtype, jnp.floating):
            scale = np.max(np.abs(b), initial=1e-30)
            np.testing.assert_allclose(a, b, rtol=0, atol=bound * scale)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@hypothesis.given(
    name=st.sampled_from(sorted(MODELS)),
    n=st.sampled_from([1, 127, 128, 300]),
    shape=st.sampled_from(["none", "steps", "steps, n"]),
    every=st.sampled_from([1, 6, STEPS]),
    own=st.booleans(),
)
@hypothesis.settings(max_examples=3)
@hypothesis.example(name="HodgkinHuxley", n=300, shape="steps, n", every=6, own=True)
@hypothesis.example(name="EscapeRateLIF", n=127, shape="steps", every=1, own=False)
def test_equals_the_loop(name, n, shape, every, own):
    model, size = MODELS[name]
    if own:  # one number per neuron
        name = "c_m" if hasattr(model, "c_m") else "a"
        factors = np.linspace(0.9, 1.1, n, dtype=np.float32)
        values = jax.device_put(factors * np.asarray(getattr(model, name)))
        model = eqx.tree_at(lambda m: getattr(m, name), model, values)
    net = network(model, n, [jn.Stimulation("E", jn.stimuli.Current(0.2 * size))])
    state = net.init(3)
    inputs = {} if shape == "none" else {"E": current(size, (n,) if "n" in shape else ())}
    record = jn.Record(variables={"E": ...}, interval=every * DT, rates=True)
    check(launch(net, state, inputs, record), loop(net, state, inputs, record))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_models_of_these_tests_spike(name):
    model, size = MODELS[name]
    net = network(model, 9)
    record = jn.Record(rates=True)
    out = loop(net, net.init(3), {"E": current(size, (9,))}, record)
    assert 0 < int(np.sum(out[2]["E"])) < 9 * STEPS


@pytest.mark.slow
def test_float64_equals_the_loop(x64):
    net = network(jn.neurons.HodgkinHuxley(), 40, dtype=jnp.float64)
    state = net.init(0)
    inputs = {"E": current(60.0, (40,))}
    record = jn.Record(variables={"E": ...}, interval=3 * DT)
    assert net.dtype == jnp.float64
    check(launch(net, state, inputs, record), loop(net, state, inputs, record), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LIF", "EscapeRateLIF"])
def test_two_walks_are_one_of_their_length(name):
    model, size = MODELS[name]
    net = network(model, 130)
    state, x, record = net.init(0), current(size, (130,)), jn.Record(variables={"E": "v"})
    whole = launch(net, state, {"E": x}, record)
    half = STEPS // 2
    first = launch(net, state, {"E": x[:half]}, record, half)
    second = launch(net, first[0], {"E": x[half:]}, record, half)
    jax.tree.map(np.testing.assert_array_equal, second[0], whole[0])
    joined = jax.tree.map(lambda *x: np.concatenate(x), first[1:], second[1:])
    jax.tree.map(np.testing.assert_array_equal, joined, whole[1:])


def two_populations():
    lif, slow = (jn.neurons.LIF(tau_m=tau, t_ref=0.3) for tau in (3.0, 6.0))
    populations = [jn.Population("A", 100, lif), jn.Population("B", 50, slow)]
    on = [jn.Stimulation("A", jn.stimuli.Current(5 * PA))]
    return jn.build(jn.Description(populations), key=0, dt=DT), on


@pytest.mark.slow
def test_chosen_neurons_of_two_populations():
    net, _ = two_populations()
    state = net.init(0)
    assert len(net.groups) == 1
    v = jax.device_put(np.linspace(-70.0, -40.0, 150, dtype=np.float32))
    (group,) = state.groups
    state = state._replace(groups=(group._replace(neurons=group.neurons._replace(v=v)),))
    which = {"B": [49, 3, 7], "A": slice(90, None)}
    record = jn.Record(
        variables={"A": "v", "B": ("v", "refractory")}, neurons=which, interval=4 * DT, spikes=False
    )
    got, want = launch(net, state, {}, record), loop(net, state, {}, record)
    check(got, want)
    assert np.any(got[3]["B"]["refractory"])


@pytest.mark.slow
def test_stimuli_that_draw_and_windows_and_functions_of_time():
    noise = jn.stimuli.OrnsteinUhlenbeck(mean=3000.0, sd=900.0, tau=2.0)
    wave = jn.stimuli.Current(lambda t: 400.0 * jnp.sin(t))
    on = [jn.Stimulation("E", noise), jn.Stimulation("E", wave, start=0.5, stop=2.0)]
    net = network(MODELS["LIF"][0], 130, on)
    state, record = net.init(0), jn.Record(variables={"E": "v"})
    check(launch(net, state, {}, record), loop(net, state, {}, record))


def test_a_batch_is_its_runs_one_by_one():
    net = network(MODELS["LIF"][0], 130)
    taus, record = np.float32([2.0, 3.0, 5.0]), jn.Record(variables={"E": "v"})
    x = {"E": current(5 * PA, ())}

    def one(tau, net, state):
        return one_launch(net.set("E", tau_m=tau), state, x, record)

    many = jax.jit(jax.vmap(one, (0, None, None)))(taus, net, net.init(0))
    many = jax.tree.map(np.asarray, many)
    for k, tau in enumerate(taus):
        want = loop(net.set("E", tau_m=tau), net.init(0), x, record)
        check(jax.tree.map(lambda y, k=k: y[k], many), want)


def run(net, state, inputs, record=None):
    return jn.scan(net, state, STEPS, inputs, record)


def lowered(net, inputs=None, record=None):
    state = jax.eval_shape(net.init, 0)
    return for_cuda(lambda *x: run(x[0], x[1], x[2], record), net, state, inputs or {})


@pytest.mark.slow(but=["LIF", "HodgkinHuxley"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(k, marks=[pytest.mark.science] * ("," in k)) for k in sorted(zoo.NEURONS)],
)
def test_every_neuron_lowers_for_cuda_to_one_launch(name):
    model = zoo.NEURONS[name].model
    net = network(model, 200, dt=zoo.setting(model).dt)
    driven = not isinstance(model, jn.neurons.PoissonSource | jn.neurons.Relay)
    text = lowered(net, {"E": np.ones((STEPS, 200), np.float32)} if driven else {})
    assert text.count(KERNEL) == 1
    assert "stablehlo.while" not in text


def test_float64_lowers_for_cuda_to_one_launch(x64):
    text = lowered(network(jn.neurons.HodgkinHuxley(), dtype=jnp.float64))
    assert (text.count(KERNEL), "stablehlo.while" in text) == (1, False)


@pytest.mark.slow(but=["1"])
@pytest.mark.parametrize("every", [1, 10])
def test_a_chunk_of_simulate_is_one_launch(every):
    net = network(
        jn.neurons.HodgkinHuxley(), stimuli=[jn.Stimulation("E", jn.stimuli.Current(9.0))]
    )
    record = jn.Record(variables={"E": "v"}, interval=every * DT, rates=True)
    text = for_cuda(lambda net, state: _chunk(net, state, {}, None, 1000, record), net, net.init(0))
    assert (text.count(KERNEL), "stablehlo.while" in text) == (1, False)


def test_a_batch_lowers_for_cuda_to_one_launch():
    net = network(jn.neurons.LIF())

    def one(tau, net, state):
        return run(net.set("E", tau_m=tau), state, {})

    batch = jax.vmap(jax.vmap(one, (0, None, None)), (0, None, None))
    assert for_cuda(batch, jnp.full((2, 3), 9.0), net, net.init(0)).count(KERNEL) == 1


def v_sum(x, net, state):
    traces = run(net, state, {"E": x}, jn.Record(variables={"E": "v"}))[1].traces
    return jnp.sum(traces["E"]["v"] ** 2)


@pytest.mark.slow
def test_derivatives_are_those_of_the_loop_in_every_bit(monkeypatch):
    model, size = MODELS["LIF, surrogate"]
    net, x = network(model, 9), current(size, (9,))
    args = x, net, net.init(0)

    def derivatives():
        forward = jax.jit(lambda x, net, state: jax.jvp(lambda x: v_sum(x, net, state), (x,), (x,)))
        return jax.jit(jax.grad(v_sum))(*args), forward(*args)

    now = derivatives()
    monkeypatch.setattr(_one_launch, "fusable", lambda *_: False)
    jax.tree.map(np.testing.assert_array_equal, now, derivatives())
    assert np.abs(now[0]).max() > 0


def test_derivatives_lower_for_cuda_as_loops():
    net = network(jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid()))
    text = for_cuda(jax.grad(v_sum), jnp.ones(STEPS), net, net.init(0))
    assert (text.count(KERNEL), "stablehlo.while" in text) == (0, True)


@pytest.mark.slow
def test_on_a_cpu_nothing_changes_and_the_kernel_is_not_met(monkeypatch):
    net = network(jn.neurons.HodgkinHuxley(), 40)
    args = net, net.init(0), {"E": current(60.0, (40,))}
    record = jn.Record(variables={"E": ...}, interval=3 * DT)
    with monkeypatch.context() as m:
        m.setattr(_one_launch, "fusable", lambda *_: False)
        want = jax.jit(lambda *x: run(x[0], x[1], x[2], record))(*args)
    monkeypatch.setitem(sys.modules, "jaxneuro._kernels.gpu_fused_scan", None)  # cannot be imported
    got = jax.jit(lambda *x: run(x[0], x[1], x[2], record))(*args)
    jax.tree.map(np.testing.assert_array_equal, got, want)


class MeanField(jn.neurons.LIF):
    """Each neuron is pulled to the mean of all."""

    def step(self, state, drive, dt):
        pull = jn.Drive(current=jnp.mean(state.v) - state.v)
        return super().step(state, pull, dt)


def test_neurons_that_look_at_each_other_stay_a_loop(caplog):
    caplog.set_level(logging.INFO, "jaxneuro")
    text = lowered(network(MeanField()))
    assert (text.count(KERNEL), "stablehlo.while" in text) == (0, True)
    assert len(caplog.messages) == 2  # for the walk, and for each step
    assert all("reduce_sum, which is not known" in line for line in caplog.messages)


def not_walked():
    lif, zero = jn.neurons.LIF(), jn.stimuli.Current(0.0)
    v, n = {"E": "v"}, jn.Part("E", [1, 2])
    rule, synapse = jn.connectivity.FixedProbability(0.1), jn.synapses.Delta()
    poisson = jn.Stimulation("E", jn.stimuli.Poisson(9.0), weight=1.0, synapse=synapse)
    wire = jn.Projection("E", "E", rule, weight=1.0, delay=1.0, synapse=synapse)
    wired = jn.build(jn.Description([jn.Population("E", 9, lif)], [wire]), key=0, dt=DT)
    return {
        "connected": (wired, None),
        "spikes from outside": (network(lif, 9, [poisson]), None),
        "a part driven": (network(lif, 9, [jn.Stimulation(n, zero)]), None),
        "means": (network(lif, 9), jn.Record(means=v)),
        "a function": (network(lif, 9), jn.Record(function=lambda state, output: state.step)),
    }


@pytest.mark.slow(but=["connected"])
@pytest.mark.parametrize("why", not_walked())
def test_what_is_not_walked_stays_a_loop(why):
    net, record = not_walked()[why]
    text = lowered(net, record=record)
    assert "stablehlo.while" in text


@pytest.mark.parametrize("method", list(jax.lax.RoundingMethod))
def test_rounding_by_floor(method):
    halves = np.arange(-9, 10) / 2
    x = np.concatenate([halves, np.nextafter(halves, 9.0), [2.0**23 + 1, -1e30, np.inf]])
    x = jnp.asarray(x, jnp.float32)
    got = elementwise._rounded(x, method)
    np.testing.assert_array_equal(got, jax.lax.round(x, method))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(jax.lax.round(x, method)))


def test_what_does_not_change_is_computed_before_the_loop():
    a = jax.ShapeDtypeStruct((8,), jnp.float32)
    plan = Elementwise(lambda tau, v: [v * jnp.exp(-1.0 / tau)], [a], [a], 8)
    assert [e.primitive.name for e in plan.equations[0]][-1] == "exp"
    assert [e.primitive.name for e in plan.equations[1]] == ["mul"]
    tau, v = jnp.full(8, 3.0), jnp.arange(8.0)
    np.testing.assert_allclose(plan.after(plan.before([tau]), [v])[0], v * np.exp(-1 / 3), 1e-6)


@pytest.mark.parametrize(
    "f", [jnp.cumsum, jnp.sort, jnp.flip, lambda v: v[jnp.arange(8)], lambda v: v + np.arange(8.0)]
)
def test_what_mixes_neurons_is_refused(f):
    a = jax.ShapeDtypeStruct((8,), jnp.float32)
    with pytest.raises(NotFusedError, match="its step has"):
        Elementwise(lambda v: [f(v)], [], [a], 8)


def test_nothing_is_materialized_inside():
    x = jnp.ones(3)
    traced = lambda: str(jax.make_jaxpr(lambda x: materialize((x,)))(x))  # noqa: E731
    with for_gpu_kernel():
        assert "custom_jvp" not in traced()
