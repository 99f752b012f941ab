"""What computes a chunk, here or in another process, and says at which point it failed."""

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._kernels import threads as native_threads
from ._sweep_points import describe
from ._sweep_program import SweepProgram

_KEPT = 4
_programs: OrderedDict[bytes, SweepProgram] = OrderedDict()
_lock = threading.Lock()


def run_at(program: SweepProgram, size: int, batch: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """`program.run`; an error has the values of the point that it comes from.

    **Raises** `ValueError` or `RuntimeError`, as the error is one or not.
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

    **Raises** `ValueError` for a function that cannot be pickled.
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
