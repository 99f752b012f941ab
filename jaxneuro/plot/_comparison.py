"""Two runs beside each other: the distributions that `jn.analysis.compare` compares."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import spec
from ..analysis import Comparison, Difference
from ._style import (
    LINE,
    PAGE,
    SMALL,
    colour,
    empty_figure,
    finish,
    legend,
    new_figure,
    open_box,
    say,
    short_name,
    three_digits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ROW = 1.7  # inches: the height of the panels of a population
_AXES = {
    "rate": "rate of a neuron (Hz)",
    "cv": "CV of inter-spike intervals",
    "correlation": "count correlation of a pair",
}


@spec.arguments(
    found=spec.Of(Comparison),
    labels=spec.Items(spec.Name(), at_least=2),
)
def comparison(
    found: Comparison,
    *,
    labels: Sequence[str] = ("a", "b"),
    size: Sequence[float] | None = None,
) -> "Figure":
    """The distributions of two runs over each other: a row per population, a column per measure.

    `found` is what `jn.analysis.compare(a, b)` gives; `labels` the names of the two runs; `size`
    (width, height) [inches], by default two columns of a paper wide, and higher for more
    populations. Each line is the share of neurons, or of pairs, whose value is at most that of the
    axis. The black line is where two lines are farthest apart: its length is the distance of
    Kolmogorov and Smirnov, the number in the panel.

    Returns:
        a matplotlib `Figure`, which a notebook shows.

    Raises:
        InvalidValueError: for what is no comparison, or not a label for each run; `ImportError`
            without matplotlib.

    Reference:
        Gutzen et al. (2018), doi:10.3389/fninf.2018.00090.
    """
    names = list(dict.fromkeys(x.population for x in found.rows))
    measures = list(dict.fromkeys(x.measure for x in found.rows))
    if not names:
        return empty_figure("no neurons", size or PAGE)
    figure = new_figure((PAGE[0], 0.5 + _ROW * len(names)) if size is None else size)
    panels = figure.subplots(len(names), len(measures), sharey=True, squeeze=False)
    for row in found.rows:
        place = names.index(row.population), measures.index(row.measure)
        _draw(panels[place], row, labels)
    for axis, name in zip(panels[:, 0], names):
        axis.set_ylabel("\n".join(x for x in (short_name(name), "cumulative share (%)") if x))
    for axis, measure in zip(panels[-1], measures):
        axis.set_xlabel(_AXES[measure])
    return finish(figure)


def _draw(axis: "Axes", row: Difference, labels: Sequence[str]) -> None:
    """Two cumulative distributions, and where they are farthest apart."""
    both = [np.sort(row.a), np.sort(row.b)]
    every = np.unique(np.concatenate(both))
    shares = [np.searchsorted(x, every, "right") * 100.0 / max(x.size, 1) for x in both]
    for number, (x, share, label) in enumerate(zip(both, shares, labels)):
        if x.size:
            mean = f"{three_digits(float(x.mean()))}{' Hz' if row.measure == 'rate' else ''}"
            look = {"color": colour(number), "lw": 1.0, "ls": ("-", (0, (4, 1)))[number]}
            at, up = np.repeat(every, 2), np.append(0.0, np.repeat(share, 2)[:-1])
            axis.plot(at, up, label=f"{label}, mean {mean}", **look)
    if all(x.size for x in both):
        at = np.argmax(np.abs(shares[0] - shares[1]))
        axis.plot([every[at]] * 2, [x[at] for x in shares], color="black", lw=1.5 * LINE)
        where = {"ha": "right", "va": "bottom", "transform": axis.transAxes}
        axis.text(0.97, 0.04, f"KS {row.distance:.2f}", fontsize=SMALL, **where)
    elif not every.size:
        say(axis, "no values")
    axis.set_ylim(0.0, 104.0)
    open_box(axis)
    legend(axis)
