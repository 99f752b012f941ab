"""Heat map of one value per neuron of a lattice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import names_checked
from ._panels import say
from ._style import ABSENT, COLUMN, SEQUENTIAL, colour_bar, finish, limits, new_figure
from ._tiles import Tiles, cover_gaps, label_axes, lay_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@names_checked()
def lattice(
    values: Any,
    shape: Sequence[int],
    *,
    index: Sequence[int | None] | None = None,
    label: str = "value",
    scale: Sequence[float] | None = None,
    colours: str = SEQUENTIAL,
    title: str = "",
    size: Sequence[float] | None = None,
) -> "Figure":
    """One value per neuron of a lattice as a heat map.

    `values` (n,) in the order of the neurons, the last coordinate fastest (that of
    `jn.space.Grid`), or in the shape of the lattice; `shape` neurons along each of 2 to 4 axes.
    `index` a coordinate or None for each axis: (None, None, 3, 0) shows axes 0 and 1 at the
    coordinates 3 and 0 of the others. `label` says what is shown, with its unit: "rate (Hz)";
    `scale` (low, high) of the colours, by default the range of the values; `colours` a colour map
    of matplotlib; `size` (width, height) [inches], by default one column wide and as high as
    needed. Values that are not finite are grey.

    Axes are numbered as the entries of `shape`: 0 is x, 1 is y, 2 is z, 3 is w. Of the axes that
    are not fixed, the last goes from left to right and the last but one upwards, with coordinate
    (0, 0) at the lower left. With three axes, slices along the first one are in reading order, with
    slice 0 at the upper left. With four axes, slices along the second go from left to right and
    those along the first upwards, with slice (0, 0) at the lower left.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for a lattice that does not have as many neurons as values, an index
    outside of it, fewer than 2 or more than 4 free axes, or a scale that is not (low, high);
    `ImportError` without matplotlib.
    """
    tiles = lay_out(shape, index)
    shown = tiles.picture(per_neuron("values", np.asarray(values), shape)[0])
    figure, _ = draw_lattice(shown, tiles, limits(shown, scale), label, colours, title, size)
    return figure


def per_neuron(name: str, values: np.ndarray, shape: Sequence[int], frames: int = 0) -> np.ndarray:
    """`values` as (frames, n), or `ValueError`; `frames` counts the axes before the neurons."""
    n = int(np.prod(shape))
    inner = values.shape[frames:]
    if values.ndim < frames + 1 or inner not in ((n,), tuple(shape)):
        before = "frames, " * frames
        raise ValueError(
            f"{name} must be an array ({before}{n}{'' if frames else ','}), a value per neuron of "
            f"the lattice {' x '.join(str(x) for x in shape)}; got shape {values.shape}"
        )
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers; got dtype {values.dtype}")
    return values.reshape(-1, n)


def draw_lattice(
    shown: np.ndarray,
    tiles: Tiles,
    ends: tuple[float, float],
    label: str,
    colours: str,
    title: str,
    size: Sequence[float] | None,
) -> tuple["Figure", Any]:
    """A figure with one heat map, and its image."""
    import matplotlib

    if colours not in matplotlib.colormaps:
        raise ValueError(f"colours must be a colour map of matplotlib; got {colours!r}")
    rows, columns = shown.shape
    # As high as the picture needs, with a colour bar and labels.
    fitting = (COLUMN[0], float(np.clip(0.7 + (COLUMN[0] - 1.2) * rows / columns, 1.5, 7.0)))
    figure = new_figure(fitting if size is None else size)
    axis = figure.subplots()
    colour_map = matplotlib.colormaps[colours].with_extremes(bad=ABSENT)
    image = axis.imshow(shown, colour_map, origin="lower", vmin=ends[0], vmax=ends[1])
    label_axes(axis, tiles)
    if len(tiles.axes) > 2:
        cover_gaps(axis, tiles)
        axis.spines[:].set_visible(False)
    axis.set_title(title)
    if np.isfinite(shown).any():
        colour_bar(figure, image, axis, label)
    else:
        say(axis, "no finite value")
    return finish(figure), image
