"""The oracle of plasticity against numbers worked out by hand, and against itself."""

import math

import numpy as np
import pytest

from tests.oracle import plasticity as oracle

STEP = 0.5  # ms
E = math.exp


def spikes(pre, post, a=0, d=1, dt=STEP, last=400):
    return oracle.Spikes(pre, post, a, d, dt, last)


def final(rule, pre, post, weight=0.5, d=1, **parameters):
    return rule(spikes(pre, post, d=d), weight, **parameters)[1]


def test_one_pair_five_ms_apart():
    """A+ 0.01, A- 0.012, 20 ms: +0.0077880 and -0.0093456."""
    up = final(oracle.trace_pair, [100], [109])
    down = final(oracle.trace_pair, [110], [99])
    assert up - 0.5 == pytest.approx(0.0077880, abs=5e-8)
    assert down - 0.5 == pytest.approx(-0.0093456, abs=5e-8)


@pytest.mark.parametrize(("rule", "size"), [(oracle.trace_pair, 0.01), (oracle.vogels, 0.001)])
def test_delays_shift_the_arrivals(rule, size):
    """Presynaptic 20 + 7, postsynaptic 25 + 8: six steps of half a millisecond apart."""
    delivered, w = rule(spikes([20], [25], a=7, d=8), 0.5)
    assert [step for step, _ in delivered] == [27]
    assert w - delivered[0][1] == pytest.approx(size * E(-3 / 20))


def test_a_coincidence_is_not_a_pair():
    for rule in (oracle.pair, oracle.trace_pair, oracle.triplet, oracle.power_law):
        assert final(rule, [100], [99]) == 0.5
        assert final(rule, [100], [98]) < 0.5
        assert final(rule, [100], [100]) > 0.5


def test_in_a_coincidence_the_postsynaptic_event_acts_first():
    """Both multiply; only this order gives this number, up first and then down."""
    # Arrivals: presynaptic 100 and 110, postsynaptic 105 and 110.
    first = 50 + 1.0 * (1 - 0.5) * E(-2.5 / 20)
    second = first + 1.0 * (1 - first / 100) * E(-5 / 20)
    both = second - 1.0 * (second / 100) * E(-2.5 / 20)
    assert final(oracle.pair, [100, 110], [104, 109], 50.0) == pytest.approx(both, abs=1e-12)


def test_clipping_after_each_event_and_once_after_both():
    """At the bound 1: up and then down, from 1 each after the other, or from 1 + up - down."""
    pre, post = [100, 110], [104, 109]
    up, down = 0.1 * E(-5 / 20), 0.1 * E(-2.5 / 20)
    traced = final(oracle.trace_pair, pre, post, 1.0, a_plus=0.1, a_minus=0.1)
    assert traced == pytest.approx(min(1.0, 1.0 + up - down), abs=1e-12)
    paired = final(oracle.pair, pre, post, 1.0, rate=0.1, mu_plus=0.0, mu_minus=0.0, w_max=1.0)
    assert paired == pytest.approx(1.0 - down, abs=1e-12)


# Arrivals: presynaptic 10, 20, 50; postsynaptic 30, 40, 60 (steps of half a ms). K+ and K- of
# each event, in their order 30, 40, 50, 60, in units of exp(-steps / 40).
PAIRED = {
    "all": ([20, 10], [30, 20], [20, 10], [50, 40, 10]),
    "nearest_symmetric": ([10], [20], [10], [10]),
    "nearest_restricted": ([10], [], [10], [10]),
    "presynaptic_centred": ([20, 10], [], [10], [10]),
}


@pytest.mark.parametrize("pairing", PAIRED)
def test_who_pairs_with_whom(pairing):
    *ups, down, last = (sum(E(-x / 40) for x in ages) for ages in PAIRED[pairing])
    got = final(
        oracle.pair,
        [10, 20, 50],
        [29, 39, 59],
        0.5,
        pairing=pairing,
        mu_plus=0,
        mu_minus=0,
        w_max=1,
    )
    assert got == pytest.approx(0.5 + 0.01 * (sum(ups) - down + last), abs=1e-14)


def test_a_triplet():
    """Postsynaptic 100, presynaptic 104 and 110, postsynaptic 120."""
    w = 1.0 - E(-2 / 20) * 7e-3
    w -= E(-5 / 20) * (7e-3 + 2.3e-4 * E(-3 / 101))
    w += (E(-8 / 16.8) + E(-5 / 16.8)) * (5e-10 + 6.2e-3 * E(-10 / 110))
    assert final(oracle.triplet, [104, 110], [99, 119], 1.0) == pytest.approx(w, abs=1e-14)


def test_diehl_cook_counts_the_nearest_alone():
    """Postsynaptic 80 and 100, presynaptic 104 and 110, postsynaptic 120."""
    w = 0.5 - 1e-4 * (E(-2 / 20) + E(-5 / 20)) + 1e-2 * E(-5 / 20) * E(-10 / 40)
    got = final(oracle.diehl_cook, [104, 110], [79, 99, 119])
    assert got == pytest.approx(w, abs=1e-14)


def test_vogels_and_the_power_law():
    w = 0.5 + 0.001 * (E(-2 / 20) - 0.12)
    assert final(oracle.vogels, [104], [99]) == pytest.approx(w, abs=1e-15)
    w = 2.0 - 0.1 * 0.0513 * 2.0 * E(-2 / 30)
    w += 0.1 * w**0.4 * E(-5 / 15)
    assert final(oracle.power_law, [104], [99, 113], 2.0) == pytest.approx(w, abs=1e-15)


def test_a_reward_after_a_pair():
    """The pair at 50 and 55 ms leaves c; a reward at 75 ms; the run ends at 200 ms."""
    c = 0.01 * E(-5 / 20) * E(-20 / 1000)
    rate = 1 / 1000 + 1 / 200
    w = 0.5 + c * 2.0 * (1 - E(-125 * rate)) / rate
    got = final(oracle.reward_modulated, [100], [109], rewards=[(150, 2.0)], w_max=10.0)
    assert got == pytest.approx(w, abs=1e-13)
    w = 0.5 - 0.25 * 0.01 * E(-5 / 20) * 1000 * (1 - E(-145 / 1000))
    got = final(oracle.reward_modulated, [100], [109], baseline=0.25, w_min=-9.0)
    assert got == pytest.approx(w, abs=1e-13)


def test_the_integral_of_the_reward_does_not_depend_on_its_pieces():
    """More stops change nothing within the bounds; Euler by tiny steps comes near."""
    rng = np.random.default_rng(0)
    pre, post = (np.sort(rng.choice(380, 30, replace=False)).tolist() for _ in range(2))
    rewards = [(40, 1.0), (200, -0.5), (201, 0.7)]
    wide = {"rewards": rewards, "baseline": 0.03, "w_min": -100.0, "w_max": 100.0}
    run = spikes(pre, post)
    whole = oracle.reward_modulated(run, 0.5, **wide)
    cut = oracle.reward_modulated(run, 0.5, **wide, cuts=range(400))
    assert whole[1] == pytest.approx(cut[1], abs=1e-12)
    np.testing.assert_allclose(whole[0], cut[0], atol=1e-12)
    c = n = 0.0
    w, tiny, seen_at = 0.5, 1e-3, dict(oracle.events(run))
    for step in range(1, 401):
        for _ in range(round(STEP / tiny)):
            w += tiny * c * (n - 0.03)
            c, n = c * (1 - tiny / 1000.0), n * (1 - tiny / 200.0)
        n += sum(amount for at, amount in rewards if at == step)
        if step in seen_at:
            seen = seen_at[step]
            c += 0.01 * np.exp(-seen.pre / 20).sum() * seen.post_now
            c -= 0.012 * np.exp(-seen.post / 20).sum() * seen.pre_now
    assert w == pytest.approx(whole[1], rel=1e-4)
    assert abs(whole[1] - 0.5) > 0.1


def test_clopath_in_two_steps_of_its_voltage():
    """Above both thresholds in steps 30 and 31 alone; presynaptic 20 and 40; one step of delay."""
    v, bar = np.full(60, -70.0), np.full(60, -60.0)
    v[30:32] = -40.0
    delivered, w = oracle.clopath(spikes([20, 40], [], last=59), 1.0, v, bar, bar)
    down = 1.4e-4 * 10.6
    up = 0.5 * 8e-5 * 5.3 * 10.6 * (E(-5.5 / 15) + E(-6.0 / 15)) / 15
    assert [step for step, _ in delivered] == [20, 40]
    assert delivered[0][1] == pytest.approx(1.0 - down, abs=1e-15)
    assert w == pytest.approx(1.0 - 2 * down + up, abs=1e-15)


def test_a_low_pass_of_a_jump():
    got = oracle.low_passed([0.0, 10.0, 10.0], 4.0, STEP, 0.0)
    np.testing.assert_allclose(got, [0.0, 10 * (1 - E(-1 / 8)), 10 * (1 - E(-1 / 4))], atol=1e-14)
    assert oracle.low_passed([5.0] * 9, 4.0, STEP, 5.0) == pytest.approx(5.0)
