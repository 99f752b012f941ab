"""Chunks of a sweep on somebody else's engine: submitted, and again where one was lost."""

import concurrent.futures
import logging
import multiprocessing.pool
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._sweep_points import describe
from ._sweep_task import run_task

_IN_FLIGHT = 16  # chunks that wait or run, where the executor does not tell its workers
_MOST_IN_FLIGHT = 64
_log = logging.getLogger("jaxneuro")


def check_executor(executor: Any) -> None:
    """Raises `ValueError` for what has neither `submit` nor Ray's `apply_async`, or would hang."""
    if isinstance(executor, type):
        raise ValueError(f"sweep: executor must be an object; got the class {executor.__name__}")
    if isinstance(executor, multiprocessing.pool.Pool):
        raise ValueError(
            "sweep: a multiprocessing.Pool waits for ever when a worker dies; use "
            "concurrent.futures.ProcessPoolExecutor"
        )
    if not any(callable(getattr(executor, k, None)) for k in ("submit", "apply_async")):
        raise ValueError(
            "sweep: executor must have submit(f, *args) that returns a future, as those of "
            f"concurrent.futures have; got {executor!r}"
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

        **Raises** `ValueError` or `RuntimeError` of the function; `RuntimeError` for a chunk that
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
