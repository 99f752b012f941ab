"""The LIF neuron against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxneuro as jn
from jaxneuro._model import add_drives
from tests.zoo import cast

DT = 0.1
LIF = {"tau_m": 20.0, "c_m": 200.0, "e_l": -65.0, "v_th": -50.0, "v_reset": -68.0}


def drive(n_steps, n=1, **parts):
    full = lambda x: np.broadcast_to(np.asarray(x, np.float64), (n_steps, n))  # noqa: E731
    return jn.Drive(**{k: full(x) for k, x in parts.items()})


def run(model, drives, n=1, v0=None):
    """(v, spikes) of every step in float64; v0 starts all neurons there."""
    model = cast(model, jnp.float64)
    state = model.init(n)
    state = state if v0 is None else state._replace(v=np.full(n, v0))
    return (np.asarray(x) for x in _scan(model, state, drives))


@jax.jit
def _scan(model, state, drives):
    def body(state, now):
        state, spikes = model.step(state, now, DT)
        return state, (state.v, spikes)

    return jax.lax.scan(body, state, drives)[1]


@pytest.mark.parametrize("t_ref", [0.0, 2.0, 5.0])
def test_f_i_curve(t_ref, x64):
    """Each interval is the analytic one, rounded up to the grid: an exact membrane."""
    currents = np.array([100.0, 149.9, 150.1, 160.0, 200.0, 300.0, 600.0, 2000.0])
    model = jn.neurons.LIF(**LIF, t_ref=t_ref)
    _, spikes = run(model, drive(20_000, 8, current=currents), 8)
    v_inf = LIF["e_l"] + currents * LIF["tau_m"] / LIF["c_m"]
    for k, top in enumerate(v_inf):
        steps = np.flatnonzero(spikes[:, k])
        if top <= LIF["v_th"]:
            assert steps.size == 0
            continue
        rise = LIF["tau_m"] * np.log((top - LIF["v_reset"]) / (top - LIF["v_th"]))
        expected = np.ceil(rise / DT - 1e-9) + round(t_ref / DT)
        np.testing.assert_array_equal(np.diff(steps), expected)
        assert 1 / (expected * DT) == pytest.approx(1 / (rise + t_ref), rel=DT / (rise + t_ref))


@pytest.mark.parametrize("steps", [0, 1, 2, 17, 300])
def test_refractory_steps_are_exact(steps, x64):
    """Held at v_reset through steps k+1 ... k+t_ref/dt, and moving in the next."""
    model = jn.neurons.LIF(**LIF, t_ref=steps * DT)
    v, spikes = run(model, drive(1000, current=5000.0))
    first = int(np.flatnonzero(spikes[:, 0])[0])
    held = v[first + 1 : first + 1 + steps, 0]
    np.testing.assert_array_equal(held, LIF["v_reset"])
    assert not spikes[first + 1 : first + 1 + steps].any()
    assert v[first + 1 + steps, 0] > LIF["v_reset"]


def test_refractory_time_of_many_steps(x64):
    model = jn.neurons.LIF(**LIF, t_ref=6000.0)
    _, spikes = run(model, drive(61_000, current=50_000.0))
    steps = np.flatnonzero(spikes[:, 0])
    assert steps.size == 2
    assert 60_000 < np.diff(steps)[0] <= 60_010


def test_recorded_v_at_a_spike_is_before_the_reset(x64):
    v, spikes = run(jn.neurons.LIF(**LIF), drive(1000, current=400.0))
    at = np.flatnonzero(spikes[:, 0])
    assert (v[at, 0] >= LIF["v_th"]).all()
    assert (np.delete(v[:, 0], at) < LIF["v_th"]).all()


def test_synapses_see_the_voltage_after_the_reset(x64):
    model = jn.neurons.LIF(**LIF)
    state = model.init(2)._replace(v=np.array([-40.0, -60.0]), spikes=np.array([True, False]))
    np.testing.assert_array_equal(model.voltage(state), [LIF["v_reset"], -60.0])


def test_membrane_is_exact_for_any_step(x64):
    """One step of a constant drive lands on the solution of the equation."""
    g, current = 13.0, 170.0
    model = jn.neurons.LIF(**{**LIF, "v_th": 1e3})
    v, _ = run(model, drive(500, current=current, conductance=g), v0=-80.0)
    g_l = LIF["c_m"] / LIF["tau_m"]
    v_inf = (g_l * LIF["e_l"] + current) / (g_l + g)
    t = DT * np.arange(1, 501)
    expected = v_inf + (-80.0 - v_inf) * np.exp(-t * (g_l + g) / LIF["c_m"])
    np.testing.assert_allclose(v[:, 0], expected, rtol=1e-12)


def test_it_is_stable_under_any_conductance(x64):
    v, _ = run(jn.neurons.LIF(**LIF), drive(10, conductance=1e9, current=-80e9))
    np.testing.assert_allclose(v, -80.0, rtol=1e-6)


def test_a_threshold_is_met_at_equality(x64):
    """I = (v_th - e_l) g_l never crosses; a start at v_th does at once."""
    quiet = run(jn.neurons.LIF(**LIF), drive(20_000, current=150.0 - 1e-6))
    assert not list(quiet)[1].any()
    model = jn.neurons.LIF(**{**LIF, "e_l": -50.0})
    _, spikes = run(model, jn.Drive(current=np.zeros((1, 1))))
    assert spikes[0, 0]


def spike_steps(model, current, dt, n_steps=None, dtype=None):
    stimulus = np.full((n_steps, 1), float(current))
    times, _ = jn.simulate(model, current=stimulus, dt=dt, dtype=dtype).events("neurons")
    return np.rint(times / dt).astype(int) - 1


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_forward_euler_of_the_4d_project(dtype, x64):
    """v += (-(v - v_rest) + I)/tau_m dt: at I = 15 the fixed point is v_th and never reached."""
    euler = {"method": jn.integrators.forward_euler, "t_ref": 0.0, "c_m": 20.0, "tau_m": 20.0}
    model = jn.neurons.LIF(e_l=-65.0, v_th=-50.0, v_reset=-70.0, **euler)
    assert spike_steps(model, 15.0, 1.0, 1000, dtype).size == 0
    steps = spike_steps(model, 20.0, 1.0, 1000, dtype)
    assert steps.size == 31
    assert steps[0] == 27


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_forward_euler_of_lixirnet(dtype, x64):
    """dv = (-(v - e_l) + i/g_l) dt/tau_m, held at reset for 10 ms."""
    membrane = {"e_l": -75.0, "c_m": 100.0, "tau_m": 10.0, "method": jn.integrators.forward_euler}
    model = jn.neurons.LIF(v_th=-55.0, v_reset=-75.0, t_ref=10.0, **membrane)
    counts = [spike_steps(model, i, 0.1, 10_000, dtype).size for i in (100, 200, 201, 500)]
    assert counts == [0, 0, 16, 66]


def test_methods_agree_with_the_exact_step(x64):
    currents = np.random.default_rng(0).normal(300.0, 200.0, (1000, 1))
    traces = {}
    for name in ("rk4", "heun", "exponential_euler"):
        model = jn.neurons.LIF(**LIF, method=getattr(jn.integrators, name))
        traces[name], _ = run(model, drive(1000, current=currents))
    exact, _ = run(jn.neurons.LIF(**LIF), drive(1000, current=currents))
    np.testing.assert_allclose(traces["exponential_euler"], exact, rtol=1e-12)
    np.testing.assert_allclose(traces["rk4"], exact, rtol=1e-9)
    np.testing.assert_allclose(traces["heun"], exact, rtol=1e-5)


def test_a_step_that_forward_euler_does_not_bear():
    model = jn.neurons.LIF(tau_m=2.0, t_ref=5.0, method=jn.integrators.forward_euler)
    with pytest.raises(ValueError, match=r"dt must be at most 4 ms, .*; got 5 ms"):
        jn.simulate(model, 50.0, dt=5.0)


def decaying(dt, total=6.4):
    """v after `total` ms under two conductances that decay, in steps of dt."""
    opening = jn.synapses.ExponentialConductance(2.0, 0.0), 40.0
    shutting = jn.synapses.ExponentialConductance(3.0, -80.0), 400.0
    model = cast(jn.neurons.LIF(**LIF), jnp.float64)
    parts = [(cast(synapse, jnp.float64), np.full(1, g)) for synapse, g in (opening, shutting)]

    def body(_, carry):
        state, states, spiked = carry
        drive, new = jn.Drive(), []
        for (synapse, _), s in zip(parts, states):
            s, part = synapse.step(s, np.zeros(1), state.v, dt)
            drive = add_drives(drive, part)
            new.append(s)
        state, spikes = model.step(state, drive, dt)
        return state, new, spiked | spikes

    @jax.jit
    def end():
        states = [synapse.init(1)._replace(g=g) for synapse, g in parts]
        start = model.init(1), states, np.zeros(1, bool)
        return jax.lax.fori_loop(0, round(total / dt), body, start)

    state, _, spiked = end()
    assert not spiked[0]
    return float(state.v[0])


def test_conductances_that_decay_are_of_fourth_order(x64):
    def flow(t, v):
        opened, shut = 40.0 * np.exp(-t / 2.0), 400.0 * np.exp(-t / 3.0)
        leak = LIF["c_m"] / LIF["tau_m"] * (LIF["e_l"] - v)
        return (leak + opened * (0.0 - v) + shut * (-80.0 - v)) / LIF["c_m"]

    exact = solve_ivp(flow, (0.0, 6.4), [LIF["e_l"]], rtol=1e-12, atol=1e-12).y[0, -1]
    errors = [abs(decaying(dt) - exact) for dt in (0.2, 0.1, 0.05)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.abs(orders - 4.0).max() < 0.3, (errors, orders)


def test_v_stays_between_the_reversals_under_any_conductance():
    opened, shut, tau = (
        jnp.asarray(x.ravel(), jnp.float32)
        for x in np.meshgrid(10.0 ** np.arange(-1, 7), 10.0 ** np.arange(-1, 7), (0.01, 0.2, 30.0))
    )

    model = cast(jn.neurons.LIF(**LIF), jnp.float32)

    @jax.jit
    def step(opened, shut, tau):
        parts = (0.0, opened, tau), (-80.0, shut, 3.0)
        drive = jn.Drive()
        for e_rev, g, tau_syn in parts:
            numbers = jnp.float32(tau_syn), jnp.float32(e_rev)
            synapse = jn.synapses.ExponentialConductance(*numbers)
            state = synapse.init(g.size)._replace(g=g)
            drive = add_drives(drive, synapse.step(state, jnp.zeros_like(g), g, 1.0)[1])
        return model.step(model.init(g.size), drive, 1.0)[0].v

    v = np.asarray(step(opened, shut, tau))
    assert ((v >= -80.0 * (1 + 1e-6)) & (v <= 1e-4)).all(), (v.min(), v.max())
