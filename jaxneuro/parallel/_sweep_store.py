"""Finished chunks of a sweep in a folder: one file each, which is there whole or not at all."""

import contextlib
import json
import logging
import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._array_files import read_npz
from .._whole_file import write_whole
from ..spec import InvalidValueError

_KIND, _VERSION, _ABOUT = "jaxneuro sweep", 1, "sweep.json"
_PARTS = {"grid": "grid", "function": "function", "arrays": "arrays in the function (its network)"}
_STALE_S = 3600.0
_log = logging.getLogger("jaxneuro")


def check_folder(save: Any) -> Path:
    """`save` as a path; raises `ValueError` for a file, or what is no path."""
    if not isinstance(save, str | os.PathLike):
        raise InvalidValueError("sweep", "save", "the path of a folder", repr(save))
    folder = Path(os.fsdecode(save))
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"sweep: save must be a folder; {folder.name!r} is a file")
    return folder


class SweepStore:
    """The folder of one sweep; `identity` says which, and another's folder is refused.

    `leaves` have the shapes and dtypes of what one point returns.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str], leaves: Sequence[Any]):
        self._folder, self._leaves = folder, leaves
        folder.mkdir(parents=True, exist_ok=True)
        self._clear()
        about = folder / _ABOUT
        if not about.exists():
            if next(folder.glob("chunk-*.npz"), None) is not None:
                raise ValueError(
                    f"sweep: {folder.name!r} has chunks but no {_ABOUT}, which says of which "
                    "sweep; give another folder"
                )
            text = json.dumps({"kind": _KIND, "version": _VERSION, **identity}, indent=1)
            write_whole(about, lambda file: file.write(text.encode()))
            return
        self._check(about, identity)

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._folder.name

    @property
    def chunks(self) -> int:
        """How many chunks are in the folder."""
        return sum(1 for _ in self._folder.glob("chunk-*.npz"))

    def _clear(self) -> None:
        """Deletes what a killed process was writing; another may be writing what is new."""
        for path in self._folder.glob(".chunk-*.part"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_S:
                    path.unlink()

    def _check(self, about: Path, identity: Mapping[str, str]) -> None:
        try:
            found = json.loads(about.read_text())
            known = found["kind"] == _KIND and found["version"] == _VERSION
        except (OSError, ValueError, KeyError, TypeError):
            found, known = {}, False
        if not known:
            raise ValueError(
                f"sweep: {_ABOUT} in {self._folder.name!r} was not written by this version of "
                "sweep; give another folder"
            )
        other = [text for part, text in _PARTS.items() if found.get(part) != identity[part]]
        if other:
            raise ValueError(
                f"sweep: the folder {self._folder.name!r} must hold chunks of this sweep; it "
                f"differs in: {', '.join(other)}. Give another folder, or delete this one"
            )

    def write(self, points: np.ndarray, leaves: Sequence[np.ndarray]) -> None:
        """Writes a finished chunk beside its place, and renames it."""
        arrays: dict[str, Any] = {f"leaf {k}": x for k, x in enumerate(leaves)}
        arrays["points"] = points
        name = f"chunk-{points[0]:09d}-{points[-1]:09d}-{uuid.uuid4().hex[:8]}.npz"
        write_whole(self._folder / name, lambda file: np.savez(file, **arrays))

    def finished(self, count: int) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """Numbers of points and results of each whole chunk; a broken one is named and left out."""
        for path in sorted(self._folder.glob("chunk-*.npz")):
            try:
                file = read_npz("sweep", path, "a whole chunk of a sweep")
                points = file["points"]
                leaves = [file[f"leaf {k}"] for k in range(len(self._leaves))]
                if points.ndim != 1 or points.min() < 0 or points.max() >= count:
                    raise ValueError("its points are not those of the grid")
                yield points, [self._as_returned(x, *y) for x, *y in zip(leaves, self._leaves)]
            except (OSError, ValueError, KeyError) as error:
                _log.warning("sweep: %s is not read, its points run again: %s", path.name, error)

    @staticmethod
    def _as_returned(x: np.ndarray, leaf: Any) -> np.ndarray:
        if x.dtype.kind == "V":  # a dtype that NumPy's files do not know, such as bfloat16
            x = x.view(leaf.dtype)
        if x.dtype != leaf.dtype or x.shape[1:] != leaf.shape:
            raise ValueError("its arrays are not those of the function")
        return x
