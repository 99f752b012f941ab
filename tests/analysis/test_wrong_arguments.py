"""Functions of spikes that are given a run, too little or no numbers say what they take."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

from jaxneuro import analysis

RUN = SimpleNamespace(events=None, populations={})
AT, WHO = np.array([0.55, 1.05, 2.55]), np.array([0, 1, 0])
ALL = [getattr(analysis, name) for name in analysis.__all__]
FUNCTIONS = {f.__name__: f for f in filter(inspect.isfunction, ALL) if "analysis" in f.__module__}
WRONG = [
    (
        lambda: analysis.neuron_rates(AT, WHO, 2, (10.0, 20.0)),
        "stop must be one number",
    ),
    (lambda: analysis.neuron_rates(AT, WHO, 2, "a"), "stop must be one number"),
    (lambda: analysis.neuron_rates("a", WHO, 2, 10), "times must be an array of numbers; got 'a'"),
    (lambda: analysis.interval_cv(AT, WHO, 2, start=(1.0, 2.0)), "start must be one number"),
    (lambda: analysis.avalanches(AT), "numbers that ascend and are not whole, as times do"),
    (lambda: analysis.branching_ratio(AT), "numbers that ascend and are not whole, as times do"),
    (lambda: analysis.power_spectrum("a", 1.0), "trace must be an array of numbers"),
    (lambda: analysis.power_spectrum(AT, 1.0, axis="a"), "axis must be a whole number"),
    (lambda: analysis.count_correlation([[1, 2], [1]]), "counts must be an array of numbers"),
    (lambda: analysis.voltage_synchrony("a"), "v must be an array of numbers"),
    (lambda: analysis.excitation_inhibition("a", "b"), "excitatory must be an array of numbers"),
    (lambda: analysis.count_correlation((AT, WHO)), "takes counts; got both as a pair"),
    (lambda: analysis.population_rate(AT, 0, 10.0), "n must be a whole number of at least 1"),
    (lambda: analysis.crossing_times("a", "b"), "times must be an array of numbers"),
    (lambda: analysis.summary(3), r"summary needs the result of jn\.simulate; got 3"),
    (lambda: analysis.summary(RUN, "E"), "build_s must be seconds; got 'E'; the summary has all"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_it_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - {"summary"}))
def test_a_result_is_no_array(name):
    with pytest.raises(ValueError, match=rf"{name} takes arrays, no result of a run\. ") as error:
        FUNCTIONS[name](RUN, "E")
    takes = inspect.signature(FUNCTIONS[name]).parameters
    if {"neurons", "stop"} <= {*takes}:
        call = rf"{name}(*result.events(name), result.populations[name], start=result.start"
        assert call in str(error.value)


@pytest.mark.parametrize("name", ["neuron_rates", "population_rate", "intervals", "bursts"])
def test_a_pair_of_times_and_neurons_is_two_arguments(name):
    star = (
        r"\*result\.events\(name\)" if name != "population_rate" else r"result\.events\(name\)\[0"
    )
    with pytest.raises(ValueError, match=rf"got both as a pair\. Give jn.analysis.{name}\({star}"):
        FUNCTIONS[name]((AT, WHO), 2, 10.0)
