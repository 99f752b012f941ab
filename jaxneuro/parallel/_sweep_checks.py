"""Checks that wait for the values of a sweep: what a single run would refuse is refused."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import eval_jaxpr

from .._checks import is_traced
from ._sweep_points import Points, describe

_MOST = 20_000  # points whose values are looked at
_SMALL = 64  # entries of a value that is looked at everywhere, to find where to check
_COLUMNS = 16  # numbers of one check that are looked at
_CORNERS = 4  # as many numbers are checked in all combinations of their extremes
_OFF = 1e-3  # of a time step: a number further away is no whole number of steps


class _Check(NamedTuple):
    """A check with the numbers of the values that it waits for, by their place in `leaves`."""

    check: Callable
    structure: Any
    leaves: list
    waits: dict[int, int]
    dt: float | None


class PointChecks:
    """Checks left out while a function was traced, made once the values of points are known.

    `kept` are checks with their arguments. `values` are the traced ones that the checks wait for:
    what the traced function returns, too.
    """

    def __init__(self, kept: Iterable[tuple[Callable, tuple]]):
        self.values: list[Any] = []
        self._checks: list[_Check] = []
        numbers: dict[int, int] = {}
        for check, args in kept:
            leaves, structure = jax.tree.flatten(args)
            traced = {k: x for k, x in enumerate(leaves) if is_traced(x)}
            for k, x in traced.items():
                if id(x) not in numbers:
                    numbers[id(x)] = len(self.values)
                    self.values.append(x)
                leaves[k] = None
            waits = {k: numbers[id(x)] for k, x in traced.items()}
            dt = getattr(args[0], "dt", None)
            self._checks.append(_Check(check, structure, leaves, waits, dt))

    def make(self, jaxpr: Any, consts: list, points: Points) -> None:
        """Makes the checks; the last outputs of `jaxpr` are `values`.

        At the extremes of all numbers, and where one is furthest from the grid of time steps.

        **Raises** `ValueError` for the first point that a check refuses.
        """
        if not self._checks:
            return
        outvars = list(jaxpr.outvars[len(jaxpr.outvars) - len(self.values) :])
        small = [k for k, v in enumerate(outvars) if _is_small(v.aval)]
        at = _candidates(points)
        batch = points.take(at)
        try:
            found = _outputs(jaxpr, [outvars[k] for k in small], consts)(batch)
        except Exception:  # so does the run, which says at which point
            return
        table = dict(zip(small, found))
        for check in self._checks:
            waits = dict.fromkeys(check.waits.values())
            mine = [
                table[k] for k in reversed(waits) if k in table
            ]  # what is set, then its network
            wanted = [k for k in waits if k not in table]
            if wanted:  # too large to be looked at everywhere: the grid tells where
                mine = [*batch.values(), *mine]
            rest = _outputs(jaxpr, [outvars[k] for k in wanted], consts)
            for row in _telling([x for x in mine if x.size], check.dt):
                one = {name: x[row : row + 1] for name, x in batch.items()}
                known = {k: x[row] for k, x in table.items()}
                try:
                    known |= {k: x[0] for k, x in zip(wanted, rest(one))}
                except Exception:
                    break
                self._make(check, known, points.one(int(at[row])))

    def _make(self, check: _Check, known: dict[int, Any], point: dict[str, Any]) -> None:
        leaves = list(check.leaves)
        for place, number in check.waits.items():
            leaves[place] = jnp.asarray(known[number])
        try:
            check.check(*jax.tree.unflatten(check.structure, leaves))
        except ValueError as error:
            if "Tracer" in str(error):  # a function that holds a traced value
                return
            raise ValueError(
                f"sweep: the point {describe(point)} is refused: {error}{self._hint(check)}"
            ) from error
        except Exception:  # of what cannot be checked alone, the run tells
            return

    def _hint(self, check: _Check) -> str:
        several = sum(x.check is check.check for x in self._checks) > 1
        several = several and check.check.__name__ != "seed_of"
        return ". Values that depend on each other go into one net.set" if several else ""


def _is_small(aval: Any) -> bool:
    return aval.size <= _SMALL and not jnp.issubdtype(aval.dtype, jax.dtypes.extended)


def _outputs(jaxpr: Any, wanted: list, consts: list) -> Callable[[dict[str, np.ndarray]], list]:
    """Outputs of a jaxpr at points, `(points, ...)`; nothing else of it is computed."""
    if not wanted:
        return lambda batch: []
    needed, equations = {v for v in wanted if not hasattr(v, "val")}, []
    for equation in reversed(jaxpr.eqns):
        if not needed.isdisjoint(equation.outvars):
            equations.append(equation)
            needed |= {v for v in equation.invars if not hasattr(v, "val")}
    part = jaxpr.replace(
        eqns=equations[::-1],
        outvars=wanted,
        effects=frozenset(),
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    one = lambda *point: eval_jaxpr(part, consts, *point)  # noqa: E731
    program = jax.jit(jax.vmap(one))
    return lambda batch: [np.asarray(x) for x in program(*batch.values())]


def _candidates(points: Points) -> np.ndarray:
    """Numbers of the points to look at: all, or the lines along each axis and the corners."""
    if points.count <= _MOST:
        return np.arange(points.count)
    some = [_some(x) for x in points.axes.values()]
    if not points.product:
        return np.unique(np.concatenate(some))
    ends = [x[:2] for x in some]
    places = list(itertools.product(*ends)) if len(ends) <= 8 else []
    for axis, numbers in enumerate(some):
        lines = np.zeros((len(numbers), len(some)), np.int64)
        lines[:, axis] = numbers
        places.extend(map(tuple, lines))
    return np.unique(np.ravel_multi_index(np.array(places).T, points.shape))


def _some(x: np.ndarray) -> np.ndarray:
    """Places along an axis: of the least value, of the largest, and up to `_MOST` between."""
    flat = x.reshape(len(x), -1)
    ends = [flat.min(1, initial=np.inf).argmin(), flat.max(1, initial=-np.inf).argmax()]
    between = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST)).astype(np.int64))
    return np.concatenate([np.array(ends, np.int64), between])


def _telling(values: list[np.ndarray], dt: float | None) -> list[int]:
    """The rows of values in which a check is most likely to refuse something."""
    columns, rows = [], {0}
    for x in values[:_COLUMNS]:
        flat = x.reshape(len(x), -1)
        if flat.dtype.kind == "c" or (flat == flat[0]).all():
            continue
        flat = flat.astype(np.float64)
        columns += [flat[:, 0]] if flat.shape[1] == 1 else [flat.min(1), flat.max(1)]
        if dt is not None:
            steps = flat / dt
            off = abs(steps - np.rint(steps)).max(1)
            rows |= {int(off.argmax())} if off.max() > _OFF else set()
    for x in columns:
        rows |= {int(np.nanargmin(x)), int(np.nanargmax(x))} if not np.isnan(x).all() else set()
        rows |= {int(np.isnan(x).argmax())}
    if 1 < len(columns) <= _CORNERS:
        rows.update(_corners(columns))
    return sorted(rows)


def _corners(columns: list[np.ndarray]) -> Iterator[int]:
    """The rows nearest to each combination of least and largest values."""
    scaled = [(x - x.min()) / max(float(np.ptp(x)), 1e-300) for x in columns]
    for signs in itertools.product((-1.0, 1.0), repeat=len(scaled)):
        yield int(np.argmax(np.array(signs) @ np.array(scaled)))
