"""`sweep`: one function of parameters at many points, on all cores, cards or a cluster."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from .. import spec
from .._kernels.threads import threads as native_threads
from .._progress import Progress, is_shown
from .._text import counted
from ..spec import InvalidValueError
from ._sweep_points import Points, check_names, describe, read_points
from ._sweep_program import SweepProgram
from ._sweep_result import SweepResult
from ._sweep_store import SweepStore
from ._sweep_workers import (
    OneThreadEach,
    Remote,
    check_executor,
    cores,
    pickled,
    pool_threads,
    run_at,
    run_chunks,
)

# --- How many points a chunk has: found by measuring, where that pays.


FIRST = 16
_FACTOR = 4
_MOST_SIZES = 4
_BETTER = 0.95  # of the seconds per point: less of a gain is noise
_WORTH = 10.0  # times longer than compiling must the points that are left take
_MEMORY = 0.25  # share of the free memory that the chunks of all workers may take


class SweepSizes:
    """Hands out the points that are left, as chunks for `workers` that work at once.

    `multiple` divides every size. `tried[size]` are measured seconds per point.
    """

    def __init__(self, left: np.ndarray, workers: int, multiple: int, chunk: int | None):
        self._left, self._workers, self._multiple = left, workers, multiple
        self.tried: dict[int, float] = {}
        self.largest = len(left)
        self.best = self._rounded(min(chunk or FIRST, len(left) if chunk else self._share))

    @property
    def left(self) -> int:
        """How many points have not been handed out."""
        return len(self._left)

    @property
    def _share(self) -> int:
        return -(-len(self._left) // self._workers)

    def _rounded(self, size: float) -> int:
        return max(-(-int(size) // self._multiple), 1) * self._multiple

    def one_each(self, size: int) -> Iterator[tuple[np.ndarray, int]]:
        """A chunk of `size` points for each worker: (numbers of the points, size)."""
        for _ in range(self._workers):
            if self.left:
                yield self._take(size)

    def rest(self) -> Iterator[tuple[np.ndarray, int]]:
        """What is left, in chunks of the best size.

        The last chunks may be of a smaller size that was tried, so that all workers end together.
        """
        while self.left:
            fit = [size for size in self.tried if self._share <= size < self.best]
            yield self._take(min(fit, default=self.best))

    def _take(self, size: int) -> tuple[np.ndarray, int]:
        chunk, self._left = self._left[:size], self._left[size:]
        return chunk, size

    def limit(self, bytes_per_point: float, free: float) -> None:
        """Keeps the chunks of all workers within a quarter of the `free` bytes."""
        if bytes_per_point > 0 and free > 0:
            self.largest = int(_MEMORY * free / bytes_per_point / self._workers)

    def measured(self, size: int, seconds: float) -> None:
        """Seconds per point of chunks of a `size`; the best size so far may change."""
        self.tried[size] = seconds
        if seconds < _BETTER * self.tried.get(self.best, np.inf) or len(self.tried) == 1:
            self.best = size

    def next_to_try(self, compile_s: float) -> int | None:
        """A size to try, or None when what is left is not worth compiling another.

        SweepSizes 4 times larger are tried while they are faster, then sizes 4 times smaller.
        """
        if len(self.tried) >= _MOST_SIZES or self.left * self.tried[self.best] < _WORTH * compile_s:
            return None
        larger = self._rounded(self.best * _FACTOR)
        if larger not in self.tried and larger <= min(self._share, self.largest):
            return larger
        smaller = self._rounded(self.best // _FACTOR)
        return smaller if smaller not in self.tried else None


def free_bytes(devices: Iterable[Any]) -> float:
    """Memory of these devices that is not in use, of this computer for CPUs; 0 if unknown."""
    cards = [device for device in devices if device.platform != "cpu"]
    if cards:
        stats = [card.memory_stats() or {} for card in cards]
        return sum(float(x.get("bytes_limit", 0) - x.get("bytes_in_use", 0)) for x in stats)
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 0.0


# --- `sweep`: one function of parameters at many points, on all cores, cards or a cluster.


_LONG_S = 300.0
_log = logging.getLogger("jaxneuro")


@spec.arguments(
    fn=spec.Function(),
    mesh=spec.Maybe(spec.Of(Mesh)),
    chunk=spec.Maybe(spec.Whole(1)),
    progress=spec.Maybe(spec.Flag()),
    retries=spec.Whole(),
)
def sweep(
    fn: Callable[..., Any],
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    mesh: Mesh | None = None,
    save: Any = None,
    chunk: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
    retries: int = 2,
) -> SweepResult:
    """Runs `fn(**point)` at every point of a grid, or of a list of points.

    `fn` is a pure JAX function of scalars. It returns arrays, one or a dict, a named tuple, ... of
    them, or the recording of a `scan`, which is then a batch, `result.recording`. What it closes
    over, a network, is there once. A mapping is the product of its axes, in its order; an axis may
    be an array `(length, ...)`, of which each point gets its slice. Points run in chunks by `vmap`:

    * on a CPU, as many chunks at once as native kernels may use threads (`jn.configure_cpu`) and
      XLA's pool has (`xla_threads` there), each on one core;
    * on a GPU, or with a `mesh` of one axis, each chunk is divided over the devices;
    * with `executor`, anything that has `submit(f, *args)` with a future (a pool of spawned
      processes, Dask's client, MPI, submitit) or Ray's `apply_async`, the chunks go there. A chunk
      whose worker is lost is reported and runs again, up to `retries` times.

    `chunk` is their size. Without it sizes are measured: first 16 points (or fewer, so that all
    cores have some), then 4 times more while that is faster by a twentieth, else 4 times fewer.
    A size is tried only while the points left will take ten times as long as compiling took; at
    most 4 sizes are, and after the first none that takes more than a quarter of the free memory.
    What was measured counts as results. With an executor the size is 16 or fewer.

    `save` is a folder: every finished chunk is in it, whole, at once. The same call after a crash
    runs only what is missing. After Ctrl-C the chunks that have started are finished; a second
    Ctrl-C does not wait for them.

    `progress` shows a bar (default: in a terminal or a notebook). docs/sweeps.md has examples.

    What `net.set` and `net.init` refuse outside of a trace is refused here, too: `fn` is traced
    once, and what it sets, and the seeds that it starts from, are checked at the extremes of the
    grid and off the grid of time steps. Results that are NaN are counted in the log.

    Raises:
        InvalidValueError: before anything runs, for a grid without points, values that are not
            finite numbers or that a network cannot have, points with different names, names that
            `fn` does not take, an `fn` that draws by `np.random`, shapes that depend on parameters,
            a chunk below 1 or not a multiple of the devices, a mesh without exactly one axis, an
            executor without `submit`, and a folder that is a file or holds another sweep. An error
            at a point is a `ValueError` or `RuntimeError` with its values.
    """
    points = read_points(grid)
    check_names(fn, points.axes)
    mesh = _mesh(mesh, executor)
    if executor is not None:
        check_executor(executor)
    if chunk is not None and mesh is not None and chunk % mesh.size:
        raise InvalidValueError(
            "sweep", "chunk", f"a multiple of the {mesh.size} devices of the mesh", str(chunk)
        )
    store = None if save is None else SweepStore(save)
    program = SweepProgram(fn, points.one(0), mesh)
    program.check(points)
    unused = [name for name in program.unused if len(points.axes[name]) > 1]
    if unused:
        _log.warning(
            "sweep: no result depends on %s. Is the network that net.set returned the one that "
            "runs, and is what it changes in what the function returns?",
            " and ".join(unused),
        )
    remote = None if executor is None else Remote(executor, pickled(fn, points.one(0)), retries)
    show = is_shown(progress)
    if store is None:
        return _SweepRun(points, program, None, chunk).run(remote, show)
    with store:
        store.begin({"grid": points.digest(), **program.fingerprint()}, program.leaves)
        return _SweepRun(points, program, store, chunk).run(remote, show)


def _mesh(mesh: Any, executor: Any) -> Mesh | None:
    """The mesh over which chunks are divided: all cards, where none is given."""
    if mesh is None:
        devices = jax.local_devices()
        if executor is not None or devices[0].platform == "cpu" or len(devices) == 1:
            return None
        return Mesh(np.array(devices), ("sweep",))
    if executor is not None:
        raise ValueError("sweep: give a mesh or an executor; a worker uses the devices it has")
    if len(mesh.axis_names) != 1:
        raise InvalidValueError(
            "sweep",
            "the mesh",
            "one with one axis, over which chunks are divided",
            str(mesh.axis_names),
        )
    return mesh


class _SweepRun:
    """One call of `sweep`: results so far, and what is left."""

    def __init__(self, points: Points, program: SweepProgram, store: SweepStore | None, chunk: Any):
        self.points, self.program, self.store, self.chunk = points, program, store, chunk
        self.out = [np.empty((points.count, *x.shape), x.dtype) for x in program.leaves]
        self.done = np.zeros(points.count, bool)
        for numbers, leaves in () if store is None else store.finished(points.count):
            self._keep(numbers, leaves)
        self.found = int(self.done.sum())

    def run(self, remote: Remote | None, show: bool) -> SweepResult:
        start, self.show = time.perf_counter(), show
        left = np.flatnonzero(~self.done)
        if remote is not None:
            workers = remote.in_flight
            sizes = SweepSizes(left, remote.workers, 1, self.chunk)
        else:
            workers = _workers(self.program, len(left))
            sizes = SweepSizes(left, workers, self.program.devices, self.chunk)
        with Progress("sweeping", self.points.count, "points", show) as progress:
            progress.advance(self.found)
            try:
                if remote is not None:
                    self._run_remote(remote, sizes, workers, progress)
                elif len(left):
                    with OneThreadEach() if workers > 1 else contextlib.nullcontext():
                        self._run_here(sizes, workers, progress)
            except (KeyboardInterrupt, SystemExit) as interrupt:
                if isinstance(interrupt, KeyboardInterrupt):  # of the other they are the exit code
                    interrupt.args = (self._kept(),)
                _log.warning("%s", self._kept())
                raise
        self._warn_of_nan()
        compile_s = sum(self.program.compile_s.values())
        return self._result(sizes, compile_s, time.perf_counter() - start - compile_s)

    def _run_here(self, sizes: SweepSizes, workers: int, progress: Progress) -> None:
        size: int | None = sizes.best
        while self.chunk is None and size is not None and sizes.left:
            self.program.compile(size)
            if not sizes.tried:
                sizes.limit(self.program.bytes_per_point(size), free_bytes(self._devices()))
            before, start = sizes.left, time.perf_counter()
            self._chunks(sizes.one_each(size), workers, progress)
            sizes.measured(size, (time.perf_counter() - start) / (before - sizes.left))
            size = sizes.next_to_try(self.program.compile_s[size])
        if sizes.left:
            self._tell_time(sizes)
            self.program.compile(sizes.best)
            self._chunks(sizes.rest(), workers, progress)

    def _tell_time(self, sizes: SweepSizes) -> None:
        """Says how long a long sweep takes, where no bar does and it was measured."""
        seconds = sizes.left * sizes.tried.get(sizes.best, 0.0)
        if seconds > _LONG_S and not self.show:
            _log.warning(
                "sweep: %s take about %.0f minutes more (progress=True shows a bar, save= keeps "
                "what is finished)",
                *(counted(sizes.left, "point"), seconds / 60),
            )

    def _devices(self) -> list:
        mesh = self.program.mesh
        return jax.local_devices()[:1] if mesh is None else list(mesh.devices.flat)

    def _chunks(self, chunks: Iterator, workers: int, progress: Progress) -> None:
        def compute(chunk: tuple[np.ndarray, int]) -> list[np.ndarray]:
            numbers, size = chunk
            return self._stored(numbers, run_at(self.program, size, self.points.take(numbers)))

        run_chunks(chunks, compute, self._collector(progress), workers)

    def _run_remote(
        self, remote: Remote, sizes: SweepSizes, workers: int, progress: Progress
    ) -> None:
        def compute(chunk: tuple[np.ndarray, int]) -> list[np.ndarray]:
            return self._stored(chunk[0], remote.compute(chunk, self.points.take(chunk[0])))

        try:
            collect = self._collector(progress)
            run_chunks(sizes.rest(), compute, collect, workers, remote.cancel)
        finally:
            remote.close()

    def _collector(self, progress: Progress) -> Callable[[Any, Any], None]:
        def collect(chunk: tuple[np.ndarray, int], leaves: list[np.ndarray]) -> None:
            self._keep(chunk[0], leaves)
            progress.advance(len(chunk[0]))

        return collect

    def _stored(self, numbers: np.ndarray, leaves: list[np.ndarray]) -> list[np.ndarray]:
        """Writes a chunk as soon as it is there, in the thread that has it."""
        if self.store is not None:
            self.store.write(numbers, leaves)
        return leaves

    def _keep(self, numbers: np.ndarray, leaves: list[np.ndarray]) -> None:
        for out, leaf in zip(self.out, leaves):
            out[numbers] = leaf
        self.done[numbers] = True

    def _kept(self) -> str:
        done = f"{int(self.done.sum()):,} of {self.points.count:,} points"
        if self.store is None:
            return f"sweep: interrupted after {done}; nothing is kept without save="
        kept = f"sweep: interrupted; {done} are kept in {self.store.name!r}"
        return f"{kept} ({counted(self.store.chunks, 'chunk')}), and the same call runs the others"

    def _warn_of_nan(self) -> None:
        """Says so where results are NaN: mostly a value that the function has no answer for."""
        bad = np.zeros(self.points.count, bool)
        for x in self.out:
            if np.issubdtype(x.dtype, np.inexact):
                bad |= np.isnan(x).reshape(len(x), -1).any(1)
        if bad.any():
            first = describe(self.points.one(int(bad.argmax())))
            _log.warning(
                "sweep: results of %s of %s are NaN, first at %s",
                *(f"{int(bad.sum()):,}", counted(self.points.count, "point"), first),
            )

    def _result(self, sizes: SweepSizes, compile_s: float, run_s: float) -> SweepResult:
        shaped = [x.reshape(*self.points.shape, *x.shape[1:]) for x in self.out]
        return SweepResult(
            axes=self.points.axes,
            values=jax.tree.unflatten(self.program.structure, shaped),
            product=self.points.product,
            chunk=sizes.best if self.found < self.points.count else 0,
            tried=dict(sizes.tried),
            compile_s=compile_s,
            run_s=run_s,
            found=self.found,
        )


def _workers(program: SweepProgram, left: int) -> int:
    """How many chunks run at once: one per core where there is nothing but one CPU."""
    if program.mesh is not None or jax.default_backend() != "cpu":
        return 1
    wanted, pool = min(native_threads(), cores()), pool_threads()
    if pool < wanted:
        _log.warning(
            "sweep: %d of %d cores are used, for XLA's pool of threads is that large; call "
            "jn.configure_cpu(xla_threads=%d) right after `import jaxneuro`",
            *(pool, wanted, wanted),
        )
    return max(min(wanted, pool, left), 1)
