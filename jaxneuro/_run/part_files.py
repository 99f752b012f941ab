"""The files of an interval of a saved run: an npz, or HDF5 in the layouts of SONATA.

With h5py installed an interval is `part-000003.h5` with its spikes, which readers of SONATA open as
a file of spikes, and a file per recorded variable, `part-000003.v.h5`, which they open as a report.
What SONATA has no place for (means, counts, weights, ...) is in the first, under `arrays`. Without
h5py it is one `part-000003.npz`. Arrays have the same names in both.

Reference:
    Dai et al. (2020), The SONATA data format, doi:10.1371/journal.pcbi.1007696.
"""

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Shaped

from .._disk.arrays import MOST_MB, npz_shapes, read_npz
from .._disk.hdf5 import Arrays, check_h5py, put, put_spikes, reading, writing
from .._disk.values import HEADER, FileKind, header_of, plain_name, write_values
from ..spec import InvalidValueError
from .tables import UNITS

Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], np.dtype]]

RUN = FileKind("jaxneuro run", 1, "simulate(save=)")
_TRACES = "samples/traces/"  # how their names begin
_WHOLE = "a whole file that simulate(save=) wrote"


class NpzParts:
    """Intervals as npz archives."""

    name = "npz"

    def write(self, stem: Path, recorded: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        """Writes what was `recorded` in an interval; `run` are all fields of its `Result`."""
        write_values(_path(stem, "npz"), RUN, recorded)

    def header(self, stem: Path) -> tuple[Any, Shapes]:
        """How the arrays of an interval nest (`nodes_of`), and their shapes by name."""
        path = _path(stem, "npz")
        shapes = npz_shapes("", path, _WHOLE)
        return read_npz("", path, _WHOLE, names={HEADER}).get(HEADER), shapes

    def read(self, stem: Path, name: str) -> Shaped[np.ndarray, "rows ..."]:
        """An array of an interval."""
        path = _path(stem, "npz")
        found = read_npz("", path, _WHOLE, names={name})
        if name not in found:
            raise InvalidValueError("", f"the file {str(path)!r}", _WHOLE, f"no {name!r}")
        return found[name]


class SonataParts:
    """Intervals as HDF5 files in the layouts of SONATA."""

    name = "hdf5"

    def write(self, stem: Path, recorded: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        """See `NpzParts.write`."""
        arrays: dict[str, Any] = {}
        header = header_of(RUN, recorded, arrays)
        reports: dict[str, list[str]] = {}
        for name in [x for x in arrays if x.startswith(_TRACES)]:
            reports.setdefault(name.split("/")[-1], []).append(name)
        for variable, names in reports.items():
            mine = {name.split("/")[-2]: arrays.pop(name) for name in names}
            with writing(_path(stem, f"{variable}.h5")) as file:
                _report(file, variable, mine, run)
        spikes = {k: (x, arrays.pop(f"{k}/1")) for k, x in _steps_in(arrays).items()}
        with writing(_path(stem, "h5")) as file:
            file.attrs["first_step"], file.attrs["dt"] = run["first_step"], run["dt"]
            put(file, HEADER, header)
            for name, x in arrays.items():
                put(file, f"arrays/{name}", x)
            for name, (steps, neurons) in spikes.items():
                times = (steps + np.int64(run["first_step"] + 1)) * run["dt"]
                put_spikes(file, name.removeprefix("spikes/"), times, neurons)

    def header(self, stem: Path) -> tuple[Any, Shapes]:
        """See `NpzParts.header`."""
        shapes: Shapes = {}
        with _reading(_path(stem, "h5")) as arrays:

            def found(name: str, x: Any) -> None:
                if name.startswith("arrays/") and hasattr(x, "nbytes"):
                    x = arrays.dataset(name)
                    shapes[name.removeprefix("arrays/")] = x.shape, x.dtype
                elif name.startswith("spikes/") and name.endswith("/node_ids"):
                    x = arrays.dataset(name)
                    for k in range(2):
                        shapes[f"{name.removesuffix('/node_ids')}/{k}"] = x.shape, np.dtype("i4")

            arrays.file.visititems(found)
            header = arrays.dataset(HEADER)[()]
        for path in stem.parent.glob(f"{stem.name}.*.h5"):
            variable = path.name.removeprefix(f"{stem.name}.").removesuffix(".h5")
            with _reading(path) as arrays:
                for name in arrays.names("report"):
                    data = arrays.dataset(f"report/{name}/data")
                    shapes[f"{_TRACES}{name}/{variable}"] = data.shape, data.dtype
        return header, shapes

    def read(self, stem: Path, name: str) -> Shaped[np.ndarray, "rows ..."]:
        """See `NpzParts.read`."""
        *kind, of, last = name.split("/")
        report = name.startswith(_TRACES)
        with _reading(_path(stem, f"{last}.h5" if report else "h5")) as arrays:
            if report:
                return arrays.dataset(f"report/{of}/data")[()]
            if kind != ["spikes"]:
                return arrays.dataset(f"arrays/{name}")[()]
            if last == "1":
                return arrays.dataset(f"spikes/{of}/node_ids")[()].astype(np.int32)
            steps = arrays.dataset(f"spikes/{of}/timestamps")[()]
            with np.errstate(all="ignore"):  # in place: an interval may have very many
                steps /= arrays.file.attrs["dt"]
                np.rint(steps, out=steps)
                steps -= int(arrays.file.attrs["first_step"]) + 1
                return steps.astype(np.int32)


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
    check_h5py("this run has")
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
    chosen = {plain_name(name): x for name, x in run["columns"].get("traces", {}).items()}
    for name, x in traces.items():
        group, n = file.create_group(f"report/{name}"), x.shape[1]
        data = put(group, "data", x)
        data.attrs["units"] = UNITS.get(variable, "")
        ids = np.asarray(chosen.get(name, np.arange(n)))
        put(group, "mapping/node_ids", ids.astype(np.uint64))
        group["mapping/node_ids"].attrs["sorted"] = np.uint8(bool((np.diff(ids) > 0).all()))
        put(group, "mapping/index_pointers", np.arange(n + 1, dtype=np.uint64))
        put(group, "mapping/element_ids", np.zeros(n, np.uint32))
        window = np.array([start, start + len(times) * interval, interval])
        put(group, "mapping/time", window).attrs["units"] = "ms"


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[Arrays]:
    """The arrays of a file, which may take as many bytes as the file, or as those of a result."""
    with reading(path, _WHOLE) as file:
        yield Arrays(file, [int(max(path.stat().st_size, 1e6 * MOST_MB))])
