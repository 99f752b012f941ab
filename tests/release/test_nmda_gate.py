"""The saturating NMDA gate against the two equations that it stands for."""

import numpy as np
import pytest
from scipy import integrate, special

import jaxneuro as jn
from tests.release.alone import released, train

CASES = [(2.0, 100.0, 0.5), (5.0, 60.0, 0.8), (1.0, 30.0, 0.1)]


def solved(rise, fall, alpha, times, end):
    """s at `end` ms, from the equations of s and y, started anew at each spike."""

    def slope(t, state):
        s, y = state
        return [alpha * y * (1 - s) - s / fall, -y / rise]

    state, now = np.zeros(2), 0.0
    for t in (*times, end):
        if t > now:
            how = {"rtol": 1e-10, "atol": 1e-12, "method": "LSODA"}
            state = integrate.solve_ivp(slope, (now, t), state, **how).y[:, -1]
        state, now = state + np.array([0.0, 1.0]), t
    return state[0]


@pytest.mark.slow(but=["case2"])
@pytest.mark.parametrize("case", CASES)
def test_long_after_a_spike(case, x64):
    """One spike, then a train with intervals of 20 rise times: s is that of the equations."""
    rise, fall, alpha = case
    dt, gap = rise / 20, 400
    for count in (1, 6):
        at = [gap * k for k in range(count)]
        spikes = train(6 * gap + 1, at)
        _, state = released(jn.release.NMDAGate(*case), spikes, np.zeros(spikes.shape), dt)
        s = solved(rise, fall, alpha, [dt * k for k in at], dt * 6 * gap)
        np.testing.assert_allclose(state.s[0], s, rtol=1e-6)


def test_the_jumps_are_those_of_the_incomplete_gamma_function(x64):
    for z in (1e-3, 1.0, 8.0):
        for c in (0.02, 0.5, 0.95):
            k_0, k_1 = jn.release.NMDAGate(2.0, 2.0 / c, z / 2.0).jumps()
            gamma = special.gammainc(1 - c, z) * special.gamma(1 - c)
            np.testing.assert_allclose([k_0, k_1], [z**c * gamma, np.expm1(-z)], rtol=1e-13)


def test_it_saturates():
    """What spikes add together stays below what they would add one by one."""
    spikes = train(2001, range(0, 2001, 100))
    v = np.zeros(spikes.shape, np.float32)
    values, state = released(jn.release.NMDAGate(), spikes, v, 0.1)
    values = np.asarray(values)[spikes]
    assert (np.diff(values)[:5] < 0).all()
    assert values[-1] < 0.2 * values[0]
    assert 0.8 < float(state.s[0]) < 1.1


@pytest.mark.parametrize(
    ("given", "field", "got"),
    [({"tau_rise": 100.0}, "tau_decay", "100.0 ms"), ({"alpha": 5.0}, "alpha", "5.0 1/ms")],
)
def test_what_it_refuses(given, field, got):
    with pytest.raises(jn.InvalidValueError) as error:
        jn.release.NMDAGate(**given)
    assert (error.value.owner, error.value.field, error.value.got) == ("NMDAGate", field, got)
