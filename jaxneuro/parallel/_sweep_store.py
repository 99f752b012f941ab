"""Finished chunks of a sweep in a folder: one file each, which is there whole or not at all."""

import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._disk.folder import RunFolder
from .._disk.values import FileKind, read_values, write_values

_SWEEP = FileKind("jaxneuro sweep", 1, "jn.sweep")
_PARTS = {"grid": "grid", "function": "function", "arrays": "arrays in the function (its network)"}
_log = logging.getLogger("jaxneuro")


class SweepStore:
    """The folder of one sweep, as a context in which it is locked."""

    def __init__(self, save: Any):
        self._folder = RunFolder("sweep", save, _SWEEP)
        self._leaves: Sequence[Any] = ()

    def __enter__(self) -> "SweepStore":
        self._folder.__enter__()
        return self

    def __exit__(self, *how: Any) -> None:
        self._folder.__exit__(*how)

    def begin(self, identity: Mapping[str, str], leaves: Sequence[Any]) -> None:
        """Says which sweep it is; `leaves` have the shapes and dtypes of what one point returns.

        Raises:
            InvalidValueError: for the folder of another one, with the difference.
        """
        self._leaves = leaves
        before = self._folder.about()
        if before is None:
            self._folder.begin(identity)
        else:
            self._folder.refuse([x for k, x in _PARTS.items() if before.get(k) != identity[k]])

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._folder.path.name

    @property
    def chunks(self) -> int:
        """How many chunks are in the folder."""
        return len(self._folder.chunks())

    def write(self, points: np.ndarray, leaves: Sequence[np.ndarray]) -> None:
        """Writes a finished chunk."""
        name = f"part-{points[0]:09d}-{points[-1]:09d}-{uuid.uuid4().hex[:8]}.npz"
        chunk = {"points": points, "leaves": list(leaves)}
        write_values(self._folder.path / name, _SWEEP, chunk)

    def finished(self, count: int) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """Numbers of points and results of each whole chunk; a broken one is named and left out."""
        for path in self._folder.chunks():
            try:
                chunk = read_values("sweep", path, _SWEEP)
                points, leaves = chunk["points"], chunk["leaves"]
                if points.ndim != 1 or points.min() < 0 or points.max() >= count:
                    raise ValueError("its points are not those of the grid")
                mine = [(x.dtype, x.shape[1:]) for x in leaves]
                if mine != [(np.dtype(x.dtype), tuple(x.shape)) for x in self._leaves]:
                    raise ValueError("its arrays are not those of the function")
                yield points, leaves
            except (OSError, ValueError, KeyError, AttributeError) as error:
                _log.warning("sweep: %s is not read, its points run again: %s", path.name, error)
