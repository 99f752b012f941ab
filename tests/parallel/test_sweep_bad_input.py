"""What a sweep refuses, and that it says what to do, before anything runs."""

import multiprocessing
import multiprocessing.pool
from concurrent.futures import ProcessPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from tests.refusing import assert_refused


def fn(x, y=1.0):
    return x * y


def one(x):
    return x


ONE = {"x": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({}, "at least one axis"),
        ([], "at least one point; got none"),
        (3, "a mapping of axes or a list of points"),
        ("x", "a mapping of axes or a list of points"),
        ({"x": []}, "sweep: x must"),
        ({"x": 3.0}, "x must be a list or array"),
        ({"x": [[1.0], [1.0, 2.0]]}, "x must be a list or array of numbers"),
        ({"x": ["a"]}, "x must be numbers; got"),
        ({"x": [1.0, float("nan")]}, "x must be finite; got nan at index 1"),
        ({"x": [1.0, float("inf")]}, "x must be finite; got inf at index 1"),
        ({"x": [1e300]}, "sweep: x must"),
        ({"x": jax.random.split(jax.random.key(0), 2)}, "sweep: x must"),
        ({"x": [jax.random.key(1)]}, "sweep: x must"),
        ({"x": [2**40]}, "sweep: x must"),
        ({"x": [1.0], "z": [2.0]}, "the function has no parameter 'z'"),
        ({"y": [1.0]}, r"no values for the function's parameters \['x'\]"),
        ({1: [1.0]}, "names must be those of the function's parameters; got 1"),
        ([{"x": 1.0}, {"x": 1.0, "y": 2.0}], "same names; point 0 has .* point 1 has"),
        ([{"x": 1.0}, 3], "point 1 is 3"),
        ([{"x": [1.0]}, {"x": [1.0, 2.0]}], "x must have the same shape at all points"),
        ([{"x": 1.0}, {"x": float("nan")}], "x must be finite; got nan at index 1"),
    ],
)
def test_grids(grid, message):
    with pytest.raises(ValueError, match=message):
        jn.sweep(fn, grid)


@pytest.mark.parametrize(
    ("options", "field", "got"),
    [
        ({"chunk": 0}, "chunk", "0"),
        ({"executor": 3}, "executor", "3"),
        ({"executor": ProcessPoolExecutor}, "executor", "the class ProcessPoolExecutor"),
        ({"mesh": 3}, "mesh", "3"),
        ({"save": 3}, "save", "3"),
    ],
)
def test_options(options, field, got):
    assert_refused(lambda: jn.sweep(one, ONE, **options), "sweep", field, got)


def test_draws_that_are_one_for_all_points():
    drawn = lambda x: x + np.random.random()  # noqa: E731
    assert_refused(lambda: jn.sweep(drawn, ONE), "sweep", "the function")


def test_a_key_may_be_the_same_for_all_points():
    same = jn.sweep(lambda x: 0 * x + jax.random.uniform(jax.random.key(0)), ONE).values
    assert same[0] == same[1]


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "results.npz"
    path.write_text("")
    assert_refused(lambda: jn.sweep(one, ONE, save=path), "sweep", "save")


def test_meshes():
    devices = np.array(jax.devices()[:4])
    assert_refused(
        lambda: jn.sweep(one, ONE, mesh=Mesh(devices.reshape(2, 2), ("a", "b"))),
        "sweep",
        "the mesh",
        "('a', 'b')",
    )
    assert_refused(
        lambda: jn.sweep(one, ONE, mesh=Mesh(devices, ("a",)), chunk=6), "sweep", "chunk", "6"
    )


def test_pools_that_would_hang():
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool,
        pytest.raises(ValueError, match='get_context\\("spawn"\\)'),
    ):
        jn.sweep(one, ONE, executor=pool)
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(ValueError, match="waits for ever when a worker dies"),
    ):
        jn.sweep(one, ONE, executor=pool)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.zeros(int(x)),
        lambda x: jnp.zeros(x),
        lambda x: x if x > 0 else jnp.ones(3),
    ],
)
def test_shapes_that_depend_on_a_parameter(function):
    with pytest.raises(ValueError, match=r"shapes and branches .* must not depend"):
        jn.sweep(function, {"x": [1, 2]})


def test_results_that_are_no_arrays():
    assert_refused(
        lambda: jn.sweep(lambda x: jax.random.key(x), {"x": [1, 2]}),
        "sweep",
        "the function",
        "an array of key<fry>",
    )


def test_an_error_of_the_function_says_where():
    def refuses(x):
        raise ValueError("no such neuron")

    with pytest.raises(ValueError, match="no such neuron") as caught:
        jn.sweep(refuses, ONE)
    assert "traced with (x: float32[])" in " ".join(caught.value.__notes__)


def test_an_error_at_a_point_has_its_values():
    def refuses(x):
        return eqx.error_if(x, x == 7.0, "seven is not allowed")

    with pytest.raises(RuntimeError, match=r"(?s)failed at x=7\.: .*seven is not allowed"):
        jn.sweep(refuses, {"x": np.arange(10.0)}, chunk=5)


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (lambda gain: None, "must return the numbers to keep.*returned None"),
        (lambda gain: {"gain": gain, "name": "E"}, "must return numbers, arrays, or dicts"),
    ],
)
def test_a_function_returns_numbers(fn, message):
    with pytest.raises(ValueError, match=message):
        jn.sweep(fn, {"gain": [1.0, 2.0]}, progress=False)
