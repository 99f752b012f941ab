"""The files of an interval of a saved run: an npz, or HDF5 in the layouts of SONATA.

With h5py installed an interval is `part-000003.h5` with its spikes, which readers of SONATA open as
a file of spikes, and a file per recorded variable, `part-000003.v.h5`, which they open as a report.
What SONATA has no place for (means, counts, weights, ...) is in the first, under `arrays`. Without
h5py it is one `part-000003.npz`. Arrays have the same names in both.

Reference:
    Dai et al. (2020), The SONATA data format, doi:10.1371/journal.pcbi.1007696.
"""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Shaped

from .._disk.arrays import MOST_MB, npz_shapes, read_npz
from .._disk.values import HEADER, FileKind, header_of, plain_name, write_values
from .._disk.whole import check_file, write_whole
from .._text import megabytes
from ..spec import InvalidValueError
from .tables import UNITS

Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], np.dtype]]

RUN = FileKind("jaxneuro run", 1, "simulate(save=)")
_MAGIC, _VERSION = 0x0A7A, (0, 1)  # of SONATA
_SORTING = {"none": 0, "by_id": 1, "by_time": 2}
_WHOLE = "a whole file that simulate(save=) wrote"
# What h5py raises for files that are none, and what follows from numbers that are none.
_BROKEN = (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError, ArithmeticError)
_CHUNK = 1 << 16  # numbers that are read together, and have one sum


class NpzParts:
    """Intervals as npz archives."""

    name = "npz"

    def write(self, stem: Path, recorded: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        """Writes what was `recorded` in an interval; `run` are all fields of its `Result`."""
        write_values(_path(stem, "npz"), RUN, recorded)

    def header(self, stem: Path) -> tuple[Any, Shapes]:
        """How the arrays of an interval nest (`nodes_of`), and their shapes by name."""
        path = _path(stem, "npz")
        shapes = npz_shapes("simulate", path, _WHOLE)
        return read_npz("simulate", path, _WHOLE, names={HEADER}).get(HEADER), shapes

    def read(self, stem: Path, name: str) -> Shaped[np.ndarray, "rows ..."]:
        """An array of an interval."""
        path = _path(stem, "npz")
        found = read_npz("simulate", path, _WHOLE, names={name})
        if name not in found:
            raise InvalidValueError("simulate", f"the file {str(path)!r}", _WHOLE, f"no {name!r}")
        return found[name]


class SonataParts:
    """Intervals as HDF5 files in the layouts of SONATA."""

    name = "hdf5"

    def write(self, stem: Path, recorded: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        """See `NpzParts.write`."""
        arrays: dict[str, Any] = {}
        header = header_of(RUN, recorded, arrays)
        reports: dict[str, list[str]] = {}
        for name in [x for x in arrays if x.startswith("traces/")]:
            reports.setdefault(name.split("/")[2], []).append(name)
        for variable, names in reports.items():
            mine = {name.split("/")[1]: arrays.pop(name) for name in names}
            _write(_path(stem, f"{variable}.h5"), lambda f: _report(f, variable, mine, run))  # noqa: B023
        spikes = {k: (x, arrays.pop(f"{k}/1")) for k, x in _steps_in(arrays).items()}

        def rest(file: Any) -> None:
            file.attrs["first_step"], file.attrs["dt"] = run["first_step"], run["dt"]
            _put(file, HEADER, header)
            for name, x in arrays.items():
                _put(file, f"arrays/{name}", x)
            for name, (steps, neurons) in spikes.items():
                group = file.create_group(name)
                group.attrs.create("sorting", _SORTING["by_time"], dtype=_enum())
                times = (steps + np.int64(run["first_step"] + 1)) * run["dt"]
                _put(group, "timestamps", times).attrs["units"] = "ms"
                _put(group, "node_ids", neurons.astype(np.uint64))

        _write(_path(stem, "h5"), rest)

    def header(self, stem: Path) -> tuple[Any, Shapes]:
        """See `NpzParts.header`."""
        shapes: Shapes = {}

        def found(name: str, x: Any) -> None:
            if name.startswith("arrays/") and hasattr(x, "nbytes"):
                x = _data(x.file, name)
                shapes[name.removeprefix("arrays/")] = x.shape, x.dtype
            elif name.startswith("spikes/") and name.endswith("/node_ids"):
                x = _data(x.file, name)
                for k in range(2):
                    shapes[f"{name.removesuffix('/node_ids')}/{k}"] = x.shape, np.dtype(np.int32)

        def all_of(file: Any) -> Any:
            file.visititems(found)
            return _data(file, HEADER)[()] if HEADER in file else None

        header = _read(_path(stem, "h5"), all_of)
        for path in stem.parent.glob(f"{stem.name}.*.h5"):
            variable = path.name.removeprefix(f"{stem.name}.").removesuffix(".h5")

            def one(file: Any) -> None:
                for name in file["report"]:
                    data = _data(file, f"report/{name}/data")
                    shapes[f"traces/{name}/{variable}"] = data.shape, data.dtype  # noqa: B023

            _read(path, one)
        return header, shapes

    def read(self, stem: Path, name: str) -> Shaped[np.ndarray, "rows ..."]:
        """See `NpzParts.read`."""
        kind, *rest = name.split("/")
        if kind == "traces":
            path = _path(stem, f"{rest[1]}.h5")
            return _read(path, lambda file: _data(file, f"report/{rest[0]}/data")[()])
        path = _path(stem, "h5")
        if kind != "spikes":
            return _read(path, lambda file: _data(file, f"arrays/{name}")[()])
        if rest[1] == "1":
            ids = lambda f: _data(f, f"spikes/{rest[0]}/node_ids")[()]  # noqa: E731
            return _read(path, ids).astype(np.int32)

        def steps(file: Any) -> Any:
            times = _data(file, f"spikes/{rest[0]}/timestamps")[()]
            first = int(file.attrs["first_step"])
            with np.errstate(all="ignore"):
                at = np.rint(times / file.attrs["dt"]).astype(np.int64)
            return (at - first - 1).astype(np.int32)

        return _read(path, steps)


def parts_here() -> NpzParts | SonataParts:
    """Those that a new run has: HDF5 where h5py is installed."""
    return SonataParts() if importlib.util.find_spec("h5py") else NpzParts()


def parts_named(name: str) -> NpzParts | SonataParts:
    """Those of a run that stands.

    Raises:
        ImportError: for HDF5 without h5py.
    """
    if name == NpzParts.name:
        return NpzParts()
    if importlib.util.find_spec("h5py") is None:
        raise ImportError("this run has HDF5 files: pip install 'jaxneuro[hdf5]'")
    return SonataParts()


def _path(stem: Path, suffix: str) -> Path:
    return stem.with_name(f"{stem.name}.{suffix}")


def _steps_in(arrays: dict[str, Any]) -> dict[str, Any]:
    """The steps of spikes, by where they go, taken out of the arrays."""
    names = [x for x in arrays if x.startswith("spikes/") and x.endswith("/0")]
    return {name.removesuffix("/0"): arrays.pop(name) for name in names}


def _report(file: Any, variable: str, traces: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Traces of a variable as SONATA's report of elements, one per neuron."""
    times, interval = run["sample_times"], run["interval"]
    start = times[0] if len(times) else 0.0
    chosen = {plain_name(name): x for name, x in run["neurons"].items()}
    for name, x in traces.items():
        group, n = file.create_group(f"report/{name}"), x.shape[1]
        data = _put(group, "data", x)
        data.attrs["units"] = UNITS.get(variable, "")
        ids = np.asarray(chosen.get(name, np.arange(n)))
        _put(group, "mapping/node_ids", ids.astype(np.uint64))
        group["mapping/node_ids"].attrs["sorted"] = np.uint8(bool((np.diff(ids) > 0).all()))
        _put(group, "mapping/index_pointers", np.arange(n + 1, dtype=np.uint64))
        _put(group, "mapping/element_ids", np.zeros(n, np.uint32))
        window = np.array([start, start + len(times) * interval, interval])
        _put(group, "mapping/time", window).attrs["units"] = "ms"


def _write(path: Path, fill: Any) -> None:
    import h5py

    def write(file: Any) -> None:
        with h5py.File(file, "w") as opened:
            opened.attrs["magic"] = np.uint32(_MAGIC)
            opened.attrs["version"] = np.array(_VERSION, np.uint32)
            fill(opened)

    write_whole(path, write)


def _put(group: Any, name: str, x: Any) -> Any:
    """A data set of an array, each chunk of which has a sum."""
    x = np.asarray(x)
    if (
        x.dtype.kind == "V" or np.dtype(x.dtype.str) != x.dtype
    ):  # a dtype that HDF5 does not know, such as bfloat16
        x = x.view(f"u{x.dtype.itemsize}")
    if not (x.ndim and x.size):
        return group.create_dataset(name, data=x)
    rows = max(_CHUNK // max(x[0].size, 1), 1)
    chunk = (min(rows, len(x)), *x.shape[1:])
    return group.create_dataset(name, data=x, chunks=chunk, fletcher32=True)


def _read(path: Path, get: Any) -> Any:
    """What `get` takes from an HDF5 file; raises `InvalidValueError` if that cannot be."""
    import h5py

    check_file(path)
    try:
        with h5py.File(path, "r") as file:
            return get(file)
    except _BROKEN as error:
        got = f"one that cannot be read: {error}"
        raise InvalidValueError("simulate", f"the file {str(path)!r}", _WHOLE, got) from error


def _data(file: Any, name: str) -> Any:
    """A data set of numbers that lies in the file itself, and is no larger than a file may unpack.

    Raises:
        ValueError: for another one.
    """
    import h5py

    found = file
    for key in name.split("/"):
        if not isinstance(found, h5py.Group) or not isinstance(
            found.get(key, getlink=True), h5py.HardLink
        ):
            raise ValueError(f"it has no {name!r}, or has it elsewhere")
        found = found[key]
    if not isinstance(found, h5py.Dataset) or found.shape is None or found.dtype.hasobject:
        raise ValueError(f"{name!r} is no array of numbers")
    if found.is_virtual or found.external:
        raise ValueError(f"{name!r} is in another file")
    size = os.path.getsize(file.filename)
    if found.size * found.dtype.itemsize > max(size, 1e6 * MOST_MB):
        raise ValueError(f"{name!r} unpacks to {megabytes(found.size * found.dtype.itemsize)}")
    return found


def _enum() -> Any:
    import h5py

    return h5py.enum_dtype(_SORTING, basetype="u1")
