"""Assemblies over the rounds, their overlaps, and parses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import spec
from .._text import brief
from ..spec import InvalidValueError
from ._style import (
    COLUMN,
    LINE,
    SEQUENTIAL,
    SMALL,
    TEXT,
    axes_for,
    check_given,
    colour,
    colour_bar,
    finish,
    inches_of,
    legend,
    open_box,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_BAND = (0.05, 0.95)  # quantiles over seeds
_FEW = 40  # rounds that get a dot each


@spec.arguments()
def support(
    seen: Any,
    names: Sequence[str] | None = None,
    *,
    k: int | Sequence[int] | None = None,
    size: Sequence[float] = COLUMN,
    ax: "Axes | None" = None,
) -> "Figure":
    """Support of each area after each round: how many of its neurons have fired by then.

    `seen` of `jn.assemblies.run`, or numbers (rounds, areas) or (seeds, rounds, areas): over seeds
    the line is the mean, and the band holds the middle 90 % of them; `names` of the areas
    (`brain.area_names`); `k` the size of their caps, one or one each, drawn as a dotted line;
    `size` (width, height) [inches]. The legend says which areas never fired.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for numbers of another shape, no round, and `names` or `k` that are not
            one for each area; `ImportError` without matplotlib.
    """
    values = _numbers(seen)
    areas = values.shape[2]
    if names is not None and spec.array_of(names).shape != (areas,):
        raise InvalidValueError("support", "names", f"one for each of {areas} areas", repr(names))
    labels = [f"area {i}" for i in range(areas)] if names is None else list(names)
    rounds = np.arange(1, values.shape[1] + 1)
    silent = [bool((values[:, :, i] == 0).all()) for i in range(areas)]
    labels = [f"{label} (never fired)" if no else label for label, no in zip(labels, silent)]
    axis = axes_for(ax, size)
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
    return finish(axis.figure, ax)


def _numbers(seen: Any) -> np.ndarray:
    """Support as (seeds, rounds, areas), or `ValueError`."""
    try:
        values = np.asarray(getattr(seen, "support", seen))
    except (TypeError, ValueError):  # of several lengths: a state, or (state, seen)
        values = np.asarray(None)
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or not values.size or values.dtype.kind not in "iuf":
        raise InvalidValueError(
            "support",
            "seen",
            "numbers (rounds, areas) or (seeds, rounds, areas), the second of what ac.run returns",
            str(_short(seen, values)),
        )
    return values.astype(np.float64)


def _short(seen: Any, values: np.ndarray) -> str:
    return f"{values.dtype}{list(values.shape)}" if values.ndim else brief(seen)


def _caps(k: int | Sequence[int] | None, areas: int) -> np.ndarray:
    """The heights of the dotted lines, or `ValueError`."""
    if k is None:
        return np.zeros(0)
    sizes = spec.array_of(k)
    if sizes.dtype.kind not in "iu" or sizes.shape not in ((), (areas,)):
        raise InvalidValueError("support", "k", "one whole number, or one for each area", repr(k))
    return np.atleast_1d(sizes)


_DARK = 0.55  # overlaps below are on a dark colour
_WIDE = 2.2  # a number of two decimals needs so many times the size of its letters


@spec.arguments()
def overlap_matrix(
    caps: Any,
    labels: Sequence[str] | None = None,
    *,
    size: Sequence[float] = (COLUMN[0], 2.9),
    ax: "Axes | None" = None,
) -> "Figure":
    """Overlaps of caps of one area, pair by pair, as a heat map with numbers.

    `caps` int (caps, k), or one array of neurons for each cap, -1 is nobody; `labels` one for each;
    `size` (width, height) [inches]. A cell is the share of the row's cap that is also in the
    column's, as `jn.assemblies.overlap`. Numbers are left out where they do not fit.
    A cap that is all -1, as of an area that never fired, is labelled as nobody.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for no cap, an empty one, neurons that are not whole numbers, and
            `labels` that are not one for each; `ImportError` without matplotlib.
    """
    rows = _rows(caps)
    if labels is not None and spec.array_of(labels).shape != (len(rows),):
        raise InvalidValueError(
            "overlap_matrix", "labels", f"one for each of {len(rows)} caps", repr(labels)
        )
    names = [*map(str, range(len(rows)) if labels is None else labels)]
    names = [f"{n} (nobody)" if (row < 0).all() else n for n, row in zip(names, rows)]
    overlaps = _overlaps(rows)
    axis = axes_for(ax, size)
    image = axis.imshow(overlaps, SEQUENTIAL, vmin=0.0, vmax=1.0, interpolation="nearest")
    shown = np.arange(0, len(names), max(1, -(-len(names) // 12)))
    slanted = max(len(names[i]) for i in shown) > 3
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axis.set_xticks(shown, [names[i] for i in shown], **turned)
    axis.set_yticks(shown, [names[i] for i in shown])
    axis.set(xlabel="cap", ylabel="cap")
    colour_bar(image, axis, "overlap (share of the row's cap)")
    figure = finish(axis.figure, ax)
    _write(axis, overlaps)
    return figure


def _rows(caps: Any) -> list[np.ndarray]:
    """Each cap as int64 (k,), or `ValueError`."""
    several = isinstance(caps, list | tuple) or spec.array_of(caps).ndim > 0
    rows = [spec.array_of(cap) for cap in caps] if several else []
    bad = [r for r in rows if r.ndim != 1 or not r.size or r.dtype.kind not in "iu"]
    if not rows or bad:
        got = f"{bad[0].dtype}{list(bad[0].shape)}" if bad else "none"
        raise InvalidValueError(
            "overlap_matrix",
            "caps",
            "at least one array of numbers of neurons, int (k,), as brain.cap gives it",
            str(got),
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


_GAP = 16.0  # points between words
_LEVEL = 21.0  # points between arcs above each other
_FEET = 5.0  # points between the feet of arcs at one word
_CORNER = 9.0  # points: radius of the corners
_LETTER = 0.62  # of the font size: the width of a letter


@spec.arguments()
def parse_tree(
    parse: Any, *, size: Sequence[float] | None = None, ax: "Axes | None" = None
) -> "Figure":
    """The words of a sentence in a line, and above it an arc from each word to its dependents.

    `parse` of `jn.assemblies.parser.parse`; `size` (width, height) [inches] (default: as the words
    and arcs need). An arrow points to the dependent; the text on it is the relation, which is the
    area of the dependent. Each relation has one colour; a bar marks the word without a head.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for what is no parse, a size that is not two positive numbers;
            `ImportError` without matplotlib.
    """
    check_given("parse", parse)
    places, width = _places(parse.words)
    arcs = sorted({tuple(arc) for arc in parse.arcs}, key=_span)
    levels = _levels(arcs)
    top = _LEVEL * (max(levels, default=0) + 0.65) + SMALL
    below = 2.6 * TEXT
    wanted = ((width + 8) / 72, (top + below) / 72) if size is None else size
    axis = axes_for(ax, wanted)
    # In points: axes that were given have empty space where they are larger than needed.
    room = (0.0, 0.0) if ax is None else inches_of(axis)
    aside = max(72 * room[0] - width, 8) / 2
    axis.set(xlim=(-aside, width + aside), ylim=(-below, max(72 * room[1] - below, top)))
    axis.set_axis_off()
    shades = _shades([relation for _, _, relation in parse.arcs])
    for number, (word, x) in enumerate(zip(parse.words, places)):
        root = all(dependent != number for _, dependent, _ in arcs) and any(
            head == number for head, _, _ in arcs
        )
        axis.text(x, -4, word, ha="center", va="top", fontsize=TEXT + 1)
        if root:
            reach = _LETTER * TEXT * len(word) / 2
            axis.plot([x - reach, x + reach], [-4 - 1.75 * TEXT] * 2, color="black", lw=1.2)
    feet = _feet(arcs, places)
    for (_, _, relation), level, ends in zip(arcs, levels, feet):
        _draw(axis, ends, _LEVEL * (level + 0.65), relation, shades[relation])
    return finish(axis.figure, ax)


def _places(words: Sequence[str]) -> tuple[list[float], float]:
    """The middle of each word [points], and the width of the line."""
    places, at = [], 0.0
    for word in words:
        wide = max(_LETTER * (TEXT + 1) * len(word), 14.0)
        places.append(at + wide / 2)
        at += wide + _GAP
    return places, at - _GAP


def _span(arc: tuple) -> tuple:
    head, dependent, relation = arc
    return abs(head - dependent), min(head, dependent), head > dependent, relation


def _levels(arcs: list) -> list[int]:
    """How high each arc is: above all shorter ones that lie between its ends, or cross it."""
    levels: list[int] = []
    for number, (head, dependent, _) in enumerate(arcs):
        low, high = sorted((head, dependent))
        under = [
            levels[other]
            for other, (a, b, _) in enumerate(arcs[:number])
            if min(a, b) < high and max(a, b) > low
        ]
        levels.append(max(under, default=-1) + 1)
    return levels


def _feet(arcs: list, places: list[float]) -> list[tuple[float, float]]:
    """Where each arc starts and ends: arcs of one word stand side by side and do not cross."""
    ends: dict[int, list[tuple]] = {}
    for number, (head, dependent, _) in enumerate(arcs):
        for word, other in ((head, dependent), (dependent, head)):
            # From the left: arcs to the left, the lowest first; then those to the right, the
            # highest first. Arcs are numbered from the shortest to the longest.
            entry = (0, number, number) if other < word else (1, -number, number)
            ends.setdefault(word, []).append(entry)
    at = {}
    for word, there in ends.items():
        for rank, (_, _, number) in enumerate(sorted(there)):
            at[word, number] = places[word] + _FEET * (rank - (len(there) - 1) / 2)
    return [(at[h, number], at[d, number]) for number, (h, d, _) in enumerate(arcs)]


def _shades(relations: Sequence[str]) -> dict[str, str]:
    """A colour for each relation, in the order in which they occur."""
    return {name: colour(number) for number, name in enumerate(dict.fromkeys(relations))}


def _draw(axis: "Axes", ends: tuple[float, float], high: float, text: str, shade: str) -> None:
    """An arc with an arrow at its second end, and text on it."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    start, end = ends
    turn = min(_CORNER, abs(end - start) / 2, high - 6) * (1 if end > start else -1)
    side = abs(turn)
    points = [
        *((start, 0), (start, high - side), (start, high), (start + turn, high)),
        *((end - turn, high), (end, high), (end, high - side), (end, 1.0)),
    ]
    line, bend = Path.LINETO, Path.CURVE3
    codes = [Path.MOVETO, line, bend, bend, line, bend, bend, line]
    axis.add_patch(
        FancyArrowPatch(
            path=Path(points, codes),
            arrowstyle="-|>,head_length=3.2,head_width=1.6",
            color=shade,
            lw=1.0,
            shrinkA=0,
            shrinkB=0,
            capstyle="round",
            mutation_scale=1.0,
        )
    )
    plain = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    middle = (start + end) / 2
    axis.text(middle, high, text, ha="center", va="center", fontsize=SMALL, color=shade, bbox=plain)
