"""A window of time cuts the same spikes everywhere, and seconds in place of ms are noticed."""

import inspect

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import SpikeTrains, analysis
from jaxneuro._numerics.windows import run_window
from tests import runs

RNG = np.random.default_rng(0)
STEPS = np.sort(RNG.choice(np.arange(2000, 20_000), 900, replace=False))
NEURONS = RNG.integers(0, 5, 900)
RUN = runs.result({"E": zip(0.1 * STEPS, NEURONS)}, {"E": 5}, 2000.0)
ALL = RUN.spikes["E"]
INSIDE = (STEPS > 5000) & (STEPS <= 12_000)
CUT = SpikeTrains(0.1 * STEPS[INSIDE], NEURONS[INSIDE], 5, 500.0, 1200.0)
SPIKES = {
    name: function
    for name, function in vars(analysis).items()
    if inspect.isfunction(function) and "population" in inspect.signature(function).parameters
}
MORE = {
    "population_bursts": {"threshold": 5.0},
    "cross_correlogram": {"other": "E"},
    "multistep_branching_ratio": {"bin_ms": 10.0, "max_lag": 3},
    "power_spectrum": {"segment_ms": 100.0},
    "count_covariance": {"bin_ms": 10.0},
    "count_correlation": {"bin_ms": 10.0},
    "avalanches": {"bin_ms": 1.0},
    "branching_ratio": {"bin_ms": 10.0},
    "victor_purpura": {"cost": 0.1},
    "van_rossum": {"tau": 10.0},
    "coincidence_factor": {"delta": 1.0},
    "psth": {"onsets": [0.85, *range(300, 1900, 7)], "window": (-0.3, 0.3), "bin_ms": 0.1},
}


def numbers(value):
    """What a function returns as one row of numbers."""
    return np.concatenate([np.ravel(x) for x in (value if isinstance(value, tuple) else (value,))])


@pytest.mark.parametrize("name", SPIKES)
def test_a_window_is_that_of_its_spikes(name):
    function, more = SPIKES[name], MORE.get(name, {})
    got = numbers(function(RUN, "E", **more, start=500.0, stop=1200.0))
    of_arrays = more | {"other": CUT} if "other" in more else more
    np.testing.assert_array_equal(got, numbers(function(CUT, **of_arrays)))
    assert not np.array_equal(got, numbers(function(RUN, **more, start=500.0)))
    with pytest.raises(jn.InvalidValueError) as caught:
        function(RUN, "E", **more, start=4.0, stop=3.0)
    assert caught.value.field == "stop"
    fine = {"bin_ms": 0.1} if "bin_ms" in inspect.signature(function).parameters else {}
    with pytest.warns(UserWarning, match=r"look like seconds: start=500, stop=1200 would fit"):
        function(RUN, "E", **more | fine, start=0.5, stop=1.2)


@pytest.mark.parametrize("name", SPIKES)
def test_times_in_float32_count_where_those_in_float64_do(name):
    function, more = SPIKES[name], MORE.get(name, {})
    fine = {"bin_ms": 0.1} if "bin_ms" in inspect.signature(function).parameters else {}
    onsets = {k: np.float32(x) for k, x in more.items() if k == "onsets"}
    short = SpikeTrains(CUT.times.astype(np.float32), CUT.neurons, 5, 500.0, 1200.0)
    first, second = (
        numbers(function(x, **more | fine | ({"other": x} if "other" in more else {}) | given))
        for x, given in ((CUT, {}), (short, onsets))
    )
    np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-4)


def test_what_is_within_a_limit_in_float64_is_so_in_float32():
    times = np.array([100.3, 110.6, 200.3, 210.6, 300.3, 310.6])
    limits = {"max_begin": 10.3, "max_end": 10.3, "min_gap": 89.7, "min_duration": 10.3}
    for x in (times, times.astype(np.float32)):
        trains = SpikeTrains(x, [0] * 6, 1, 0.0, 400.0)
        assert len(analysis.bursts(trains, **limits, min_spikes=2).start) == 3
        window = {"start": 0.0, "stop": 400.0}
        same = analysis.coincidence_factor(x, times + 1.3, delta=1.3, **window)
        assert same == analysis.coincidence_factor(times, times + 1.0, delta=1.3, **window)
    samples = np.float32(0.1) * np.arange(1, 5000, dtype=np.float32)
    traces = analysis.Traces(samples, np.ones(4999))
    assert traces.interval == pytest.approx(0.1, rel=1e-6)
    assert analysis.power_spectrum(traces, start=100.3, stop=311.1)[1].size


def test_a_bin_that_float32_cannot_tell_from_the_next_is_warned_of():
    late = SpikeTrains(np.float32([700_000.1]), [0], 1, 699_990.0, 700_010.0)
    with pytest.warns(UserWarning, match=r"0\.0625 ms apart"):
        analysis.spike_counts(late, bin_ms=0.1)
    assert analysis.spike_counts(late, bin_ms=1.0).sum() == 1


def test_every_function_of_spikes_takes_a_window_last():
    assert len(SPIKES) > 15
    for name, function in SPIKES.items():
        parameters = [*inspect.signature(function).parameters]
        assert parameters[:2] == ["source", "population"], name
        assert parameters[-2:] == ["start", "stop"], name


def test_a_window_of_a_run():
    assert run_window(100.0, 400.0, None, None) == (100.0, 400.0)
    assert run_window(0.0, 0.0, None, None) == (0.0, 0.0)
    assert run_window(0.0, 3 * 0.1, None, 0.3) == (0.0, 0.3)
    assert run_window(0.0, 60_000.0, 0.0, 50.0) == (0.0, 50.0)  # no warning
    for given, field in (
        ((50.0, 200.0), "start"),
        ((100.0, 400.1), "stop"),
        ((500.0, None), "start"),
        ((300.0, 300.0), "stop"),
        ((float("nan"), None), "start"),
        ((None, (110, 120)), "stop"),
    ):
        with pytest.raises(jn.InvalidValueError) as caught:
            run_window(100.0, 400.0, *given)
        assert caught.value.field == field
    with pytest.raises(jn.InvalidValueError, match=r"start=100, stop=400 would fit"):
        run_window(100.0, 400.0, 0.1, 0.4)
    with pytest.warns(UserWarning, match=r"from 0\.2 to 1 ms, where the run is from 0 to 1000 ms"):
        run_window(0.0, 1000.0, 0.2, 1.0)


def test_a_bin_in_seconds_is_told():
    for call in (
        lambda: analysis.population_rate(RUN, bin_ms=0.005),
        lambda: analysis.spike_counts(RUN, bin_ms=0.05),
        lambda: analysis.count_synchrony(RUN, bin_ms=0.003),
        lambda: analysis.bursts(RUN, max_begin=0.05),
    ):
        with pytest.warns(UserWarning, match=r"shorter than the time step, 0.1 ms") as w:
            call()
        assert w[0].filename == __file__
    with pytest.warns(UserWarning, match="lag 0 is the only one.*max_lag=50;"):
        analysis.autocorrelogram(RUN, max_lag=0.05)
    # Meant: a bin per time step, arrays whose step is not known, lag 0 alone.
    analysis.population_rate(RUN, bin_ms=0.1)
    analysis.population_rate(ALL, bin_ms=0.05)
    analysis.autocorrelogram(RUN, max_lag=0.0)


def test_the_end_of_a_run():
    more = _run(100.0)
    assert (more.start, more.stop, more.duration) == (100.0, 150.0, 50.0)
    assert more.rate("E") == analysis.neuron_rates(more).mean() == 40.0
    with pytest.raises(ValueError, match=r"start must be one number of ms; got \(110, 120\)"):
        more.events("E", (110, 120))


def test_rates_from_counts_per_step():
    steps = np.bincount([0, 120, 130, 499], minlength=500)
    spikes, counts = _run(100.0), runs.result(None, {"E": 2}, 50.0, 100.0, counts={"E": steps})
    for window in ({}, {"start": 110.0}, {"start": 110.0, "stop": 120.0}):
        assert counts.rate("E", **window) == spikes.rate("E", **window)
        for function in (analysis.population_rate, analysis.count_synchrony):
            got, want = (numbers(function(run, "E", **window)) for run in (counts, spikes))
            np.testing.assert_array_equal(got, want)
    for ask in (counts.events, lambda name: analysis.spike_counts(counts, name)):
        with pytest.raises(ValueError, match="were not recorded"):
            ask("E")


def _run(start):
    """A run of 50 ms that went on: spikes in its steps 0, 120, 130 and 499."""
    spikes = {"E": [(start + 0.1, 0), (start + 12.1, 1), (start + 13.1, 1), (start + 50.0, 0)]}
    return runs.result(spikes, {"E": 2}, 50.0, start)
