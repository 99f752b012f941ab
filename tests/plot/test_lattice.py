"""Heat maps and movies of lattices show each neuron's value in its place."""

import numpy as np
import pytest
from PIL import Image

from jaxneuro import plot
from jaxneuro.analysis import Traces
from jaxneuro.space import Grid
from tests.plot.results import bar
from tests.refusing import assert_refused
from tests.runs import result


def image(figure):
    (drawn,) = figure.axes[0].images
    return np.ma.filled(drawn.get_array().astype(float), np.nan)


def test_a_plane_is_row_major():
    shape = (3, 5)
    figure = plot.lattice(np.arange(15.0), shape, label="rate (Hz)", title="E")
    np.testing.assert_array_equal(image(figure), np.arange(15.0).reshape(shape))
    axis = figure.axes[0]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("axis 1 (neurons)", "axis 0 (neurons)")
    assert axis.get_title() == "E"
    assert bar(figure).get_ylabel() == "rate (Hz)"
    assert axis.images[0].get_clim() == (0.0, 14.0)
    # Coordinate 0 goes upwards.
    assert axis.get_ylim() == (-0.5, 2.5)


@pytest.mark.slow
def test_the_order_is_that_of_a_grid():
    grid = Grid((2, 3, 4))
    x, y, z = grid.coordinates().T
    got = image(plot.lattice(100 * x + 10 * y + z, grid.shape, index=(1, None, None)))
    np.testing.assert_array_equal(got, 100 + 10 * np.arange(3)[:, None] + np.arange(4))
    got = image(plot.lattice(100 * x + 10 * y + z, grid.shape, index=(None, 2, None)))
    np.testing.assert_array_equal(got, 100 * np.arange(2)[:, None] + 20 + np.arange(4))


@pytest.mark.slow
def test_values_may_have_the_shape_of_the_lattice():
    values = np.random.default_rng(0).random((4, 6))
    np.testing.assert_array_equal(
        image(plot.lattice(values, (4, 6))), image(plot.lattice(values.ravel(), (4, 6)))
    )


def test_slices_of_three_axes_read_from_the_top_left():
    values = np.arange(5 * 2 * 3.0).reshape(5, 2, 3)
    figure = plot.lattice(values, (5, 2, 3))
    got = image(figure)
    nan = np.full((2, 1), np.nan)
    row = np.full((1, 11), np.nan)
    top = np.hstack([values[0], nan, values[1], nan, values[2]])
    bottom = np.hstack([values[3], nan, values[4], np.full((2, 4), np.nan)])
    # Rows of an image are drawn upwards.
    np.testing.assert_array_equal(got, np.vstack([bottom, row, top]))
    axis = figure.axes[0]
    assert axis.get_xlabel() == "in each slice: axis 2 to the right, axis 1 up"
    assert axis.get_ylabel() == "slices along axis 0"


def test_four_axes_are_columns_and_rows_of_slices():
    values = np.random.default_rng(1).random((3, 2, 4, 5))
    figure = plot.lattice(values, (3, 2, 4, 5))
    got = image(figure)
    for i in range(3):
        for j in range(2):
            np.testing.assert_array_equal(got[5 * i : 5 * i + 4, 6 * j : 6 * j + 5], values[i, j])
    assert np.isnan(got).sum() == got.size - values.size
    axis = figure.axes[0]
    assert axis.get_xlabel() == "axis 1 from slice to slice,\naxis 3 in each slice"
    assert axis.get_ylabel() == "axis 0 from slice to slice,\naxis 2 in each slice"
    one = image(plot.lattice(values, (3, 2, 4, 5), index=(2, 1, None, None)))
    np.testing.assert_array_equal(one, values[2, 1])


@pytest.mark.slow
def test_values_that_are_not_there():
    values = np.array([np.nan, 1.0, 2.0, np.inf])
    drawn = plot.lattice(values, (2, 2)).axes[0].images[0]
    assert drawn.get_clim() == (1.0, 2.0)
    for same in (np.zeros(4), np.full(4, 7.0), np.full(4, np.nan), np.zeros(4, bool)):
        low, high = plot.lattice(same, (2, 2)).axes[0].images[0].get_clim()
        assert low < high
    assert plot.lattice(values, (2, 2), scale=(-1, 3)).axes[0].images[0].get_clim() == (-1.0, 3.0)


@pytest.mark.parametrize(
    ("arguments", "field", "got"),
    [
        (((np.zeros(5), (2, 3)), {}), "values", "shape (5,)"),
        (((np.zeros((2, 6)), (2, 3)), {}), "values", "shape (2, 6)"),
        (((np.zeros(6, complex), (2, 3)), {}), "values", "dtype complex128"),
        (((np.zeros(6), (6,)), {}), "a lattice", "1 of shape (6,) and index None"),
        (((np.zeros(32), (2,) * 5), {}), "a lattice", "5 of shape (2, 2, 2, 2, 2) and index"),
        (
            ((np.zeros(6), (2, 3)), {"index": (None, 1)}),
            *("a lattice", "1 of shape (2, 3) and index (None, 1)"),
        ),
        (((np.zeros(6), (2, 3)), {"index": (None,)}), "index", "(None,)"),
        (((np.zeros(6), (1, 2, 3)), {"index": (1, None, None)}), "index of axis 0", "1"),
        (((np.zeros(6), (1, 2, 3)), {"index": (-1, None, None)}), "index of axis 0", "-1"),
        (((np.zeros(0), (0, 3)), {}), "shape", "0"),
        (((np.zeros(6), (2, 3)), {"scale": (1.0, 1.0)}), "scale", "(1.0, 1.0)"),
        (((np.zeros(6), (2, 3)), {"colours": "rainbows"}), "colours", "'rainbows'"),
    ],
)
def test_lattice_refuses(arguments, field, got):
    positional, named = arguments
    assert_refused(lambda: plot.lattice(*positional, **named), "lattice", field, got)


def moving(times=(0.0, 1.0, 2.0, 3.0, 4.0)):
    """A bright neuron that moves along a lattice of 24."""
    return Traces(times, np.eye(24)[:5] * 10.0)


@pytest.mark.slow
def test_a_movie_has_a_frame_per_time(tmp_path):
    look = {"shape": (4, 6), "label": "rate (Hz)", "fps": 10.0}
    out = plot.lattice_movie(moving(2.5 * np.arange(5)), path=tmp_path / "a.gif", **look)
    assert out == tmp_path / "a.gif"
    with Image.open(out) as movie:
        assert movie.n_frames == 5
        assert movie.info["duration"] == 100
        pictures = []
        for frame in range(5):
            movie.seek(frame)
            pictures.append(np.asarray(movie.convert("RGB"), int))
    assert pictures[0].shape[0] % 2 == pictures[0].shape[1] % 2 == 0
    # Frame k is brightest where neuron k is: the yellow end of the colour map, left to right.
    centres = []
    for picture in pictures:
        yellow = (picture[..., 0] > 220) & (picture[..., 1] > 200) & (picture[..., 2] < 80)
        half = yellow[:, : int(0.75 * yellow.shape[1])]  # without the colour bar
        rows, columns = np.nonzero(half)
        assert rows.size > 50
        centres.append((rows.mean(), columns.mean()))
    rows, columns = np.transpose(centres)
    steps = np.diff(columns)
    assert steps.min() > 10
    assert np.ptp(steps) < 2
    assert np.ptp(rows) < 2
    assert rows[0] > pictures[0].shape[0] / 2, "coordinate 0 goes upwards"


@pytest.mark.slow
def test_frames_are_what_the_figure_shows(tmp_path):
    """A frame that is drawn in parts is the whole figure, to the palette of a GIF."""
    values = np.random.default_rng(2).random((2, 24))
    run = result({}, {"a": 24}, traces={"a": {"v": values}}, sample_times=np.array([0.0, 5.0]))
    out = plot.lattice_movie(run, "a", "v", shape=(4, 6), path=tmp_path / "a.gif", dpi=100.0)
    with Image.open(out) as movie:
        movie.seek(1)
        got = np.asarray(movie.convert("RGB"), int)
    look = {"scale": (values.min(), values.max()), "label": "membrane potential (mV)"}
    figure = plot.lattice(values[1], (4, 6), title="5 ms", **look)
    height, width = got.shape[:2]
    figure.set_size_inches((width + 1e-3) / 100, (height + 1e-3) / 100)
    figure.set_dpi(100)
    for _ in range(3):
        figure.draw_without_rendering()
    figure.savefig(tmp_path / "b.png", dpi=100)
    with Image.open(tmp_path / "b.png") as still:
        want = np.asarray(still.convert("RGB"), int)
    assert want.shape == got.shape
    assert np.mean(np.abs(want - got).max(axis=2) > 40) < 0.01


@pytest.mark.slow
def test_a_movie_of_slices_and_of_a_part(tmp_path):
    traces = Traces([1.0, 2.0, 3.0], np.random.default_rng(3).random((3, 36)))
    out = plot.lattice_movie(traces, shape=(2, 2, 3, 3), path=tmp_path / "a.gif")
    with Image.open(out) as movie:
        assert movie.n_frames == 3
    one = {"index": (1, None, None, 2), "start": 1.5, "stop": 2.5}
    out = plot.lattice_movie(traces, shape=(2, 2, 3, 3), path=str(tmp_path / "b.gif"), **one)
    with Image.open(out) as movie:
        assert getattr(movie, "n_frames", 1) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"source": Traces(np.arange(5.0), np.zeros((5, 7)))}, r"24\), .*; got shape \(5, 7\)"),
        ({"source": Traces([], np.zeros((0, 24)))}, "the samples must be one or more"),
        ({"path": "a.avi"}, "the path of a movie must"),
        ({"path": "nowhere/a.gif"}, "the folder of a movie must"),
        ({"fps": 0.0}, "fps must be finite and above 0.0 and at most 100.0 frames per second"),
        ({"dpi": -1.0}, "dpi must be finite and above 0.0 pixels per inch"),
        ({"scale": (2.0, 1.0)}, "scale must be two numbers"),
        ({"shape": (24,)}, "drawn along 2 to 4 axes"),
    ],
)
def test_a_movie_refuses(changed, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"source": moving(), "shape": (4, 6), "path": "a.gif", **changed}
    with pytest.raises(ValueError, match=message):
        plot.lattice_movie(**given)
    assert not list(tmp_path.iterdir())


def test_mp4_needs_ffmpeg(tmp_path, monkeypatch):
    from matplotlib.animation import FFMpegWriter

    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(ValueError, match=r"ffmpeg, which .* was not found"):
        plot.lattice_movie(moving(), shape=(4, 6), path=tmp_path / "a.mp4")


@pytest.mark.slow
def test_mp4_is_given_every_frame(tmp_path):
    """A stand-in for ffmpeg keeps the pixels that it is given."""
    import matplotlib

    program = tmp_path / "ffmpeg"
    program.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
    program.chmod(0o755)
    with matplotlib.rc_context({"animation.ffmpeg_path": str(program)}):
        look = {"shape": (4, 6), "dpi": 101.0, "size": (2.0, 1.5)}
        out = plot.lattice_movie(moving(), path=tmp_path / "a.mp4", **look)
    frames = np.frombuffer(out.read_bytes(), np.uint8).reshape(5, 152, 202, 4)
    assert (frames[..., 3] == 255).all()
    assert len({frame.tobytes() for frame in frames}) == 5


def test_times_have_the_digits_they_need():
    from jaxneuro.plot._lattices import _stamps

    assert _stamps(np.array([0.0, 5.0])) == ["0 ms", "5 ms"]
    assert _stamps(np.array([0.0, 2.5])) == ["0.0 ms", "2.5 ms"]
    assert _stamps(0.1 * np.arange(3)) == ["0.0 ms", "0.1 ms", "0.2 ms"]


def test_a_lattice_without_a_value_says_so():
    (axis,) = plot.lattice(np.full(9, np.nan), (3, 3)).axes
    assert [t.get_text() for t in axis.texts] == ["no finite value"]
    assert not axis.child_axes


def test_ticks_are_neurons():
    (axis,) = plot.lattice(np.arange(12.0), (3, 4)).axes
    assert all(t == round(t) for t in (*axis.get_xticks(), *axis.get_yticks()))
