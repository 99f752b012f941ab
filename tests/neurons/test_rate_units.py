"""Rate units and the readout: closed forms alone, and the linear theory in networks."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import jaxneuro as jn
from tests.refusing import assert_refused
from tests.zoo import cast

DIRECT, GRADED = jn.synapses.Direct("input"), jn.release.Graded()
Linear, Tanh, Rectified = (
    jn.neurons.LinearRate,
    jn.neurons.TanhRate,
    jn.neurons.ThresholdLinearRate,
)
RESPONSES = {
    "linear": (Linear(8.0, 1.7), lambda x: 1.7 * x),
    "tanh": (Tanh(8.0, 0.6, 0.5), lambda x: np.tanh(0.6 * (x - 0.5))),
    "rectified": (Rectified(8.0, 1.7, 0.5), lambda x: np.maximum(1.7 * (x - 0.5), 0)),
}
every_unit = pytest.mark.parametrize(("model", "phi"), RESPONSES.values(), ids=RESPONSES.keys())
W = np.array([[0.2, -1.1], [0.9, 0.3]])  # W[target, source]
INPUT = np.array([1.0, -0.4])


@jax.jit(static_argnames="dt")
def one_step(model, state, drive, dt):
    return model.step(state, drive, dt)


def network(model, weights, current, dt, delay=None, dtype=jnp.float64):
    """Units with a weight from every one to every one, and a constant input."""
    n = len(current)
    connections = jn.Projection(
        *("u", "u", jn.connectivity.AllToAll()),
        weight=np.asarray(weights).T,
        delay=dt if delay is None else delay,
        synapse=DIRECT,
        release=GRADED,
    )
    stimulus = jn.Stimulation("u", jn.stimuli.Current(np.asarray(current)))
    description = jn.Description([jn.Population("u", n, model)], [connections], [stimulus])
    return jn.build(description, 0, dt, dtype)


def rates(net, duration):
    n_steps = round(duration / float(net.dt))
    return np.asarray(_recorded(net, net.init(0), n_steps))


@jax.jit(static_argnames="n_steps")
def _recorded(net, state, n_steps):
    record = jn.Record(variables={"u": "r"})
    return jn.scan(net, state, n_steps, record=record)[1].traces["u"]["r"]


@pytest.mark.slow(but=["0.1-tanh"])
@every_unit
@pytest.mark.parametrize("dt", [0.1, 5.0])
def test_response_to_a_step_is_exact(model, phi, dt, x64):
    x = np.linspace(-2.0, 3.0, 11)
    model = cast(model, jnp.float64)
    state, drive = model.init(11), jn.Drive(current=x)
    for _ in range(3):
        state, spikes = one_step(model, state, drive, dt)
    np.testing.assert_allclose(state.r, phi(x) * (1 - np.exp(-3 * dt / 8.0)), rtol=1e-6)
    assert not spikes.any()
    # What arrives adds to the current.
    both = jn.Drive(current=x - 0.7, arrivals={"input": np.full(11, 0.7)})
    with_both, with_one = (one_step(model, state, d, dt)[0].r for d in (both, drive))
    np.testing.assert_allclose(with_both, with_one)


@pytest.mark.slow
def test_a_linear_network_is_a_matrix_exponential(x64):
    """To first order in dt with delays of one step: tau dr/dt = -r + W r + input."""
    a = (W - np.eye(2)) / 10.0
    steady = np.linalg.solve(np.eye(2) - W, INPUT)
    exact = steady - expm(16.0 * a) @ steady
    errors = []
    for dt in (0.8, 0.4, 0.2, 0.1):
        net = network(Linear(10.0, 1.0), W, INPUT, dt)
        errors.append(np.abs(rates(net, 16.0)[-1] - exact).max())
    ratios = np.array(errors[:-1]) / errors[1:]
    assert ((ratios > 1.85) & (ratios < 2.2)).all(), errors
    assert errors[-1] < 5e-3
    np.testing.assert_allclose(rates(net, 400.0)[-1], steady, rtol=1e-9)


@every_unit
@pytest.mark.parametrize("delay", [0.5, 3.0])
def test_the_fixed_point_does_not_depend_on_delays(model, phi, delay, x64):
    """r = phi(W r + input), whatever the delay."""
    r = rates(network(model, 0.3 * W, INPUT, 0.5, delay), 400.0)[-1]
    assert np.abs(r).max() > 0.3
    np.testing.assert_allclose(r, phi(0.3 * W @ r + INPUT), rtol=1e-6, atol=1e-9)


def test_a_delay_shifts_the_response(x64):
    """Unit 1 gets what unit 0 was: r_1' = -r_1 + r_0(t - D), in closed form."""
    tau, delay, errors = 10.0, 4.0, []
    for dt in (0.4, 0.2, 0.1):
        r = rates(network(Linear(tau), [[0, 0], [1, 0]], [1.0, 0.0], dt, delay), 40.0)
        t = dt * np.arange(1, len(r) + 1)
        np.testing.assert_allclose(r[:, 0], 1 - np.exp(-t / tau), rtol=1e-9)
        late = np.maximum(t - delay, 0) / tau
        assert (r[t < delay + 0.5 * dt, 1] == 0).all()
        errors.append(np.abs(r[:, 1] - (1 - (1 + late) * np.exp(-late))).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.1)


def test_a_slope_through_a_network(x64):
    """d r / d gain at the fixed point r = (1 - gain W)^-1 input."""
    net = network(Linear(10.0, 1.0), W, INPUT, 0.5)

    def first(gain):
        changed = net.set("u->u", gain=gain)
        return changed.read(jn.scan(changed, changed.init(0), 800)[0], "u", "r")[0]

    inverse = np.linalg.inv(np.eye(2) - W)
    expected = (inverse @ W @ inverse @ INPUT)[0]
    assert jax.jit(jax.grad(first))(1.0) == pytest.approx(expected, rel=1e-6)


def test_units_have_no_spikes_and_no_other_drive():
    net = network(Linear(), W, INPUT, 0.1, dtype=jnp.float32)
    result = jn.simulate(net, 20.0, record=jn.Record(rates=True))
    assert result.events("u")[0].size == 0
    kick = jn.Stimulation("u", jn.stimuli.Poisson(9.0), weight=1.0, synapse=jn.synapses.Delta())
    assert_refused(
        lambda: jn.build(jn.Description([jn.Population("u", 2, Linear())], [], [kick]), 0, 0.1),
        "LinearRate (population 'u')",
        "step",
        "one that ignores it",
    )


READOUT = {"tau_m": 15.0, "c_m": 300.0, "e_l": 2.0}


def test_a_readout_filters_a_current(x64):
    """v = e_l + r_m I (1 - exp(-t/tau_m)), r_m = tau_m/c_m, whatever dt."""
    model = jn.neurons.LeakyIntegrator(**READOUT)
    for dt in (0.1, 4.0):
        state, drive = model.init(3), jn.Drive(current=np.array([0.0, 10.0, 1e4]))
        for _ in range(5):
            state, spikes = one_step(model, state, drive, dt)
        expected = 2.0 + 0.05 * np.array([0.0, 10.0, 1e4]) * (1 - np.exp(-5 * dt / 15.0))
        np.testing.assert_allclose(state.v, expected, rtol=1e-12)
        assert not spikes.any()


def readout_network(surrogate=None):
    populations = [
        jn.Population("in", 20, jn.neurons.LIF(surrogate=surrogate)),
        jn.Population("out", 2, jn.neurons.LeakyIntegrator(**READOUT)),
    ]
    p = jn.Projection(
        *("in", "out", jn.connectivity.AllToAll()),
        weight=np.linspace(-3.0, 5.0, 40).reshape(20, 2),
        delay=0.5,
        synapse=jn.synapses.Exponential(5.0),
    )
    drive = jn.Stimulation("in", jn.stimuli.Current(np.linspace(350.0, 900.0, 20)))
    return jn.build(jn.Description(populations, [p], [drive]), 0, 0.1, jnp.float64)


@pytest.mark.slow
def test_a_readout_is_linear_in_its_weights(x64):
    """Its v is recorded, scales with the gain, and has that slope."""
    net = readout_network()

    def end(gain):
        changed = net.set("in->out", gain=gain)
        return changed.read(jn.scan(changed, changed.init(0), 600)[0], "out", "v")

    once, twice = np.asarray(jax.jit(jax.vmap(end))(np.array([1.0, 2.0]))) - 2.0
    assert np.abs(once).min() > 0.1
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-9)
    np.testing.assert_allclose(jax.jit(jax.jacrev(end))(1.0), once, rtol=1e-9)
    v = jn.simulate(net, 60.0, record=jn.Record(variables={"out": "v"})).traces["out"]["v"]
    np.testing.assert_allclose(v[-1] - 2.0, once, rtol=1e-9)


@pytest.mark.slow
def test_a_gradient_through_readout_and_spikes(x64):
    net = readout_network(jn.surrogates.FastSigmoid())

    def loss(tau):
        changed = net.set("in", tau_m=tau)
        return jnp.sum(changed.read(jn.scan(changed, changed.init(0), 300)[0], "out", "v"))

    slope = jax.jit(jax.grad(loss))(10.0)
    assert np.isfinite(slope)
    assert slope != 0


def test_spikes_of_what_never_spikes_are_refused():
    unit, rule = jn.neurons.TanhRate(), jn.connectivity.AllToAll()
    populations = [jn.Population(k, 3, unit) for k in "AB"]
    how = {"weight": 1.0, "delay": 0.1, "synapse": DIRECT, "name": "p"}
    spikes = jn.Projection("A", "B", rule, **how)
    message = "projection 'p': release must"
    with pytest.raises(ValueError, match=message):
        jn.build(jn.Description(populations, [spikes]), 0, 0.1)
    graded = dataclasses.replace(spikes, release=GRADED)
    jn.build(jn.Description(populations, [graded]), 0, 0.1)
