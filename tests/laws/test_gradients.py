"""Gradients through every model of the zoo."""

import dataclasses
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.zoo import CASES, NEURONS, cast, costly, init, inputs, is_number, ready, run, setting

N, STEPS = 16, 100
# Not what only spikes: counts have a law of their own, a drawn spike has no gradient.
ONLY_SPIKES = (jn.SpikeStimulus, jn.neurons.PoissonSource, jn.StochasticRelease)
WITH_NUMBERS = {
    k: c
    for k, c in CASES.items()
    if jax.tree.leaves(c.model) and not isinstance(c.model, ONLY_SPIKES)
}
# What runs as it was made: of a schedule no number is left.
DRAWN = {
    k: c
    for k, c in CASES.items()
    if isinstance(c.model, jn.SpikeStimulus) and type(ready(c.model, N)) is type(c.model)
}
SURROGATES = {k: c for k, c in NEURONS.items() if getattr(c.model, "surrogate", None) is not None}


@pytest.fixture(scope="module", autouse=True)
def freed():
    """Derivatives are the largest programs, and no other file runs them."""
    yield
    jax.clear_caches()


every_case = pytest.mark.parametrize("case", WITH_NUMBERS.values(), ids=WITH_NUMBERS.keys())
every_drawn = pytest.mark.parametrize("case", DRAWN.values(), ids=DRAWN.keys())
every_surrogate = pytest.mark.parametrize("case", SURROGATES.values(), ids=SURROGATES.keys())


def split(model, calm=None):
    """The numbers of a model that is ready, and the rest: steps counted in integers."""
    if hasattr(model, "v_th") and calm is None:  # out of reach
        far = jax.device_put(np.full_like(model.v_th, 1e6))
        model = dataclasses.replace(model, v_th=far)
    return eqx.partition(ready(model, N), eqx.is_inexact_array)


def smooth_loss(numbers, rest, xs):
    """Of everything but the spikes, with weights that tell the neurons apart; and their number."""
    model = eqx.combine(numbers, rest)
    out = run(model, init(model, N), xs)[1]
    parts = [x for name, x in out.items() if name != "spikes"]
    loss = sum(
        jnp.mean(x * jnp.cos(jnp.arange(x.size, dtype=x.dtype).reshape(x.shape))) + jnp.mean(x)
        for x in parts
    )
    return loss, jnp.count_nonzero(out.get("spikes", False))


def all_counts(numbers, rest, xs):
    model = eqx.combine(numbers, rest)
    return jnp.sum(run(model, init(model, N), xs)[1]["counts"])


def spikes_weighed(model, current, xs):
    spikes = run(model, init(model, N), xs._replace(current=current))[1]["spikes"]
    return jnp.sum(spikes * jnp.arange(1.0, N + 1.0))


count_slopes = jax.jit(jax.grad(all_counts))
spike_slopes = jax.jit(jax.value_and_grad(spikes_weighed, (0, 1)))
loss_and_slopes = jax.jit(jax.value_and_grad(smooth_loss, has_aux=True))
batched_slopes = jax.jit(jax.vmap(jax.grad(smooth_loss, has_aux=True), in_axes=(0, None, None)))


@pytest.mark.slow(but=["LIF, surrogate", "IafPscExp, surrogate"])
@every_surrogate
def test_through_spikes_with_a_surrogate(case):
    xs = inputs(case.model, 300, n=N)
    value, (by_model, by_current) = spike_slopes(case.model, xs.current, xs)
    assert value > 0
    without = "t_ref", "surrogate"  # whole steps; and a surrogate's values do not reach the spikes
    if isinstance(case.model, jn.neurons.Izhikevich):
        without += ("v_th",)  # the spike counts at the onset of its upswing, not at its peak
    leaves, _ = jax.tree.flatten_with_path(by_model)
    for path, slope in leaves:
        label = jax.tree_util.keystr(path)
        assert np.isfinite(slope), label
        assert any(name in label for name in without) or slope != 0, label
    assert np.isfinite(by_current).all()
    assert (np.asarray(by_current) != 0).mean() > 0.1


def of_case(case, dtype):
    """(numbers, rest, inputs) of a model that does not spike."""
    scale = 1.0 if case.calm is None else case.calm
    xs = inputs(case.model, STEPS, n=N, scale=scale)
    return *split(cast(case.model, dtype), case.calm), xs


@costly
@every_case
def test_equal_central_differences_where_nothing_spikes(case, x64):
    numbers, rest, xs = of_case(case, jnp.float64)
    (_, spikes), slopes = loss_and_slopes(numbers, rest, xs)
    assert spikes == 0
    leaves, tree = jax.tree.flatten_with_path(numbers)
    leaves = [(path, np.asarray(x)) for path, x in leaves]
    for (path, x), slope in zip(leaves, map(np.asarray, jax.tree.leaves(slopes))):
        label = jax.tree_util.keystr(path)
        if any(re.search(rf"\.{name}\b", label) for name in (*case.silent, "interval")):
            assert (slope == 0).all(), label  # without a spike nothing depends on them; whole steps
            continue
        if "frequency" in label:
            continue  # the phase has 32 bits, which small differences see: tests/numerics tests it
        width = 1e-5 * np.abs(x)
        shifted = []
        for sign in (1.0, -1.0):
            moved = [y + sign * width if p == path else y for p, y in leaves]
            (value, _), _ = loss_and_slopes(jax.tree.unflatten(tree, moved), rest, xs)
            shifted.append(float(value))
        # Of a table the derivative along all its entries.
        along = np.sum(slope * 2 * width)
        rounding = 2e-15 * abs(shifted[0])
        np.testing.assert_allclose(along, shifted[0] - shifted[1], rtol=1e-6, atol=rounding)
        assert (slope != 0).all(), label


@costly
@every_case
def test_by_vmap_as_well(case):
    """Of float32: each of a batch is what float64 gives alone."""
    numbers, rest, xs = of_case(case, jnp.float32)
    factors = np.asarray([0.9, 1.0, 1.1], np.float32)
    many = jax.tree.map(lambda x: np.multiply.outer(factors, x), numbers)
    slopes, _ = batched_slopes(many, rest, xs)
    with jax.enable_x64(True):
        _, rest, xs = of_case(case, jnp.float64)
        for k in range(3):
            one = jax.tree.map(lambda x, k=k: np.asarray(x[k], np.float64), many)
            _, alone = loss_and_slopes(one, rest, xs)
            for x, y in zip(jax.tree.leaves(slopes), jax.tree.leaves(alone)):
                np.testing.assert_allclose(x[k], y, rtol=1e-4, atol=1e-5)


@pytest.mark.slow(but=["Gamma"])
@every_drawn
def test_the_number_of_spikes_has_no_slope(case):
    """0, and never NaN: a count jumps where a probability passes a word."""
    slopes = count_slopes(*split(case.model), inputs(case.model, 50, n=N))
    assert all((np.asarray(x) == 0).all() for x in jax.tree.leaves(slopes))


# --- Through whole networks: a batch of runs, and the derivative of its sum.

CONNECTED = {
    k: c for k, c in CASES.items() if isinstance(c.model, jn.Neuron | jn.Synapse | jn.Release)
}
GIVEN_SPIKES = jn.neurons.Relay, jn.neurons.PoissonSource  # nothing is connected to them
EACH = jn.connectivity.AllToAll()
CURRENT = jn.synapses.Exponential(5.0)


def trained(case):
    """A network as those that are trained: spikes, the model between two weights, a readout."""
    model, dt = case.model, setting(case.model).dt
    spiking = jn.neurons.LIF(t_ref=0.0, surrogate=jn.surrogates.FastSigmoid())
    start = {"v": np.float32([-50.001, -50.02, -50.1])}
    populations = [
        jn.Population("source", 3, spiking, start),
        jn.Population("between", 2, model if isinstance(model, jn.Neuron) else spiking),
        jn.Population("readout", 2, jn.neurons.LeakyIntegrator()),
    ]
    first, how = CURRENT, {"weight": 1.0, "delay": dt, "name": "first"}
    graded = {}
    if isinstance(model, jn.Neuron):
        first = jn.synapses.Direct(model.ports[0]) if model.ports else CURRENT
        graded = {} if case.spiking else {"release": jn.release.Graded()}
    elif isinstance(model, jn.Release):
        how["release"] = model
    else:
        first = jn.synapses.Into(model, model.ports[0]) if model.ports else model
        if isinstance(model, jn.synapses.Direct):
            populations[1] = jn.Population("between", 2, jn.neurons.IafPscExp())
    ends = "source", "between", EACH
    if setting(model).concentrations:
        cleared = jn.release.ClearedTransmitter()
        projections = []
        couplings = [jn.Coupling(*ends, weight=1.0, synapse=first, release=cleared, name="first")]
    else:
        projections = [jn.Projection(*ends, synapse=first, **how)]
        couplings = []
    if isinstance(model, GIVEN_SPIKES):
        projections = []
    last = jn.Projection(
        *("between", "readout", EACH), weight=1.0, delay=dt, synapse=CURRENT, name="last", **graded
    )
    drive = jn.Stimulation("source", jn.stimuli.Current(2000.0))
    description = jn.Description(populations, [*projections, last], [drive], couplings=couplings)
    return jn.build(description, 0, dt)


@jax.jit
def slopes_of_runs(net, weights):
    """Of each run in a batch: of the sum of the batch, and of each alone."""

    def loss(weights):
        mine = net
        for name, weight in weights.items():
            mine = mine.set(name, weight=weight)
        state, _ = jn.scan(mine, mine.init(0), 20)
        cells = [(group.neurons, group.receptors) for group in state.groups]
        return sum(jnp.mean(x) for x in jax.tree.leaves(cells) if is_number(x))

    of_sum = jax.grad(lambda weights: jnp.sum(jax.vmap(loss)(weights)))(weights)
    return of_sum, jax.vmap(jax.grad(loss))(weights)


@pytest.mark.slow(but=["LeakyIntegrator", "NMDA", "TsodyksMarkram"])
@pytest.mark.parametrize("case", CONNECTED.values(), ids=CONNECTED.keys())
def test_of_a_batch_of_runs_as_of_each(case):
    net = trained(case)
    first = np.float32([1.0, 2.0])
    first *= 0.1 if setting(case.model).concentrations else 1.0  # at 1 receptors are saturated
    weights = {"first": first, "last": np.float32([0.5, 1.5])}
    weights = {name: w for name, w in weights.items() if name in net.names}
    of_sum, alone = slopes_of_runs(net, weights)
    silent = isinstance(case.model, GIVEN_SPIKES)  # in so few steps
    assert silent or any(np.all(slope) for slope in of_sum.values())
    for name, slope in of_sum.items():
        np.testing.assert_allclose(slope, alone[name], rtol=1e-5, atol=1e-7, err_msg=name)
