"""Files of NumPy arrays, which may come from strangers: nothing in them runs, and what they take is
known before it is taken.

An npz may be compressed, a million to one. What its arrays unpack to stands in front of them, and
zipfile unpacks no more than that. An npy is as large as its array.
"""

import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Shaped

from ._text import megabytes
from .spec import InvalidValueError

MOST_MB = 1000.0  # of a file that is smaller; `Result.save` does not compress
_BROKEN = (
    *(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error),
    *(MemoryError, RuntimeError),  # a shape beyond the file; an unknown compression, a password
)


def read_npz(
    owner: str, path: Path, what: str, max_mb: float = MOST_MB
) -> dict[str, Shaped[np.ndarray, "..."]]:
    """The arrays of an npz by name.

    Args:
        owner: who reads it, for errors.
        path: the file.
        what: what it must be, `a whole file that Result.save wrote`.
        max_mb: how much it may unpack to [MB], if that is more than the file itself.

    Raises:
        InvalidValueError: for a file that is cut off, of another kind, or unpacks to more.
    """

    def read(file: BinaryIO) -> dict[str, Any]:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(x.file_size for x in archive.infolist())
        if unpacked > max(os.fstat(file.fileno()).st_size, max_mb * 1e6):
            must = f"one that unpacks to at most {megabytes(max_mb * 1e6)}, or to its own size"
            hint = ". Raise max_mb only if you know who wrote it"
            raise InvalidValueError(owner, _named(path), must, megabytes(unpacked), hint)
        file.seek(0)
        with np.load(file, allow_pickle=False) as opened:
            return {name: np.asarray(opened[name]) for name in opened.files}

    return _read(owner, path, what, read)


def read_npy(owner: str, path: Path) -> Shaped[np.ndarray, "..."]:
    """The array of an npy; raises `InvalidValueError` for another file."""
    # Not np.load, which would also open an npz.
    read = lambda file: np.lib.format.read_array(file, allow_pickle=False)  # noqa: E731
    return _read(owner, path, "an .npy file with one array of numbers", read)


def _read(owner: str, path: Path, what: str, read: Callable[[BinaryIO], Any]) -> Any:
    with open(path, "rb") as file:
        try:
            return read(file)
        except InvalidValueError:
            raise
        except _BROKEN as error:
            got = f"one that cannot be read: {error}"
            raise InvalidValueError(owner, _named(path), what, got) from error


def _named(path: Path) -> str:
    return f"the file {os.fspath(path)!r}"
