"""Values of the neurons of a lattice: a picture, or a movie."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import spec
from ..analysis._source import Traces, traces_of
from ..spec import InvalidValueError
from ._style import (
    ABSENT,
    COLUMN,
    SEQUENTIAL,
    axes_for,
    colour_bar,
    finish,
    lengths,
    limits,
    one_run,
    say,
    settle,
)
from ._traces import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WHOLE = {"steps": [1, 2, 5, 10], "integer": True, "min_n_ticks": 1}  # ticks that are neurons


class Tiles(NamedTuple):
    """Which neuron each cell of a picture shows.

    Attributes:
        places: (rows, columns): the neuron, or -1 between two slices.
        axes: of the lattice that were not fixed: the last two make the plane.
        counts: slices from top to bottom and from left to right.
        lengths: of the free axes.
        step: cells from one slice to the next, down and across.
    """

    places: np.ndarray
    axes: tuple[int, ...]
    counts: tuple[int, int]
    lengths: tuple[int, ...]
    step: tuple[int, int]

    def picture(self, values: np.ndarray) -> np.ndarray:
        """The values of the neurons (n,) as (rows, columns), nan between two slices."""
        return np.where(self.places < 0, np.nan, values[self.places])


def lay_out(shape: Sequence[int], index: Sequence[int | None] | None) -> Tiles:
    """The picture of a lattice of 2 to 4 free axes, or `ValueError`."""
    sizes = tuple(spec.check("lattice", "shape", spec.Whole(at_least=1), n) for n in lengths(shape))
    fixed = (
        (None,) * len(sizes) if index is None else tuple(np.atleast_1d(np.asarray(index, object)))
    )
    if len(fixed) != len(sizes):
        raise InvalidValueError(
            "lattice",
            "index",
            f"one with a coordinate or None for each of {len(sizes)} axes",
            repr(index),
        )
    for axis, (at, n) in enumerate(zip(fixed, sizes)):
        if at is not None and spec.check("lattice", f"index of axis {axis}", spec.Whole(), at) >= n:
            raise InvalidValueError(
                "lattice", f"index of axis {axis}", f"from 0 to {n - 1}", str(at)
            )
    free = tuple(axis for axis, at in enumerate(fixed) if at is None)
    if not 2 <= len(free) <= 4:
        raise InvalidValueError(
            "lattice",
            "a lattice",
            "drawn along 2 to 4 axes (a single axis is a line: plot of matplotlib)",
            f"{len(free)} of shape {sizes} and index {index!r}",
        )
    where = tuple(slice(None) if at is None else at for at in fixed)
    slices = np.arange(math.prod(sizes)).reshape(sizes)[where]
    return _tiled(slices, free)


def _tiled(slices: np.ndarray, free: tuple[int, ...]) -> Tiles:
    *outer, height, width = slices.shape
    if len(outer) == 2:
        down, across = outer
    else:
        # Row by row, with about as many rows as columns.
        total = math.prod(outer)
        across = math.ceil(math.sqrt(total))
        down = math.ceil(total / across)
    gap = 0 if not outer else max(1, round(0.06 * max(height, width)))
    step = height + gap, width + gap
    places = np.full((down * step[0] - gap, across * step[1] - gap), -1)
    for number, plane in enumerate(slices.reshape(-1, height, width)):
        row, column = divmod(number, across)
        # Rows are drawn upwards. Two tiled axes go upwards too; a list of slices starts at the top.
        row = row if len(outer) == 2 else down - 1 - row
        top, left = row * step[0], column * step[1]
        places[top : top + height, left : left + width] = plane
    return Tiles(places, free, (down, across), tuple(slices.shape), step)


def cover_gaps(axis: "Axes", tiles: Tiles) -> None:
    """Draws white between the slices, which would else be grey like values that are not finite."""
    (down, across), (height, width) = tiles.counts, tiles.lengths[-2:]
    look = {"color": "white", "lw": 0, "zorder": 2}
    for edge in tiles.step[0] * np.arange(1, down) - 0.5:
        axis.axhspan(edge - (tiles.step[0] - height), edge, **look)
    for edge in tiles.step[1] * np.arange(1, across) - 0.5:
        axis.axvspan(edge - (tiles.step[1] - width), edge, **look)
    # The last row of a list of slices, which is the lowest, may have fewer.
    last = math.prod(tiles.lengths[:-2]) - (down - 1) * across
    if last < across:
        first = last * tiles.step[1] / tiles.places.shape[1]
        axis.axhspan(-0.5, height - 0.5, xmin=first, **look)


def label_axes(axis: "Axes", tiles: Tiles) -> None:
    """Labels: coordinates along the axes of a plane, or the numbers of slices."""
    *outer, y, x = tiles.axes
    if not outer:
        axis.set(xlabel=f"axis {x} (neurons)", ylabel=f"axis {y} (neurons)")
        from matplotlib.ticker import MaxNLocator

        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(MaxNLocator("auto", **_WHOLE))
        return
    (down, across), (height, width) = tiles.counts, tiles.lengths[-2:]
    rows = np.arange(0, down, max(1, math.ceil(down / 10)))
    columns = np.arange(0, across, max(1, math.ceil(across / 10)))
    at_rows = rows * tiles.step[0] + (height - 1) / 2
    at_columns = columns * tiles.step[1] + (width - 1) / 2
    if len(outer) == 2:
        axis.set_xticks(at_columns, [str(c) for c in columns])
        axis.set_yticks(at_rows, [str(r) for r in rows])
        axis.set_xlabel(f"axis {outer[1]} from slice to slice,\naxis {x} in each slice")
        axis.set_ylabel(f"axis {outer[0]} from slice to slice,\naxis {y} in each slice")
        return
    total = tiles.lengths[0]
    starts = (down - 1 - rows) * across
    ends = np.minimum(starts + across, total) - 1
    named = [f"{a}" if a == b else f"{a} to {b}" for a, b in zip(starts, ends)]
    axis.set_yticks(at_rows, named)
    axis.set_xticks([])
    axis.set_xlabel(f"in each slice: axis {x} to the right, axis {y} up")
    axis.set_ylabel(f"slices along axis {outer[0]}")


@spec.arguments()
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
    ax: "Axes | None" = None,
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

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for a lattice that does not have as many neurons as values, an index
            outside of it, fewer than 2 or more than 4 free axes, or a scale that is not (low,
            high); `ImportError` without matplotlib.
    """
    tiles = lay_out(shape, index)
    shown = tiles.picture(per_neuron("values", spec.array_of(values), shape)[0])
    ends = limits(shown, scale)
    return draw_lattice(shown, tiles, ends, label, colours, title, (size, ax))[0]


def per_neuron(name: str, values: np.ndarray, shape: Sequence[int], frames: int = 0) -> np.ndarray:
    """`values` as (frames, n), or `ValueError`; `frames` counts the axes before the neurons."""
    n = int(np.prod(shape))
    inner = values.shape[frames:]
    if values.ndim < frames + 1 or inner not in ((n,), tuple(shape)):
        before = "frames, " * frames
        raise InvalidValueError(
            "lattice",
            name,
            f"an array ({before}{n}{'' if frames else ','}), a value per neuron",
            f"shape {values.shape}",
        )
    if values.dtype.kind not in "fiub":
        raise InvalidValueError("lattice", name, "real numbers", f"dtype {values.dtype}")
    return values.reshape(-1, n)


def draw_lattice(
    shown: np.ndarray,
    tiles: Tiles,
    ends: tuple[float, float],
    label: str,
    colours: str,
    title: str,
    place: tuple[Sequence[float] | None, "Axes | None"],
) -> tuple["Figure", Any]:
    """A figure with one heat map, and its image.

    `place` is the size of a new figure, and the axes to draw into instead.
    """
    import matplotlib

    if colours not in matplotlib.colormaps:
        raise InvalidValueError("lattice", "colours", "a colour map of matplotlib", repr(colours))
    rows, columns = shown.shape
    # As high as the picture needs, with a colour bar and labels.
    fitting = (COLUMN[0], float(np.clip(0.7 + (COLUMN[0] - 1.2) * rows / columns, 1.5, 7.0)))
    size, ax = place
    axis = axes_for(ax, fitting if size is None else size)
    colour_map = matplotlib.colormaps[colours].with_extremes(bad=ABSENT)
    image = axis.imshow(shown, colour_map, origin="lower", vmin=ends[0], vmax=ends[1])
    label_axes(axis, tiles)
    if len(tiles.axes) > 2:
        cover_gaps(axis, tiles)
        axis.spines[:].set_visible(False)
    axis.set_title(title)
    if np.isfinite(shown).any():
        colour_bar(image, axis, label)
    else:
        say(axis, "no finite value")
    return finish(axis.figure, ax), image


@spec.arguments(
    fps=spec.Number("frames per second", above=0.0, at_most=100.0),
    dpi=spec.Number("pixels per inch", above=0.0),
)
def lattice_movie(  # noqa: PLR0913 - what is drawn, and how, each by its name
    source: Any,
    name: str | None = None,
    variable: str = "v",
    *,
    shape: Sequence[int],
    path: str | Path,
    index: Sequence[int | None] | None = None,
    label: str | None = None,
    scale: Sequence[float] | None = None,
    colours: str = SEQUENTIAL,
    fps: float = 20.0,
    dpi: float = 150.0,
    start: float | None = None,
    stop: float | None = None,
    size: Sequence[float] | None = None,
) -> Path:
    """Writes a movie of a variable of the neurons of a lattice, one frame per sample.

    `source` a run with `record=Record(variables={name: variable})`, or
    `jn.analysis.Traces(times, values)` of other values, a column for each neuron: their times stand
    above the frames; `start`, `stop` [ms] the part shown; `path` of the movie, ending in .gif, or
    in .mp4 if the program ffmpeg is installed; `fps` frames per second of the movie, `dpi` pixels
    per inch. `shape`, `index`, `label` (by default the variable), `colours` and `size` as for
    `lattice`; `scale` (low, high) of the colours holds for all frames, by default the range of all
    values. For rates [Hz] in windows of 10 ms, make `Traces` of
    `jn.analysis.spike_counts(result, name, bin_ms=10.0).T / 10e-3`.

    Returns:
        the path.

    Raises:
        InvalidValueError: for what `lattice` refuses, what was not recorded, no frame,
            another ending of the path, a folder that does not exist, or .mp4 without ffmpeg;
            `ImportError` without matplotlib.
    """
    tiles = lay_out(shape, index)
    run = one_run(source)
    traces = traces_of(run, name, variable, start, stop)
    frames = per_neuron("values", traces.values, shape, frames=1)
    stamps = _stamps(traces.times)
    label = label or ("value" if isinstance(run, Traces) else label_of(variable))
    out = Path(path)
    # The scale depends only on what is shown.
    ends = limits(frames[:, tiles.places[tiles.places >= 0]], scale)
    figure, image = draw_lattice(
        tiles.picture(frames[0]), tiles, ends, label, colours, stamps[0], (size, None)
    )
    writer = _writer(out, fps)
    stage = _Stage(figure, image, dpi)
    with writer.saving(figure, str(out), dpi):
        for frame, stamp in zip(frames, stamps):
            stage.show(tiles.picture(frame), stamp)
            writer.grab_frame()
    return out


class _Stage:
    """Draws everything except the image and the time once; a frame then draws only these two.

    The writers of matplotlib save the whole figure for each frame, which takes ten times as long.
    """

    def __init__(self, figure: Any, image: Any, dpi: float):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        # An even number of pixels, which movie formats need.
        figure.set_size_inches(
            [(2 * round(x * dpi / 2) + 1e-3) / dpi for x in figure.bbox_inches.max]
        )
        figure.set_dpi(dpi)
        self._canvas = FigureCanvasAgg(figure)
        self._axis, self._image = figure.axes[0], image
        settle(figure)
        figure.set_layout_engine("none")
        moving = (image, *self._axis.patches, *self._axis.spines.values(), self._axis.title)
        for artist in moving:
            artist.set_animated(True)
        self._canvas.draw()
        self._empty = self._canvas.copy_from_bbox(figure.bbox)
        self._moving = moving
        figure.savefig = self._save

    def show(self, picture: np.ndarray, stamp: str) -> None:
        """Draws a frame."""
        self._image.set_data(picture)
        self._axis.title.set_text(stamp)
        self._canvas.restore_region(self._empty)
        for artist in self._moving:
            self._axis.draw_artist(artist)

    def _save(self, out: Any, **_: Any) -> None:
        """Called by the writers: writes the drawn frame as bytes of red, green, blue, alpha."""
        out.write(self._canvas.buffer_rgba())


def _stamps(at: np.ndarray) -> list[str]:
    """The times as text, with as many digits as they need."""
    if not at.size:
        raise InvalidValueError("", "the samples", "one or more, a frame each", "none")
    for digits in range(6):
        if np.allclose(np.round(at, digits), at, rtol=0.0, atol=1e-6):
            break
    return [f"{t:.{digits}f} ms" for t in at]


def _writer(path: Path, fps: float) -> Any:
    """The writer for the kind of movie that the path names, or `ValueError`."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if path.suffix.lower() not in (".gif", ".mp4"):
        raise InvalidValueError(
            "", "the path of a movie", "one that ends in .gif or .mp4", repr(str(path))
        )
    if not path.parent.is_dir():
        raise InvalidValueError("", "the folder of a movie", "one that exists", repr(str(path)))
    if path.suffix.lower() == ".gif":
        return PillowWriter(fps=fps)  # type: ignore[arg-type]
    if not FFMpegWriter.isAvailable():
        must = "that of a .gif: the program ffmpeg, which makes an .mp4, was not found"
        hint = ". Install it, or write a .gif"
        raise InvalidValueError("", "the path of a movie", must, repr(str(path)), hint)
    return FFMpegWriter(fps=fps)  # type: ignore[arg-type]
