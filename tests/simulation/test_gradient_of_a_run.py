"""The gradient of `scan`, by events and in pieces: JAX's own of single steps, and one by hand."""

import dataclasses
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._run.gradient import piece_length
from jaxneuro.surrogates import FastSigmoid
from tests.oracle.gradients import two_layers
from tests.refusing import assert_refused

STEPS, DT = 60, 0.1
# What may differ between networks: weights and delays of the synapses, what a release makes of
# spikes, what else acts on them.
FORMS = {
    "a number per projection": {},
    "delays of one step": {"delay": DT},
    "weights per synapse": {"weight": jn.Uniform(20.0, 60.0)},
    "bfloat16": {"weight": jn.Uniform(20.0, 60.0), "weights": jnp.bfloat16},
    "several delays": {"weight": jn.Uniform(20.0, 60.0), "delay": jn.Uniform(0.3, 1.5)},
    "drawn rows": {"stored": False, "delay": jn.Uniform(0.3, 1.5)},
    "a release": {"release": jn.release.TsodyksMarkram(), "weight": jn.Uniform(20.0, 60.0)},
    "a modulator": {"weight": jn.Uniform(20.0, 60.0), "modulator": True},
    "a coupling": {"coupling": True},
}


SLOPE = FastSigmoid(0.15)
GLIF = jn.neurons.GLIF(surrogate=SLOPE)


def network(form=None, surrogate=SLOPE, dtype=jnp.float64):
    """Two populations onto each other, by several projections of one pathway."""
    form = {"weight": 40.0, "delay": 0.5, "stored": True, **(form or {})}
    rule = jn.connectivity.FixedProbability(0.4, stored=form.pop("stored"))
    modulator, coupling = form.pop("modulator", False), form.pop("coupling", False)
    weights = form.pop("weights", None)
    cells = form.pop("neurons", jn.neurons.LIF(t_ref=1.0, surrogate=surrogate))
    synapse, other = jn.synapses.Exponential(3.0), jn.synapses.ExponentialConductance(4.0, -80.0)
    projections = [
        jn.Projection("A", "A", rule, synapse=synapse, **form),
        jn.Projection("A", "B", rule, synapse=synapse, **form),
        jn.Projection("B", "A", rule, weight=3.0, delay=0.8, synapse=other),
    ]
    more = {}
    if modulator:
        scales = {"A->A": {"gain": 0.5}, "A->B": {"gain": -0.2}}
        more["modulators"] = [jn.Modulator("m", tau=20.0, scales=scales, source="B")]
    if coupling:
        pairs = jn.connectivity.FixedProbability(0.3, autapses=False)
        more["couplings"] = [jn.Coupling("B", "B", pairs, weight=2.0)]
    populations = [
        jn.Population("A", 30, cells, {"v": jn.Uniform(-70.0, -54.0)}),
        jn.Population("B", 20, cells, {"v": jn.Uniform(-70.0, -54.0)}),
    ]
    stimuli = [jn.Stimulation(name, jn.stimuli.Current(500.0)) for name in "AB"]
    description = jn.Description(populations, projections, stimuli, **more)
    return jn.build(description, 2, DT, dtype, weights=weights)


def by_steps(net, state, inputs):
    """Rates and voltages as `scan` has them, in a loop that JAX differentiates step by step."""
    runtime = net.expand()

    def step(state, now):
        state, output = runtime.step(state, now)
        return state, output.spikes["A"].sum()

    return jax.lax.scan(step, state, inputs)


def by_events(net, state, inputs, **how):
    record = jn.Record(spikes=False, rates=True)
    state, recording = jn.scan(net, state, STEPS, inputs, record, **how)
    return state, recording.counts["A"]


def parameters(net):
    return {
        "weights": [p.weights for p in net.pathways],
        "weight": [p.weight for p in net.pathways],
        "gain": [p.gain for p in net.pathways],
        "tau_m": jnp.asarray(10.0, net.dtype),
        "current": jnp.linspace(0.0, 100.0, STEPS, dtype=net.dtype),
        "v": jnp.zeros(net.groups[0].n, net.dtype),
    }


def loss_by(run, net):
    """A loss of spikes, voltages and what has not arrived yet, by all that can be trained."""

    def loss(params, net, key=3):
        places = lambda n: [  # noqa: E731
            x for p in n.pathways for x in (p.weights, p.weight, p.gain)
        ]
        new = [x for k in range(len(net.pathways)) for x in _of(params, k)]
        net = eqx.tree_at(places, net, new).set("A", tau_m=params["tau_m"])
        state = net.init(key)
        group = state.groups[0]
        moved = group.neurons._replace(v=group.neurons.v + params["v"])
        state = state._replace(groups=(group._replace(neurons=moved), *state.groups[1:]))
        state, counts = run(net, state, {"A": params["current"]})
        waiting = [jnp.sum(g.ring * like(g.ring, jnp.cos)) for g in state.groups]
        late = jnp.sum(counts * like(counts, lambda x: x))
        return late + jnp.mean(state.groups[0].neurons.v) + sum(waiting)

    return loss


def like(x, f):
    """f of the number of each entry, of the shape and dtype of x."""
    return f(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape)


def _of(params, k):
    return params["weights"][k], params["weight"][k], params["gain"][k]


def assert_close(got, want, rtol):
    """Every array to a part of its largest number; and that there is something to compare."""
    for (path, a), b in zip(jax.tree.leaves_with_path(got), jax.tree.leaves(want), strict=True):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if b.size:
            tolerance = rtol * np.abs(b).max()
            np.testing.assert_allclose(a, b, rtol=0, atol=tolerance, err_msg=str(path))
    assert any(np.abs(x).max() > 0 for x in jax.tree.leaves(want) if x.size)


@pytest.mark.slow(but=["several delays", "a release"])
@pytest.mark.parametrize("form", FORMS)
def test_it_is_that_of_single_steps(form, x64):
    net = network(FORMS[form])
    params = parameters(net)
    of_events, of_steps = (
        jax.jit(jax.value_and_grad(loss_by(run, net))) for run in (by_events, by_steps)
    )
    (value, got), (same, want) = of_events(params, net), of_steps(params, net)
    assert value == same
    assert np.abs(np.asarray(want["v"])).max() > 0
    # Step by step, a cotangent is rounded to bfloat16 in every one of them.
    assert_close(got, want, 0.02 if form == "bfloat16" else 1e-12)


@pytest.mark.slow(but=["several delays"])
@pytest.mark.parametrize("form", FORMS)
def test_forward_mode_has_the_same_slope(form, x64):
    net = network(FORMS[form])
    loss, at = loss_by(by_events, net), parameters(net)
    key = jax.random.key(1)
    way = jax.tree.map(lambda x: jax.random.normal(key, x.shape, x.dtype), at)
    slope = jax.jit(lambda x: jax.jvp(lambda x: loss(x, net), (x,), (way,))[1])(at)
    gradient = jax.jit(jax.grad(loss))(at, net)
    assert jnp.abs(gradient["gain"][0]).max() > 0
    products = jax.tree.map(lambda g, d: jnp.sum(g * d).astype(float), gradient, way)
    rtol = 1e-2 if form == "bfloat16" else 1e-9
    np.testing.assert_allclose(slope, sum(jax.tree.leaves(products)), rtol=rtol)


def test_trials_are_added_up_where_they_share_their_weights(x64):
    """No array has the weights of every trial or step; the sum is that of the trials alone."""
    net = network(FORMS["weights per synapse"])
    loss, at, keys = loss_by(by_events, net), parameters(net), jnp.arange(40)

    def together(at):
        return jax.vmap(lambda key: loss(at, net, key))(keys).sum()

    lowered = jax.jit(jax.grad(together)).lower(at)
    sizes = {p.weights.size for p in net.pathways} - {0}
    assert sizes
    for size in sizes:
        assert not re.search(rf"\dx{size}x", lowered.as_text())
    got = lowered.compile()(at)
    alone = jax.jit(jax.grad(loss))
    each = [alone(at, net, int(key)) for key in keys]
    want = jax.tree.map(lambda *x: sum(x), *each)
    assert jnp.abs(want["weights"][0]).max() > 0
    assert_close(got, want, 1e-12)


def test_a_compiled_batch_is_differentiated(x64):
    """Of two groups one does not depend on the batch: its results have one all the same."""
    cells = [
        jn.Population("A", 5, jn.neurons.LIF(surrogate=SLOPE), {"v": jn.Uniform(-70.0, -54.0)}),
        jn.Population("B", 4, jn.neurons.ALIF(surrogate=SLOPE)),
    ]
    every, synapse = jn.connectivity.AllToAll(), jn.synapses.Delta()
    links = [jn.Projection("A", to, every, weight=1.0, delay=0.5, synapse=synapse) for to in "AB"]
    net = jn.build(jn.Description(cells, links), 0, DT, jnp.float64)

    def loss(gain):
        record = jn.Record(spikes=False, rates=True)
        changed = net.set("A->B", gain=gain)
        state, out = jn.scan(changed, net.init(0), 32, {"A": 900.0}, record)
        return state.groups[1].neurons.v.sum() + (out.counts["A"] * jnp.linspace(0, 1, 32)).sum()

    gains = jnp.linspace(0.5, 1.5, 3)
    want = jax.jit(jax.vmap(jax.grad(loss)))(gains)
    batch = jax.jit(jax.vmap(loss))
    assert np.abs(want).max() > 0
    np.testing.assert_allclose(jax.grad(lambda x: batch(x).sum())(gains), want, rtol=1e-12)


@pytest.mark.slow
def test_batches_share_one_table(x64):
    """The gradient of a mean over trials is the mean of the gradients, nested and under jit."""
    net = network(FORMS["several delays"])
    params, loss = parameters(net), loss_by(by_events, net)
    keys = jnp.arange(6)
    alone = jax.jit(jax.vmap(jax.grad(loss), (None, None, 0)))(params, net, keys)
    want = jax.tree.map(lambda x: x.mean(0), alone)
    trials = jax.vmap(loss, (None, None, 0))
    nested = jax.vmap(trials, (None, None, 0))
    mean = jax.jit(jax.grad(lambda p: trials(p, net, keys).mean()))(params)
    assert_close(mean, want, 1e-12)
    mean = jax.jit(jax.grad(lambda p: nested(p, net, keys.reshape(2, 3)).mean()))(params)
    assert_close(mean, want, 1e-12)
    one = jax.jit(jax.grad(loss))(params, net, keys[4])
    assert_close(jax.tree.map(lambda x: x[4], alone), one, 1e-12)


@pytest.mark.parametrize("steps", [60, pytest.param(53, marks=pytest.mark.slow)])
def test_kept_states_change_no_bit(steps):
    net = network(FORMS["several delays"], dtype=jnp.float32)
    record = jn.Record(spikes=False, rates=True)
    weights = [p.weights for p in net.pathways]

    def loss(weights, remat):
        changed = eqx.tree_at(lambda n: [p.weights for p in n.pathways], net, weights)
        state, recording = jn.scan(changed, net.init(1), steps, None, record, remat)
        counts = recording.counts["A"]
        return jnp.sum(counts * like(counts, lambda x: x)) + state.groups[0].neurons.v.sum()

    slopes = jax.jit(jax.grad(loss), static_argnums=1)
    whole, kept = slopes(weights, False), slopes(weights, True)
    for a, b in zip(whole, kept):
        np.testing.assert_array_equal(a, b)
    assert_close(slopes(weights, 4), whole, 1e-4)
    assert sum(np.abs(x).max() for x in whole) > 0


def test_what_is_recorded_in_pieces_is_what_is_recorded(x64):
    """Of samples, counts and statistics, in a gradient that keeps states."""
    net = network()
    record = jn.Record(
        rates=True, variables={"A": ["v"]}, interval=0.5, statistics=["A"], means={"A": ["v"]}
    )

    def recorded(gain, remat):
        _, recording = jn.scan(net.set("A->A", gain=gain), net.init(1), 55, None, record, remat)
        kept = recording.counts, recording.samples, recording.statistics, recording.spikes.bits
        return recording.counts["A"].sum(), kept

    _, want = jax.jit(recorded, static_argnums=1)(1.0, False)
    for remat in (False, True, 2):
        _, got = jax.jit(jax.grad(recorded, has_aux=True), static_argnums=1)(1.0, remat)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("turns", [1, 2, 7, 15, 16, 97, 101, 200, 10_000])
def test_pieces_are_about_as_many_as_their_steps(turns):
    length = piece_length(turns, None)
    if turns < 16:
        assert length == turns
    else:
        assert np.sqrt(turns) / 2 - 1 <= length <= 2 * np.sqrt(turns)
        assert turns % length == 0 or turns in (97, 101)
    assert -(-turns // piece_length(turns, 3)) == min(turns, 3)


@pytest.mark.parametrize("remat", [False, True, 1, 60])
@pytest.mark.parametrize("steps", [0, 1, 2, pytest.param(21, marks=pytest.mark.slow)])
def test_short_runs(steps, remat, x64):
    """Also pieces of one step, in which the longest delay is as long as all slots are."""
    net = network(FORMS["several delays"])
    state = net.init(3)
    every = SpikeOutput.of_spikes(jnp.ones(50), jnp.ones(50, bool))  # all spikes are on their way
    state = state._replace(groups=(state.groups[0]._replace(released=every),))

    def loss(weights, run):
        changed = eqx.tree_at(lambda n: [p.weights for p in n.pathways], net, weights)
        state_after = run(changed)
        return sum(jnp.sum(g.ring * like(g.ring, jnp.cos)) for g in state_after.groups)

    def stepped(net):
        runtime = net.expand()
        return jax.lax.scan(lambda s, _: (runtime.step(s)[0], None), state, length=steps)[0]

    weights = [p.weights for p in net.pathways]
    scanned = lambda net: jn.scan(net, state, steps, remat=remat)[0]  # noqa: E731
    got = jax.jit(jax.grad(lambda w: loss(w, scanned)))(weights)
    want = jax.jit(jax.grad(lambda w: loss(w, stepped)))(weights)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    assert not steps or any(np.abs(x).max() > 0 for x in want if x.size)


def test_a_function_may_close_over_what_is_trained(x64):
    net = network()

    def loss(readout):
        record = jn.Record(
            spikes=False, function=lambda _, output: jnp.vdot(output.spikes["A"], readout)
        )
        return jn.scan(net, net.init(3), 20, None, record)[1].function.sum()

    def step(state, _):
        state, output = runtime.step(state)
        return state, output.spikes["A"]

    runtime = net.expand()
    want = jax.lax.scan(step, net.init(3), length=20)[1].sum(0)
    np.testing.assert_array_equal(jax.jit(jax.grad(loss))(jnp.ones(30)), want)
    assert want.sum() > 0


@pytest.mark.parametrize("remat", [False, True])
def test_without_projections_there_is_forward_mode(remat, x64):
    cells = jn.Population("A", 5, jn.neurons.LIF())
    net = jn.build(jn.Description([cells]), 0, DT, jnp.float64)

    def voltage(current):
        state, _ = jn.scan(net, net.init(0), 20, {"A": current}, remat=remat)
        return state.groups[0].neurons.v.sum()

    _, slope = jax.jvp(voltage, (100.0,), (1.0,))
    np.testing.assert_allclose(slope, jax.grad(voltage)(100.0), rtol=1e-12)
    assert slope > 0


class CutBySelf(FastSigmoid):
    """A slope that is 0 beyond 2 mV, as a user would write it."""

    def slope(self, x):
        return jnp.where(jnp.abs(x) <= 2.0, super().slope(x), 0.0)


def test_a_cutoff_is_a_slope_that_ends(x64):
    """And fewer neurons are visited, which changes nothing."""
    nets = [
        network(FORMS["several delays"], x)
        for x in (FastSigmoid(0.15, cutoff=2.0), CutBySelf(0.15))
    ]
    slopes, counted = [], []
    for net in nets:
        params = parameters(net)
        slopes.append(jax.jit(jax.grad(loss_by(by_events, net)))(params, net))
        state, _ = jn.scan(net, net.init(3), STEPS)
        bits = np.asarray(state.groups[0].released.slopes())
        counted.append(int(np.unpackbits(bits).sum()))
    assert_close(slopes[0], slopes[1], 1e-12)
    assert 0 < counted[0] < counted[1] < 50
    whole = network(FORMS["several delays"])
    full = jax.jit(jax.grad(loss_by(by_events, whole)))(params, whole)
    assert not np.allclose(full["current"], slopes[0]["current"])


@pytest.mark.parametrize("model", [jn.neurons.LIF(t_ref=1.0, surrogate=SLOPE), GLIF])
def test_held_neurons_do_not_count(model):
    net = network({"neurons": model}, dtype=jnp.float32)
    state, _ = jax.jit(lambda: jn.scan(net, net.init(3), STEPS))()
    group = state.groups[0]
    counted = np.unpackbits(np.asarray(group.released.counted), bitorder="little")[:50] != 0
    held = np.asarray(group.neurons.refractory) > 0
    assert held.any()
    assert counted.any()
    assert not (held & counted).any()


class Scaled(jn.neurons.LIF):
    """A user's: what it returns is made from spikes, so nobody knows where they have a slope."""

    def step(self, state, drive, dt):
        state, spikes = super().step(state, drive, dt)
        return state, spikes * 1.0


def test_a_model_of_a_user_counts_every_neuron(x64):
    net = network(FORMS["several delays"])
    group = net.groups[0]
    own = Scaled(**{f.name: getattr(group.model, f.name) for f in dataclasses.fields(group.model)})
    same = eqx.tree_at(lambda n: n.groups[0].model, net, own)
    params = parameters(net)
    a, b = (jax.jit(jax.grad(loss_by(by_events, n)))(params, n) for n in (net, same))
    assert_close(b, a, 1e-12)
    assert same.init(0).groups[0].released.counted is None
    assert net.init(0).groups[0].released.counted is not None


@pytest.mark.slow
def test_two_layers_with_delays_by_hand(x64):
    """Against a derivative that is written out, in NumPy, and imports nothing of the package."""
    rng = np.random.default_rng(0)
    sizes, pairs, longest = (12, 9, 3), ((12, 9), (9, 3)), 8
    weights = [rng.normal(0.3, 0.4, pair) for pair in pairs]
    delays = [rng.integers(1, longest + 1, pair) for pair in pairs]
    given = rng.random((STEPS, sizes[0])) < 0.2
    want_loss, want = two_layers(weights, delays, given, tau=5.0, beta=2.0, dt=DT)

    surrogate = FastSigmoid(2.0)
    hidden = jn.neurons.LIF(5.0, 1.0, 0.0, 1.0, 0.0, 0.0, surrogate=surrogate)
    populations = [
        jn.Population("in", sizes[0], jn.neurons.Relay()),
        jn.Population("hid", sizes[1], hidden),
        jn.Population("out", sizes[2], jn.neurons.LeakyIntegrator(5.0, 1.0, 0.0)),
    ]
    projections = [
        jn.Projection(
            a, b, jn.connectivity.AllToAll(), weight=w, delay=DT * d, synapse=jn.synapses.Delta()
        )
        for (a, b), w, d in zip((("in", "hid"), ("hid", "out")), weights, delays)
    ]
    net = jn.build(jn.Description(populations, projections), 0, DT, jnp.float64)

    def loss(own):
        changed = eqx.tree_at(lambda n: [p.weights for p in n.pathways], net, own)
        record = jn.Record(spikes=False, variables={"out": ["v"]})
        _, recording = jn.scan(changed, net.init(0), STEPS, {"in": given}, record)
        return jnp.mean(recording.traces["out"]["v"] ** 2)

    start = [p.weights for p in net.pathways]
    value, slopes = jax.jit(jax.value_and_grad(loss))(start)
    np.testing.assert_allclose(value, want_loss, rtol=1e-12)
    expected = dict(zip(("in->hid", "hid->out"), want))
    for (name,), slope in zip((p.projections for p in net.pathways), slopes):
        at = net.connections(name)
        expected_here = expected[name][at.pre, at.post]
        np.testing.assert_allclose(slope, expected_here, rtol=1e-9, atol=1e-15)


def test_bad_input():
    net = network(dtype=jnp.float32)
    for bad in (0, -3, 1.5, "yes", None):
        assert_refused(
            lambda bad=bad: jn.scan(net, net.init(0), 10, remat=bad), "scan", "remat", str(bad)
        )
    for bad in (0.0, -1.0, "2"):
        assert_refused(lambda bad=bad: FastSigmoid(cutoff=bad), "Surrogate", "cutoff", str(bad))


def test_a_derivative_of_the_gradient_is_refused():
    net = network(dtype=jnp.float32)

    def voltage(gain):
        state, _ = jn.scan(net.set("A->A", gain=gain), net.init(0), 10)
        return state.groups[0].neurons.v.sum()

    with pytest.raises(ValueError, match="no derivative itself"):
        jax.jit(jax.grad(jax.grad(voltage)))(1.0)
    with pytest.raises(ValueError, match="no derivative itself"):
        jax.jacfwd(jax.jacfwd(voltage))(1.0)

    def by_current(current):
        state, _ = jn.scan(net, net.init(0), 10, {"A": current})
        return state.groups[0].neurons.v.sum()

    with pytest.raises(ValueError, match="no derivative itself"):
        jax.grad(jax.grad(by_current))(100.0)


def test_of_a_network_whose_populations_are_empty():
    cells = jn.Population("A", 0, jn.neurons.LIF(surrogate=FastSigmoid()))
    link = jn.Projection(
        "A", "A", jn.connectivity.AllToAll(), weight=1.0, delay=1.0, synapse=jn.synapses.Delta()
    )
    net = jn.build(jn.Description([cells], [link]), key=0, dt=0.1)

    def voltage(gain):
        state, _ = jn.scan(net.set("A->A", gain=gain), net.init(0), 20)
        return state.groups[0].neurons.v.sum()

    assert jax.grad(voltage)(1.0) == 0.0


@pytest.mark.parametrize("target", ["A", pytest.param("B", marks=pytest.mark.slow)])
def test_through_plastic_weights(target, x64):
    """Forwards, back, and of a batch, to weights that the derivative reaches or not."""
    cells = [jn.Population(name, 5, jn.neurons.LIF(surrogate=SLOPE)) for name in "AB"]
    every, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(3.0)
    shared = {"weight": 80.0, "delay": 1.0, "synapse": synapse}
    rule = jn.plasticity.PairSTDP()
    links = [
        jn.Projection("A", "A", every, **shared),
        jn.Projection(target, "B", every, plasticity=rule, **shared),
    ]
    net = jn.build(jn.Description(cells, links), 0, DT, jnp.float64)

    def voltage(gain, current=700.0):
        changed = net.set("A->A", gain=gain)
        state, _ = jn.scan(changed, net.init(0), 200, {"A": current, "B": 800.0})
        return net.read(state, "A", "v").sum() + net.read(state, "B", "v").sum()

    back = jax.jit(jax.grad(voltage))(1.0)
    assert back != 0.0
    np.testing.assert_allclose(jax.jit(jax.jacfwd(voltage))(1.0), back, rtol=1e-9)
    currents = jnp.array([700.0, 720.0])
    each = jax.jit(jax.vmap(jax.grad(voltage), (None, 0)))(1.0, currents)
    assert each[0] != each[1]
    trials = jax.vmap(voltage, (None, 0))
    both = jax.jit(jax.grad(lambda gain: trials(gain, currents).sum()))(1.0)
    np.testing.assert_allclose(both, each.sum(), rtol=1e-9)


@pytest.mark.slow
def test_of_no_trials(x64):
    net = network()
    loss = lambda gain, key: loss_by(by_events, net)(parameters(net) | {"gain": gain}, net, key)  # noqa: E731
    at, keys = parameters(net)["gain"], jnp.arange(0)
    assert jax.vmap(jax.grad(loss), (None, 0))(at, keys)[0].shape == (0, *at[0].shape)
    together = jax.grad(lambda at: jax.vmap(loss, (None, 0))(at, keys).sum())(at)
    assert all(np.all(x == 0) for x in together)


def test_by_a_population_whose_target_is_empty():
    cells = [
        jn.Population("A", 5, jn.neurons.LIF(surrogate=FastSigmoid())),
        jn.Population("B", 0, jn.neurons.ALIF()),
    ]
    link = jn.Projection(
        "A", "B", jn.connectivity.AllToAll(), weight=1.0, delay=1.0, synapse=jn.synapses.Delta()
    )
    net = jn.build(jn.Description(cells, [link]), key=0, dt=0.1)

    def voltage(current):
        state, _ = jn.scan(net, net.init(0), 20, {"A": current})
        return net.read(state, "A", "v").sum()

    assert jax.grad(voltage)(100.0) > 0.0
