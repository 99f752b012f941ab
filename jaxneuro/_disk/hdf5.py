"""HDF5 files with the marks of SONATA: written whole, and read as files that strangers may send.

Nothing in them is executed, and an array is taken only if it lies in the file itself and its bytes
have been counted. Arrays, and from version 1.10 of HDF5 on what it says of them, have sums: a bit
that flips on a disk is found.
"""

import contextlib
import importlib.util
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..spec import InvalidValueError
from .whole import NoSuchFileError, check_file, write_whole

_SORTING = {"none": 0, "by_id": 1, "by_time": 2}
_CHUNK = 1 << 16  # numbers that are read together, and have one sum
_CHUNKS = 10**5  # of an array that may have fewer in the file
# What h5py raises for files that are none, and what follows from numbers that are none.
_BROKEN = (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError, ArithmeticError)


def check_h5py(what: str) -> None:
    """Raises `ImportError` without h5py."""
    if importlib.util.find_spec("h5py") is None:
        raise ImportError(f"{what} HDF5 files: pip install 'jaxneuro[hdf5]'")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Any]:
    """An h5py file to fill, which is at `path` when this ends."""
    import h5py

    # In memory: h5py that meets a full disk crashes Python when it exits.
    memory = io.BytesIO()
    with h5py.File(memory, "w", libver="v110") as file:
        file.attrs["magic"] = np.uint32(0x0A7A)
        file.attrs["version"] = np.array((0, 1), np.uint32)
        yield file
    write_whole(path, lambda out: out.write(memory.getbuffer()))


def put(group: Any, name: str, x: Any) -> Any:
    """A data set of an array, each chunk of which has a sum."""
    x = np.asarray(x)
    if not (x.ndim and x.size):
        return group.create_dataset(name, data=x)
    rows = max(_CHUNK // max(x[0].size, 1), 1)
    chunk = (min(rows, len(x)), *x.shape[1:])
    return group.create_dataset(name, data=x, chunks=chunk, fletcher32=True)


def put_spikes(file: Any, population: str, times: Any, neurons: Any) -> None:
    """Spikes of a population in order of time [ms]."""
    import h5py

    group = file.create_group(f"spikes/{population}")
    sorting = h5py.enum_dtype(_SORTING, basetype="u1")
    group.attrs.create("sorting", _SORTING["by_time"], dtype=sorting)
    put(group, "timestamps", times).attrs["units"] = "ms"
    put(group, "node_ids", neurons.astype(np.uint64))


@contextlib.contextmanager
def reading(path: Path, must: str) -> Iterator[Any]:
    """An h5py file to read; what h5py has against it is an `InvalidValueError`.

    Args:
        path: where it is.
        must: what it must be, for the error.
    """
    import h5py

    check_file(path)
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (InvalidValueError, NoSuchFileError):
        raise
    except _BROKEN as error:
        got = f"one that cannot be read: {error}"
        raise InvalidValueError(f"the file {str(path)!r}", "", must, got) from error


class Arrays:
    """The arrays of a file.

    Attributes:
        file: what h5py has opened.
        name: that of the file, for messages.
    """

    def __init__(self, file: Any, left: list[int]) -> None:
        """`left` is how many bytes more may be taken, of this file or of several."""
        self.file, self.name, self._left = file, Path(file.filename).name, left

    def member(self, at: str) -> Any:
        """The group or the data set of a path; None if there is none."""
        import h5py

        x = self.file
        for part in at.split("/"):
            if not isinstance(x, h5py.Group) or part not in x:
                return None
            if not isinstance(x.get(part, getlink=True), h5py.HardLink):
                raise InvalidValueError(self.name, f"/{at}", "in the file", "a link")
            x = x[part]
        return x

    def names(self, at: str) -> list[str]:
        """The names in a group, in the order in which they were made if the file keeps it."""
        import h5py

        group = self.member(at)
        return list(group) if isinstance(group, h5py.Group) else []

    def dataset(self, at: str, width: int = 0) -> Any:
        """An array of numbers that is still to be read; `width` is the least bytes of each."""
        import h5py

        x = self.member(at)
        if not isinstance(x, h5py.Dataset) or x.shape is None or x.dtype.hasobject:
            got = "none" if x is None else "another thing"
            raise InvalidValueError(self.name, f"/{at}", "an array of numbers", got)
        if x.external or x.is_virtual:
            raise InvalidValueError(self.name, f"/{at}", "in the file", "one in other files")
        size = math.prod(x.shape)
        self._left[0] -= size * max(x.dtype.itemsize, width)
        if self._left[0] < 0:
            must = "of fewer bytes than all arrays together may have (max_mb)"
            raise InvalidValueError(self.name, f"/{at}", must, f"{size} numbers more")
        # Each that the file holds takes more than 8 bytes of it; HDF5 takes 200 for each to read.
        chunks = math.prod(-(-n // k) for n, k in zip(x.shape, x.chunks or x.shape) if n)
        if chunks > max(_CHUNKS, self.file.id.get_filesize() // 8):
            must = "an array whose chunks are in the file"
            raise InvalidValueError(self.name, f"/{at}", must, f"{chunks} chunks")
        return x
