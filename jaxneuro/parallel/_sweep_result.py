"""The results of a sweep as named arrays."""

import dataclasses
from typing import Any

import jax
import numpy as np

from .. import spec
from .._html import page, table
from .._run.recording import Recording
from .._run.tables import extra_module
from .._text import counted


@dataclasses.dataclass(frozen=True, eq=False)
class SweepResult:
    """What `sweep` computed, as NumPy arrays: `result["rate"]` where the function returned a dict.

    Attributes:
        axes: the values of each parameter, by name.
        values: what the function returned, each array with leading axes: those of the grid in its
            order, or one over the points of a list.
        product: whether it was a grid.
        chunk: the size of most chunks, 0 if none ran.
        tried: seconds per point, by each size of a chunk that was measured.
        compile_s: wall seconds of compiling.
        run_s: wall seconds of the runs.
        found: how many points were finished by an earlier run.
    """

    axes: dict[str, np.ndarray]
    values: Any
    product: bool
    chunk: int
    tried: dict[int, float]
    compile_s: float
    run_s: float
    found: int

    @property
    def recording(self) -> Recording:
        """What a function recorded that returned a `Recording`, alone or in a dict.

        It is a batch whose axes are those of the grid: `result.recording[2, 3]` is one run.

        Raises:
            InvalidValueError: for a function that returned none, or several.
        """
        found = [x for _, x in self._parts() if isinstance(x, Recording)]
        if len(found) != 1:
            must, got = "with one recording, as jn.scan returns it", str(len(found))
            raise spec.InvalidValueError("sweep", "what the function returns", must, got)
        return found[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes of `values`."""
        lengths = tuple(len(x) for x in self.axes.values())
        return lengths if self.product else lengths[:1]

    def __getitem__(self, name: str) -> Any:
        """A result by name, of a function that returned a dict or a named tuple.

        Raises:
            InvalidValueError: for an unknown name (the known ones are listed), and where the
                function returned one array, which is `values`.
        """
        if isinstance(self.values, Recording):
            must = "result.recording, of a function that returns a recording without a name"
            raise spec.InvalidValueError("sweep", f"result[{name!r}]", must, "a name")
        if isinstance(self.values, np.ndarray):
            raise ValueError(
                f"sweep: the function returned one array, without a name; it is result.values, "
                f"shape {self.values.shape}. Got result[{name!r}]; for names, return a dict, "
                '{"rate": ...}'
            )
        if isinstance(self.values, dict) and name in self.values:
            return self.values[name]
        fields = getattr(self.values, "_fields", ())
        if name in fields:
            return getattr(self.values, name)
        known = self.values if isinstance(self.values, dict) else fields
        raise spec.unknown("result", name, known)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The results of a function that returned one array."""
        if isinstance(self.values, Recording):
            raise ValueError("a sweep of recordings is not one array; it is result.recording")
        if not isinstance(self.values, np.ndarray):
            named = ", ".join(map(repr, self._named()))
            raise ValueError(
                f"a sweep with several results is not one array; take one of result[...]: {named}"
            )
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        kind = "grid" if self.product else "list"
        axes = ", ".join(f"{k} {len(x)}" for k, x in self.axes.items())
        held = [f"{k} {x.dtype}{list(x.shape)}" for k, x in self._named().items()]
        held += [repr(x) for _, x in self._parts() if isinstance(x, Recording)]
        points = counted(int(np.prod(self.shape)), "point")
        ran = f"chunks of {self.chunk}" if self.chunk else "all read from the folder"
        return f"SweepResult: {points} ({kind}: {axes}); {', '.join(held)}; {ran}"

    def _repr_html_(self) -> str:
        """What notebooks show: the axes, and the size and range of every result."""
        axes = [(k, f"{len(x):,}", *_ends(x)) for k, x in self.axes.items()]
        rows = [(k, f"{x.dtype}{list(x.shape)}", *_ends(x)) for k, x in self._named().items()]
        title = f"SweepResult: {counted(int(np.prod(self.shape)), 'point')} in {self.run_s:.3g} s"
        head = ("result", "size", "lowest", "highest")
        return page(
            title, [table(("parameter", "values", "lowest", "highest"), axes), table(head, rows)]
        )

    def _parts(self) -> list[tuple[Any, Any]]:
        """Arrays and recordings with their paths."""
        whole = lambda x: isinstance(x, Recording)  # noqa: E731
        return jax.tree_util.tree_flatten_with_path(self.values, is_leaf=whole)[0]

    def _named(self) -> dict[str, np.ndarray]:
        """Every array by its name, those of recordings aside; one without a name is "value"."""
        named = {}
        for path, x in self._parts():
            keys = [str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path]
            if not isinstance(x, Recording):
                named[".".join(keys) or "value"] = x
        return named

    def to_pandas(self) -> Any:
        """A pandas table with one row per point (extra `pandas`).

        A column per parameter and per result; an array is an object in its cell. Recordings are
        left out.

        Raises:
            ImportError: without pandas.
        """
        pandas = extra_module("pandas")
        count = int(np.prod(self.shape))
        axes = list(self.axes.values())
        if self.product:
            places = np.unravel_index(np.arange(count), self.shape)
            axes = [x[k] for x, k in zip(axes, places)]
        columns = {name: _cells(x) for name, x in zip(self.axes, axes)}
        for name, x in self._named().items():
            label = f"result {name}" if name in columns else name
            columns[label] = _cells(x.reshape(count, *x.shape[len(self.shape) :]))
        return pandas.DataFrame(columns)

    def to_xarray(self) -> Any:
        """An xarray Dataset with a dimension per parameter, or "point" (extra `xarray`).

        Further axes of a result are called after it: `trace_0`, `trace_1`. Recordings are left out.

        Raises:
            ImportError: without xarray.
        """
        xarray = extra_module("xarray")
        lead = tuple(self.axes) if self.product else ("point",)
        coords = {}
        for k, (name, x) in enumerate(self.axes.items()):
            more = tuple(f"{name}_{n}" for n in range(x.ndim - 1))
            dims = (lead[k if self.product else 0], *more)
            label = f"{name}_value" if more and self.product else name
            coords[label] = (dims, x)
        arrays = {}
        for name, x in self._named().items():
            more = tuple(f"{name}_{n}" for n in range(x.ndim - len(lead)))
            label = f"result {name}" if name in coords or name in lead else name
            arrays[label] = ((*lead, *more), x)
        return xarray.Dataset(arrays, coords)


def _cells(x: np.ndarray) -> Any:
    return x if x.ndim == 1 else list(x)


def _ends(values: Any) -> tuple[str, str]:
    """The lowest and the highest finite number, "" where there is none."""
    x = np.asarray(values)
    known = x[np.isfinite(x)] if x.dtype.kind in "biuf" else np.zeros(0)
    return (f"{known.min():g}", f"{known.max():g}") if known.size else ("", "")
