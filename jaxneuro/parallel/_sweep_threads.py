"""Chunks of a sweep in several threads: one hands them out and collects, the others compute."""

import os
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax

from .._kernels import threads as native_threads


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
