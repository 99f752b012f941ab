"""The files of a SONATA network: configs, tables of types, and arrays in HDF5.

Files may come from strangers. Nothing in them is executed, and an array is taken only when its
shape and its bytes have been seen (`_disk/hdf5.py`).
"""

import contextlib
import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Num, Shaped

from .._disk import hdf5
from .._disk.whole import NoSuchFileError, check_file
from .._text import brief
from ..spec import InvalidValueError, Name, check

_TEXT = 64 * 10**6  # bytes of a JSON or CSV file
_PATH = 4096  # letters of a path
_MISSING = ("", "NULL", "NONE", "NAN", "NA")
_CONFIGS = ("config.json", "simulation_config.json", "circuit_config.json")


def text_of(path: Path) -> str:
    """The content of a file of text."""
    check_file(path)
    try:
        with path.open("rb") as file:
            content = file.read(_TEXT + 1)
        if len(content) > _TEXT:
            must = f"of at most {_TEXT // 10**6} MB"
            raise InvalidValueError(path.name, "its size", must, "more")
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValueError(path.name, "", "a text in UTF-8", str(error)) from None


def json_of(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    text = text_of(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(path.name, "", "JSON", str(error)) from None
    if not isinstance(data, dict):
        raise InvalidValueError(path.name, "", "an object with keys", brief(data))
    return data


def number(owner: str, field: str, value: Any) -> float:
    """A finite number, also one in a text."""
    try:
        x = float(value) if isinstance(value, int | float | str) else np.nan
    except (ValueError, OverflowError):
        x = np.nan
    if not np.isfinite(x):
        raise InvalidValueError(owner, field, "a finite number", brief(value))
    return x


def types_of(path: Path, key: str) -> dict[int, dict[str, str]]:
    """The rows of a table of types by their id, without what is missing in them."""
    lines = csv.reader(text_of(path).splitlines(), delimiter=" ", skipinitialspace=True)
    try:
        rows = [row for row in lines if any(row)]
    except csv.Error as error:
        raise InvalidValueError(path.name, "", "a table", str(error)) from None
    head = [x for x in rows[0] if x] if rows else []
    if key not in head:
        raise InvalidValueError(path.name, "columns", f"separated by blanks, one {key}", str(head))
    found: dict[int, dict[str, str]] = {}
    for line, row in enumerate(rows[1:], 2):
        row = row[:-1] if len(row) == len(head) + 1 and not row[-1] else row
        if len(row) != len(head):
            must = f"{len(head)} columns, as the first"
            raise InvalidValueError(path.name, f"row {line}", must, str(len(row)))
        given = {k: x for k, x in zip(head, row) if x.upper() not in _MISSING}
        number_of_type = number(path.name, f"{key} of row {line}", given.get(key))
        if number_of_type != int(number_of_type) or int(number_of_type) in found:
            must = "a whole number, each once"
            raise InvalidValueError(path.name, f"{key} of row {line}", must, given[key])
        found[int(number_of_type)] = given
    return found


class Part(NamedTuple):
    """A part of a config.

    Attributes:
        path: the file that it is in.
        manifest: the variables of that file.
        value: the part.
    """

    path: Path
    manifest: dict[str, Any]
    value: Any

    def at(self, key: str, kind: type, field: str) -> "Part":
        """What is in an object under a key; raises where it is none of the kind."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        if not isinstance(value, kind):
            what = {dict: "an object", list: "a list", str: "a text"}[kind]
            raise InvalidValueError(self.path.name, f"{field}.{key}", what, brief(value))
        return self._replace(value=value)

    def file(self, key: str, field: str) -> Path:
        """The path of a file or a folder under a key."""
        text = self.at(key, str, field).value
        for _ in range(16):
            if "$" not in text:
                return self.path.parent / text
            text = re.sub(r"\$\{?(\w+)\}?", self._variable, text)
            if len(text) > _PATH:
                break
        must = "a path without variables of themselves"
        raise InvalidValueError(self.path.name, f"{field}.{key}", must, text[:80])

    def _variable(self, found: re.Match) -> str:
        known = {k.strip("${}"): v for k, v in self.manifest.items()}
        known = {"configdir": ".", "workingdir": ".", "BASE_DIR": "."} | known
        if not isinstance(known.get(found[1]), str):
            must = f"one of the manifest: {', '.join(known)}"
            raise InvalidValueError(self.path.name, "a variable", must, found[0])
        return known[found[1]]


def config_of(path: Path) -> dict[str, Part]:
    """The parts of a config by their keys, with those of the circuit and the simulation."""
    if path.is_dir():
        found = [path / name for name in _CONFIGS if (path / name).is_file()]
        if not found:
            raise NoSuchFileError(f"{path}: there must be one of {', '.join(_CONFIGS)}")
        path = found[0]
    return _config(path, depth=0)


def _config(path: Path, depth: int) -> dict[str, Part]:
    data = json_of(path)
    manifest = data.get("manifest", {})
    if not isinstance(manifest, dict):
        raise InvalidValueError(path.name, "manifest", "an object", brief(manifest))
    parts = {key: Part(path, manifest, value) for key, value in data.items()}
    whole = Part(path, manifest, data)
    for key in ("simulation", "network"):
        if key in data:
            if depth == 2:
                raise InvalidValueError(path.name, key, "left out here", brief(data[key]))
            parts = _config(whole.file(key, "config"), depth + 1) | parts
    return parts


class Arrays(hdf5.Arrays):
    """The arrays of an HDF5 file of SONATA."""

    def populations(self, kind: str) -> list[str]:
        """The names of the populations."""
        if not self.names(kind):
            raise InvalidValueError(self.name, f"/{kind}", "a group of populations", "none")
        return [check(self.name, f"a name in /{kind}", Name(), x) for x in self.names(kind)]

    def text(self, at: str, name: str) -> str | None:
        """An attribute that is a text."""
        x = self.member(at).attrs.get(name)
        x = x.item() if isinstance(x, np.ndarray) and x.size == 1 else x
        x = x.decode("utf-8", "replace") if isinstance(x, bytes) else x
        return str(x) if isinstance(x, str) else None

    def ids(self, at: str, n: int | None = None) -> Shaped[np.ndarray, " n"]:
        """Whole numbers of at least 0."""
        x = self._array(at, "iu", n)
        if x.size and (x.min() < 0 or x.max() >= 2**63):
            must = "whole numbers from 0 to 2^63"
            raise InvalidValueError(self.name, f"/{at}", must, f"{x.min()} to {x.max()}")
        return x.astype(np.int64, copy=False)

    def numbers(
        self, at: str, n: int | None = None, finite: bool = True, dtype: Any = np.float64
    ) -> Num[np.ndarray, " n"]:
        """Numbers, which must be finite unless said otherwise; with `dtype=None` as in the file."""
        x = self._array(at, "iufb", n)
        x = x if dtype is None else x.astype(dtype, copy=False)
        if finite and not np.isfinite(x).all():
            first = int(np.flatnonzero(~np.isfinite(x))[0])
            raise InvalidValueError(self.name, f"/{at}", "finite", f"{x[first]} at index {first}")
        return x

    def _array(self, at: str, kinds: str, n: int | None) -> Num[np.ndarray, " n"]:
        x = self.dataset(at, width=8)
        if x.ndim != 1 or x.dtype.kind not in kinds or n not in (None, x.size):
            what = "an array of numbers" if n is None else f"an array of {n} numbers"
            raise InvalidValueError(self.name, f"/{at}", what, f"shape {x.shape}, {x.dtype}")
        return x[()]


class Groups:
    """Values of nodes or edges that stand in the groups of a population."""

    def __init__(self, arrays: Arrays, kind: str, population: str, n: int) -> None:
        self._arrays, self._at, self._n = arrays, f"{kind}s/{population}", n
        self._groups = [x for x in arrays.names(self._at) if x.isdecimal()]
        if arrays.member(f"{self._at}/{kind}_group_id") is not None:
            self._id = arrays.ids(f"{self._at}/{kind}_group_id", n)
            self._index = arrays.ids(f"{self._at}/{kind}_group_index", n)
        else:
            self._id, self._index = np.zeros(n, np.int64), np.arange(n)

    def names(self, inside: str) -> set[str]:
        """Names of what is in a group of some of the groups."""
        return {x for g in self._groups for x in self._arrays.names(f"{self._at}/{g}/{inside}")}

    def check_none(self, *names: str) -> None:
        """Raises `InvalidValueError` for what is given one by one, and must be given by type."""
        for group in self._groups:
            for name in names:
                at = f"{self._at}/{group}/{name}"
                if self._arrays.member(at) is not None:
                    must = "left out: it maps where it is in the table of types"
                    raise InvalidValueError(self._arrays.name, f"/{at}", must, "values")

    def over(
        self, name: str, base: Num[np.ndarray, " n"], finite: bool = True
    ) -> Num[np.ndarray, " n"]:
        """The values of the types, and over them those that are given one by one."""
        for group in self._groups:
            at = f"{self._at}/{group}/{name}"
            if self._arrays.member(at) is None:
                continue
            given = self._arrays.numbers(at, finite=finite)
            mine = self._id == int(group)
            index = self._index[mine]
            if index.size and index.max() >= given.size:
                must = f"of more than {index.max()} numbers, which group_index asks for"
                raise InvalidValueError(self._arrays.name, f"/{at}", must, str(given.size))
            base = base.copy()
            base[mine] = given[index]
        return base


class Opener:
    """Opens HDF5 files that together may hold so many bytes."""

    def __init__(self, most: float) -> None:
        hdf5.check_h5py("SONATA networks are")
        self._left = [int(most)]

    @contextlib.contextmanager
    def open(self, path: Path) -> Iterator[Arrays]:
        """The arrays of a file."""
        with hdf5.reading(path, "an HDF5 file of SONATA") as file:
            yield Arrays(file, self._left)


def by_type(
    owner: str,
    types: Shaped[np.ndarray, " n"],
    rows: dict[int, dict[str, str]],
    value: Callable[[int], float],
) -> Num[np.ndarray, " n"]:
    """The number of the type of each node or edge."""
    unique, which = np.unique(types, return_inverse=True)
    for one in unique.tolist():
        if one not in rows:
            raise InvalidValueError(owner, "the ids of types", "in its table", str(one))
    return np.array([value(x) for x in unique.tolist()], np.float64)[which]
