"""The points of a sweep: the product of named axes, or a list of points."""

import dataclasses
import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..spec import InvalidValueError


@dataclasses.dataclass(frozen=True, eq=False)
class Points:
    """Values of parameters by name, and how points take from them.

    Attributes:
        axes: the values of each parameter by name, (length, ...).
        product: whether every combination is a point, in the order of the axes, the last one
            fastest; else point k takes entry k of each.
    """

    axes: dict[str, np.ndarray]
    product: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes of the results."""
        lengths = tuple(len(x) for x in self.axes.values())
        return lengths if self.product else lengths[:1]

    @property
    def count(self) -> int:
        """How many points there are."""
        return math.prod(self.shape)

    def take(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """The values of the points with these numbers, `(points, ...)` by name."""
        if not self.product:
            return {name: x[points] for name, x in self.axes.items()}
        places = np.unravel_index(points, self.shape)
        return {name: x[k] for (name, x), k in zip(self.axes.items(), places)}

    def one(self, point: int) -> dict[str, Any]:
        """The values of one point, as scalars or arrays by name."""
        return {name: x[0] for name, x in self.take(np.array([point])).items()}

    def digest(self) -> str:
        """A digest of names, values and how they are combined."""
        found = hashlib.blake2b(str(self.product).encode(), digest_size=16)
        for name, x in self.axes.items():
            found.update(f"{name}{x.dtype}{x.shape}".encode() + np.ascontiguousarray(x).tobytes())
        return found.hexdigest()


def describe(point: Mapping[str, Any]) -> str:
    """The values of a point as text."""
    return ", ".join(f"{k}={np.array2string(np.asarray(v), threshold=6)}" for k, v in point.items())


def read_points(grid: Any) -> Points:
    """The points that a grid (a mapping of axes, or a list of points) means.

    Raises:
        InvalidValueError: for a grid without a point, values that are no finite numbers or that JAX
            cannot hold, and points that differ in their names or shapes.
    """
    if isinstance(grid, Mapping):
        if not grid:
            raise ValueError('sweep: the grid must have at least one axis, {"gain": [0.5, 1.0]}')
        return Points({_name(k): _axis(k, v) for k, v in grid.items()}, product=True)
    if isinstance(grid, str | bytes) or not isinstance(grid, Iterable):
        raise ValueError(
            "sweep: the grid must be a mapping of axes or a list of points, such as "
            f'{{"gain": [0.5, 1.0]}} or [{{"gain": 0.5}}]; got {grid!r}'
        )
    return Points(_columns(list(grid)), product=False)


def _columns(points: list) -> dict[str, np.ndarray]:
    if not points:
        raise InvalidValueError(
            "sweep", "the list of points", "one with at least one point", "none"
        )
    for k, point in enumerate(points):
        if not isinstance(point, Mapping) or not point:
            raise ValueError(
                f"sweep: a point must be a mapping of names to values; point {k} is {point!r}"
            )
        if point.keys() != points[0].keys():
            raise ValueError(
                "sweep: all points must have the same names; point 0 has "
                f"{sorted(map(str, points[0]))} and point {k} has {sorted(map(str, point))}"
            )
    columns = {}
    for name in points[0]:
        values = [np.asarray(point[name]) for point in points]
        for k, value in enumerate(values):
            if value.shape != values[0].shape:
                raise ValueError(
                    f"sweep: {name} must have the same shape at all points; it has "
                    f"{values[0].shape} at point 0 and {value.shape} at point {k}"
                )
        columns[_name(name)] = _axis(name, np.stack(values))
    return columns


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidValueError("sweep", "names", "those of the function's parameters", repr(name))
    return name


def _axis(name: str, values: Any) -> np.ndarray:
    """Values as an array of a dtype that JAX has, or `ValueError`."""
    some = values[:1] if isinstance(values, list | tuple) else [values]
    if any(jnp.issubdtype(getattr(x, "dtype", bool), jax.dtypes.prng_key) for x in some):
        raise InvalidValueError(
            "sweep",
            name,
            (
                "numbers (give whole numbers, which net.init takes, and make keys of them in the "
                "function: jax.random.key(seed))"
            ),
            "JAX keys",
        )
    try:
        x = np.asarray(values if hasattr(values, "__array__") else list(values))
    except (TypeError, ValueError) as error:
        raise ValueError(f"sweep: {name} must be a list or array of numbers: {error}") from error
    if x.ndim == 0:
        raise InvalidValueError("sweep", name, "a list or array of values", repr(values))
    if len(x) == 0:
        raise InvalidValueError("sweep", name, "one with at least one value", "none")
    if x.dtype.kind not in "biufc":
        raise InvalidValueError("sweep", name, "numbers", f"{x.dtype} values such as {x.flat[0]}")
    if not np.isfinite(x).all():
        bad = np.argwhere(~np.isfinite(x))[0]
        raise InvalidValueError("sweep", name, "finite", f"{x[tuple(bad)]} at index {bad[0]}")
    dtype = jax.dtypes.canonicalize_dtype(x.dtype)
    if dtype == np.int32 and x.min() >= 0 and np.iinfo(dtype).max < x.max() < 2**32:
        dtype = np.dtype(np.uint32)  # large seeds
    with np.errstate(over="ignore"):
        cast = x.astype(dtype)
    changed = cast != x if x.dtype.kind in "iu" else ~np.isfinite(cast)
    if changed.any():
        raise InvalidValueError(
            "sweep", name, f"one that fits into {dtype}", str(x[changed].flat[0])
        )
    return cast


def check_names(fn: Callable, names: Iterable[str]) -> None:
    """Raises `ValueError` unless `fn` takes exactly these parameters by name (or has defaults)."""
    if not callable(fn):
        raise InvalidValueError("sweep", "the function", "callable", repr(fn))
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):  # some builtins do not tell
        return
    named = {
        k: p for k, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    names = list(names)
    unknown = [k for k in names if k not in named]
    if unknown and not takes_any:
        raise ValueError(
            f"sweep: the function has no parameter {unknown[0]!r}; its parameters are "
            f"{sorted(named)}, and the grid has {names}"
        )
    missing = [k for k, p in named.items() if p.default is p.empty and k not in names]
    positional = [
        k for k, p in parameters.items() if p.kind is p.POSITIONAL_ONLY and p.default is p.empty
    ]
    if missing or positional:
        raise ValueError(
            f"sweep: the grid has no values for the function's parameters {missing + positional}; "
            "add an axis for each, or bind it (functools.partial)"
        )
