"""Synchrony, spectra and balance of populations."""

import numpy as np
import pytest
from scipy import signal

from jaxneuro import SpikeTrains
from jaxneuro.analysis import (
    Traces,
    count_synchrony,
    excitation_inhibition,
    population_rate,
    power_spectrum,
    voltage_synchrony,
)
from tests.refusing import assert_refused


def traces(values, dt=1.0):
    return Traces(dt * np.arange(1, len(values) + 1), values)


def white(times, stop):
    return SpikeTrains(times, np.zeros(len(times), int), 1, 0.0, stop)


def test_voltages_that_move_together_are_1():
    v = np.random.default_rng(0).normal(size=(200, 1))
    together = traces(np.repeat(v, 9, axis=1) - 60.0)
    assert voltage_synchrony(together) == pytest.approx(1.0, rel=1e-12)
    assert np.isnan(voltage_synchrony(traces(np.full((5, 3), -65.1))))


def test_independent_voltages_are_1_over_the_root_of_n():
    v = np.random.default_rng(1).normal(-60.0, 3.0, (20_000, 25))
    # chi^2 is a variance over 20,000 steps, chi half as uncertain.
    assert voltage_synchrony(traces(v)) == pytest.approx(0.2, rel=5 * 0.5 * np.sqrt(2 / 20_000))


def test_synchrony_is_the_definition():
    v = np.random.default_rng(2).normal(size=(50, 4)).cumsum(axis=0)
    want = np.var([row.mean() for row in v]) / np.mean([np.var(column) for column in v.T])
    assert voltage_synchrony(traces(v)) ** 2 == pytest.approx(want, rel=1e-12)


def test_synchrony_of_counts():
    rng = np.random.default_rng(3)
    times = np.sort(rng.uniform(0, 30_000, 50_000))
    counts = np.array([np.sum((times > 3 * b) & (times <= 3 * b + 3)) for b in range(10_000)])
    got = count_synchrony(white(times, 30_000.0))
    assert got == pytest.approx(counts.var() / counts.mean(), rel=1e-12)
    assert got == pytest.approx(1.0, abs=5 * np.sqrt((2 + 1 / 5) / 10_000))
    # All spikes k times: the mean grows by k, the variance by k^2.
    often = white(np.repeat(times, 4), 30_000.0)
    assert count_synchrony(often) == pytest.approx(4 * got, rel=1e-12)
    assert np.isnan(count_synchrony(white([], 30.0)))


def test_synchrony_refuses():
    one = Traces([1.0], [5.0])
    assert_refused(lambda: voltage_synchrony(one), "voltage_synchrony", "the samples")
    empty = white([], 5.0)
    assert_refused(lambda: count_synchrony(empty), "count_synchrony", "bin_ms", "1 of them")
    assert_refused(lambda: count_synchrony(empty, bin_ms=-1.0), "count_synchrony", "bin_ms")


def welch(x, fs, size):
    """Welch's estimate, written out."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    parts = [x[at : at + size] for at in range(0, x.size - size + 1, size - size // 2)]
    spectra = [np.abs(np.fft.rfft((p - p.mean()) * window)) ** 2 for p in parts]
    density = np.mean(spectra, axis=0) / fs / np.sum(window**2)
    density[1 : (size + 1) // 2] *= 2
    return np.fft.rfftfreq(size, 1 / fs), density


@pytest.mark.parametrize("size", [64, 51, 300])
def test_the_spectrum_is_welchs(size):
    x = np.random.default_rng(4).normal(size=300)
    frequency, density = power_spectrum(traces(x, 0.5), segment_ms=size * 0.5)
    density = density[:, 0]
    want = welch(x, 2000.0, size)
    np.testing.assert_allclose(frequency, want[0], rtol=1e-12)
    np.testing.assert_allclose(density, want[1], rtol=1e-9, atol=1e-18)
    theirs = signal.welch(x, 2000.0, nperseg=size)
    np.testing.assert_allclose(density, theirs[1], rtol=1e-12)


def test_each_signal_has_its_spectrum():
    x = np.random.default_rng(5).normal(size=(400, 3))
    frequency, density = power_spectrum(traces(x), segment_ms=100.0)
    assert density.shape == (frequency.size, 3)
    for k in range(3):
        one = power_spectrum(traces(x[:, k]), segment_ms=100.0)[1]
        np.testing.assert_allclose(density[:, [k]], one)
    # A trace that is shorter than the segment is one segment.
    assert power_spectrum(traces(x))[0].size == 201


def test_a_tone_has_its_frequency_and_power():
    t = np.arange(20_000) * 0.5
    frequency, density = power_spectrum(traces(3.0 * np.sin(2 * np.pi * 0.04 * t), 0.5))
    assert frequency[np.argmax(density)] == 40.0
    assert density.sum() * (frequency[1] - frequency[0]) == pytest.approx(4.5, rel=1e-3)


def test_a_poisson_process_is_white_at_twice_its_rate():
    times = np.sort(np.random.default_rng(6).uniform(0, 200_000, 20_000))  # 100 Hz
    trains = white(times, 200_000.0)
    _, density = power_spectrum(trains, segment_ms=100.0)
    _, rate = population_rate(trains)
    same = power_spectrum(traces(rate), segment_ms=100.0)[1][:, 0]
    np.testing.assert_allclose(density, same, rtol=1e-12)
    # About 4,000 segments per frequency, half of each shared: sd below 1 / sqrt(2,000).
    np.testing.assert_allclose(density[2:-1], 200.0, rtol=5 / np.sqrt(2000))


def test_the_spectrum_refuses():
    for source, segment in ((np.ones(9), 3.9), (np.arange(3.0), 9.0)):
        given = {"source": traces(source), "segment_ms": segment}
        assert_refused(lambda k=given: power_spectrum(**k), "power_spectrum", "segment_ms")
    assert power_spectrum(traces(np.arange(4.0)))[0].tolist() == [0.0, 250.0, 500.0]
    for times in ([], [1.0, 2.0, 4.0, 5.0]):
        assert_refused(lambda x=times: power_spectrum(Traces(x, x)), "Traces", "times")


def balance(excitatory, inhibitory):
    return excitation_inhibition(traces(excitatory), inhibitory=traces(inhibitory))


def test_the_balance_is_the_definition():
    rng = np.random.default_rng(7)
    plus = rng.gamma(4.0, 10.0, (500, 3))
    minus = -(0.5 * plus + rng.gamma(2.0, 10.0, (500, 3)))
    ratio, correlation = balance(plus, minus)
    for k in range(3):
        assert ratio[k] == pytest.approx(plus[:, k].mean() / -minus[:, k].mean(), rel=1e-12)
        r = np.corrcoef(plus[:, k], -minus[:, k])[0, 1]
        assert correlation[k] == pytest.approx(r, rel=1e-12)
    one = balance(plus[:, 0], minus[:, 0])
    assert (one[0][0], one[1][0]) == pytest.approx((ratio[0], correlation[0]), rel=1e-12)


def test_the_balance_at_its_ends():
    plus = np.array([1.0, 3.0, 2.0])
    assert np.ravel(balance(plus, -2 * plus)) == pytest.approx((0.5, 1.0), rel=1e-12)
    ratio, correlation = balance(plus, np.zeros(3))
    assert ratio == np.inf
    assert np.isnan(correlation)
    assert np.isnan(balance(np.zeros(3), np.zeros(3))[0])


def test_the_balance_refuses():
    one, owner = np.ones((4, 2)), "excitation_inhibition"
    assert_refused(lambda: balance(one, one), owner, "the mean of inhibitory")
    assert_refused(lambda: balance(-one, -one), owner, "the mean of excitatory")
    assert_refused(lambda: balance(one, -one[:, :1]), owner, "excitatory and inhibitory")
