"""STDP gated by a reward: touched seldom or in every step, it is one integral."""

import itertools

import jax
import numpy as np
import pytest
from scipy.integrate import quad

import jaxneuro as jn
from jaxneuro.plasticity import Normalized, RewardModulatedSTDP
from tests.plasticity.replay import replay

STEPS = 10_000


def signal(steps, seed=3):
    random = np.random.default_rng(seed)
    return {"reward": np.where(random.random(steps) < 0.002, random.random(steps), 0.0)}


def touched(steps, spacing):
    """Presynaptic events at times that cross the windows, no further apart than one of them."""
    return np.arange(100, steps, spacing)


@pytest.fixture
def precise(x64):
    return RewardModulatedSTDP(baseline=0.01, w_max=1e4)


@pytest.mark.slow(but=["4096"])
@pytest.mark.parametrize("spacing", [37, 1100, 4096])
def test_seldom_is_as_often_to_the_last_digit(spacing, precise):
    given = {"pre": touched(STEPS, spacing), "post": [103, 108, 4000, 7000]}
    given |= {"signals": signal(STEPS), "steps": STEPS, "weight": 100.0}
    last = given["pre"][-1]
    lazy, eager = (replay(precise, **given, eager=eager).weight[last] for eager in (False, True))
    assert lazy == pytest.approx(eager, rel=1e-11)


@pytest.mark.slow(but=["1000.0-200.0-1100-1e-06-0.1", "300.0-40.0-37-2e-06-1.0"])
@pytest.mark.parametrize("dt", [0.1, 1.0])
@pytest.mark.parametrize(("spacing", "close"), [(37, 2e-6), (1100, 1e-6), (4096, 1e-6)])
@pytest.mark.parametrize(("tau_c", "tau_n"), [(1000.0, 200.0), (300.0, 40.0)])
def test_float32_is_near_float64(spacing, close, tau_c, tau_n, dt, x64):
    """Touched seldom in float32, and in every step in float64: the sums keep what rounding lost.

    In float32 a synapse that is touched often is the worse one: c and the weight are rounded at
    each touch.
    """
    given = {"pre": touched(STEPS, spacing), "post": np.array([103, 108, 4000, 7000])}
    given |= {"signals": signal(STEPS), "steps": STEPS, "weight": 100.0, "dt": dt}
    last = given["pre"][-1]
    rule = RewardModulatedSTDP(tau_c=tau_c, tau_n=tau_n, baseline=0.01, w_max=1e4)
    double = replay(rule, **given, eager=True).weight[last]
    single = jax.tree.map(lambda x: np.float32(x), rule)
    found = replay(single, **given, dtype=np.float32).weight[last]
    assert abs(double - 100.0) > 0.01
    assert found == pytest.approx(double, rel=close)


def test_the_integral(precise):
    """One pair, two rewards: the weight is the integral of c (n - baseline) of the equations."""
    pre, post, end, dt = 100, 109, 3000, 0.5
    rewards = np.zeros(end + 1)
    rewards[[40, 1500]] = 0.3, 0.7
    out = replay(
        precise, [pre, end], [post], end + 1, weight=50.0, dt=dt, signals={"reward": rewards}
    )
    # What happens in step k happens at its end.
    t0, t1, jumps = (post + 1) * dt, (end + 1) * dt, {41 * dt: 0.3, 1501 * dt: 0.7}
    c0 = np.exp(-(post - pre) * dt / 20.0)

    def flow(t):
        n = sum(a * np.exp(-(t - at) / 200.0) for at, a in jumps.items() if at <= t)
        return c0 * np.exp(-(t - t0) / 1000.0) * (n - 0.01)

    parts = (t0, 1501 * dt, t1)
    change = sum(quad(flow, a, b - 1e-9)[0] for a, b in itertools.pairwise(parts))
    assert out.weight[end] == pytest.approx(50.0 + change, rel=1e-7)
    n = 0.3 * np.exp(-(end - 40) * dt / 200.0) + 0.7 * np.exp(-(end - 1500) * dt / 200.0)
    assert out.shared["n"][end] == pytest.approx(n, rel=1e-9)


def test_eligibility_takes_the_windows(precise):
    late = replay(precise, [10], [15], 250).variables["c"][-1]
    assert late == pytest.approx(np.exp(-0.25), rel=1e-12)  # untouched since
    early = replay(precise, [15], [10], 250, eager=True).variables["c"][-1]
    assert early == pytest.approx(-1.5 * np.exp(-0.25) * np.exp(-234 / 1000.0), rel=1e-12)


def test_without_reward_nothing_moves(x64):
    w = replay(RewardModulatedSTDP(), [10, 20, 30], [12, 22, 32], 250, eager=True).weight
    assert (w == 0.5).all()


def test_a_baseline_turns_the_sign(x64):
    """Below the baseline a potentiating pair weakens; the weight stops at its bound."""
    rule = RewardModulatedSTDP(baseline=0.001)
    w = replay(rule, [10], [15], 250, eager=True).weight[-1]
    lost = 0.001 * np.exp(-0.25) * 1000.0 * -np.expm1(-234 / 1000.0)
    assert w == pytest.approx(0.5 - lost, rel=1e-9)
    assert replay(RewardModulatedSTDP(baseline=1.0), [10], [15], 250, eager=True).weight[-1] == 0.0


def test_the_input_has_a_name():
    assert RewardModulatedSTDP(reward="dopamine").signals == ("dopamine",)
    assert Normalized(RewardModulatedSTDP(reward="dopamine"), 1.0).signals == ("dopamine",)
    with pytest.raises(jn.InvalidValueError) as error:
        RewardModulatedSTDP(reward="")
    assert error.value.field == "reward"
    with pytest.raises(jn.InvalidValueError) as error:
        RewardModulatedSTDP(w_max=-1.0)
    assert error.value.field == "w_max"
