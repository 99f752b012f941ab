"""The neurons with exact propagators against closed forms and published numbers."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.neurons import IafPscAlpha, IafPscDelta, IafPscExp
from tests.oracle import iaf_psc as oracle
from tests.refusing import assert_refused
from tests.zoo import cast

DT = 0.1
E = np.e
KINDS = {"exp": IafPscExp, "alpha": IafPscAlpha, "delta": IafPscDelta}
# At rest at 0 and never at threshold.
QUIET = {"e_l": 0.0, "v_reset": 0.0, "v_th": 1e6}
every_kind = pytest.mark.parametrize("model", KINDS.values(), ids=KINDS.keys())
with_currents = pytest.mark.parametrize("model", [IafPscExp, IafPscAlpha], ids=("exp", "alpha"))


def run(model, n_steps, arrivals=None, dt=DT, n=1, **parts):
    """The states of all steps; arrivals {port: (steps, n)}, parts of the drive likewise."""
    dtype = jnp.result_type(float)
    full = lambda x: np.broadcast_to(np.asarray(x, dtype), (n_steps, n))  # noqa: E731
    ports = {port: full((arrivals or {}).get(port, 0.0)) for port in model.ports}
    drives = jn.Drive(**{k: full(x) for k, x in parts.items()}, arrivals=ports or None)

    return jax.tree.map(np.asarray, _scan(model, model.init(n), drives, dt))


@jax.jit(static_argnames="dt")
def _scan(model, state, drives, dt):
    def body(state, drive):
        state = model.step(state, drive, dt)[0]
        return state, state

    return jax.lax.scan(body, state, drives)[1]


@functools.partial(jax.jit, static_argnames="dt")
def one_step(model, state, drive, dt):
    return model.step(state, drive, dt)[0]


def one_spike(n_steps, weight=1.0):
    """A spike that arrives at the end of the first step."""
    return np.where(np.arange(n_steps)[:, None] == 0, weight, 0.0)


def test_the_propagators_of_the_microcircuit(x64):
    model = IafPscExp(**QUIET, tau_syn_ex=0.5, tau_syn_in=0.5)
    state = model.init(2)._replace(i_ex=np.array([1.0, 0.0]), v=np.array([0.0, 1.0]))
    new = one_step(model, state, jn.Drive(), DT)
    np.testing.assert_allclose(new.i_ex[0], 0.8187307531, atol=5e-11)
    # The published 3.606716717e-4 has seven digits: the closed form is 3.6067174878e-4.
    closed = (np.exp(-0.01) - np.exp(-0.2)) / 475.0
    assert closed == pytest.approx(3.606716717e-4, rel=3e-7)
    np.testing.assert_allclose(new.v, [closed, 0.9900498337], rtol=1e-10)
    new = one_step(model, model.init(1), jn.Drive(current=np.ones(1)), DT)
    np.testing.assert_allclose(new.v, 3.980066500e-4, rtol=2e-10)


@pytest.mark.parametrize("tau", [0.5, 2.0, 10.0, 25.0])
def test_psp_of_an_exponential_current(tau, x64):
    """The closed form at every step, and its peak of 0.15 mV in the microcircuit."""
    weight, tau_m, c_m = 87.80849, 10.0, 250.0
    model = IafPscExp(**QUIET, tau_syn_ex=tau, tau_syn_in=tau)
    states = run(model, 1001, {"ex": one_spike(1001, weight)})
    t = DT * np.arange(1001)
    if tau == tau_m:
        expected, peak = t * np.exp(-t / tau), tau
    else:
        expected = (np.exp(-t / tau_m) - np.exp(-t / tau)) / (1 / tau - 1 / tau_m)
        peak = np.log(tau / tau_m) / (1 / tau_m - 1 / tau)
    np.testing.assert_allclose(states.v[:, 0], weight / c_m * expected, atol=1e-13)
    np.testing.assert_allclose(states.i_ex[:, 0], weight * np.exp(-t / tau), rtol=1e-12)
    assert abs(t[np.argmax(states.v)] - peak) <= DT
    if tau == 0.5:
        assert float(states.v.max()) == pytest.approx(0.15, rel=2e-3)


@pytest.mark.parametrize("tau", [0.5, 2.0, 10.0, 25.0])
def test_psp_of_an_alpha_current(tau, x64):
    """The closed form at every step; the current peaks at the weight, tau after the spike."""
    weight, tau_m, c_m = -120.0, 10.0, 250.0
    model = IafPscAlpha(**QUIET, tau_syn_ex=tau, tau_syn_in=tau)
    states = run(model, 1001, {"in": one_spike(1001, weight)})
    t = DT * np.arange(1001)
    x = 1 / tau - 1 / tau_m
    expected = 0.5 * t**2 * np.exp(-t / tau)
    if tau != tau_m:
        expected = (np.exp(-t / tau_m) - np.exp(-t / tau) * (1 + x * t)) / x**2
    np.testing.assert_allclose(states.v[:, 0], weight * E / tau / c_m * expected, atol=1e-12)
    current = weight * t / tau * np.exp(1 - t / tau)
    np.testing.assert_allclose(states.i_in[:, 0], current, atol=1e-11)
    assert float(states.i_in[round(tau / DT), 0]) == pytest.approx(weight, rel=1e-12)
    assert np.argmin(states.i_in) == round(tau / DT)


NEAR = [sign * 10.0**-k for k in range(1, 8) for sign in (1, -1)]
TAUS = np.float32([10.0 * (1 + x) for x in (0.0, *NEAR)] + [0.05, 0.1, 0.3, 3.0, 90.0, 2e3])


def propagated(kind, dt):
    """What one pA of current, or of its slope, adds to v in a step; and the oracle's."""
    model = cast(KINDS[kind](**QUIET, tau_syn_ex=TAUS), np.float32)
    state = model.init(TAUS.size)
    first = {"exp": "i_ex", "alpha": "di_ex"}[kind]
    state = state._replace(**{first: np.ones(TAUS.size, np.float32)})
    params = {"tau_m": 10.0, "c_m": 250.0, "tau_syn_ex": TAUS.astype(float), "tau_syn_in": 2.0}
    matrix, at = oracle.propagator(kind, params, dt)
    return one_step(model, state, jn.Drive(), dt), matrix, at, first


@pytest.mark.parametrize("dt", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("kind", ["exp", "alpha"])
def test_float32_near_equal_time_constants(kind, dt):
    """tau_syn = tau_m, next to it and far from it: a few ulp."""
    new, matrix, at, first = propagated(kind, dt)
    assert new.v.dtype == jnp.float32
    np.testing.assert_allclose(new.v, matrix[:, at["u"], at[first]], rtol=8e-7)


@pytest.mark.parametrize("kind", ["exp", "alpha"])
def test_float32_slopes_near_equal_time_constants(kind):
    """The derivative of v by tau_syn, against differences of the oracle in float64."""
    taus = TAUS[: len(NEAR) + 1]
    first = {"exp": "i_ex", "alpha": "di_ex"}[kind]

    plain = cast(KINDS[kind](**QUIET), np.float32)

    def v(tau):
        model = dataclasses.replace(plain, tau_syn_ex=tau)
        state = model.init(taus.size)._replace(**{first: np.ones(taus.size, np.float32)})
        return jnp.sum(model.step(state, jn.Drive(), DT)[0].v)

    def theirs(tau):
        params = {"tau_m": 10.0, "c_m": 250.0, "tau_syn_ex": tau, "tau_syn_in": 2.0}
        matrix, at = oracle.propagator(kind, params, DT)
        return matrix[:, at["u"], at[first]]

    wide = 1e-3 * taus.astype(float)
    expected = (theirs(taus + wide) - theirs(taus - wide)) / (2 * wide)
    np.testing.assert_allclose(jax.jit(jax.grad(v))(taus), expected, rtol=1e-4)


@pytest.mark.slow
def test_the_current_is_exact_for_any_step(x64):
    for model in KINDS.values():
        for dt in (0.1, 2.0):
            v = run(model(**QUIET), 20, dt=dt, current=300.0).v[:, 0]
            expected = 300.0 * 10.0 / 250.0 * -np.expm1(-dt * np.arange(1, 21) / 10.0)
            np.testing.assert_allclose(v, expected, rtol=1e-13)


@pytest.mark.slow(but=["exp"])
@with_currents
def test_superposition(model, x64):
    """The answer to all inputs together is the sum of the answers to each."""
    rng = np.random.default_rng(0)
    few = lambda: (rng.random((300, 1)) < 0.1) * rng.normal(0, 80, (300, 1))  # noqa: E731
    ex, inh, current, jump = few(), few(), rng.normal(0, 300, (300, 1)), few() / 40
    quiet = model(**QUIET, tau_syn_ex=0.7, tau_syn_in=4.0)
    alone = [
        run(quiet, 300, {"ex": ex}).v,
        run(quiet, 300, {"in": inh}).v,
        run(quiet, 300, current=current).v,
        run(quiet, 300, jump=jump).v,
    ]
    assert min(np.abs(v).max() for v in alone) > 0.5
    together = run(quiet, 300, {"ex": ex, "in": inh}, current=current, jump=jump).v
    np.testing.assert_allclose(together, sum(alone), atol=1e-12)


@pytest.mark.slow
def test_lif_with_exponential_synapses_comes_near_in_second_order(x64):
    """Their difference falls four times when dt halves: means couple in second order."""
    apart = []
    for per_ms in (5, 10, 20, 40):
        dt, rng = 1.0 / per_ms, np.random.default_rng(3)
        spikes = np.zeros((100 * per_ms, 1))
        spikes[per_ms - 1 :: per_ms] = rng.normal(0, 100, (100, 1))
        v = run(IafPscExp(**QUIET), len(spikes), {"ex": spikes}, dt).v
        lif, synapse = jn.neurons.LIF(**QUIET), jn.synapses.Exponential(2.0)

        @jax.jit
        def other(arrivals, lif=lif, synapse=synapse, dt=dt):
            def body(state, arrivals):
                neuron, receptor = state
                receptor, drive = synapse.step(receptor, arrivals, neuron.v, dt)
                neuron, _ = lif.step(neuron, drive, dt)
                return (neuron, receptor), neuron.v

            return jax.lax.scan(body, (lif.init(1), synapse.init(1)), arrivals)[1]

        apart.append(np.abs(v - other(spikes))[per_ms - 1 :: per_ms].max())
    ratios = np.divide(apart[:-1], apart[1:])
    assert ((ratios > 3.9) & (ratios < 4.1)).all(), ratios


@pytest.mark.slow
@with_currents
def test_currents_go_on_while_v_is_held(model, x64):
    """Held through t_ref/dt steps; what arrives meanwhile is in the currents, jumps are lost."""
    n = 60
    ex = one_spike(n, 20.0)
    # The jump of the third step brings v to threshold.
    jump = 20.0 * (np.arange(n) == 2)[:, None] + 3.0 * (np.arange(n) == 9)[:, None]
    ex[8] = 20.0
    states = run(model(t_ref=2.0), n, {"ex": ex}, jump=jump)
    assert np.flatnonzero(states.spikes[:, 0]).tolist() == [2]
    np.testing.assert_array_equal(states.v[3:23, 0], -70.0)
    assert float(states.v[23, 0]) > -70.0
    free = run(model(**QUIET), n, {"ex": ex})
    np.testing.assert_array_equal(states.i_ex, free.i_ex)
    assert float(states.i_ex[22, 0]) > 1.0


def test_delta_is_lif_without_conductance(x64):
    rng = np.random.default_rng(1)
    current, jump = rng.normal(450, 300, (2000, 8)), rng.normal(0, 1, (2000, 8))
    ours = run(IafPscDelta(v_reset=-66.0), 2000, n=8, current=current, jump=jump)
    lif = run(jn.neurons.LIF(v_reset=-66.0), 2000, n=8, current=current, jump=jump)
    assert ours.spikes.sum() > 100
    np.testing.assert_array_equal(ours.spikes, lif.spikes)
    np.testing.assert_allclose(ours.v, lif.v, rtol=1e-13)


@every_kind
def test_the_voltage_that_synapses_see_is_after_the_reset(model, x64):
    neuron = model(v_reset=-63.0)
    state = neuron.init(2)._replace(v=np.array([-40.0, -60.0]), spikes=np.array([True, False]))
    np.testing.assert_array_equal(neuron.voltage(state), [-63.0, -60.0])


@every_kind
def test_defaults_are_those_of_nest(model):
    values = {k: float(getattr(model(), k)) for k in ("tau_m", "c_m", "e_l", "v_th", "v_reset")}
    expected = {"tau_m": 10.0, "c_m": 250.0, "e_l": -70.0, "v_th": -55.0, "v_reset": -70.0}
    assert values == expected
    assert float(model().t_ref) == 2.0
    assert all(float(getattr(model(), f"tau_syn_{port}")) == 2.0 for port in model.ports)


def described(model, synapse, weight=2.0):
    stimulus = jn.Stimulation("N", jn.stimuli.Poisson(5000.0), weight=weight, synapse=synapse)
    return jn.Description([jn.Population("N", 4, model)], [], [stimulus])


@every_kind
def test_build_refuses_conductances(model):
    synapse = jn.synapses.ExponentialConductance()
    with pytest.raises(ValueError, match=r"drive\.conductance.*ExponentialConductance"):
        jn.build(described(model(), synapse), 0, DT)


@with_currents
def test_build_refuses_another_port(model):
    build = lambda: jn.build(described(model(), jn.synapses.Direct("inh")), 0, DT)  # noqa: E731
    assert_refused(build, "stimulation 'Poisson->N'", "synapse", "inh")


@pytest.mark.slow(but=["Direct(port='ex')-2.0--69.2"])
@pytest.mark.parametrize(
    ("synapse", "weight", "mean"),
    [
        (jn.synapses.Direct("ex"), 2.0, -69.2),
        (jn.synapses.Direct("in"), -2.0, -70.8),
        (jn.synapses.Delta(), 2.0, None),
    ],
    ids=str,
)
def test_a_network_feeds_them(synapse, weight, mean):
    """2 at a time from 5000 Hz: 20 pA of mean current are 0.8 mV; jumps of 2 mV fire it."""
    net = jn.build(described(IafPscExp(), synapse, weight), 0, DT)
    record = jn.Record(variables={"N": "v"})
    result = jn.simulate(net, 200.0, record=record, progress=False)
    spikes = result.events("N")[0].size
    assert (spikes > 20) == isinstance(synapse, jn.synapses.Delta)
    if not spikes:
        assert np.asarray(result.traces["N"]["v"])[500:].mean() == pytest.approx(mean, abs=0.2)
