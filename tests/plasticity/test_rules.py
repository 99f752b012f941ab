"""Rules of spikes against their closed forms, and against all pairs counted by hand."""

import dataclasses

import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from hypothesis import given, settings

import jaxneuro as jn
from jaxneuro import plasticity as pl
from jaxneuro._model import NamedNumbers
from tests.plasticity import by_hand
from tests.plasticity.replay import replay
from tests.refusing import assert_refused

STEPS = 250
PAIRINGS = ("all", "nearest_symmetric", "nearest_restricted", "presynaptic_centred")
# Large changes, so that bounds are met; the models are made in a test, in its precision.
RULES = {
    **{
        f"pair, {name}": (
            pl.PairSTDP,
            by_hand.pair,
            {"rate": 0.1, "alpha": 1.1, "tau_plus": 14.0, "mu_plus": 0.3, "mu_minus": 0.6}
            | {"w_max": 1.2, "pairing": name},
        )
        for name in PAIRINGS
    },
    "additive": (
        pl.PairSTDP,
        by_hand.pair,
        {"rate": 0.2, "mu_plus": 0.0, "mu_minus": 0.0, "w_max": 1.2},
    ),
    "power law": (pl.PowerLawSTDP, by_hand.power_law, {"alpha": 1.3, "tau_minus": 25.0}),
    "trace": (pl.TraceSTDP, by_hand.trace, {"a_plus": 0.2, "a_minus": 0.25, "tau_minus": 30.0}),
    "triplet": (
        pl.TripletSTDP,
        by_hand.triplet,
        {"a2_plus": 0.03, "a2_minus": 0.1, "a3_plus": 0.2, "a3_minus": 0.04, "w_max": 1.0},
    ),
    "triplet, nearest": (
        pl.TripletSTDP,
        by_hand.triplet,
        {"a2_plus": 0.03, "a2_minus": 0.1, "a3_plus": 0.2, "a3_minus": 0.04, "w_max": 1.0}
        | {"pairing": "nearest"},
    ),
    "vogels": (pl.VogelsSTDP, by_hand.vogels, {"eta": 0.2, "alpha": 0.5}),
    "diehl cook": (pl.DiehlCookSTDP, by_hand.diehl_cook, {"eta_pre": 0.1, "eta_post": 0.2}),
}
every_rule = pytest.mark.parametrize("name", RULES)
CLASSES = [x for x in vars(pl).values() if isinstance(x, type)]
trains = st.lists(st.integers(0, STEPS - 1), max_size=25).map(lambda x: sorted(set(x)))


def numbers(model):
    fields = {f.name: getattr(model, f.name) for f in dataclasses.fields(model)}
    return {k: x if isinstance(x, str) else np.float64(x) for k, x in fields.items()}


def after(rule, pre, post, weight=0.5, **how):
    return replay(rule, pre, post, STEPS, weight=weight, **how).weight[-1]


@pytest.fixture(autouse=True)
def _precise(x64):
    pass


@every_rule
def test_every_pair_counts_as_by_hand(name):
    cls, expected, fields = RULES[name]
    rule, random = cls(**fields), np.random.default_rng(4)
    for rate in (0.02, 0.1, 0.4):
        pre, post = (np.flatnonzero(random.random(STEPS) < rate).tolist() for _ in range(2))
        w = expected(numbers(rule), pre, post, 0.5)
        assert after(rule, pre, post) == pytest.approx(w, rel=1e-10, abs=1e-12)
        eager = after(rule, pre, post, eager=True)
        assert eager == pytest.approx(w, rel=1e-10, abs=1e-12)


@every_rule
def test_weights_stay_in_their_bounds(name):
    cls, _, fields = RULES[name]
    rule = cls(**fields)
    high = fields.get("w_max", getattr(rule, "w_max", np.inf))

    @given(trains, trains, st.sampled_from([0.0, 0.3, 1.0]))
    @settings(max_examples=12)
    def stays(pre, post, weight):
        w = replay(rule, pre, post, STEPS, weight=weight).weight
        assert np.isfinite(w).all()
        assert w.min() >= 0.0
        assert w.max() <= high

    stays()


def test_a_pair_of_spikes():
    """A+ 0.01, A- 0.012, 20 ms: 5 ms apart."""
    rule = pl.TraceSTDP()
    assert after(rule, [10], [15]) - 0.5 == pytest.approx(0.0077880, abs=5e-8)
    assert after(rule, [15], [10]) - 0.5 == pytest.approx(-0.0093456, abs=5e-8)


@pytest.mark.parametrize("lag", [-60, -7, -1, 1, 2, 33])
def test_windows(lag):
    """One pair, the postsynaptic spike lag ms after the presynaptic one."""
    pre, post, close = [100], [100 + lag], pytest.approx
    plus, minus = np.exp(-abs(lag) / 17.0), np.exp(-abs(lag) / 30.0)
    tau = {"tau_plus": 17.0, "tau_minus": 30.0}
    change = after(pl.PairSTDP.additive(w_max=2.0, alpha=1.5, **tau), pre, post) - 0.5
    assert change == close(0.02 * plus if lag > 0 else -0.03 * minus, rel=1e-9)
    change = after(pl.PairSTDP.multiplicative(w_max=2.0, **tau), pre, post) - 0.5
    assert change == close(0.02 * (0.75 * plus if lag > 0 else -0.25 * minus), rel=1e-9)
    change = after(pl.VogelsSTDP(tau=17.0), pre, post) - 0.5
    assert change == close(1e-3 * (plus - 0.12), rel=1e-9)
    change = after(pl.TripletSTDP(**tau), pre, post) - 0.5
    assert change == close(5e-10 * plus if lag > 0 else -7e-3 * minus, rel=1e-6, abs=1e-15)
    change = after(pl.PowerLawSTDP(**tau), pre, post) - 0.5
    there = 0.1 * 0.5**0.4 * plus if lag > 0 else -0.1 * 0.0513 * 0.5 * minus
    assert change == close(there, rel=1e-9)


def test_a_triplet():
    """post-pre-post and pre-post-pre, 10 ms apart, by the formula of the paper."""
    p = pl.TripletSTDP(a2_plus=0.01, a2_minus=0.02, a3_plus=0.03, a3_minus=0.04, w_max=10.0)
    e = np.exp
    w = 1.0 - e(-10 / 20) * 0.02 + e(-10 / 16.8) * (0.01 + 0.03 * e(-20 / 110))
    assert after(p, [20], [10, 30], 1.0) == pytest.approx(w, rel=1e-12)
    w = 1.0 + e(-10 / 16.8) * 0.01 - e(-10 / 20) * (0.02 + 0.04 * e(-20 / 101))
    assert after(p, [10, 30], [20], 1.0) == pytest.approx(w, rel=1e-12)


@pytest.mark.parametrize(
    ("pairing", "potentiating", "depressing"),
    [
        # pre 10, 14, 30, 40; post 20, 23, 36: lags of the pairs that count.
        ("all", [10, 6, 13, 9, 26, 22, 6], [10, 7, 20, 17, 4]),
        ("nearest_symmetric", [6, 9, 6], [7, 4]),
        ("nearest_restricted", [6, 6], [7, 4]),
        ("presynaptic_centred", [10, 6, 6], [7, 4]),
    ],
)
def test_which_pairs_count(pairing, potentiating, depressing):
    rule = pl.PairSTDP.additive(rate=1e-3, w_max=100.0, alpha=0.5, tau_minus=31.0, pairing=pairing)
    w = 50.0 + 0.1 * np.exp(-np.array(potentiating) / 20.0).sum()
    w -= 0.05 * np.exp(-np.array(depressing) / 31.0).sum()
    assert after(rule, [10, 14, 30, 40], [20, 23, 36], 50.0) == pytest.approx(w, rel=1e-12)


@every_rule
def test_spikes_of_one_step_make_no_pair(name):
    cls, _, fields = RULES[name]
    w = after(cls(**fields), [30], [30])
    assert w == pytest.approx(0.5 - 0.1 if name == "vogels" else 0.5, abs=1e-15)


def test_of_two_spikes_at_once_each_pairs_with_earlier_ones():
    rule = pl.PairSTDP.additive(w_max=1.0, pairing="nearest_symmetric")
    assert after(rule, [10, 20], [20]) == pytest.approx(0.5 + 0.01 * np.exp(-0.5), rel=1e-12)


def test_trace_clips_once():
    """Potentiation beyond the bound and depression in one step: the bound acts on the sum."""
    rule = pl.TraceSTDP(a_plus=0.5, a_minus=0.4)
    x = np.exp(-10 / 20)
    w = min(0.9 + 0.5 * np.exp(-5 / 20), 1.0)  # pre 10, post 15, then both at 25
    both = w + 0.5 * np.exp(-15 / 20) - 0.4 * x
    assert both > 1.0 - 0.4 * x
    assert after(rule, [10, 25], [15, 25], 0.9) == pytest.approx(min(both, 1.0), rel=1e-12)


def test_equilibria():
    """Without correlation the additive rule goes to a bound, the others to a weight between."""
    random, steps = np.random.default_rng(0), 20_000
    pre, post = (np.flatnonzero(random.random(steps) < 0.1) for _ in range(2))

    def mean(rule, weight=0.5):
        return replay(rule, pre, post, steps, weight=weight).weight[steps // 2 :].mean()

    assert mean(pl.PairSTDP.additive(w_max=1.0, alpha=1.5)) < 0.05
    assert mean(pl.PairSTDP.additive(w_max=1.0, alpha=0.66)) > 0.95
    alpha = 1.5
    found = mean(pl.PairSTDP.multiplicative(w_max=1.0, alpha=alpha, rate=0.02))
    assert found == pytest.approx(1 / (1 + alpha), abs=0.04)
    law = pl.PowerLawSTDP(rate=0.02, alpha=0.5, tau_plus=20.0, tau_minus=20.0)
    assert mean(law, 3.0) == pytest.approx(0.5 ** (-1 / 0.6), rel=0.1)


def test_the_rate_that_inhibition_holds():
    assert float(pl.VogelsSTDP.with_target(5.0).alpha) == pytest.approx(0.2)
    assert_refused(lambda: pl.VogelsSTDP.with_target(-5.0), "with_target", "rate_hz", "-5")
    assert float(pl.VogelsSTDP.with_target(3.0, tau=10.0, eta=0.1).eta) == 0.1
    random, steps = np.random.default_rng(1), 20_000
    drift = []
    for rate in (10.0, 20.0, 40.0):
        pre, post = (np.flatnonzero(random.random(steps) < r / 1000) for r in (20.0, rate))
        rule = pl.VogelsSTDP.with_target(20.0, eta=1e-4, w_max=10.0)
        drift.append(replay(rule, pre, post, steps, weight=5.0).weight[-1] - 5.0)
    # eta times presynaptic spikes times 2 tau (rate - target).
    np.testing.assert_allclose(drift, 1e-4 * 400 * 0.04 * np.array([-10, 0, 20]), atol=0.006)


@pytest.mark.slow(but=["0.0-0.0"])
@pytest.mark.parametrize("mu", [0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_numbers_and_derivatives_at_the_bounds(mu, weight):
    """Powers of 0: 0 ** 0 is 1, and no derivative is nan."""
    rule = pl.PairSTDP(mu_plus=mu, mu_minus=mu, w_max=1.0)
    x = np.exp(-5 / 20) * 0.01
    moved = after(rule, [10], [15], weight), after(rule, [15], [10], weight)
    up = x if mu == 0.0 or weight == 0.0 else 0.0
    down = x if mu == 0.0 or weight == 1.0 else 0.0
    expected = min(weight + up, 1.0), max(weight - down, 0.0)
    np.testing.assert_allclose(moved, expected, atol=1e-12)

    def power_of(x, rule):
        return pl._pair.power(x, rule.mu_plus)

    for at in (0.0, 0.3):
        slope = jax.grad(power_of)(np.float64(at), rule)
        exact = mu * at ** (mu - 1) if at or mu >= 1 else 0.0
        assert slope == pytest.approx(exact, rel=1e-9)


@every_rule
def test_derivatives_of_an_event_are_finite(name):
    """By the weight and by every parameter, at the bounds too."""
    cls, _, fields = RULES[name]
    rule = cls(**fields)

    @jax.jit
    def slopes(rule, w):
        def both(rule, w):
            pre = {"arriving": np.float64(0), "released": np.float64(0)}
            pre |= dict.fromkeys(rule.pre_traces(), np.float64(0.7))
            post = dict.fromkeys(rule.post_traces(), np.float64(0.4))
            synapse = dict.fromkeys(rule.variables(), np.float64(1.0)) | {"weight": w}
            parts = NamedNumbers(synapse), NamedNumbers(pre), NamedNumbers(post)
            return rule.on_post(*parts)["weight"] - rule.on_pre(*parts)["weight"]

        return jax.grad(both, (0, 1))(rule, w)

    for w in (0.0, 0.4, 1.2):
        found = jax.tree.leaves(slopes(rule, np.float64(w)))
        assert np.isfinite(found).all()
        assert np.any(found) or w != 0.4


def test_power_law_leaves_nothing_at_nothing():
    assert after(pl.PowerLawSTDP(), [10], [15], 0.0) == 0.0


@pytest.mark.parametrize("cls", CLASSES, ids=lambda x: x.__name__)
def test_bad_values_are_refused(cls):
    needed = {"BCM": {"eta": 1.0, "target": 1.0}, "Oja": {"eta": 1.0}, "Hebb": {"eta": 1.0}}
    needed["Normalized"] = {"rule": None, "total": 1.0}
    needed["HomeostaticScaling"] = {"rule": None, "target_rate": 1.0}
    fields = needed.get(cls.__name__, {})
    cls(**fields)
    taus = [f.name for f in dataclasses.fields(cls) if f.name.startswith("tau")]
    assert taus or cls is pl.Normalized
    for name in taus:
        for bad in (0.0, -1.0, np.nan):
            with pytest.raises(jn.InvalidValueError) as error:
                cls(**{**fields, name: bad})
            assert (error.value.owner, error.value.field) == (cls.__name__, name)


def test_choices_are_refused():
    for make, field in (
        (lambda: pl.PairSTDP(pairing="nearest"), "pairing"),
        (lambda: pl.TripletSTDP(pairing="some"), "pairing"),
        (lambda: pl.TraceSTDP(w_min=1.0), "w_max"),
    ):
        with pytest.raises(jn.InvalidValueError) as error:
            make()
        assert error.value.field == field
