"""The GLIF levels: closed forms of each mechanism, and the level below where it is off."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxneuro as jn
from tests.zoo import cast

DT = 0.1
GLIF = jn.neurons.GLIF
C, G, E_L = 58.72, 9.43, -78.85


def run(model, n_steps, n=1, dt=DT, dtype=jnp.float64, state=None, **parts):
    """The states of every step under a constant drive."""
    model = cast(model, dtype)
    drive = jn.Drive(**{k: np.full(n, x, dtype) for k, x in parts.items()})
    start = model.init(n) if state is None else state
    return jax.tree.map(np.asarray, _scan(model, start, drive, n_steps, dt))


@jax.jit(static_argnames=("n_steps", "dt"))
def _scan(model, state, drive, n_steps, dt):
    def body(state, _):
        state, _ = model.step(state, drive, dt)
        return state, state

    return jax.lax.scan(body, state, None, n_steps)[1]


def test_level_1_is_the_lif(x64):
    currents = np.linspace(100.0, 700.0, 7)
    model = jn.neurons.LIF(C / G, C, E_L, -51.68, E_L, 3.8)
    ours = run(GLIF.glif1(), 5000, 7, current=currents)
    lif = run(model, 5000, 7, current=currents)
    assert ours.spikes.sum() > 100
    np.testing.assert_array_equal(ours.spikes, lif.spikes)
    np.testing.assert_allclose(ours.v, lif.v, rtol=1e-12)


def test_level_1_f_i_curve(x64):
    """Each interval is the analytic one, rounded up to the grid."""
    currents = np.array([257.0, 300.0, 450.0, 900.0])
    spikes = run(GLIF.glif1(), 5000, 4, current=currents).spikes
    for k, top in enumerate(currents / G):
        rise = C / G * np.log(top / (top - 27.17))
        expected = np.ceil(rise / DT - 1e-6) + 38
        np.testing.assert_array_equal(np.diff(np.flatnonzero(spikes[:, k])), expected)


def test_level_2_reset_and_threshold(x64):
    """v = e_l + f_v (v - e_l) + delta_v; the threshold jumps, and decays since the spike."""
    states = run(GLIF.glif2(b_s=0.03, delta_theta_s=4.0), 4000, current=300.0)
    at = np.flatnonzero(states.spikes[:-50, 0])
    assert at.size > 10
    v, theta = states.v[:, 0], states.theta_s[:, 0]
    np.testing.assert_allclose(v[at + 1], E_L + 0.2 * (v[at] - E_L) + 18.51, rtol=1e-12)
    assert (v[at + 38] == v[at + 1]).all()
    assert (v[at + 39] != v[at + 1]).all()
    np.testing.assert_allclose(theta[at + 1], theta[at] * np.exp(-0.03 * 3.8) + 4.0, rtol=1e-12)
    free = at[0] + 39 + np.arange(at[1] - at[0] - 38)
    expected = 4.0 * np.exp(-0.03 * DT * (free - at[0] - 38))
    np.testing.assert_allclose(theta[free], expected, rtol=1e-12)
    assert (v[at] >= -51.68 + theta[at]).all()
    assert (np.diff(at) > np.diff(at)[0]).any()  # the threshold rises from spike to spike


def test_level_3_currents_of_a_regular_train(x64):
    """In steps of equal intervals T each current is the fixed point of its own reset."""
    given = {"f_1": 0.6, "delta_i_1": -20.0, "f_2": 0.9, "delta_i_2": 35.0}
    states = run(GLIF.glif3(**given, k_1=0.02), 20_000, current=420.0)
    at = np.flatnonzero(states.spikes[:, 0])
    intervals = np.diff(at)[-5:]
    assert np.ptp(intervals) == 0
    t = intervals[0] * DT
    for asc, k, f, delta in ((states.asc_1, 0.02, 0.6, -20.0), (states.asc_2, 0.1, 0.9, 35.0)):
        # delta decays over T - t_ref, what was there over the whole interval.
        expected = delta * np.exp(-k * (t - 3.8)) / (1 - f * np.exp(-k * t))
        np.testing.assert_allclose(asc[at[-1], 0], expected, rtol=1e-10)


@pytest.mark.slow
def test_currents_are_of_second_order(x64):
    """v under a decaying current, against the exact solution."""

    def v_end(dt):
        model = GLIF.glif3(v_th=1e3, k_2=0.5)
        state = model.init(1)._replace(asc_2=np.array([200.0]), asc_1=np.array([-50.0]))
        return run(model, round(8.0 / dt), dt=dt, state=state).v[-1, 0]

    exact = solve_ivp(
        lambda t, v: (-G * (v - E_L) + 200.0 * np.exp(-0.5 * t) - 50.0 * np.exp(-0.003 * t)) / C,
        (0.0, 8.0),
        [E_L],
        rtol=1e-12,
        atol=1e-12,
    ).y[0, -1]
    errors = [abs(v_end(dt) - exact) for dt in (0.8, 0.4, 0.2)]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert ((ratios > 3.8) & (ratios < 4.2)).all(), errors


@pytest.mark.parametrize("b_v", [0.09, G / C, 0.9])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_level_5_threshold_follows_the_voltage(b_v, dtype, x64):
    """The exact response to a step of current, also where both relax at one rate."""
    states = run(GLIF.glif5(b_v=b_v, a_v=0.02), 800, dtype=dtype, current=150.0)
    t, u, rate = DT * np.arange(1, 801), 150.0 / G, G / C
    passing = t * np.exp(-rate * t)
    if b_v != G / C:
        passing = (np.exp(-rate * t) - np.exp(-b_v * t)) / (b_v - rate)
    expected = 0.02 * u * ((1 - np.exp(-b_v * t)) / b_v - passing)
    rtol = 1e-11 if dtype == jnp.float64 else 1e-5
    np.testing.assert_allclose(states.theta_v[:, 0], expected, rtol=rtol, atol=rtol)
    assert expected[-1] == pytest.approx(0.02 / b_v * u, rel=0.01)


def test_a_slope_where_both_relax_at_one_rate(x64):
    """d theta_v / d b_v has no hole at b_v = g_l / c_m: it equals the difference quotient."""

    @jax.jit
    @jax.value_and_grad
    def end(b_v):
        model = dataclasses.replace(GLIF.glif5(c_m=100.0, g_l=5.0), b_v=b_v)
        state = model.init(1)._replace(v=np.array([-60.0]))
        return model.step(state, jn.Drive(current=np.array([30.0])), 1.0)[0].theta_v[0]

    slope = end(0.05)[1]
    quotient = (end(0.0501)[0] - end(0.0499)[0]) / 2e-4
    assert slope == pytest.approx(float(quotient), rel=1e-6)


def test_any_conductance_is_stable(x64):
    for dtype in (jnp.float32, jnp.float64):
        states = run(GLIF.glif5(v_th=1e3), 20, dtype=dtype, conductance=1e9, current=-70e9)
        np.testing.assert_allclose(states.v, -70.0, rtol=1e-5)
        assert np.isfinite(states.theta_v).all()


def test_levels_add_mechanisms(x64):
    """What is off in each level stays 0; what is on does not."""
    on = {1: (), 2: ("theta_s",), 3: ("asc_1", "asc_2"), 4: ("theta_s", "asc_1", "asc_2")}
    on[5] = (*on[4], "theta_v")
    for level, names in on.items():
        states = run(getattr(GLIF, f"glif{level}")(), 2000, current=400.0)
        assert states.spikes.sum() > 5
        for name in ("theta_s", "asc_1", "asc_2", "theta_v"):
            assert (getattr(states, name) != 0).any() == (name in names), (level, name)
    assert GLIF.glif5(f_1=0.5) == GLIF(f_1=0.5)


@pytest.mark.slow
def test_levels_share_a_group():
    populations = [jn.Population(str(k), 5, getattr(GLIF, f"glif{k}")()) for k in range(1, 6)]
    stimuli = [jn.Stimulation(p.name, jn.stimuli.Current(400.0)) for p in populations]
    net = jn.build(jn.Description(populations, [], stimuli), 0, 0.1)
    assert len(net.groups) == 1
    result = jn.simulate(net, 100.0, record=jn.Record(variables={"5": ("v", "theta_v")}))
    for p in populations:
        alone = jn.simulate(p.model, 100.0, current=400.0, n=5, dt=0.1)
        np.testing.assert_array_equal(result.events(p.name), alone.events("neurons"))
    assert result.traces["5"]["theta_v"].max() > 0.5


def test_no_spikes_while_refractory():
    """A strong current leaves v above the threshold after the reset: spikes are 5 steps apart."""
    result = jn.simulate(GLIF(t_ref=4.0), 20.0, dt=1.0, current=2000.0)
    np.testing.assert_array_equal(result.events("neurons")[0], [1.0, 6.0, 11.0, 16.0])
