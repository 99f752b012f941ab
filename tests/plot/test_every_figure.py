"""What holds for every figure: units, sizes of text, nothing cut off, odd input."""

import inspect
import itertools
import pickle
import re
import struct
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import jaxneuro as jn
from jaxneuro import plot
from jaxneuro.assemblies import Area, Brain, Fibre, Stimulus
from jaxneuro.plot._style import three_digits
from tests.plot.results import PARSE, connections, png, random_connections, random_result
from tests.refusing import assert_refused
from tests.runs import result

SUPPORT = np.cumsum(np.random.default_rng(0).integers(0, 90, (5, 25, 2)), axis=1)
CAPS = np.sort(np.random.default_rng(1).integers(0, 90, (6, 30)), axis=1)
LATTICE, RULE = np.arange(24.0), jn.plasticity.TraceSTDP()
AREAS = [Area(name, 100, 10) for name in ("A", "ADJ_MORE")]
BRAIN = Brain(AREAS, [Stimulus("S", 5)], [Fibre("S", "A"), Fibre("A", "ADJ_MORE")], p=0.1)
# By name: from a result and connections to a figure.
FIGURES = {
    "raster": lambda r, c, **k: plot.raster(r, **k),
    "raster, all": lambda r, c, **k: plot.raster(r, neurons=None, size=(3.3, 3.0), **k),
    "activity": lambda r, c, **k: plot.activity(r, reference={"E": 30.0}, **k),
    "rates": lambda r, c, **k: plot.rates(r, **k),
    "traces": lambda r, c, **k: plot.traces(r, "E", **k),
    "traces, overlaid": lambda r, c, **k: plot.traces(
        r, "E", neurons=2, overlay=True, size=(3.3, 2), **k
    ),
    "rate_histogram": lambda r, c, **k: plot.rate_histogram(r, **k),
    "cv_histogram": lambda r, c, **k: plot.cv_histogram(r, **k),
    "interval_histogram": lambda r, c, **k: plot.interval_histogram(r, **k),
    "comparison": lambda r, c, **k: plot.comparison(jn.analysis.compare(r, r), **k),
    "correlogram, own": lambda r, c, **k: plot.correlogram(r, "E", max_lag=20.0, **k),
    "correlogram": lambda r, c, **k: plot.correlogram(r, "E", "I", max_lag=20.0, **k),
    "correlation_matrix": lambda r, c, **k: plot.correlation_matrix(r, **k),
    "power_spectrum": lambda r, c, **k: plot.power_spectrum(r, segment_ms=50.0, **k),
    "connectivity": lambda r, c, **k: plot.connectivity(c, **k),
    "connectivity, weight": lambda r, c, **k: plot.connectivity(c, "weight", unit="pA", **k),
    "connectivity, delay": lambda r, c, **k: plot.connectivity(c, "delay", **k),
    "connectivity, binned": lambda r, c, **k: plot.connectivity(c, dots=1, bins=4, **k),
    "connectivity, binned weight": lambda r, c, **k: plot.connectivity(
        c, "weight", dots=1, bins=4, **k
    ),
    "degrees": lambda r, c, **k: plot.degrees(c, **k),
    "weight_histogram": lambda r, c, **k: plot.weight_histogram(c, unit="pA", **k),
    "delay_histogram": lambda r, c, **k: plot.delay_histogram(c, **k),
    "stdp_window": lambda r, c, **k: plot.stdp_window(RULE, dt=1.0, unit="nS", **k),
    "stdp_window, pairs": lambda r, c, **k: plot.stdp_window(
        {"a rule": RULE}, dt=1.0, pairs=60, **k
    ),
    "weight_history": lambda r, c, **k: plot.weight_history(r, "E->I", **k),
    "weight_history, times": lambda r, c, **k: plot.weight_history(
        r, "E->I", times=[0.0, 9999.0], **k
    ),
    "support": lambda r, c, **k: plot.support(SUPPORT, ["A", "B"], k=90, **k),
    "support, one area": lambda r, c, **k: plot.support(SUPPORT[0, :, :1], **k),
    "overlap_matrix": lambda r, c, **k: plot.overlap_matrix(CAPS, **k),
    "overlap_matrix, named": lambda r, c, **k: plot.overlap_matrix(
        CAPS[:3], ["a cap", "one", "two"], **k
    ),
    "lattice": lambda r, c, **k: plot.lattice(
        LATTICE, (4, 6), label="rate (Hz)", title="a title", **k
    ),
    "lattice, 3 axes": lambda r, c, **k: plot.lattice(LATTICE, (4, 2, 3), label="rate (Hz)", **k),
    "parse_tree": lambda r, c, **k: plot.parse_tree(PARSE, **k),
    "fibres": lambda r, c, **k: plot.fibres(BRAIN, BRAIN.active("S->A"), **k),
    "lattice, 4 axes": lambda r, c, **k: plot.lattice(
        LATTICE, (2, 2, 2, 3), label="rate (Hz)", **k
    ),
}
SIZES = {"E": 40, "I": 10}
NONE = np.zeros(0)
CASES = {
    "spikes": (random_result(start=5000.0), random_connections()),
    "no spikes": (random_result(rate=0.0), connections(NONE, NONE, (30, 20))),
    "one neuron": (random_result(2, {"E": 1, "I": 1}), connections([0], [0], (1, 1))),
    "nobody": (random_result(sizes={"E": 3, "I": 0}), connections(NONE, NONE, (3, 0))),
    "nobody else": (random_result(sizes={"E": 3, "I": 0}), connections(NONE, NONE, (0, 3))),
    "many": (
        random_result(3, {"E": 900, **{f"population {k}": 20 for k in range(8)}, "I": 30}),
        random_connections(3, (300, 150), 0.1),
    ),
}
HARD = ("spikes", "no spikes", "nobody", "many")
NO_UNIT = r"neurons?$|slices along|in each slice|axis \d from|synapses per pair|count cor|CV of"
NO_UNIT += r"|round$|cap$"
every_figure = pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES.keys())
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def panels(figure):
    return [panel for axis in figure.axes for panel in (axis, *axis.child_axes)]


def texts(figure):
    """All that is to be read and is not empty, but for the labels of ticks."""
    found = [*figure.texts, *([figure._supylabel] if figure._supylabel else [])]
    for axis in panels(figure):
        found += [axis.xaxis.label, axis.yaxis.label, axis.title, axis._right_title]
        found += axis.get_legend().get_texts() if axis.get_legend() else []
    return [t for t in found if t.get_text()]


def tick_labels(figure):
    return [t for a in panels(figure) for t in (*a.get_xticklabels(), *a.get_yticklabels())]


@pytest.mark.slow(
    but=[
        "raster-spikes",
        "traces-no spikes",
        "connectivity-many",
        "rates-many",
        "lattice-spikes",
        "rates-nobody",
    ]
)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=k, marks=[pytest.mark.science] * (k not in HARD))
        for k, c in CASES.items()
    ],
)
@every_figure
def test_it_is_saved_and_can_be_read(draw, case):
    figure = draw(*case)
    assert isinstance(figure, Figure)
    assert png(figure)[:4] == b"\x89PNG"
    assert figure.canvas.manager is None, "a window was opened for it"
    for text in texts(figure) + tick_labels(figure):
        assert text.get_fontsize() >= 7.0, text


@pytest.mark.parametrize(
    # Words in a line and areas on a ring have no axes.
    "draw",
    [f for name, f in FIGURES.items() if name not in ("parse_tree", "fibres")],
)
def test_every_axis_has_a_unit(draw):
    figure = draw(*CASES["spikes"])
    labels = [f"{a.get_xlabel()}|{a.get_ylabel()}" for a in panels(figure)]
    labels = [x for both in labels for x in both.split("|") if x]
    labels += [figure._supylabel.get_text()] if figure._supylabel else []
    assert len(labels) >= 2
    for label in labels:
        # What is counted and what is a ratio has no unit, all else has one in brackets.
        counted = re.match(NO_UNIT, label)
        assert "(1)" not in label
        assert counted or re.search(r"\(.+\)$", label), label


@pytest.mark.slow(but=["spikes-raster", "no spikes-rates"])
@every_figure
@pytest.mark.parametrize("case", ["spikes", "no spikes"])
def test_nothing_is_cut_off(draw, case):
    figure = draw(*CASES[case])
    figure.draw_without_rendering()  # once, as it is for a file
    for text in texts(figure):
        box = text.get_window_extent()
        for low, high, end in ((box.x0, box.x1, figure.bbox.x1), (box.y0, box.y1, figure.bbox.y1)):
            assert -1.0 < low < high < end + 1.0, text


@pytest.mark.parametrize("name", ["rates", "raster", "weight_history", "traces"])
@pytest.mark.parametrize("duration", [20.0, 20_000.0])
def test_labels_of_ticks_are_apart(name, duration):
    times = np.linspace(0.0, duration, 41)[1:]
    v, counts = np.zeros((40, 2)), np.ones((40, 12), np.int32)
    learned = {"weight_histograms": {"E->E": counts}, "weight_edges": {"E->E": np.arange(13.0)}}
    sampled = {"traces": {"E": {"v": v}}, "sample_times": times, **learned}
    run = result({"E": [(t, 0) for t in times]}, {"E": 2}, duration, **sampled)
    figure = getattr(plot, name)(run, "E->E" if name == "weight_history" else "E", size=(3.3, 2.4))
    figure.draw_without_rendering()
    labels = [t for t in figure.axes[-1].get_xticklabels() if t.get_text()]
    boxes = [t.get_window_extent() for t in labels]
    assert len(boxes) > 2
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


@pytest.mark.slow(but=["raster", "connectivity"])
@every_figure
def test_spines_are_thin(draw):
    for axis in panels(draw(*CASES["spikes"])):
        for spine in axis.spines.values():
            assert not spine.get_visible() or spine.get_linewidth() <= 0.6


SEVERAL = ("activity", "comparison", "degrees", "traces")  # panels


@pytest.mark.slow(but=["raster", "lattice", "overlap_matrix", "rates"])
@pytest.mark.parametrize("name", [k for k in FIGURES if k not in SEVERAL])
def test_it_is_drawn_into_axes(name):
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    right.set_title("another", fontsize=17)
    assert FIGURES[name](*CASES["spikes"], ax=left) is figure
    assert left.has_data() or left.texts or left.patches
    assert not right.has_data()
    assert right.title.get_fontsize() == 17
    assert figure.axes == [left, right]
    assert png(figure)[:4] == b"\x89PNG"


def test_axes_that_do_not_fit():
    axes = Figure().subplots(1, 2)
    result = random_result(sizes={f"P{k}": 5 for k in range(8)})
    for draw, owner in (
        (lambda: plot.rates(result, ax=axes[0]), "rates"),
        (lambda: plot.traces(random_result(), "E", ax=axes[0]), "traces"),
        (lambda: plot.raster(result, ax=axes), "raster"),
    ):
        assert_refused(draw, owner, "ax")
    empty = plot.rates(random_result(duration=0.0), ax=axes[0])
    assert [t.get_text() for t in empty.axes[0].texts] == ["no time steps were run"]


def test_a_notebook_shows_it():
    """IPython asks for `_repr_png_` where pyplot has not told it how figures are shown."""
    figure = plot.rates(random_result(), size=(3.0, 2.0))
    shown = figure._repr_png_()
    assert shown[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", shown[16:24]) == (300, 200)
    assert pickle.loads(pickle.dumps(figure))._repr_png_()[:4] == b"\x89PNG"


def test_every_function_is_here():
    named = {name.split(",")[0] for name in FIGURES}
    public = {n for n, f in vars(plot).items() if inspect.isfunction(f) and not n.startswith("_")}
    assert public == named | {"lattice_movie"}


POPULATED = ("raster", "rates", "rate_histogram", "cv_histogram", "interval_histogram")
POPULATED += ("correlation_matrix", "power_spectrum", "activity")


@pytest.mark.parametrize("name", [*POPULATED, "traces", "correlogram", "weight_history"])
def test_empty_runs_say_so(name):
    more = {"traces": ["E"], "correlogram": ["E"], "weight_history": ["E->I"]}.get(name, [])
    draw = getattr(plot, name)
    steps = draw(random_result(duration=0.0), *more)
    assert "no time steps were run" in [t.get_text() for t in steps.axes[0].texts]
    if name != "weight_history":
        nobody = draw(random_result(sizes={"E": 0, "I": 0}), *more)
        assert [t.get_text() for t in nobody.axes[0].texts] == ["no neurons"]
    if name not in ("weight_history", "traces", "rate_histogram"):  # these have something to show
        silent = draw(random_result(rate=0.0), *more)
        assert any(t.get_text().startswith("no ") for axis in silent.axes for t in axis.texts)


@pytest.mark.parametrize("name", ["rates", "rate_histogram", "cv_histogram", "interval_histogram"])
def test_many_populations_have_a_panel_each(name):
    r = random_result(sizes={f"P{k}": 20 for k in range(8)})
    axes = getattr(plot, name)(r).axes
    titles = [axis.get_title(loc="right") for axis in axes]
    assert [title.split(",")[0] for title in titles] == list(r.populations)
    assert len({axis.get_ylim() for axis in axes}) == 1


@pytest.mark.parametrize("name", POPULATED)
def test_populations_are_checked(name):
    r = random_result()
    draw = getattr(plot, name)
    with pytest.raises(ValueError, match=r"no population named 'F'.* The known ones: 'E', 'I'"):
        draw(r, ["E", "F"])
    with pytest.raises(ValueError, match="at least one of the known ones: 'E', 'I'"):
        draw(r, [])
    with pytest.raises(ValueError, match=r"stop must be after start \(5 ms\); got 5 ms"):
        draw(r, start=5.0, stop=5.0)
    with pytest.raises(ValueError, match=r"start must be .*; got nan"):
        draw(r, start=float("nan"))
    with pytest.raises(ValueError, match=r"size must be \(width, height\) in inches; got 3"):
        draw(r, size=3)
    with pytest.raises(ValueError, match=r"size must be finite and above 0\.0 inches; got -1"):
        draw(r, size=(3.0, -1.0))
    assert isinstance(draw(r, "I"), Figure)


@pytest.mark.parametrize("name", ["rate_histogram", "cv_histogram", "interval_histogram"])
def test_bins_are_counted(name):
    with pytest.raises(ValueError, match="bins must be a whole number of at least 1; got 0"):
        getattr(plot, name)(random_result(), bins=0)


@pytest.mark.parametrize("name", ["degrees", "weight_histogram", "delay_histogram"])
def test_bins_of_connections_are_counted(name):
    with pytest.raises(ValueError, match="bins must be a whole number of at least 1; got 0"):
        getattr(plot, name)(random_connections(), bins=0)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "jaxneuro.plot._figure", raising=False)  # as at first
    with pytest.raises(ImportError, match="figures need matplotlib; install it"):
        plot.rates(random_result())


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.00"),
        (1.6, "1.60"),
        (0.99999, "1.00"),
        (20.83, "20.8"),
        (999.9, "1,000"),
        (1234.5, "1,234"),
        (-0.00535, "-0.00535"),
        (2.1e-7, "2.1e-07"),
    ],
)
def test_three_digits(number, text):
    assert three_digits(number) == text
