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
WRONG = [
    (lambda: plot.connectivity(NET), LINKS),
    (lambda: plot.connectivity([CONNECTIONS]), LINKS),
    (lambda: plot.degrees(RESULT), LINKS),
    (lambda: plot.weight_histogram(np.ones(3)), LINKS + r" an array of shape \(3,\)"),
    (lambda: plot.delay_histogram(RESULT), LINKS),
    (lambda: plot.correlogram("E", RESULT), RUN + " 'E'"),
    (lambda: plot.traces("E", RESULT), RUN),
    (lambda: plot.weight_history(NET, "E->I"), RUN),
    (lambda: plot.correlogram(RESULT, ["E", "I"]), "give one name at a time"),
    (lambda: plot.correlogram(RESULT, "E", max_lag="5"), "max_lag must"),
    (lambda: plot.comparison(RESULT), "found must be a Comparison; got"),
    (lambda: plot.parse_tree("abc"), r"must be what jn\.assemblies\.parser\.parse"),
    (lambda: plot.fibres(3), r"must be a jn\.assemblies\.Brain; got 3"),
    (lambda: plot.lattice(np.ones(9), 9), r"shape must be .* such as \(20, 20\)"),
    (lambda: plot.lattice(np.ones(9), (3, 3), index=3), "lattice: index must"),
    (lambda: plot.lattice(np.ones(9), (3, 3), scale="ab"), "scale must be two numbers"),
    (lambda: plot.lattice_movie(np.ones((1, 9)), shape=(3, 3), path="a.gif"), RUN),
    (lambda: plot.activity(RESULT, reference=3.0), r"rates \[Hz\] by name, such as {'E': 5\.0}"),
    (lambda: plot.activity(RESULT, reference={"E": "a"}), "reference of 'E' must be one number"),
    (
        lambda: plot.raster(RESULT, size="big"),
        r"size must be \(width, height\) in inches; got 'big'",
    ),
    (lambda: plot.raster(RESULT, 3), "the name of a population must be a text; got 3"),
    (lambda: plot.raster(RESULT, start=(10.0, 20.0)), "start must be one number of ms"),
    (lambda: plot.rates(RESULT, bin_ms="5"), "bin_ms must be one number of ms, above 0.0; got '5'"),
    (lambda: plot.traces(RESULT, "E", neurons="a"), "neurons must be how many"),
    (lambda: plot.traces(RESULT, "E", neurons=[0.5]), "neurons must be how many"),
    (lambda: plot.stdp_window(RULE, signals=3), "signals must be values by name; got 3"),
    (lambda: plot.support(np.ones((3, 2)), 3), "names must be one for each of 2 areas; got 3"),
    (lambda: plot.overlap_matrix([[1, 2], [1, 2]], 4), "labels must be one for each of 2 caps"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_it_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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


def test_every_error_has_an_owner():
    for call, _ in WRONG:
        with pytest.raises(jn.InvalidValueError) as caught:
            call()
        assert caught.value.owner
