"""Arrivals that are known before a loop: the same network as by events, up to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn

SLOPE = jn.surrogates.FastSigmoid(0.2)
STEPS, DT = 40, 0.5
TRAINS = np.random.default_rng(1).random((STEPS, 40)) < 0.15
NEVER = 0.0


def network(rate=None, delays=(1.5, 0.5), recurrent=False):
    """Two inputs of one group onto A; whether A also reaches itself."""
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(5.0)
    wire = {"synapse": synapse, "expected_rate": rate, "weight": jn.Normal(60.0, 60.0)}
    cells = [
        jn.Population("other", 40, jn.neurons.Relay()),
        jn.Population("in", 40, jn.neurons.Relay()),
        jn.Population("A", 60, jn.neurons.LIF(surrogate=SLOPE), {"v": jn.Uniform(-70.0, -54.0)}),
    ]
    links = [
        jn.Projection("in", "A", rule, delay=delays[0], **wire),
        jn.Projection("other", "A", rule, delay=delays[1], **wire),
    ]
    if recurrent:
        sparse = jn.connectivity.FixedProbability(0.3)
        links.append(jn.Projection("A", "A", sparse, weight=9.0, delay=1.0, synapse=synapse))
    return jn.build(jn.Description(cells, links), 4, DT, jnp.float64)


def run(net, inputs, state=None, steps=STEPS, gain=None):
    net = net if gain is None else net.set("in->A", gain=gain)
    state = net.init(2) if state is None else state
    record = jn.Record(rates=True, variables={"A": "v"}, interval=DT)
    return jn.scan(net, state, steps, inputs, record)


def assert_same(got, want):
    (state, recording), (other, expected) = got, want
    assert np.asarray(expected.counts["A"]).sum() > 10
    np.testing.assert_allclose(recording.traces["A"]["v"], expected.traces["A"]["v"], rtol=1e-12)
    for a, b in zip(state.groups, other.groups):
        np.testing.assert_allclose(a.ring, b.ring, atol=1e-9)


@pytest.mark.parametrize(
    "form",
    [{}, {"delays": (DT, DT)}, {"recurrent": True}],
    ids=["delays", "one step", "recurrent"],
)
@pytest.mark.parametrize("given", ["both", "one", "none"])
def test_it_is_the_network_by_events(form, given, x64):
    nets = network(**form), network(NEVER, **form)
    assert [sum(p.dense is not None for p in n.pathways) for n in nets] == [2, 0]
    inputs = {"in": TRAINS, "other": TRAINS[::-1].copy()}
    inputs = {k: x for k, x in inputs.items() if given == "both" or k == "in"}
    got, want = (jax.jit(run)(net, inputs) for net in nets)
    assert_same(got, want)
    if given == "none":
        # What is on its way at the start arrives, and nothing else.
        assert_same(run(nets[0], {}, got[0]), run(nets[1], {}, want[0]))


def test_it_goes_on_where_it_stopped(x64):
    nets = network(), network(NEVER)
    inputs = {"in": TRAINS, "other": TRAINS}
    want = run(nets[1], inputs)
    state = nets[0].init(2)
    for start, stop in ((0, 1), (1, 1), (1, 3), (3, 20), (20, STEPS)):
        now = {k: x[start:stop] for k, x in inputs.items()}
        state, recording = run(nets[0], now, state, stop - start)
    np.testing.assert_allclose(
        recording.traces["A"]["v"], want[1].traces["A"]["v"][20:], rtol=1e-12
    )
    # And through single steps, which deliver what they get themselves.
    state, _ = run(nets[0], {k: x[:30] for k, x in inputs.items()}, steps=30)
    for k in range(30, STEPS):
        state, _ = nets[0].step(state, {name: x[k] for name, x in inputs.items()})
    np.testing.assert_allclose(state.groups[0].neurons.v, want[0].groups[0].neurons.v, rtol=1e-12)


def test_simulate_is_scan(x64):
    net, inputs = network(), {"in": TRAINS, "other": TRAINS}
    state, recording = run(net, inputs)
    record = jn.Record(variables={"A": "v"}, interval=DT)
    pieces = {"until": lambda _: False, "check_interval": 6.5}
    result = jn.simulate(
        net, STEPS * DT, key=2, inputs=inputs, record=record, progress=False, **pieces
    )
    np.testing.assert_allclose(result.traces["A"]["v"], recording.traces["A"]["v"], rtol=1e-12)
    np.testing.assert_allclose(result.state.groups[0].ring, state.groups[0].ring, atol=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_trials_have_the_slope_of_events(axis, x64):
    nets = network(recurrent=True), network(NEVER, recurrent=True)
    trials = np.random.default_rng(3).random((3, STEPS, 40)) < 0.15
    trials = np.moveaxis(trials, 0, axis)

    def loss(gain, net, trial, remat=False):
        changed = net.set("in->A", gain=gain)
        record = jn.Record(rates=True)
        state, out = jn.scan(changed, net.init(2), STEPS, {"in": trial}, record, remat=remat)
        waiting = sum(jnp.sum(jnp.sin(1.0 + g.ring)) for g in state.groups)
        return jnp.sum(out.counts["A"] * jnp.linspace(1.0, 2.0, STEPS)) + waiting

    def slope(net, **how):
        each = jax.vmap(lambda gain, x: loss(gain, net, x, **how), (None, axis))
        return jax.jit(jax.value_and_grad(lambda gain: each(gain, trials).sum()))(1.0)

    (value, got), (same, want) = map(slope, nets)
    assert want != 0
    np.testing.assert_allclose([value, got], [same, want], rtol=1e-10)
    np.testing.assert_allclose(slope(nets[0], remat=True)[1], got, rtol=1e-12)
    forward = jax.jit(jax.jacfwd(loss))
    alone = [forward(1.0, nets[0], np.take(trials, k, axis)) for k in range(3)]
    np.testing.assert_allclose(sum(alone), got, rtol=1e-9)


def test_what_else_drives_a_relay_is_no_input():
    """Then its spikes are known in the loop alone, and nothing says that they are many."""
    relay, hidden = jn.neurons.Relay(), jn.neurons.LIF()
    cells = [jn.Population("in", 40, relay), jn.Population("A", 60, hidden)]
    rule, delta = jn.connectivity.AllToAll(), jn.synapses.Delta()
    link = jn.Projection("in", "A", rule, weight=1.0, delay=1.0, synapse=delta)
    poisson = jn.Stimulation("in", jn.stimuli.Poisson(100.0), weight=1.0, synapse=delta)
    assert "matrix products: 'in->A'" in repr(jn.build(jn.Description(cells, [link]), 0, 1.0))
    driven = jn.build(jn.Description(cells, [link], [poisson]), 0, 1.0)
    assert "matrix" not in repr(driven)
