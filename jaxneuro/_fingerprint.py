"""A number that tells networks apart: that of all which decided how one was built."""

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._arrays import is_traced

_PACKAGE = __name__.partition(".")[0]
# With what a run begins: a later state does not depend on it. What is stored changes no bit.
_FREE = ("initial", "stored")
_LONG = 2**20  # bytes; of a longer array a part and its sum count


def fingerprint(*values: Any) -> np.ndarray:
    """64 bits, as uint32 (2,), of values: descriptions, arrays, numbers, texts.

    Equal values have equal bits, in every process and version of Python: a description that was
    read from a file has those of the one that was written. Of functions and of objects that are no
    dataclass the name alone counts; start values, and whether connections are stored, do not.
    """
    digest = hashlib.blake2b(digest_size=8)
    _feed(digest, values)
    return np.frombuffer(digest.digest(), np.uint32).copy()


def sum_of(arrays: Iterable[Any]) -> str:
    """A sum of all bytes of some arrays, with their shapes and dtypes."""
    digest = hashlib.blake2b(digest_size=16)
    for x in map(np.asarray, arrays):
        digest.update(f"{x.dtype}{x.shape}".encode())
        digest.update(np.ascontiguousarray(x).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if value is None or isinstance(value, str | bytes):
        digest.update(f"{type(value).__name__} {value!r};".encode())
    elif isinstance(value, bool | int | float):
        _feed_array(digest, np.asarray(value))
    elif is_traced(value):
        digest.update(f"traced {value.dtype} {value.shape};".encode())
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        _feed_array(digest, np.asarray(value))
    elif isinstance(value, slice | range):
        _feed(digest, (type(value).__name__, value.start, value.stop, value.step))
    elif hasattr(type(value), "canonical"):
        _feed(digest, value.canonical())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _name(digest, type(value))
        for field in dataclasses.fields(value):
            if field.name in _FREE:
                continue
            digest.update(f"{field.name}=".encode())
            _feed(digest, getattr(value, field.name, None))
    elif isinstance(value, Mapping):
        _feed(digest, tuple(sorted(value.items(), key=lambda item: repr(item[0]))))
    elif isinstance(value, tuple | list) and value and all(map(_is_number, value)):
        _feed_array(digest, np.asarray(value))
    elif isinstance(value, tuple | list):
        digest.update(f"{len(value)}(".encode())
        for x in value:
            _feed(digest, x)
    elif isinstance(value, functools.partial):
        _feed(digest, ("partial", value.func, value.args, value.keywords))
    else:
        _name(digest, value if hasattr(value, "__qualname__") else type(value))


def _name(digest: Any, what: Any) -> None:
    """By its own name; where a class of this package lives is free to change."""
    module = getattr(what, "__module__", "")
    place = _PACKAGE if module.partition(".")[0] == _PACKAGE else module
    digest.update(f"{place}.{what.__qualname__};".encode())


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.number)


def _feed_array(digest: Any, x: np.ndarray) -> None:
    if x.nbytes <= _LONG and x.dtype.kind in "biuf":  # equal numbers, however they are held
        x = x.astype(np.float64)
    digest.update(f"array {x.dtype} {x.shape};".encode())
    if x.dtype.hasobject:
        _feed(digest, x.tolist())
        return
    octets = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    if octets.size > _LONG:
        words = octets[: octets.size // 8 * 8].view(np.uint64)
        digest.update(np.add.reduce(words).tobytes())
        digest.update(words[:: words.size // 2**15].tobytes())
        octets = octets[-8:]
    digest.update(octets.tobytes())
