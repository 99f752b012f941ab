"""Rules of voltages, of activities and of sums against plain loops."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import plasticity as pl
from jaxneuro._numerics.grid import InSteps, on_grid
from tests.plasticity.replay import replay
from tests.refusing import assert_refused

STEPS = 250


@pytest.fixture(autouse=True)
def _precise(x64):
    pass


def voltage(seed=2):
    """A voltage that goes up and down, and crosses the thresholds."""
    random, v = np.random.default_rng(seed), [-65.0]
    for _ in range(STEPS - 1):
        v.append(v[-1] + 0.2 * (-58.0 - v[-1]) + 6.0 * random.standard_normal())
    return np.array(v)


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("homeostatic", [False, True])
def test_clopath(delay, homeostatic):
    dt, v, pre = 0.2, voltage(), [20, 60, 61, 130, 200]
    fields = {"a_ltd": 14e-4, "a_ltp": 8e-4, "homeostatic": homeostatic, "delay": delay * dt}
    rule = pl.ClopathSTDP(**fields)
    u_minus = u_plus = -70.6
    u_bar = x = 0.0
    w, old, ups = 0.5, [(u_minus, u_plus)] * delay, 0
    for k in range(STEPS):
        u_bar = u_bar + ((u_minus + 70.6) - u_bar) * -np.expm1(-dt / 500.0)
        u_minus = v[k] + (u_minus - v[k]) * np.exp(-dt / 10.0)
        u_plus = v[k] + (u_plus - v[k]) * np.exp(-dt / 7.0)
        old.append((u_minus, u_plus))
        low, high = old[k]
        x *= np.exp(-dt / 15.0)
        if v[k] > -45.3 and high > -70.6:
            w += 8e-4 * (v[k] + 45.3) * (high + 70.6) * x * dt
            ups += x > 0
        if k in pre:
            factor = u_bar**2 / 60.0 if homeostatic else 1.0
            w = max(w - 14e-4 * factor * max(low + 70.6, 0.0), 0.0)
            x += 1 / 15.0
    assert ups > 3
    found = replay(rule, pre, [], STEPS, dt=dt, v=v).weight[-1]
    assert found == pytest.approx(w, rel=1e-10)
    assert w not in (0.0, 0.5)


def test_clopath_refuses():
    with pytest.raises(jn.InvalidValueError) as error:
        pl.ClopathSTDP(w_min=200.0)
    assert (error.value.owner, error.value.field) == ("ClopathSTDP", "w_max")


ACTIVITY = {
    "BCM": ({"eta": 2e-3, "target": 0.8, "tau": 30.0}, {"eta": 3e-7, "target": 40.0, "tau": 90.0}),
    "Oja": ({"eta": 0.02}, {"eta": 1e-6}),
    "Hebb": ({"eta": 1e-3, "decay": 2e-3}, {"eta": 1e-6, "decay": 2e-3}),
}


class Target:
    """The equations of the three rules: what is gained and lost per ms at a rate."""

    def __init__(self, name, p, dt):
        self.name, self.p, self.dt, self.theta = name, p, dt, p.get("target")

    def __call__(self, y):
        p, theta = self.p, self.theta
        if self.name == "BCM":
            settled = y * y / p["target"]
            self.theta = settled + (theta - settled) * np.exp(-self.dt / p["tau"])
            return p["eta"] * y * (y - theta), 0.0
        return p["eta"] * y, p["eta"] * y * y if self.name == "Oja" else p["decay"]


@pytest.mark.parametrize("name", ACTIVITY)
def test_rules_of_rates(name):
    dt, random = 0.5, np.random.default_rng(1)
    x, y, p = random.random(STEPS) + 0.01, random.random(STEPS) * 1.5, ACTIVITY[name][0]
    rule = getattr(pl, name)(**p, activity="rate", w_min=None)
    w, target = 0.4, Target(name, p, dt)
    for k in range(STEPS):
        gain, loss = target(y[k])
        w += dt * (gain * x[k] - loss * w)
    found = replay(rule, [], [], STEPS, dt=dt, weight=0.4, released=x, v=y).weight[-1]
    assert found == pytest.approx(w, rel=1e-10)
    assert rule.intervals() == (None, None)


@pytest.mark.parametrize("name", ACTIVITY)
def test_rules_of_spikes(name):
    """Low-passed spikes, in Hz; all weights change every 5 steps, by five times as much."""
    dt, every, random = 0.5, 5, np.random.default_rng(1)
    pre, post = (np.flatnonzero(random.random(STEPS) < 0.05) for _ in range(2))
    p, x, y, w = ACTIVITY[name][1], 0.0, 0.0, 0.4
    rule = getattr(pl, name)(**p, tau_rate=20.0, interval=every * dt)
    target = Target(name, p, dt)
    for k in range(STEPS):
        x, y = x * np.exp(-dt / 20.0), y * np.exp(-dt / 20.0)
        gain, loss = target(y)
        if (k + 1) % every == 0:
            w = max(w + every * dt * (gain * x - loss * w), 0.0)
        x, y = x + 50.0 * (k in pre), y + 50.0 * (k in post)
    found = replay(rule, pre, post, STEPS, dt=dt, weight=0.4).weight[-1]
    assert found == pytest.approx(w, rel=1e-10)
    assert abs(w - 0.4) > 1e-3
    assert rule.intervals() == (every * dt, None)


def test_where_activities_lead():
    """Oja: w = pre / post of a unit that follows its input. BCM: the target is a fixed point."""
    ones = np.ones(STEPS)
    w = replay(pl.Oja(0.1, activity="rate"), [], [], STEPS, released=ones, v=2 * ones).weight[-1]
    assert w == pytest.approx(0.5, rel=1e-9)
    rule = pl.BCM(0.1, 2.0, activity="rate")
    assert replay(rule, [], [], STEPS, released=ones, v=2 * ones).weight[-1] == 0.5
    rule = pl.Hebb(0.1, decay=0.2, activity="rate", w_max=0.9)
    w = replay(rule, [], [], STEPS, released=ones, v=ones).weight[-1]
    assert w == pytest.approx(0.5, rel=1e-9)
    assert replay(rule, [], [], STEPS, released=ones, v=3 * ones).weight[-1] == 0.9


def test_activities_are_checked():
    for bad, field in (({"activity": "both"}, "activity"), ({"w_min": 1.0, "w_max": 0.5}, "w_min")):
        with pytest.raises(jn.InvalidValueError) as error:
            pl.Oja(0.1, **bad)
        assert (error.value.owner, error.value.field) == ("Oja", field)


def test_an_interval_that_is_not_used_may_be_off_the_grid():
    rule = on_grid("", pl.Normalized(pl.Oja(0.1, activity="rate"), 1.0, interval=0.6), 0.3)
    assert (rule.rule.interval, rule.interval) == (1.0, InSteps(2))


def test_steps_are_refused():
    for make in (lambda: pl.Normalized(None, 1.0, every=5), lambda: pl.ClopathSTDP(delay_steps=5)):
        with pytest.raises(TypeError):
            make()
    for bad in (0.0, -1.0, np.inf, None, InSteps(0)):
        with pytest.raises(jn.InvalidValueError) as error:
            pl.Normalized(None, 1.0, interval=bad)
        assert (error.value.owner, error.value.field) == ("Normalized", "interval")
    assert_refused(
        lambda: on_grid("", pl.Normalized(None, 1.0, interval=1e12), 0.1),
        "",
        "interval",
        "1e+12 ms",
    )


def test_sums_are_held():
    rule = pl.Normalized(pl.DiehlCookSTDP(eta_post=0.2), total=0.7, interval=50.0)
    pre, post = [10, 60, 120, 170], [12, 30, 63, 130, 180]
    w = replay(rule, pre, post, STEPS).weight
    np.testing.assert_allclose(w[49::50], 0.7)
    plain = replay(rule.rule, pre, post, STEPS).weight[:49]
    np.testing.assert_allclose(w[:49], plain)
    assert (np.diff(plain) != 0).any()
    assert replay(pl.Normalized(None, 0.7, interval=50.0), pre, post, STEPS).weight[-1] == 0.7
    factors = rule.factors(np.array([0.0, 1.4]), np.array([0, 2]), {})
    np.testing.assert_allclose(factors, [1.0, 0.5])


def test_weights_follow_the_rate():
    post, dt, tau = np.arange(0, STEPS, 10), 1.0, 300.0
    rule = pl.HomeostaticScaling(
        pl.TraceSTDP(w_max=5.0), 50.0, tau=tau, alpha=0.3, interval=25.0, limit=1.05
    )
    r, w = 50.0, 0.5
    for k in range(STEPS):
        r = r * np.exp(-dt / tau) + 1000.0 / tau * (k in post)
        if (k + 1) % 25 == 0:
            w *= np.clip((50.0 / r) ** 0.3, 1 / 1.05, 1.05)
    assert replay(rule, [], post, STEPS).weight[-1] == pytest.approx(w, rel=1e-10)
    assert w < 0.5
    silent = replay(rule, [], [], STEPS).weight
    assert np.isfinite(silent).all()
    assert silent[-1] / silent[200] == pytest.approx(1.05**2, rel=1e-9)


@pytest.mark.slow
def test_a_rule_around_another_has_all_of_it():
    """Also one with further variables, shared numbers, numbers of a target, ticks."""
    inside = [
        pl.PairSTDP(pairing="presynaptic_centred", w_max=1.0),
        pl.RewardModulatedSTDP(),
        pl.ClopathSTDP(a_ltp=8e-4),
        pl.Hebb(1e-5, decay=1e-4, interval=7.0),
    ]
    pre, post = [10, 60, 120, 170], [12, 30, 63, 130, 180]
    given = {"v": voltage(), "signals": {"reward": np.full(STEPS, 1e-3)}}
    for rule in inside:
        plain = replay(rule, pre, post, STEPS, **given).weight
        around = pl.HomeostaticScaling(rule, 5.0, alpha=0.0, interval=100.0)
        np.testing.assert_allclose(replay(around, pre, post, STEPS, **given).weight, plain)
        assert plain[-1] != 0.5
        assert around.bounds() == rule.bounds()
        assert around.intervals() == (rule.intervals()[0], 100.0)


def test_one_rule_of_sums_at_a_time():
    for inside in (pl.HomeostaticScaling(None, 5.0), pl.TraceSTDP):
        with pytest.raises(jn.InvalidValueError) as error:
            pl.Normalized(inside, 1.0)
        assert (error.value.owner, error.value.field) == ("Normalized", "rule")
