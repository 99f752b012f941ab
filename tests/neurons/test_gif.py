"""The GIF neuron: its kernels, its adaptation, and the model without them."""

import dataclasses

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxneuro as jn
from jaxneuro._numerics.streams import Stream, stream_key

GIF = jn.neurons.GIF
MEMBRANE = {"c_m": 150.0, "g_l": 10.0, "e_l": -65.0, "v_reset": -58.0, "t_ref": 2.0}
KERNELS = {
    **{"tau_stc_1": 7.0, "q_stc_1": 90.0, "tau_stc_2": 40.0, "q_stc_2": -30.0},
    **{"tau_sfa_1": 11.0, "q_sfa_1": 9.0, "tau_sfa_2": 80.0, "q_sfa_2": 2.0},
}


def stream(n, seed=0):
    key = stream_key(np.uint32(seed), "test", "neuron")
    return jax.device_put(Stream(*key, np.arange(n, dtype=np.uint32)))


def run(model, state, current, n_steps, dt=0.1):
    """The states of every step."""
    drive = jn.Drive(current=np.full(state.v.shape, current, state.v.dtype))
    return jax.tree.map(np.asarray, _scan(model, state, drive, n_steps, dt))


@jax.jit(static_argnames=("n_steps", "dt"))
def _scan(model, state, drive, n_steps, dt):
    def body(state, _):
        state, _ = model.step(state, drive, dt)
        return state, state

    return jax.lax.scan(body, state, None, n_steps)[1]


@pytest.mark.slow
def test_without_kernels_it_is_the_escape_rate_lif():
    gif = GIF(**MEMBRANE, v_t_star=-52.0, delta_v=2.0, lambda_0=50.0)
    shared = {k: MEMBRANE[k] for k in ("c_m", "e_l", "v_reset", "t_ref")}
    lif = jn.neurons.EscapeRateLIF(**shared, tau_m=15.0, v_th=-52.0, rho_0=0.05, delta_u=2.0)
    a, b = (run(m, m.init(200, stream(200)), 150.0, 1000) for m in (gif, lif))
    assert np.asarray(a.spikes).sum() > 500
    np.testing.assert_array_equal(a.spikes, b.spikes)
    np.testing.assert_allclose(a.v, b.v, rtol=2e-6)


def after_one_spike(dt, stop=24.0):
    """The states after a spike, with no further one."""
    model = GIF(**MEMBRANE, v_t_star=1e3, **KERNELS)
    state = model.init(1, stream(1))._replace(spikes=np.ones(1, bool))
    return run(model, state, 40.0, round(stop / dt), dt)


def test_kernels_after_a_spike(x64):
    """Exponentials from q, also while the membrane is held."""
    states = after_one_spike(0.1)
    t = 0.1 * np.arange(1, 241)
    for name in ("stc_1", "stc_2", "sfa_1", "sfa_2"):
        expected = KERNELS[f"q_{name}"] * np.exp(-t / KERNELS[f"tau_{name}"])
        np.testing.assert_allclose(getattr(states, name)[:, 0], expected, rtol=1e-12)
    held = np.asarray(states.v)[:20]
    np.testing.assert_array_equal(held, -58.0)
    assert np.asarray(states.v)[20] != -58.0


def test_the_membrane_is_of_second_order(x64):
    def slope(t, v):
        stc = sum(
            KERNELS[f"q_stc_{j}"] * np.exp(-(t + 2.0) / KERNELS[f"tau_stc_{j}"]) for j in (1, 2)
        )
        return (-10.0 * (v + 65.0) - stc + 40.0) / 150.0

    times = np.arange(1, 55) * 0.4
    exact = solve_ivp(slope, (0, 22.0), [-58.0], t_eval=times, rtol=1e-12, atol=1e-12).y[0]
    errors = []
    for dt in (0.4, 0.2, 0.1):
        v = np.asarray(after_one_spike(dt).v)[round(2.0 / dt) :, 0]
        errors.append(np.abs(v[round(0.4 / dt) - 1 :: round(0.4 / dt)][:54] - exact).max())
    ratios = np.array(errors[:-1]) / errors[1:]
    assert ((ratios > 3.8) & (ratios < 4.2)).all(), errors
    assert errors[-1] < 1e-3


@pytest.mark.slow
def test_it_adapts():
    """The rate falls under a constant current, and not without the kernels."""
    model = GIF.cortical()
    plain = dataclasses.replace(
        model, **{f"q_{k}": 0.0 for k in ("stc_1", "stc_2", "sfa_1", "sfa_2")}
    )
    rates = []
    for m in (model, plain):
        spikes = np.asarray(run(m, m.init(300, stream(300)), 400.0, 10_000).spikes)
        rates.append([5.0 * part.sum() / 300 for part in (spikes[:2000], spikes[8000:])])
    (early, late), (first, last) = rates
    assert 5.0 < late < 0.75 * early
    assert last == pytest.approx(first, rel=0.05)


def test_threshold_kernels_lower_the_hazard():
    """Straight after a spike the chance is that of a threshold q higher."""
    n = 40_000
    model = GIF(**{**MEMBRANE, "v_reset": -65.0, "t_ref": 0.0}, v_t_star=-66.0, delta_v=5.0)
    model = dataclasses.replace(model, lambda_0=900.0, q_sfa_1=7.0)
    state = model.init(n, stream(n))._replace(spikes=np.ones(n, bool))
    spikes = jax.jit(lambda m, s: m.step(s, jn.Drive(), 0.1)[1])(model, state)
    got = np.asarray(spikes).mean()
    threshold = -66.0 + 7.0 * np.exp(-0.1 / 53.8)
    p = 1 - np.exp(-0.09 * np.exp((-65.0 - threshold) / 5.0))
    assert abs(got - p) < 4 * np.sqrt(p * (1 - p) / n)


@pytest.mark.slow
def test_it_runs_in_a_network():
    net = jn.build(
        jn.Description(
            [jn.Population("E", 50, GIF.cortical()), jn.Population("L", 20, jn.neurons.LIF())],
            [
                jn.Projection(
                    "E",
                    "L",
                    jn.connectivity.AllToAll(),
                    weight=200.0,
                    delay=1.0,
                    synapse=jn.synapses.Exponential(),
                )
            ],
            [jn.Stimulation("E", jn.stimuli.Current(250.0))],
        ),
        0,
        0.1,
    )
    record = jn.Record(variables={"E": ("v", "stc_1", "sfa_2")})
    result = jn.simulate(net, 200.0, key=1, record=record)
    assert result.events("E")[0].size > 100
    assert result.events("L")[0].size > 10
    assert result.traces["E"]["stc_1"].max() >= np.float32(56.7 * np.exp(-0.1 / 57.8))
