"""What a figure cannot be drawn from is refused with what to give."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import plot
from tests.plot.results import random_connections, random_result
from tests.refusing import assert_refused

RESULT, CONNECTIONS, RULE = random_result(), random_connections(), jn.plasticity.TraceSTDP()
NET = jn.build(jn.Description([jn.Population("E", 2, jn.neurons.LIF())]), key=0, dt=0.1)
LINKS = r"must be the connections of one projection, net\.connections\(name\); got"
RUN = r"the source must be a result of simulate, .*; got"
WRONG = {
    "connectivity of a network": (
        lambda: plot.connectivity(NET),
        *("connectivity", "what is drawn", "Network: 1 population, 2 neurons, 0"),
    ),
    "connectivity of a list": (
        lambda: plot.connectivity([CONNECTIONS]),
        *("connectivity", "what is drawn", "[namespace(source='E', target='I'"),
    ),
    "degrees of a result": (
        lambda: plot.degrees(RESULT),
        *("degrees", "what is drawn", "Result: 200 ms (2,000 steps) of 2"),
    ),
    "weight histogram of an array": (
        lambda: plot.weight_histogram(np.ones(3)),
        *("weight_histogram", "what is drawn", "an array of shape (3,)"),
    ),
    "delay histogram of a result": (
        lambda: plot.delay_histogram(RESULT),
        *("delay_histogram", "what is drawn", "Result: 200 ms (2,000 steps) of 2"),
    ),
    "correlogram, swapped": (
        lambda: plot.correlogram("E", RESULT),
        *("correlogram", "the source", "'E'"),
    ),
    "traces, swapped": (lambda: plot.traces("E", RESULT), "traces", "the source", "'E'"),
    "weight history of a network": (
        lambda: plot.weight_history(NET, "E->I"),
        *("weight_history", "the source", "Network: 1 population, 2 neurons, 0"),
    ),
    "several names": (
        lambda: plot.correlogram(RESULT, ["E", "I"]),
        *("correlogram", "the name of a population", "['E', 'I']: give one name at a time"),
    ),
    "max_lag": (
        lambda: plot.correlogram(RESULT, "E", max_lag="5"),
        *("correlogram", "max_lag", "'5'"),
    ),
    "comparison of a result": (
        lambda: plot.comparison(RESULT),
        *("comparison", "found", "Result: 200 ms (2,000 steps) of 2"),
    ),
    "parse tree of a text": (
        lambda: plot.parse_tree("abc"),
        "parse_tree",
        "what is drawn",
        "'abc'",
    ),
    "fibres of a number": (lambda: plot.fibres(3), "fibres", "what is drawn", "3"),
    "shape of a lattice": (lambda: plot.lattice(np.ones(9), 9), "lattice", "shape", "9"),
    "index of a lattice": (
        lambda: plot.lattice(np.ones(9), (3, 3), index=3),
        "lattice",
        "index",
        "3",
    ),
    "scale of a lattice": (
        lambda: plot.lattice(np.ones(9), (3, 3), scale="ab"),
        *("lattice", "scale", "'ab'"),
    ),
    "movie of an array": (
        lambda: plot.lattice_movie(np.ones((1, 9)), shape=(3, 3), path="a.gif"),
        *("lattice_movie", "the source", "array([[1., 1., 1., 1., 1., 1., 1., 1."),
    ),
    "one reference": (
        lambda: plot.activity(RESULT, reference=3.0),
        *("activity", "reference", "3.0"),
    ),
    "reference as a text": (
        lambda: plot.activity(RESULT, reference={"E": "a"}),
        *("activity", "reference of 'E'", "'a'"),
    ),
    "size": (lambda: plot.raster(RESULT, size="big"), "raster", "size", "'big'"),
    "number for a name": (
        lambda: plot.raster(RESULT, 3),
        *("raster", "the name of a population", "3"),
    ),
    "start": (
        lambda: plot.raster(RESULT, start=(10.0, 20.0)),
        *("raster", "start", "(10.0, 20.0)"),
    ),
    "bin_ms": (lambda: plot.rates(RESULT, bin_ms="5"), "rates", "bin_ms", "'5'"),
    "neurons as a text": (
        lambda: plot.traces(RESULT, "E", neurons="a"),
        "traces",
        "neurons",
        "'a'",
    ),
    "half a neuron": (
        lambda: plot.traces(RESULT, "E", neurons=[0.5]),
        *("traces", "neurons", "[0.5]"),
    ),
    "signals": (lambda: plot.stdp_window(RULE, signals=3), "stdp_window", "signals", "3"),
    "names of areas": (lambda: plot.support(np.ones((3, 2)), 3), "support", "names", "3"),
    "labels of caps": (
        lambda: plot.overlap_matrix([[1, 2], [1, 2]], 4),
        *("overlap_matrix", "labels", "4"),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_it_is_refused(case):
    assert_refused(*WRONG[case])


RAGGED = [[1, 2], [3]]
SHAPES = {  # how a figure is drawn from an array that has none of the shapes that it may have
    "lattice": ("values", lambda x: plot.lattice(x, (3, 3))),
    "lattice of a shape": ("shape", lambda x: plot.lattice(np.ones(9), x)),
    "support": ("seen", plot.support),
    "support of names": ("names", lambda x: plot.support(np.ones((3, 2)), x)),
    "support of k": ("k", lambda x: plot.support(np.ones((3, 2)), k=x)),
    "overlap_matrix": ("labels", lambda x: plot.overlap_matrix([[1, 2], [1, 2]], x)),
    "traces": ("neurons", lambda x: plot.traces(RESULT, "E", neurons=x)),
    "raster": ("size", lambda x: plot.raster(RESULT, size=x)),
    "stdp_window": ("v", lambda x: plot.stdp_window(RULE, v=x)),
    "stdp_window of a weight": ("weight", lambda x: plot.stdp_window(RULE, weight=x)),
    "stdp_window of a span": ("span", lambda x: plot.stdp_window(RULE, span=x)),
    "activity": ("reference of 'E'", lambda x: plot.activity(RESULT, reference={"E": x})),
    "weight_history": ("times", lambda x: plot.weight_history(RESULT, "E->I", times=x)),
    "rates": ("bin_ms", lambda x: plot.rates(RESULT, bin_ms=x)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("given", [np.ones((1, 2, 2, 2)), RAGGED], ids=["axes", "ragged"])
def test_arrays_of_other_shapes_are_refused(name, given):
    """By the figure that was asked for, not by NumPy."""
    field, draw = SHAPES[name]
    assert_refused(lambda: draw(given), name.split()[0], field)
