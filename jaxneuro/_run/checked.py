"""What files say of a run: of the kinds and shapes that a `Result` has, or refused.

Numbers may be wrong, but spikes are of neurons and steps that there are.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import spec
from .._disk.parts import OnDisk
from ..spec import InvalidValueError
from .recorded import RECORDERS
from .statistics import SpikeSums

# --- Kinds of values in files.


class _Array(spec.Kind):
    """An array, here or on disk, of some axes and, if that is known, of some rows."""

    def __init__(self, ndim: int = 1, rows: int | None = None, whole: bool = False):
        self.ndim, self.rows, self.of = ndim, rows, jnp.integer if whole else jnp.number

    def convert(self, value: Any) -> Any:
        what = "whole numbers" if self.of is jnp.integer else "numbers"
        rows = "" if self.rows is None else f", the first of {self.rows}"
        must = f"an array of {what} with {self.ndim} axes{rows}"
        if not isinstance(value, np.ndarray | np.generic | OnDisk):
            raise spec.Unfit(must)
        shape: Any = value.shape
        dtype = value.dtype
        number = dtype == np.dtype(bool) or jnp.issubdtype(dtype, self.of)
        if not number or len(shape) != self.ndim or self.rows not in (None, shape[0]):
            raise spec.Unfit(must, f"{dtype} of shape {shape}")
        return value


class _Ends(_Array):
    """How many there are up to the end of each interval."""

    def __init__(self) -> None:
        super().__init__(whole=True)

    def convert(self, value: Any) -> Any:
        x = super().convert(value)
        if x.size and not (x[0] >= 0 and (x[1:] >= x[:-1]).all() and x[-1] <= _MOST):
            raise spec.Unfit("numbers that grow")
        return x


class _Row(spec.Kind):
    """A list of one value of each kind."""

    def __init__(self, *kinds: spec.Kind):
        self.kinds = kinds

    def convert(self, value: Any) -> tuple:
        if not isinstance(value, list | tuple) or len(value) != len(self.kinds):
            raise spec.Unfit(f"a list of {len(self.kinds)}")
        return tuple(kind.convert(x) for kind, x in zip(self.kinds, value))


class _Fields(spec.Kind):
    """A mapping with values under these names, and maybe more."""

    def __init__(self, **kinds: spec.Kind):
        self.kinds = kinds

    def convert(self, value: Any) -> Any:
        if not isinstance(value, Mapping) or self.kinds.keys() - value.keys():
            raise spec.Unfit(f"a mapping with {', '.join(self.kinds)}")
        for name, kind in self.kinds.items():
            kind.convert(value[name])
        return value


class _Pairs(spec.Kind):
    """A list of names, each with a value."""

    def __init__(self, kind: spec.Kind):
        self.row = spec.Items(_Row(spec.Name(), kind))

    def convert(self, value: Any) -> Any:
        return self.row.convert(value)


class _Json(spec.Kind):
    """A value as JSON."""

    def __init__(self, kind: spec.Kind):
        self.kind = kind

    def convert(self, value: Any) -> Any:
        try:
            return self.kind.convert(json.loads(value))
        except (TypeError, ValueError, RecursionError):
            raise spec.Unfit("text in JSON") from None


class _Wall(spec.Kind):
    """Seconds, or NaN where they are not known."""

    def convert(self, value: Any) -> Any:
        if type(value) is not float:
            raise spec.Unfit("seconds")
        return value


class _Sums(spec.Kind):
    """The four arrays of a `SpikeSums`."""

    def convert(self, value: Any) -> Any:
        sums = _Row(*[_Array(whole=True)] * 3, _Array(2, whole=True)).convert(value)
        if {x.shape for x in sums} != {(len(sums[0]),), (len(sums[0]), 2)}:
            raise spec.Unfit("sums of as many neurons")
        return sums


_MOST = 2**53  # steps, of which times are exact
_STEPS, _TIME = spec.Whole(0, _MOST), spec.Number(above=0.0, at_most=1e12)
_NEURON = spec.Whole(0, 2**31 - 1)
_LAYOUT = spec.Items(_Row(spec.Name(), spec.Whole(), _NEURON, _NEURON))
_STATE = _Fields(
    arrays=spec.Entries(spec.Anything()), fingerprint=_Array(rows=2), step=spec.Whole()
)
_INDICES = spec.Items(spec.Whole(0, 2**62))
_INFO = _Row(
    *(_TIME, _STEPS, _LAYOUT, _STEPS, _Pairs(_Pairs(_INDICES)), _Pairs(_Pairs(spec.Name()))),
)
_COMMON = {"compile_s": _Wall(), "run_s": _Wall()}
_KEY = spec.Maybe(spec.Whole(0, 2**64))
# What the files of a saved run have.
_ABOUT = _Fields(
    info=_Json(_INFO),
    first_step=_STEPS,
    parts=spec.OneOf("npz", "hdf5"),
    constants=spec.Entries(spec.Anything()),
    key=_KEY,
)
_LAST = _Fields(
    ends=_Fields(steps=_Ends(), samples=_Ends(), spikes=spec.Entries(_Ends())),
    sums=spec.Entries(_Sums()),
    until_held=spec.Flag(),
    **_COMMON,
)


# --- Checks of what is in a file.


def _check(owner: str, path: Path, values: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    for name, kind in kinds.items():
        if name in values:
            spec.check(owner, f"{name} in the file {os.fspath(path)!r}", kind, values[name])


def check_fields(owner: str, path: Path, found: Mapping[str, Any]) -> None:
    """Raises `InvalidValueError` unless the fields of a `Result` are what they must be."""
    first = {"dt": _TIME, "first_step": _STEPS, "n_steps": _STEPS, "layout": _LAYOUT}
    _check(owner, path, found, {**first, "sample_times": _Array()})
    rows, steps = found["sample_times"].shape[0], found["n_steps"]
    rest = {
        "interval": _TIME,
        "samples": spec.Entries(spec.Anything()),
        "columns": spec.Entries(spec.Entries(_Array(whole=True))),
        "constants": spec.Entries(spec.Anything()),
        "shared": spec.Entries(spec.Entries(spec.Name())),
        "counts": spec.Entries(_Array(1, steps)),
        "statistics": spec.Entries(_Sums()),
        "state": spec.Maybe(_STATE),
        "key": _KEY,
        **{"interrupted": spec.Flag(), "until_held": spec.Flag(), **_COMMON},
    }
    _check(owner, path, found, rest)
    kinds: dict[str, spec.Kind] = {"weight_histograms": spec.Entries(_Array())}
    _check(owner, path, found["constants"], kinds)
    for name, recorder in RECORDERS.items():
        if recorder.kind:
            kind = spec.Entries(_Array(recorder.axes, rows))
            kinds[name] = spec.Entries(kind) if recorder.by_variable else kind
    _check(owner, path, found["samples"], kinds)


def check_run(owner: str, path: Path, about: Mapping[str, Any], last: Mapping[str, Any]) -> None:
    """Raises `InvalidValueError` unless a folder says which run it is and how far it is."""
    spec.check(owner, f"the file {os.fspath(path)!r}", _ABOUT, about)
    spec.check(owner, f"the last state beside {os.fspath(path)!r}", _LAST, last)
    if last.get("state") is not None:
        _check(owner, path, last, {"state": _STATE})
    ends = last["ends"]
    lengths = {x.size for x in (ends["steps"], ends["samples"], *ends["spikes"].values())}
    if len(lengths) > 1 or lengths == {0}:
        named = f"the last state beside {os.fspath(path)!r}"
        raise InvalidValueError(owner, named, "one of some intervals", f"numbers of {lengths}")


def check_layout(owner: str, layout: Iterable[tuple[str, int, int, int]]) -> dict[str, int]:
    """Sizes of populations by name; raises `InvalidValueError` for impossible ones."""
    sizes: dict[str, int] = {}
    for name, _, start, stop in layout:
        if stop < start or name in sizes:
            raise InvalidValueError(owner, "layout", "of populations", f"{name!r} twice, or of < 0")
        sizes[name] = stop - start
    return sizes


def check_spikes(what: str, x: Any, below: int, ascending: bool = False) -> Any:
    """Numbers of steps or neurons; raises `InvalidValueError` for those that there are not."""
    if x.size and not (x.min() >= 0 and x.max() < below and not (ascending and _falls(x))):
        order = ", ascending" * ascending
        raise InvalidValueError(
            "", what, f"from 0 to {below - 1}{order}", f"{x.min()} to {x.max()}"
        )
    return x


def _falls(x: Any) -> bool:
    return bool((x[1:] < x[:-1]).any())


def check_events(owner: str, path: Path, found: Mapping[str, Any]) -> None:
    """Raises `InvalidValueError` unless spikes are of neurons and steps that there are."""
    sizes = check_layout(owner, found["layout"])
    kind = spec.Maybe(spec.Entries(_Row(_Array(whole=True), _Array(whole=True))))
    _check(owner, path, found, {"spikes": kind})
    for name, (steps, neurons) in (found["spikes"] or {}).items():
        spec.check_known("population", name, sizes)
        where = f"spikes of {name!r} in the file {os.fspath(path)!r}"
        if steps.shape != neurons.shape:
            raise InvalidValueError(owner, where, "as many steps as neurons", f"{steps.shape}")
        check_spikes(where, steps, found["n_steps"], ascending=True)
        check_spikes(where, neurons, sizes[name])


def sums_of_file(values: Mapping[str, Any]) -> dict[str, SpikeSums]:
    """Running sums by population, as they are in a file."""
    return {name: SpikeSums(*x) for name, x in values.items()}
