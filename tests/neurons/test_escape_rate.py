"""The escape-rate LIF against its hazard, and how neurons draw in a network."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._numerics.streams import Stream, stream_key
from tests.zoo import cast

DT = 0.1
Escape = jn.neurons.EscapeRateLIF
LIF = {"tau_m": 20.0, "c_m": 200.0, "e_l": -65.0, "v_th": -50.0, "v_reset": -65.0}


def run(model, current, n_steps, n, seed=0):
    """(v, spikes) of every step under one current."""
    key = stream_key(np.uint32(seed), "test", "neuron")
    stream = jax.device_put(Stream(*key, np.arange(n, dtype=np.uint32)))
    model, current = cast(model, np.float32), np.broadcast_to(np.float32(current), (n,))
    return tuple(np.asarray(x) for x in _scan(model, model.init(n, stream), current, n_steps))


@jax.jit(static_argnames="n_steps")
def _scan(model, state, current, n_steps):
    def body(state, _):
        state, spikes = model.step(state, jn.Drive(current=current), DT)
        return state, (state.v, spikes)

    return jax.lax.scan(body, state, None, n_steps)[1]


@pytest.mark.slow(but=["1.5"])
@pytest.mark.parametrize("t_ref", [0.0, 1.5])
def test_rate_at_a_constant_voltage(t_ref):
    """The interval is t_ref and a geometric number of steps of chance 1 - exp(-rho dt)."""
    v_th = np.linspace(-64.0, -60.0, 5)
    hazard = 0.3 * np.exp((-65.0 - v_th) / 2.0)
    per = 600
    model = Escape(**{**LIF, "v_th": np.repeat(v_th, per)}, t_ref=t_ref, rho_0=0.3, delta_u=2.0)
    n_steps = 2000
    spikes = run(model, 0.0, n_steps, 5 * per)[1].reshape(n_steps, 5, per)
    p = 1 - np.exp(-hazard * DT)
    mean, sd = DT / p + t_ref, DT * np.sqrt(1 - p) / p
    counts = spikes.sum(axis=0)
    expected = n_steps * DT / mean
    spread = np.sqrt(n_steps * DT * sd**2 / mean**3 / per)  # of a renewal process, by its CV
    start = 0.5 * (sd**2 / mean**2 + 1) + 1  # a process that starts with a spike, about
    assert (np.abs(counts.mean(axis=1) - expected) < 4 * spread + start).all()
    # The chance itself, exactly: of the steps that were free, those with a spike.
    held = np.zeros_like(spikes)
    for k in range(1, round(t_ref / DT) + 1):
        held[k:] |= spikes[:-k]
    assert not (spikes & held).any()
    free = (~held).sum(axis=(0, 2))
    error = (spikes.sum(axis=(0, 2)) - p * free) / np.sqrt(p * (1 - p) * free)
    assert np.abs(error).max() < 4, error


@pytest.mark.slow
def test_first_spikes_follow_the_survivor_function():
    """P(no spike until t) = exp(-sum of rho dt) along the free membrane."""
    n, n_steps = 20_000, 400
    model = Escape(**LIF, rho_0=0.2, delta_u=3.0)
    _, spikes = run(model, 160.0, n_steps, n)
    first = np.where(spikes.any(axis=0), spikes.argmax(axis=0), n_steps)
    t = DT * np.arange(1, n_steps + 1)
    free = -65.0 + 16.0 * (1 - np.exp(-t / 20.0))
    survive = np.exp(-np.cumsum(0.2 * np.exp((free + 50.0) / 3.0)) * DT)
    got = (first[:, None] > np.arange(n_steps)).mean(axis=0)
    assert survive[-1] < 0.2
    # Kolmogorov-Smirnov: 1.95 is the 0.1 % point.
    assert np.abs(got - survive).max() * np.sqrt(n) < 1.95


def test_a_narrow_threshold_is_the_lif():
    """With delta_u to 0 the hazard is 0 below v_th and infinite above."""
    current = np.linspace(100.0, 900.0, 300)
    _, spikes = run(Escape(**LIF, t_ref=1.0, delta_u=1e-5), current, 1000, 300)
    model = cast(jn.neurons.LIF(**LIF, t_ref=1.0), np.float32)
    sharp = np.asarray(_scan(model, model.init(300), current.astype(np.float32), 1000)[1])
    assert sharp.sum() > 3000
    np.testing.assert_array_equal(spikes, sharp)


@pytest.mark.parametrize("v", [np.nan, np.inf, -np.inf])
def test_a_voltage_that_is_not_finite_is_no_spike(v):
    """It stays in the state, where it is found."""
    stream = Stream(np.uint32(0), np.uint32(0), np.arange(2, dtype=np.uint32))
    model = cast(Escape(), np.float32)
    state = model.init(2, stream)._replace(v=np.array([v, -70.0], np.float32))
    (after,), (spikes,) = map(np.asarray, _scan(model, state, np.zeros(2, np.float32), 1))
    assert not spikes[0]
    assert not np.isfinite(after[0])
    assert np.isfinite(after[1])


def network(others=()):
    populations = [
        jn.Population("E", 30, Escape(**LIF)),
        *(jn.Population(name, 20, Escape(**LIF)) for name in others),
    ]
    stimuli = [jn.Stimulation(p.name, jn.stimuli.Current(450.0)) for p in populations]
    return jn.build(jn.Description(populations, [], stimuli), 0, DT)


def dense(net, key, name="E"):
    run = jax.jit(lambda net, key: jn.scan(net, net.init(key), 600)[1].spikes.dense(name))
    return np.asarray(run(net, key))


@pytest.mark.slow
def test_draws_in_a_network():
    """By seed and name: not by what other populations there are, nor by their order."""
    alone = dense(network(), 1)
    assert alone.sum() > 100
    np.testing.assert_array_equal(dense(network(), 1), alone)
    assert (dense(network(), 2) != alone).any()
    many = network(("A", "Z"))
    assert len(many.groups) == 1
    np.testing.assert_array_equal(dense(many, 1), alone)
    other = dense(many, 1, "Z")
    assert (other != alone[:, :20]).any()
    # Neurons of one population are independent too.
    assert len(np.unique(alone.T, axis=0)) == 30


def test_seeds_under_vmap():
    net = network()
    counts = lambda key: jn.scan(net, net.init(key), 300)[1].spikes.counts("E")  # noqa: E731
    many, alone = np.asarray(jax.jit(jax.vmap(counts))(np.arange(3))), jax.jit(counts)
    for key, row in enumerate(many):
        np.testing.assert_array_equal(row, alone(key))
    assert (many[0] != many[1]).any()


def test_a_run_in_two_parts_is_the_whole():
    net = network()
    record = jn.Record(variables={"E": "v"})
    whole = jn.simulate(net, 40.0, key=3, record=record)
    first = jn.simulate(net, 15.0, key=3, record=record)
    second = jn.simulate(net, 25.0, state=first.state, record=record)
    v = [r.traces["E"]["v"] for r in (whole, first, second)]
    np.testing.assert_array_equal(v[0], np.concatenate(v[1:]))
    assert whole.events("E")[0].size > 10


def test_a_bare_neuron_draws_by_the_key():
    spikes = [
        jn.simulate(Escape(**LIF), current=np.full((500, 4), 250.0), dt=DT, key=key).events(
            "neurons"
        )
        for key in (1, 1, 2)
    ]
    np.testing.assert_array_equal(spikes[0], spikes[1])
    assert not np.array_equal(spikes[0][0], spikes[2][0])
