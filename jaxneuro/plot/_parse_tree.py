"""The dependencies of a sentence as arcs over its words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._checks import names_checked
from ._given import check_given
from ._style import SMALL, TEXT, colour, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GAP = 16.0  # points between words
_LEVEL = 21.0  # points between arcs above each other
_FEET = 5.0  # points between the feet of arcs at one word
_CORNER = 9.0  # points: radius of the corners
_LETTER = 0.62  # of the font size: the width of a letter


@names_checked()
def parse_tree(parse: Any, *, size: Sequence[float] | None = None) -> "Figure":
    """The words of a sentence in a line, and above it an arc from each word to its dependents.

    `parse` of `jn.assemblies.parser.parse`; `size` (width, height) [inches] (default: as the words
    and arcs need). An arrow points to the dependent; the text on it is the relation, which is the
    area of the dependent. Each relation has one colour; a bar marks the word without a head.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for what is no parse, a size that is not two positive numbers;
    `ImportError` without matplotlib.
    """
    check_given("parse", parse)
    places, width = _places(parse.words)
    arcs = sorted({tuple(arc) for arc in parse.arcs}, key=_span)
    levels = _levels(arcs)
    top = _LEVEL * (max(levels, default=0) + 0.65) + SMALL
    below = 2.6 * TEXT
    wanted = ((width + 8) / 72, (top + below) / 72) if size is None else size
    figure = new_figure(wanted)
    axis = figure.subplots()
    axis.set(xlim=(-4, width + 4), ylim=(-below, top))
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
    return finish(figure)


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
