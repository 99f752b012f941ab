"""Files of NumPy arrays, which may come from strangers: nothing in them runs, and what they take is
known before it is taken.

An npz may be compressed, a million to one. What its arrays unpack to stands in front of them, and
zipfile unpacks no more than that. An npy is as large as its array.
"""

import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Shaped

from .._text import megabytes
from ..spec import InvalidValueError

MOST_MB = 1000.0  # of a file that is smaller; `Result.save` does not compress
# What NumPy and zipfile raise for files that are none.
_BROKEN = (
    *(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(MemoryError, RuntimeError),  # a shape beyond the file; an unknown compression, a password
    # A header of an npy: its shape, its dtype, its text.
    *(TypeError, OverflowError, SyntaxError, tokenize.TokenError),
    struct.error,  # fields of a zip that are cut off
)


def write_npz(file: BinaryIO, arrays: Mapping[str, Shaped[np.ndarray, "..."]]) -> None:
    """Writes arrays as `np.savez` does, under any names: it takes those of its arguments for them.

    Each has a sum of 32 bits in the archive, which whoever reads the array compares.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, x in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(x), allow_pickle=False)


def read_npz(
    owner: str,
    path: Path,
    what: str,
    max_mb: float = MOST_MB,
    names: Collection[str] | None = None,
) -> dict[str, Shaped[np.ndarray, "..."]]:
    """The arrays of an npz by name, by default all of them.

    Args:
        owner: who reads it, for errors.
        path: the file.
        what: what it must be, `a whole file that Result.save wrote`.
        max_mb: how much it may unpack to [MB], if that is more than the file itself.
        names: of the arrays that are read; those that it has not are left out.

    Raises:
        InvalidValueError: for a file that is cut off, of another kind, or unpacks to more.
    """

    def read(file: BinaryIO) -> dict[str, Any]:
        with zipfile.ZipFile(file) as archive:
            entries = {x.filename.removesuffix(".npy"): x for x in archive.infolist()}
            unpacked = sum(x.file_size for x in archive.infolist())
            if unpacked > max(os.fstat(file.fileno()).st_size, max_mb * 1e6):
                must = f"one that unpacks to at most {megabytes(max_mb * 1e6)}, or to its own size"
                hint = ". Raise max_mb only if you know who wrote it"
                raise InvalidValueError(owner, _named(path), must, megabytes(unpacked), hint)
            out = {}
            for name in entries if names is None else entries.keys() & names:
                with archive.open(entries[name]) as member:
                    out[name] = np.lib.format.read_array(member, allow_pickle=False)
            return out

    return _read(owner, path, what, read)


def npz_shapes(
    owner: str, path: Path, what: str
) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and dtype of each array of an npz, by name; the arrays are not read.

    Raises:
        InvalidValueError: as `read_npz`.
    """

    def read(file: BinaryIO) -> dict[str, Any]:
        out = {}
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                with archive.open(entry) as member:
                    version = np.lib.format.read_magic(member)
                    one = np.lib.format.read_array_header_1_0
                    header = one if version == (1, 0) else np.lib.format.read_array_header_2_0
                    shape, _, dtype = header(member)
                out[entry.filename.removesuffix(".npy")] = shape, dtype
        return out

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
