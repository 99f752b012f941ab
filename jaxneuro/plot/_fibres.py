"""The areas of a brain and the fibres between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import names_checked
from ._given import check_given
from ._style import SMALL, colour, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NODE = 0.17  # radius of an area; the ring of areas has radius 1
_IDLE = "#CFCFCF"


@names_checked()
def fibres(brain: Any, active: Any = None, *, size: Sequence[float] = (4.2, 4.2)) -> "Figure":
    """Areas as discs, stimuli as squares, and fibres as arrows between them.

    `brain` a `jn.assemblies.Brain`; `active` bool (F,) of `brain.active`, or (rounds, F): the more
    rounds a fibre is active in, the thicker its arrow, and one that never is stays grey (default:
    all are equal); `size` (width, height) [inches]. An area with fibres from or to most others
    stands in the middle.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for what is no brain, an `active` of another shape; `ImportError`
    without matplotlib.
    """
    check_given("brain", brain)
    share = _share(brain, active)
    figure = new_figure(size)
    axis = figure.subplots()
    names = [*(x.name for x in brain.areas), *(x.name for x in brain.stimuli)]
    ends = [(fibre.source, fibre.target) for fibre in brain.fibres]
    places = _places(names, ends)
    # The thick ones on top.
    for number in np.argsort(share, kind="stable"):
        source, target = ends[number]
        shade = colour(0) if share[number] > 0 else _IDLE
        width = 0.9 if active is None else 0.6 + 1.4 * float(share[number])
        if source == target:
            _loop(axis, places[source], shade, width)
        else:
            curved = (target, source) in ends
            _arrow(axis, places[source], places[target], shade, width, curved)
    stimuli = {x.name for x in brain.stimuli}
    for name, place in places.items():
        _node(axis, name, place, name in stimuli)
    axis.set(xlim=(-1.36, 1.36), ylim=(-1.36, 1.36), aspect="equal")
    axis.set_axis_off()
    return finish(figure)


def _share(brain: Any, active: Any) -> np.ndarray:
    """In which share of the rounds each fibre is active: (F,)."""
    count = len(brain.fibres)
    if active is None:
        return np.ones(count)
    given = np.asarray(active)
    if given.dtype != bool or given.ndim not in (1, 2) or given.shape[-1] != count:
        raise ValueError(
            f"fibres: active must be bool ({count},) or (rounds, {count}), from brain.active(...); "
            f"got {given.dtype} {given.shape}"
        )
    share = given.reshape(-1, count).mean(axis=0)
    return share / max(share.max(), 1e-12)


def _places(names: list[str], ends: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Where each node stands: on a ring, one that is joined to most others in its middle."""
    joined = {name: {x for end in ends if name in end for x in end} - {name} for name in names}
    hub = max(names, key=lambda name: len(joined[name]))
    middle = len(names) > 4 and 3 * len(joined[hub]) >= 2 * (len(names) - 1)
    ring = [name for name in names if not (middle and name == hub)]
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(ring)) / max(len(ring), 1)
    places = {name: np.array([np.cos(a), np.sin(a)]) for name, a in zip(ring, angle)}
    if len(names) == 1:
        return {names[0]: np.zeros(2)}
    return {hub: np.zeros(2), **places} if middle else places


def _node(axis: "Axes", name: str, place: np.ndarray, square: bool) -> None:
    from matplotlib.patches import Circle, Rectangle

    look: dict[str, Any] = {"facecolor": "white", "edgecolor": "black", "lw": 0.8, "zorder": 3}
    corner = (place[0] - _NODE, place[1] - _NODE)
    side = 2 * _NODE
    disc = Circle((place[0], place[1]), _NODE, **look)
    axis.add_patch(Rectangle(corner, side, side, **look) if square else disc)
    text = name.replace("_", "\n") if len(name) > 7 else name
    longest = max(len(line) for line in text.split("\n"))
    axis.text(
        float(place[0]),
        float(place[1]),
        text,
        ha="center",
        va="center",
        fontsize=min(SMALL, 56 / max(longest, 8)),
        linespacing=0.95,
        zorder=4,
    )


def _arrow(
    axis: "Axes", start: np.ndarray, end: np.ndarray, shade: str, width: float, curved: bool
) -> None:
    along = (end - start) / np.linalg.norm(end - start)
    # To the side, so that the two directions of a pair lie beside each other.
    aside = 0.045 * np.array([along[1], -along[0]]) if curved else np.zeros(2)
    start, end = start + _NODE * along + aside, end - (_NODE + 0.01) * along + aside
    _draw(axis, start, end, 0.08 if curved else 0.0, shade, width)


def _loop(axis: "Axes", place: np.ndarray, shade: str, width: float) -> None:
    """The fibre of an area onto itself: outside of the ring."""
    far = np.linalg.norm(place)
    out = place / far if far > 0 else np.array([0.0, -1.0])
    across = np.array([-out[1], out[0]])
    start = place + _NODE * (0.8 * out + 0.6 * across)
    end = place + _NODE * (0.8 * out - 0.6 * across)
    _draw(axis, start, end, -1.6, shade, width)


def _draw(
    axis: "Axes", start: np.ndarray, end: np.ndarray, bend: float, shade: str, width: float
) -> None:
    from matplotlib.patches import FancyArrowPatch

    axis.add_patch(
        FancyArrowPatch(
            (float(start[0]), float(start[1])),
            (float(end[0]), float(end[1])),
            arrowstyle="-|>,head_length=3.4,head_width=1.7",
            connectionstyle=f"arc3,rad={bend}",
            color=shade,
            lw=width,
            mutation_scale=1.0 + 0.25 * width,
            shrinkA=0,
            shrinkB=0,
            zorder=2 if shade != _IDLE else 1,
        )
    )
