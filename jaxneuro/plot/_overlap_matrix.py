"""How many neurons caps have in common, pair by pair."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import names_checked
from ._style import COLUMN, SEQUENTIAL, SMALL, colour_bar, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DARK = 0.55  # overlaps below are on a dark colour
_WIDE = 2.2  # a number of two decimals needs so many times the size of its letters


@names_checked()
def overlap_matrix(
    caps: Any,
    labels: Sequence[str] | None = None,
    *,
    size: Sequence[float] = (COLUMN[0], 2.9),
) -> "Figure":
    """Overlaps of caps of one area, pair by pair, as a heat map with numbers.

    `caps` int (caps, k), or one array of neurons for each cap, -1 is nobody; `labels` one for each;
    `size` (width, height) [inches]. A cell is the share of the row's cap that is also in the
    column's, as `jn.assemblies.overlap`. Numbers are left out where they do not fit.
    A cap that is all -1, as of an area that never fired, is labelled as nobody.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for no cap, an empty one, neurons that are not whole numbers, and
    `labels` that are not one for each; `ImportError` without matplotlib.
    """
    rows = _rows(caps)
    if labels is not None and np.shape(labels) != (len(rows),):
        raise ValueError(
            f"overlap_matrix: labels must be one for each of {len(rows)} caps; got {labels!r}"
        )
    names = [str(i) for i in range(len(rows))] if labels is None else list(labels)
    names = [f"{n} (nobody)" if (row < 0).all() else n for n, row in zip(names, rows)]
    overlaps = _overlaps(rows)
    figure = new_figure(size)
    axis = figure.subplots()
    image = axis.imshow(overlaps, SEQUENTIAL, vmin=0.0, vmax=1.0, interpolation="nearest")
    shown = np.arange(0, len(names), max(1, -(-len(names) // 12)))
    slanted = max(len(names[i]) for i in shown) > 3
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axis.set_xticks(shown, [names[i] for i in shown], **turned)
    axis.set_yticks(shown, [names[i] for i in shown])
    axis.set(xlabel="cap", ylabel="cap")
    colour_bar(figure, image, axis, "overlap (share of the row's cap)")
    finish(figure)
    _write(axis, overlaps)
    return figure


def _rows(caps: Any) -> list[np.ndarray]:
    """Each cap as int64 (k,), or `ValueError`."""
    several = isinstance(caps, (list, tuple)) or np.ndim(caps) > 0
    rows = [np.asarray(cap) for cap in caps] if several else []
    bad = [r for r in rows if r.ndim != 1 or not r.size or r.dtype.kind not in "iu"]
    if not rows or bad:
        got = f"{bad[0].dtype}{list(bad[0].shape)}" if bad else "none"
        raise ValueError(
            "overlap_matrix: caps must be at least one array of the numbers of neurons, int (k,) "
            f"each; got {got}. Use brain.cap(state, area), or np.stack of several"
        )
    return [row.astype(np.int64) for row in rows]


def _overlaps(rows: list[np.ndarray]) -> np.ndarray:
    """The share of each row's cap that is in each other one: (caps, caps)."""
    fire = [row[row >= 0] for row in rows]
    known, place = np.unique(np.concatenate(fire), return_inverse=True)
    there = np.zeros((len(rows), known.size), np.int32)
    there[np.repeat(np.arange(len(rows)), [f.size for f in fire]), place] = 1
    return (there @ there.T) / np.array([row.size for row in rows])[:, None]


def _write(axis: "Axes", overlaps: np.ndarray) -> None:
    """The numbers, if the cells are large enough once the layout is known."""
    n = len(overlaps)
    points = axis.get_window_extent().width * 72 / axis.figure.dpi
    if points / n < _WIDE * SMALL:
        return
    for i, j in np.ndindex(n, n):
        x = overlaps[i, j]
        text = f"{x:.0f}" if x in (0.0, 1.0) else f"{x:.2f}"
        shade = "white" if x < _DARK else "black"
        axis.text(j, i, text, ha="center", va="center", fontsize=SMALL, color=shade)
