"""Movie of one value per neuron of a lattice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import check_bounds, names_checked
from ._given import numbers
from ._lattice import draw_lattice, per_neuron
from ._style import SEQUENTIAL, limits, settle
from ._tiles import lay_out


@names_checked()
def lattice_movie(
    values: Any,
    shape: Sequence[int],
    times: Any,
    path: str | Path,
    *,
    index: Sequence[int | None] | None = None,
    label: str = "value",
    scale: Sequence[float] | None = None,
    colours: str = SEQUENTIAL,
    fps: float = 20.0,
    dpi: float = 150.0,
    size: Sequence[float] | None = None,
) -> Path:
    """Writes a movie of one value per neuron of a lattice, one frame per time.

    `values` (frames, n), or (frames, *shape); `times` [ms] of the frames, shown above them;
    `path` of the movie, ending in .gif, or in .mp4 if the program ffmpeg is installed; `fps`
    frames per second of the movie, `dpi` pixels per inch. `shape`, `index`, `label`, `colours`
    and `size` as for `lattice`; `scale` (low, high) of the colours holds for all frames, by
    default the range of all values. For rates [Hz] in
    windows of 10 ms of a run of 1,000 ms, pass
    `jn.analysis.spike_counts(*result.events(name), n, 1000.0, 10.0).T / 10e-3`.

    **Returns** the path.

    **Raises** `ValueError` for what `lattice` refuses, no frame, times that are not one per frame,
    another ending of the path, a folder that does not exist, or .mp4 without ffmpeg;
    `ImportError` without matplotlib.
    """
    tiles = lay_out(shape, index)
    frames = per_neuron("values", np.asarray(values), shape, frames=1)
    stamps = _stamps(times, frames.shape[0])
    check_bounds("fps", fps, "frames per second", above=0.0, at_most=100.0)
    check_bounds("dpi", dpi, "pixels per inch", above=0.0)
    out = Path(path)
    # The scale depends only on what is shown.
    ends = limits(frames[:, tiles.places[tiles.places >= 0]], scale)
    figure, image = draw_lattice(
        tiles.picture(frames[0]), tiles, ends, label, colours, stamps[0], size
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


def _stamps(times: Any, frames: int) -> list[str]:
    """The times as text, with as many digits as they need."""
    at = numbers("times", times, "one time in ms per frame")
    if at.shape != (frames,) or frames == 0:
        raise ValueError(
            f"times must be one per frame, and there must be a frame; got shape {at.shape} for "
            f"{frames} frames"
        )
    check_bounds("times", at, "ms")
    for digits in range(6):
        if np.allclose(np.round(at, digits), at, rtol=0.0, atol=1e-6):
            break
    return [f"{t:.{digits}f} ms" for t in at]


def _writer(path: Path, fps: float) -> Any:
    """The writer for the kind of movie that the path names, or `ValueError`."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if path.suffix.lower() not in (".gif", ".mp4"):
        raise ValueError(f"the path of a movie must end in .gif or .mp4; got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"the folder of a movie must exist; got {str(path)!r}")
    if path.suffix.lower() == ".gif":
        return PillowWriter(fps=fps)  # type: ignore[arg-type]
    if not FFMpegWriter.isAvailable():
        raise ValueError(
            "an .mp4 needs the program ffmpeg, which was not found; install it, or write a .gif; "
            f"got {str(path)!r}"
        )
    return FFMpegWriter(fps=fps)  # type: ignore[arg-type]
