"""Individual weights and delays of a projection's connections."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import check_bounds, check_size
from .._describe import Neurons, Projection, ResolvedProjection, is_computed, is_individual
from .._kernels import draw_values
from .._numerics import QUANTILES, Distribution, bits, drawn, quantile_table, stream_key
from ..space import SpatialValue
from .._tables import Piece
from ._check_plausible import ComputedWeights
from ._check_signs import check_drawn
from ._delays import ComputedDelays, behind_synapse, delay_steps, round_delays


@dataclasses.dataclass(frozen=True)
class Values:
    """How a projection's weights or delays are made: from one number, an array, or draws.

    Draws are words of (row, position in the row), the first for a weight, the second for a delay.
    `given` has one entry per connection, in the order of drawing, or in that of the user with
    `order`, see `RowDraws`; or it is `(n_pre, n_post)`, where `at` holds the place of each neuron
    of the two populations in it. `function` maps indices.
    """

    label: str
    word: int
    law: Distribution | None = None
    given: np.ndarray | None = None
    at: tuple[np.ndarray, np.ndarray] | None = None
    order: np.ndarray | None = None
    function: Callable | None = None

    @classmethod
    def of(cls, resolved: ResolvedProjection, what: str, order: np.ndarray | None) -> "Values":
        p = resolved.projection
        value, word = getattr(p, what), 0 if what == "weight" else 1
        label = f"{p.label}: {what}"
        if isinstance(value, Distribution):
            return cls(label, word, law=value)
        if isinstance(value, SpatialValue):
            return cls(label, word, function=value.bind(label, *resolved.places))
        if is_computed(value):
            return cls(label, word, function=value)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            given = value if order is not None else resolved.rule.arrange(value)
            return cls(label, word, given=given, order=order)
        given = value if isinstance(value, np.ndarray) else None
        return cls(label, word, given=given, at=(_inverse(resolved.pre), _inverse(resolved.post)))

    def table(self, size: int) -> np.ndarray | None:
        """The table of quantiles; None without a distribution, or for few values."""
        if self.law is None or 2 * size < QUANTILES:
            return None
        return quantile_table(self.law)

    def of_synapses(self, key, row, position, post, order) -> np.ndarray:
        """Float64 values of some synapses, given their row and position in it.

        `order` is the number, in drawing order, of the first connection of the row.
        """
        if self.law is not None:
            return drawn(self.law, bits(key, row, position)[self.word])
        post = post.astype(np.int64)
        if self.function is not None:
            at_least = None if self.word == 0 else 0.0  # a delay
            return _checked(self.label, self._call(row, post), row.size, at_least)
        assert self.given is not None
        if self.at is not None:
            return self.given[self.at[0][row], self.at[1][post]]
        number = order + position
        return self.given[number if self.order is None else self.order[number]]

    def _call(self, pre: np.ndarray, post: np.ndarray) -> Any:
        """The function's values; whatever it raises becomes a `ValueError` that names it."""
        assert self.function is not None
        try:
            return self.function(pre, post)
        except Exception as error:
            if isinstance(error, ValueError) and str(error).startswith(self.label):
                raise
            raise ValueError(
                f"{self.label}: the function raised {type(error).__name__}: {error}. It gets two "
                "arrays, the indices of sources and targets (or their positions), and must return "
                "an array of one number per connection: use NumPy functions, np.where for cases"
            ) from error


def _inverse(neurons: Neurons) -> np.ndarray:
    """The number of each neuron of a population among the chosen ones."""
    if isinstance(neurons, slice):
        return np.arange(neurons.stop) - neurons.start
    out = np.zeros(int(neurons.max(initial=-1)) + 1, np.int64)
    out[neurons] = np.arange(neurons.size)
    return out


def _checked(label: str, values: Any, n: int, at_least: float | None) -> np.ndarray:
    x = np.asarray(values)
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{label}: the function must give real numbers; got {x.dtype}")
    x = x.astype(np.float64)
    if x.shape not in ((), (n,)):
        raise ValueError(
            f"{label}: the function must give one number per connection, shape ({n},) for index "
            f"arrays of that length; got shape {x.shape}"
        )
    check_bounds(label, x, at_least=at_least)
    check_size(label, x)
    return np.broadcast_to(x, (n,))


def calls_a_function(p: Projection) -> bool:
    """Whether weights or delays call a function of the user, which must run in one thread."""
    return any(is_computed(x) and callable(x) for x in (p.weight, p.delay))


class SynapseValues:
    """The individual weights and delays of a projection, as the columns of `dtypes` keep them.

    `dtypes` of weights and of delays, None for what has no column; `counts` (sources,) how
    many connections each source has; `order` see `RowDraws`. Delays are those behind the synapse,
    without the axonal part.
    """

    def __init__(
        self,
        resolved: ResolvedProjection,
        seed: Any,
        dt: float,
        dtypes: tuple[Any, Any],
        counts: np.ndarray,
        order: np.ndarray | None = None,
    ):
        p = self._projection = resolved.projection
        self._target = resolved.target
        self._dt, self._dtypes = dt, dtypes
        self._key = stream_key(seed, p.name, "values")
        own = is_individual(p.weight), is_individual(p.delay)
        kinds = ("weight", "delay")
        self._values = [Values.of(resolved, k, order) if o else None for k, o in zip(kinds, own)]
        size = int(counts.sum(dtype=np.int64))
        self._computed = ComputedDelays(p.name, dt, size)
        self._weights = ComputedWeights(resolved, size)
        tables = [None if v is None else v.table(size) for v in self._values]
        self._tables = (
            None if tables[0] is None else tables[0].astype(dtypes[0]),
            None if tables[1] is None else self._steps(tables[1]),
        )
        self._looked_up = all(v is None or t is not None for v, t in zip(self._values, tables))
        if not self._looked_up:
            counts = counts.astype(np.int64)
            self._order = np.cumsum(counts) - counts

    def of(self, piece: Piece) -> tuple[Any, Any]:
        """Weights and delays [steps] of some connections; None for what is not individual."""
        weights, delays = self._of(piece)
        if weights is None and self._dtypes[0] is not None:  # plastic weights that start equal
            weights = np.full(piece.targets.size, self._projection.weight, self._dtypes[0])
        return weights, delays

    def _of(self, piece: Piece) -> tuple[Any, Any]:
        weights, delays = self._tables
        if weights is not None or delays is not None:
            place = piece.rows, piece.counts, piece.used
            weights, delays = draw_values(self._key, *place, self._tables)
        if self._looked_up:
            return weights, delays
        synapses = self._synapses(piece)
        of_weight, of_delay = self._values
        if of_weight is not None and weights is None:
            numbers = of_weight.of_synapses(*synapses)
            weights = numbers.astype(self._dtypes[0])
            if of_weight.function is not None:
                self._weights.see(numbers)
                check_drawn(self._projection, weights, self._target)
        if of_delay is not None and delays is None:
            computed = of_delay.of_synapses(*synapses)
            spatial = isinstance(self._projection.delay, SpatialValue)  # two neurons at one place
            if of_delay.function is not None and not spatial:
                self._computed.see(computed)
            delays = self._steps(computed)
        return weights, delays

    def _steps(self, delays: np.ndarray) -> np.ndarray:
        given = isinstance(self._projection.delay, np.ndarray)
        steps = (delay_steps if given else round_delays)(self._projection.name, delays, self._dt)
        return behind_synapse(self._projection, steps, self._dt).astype(self._dtypes[1])

    def _synapses(self, piece: Piece) -> tuple:
        """Key, row, position in the row, target and number of its row's first connection."""
        counts = piece.counts.astype(np.int64)
        before = np.cumsum(counts) - counts
        row = np.repeat(piece.rows, counts)
        position = np.arange(row.size) + np.repeat(piece.used - before, counts)
        return self._key, row, position, piece.targets, self._order[row]
