"""Chunks of a sweep in other processes: lost workers, errors of the function, engines."""

import importlib
import importlib.util
import multiprocessing
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.parallel import _sweep_workers as _sweep_task
from tests.parallel import executors

cloudpickle = pytest.mark.skipif(
    importlib.util.find_spec("cloudpickle") is None, reason="a closure needs cloudpickle"
)
X = np.arange(20.0)


@pytest.fixture
def pool():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as made:
        yield made


@pytest.mark.slow
def test_any_submit_will_do():
    pool = executors.Inline()
    grid = {"x": X, "y": np.arange(3.0)}
    result = jn.sweep(executors.product, grid, executor=pool, chunk=7)
    np.testing.assert_array_equal(result["product"], X[:, None] * np.arange(3.0))
    assert result["both"].shape == (20, 3, 2)
    assert pool.submitted == 9


def test_apply_async_will_do():
    result = jn.sweep(executors.negative, [{"x": x} for x in X], executor=executors.Applies())
    np.testing.assert_array_equal(result.values, -X)


def test_a_lost_chunk_is_reported_and_runs_again(caplog):
    pool = executors.Inline([ConnectionError("gone"), BrokenExecutor("dead")])
    result = jn.sweep(executors.negative, {"x": X}, executor=pool, chunk=5)
    np.testing.assert_array_equal(result.values, -X)
    assert pool.submitted == 6
    assert "a worker was lost with points" in caplog.text
    assert "ConnectionError: gone" in caplog.text


def test_a_chunk_that_is_always_lost_ends_the_sweep(tmp_path):
    pool = executors.Inline([ConnectionError("gone")] * 100)
    with pytest.raises(RuntimeError, match=r"points \d+ to \d+ \(from x=.*were lost 3 times.*gone"):
        jn.sweep(executors.negative, {"x": X}, executor=pool, chunk=5, save=tmp_path)


def test_an_error_of_the_function_is_not_tried_again():
    pool = executors.Inline()
    with pytest.raises(RuntimeError, match=r"(?s)failed at x=7\.: .*seven is not allowed"):
        jn.sweep(executors.refuses_seven, {"x": X}, executor=pool, chunk=20)
    assert pool.submitted == 1


def test_what_cannot_be_pickled_is_refused(monkeypatch):
    lock = multiprocessing.get_context("spawn").Lock()
    with pytest.raises(ValueError, match="must be pickled"):
        jn.sweep(lambda x: (lock, x)[1], {"x": X}, executor=executors.Inline())
    monkeypatch.setitem(__import__("sys").modules, "cloudpickle", None)
    with pytest.raises(ValueError, match="install cloudpickle, or define the function at the top"):
        jn.sweep(lambda x: x, {"x": X}, executor=executors.Inline())


def test_a_worker_keeps_its_programs():
    task = _sweep_task.pickled(executors.product, {"x": np.float32(1), "y": np.float32(1)})
    assert _sweep_task._program(task) is _sweep_task._program(bytes(task))


@pytest.mark.slow
@cloudpickle
def test_processes_and_one_that_dies(pool, tmp_path, caplog):
    """A closure goes to spawned processes; one is killed, and its chunk runs again."""
    fn = executors.kills_once(str(tmp_path))
    grid = {"x": np.arange(8.0)}
    result = jn.sweep(fn, grid, executor=pool, chunk=2, save=tmp_path / "chunks")
    np.testing.assert_array_equal(result.values, grid["x"])
    assert "a worker was lost with points" in caplog.text
    assert (tmp_path / "killed").exists()
    again = jn.sweep(fn, grid, executor=pool, chunk=2, save=tmp_path / "chunks")
    assert again.found == 8


@pytest.mark.slow
def test_a_chunk_that_kills_every_worker(pool):
    with pytest.raises(RuntimeError, match=r"were lost 1 times; the last error was Broken"):
        jn.sweep(executors.kills_always, {"x": [1.0]}, executor=pool, retries=0)


@pytest.fixture
def dask():
    """A local cluster of two processes."""
    distributed = pytest.importorskip("dask.distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def ray(monkeypatch):
    """Ray's pool on a local cluster of two processes, which tells nobody of itself."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    engine = pytest.importorskip("ray")
    pool = importlib.import_module("ray.util.multiprocessing").Pool
    engine.init(num_cpus=2, include_dashboard=False)
    try:
        yield pool(2)
    finally:
        engine.shutdown()


@pytest.mark.science
@pytest.mark.filterwarnings("ignore")  # what engines warn of is theirs
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_local_cluster(engine, request):
    client = request.getfixturevalue(engine)
    result = jn.sweep(executors.product, {"x": X, "y": X}, executor=client, chunk=64)
    np.testing.assert_array_equal(result["product"], X[:, None] * X)


@pytest.mark.science
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_worker_of_a_cluster_that_dies(engine, request, tmp_path):
    client = request.getfixturevalue(engine)
    fn = executors.kills_once(str(tmp_path))
    # Many chunks after it: what is handed to a dead worker again and again is lost.
    result = jn.sweep(fn, {"x": np.arange(40.0)}, executor=client, chunk=2)
    np.testing.assert_array_equal(result.values, np.arange(40.0))
    assert (tmp_path / "killed").exists()
