"""Rate and CV of the diffusion approximation, against quadrature, passage times and limits."""

import numpy as np
import pytest
import scipy.special
from scipy.integrate import quad

from jaxneuro.analysis import cv_diffusion, membrane_moments, siegert
from tests.oracle import analysis_diffusion as oracle
from tests.refusing import assert_refused

# mu, sigma, tau_m, v_th, v_reset, t_ref; and the rate by quadrature with 40 digits.
RATES = [
    ((10, 5, 20, 20, 0, 2), 0.85582664152835759),
    ((15, 1, 20, 20, 0, 2), 1.9179282989831835e-9),
    ((0, 1, 20, 20, 0, 2), 1.079164690849399e-171),
    ((25, 2, 20, 20, 10, 0), 46.86599321868419),
    ((30, 0.1, 10, 15, 0, 1), 126.08132902063441),
    ((-50, 10, 20, 20, 0, 2), 1.0245017794387796e-19),
    ((19.9, 0.5, 20, 20, 10, 2), 11.190972191537766),
    ((100, 1, 10, 20, 10, 0.5), 596.0369299260611),
    ((20, 1e-3, 20, 20, 0, 2), 4.551560850733595),
    ((20, 40, 20, 20, 19.9, 0), 11299.706104263483),
]
MODERATE = [
    (10, 5, 20, 20, 0, 2),
    (18, 4, 20, 20, 0, 2),
    (25, 2, 20, 20, 10, 0),
    (22, 6, 10, 20, 15, 1),
    (-60, 4, 15, -55, -65, 2),
]


@pytest.mark.parametrize(("arguments", "rate"), RATES)
def test_rates_of_forty_digits(arguments, rate):
    assert siegert(*arguments) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize("arguments", MODERATE)
def test_rate_equals_the_printed_integral(arguments):
    assert siegert(*arguments) == pytest.approx(oracle.rate_by_quadrature(*arguments), rel=1e-10)


@pytest.mark.parametrize("arguments", MODERATE)
def test_rate_and_cv_equal_the_passage_time(arguments):
    rate, cv = oracle.rate_and_cv_by_passage(*arguments)
    assert siegert(*arguments) == pytest.approx(rate, rel=1e-6)
    assert cv_diffusion(*arguments) == pytest.approx(cv, rel=1e-6)


@pytest.mark.parametrize("mu", [30.0, 100.0, 1000.0])
def test_weak_noise_on_a_strong_drive(mu):
    # Linear noise: Var(T) = tau sigma^2 / 2 (1 / (mu - v_th)^2 - 1 / (mu - v_reset)^2).
    tau, sigma = 20.0, 1e-3
    period = 2.0 + tau * np.log(mu / (mu - 20.0))
    variance = tau**2 * sigma**2 / 2 * (1 / (mu - 20.0) ** 2 - 1 / mu**2)
    assert siegert(mu, sigma, tau, 20.0, 0.0, 2.0) == pytest.approx(1e3 / period, rel=1e-6)
    cv = cv_diffusion(mu, sigma, tau, 20.0, 0.0, 2.0)
    assert cv == pytest.approx(np.sqrt(variance) / period, rel=1e-6)


def test_rare_spikes_are_a_poisson_process():
    mu = np.array([12.0, 5.0, 0.0, -10.0, -1e4])
    cv = cv_diffusion(mu, 1.0, 20.0, 20.0, 0.0, 2.0)
    np.testing.assert_allclose(cv, 1.0, atol=1e-10)
    rate = siegert(mu, 1.0, 20.0, 20.0, 0.0, 2.0)
    assert (np.diff(rate[:4]) < 0).all()
    assert rate[-1] == 0.0
    # Kramers: (u_th / sqrt(pi)) exp(-u_th^2) / tau_m, up to 1 / (2 u_th^2).
    assert rate[1] == pytest.approx(1e3 * 15 / np.sqrt(np.pi) * np.exp(-225) / 20, rel=1 / 225)


def test_no_noise_is_the_constant_drive():
    rate = siegert([10.0, 20.0, 30.0], 0.0, 10.0, 20.0, 5.0, 2.0)
    np.testing.assert_allclose(rate, [0, 0, 1e3 / (2 + 10 * np.log(25 / 10))], rtol=1e-12)
    np.testing.assert_array_equal(
        cv_diffusion([10.0, 20.0, 30.0], 0.0, 10.0, 20.0, 5.0), [np.nan, np.nan, 0.0]
    )
    near = siegert(30.0, 1e-7, 10.0, 20.0, 5.0, 2.0)
    assert near == pytest.approx(rate[2], rel=1e-9)


@pytest.mark.parametrize("function", [siegert, cv_diffusion])
def test_arrays_are_their_numbers(function):
    mu, sigma = np.linspace(-40, 60, 23)[:, None], np.array([0.0, 0.1, 2.0, 30.0])
    got = function(mu, sigma, 20.0, 20.0, 10.0, 2.0)
    assert got.shape == (23, 4)
    for i, j in np.ndindex(got.shape):
        one = function(mu[i, 0], sigma[j], 20.0, 20.0, 10.0, 2.0)
        assert np.ndim(one) == 0
        assert one == pytest.approx(got[i, j], rel=1e-12, nan_ok=True)
    assert siegert([], 1.0, 20.0, 20.0, 10.0).shape == (0,)


def test_the_rate_grows_with_the_drive_without_a_jump():
    rate = siegert(np.linspace(-20, 60, 8001), 3.0, 20.0, 20.0, 10.0, 2.0)
    assert (np.diff(rate) > 0).all()
    # h^2 times a curvature of a few Hz / mV^2; a seam between two formulas would stand out.
    assert np.abs(np.diff(rate, 2)).max() < 1e-3
    assert np.abs(np.diff(rate, 4)).max() < 1e-6


def test_a_drive_far_beyond_the_threshold_loses_no_digits():
    # (v_th - v_reset) / mu is below the rounding of mu; without noise T = tau log1p(20 / mu).
    rate = siegert(1e17, [0.0, 1e-3, 10.0], 20.0, 20.0, 0.0)
    np.testing.assert_allclose(rate, 1e3 / (20.0 * 20.0 / 1e17), rtol=1e-12)


def test_potentials_have_no_zero():
    a = siegert(-55.0, 4.0, 20.0, -50.0, -60.0, 2.0)
    assert a == pytest.approx(siegert(5.0, 4.0, 20.0, 10.0, 0.0, 2.0), rel=1e-12)


def test_coloured_noise_shifts_threshold_and_reset():
    alpha = np.sqrt(2) * abs(scipy.special.zetac(0.5) + 1)
    shift = 5.0 * alpha / 2 * np.sqrt(0.5 / 20)
    got = siegert(15.0, 5.0, 20.0, 20.0, 10.0, 2.0, tau_syn=0.5)
    want = oracle.rate_by_quadrature(15.0, 5.0, 20.0, 20.0 + shift, 10.0 + shift, 2.0)
    assert got == pytest.approx(want, rel=1e-10)
    assert got < siegert(15.0, 5.0, 20.0, 20.0, 10.0, 2.0)


@pytest.mark.parametrize("function", [siegert, cv_diffusion])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": -1.0}, "sigma must be finite and at least 0.0 mV; got -1.0"),
        ({"mu": np.nan}, "mu must"),
        ({"tau_m": 0.0}, "tau_m must be finite and above 0.0 ms; got 0.0"),
        ({"t_ref": -1.0}, "t_ref must be finite and at least 0.0 ms; got -1.0"),
        ({"v_reset": 20.0}, "v_reset must be below v_th; got 20.0 and 20.0 mV"),
        ({"mu": [1, 2], "sigma": [1, 2, 3]}, "all arguments must"),
    ],
)
def test_diffusion_refuses(function, change, message):
    given = {"mu": 1.0, "sigma": 1.0, "tau_m": 20.0, "v_th": 20.0, "v_reset": 0.0, "t_ref": 2.0}
    with pytest.raises(ValueError, match=message):
        function(**{**given, **change})


@pytest.mark.parametrize("tau_syn", [0.0, 0.5, 5.0, 20.0])
def test_moments_are_integrals_of_the_psp(tau_syn):
    # 20 kHz of 0.1 mV; the PSP of an exponential current solves the membrane's equation.
    tau, J, rate = 20.0, 0.1, 20_000.0

    def psp(t):
        if tau_syn == 0:
            return J * np.exp(-t / tau)
        if tau_syn == tau:
            return J * t / tau * np.exp(-t / tau)
        grown = np.exp(-t / tau) - np.exp(-t / tau_syn)
        return J * tau / (tau - tau_syn) * grown

    mean, variance = membrane_moments(rate, J, tau, tau_syn)
    assert mean == pytest.approx(rate * 1e-3 * quad(psp, 0, 600, limit=200)[0], rel=1e-7)
    square = quad(lambda t: psp(t) ** 2, 0, 600, limit=200)[0]
    assert variance == pytest.approx(rate * 1e-3 * square, rel=1e-7)


def test_moments_of_currents_in_pa():
    jump = membrane_moments(1000.0, 0.2, 10.0, 2.0)
    current = membrane_moments(1000.0, 25.0, 10.0, 2.0, c_m=250.0)
    np.testing.assert_allclose(current, jump, rtol=1e-12)
    mean, variance = membrane_moments([100.0, 200.0], 0.2, 10.0, [[1.0], [2.0], [3.0]])
    assert mean.shape == variance.shape == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "field", "got"),
    [
        ((-1.0, 0.1, 10.0), "rate", "-1.0"),
        ((1.0, np.nan, 10.0), "weight", "nan"),
        ((1.0, 0.1, 0.0), "tau_m", "0.0"),
        ((1.0, 0.1, 10.0, -1.0), "tau_syn", "-1.0"),
        ((1.0, 0.1, 10.0, 0.0, 250.0), "tau_syn", "0.0"),
        ((1.0, 0.1, 10.0, 2.0, 0.0), "c_m", "0.0"),
    ],
)
def test_moments_refuse(arguments, field, got):
    assert_refused(lambda: membrane_moments(*arguments), "membrane_moments", field, got)
