"""A window of time cuts the same spikes everywhere, and seconds in place of ms are noticed."""

import inspect

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import analysis
from jaxneuro._numerics.windows import run_window

RNG = np.random.default_rng(0)
TIMES = np.sort(RNG.choice(np.arange(2000, 20_000), 900, replace=False)) * 0.1
NEURONS = RNG.integers(0, 5, 900)
INSIDE = (TIMES > 500.0 + 1e-6) & (TIMES <= 1200.0 + 1e-6)
# Functions of spikes that are not made for bins from `start` to `stop`.
CUT = ("intervals", "interval_cvs", "interval_cv", "cv2", "local_variation", "bursts")


def numbers(value):
    """What a function returns as one row of numbers."""
    return np.concatenate([np.ravel(x) for x in (value if isinstance(value, tuple) else (value,))])


@pytest.mark.parametrize("name", CUT)
def test_a_window_is_that_of_its_spikes(name):
    function = getattr(analysis, name)
    got = numbers(function(TIMES, NEURONS, 5, start=500.0, stop=1200.0))
    np.testing.assert_array_equal(got, numbers(function(TIMES[INSIDE], NEURONS[INSIDE], 5)))
    assert not np.array_equal(got, numbers(function(TIMES, NEURONS, 5, start=500.0)))
    with pytest.raises(ValueError, match="stop must"):
        function(TIMES, NEURONS, 5, start=4.0, stop=3.0)


def test_every_function_of_spikes_takes_a_window():
    for name, function in vars(analysis).items():
        if inspect.isfunction(function) and "neurons" in inspect.signature(function).parameters:
            assert {"start", "stop"} <= set(inspect.signature(function).parameters), name


@pytest.mark.parametrize("name", [*CUT, "neuron_rates", "spike_counts", "fano_factor"])
def test_a_window_in_seconds_is_noticed(name):
    """The spikes go from 200 to 2000 ms: from 0.5 to 1.2 ms there is none."""
    more = {"bin_ms": 0.1} if name in ("spike_counts", "fano_factor") else {}
    with pytest.warns(UserWarning, match=r"look like seconds: start=500, stop=1200 would fit"):
        getattr(analysis, name)(TIMES, NEURONS, 5, start=0.5, stop=1.2, **more)


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


FROM_ZERO = [k for k, f in vars(analysis).items() if "stop" in getattr(f, "__annotations__", {})]
CALLS = {
    "cross_correlogram": (TIMES, TIMES, 1800.0),
    "count_synchrony": (TIMES, 1800.0),
    "population_rate": (TIMES, 5, 1800.0),
    "population_bursts": (TIMES, 5, 1800.0, 1.0),
}


@pytest.mark.parametrize("name", sorted({*FROM_ZERO} - {"Bursts", "summary"}))
def test_the_length_of_a_run_that_went_on_is_noticed(name):
    """The run is from 200 to 2000 ms, and `stop` its length."""
    function, args = getattr(analysis, name), CALLS.get(name, (TIMES, NEURONS, 5))
    late = {} if args[-1] != 5 else {"stop": 1800.0}
    with pytest.warns(UserWarning, match=r"13% of the spikes are .* give start=result\.start") as w:
        function(*args, **late)
    assert len(w) == 1
    assert w[0].filename == __file__
    function(*args, **late, start=200.0)  # no warning: these are errors in the tests
    function(*args, **late, start=0.0)


def test_a_bin_in_seconds_is_told():
    rng = np.random.default_rng(0)
    times, neurons = 0.1 * rng.integers(1, 9_000, 300), rng.integers(0, 5, 300)
    for call in (
        lambda: analysis.population_rate(times, 5, 1000.0, 0.005),
        lambda: analysis.spike_counts(times, neurons, 5, 1000.0, 0.05),
        lambda: analysis.count_synchrony(times, 1000.0, 0.003),
        lambda: analysis.bursts(times, neurons, 5, max_begin=0.05),
    ):
        with pytest.warns(
            UserWarning, match=r"shorter than the time step of the spikes, 0.1 ms"
        ) as w:
            call()
        assert w[0].filename == __file__
    with pytest.warns(UserWarning, match="lag 0 is the only one.*max_lag=50;"):
        analysis.autocorrelogram(times, neurons, 5, 1000.0, max_lag=0.05)
    # Meant: a bin per time step, no step at all, few spikes, lag 0 alone.
    analysis.population_rate(times, 5, 1000.0, 0.1)
    analysis.population_rate(rng.random(300) * 900.0, 5, 1000.0, 0.05)
    analysis.population_rate(times[:7], 5, 1000.0, 0.05)
    analysis.autocorrelogram(times, neurons, 5, 1000.0, max_lag=0.0)


def test_a_window_that_is_meant_gives_no_warning():
    analysis.neuron_rates(TIMES, NEURONS, 5, 1000.0)  # the first half
    analysis.neuron_rates(TIMES, NEURONS, 5, 100.0)  # before the spikes
    analysis.neuron_rates(TIMES, NEURONS, 5, 1900.0)  # without the end
    analysis.neuron_rates(TIMES, NEURONS, 5, 5000.0)  # beyond it
    analysis.neuron_rates([], [], 5, 100.0)


def test_the_end_of_a_run():
    more = _run(1000, 500)
    assert (more.start, more.stop, more.duration) == (100.0, 150.0, 50.0)
    assert (
        more.rate("E")
        == analysis.neuron_rates(*more.events("E"), 2, start=more.start, stop=more.stop).mean()
        == 40.0
    )
    with pytest.raises(ValueError, match=r"start must be one number of ms; got \(110, 120\)"):
        more.events("E", (110, 120))


def test_rates_from_counts_per_step():
    spikes, counts = _run(1000, 500), _run(1000, 500, counted=True)
    for window in ({}, {"start": 110.0}, {"start": 110.0, "stop": 120.0}):
        assert counts.rate("E", **window) == spikes.rate("E", **window)
    with pytest.raises(ValueError, match="spikes were not recorded"):
        counts.events("E")


def _run(first, steps, counted=False):
    """A result of a run that went on: spikes in steps 0, 120, 130 and 499 of the run."""
    at = np.array([0, 120, 130, 499])
    counts = {"E": np.bincount(at, minlength=steps)}
    empty = {
        "traces": {},
        "neurons": {},
        "shared": {},
        "means": {},
        "lfp": {},
        "weights": {},
        "synapses": {},
    }
    return jn.Result(
        None,
        None,
        0.1,
        (("E", 0, 0, 2),),
        first,
        steps,
        None if counted else ((at, np.array([0, 1, 1, 0])),),
        np.zeros(0),
        1,
        **empty,
        weight_histograms={},
        weight_edges={},
        function=None,
        counts=counts if counted else {},
        compile_s=0.0,
        run_s=0.0,
        interrupted=False,
    )
