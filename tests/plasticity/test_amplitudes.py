"""Signs and sizes of amplitudes that are hardly meant give a warning at the line of the user."""

import warnings

import pytest

import jaxneuro as jn

P = jn.plasticity
DEPRESSED = r"a_minus is subtracted: .* give a_minus=0.0105; in an anti-Hebbian rule"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: P.TraceSTDP(a_plus=0.01, a_minus=-0.0105), DEPRESSED),
        (lambda: P.TraceSTDP(a_plus=-0.01), "a_plus is added: .* give a_plus=0.01"),
        (lambda: P.TripletSTDP(a2_minus=-7e-3), "a2_minus is subtracted"),
        (lambda: P.RewardModulatedSTDP(a_minus=-1.5), "a_minus is subtracted"),
        (lambda: P.TraceSTDP(a_plus=5.0), "a_plus = 5 is more than the whole range of weights, 1"),
        (lambda: P.PairSTDP(rate=5.0), "rate is a fraction of w_max"),
        (lambda: P.TripletSTDP(a3_plus=500.0), "a3_plus = 500 is more"),
        (lambda: P.VogelsSTDP(eta=10.0), "eta is in the unit of the weight"),
        (lambda: P.DiehlCookSTDP(eta_post=3.0), "eta_post = 3 is more"),
        (lambda: P.ClopathSTDP(a_ltp=200.0), "per mV2"),
    ],
)
def test_warned_of(make, message):
    with pytest.warns(UserWarning, match=message) as seen:
        make()
    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_what_is_meant_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P.TraceSTDP(a_plus=-0.01, a_minus=-0.0105)  # anti-Hebbian
        P.TraceSTDP(a_plus=0.0)
        P.PairSTDP(rate=1.0)
