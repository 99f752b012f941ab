"""How many neurons of each area ever fired, round by round."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import names_checked
from .._text import brief
from ._style import COLUMN, LINE, colour, finish, legend, new_figure, open_box

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAND = (0.05, 0.95)  # quantiles over seeds
_FEW = 40  # rounds that get a dot each


@names_checked()
def support(
    seen: Any,
    names: Sequence[str] | None = None,
    *,
    k: int | Sequence[int] | None = None,
    size: Sequence[float] = COLUMN,
) -> "Figure":
    """Support of each area after each round: how many of its neurons have fired by then.

    `seen` of `jn.assemblies.run`, or numbers (rounds, areas) or (seeds, rounds, areas): over seeds
    the line is the mean, and the band holds the middle 90 % of them; `names` of the areas
    (`brain.area_names`); `k` the size of their caps, one or one each, drawn as a dotted line;
    `size` (width, height) [inches]. The legend says which areas never fired.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for numbers of another shape, no round, and `names` or `k` that are not
    one for each area; `ImportError` without matplotlib.
    """
    values = _numbers(seen)
    areas = values.shape[2]
    if names is not None and np.shape(names) != (areas,):
        raise ValueError(f"support: names must be one for each of {areas} areas; got {names!r}")
    labels = [f"area {i}" for i in range(areas)] if names is None else list(names)
    rounds = np.arange(1, values.shape[1] + 1)
    silent = [bool((values[:, :, i] == 0).all()) for i in range(areas)]
    labels = [f"{label} (never fired)" if no else label for label, no in zip(labels, silent)]
    figure = new_figure(size)
    axis = figure.subplots()
    for number, label in enumerate(labels):
        mine, shade = values[:, :, number], colour(number)
        if mine.shape[0] > 1:
            low, high = np.quantile(mine, _BAND, axis=0)
            axis.fill_between(rounds, low, high, color=shade, alpha=0.25, lw=0)
        dots = {"marker": "o", "ms": 2.0} if rounds.size <= _FEW else {}
        axis.plot(
            rounds, mine.mean(axis=0), color=shade, lw=0.9, label=label, clip_on=False, **dots
        )
    heights = _caps(k, areas)
    for number, height in enumerate(heights):
        shade = colour(number) if heights.size > 1 else "black"
        axis.axhline(height, color=shade, lw=LINE, ls=":")
    axis.set(xlabel="round", ylabel="support (neurons)")
    axis.set_xlim(0.5, rounds.size + 0.5)
    axis.set_ylim(bottom=0)
    axis.locator_params(axis="x", integer=True)
    open_box(axis)
    if areas > 1 or names is not None or any(silent):
        legend(axis)
    return finish(figure)


def _numbers(seen: Any) -> np.ndarray:
    """Support as (seeds, rounds, areas), or `ValueError`."""
    try:
        values = np.asarray(getattr(seen, "support", seen))
    except (TypeError, ValueError):  # of several lengths: a state, or (state, seen)
        values = np.asarray(None)
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or not values.size or values.dtype.kind not in "iuf":
        raise ValueError(
            "support: seen must be numbers (rounds, areas) or (seeds, rounds, areas), at least one "
            f"of each; got {_short(seen, values)}. It is the second of what jn.assemblies.run "
            "returns: state, seen = ac.run(...)"
        )
    return values.astype(np.float64)


def _short(seen: Any, values: np.ndarray) -> str:
    return f"{values.dtype}{list(values.shape)}" if values.ndim else brief(seen)


def _caps(k: int | Sequence[int] | None, areas: int) -> np.ndarray:
    """The heights of the dotted lines, or `ValueError`."""
    if k is None:
        return np.zeros(0)
    sizes = np.asarray(k)
    if sizes.dtype.kind not in "iu" or sizes.shape not in ((), (areas,)):
        raise ValueError(f"support: k must be one whole number, or one for each area; got {k!r}")
    return np.atleast_1d(sizes)
