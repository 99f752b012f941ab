"""Who computes the chunks of a sweep: threads here, or somebody else's engine."""

import concurrent.futures
import hashlib
import logging
import multiprocessing.pool
import os
import pickle
import queue
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from .._kernels.threads import threads as native_threads
from ..spec import InvalidValueError
from ._sweep_points import describe
from ._sweep_program import SweepProgram

# --- What computes a chunk, here or in another process, and says at which point it failed.


_KEPT = 4
_programs: OrderedDict[bytes, SweepProgram] = OrderedDict()
_lock = threading.Lock()


def run_at(program: SweepProgram, size: int, batch: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """`program.run`; an error has the values of the point that it comes from.

    Raises:
        InvalidValueError: or `RuntimeError`, as the error is one or not.
    """
    try:
        return program.run(size, batch)
    except Exception as error:
        points = [
            {k: x[p] for k, x in batch.items()} for p in range(len(next(iter(batch.values()))))
        ]
        where = _where(program, size, points)
        kind = ValueError if isinstance(error, ValueError) else RuntimeError
        raise kind(f"sweep: the function failed at {where}: {error}") from error


def _where(program: SweepProgram, size: int, points: list[dict[str, Any]]) -> str:
    """The first point that fails alone, or the first and the last of the chunk."""
    for point in points:
        try:
            program.run(size, {k: np.asarray(v)[None] for k, v in point.items()})
        except Exception:
            return describe(point)
    return f"a point from ({describe(points[0])}) to ({describe(points[-1])})"


def pickled(fn: Any, point: Mapping[str, Any]) -> bytes:
    """A function and a point as bytes that another process can read.

    Raises:
        InvalidValueError: for a function that cannot be pickled.
    """
    like = {k: np.zeros(np.shape(x), x.dtype) for k, x in point.items()}
    try:
        import cloudpickle
    except ImportError:
        advice = "install cloudpickle, or define the function at the top of a module"
        dumps = pickle.dumps
    else:
        advice = "what it closes over must be pickled, too"
        dumps = cloudpickle.dumps
    try:
        return dumps((fn, like))
    except Exception as error:
        raise ValueError(
            "sweep: with executor= the function goes to other processes and must be pickled; "
            f"{advice} ({type(error).__name__}: {error})"
        ) from error


def run_task(task: bytes, size: int, batch: dict[str, np.ndarray]) -> tuple[str, Any]:
    """A chunk in another process: ("done", leaves), or ("failed", (kind, message)).

    Errors of the function are returned, so that one that is raised is the transport's.
    """
    native_threads(1)
    try:
        return "done", run_at(_program(task), size, batch)
    except Exception as error:
        return "failed", ("ValueError" if isinstance(error, ValueError) else "", str(error))


def _program(task: bytes) -> SweepProgram:
    """The program of a task; it stays in the process, so that it is compiled once."""
    key = hashlib.blake2b(task, digest_size=16).digest()
    with _lock:
        if key not in _programs:
            _programs[key] = SweepProgram(*pickle.loads(task))
            if len(_programs) > _KEPT:
                _programs.popitem(last=False)
        return _programs[key]


# --- Chunks of a sweep in several threads: one hands them out and collects, the others compute.


def pool_threads() -> int:
    """How many threads XLA's pool has on a CPU: that many programs can run at once."""
    try:
        asked = int(os.environ.get("NPROC", ""))
    except ValueError:
        asked = 0
    return asked if asked > 0 else cores()


def cores() -> int:
    """The cores that this process may use."""
    known = getattr(os, "sched_getaffinity", None)
    return len(known(0)) if known else os.cpu_count() or 1


class OneThreadEach:
    """Native kernels use one thread inside this block: the cores are busy with other chunks."""

    def __enter__(self) -> None:
        self._before = native_threads()
        native_threads(1)

    def __exit__(self, *_: object) -> None:
        native_threads(self._before)


def run_chunks(
    chunks: Iterator[Any],
    compute: Callable[[Any], Any],
    collect: Callable[[Any, Any], None],
    workers: int,
    cancel: Callable[[], None] = lambda: None,
) -> None:
    """`collect(chunk, compute(chunk))` for each chunk: computed in `workers` threads.

    What is computed is collected in the calling thread. After an error, Ctrl-C or a signal, no
    further chunk starts; what has started is collected, `cancel` asks it to stop, and the error is
    raised.
    """
    results: queue.SimpleQueue = queue.SimpleQueue()
    stop, turn, wide = threading.Event(), threading.Lock(), bool(jax.config.read("jax_enable_x64"))

    def work() -> None:
        try:
            with jax.enable_x64(wide):  # what the calling thread has set holds only there
                while not stop.is_set():
                    with turn:
                        chunk = next(chunks, None)
                    if chunk is None:
                        break
                    results.put((chunk, compute(chunk)))
            results.put(None)
        except BaseException as error:
            stop.set()
            results.put(error)

    team = [threading.Thread(target=work, name="sweep", daemon=True) for _ in range(workers)]
    for thread in team:
        thread.start()
    first = _collect(results, team, collect, stop, cancel)
    if first is not None:
        raise first


def _collect(
    results: queue.SimpleQueue,
    team: list[threading.Thread],
    collect: Callable[[Any, Any], None],
    stop: threading.Event,
    cancel: Callable[[], None],
) -> BaseException | None:
    """Collects until no thread of the team works; returns the first error.

    What stops this thread from outside is Ctrl-C, or what a handler of a signal raises, such as
    `SystemExit` of a cluster's SIGTERM.
    """
    running, first, stopped = len(team), None, False
    while running:
        # An interrupt may lose what was just got: after one, only the threads tell who works.
        alive = any(thread.is_alive() for thread in team)
        try:
            result = results.get(timeout=None if first is None else 0.2)
            if isinstance(result, tuple):
                collect(*result)
                continue
            running -= 1
            if result is not None and first is None:
                first = result
                cancel()
        except queue.Empty:
            running = running if alive else 0
        except BaseException as error:
            if stopped:  # the second time: wait no longer
                raise
            first, stopped = error, True
            stop.set()
            cancel()
    return first


# --- Chunks of a sweep on somebody else's engine: submitted, and again where one was lost.


_IN_FLIGHT = 16  # chunks that wait or run, where the executor does not tell its workers
_MOST_IN_FLIGHT = 64
_log = logging.getLogger("jaxneuro")


def check_executor(executor: Any) -> None:
    """Raises `ValueError` for what has neither `submit` nor Ray's `apply_async`, or would hang."""
    if isinstance(executor, type):
        raise InvalidValueError("sweep", "executor", "an object", f"the class {executor.__name__}")
    if isinstance(executor, multiprocessing.pool.Pool):
        raise ValueError(
            "sweep: a multiprocessing.Pool waits for ever when a worker dies; use "
            "concurrent.futures.ProcessPoolExecutor"
        )
    if not any(callable(getattr(executor, k, None)) for k in ("submit", "apply_async")):
        raise InvalidValueError(
            "sweep",
            "executor",
            "one with submit(f, *args) that returns a future, as those of concurrent.futures have",
            repr(executor),
        )
    if isinstance(executor, concurrent.futures.ProcessPoolExecutor):
        context = getattr(executor, "_mp_context", None)
        if context is not None and context.get_start_method() == "fork":
            raise ValueError(
                "sweep: JAX does not survive a fork; make the pool with ProcessPoolExecutor("
                'mp_context=multiprocessing.get_context("spawn"))'
            )


class Remote:
    """Runs chunks through an executor, each up to `retries` times more if it is lost.

    `task` is the pickled function.
    """

    def __init__(self, executor: Any, task: bytes, retries: int):
        self._given, self._task, self._retries = executor, task, retries
        self._pool = self._futures_of(executor)
        self._own: list[Any] = []
        self._live: set = set()
        self._lock = threading.Lock()
        self._cancelled = False

    @property
    def in_flight(self) -> int:
        """How many chunks are handed over at once: two for each worker."""
        return min(max(2 * self.workers, 1), _MOST_IN_FLIGHT)

    @property
    def workers(self) -> int:
        """How many workers the executor has, as far as it tells."""
        if hasattr(self._given, "nthreads"):  # Dask's client
            return sum(self._given.nthreads().values())
        for name in ("_max_workers", "_processes"):  # concurrent.futures, Ray
            count = getattr(self._given, name, None)
            if isinstance(count, int) and count > 0:
                return count
        return _IN_FLIGHT // 2

    def compute(self, chunk: tuple[np.ndarray, int], batch: Mapping[str, np.ndarray]) -> list:
        """The leaves of a chunk.

        Raises:
            InvalidValueError: or `RuntimeError` of the function; `RuntimeError` for a chunk that
                was lost too often.
        """
        points, size = chunk
        for attempt in range(self._retries + 1):
            pool = self._pool
            try:
                kind, found = self._result_of(pool, size, dict(batch))
                break
            except Exception as error:
                if self._cancelled:
                    raise
                where = f"points {points[0]} to {points[-1]}"
                _log.warning(
                    "sweep: a worker was lost with %s (attempt %d of %d): %s: %s",
                    *(where, attempt + 1, self._retries + 1, type(error).__name__, error),
                )
                if attempt == self._retries:
                    first = describe({k: x[0] for k, x in batch.items()})
                    raise RuntimeError(
                        f"sweep: the workers that got {where} (from {first}) were lost "
                        f"{attempt + 1} times; the last error was {type(error).__name__}: {error}"
                    ) from error
                self._replace(pool, error)
        if kind == "failed":
            name, message = found
            raise (ValueError if name == "ValueError" else RuntimeError)(message)
        return found

    def cancel(self) -> None:
        """Asks for no further result: what waits is cancelled where the executor can."""
        self._cancelled = True
        with self._lock:
            live = list(self._live)
        for future in live:
            getattr(future, "cancel", lambda: None)()

    def close(self) -> None:
        """Ends the pools that replaced a broken one."""
        for pool in self._own:
            pool.shutdown()

    def _result_of(self, pool: Any, size: int, batch: dict) -> Any:
        if callable(getattr(pool, "submit", None)):
            future = pool.submit(run_task, self._task, size, batch)
            result = future.result
        else:
            future = pool.apply_async(run_task, (self._task, size, batch))
            result = future.get
        with self._lock:
            self._live.add(future)
        try:
            return result()
        finally:
            with self._lock:
                self._live.discard(future)

    @staticmethod
    def _futures_of(executor: Any) -> Any:
        # Dask takes equal calls for the same result, a lost one too, unless it is told otherwise.
        dask = getattr(executor, "get_executor", None)
        return executor if dask is None else dask(pure=False)

    def _replace(self, broken: Any, error: Exception) -> None:
        """A pool of processes that has lost one takes no more work: another takes its place."""
        ray = sys.modules.get("ray")
        with self._lock:
            if self._pool is not broken:  # another thread has done it
                return
            if isinstance(error, concurrent.futures.BrokenExecutor):
                if isinstance(broken, concurrent.futures.ProcessPoolExecutor):
                    self._pool = _like(broken)
                    self._own.append(self._pool)
            elif ray is not None and isinstance(error, ray.exceptions.RayActorError):
                self._pool = _RayTasks(ray)


def _like(broken: Any) -> concurrent.futures.ProcessPoolExecutor:
    return concurrent.futures.ProcessPoolExecutor(
        getattr(broken, "_max_workers", None),
        getattr(broken, "_mp_context", None),
        getattr(broken, "_initializer", None),
        getattr(broken, "_initargs", ()),
    )


class _RayTasks:
    """Tasks of Ray, in place of its pool that has lost an actor, to which it hands out more work.

    They ask for no core: the actors that are left hold those of the pool, and rest.
    """

    def __init__(self, ray: Any):
        self._ray = ray

    def submit(self, fn: Callable, *args: Any) -> concurrent.futures.Future:
        task = self._ray.remote(fn).options(num_cpus=0, max_retries=0)
        return task.remote(*args).future()
