"""The Hodgkin-Huxley neuron against published numbers, an adaptive solver and bad input."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import jaxneuro as jn
from jaxneuro.analysis import crossing_times
from tests.neurons.constant import end, run, steps_of
from tests.oracle import hodgkin_huxley as oracle
from tests.refusing import assert_refused

HH, ch, rk4 = jn.neurons.HodgkinHuxley, jn.channels, jn.integrators.rk4
EVERYTHING = jn.Record(variables={"neurons": ...})
SQUID = {
    "channels": [
        {"kind": "SquidSodium", "g": 120.0, "e_rev": 50.0, "v_rest": -65.0},
        {"kind": "SquidPotassium", "g": 36.0, "e_rev": -77.0, "v_rest": -65.0},
        {"kind": "Leak", "g": 0.3, "e_rev": -54.387},
    ],
    **{"c_m": 1.0, "q10": 3.0, "celsius": 6.3, "v_start": -65.0},
}
SHIFTED = {"m": ch.SquidSodium, "n": ch.SquidPotassium}


def constant(model, current, ms, dt, dtype=jnp.float32):
    """(spikes, states) of every step."""
    return run(model, current, round(ms / dt), dt, dtype)


def test_gates_at_rest(x64):
    state = jax.jit(lambda model: model.init(1))(HH())
    gates = [float(np.asarray(x)[0]) for x in (state.m, state.h, state.n)]
    np.testing.assert_allclose(gates, [0.05293249, 0.59612075, 0.31767691], atol=5e-9)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_two_spikes_of_a_pulse(dtype, x64):
    """10 uA/cm2 from 10 to 40 ms, RK4 at 0.01 ms."""
    stimulus = np.zeros((10_000, 1))
    stimulus[1000:4000] = 10.0
    result = jn.simulate(HH(), current=stimulus, dt=0.01, dtype=dtype, record=EVERYTHING)
    v = result.traces["neurons"]["v"][:, 0]
    np.testing.assert_allclose(crossing_times(result).times, [11.9013, 26.8227], atol=1e-4)
    assert result.events("neurons")[0].size == 2
    np.testing.assert_allclose([v.max(), v.min(), v[-1]], [40.263, -75.078, -64.9964], atol=6e-4)
    assert set(result.traces["neurons"]) == {"v", "m", "h", "n"}


@pytest.mark.slow(but=["float32"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_spikes_of_a_second(dtype, x64):
    model = HH(method=rk4)
    spikes, _ = constant(model, [6.3, 10.0], 1000.0, 0.02, dtype)
    np.testing.assert_array_equal(spikes.sum(0), [53, 69])
    late = 0.02 * steps_of(spikes, 1)
    late = late[late > 500.0]
    assert 1e3 / np.diff(late).mean() == pytest.approx(68.3, abs=0.1)


@pytest.mark.slow
def test_the_count_does_not_depend_on_dt():
    counts = [int(constant(HH(), 10.0, 200.0, dt)[0].sum()) for dt in (0.01, 0.005)]
    assert counts[0] == counts[1] > 10


def exact(times, current):
    y = [float(x[0]) for x in oracle.start(SQUID, 1)]
    found = solve_ivp(
        lambda _, y: np.ravel(oracle.derivatives(y, SQUID, current)),
        (0.0, times[-1]),
        y,
        method="DOP853",
        rtol=1e-10,
        atol=1e-12,
        t_eval=times,
    )
    return found.y


@pytest.mark.slow
def test_an_adaptive_solver_agrees(x64):
    _, states = constant(HH(), 10.0, 60.0, 0.005, jnp.float64)
    ours = np.stack([getattr(states, k)[:, 0] for k in ("v", "m", "h", "n")])
    reference = exact(0.005 * np.arange(1, 12_001), 10.0)
    assert (reference[0] > 0).any()
    np.testing.assert_allclose(ours, reference, atol=2e-5, rtol=1e-6)


@pytest.mark.slow(but=["forward_euler-1"])
@pytest.mark.parametrize(
    ("method", "order"), [("forward_euler", 1), ("exponential_euler", 1), ("heun", 2), ("rk4", 4)]
)
def test_order_of_convergence(method, order, x64):
    """Up the foot of a spike, to 1.4 ms."""
    model = HH(method=getattr(jn.integrators, method))
    reference, errors = exact(np.array([1.4]), 20.0)[0, 0], []
    for dt in (0.02, 0.01, 0.005):
        errors.append(abs(end(model, 20.0, round(1.4 / dt), dt).v[0] - reference))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert ((ratios > 0.75 * 2**order) & (ratios < 1.3 * 2**order)).all(), ratios


def test_1952_is_the_same_neuron_counted_from_rest(x64):
    spikes, modern = constant(HH(), 10.0, 50.0, 0.01, jnp.float64)
    same, old = constant(HH.squid_1952(), 10.0, 50.0, 0.01, jnp.float64)
    np.testing.assert_allclose(old.v - 65.0, modern.v, atol=1e-7)
    np.testing.assert_array_equal(same, spikes)
    assert spikes.any()


def test_temperature_speeds_up_gates(x64):
    """q10^((celsius - 6.3)/10), for gates only: 10 C more is a factor of 3."""
    y = tuple(np.array([x]) for x in (-50.0, 0.2, 0.5, 0.4))
    flow = jax.jit(lambda model: model._flow(y, jn.Drive()))
    cold, warm = (flow(HH(celsius=t)) for t in (6.3, 16.3))
    np.testing.assert_allclose(warm[0].rate, cold[0].rate, rtol=1e-12)
    for a, b in zip(cold[1:], warm[1:]):
        np.testing.assert_allclose(b.opening, 3.0 * np.asarray(a.opening), rtol=1e-12)
        np.testing.assert_allclose(b.closing, 3.0 * np.asarray(a.closing), rtol=1e-12)


@pytest.mark.slow
def test_a_channel_is_added_by_naming_it():
    model = HH().with_channel(ch.PotassiumA(g=20.0)).with_channel(ch.CalciumL())
    assert jax.eval_shape(lambda: model.init(2))._fields == ("v", "m", "h", "n", "a", "b", "q", "r")
    first = 0.01 * steps_of(constant(HH(), 12.0, 40.0, 0.01)[0])[0]
    late = 0.01 * steps_of(constant(model, 12.0, 40.0, 0.01)[0])
    assert late.size == 0 or late[0] > first + 0.5  # what an A current does
    replaced = model.with_channel(ch.SquidSodium(g=80.0))
    assert len(replaced.channels) == len(model.channels)
    assert float(replaced.channels[-1].g) == 80.0


@pytest.mark.slow
def test_an_m_current_adapts():
    model = HH(celsius=36.0, q10=1.0).with_channel(ch.PotassiumM(g=0.8, tau_max=300.0))
    gaps = np.diff(steps_of(constant(model, 20.0, 400.0, 0.01)[0]))
    assert gaps.size > 5
    assert gaps[-1] > 1.1 * gaps[0]


@pytest.mark.slow
def test_every_neuron_has_its_own_parameters():
    g = np.linspace(100.0, 140.0, 4)
    together = HH().with_channel(ch.SquidSodium(g=g))
    many = constant(together, np.full(4, 10.0), 30.0, 0.01)[1].v
    for k in range(4):
        alone = HH().with_channel(ch.SquidSodium(g=g[k]))
        one = constant(alone, 10.0, 30.0, 0.01)[1].v
        np.testing.assert_allclose(many[:, k], one[:, 0], atol=2e-2)
    assert np.ptp(many, axis=1).max() > 5.0


@pytest.mark.slow
def test_channels_can_be_set():
    net = jn.build(jn.Description([jn.Population("c", 2, HH())]), 0, 0.01)
    channels = (ch.SquidSodium(g=0.0), ch.SquidPotassium(), ch.Leak())
    blocked = net.set("c", channels=channels)
    stimulus = {"c": np.full(3000, 10.0)}
    assert jn.simulate(net, 30.0, inputs=stimulus).events("c")[0].size == 4
    assert jn.simulate(blocked, 30.0, inputs=stimulus).events("c")[0].size == 0
    assert_refused(
        lambda: net.set("c", channels=channels[:2]), "population 'c'", "channels", "another kind"
    )
    assert_refused(
        lambda: net.set("c", channels=(ch.SquidSodium(g=[1.0, 2.0, 3.0]), *channels[1:])),
        "population 'c': channels: SquidSodium",
        "g",
        "(3,)",
    )


@pytest.mark.slow
def test_gradient_of_a_voltage(x64):
    """Of v before the spike with respect to conductances: equal to central differences."""

    def voltage(g):
        channels = (ch.SquidSodium(g=g[0]), ch.SquidPotassium(g=g[1]), ch.Leak(g=g[2]))
        model = dataclasses.replace(HH(), channels=channels)
        body = lambda s, _: (model.step(s, jn.Drive(current=np.full(1, 8.0)), 0.01)[0], None)  # noqa: E731
        return jax.lax.scan(body, model.init(1), None, length=150)[0].v[0]

    g = np.array([120.0, 36.0, 0.3])
    f = jax.jit(jax.value_and_grad(voltage))
    slope = np.asarray(f(g)[1])
    for k in range(3):
        step = np.where(np.arange(3) == k, 1e-5 * g, 0.0)
        numeric = (float(f(g + step)[0]) - float(f(g - step)[0])) / (2e-5 * g[k])
        assert slope[k] == pytest.approx(numeric, rel=1e-6)


@pytest.mark.slow
def test_state0_and_the_mean_of_a_signal():
    start = {"v": [-70.0, -60.0], "n": 0.4}
    result = jn.simulate(HH(), 1.0, dt=0.01, n=2, state0=start, record=EVERYTHING)
    first = {k: x[0] for k, x in result.traces["neurons"].items()}
    assert abs(first["v"] - [-70.0, -60.0]).max() < 0.5
    assert abs(first["n"] - 0.4).max() < 0.01
    again = jn.simulate(
        HH(), 1.0, dt=0.01, state0=HH().init(3)._replace(v=np.full(3, -61.0, np.float32))
    )
    assert again.populations == {"neurons": 3}


@pytest.mark.slow
@pytest.mark.parametrize("field", ["celsius", "q10"])
def test_temperatures_of_their_own(field):
    values = {"celsius": [6.3, 12.0, 18.0], "q10": [1.0, 2.0, 3.0]}[field]
    model = HH(celsius=12.0, q10=2.5)
    many = dataclasses.replace(model, **{field: np.array(values)})
    v = constant(many, np.full(3, 12.0), 20.0, 0.01)[1].v
    for k, x in enumerate(values):
        alone = dataclasses.replace(model, **{field: x})
        one = constant(alone, 12.0, 20.0, 0.01)[1].v
        np.testing.assert_allclose(v[:, k], one[:, 0], atol=2e-2)


@pytest.mark.parametrize("current", [-30.0, -50.0, -300.0])
def test_hyperpolarisation_is_borne(current):
    v = constant(HH(), current, 50.0, 0.01)[1].v[:, 0]
    # Below rest only the leak and h are left: a straight line.
    assert v[-1] == pytest.approx(-54.387 + current / 0.3, rel=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jn.simulate(HH(), 1.0, dt=0.01, state0=-70.0), "state0 must be start values"),
        (lambda: jn.simulate(HH(), 1.0, dt=0.01, record="v"), "record must be a Record"),
        (lambda: jn.simulate(HH(), 10.0, dt=0.5), "dt must be at most 0.3092 ms"),
        (lambda: jn.simulate(HH(celsius=26.3), 10.0, dt=0.05), "at most 0.034"),
        (lambda: jn.simulate(HH(), current=np.zeros((10, 2)), n=3, dt=0.01), r"\(n_steps, 3\)"),
        (lambda: jn.simulate(HH(), current=np.zeros((4, 3, 2)), dt=0.01), r"shape \(4, 3, 2\)"),
        (lambda: jn.simulate(HH(), current=[[1.0], [1.0, 2.0]], dt=0.01), "current must be"),
        (
            lambda: jn.simulate(HH(), current=[[0.0], [np.nan]], dt=0.01),
            "must be finite; got nan at index 1",
        ),
        (lambda: jn.simulate(HH(), 1.0, dt=0.01, state0={"q": 1.0}), "named 'q'"),
        (lambda: jn.simulate(HH(), 1.0, dt=0.01, state0={"m": 5.0}), "m must be from 0 to 1"),
        (lambda: HH(celsius=310.0), "celsius must be .*at most 100"),
        (
            lambda: jn.simulate(HH(), current=np.full((4000, 1), 3e4), dt=0.05),
            "it turned so between",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_exponential_euler_bears_any_dt():
    model = HH(method=jn.integrators.exponential_euler)
    v = constant(model, 10.0, 100.0, 1.0)[1].v
    assert np.isfinite(v).all()
    assert np.abs(v).max() < 200.0
