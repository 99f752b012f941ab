"""Individual weights and delays of a projection's connections; delays in whole time steps."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float64, Int64, Integer, Num, UInt32
from numpy.typing import DTypeLike

from .. import spec
from .._arrays import ArrayLike
from .._describe.part import Neurons
from .._describe.projection import Projection
from .._describe.resolve import ResolvedProjection
from .._describe.values import is_computed, is_individual
from .._frozen import no_global_draws
from .._kernels.draw import Key, draw_values
from .._network.members import Seed
from .._numerics.distributions import Distribution
from .._numerics.draws import QUANTILES, drawn, quantile_table
from .._numerics.grid import steps_on_grid
from .._numerics.streams import bits, stream_key
from .._tables.bundles import Piece
from .._text import brief
from ..space import ConductionDelay, SpatialValue
from ..spec import InvalidValueError
from .weights import ComputedWeights, check_drawn_weights


@dataclasses.dataclass(frozen=True)
class Values:
    """How a projection's weights or delays are made: from one number, an array, or draws.

    Draws are words of (row, position in the row), the first for a weight, the second for a delay.

    Attributes:
        label: the projection, for messages.
        what: "weight" or "delay".
        word: which of the two words it is drawn from.
        law: the distribution, if they are drawn.
        given: one entry per connection, in the order of drawing, or in that of the user with
            `order`; or `(n_pre, n_post)`, with `at`.
        at: the place in `given` of each neuron of the two populations.
        order: see `RowDraws`.
        function: of the indices of sources and targets, if they are computed.
    """

    label: str
    what: str
    word: int
    law: Distribution | None = None
    given: Num[np.ndarray, "..."] | None = None
    at: tuple[Int64[np.ndarray, " sources"], Int64[np.ndarray, " targets"]] | None = None
    order: Integer[np.ndarray, " synapses"] | None = None
    function: Callable | None = None

    @classmethod
    def of(
        cls,
        resolved: ResolvedProjection,
        what: str,
        order: Integer[np.ndarray, " synapses"] | None,
    ) -> "Values":
        p = resolved.projection
        value, word = getattr(p, what), 0 if what == "weight" else 1
        label = p.label
        if isinstance(value, Distribution):
            return cls(label, what, word, law=value)
        if isinstance(value, SpatialValue):
            return cls(label, what, word, function=value.bind(f"{label}: {what}", *resolved.places))
        if is_computed(value):
            return cls(label, what, word, function=value)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            given = value if order is not None else resolved.rule.arrange(value)
            return cls(label, what, word, given=given, order=order)
        given = value if isinstance(value, np.ndarray) else None
        at = _inverse(resolved.pre), _inverse(resolved.post)
        return cls(label, what, word, given=given, at=at)

    def table(self, size: int) -> Float64[np.ndarray, " quantiles"] | None:
        """The table of quantiles; None without a distribution, or for few values."""
        if self.law is None or 2 * size < QUANTILES:
            return None
        return quantile_table(self.law)

    def of_synapses(
        self,
        key: Key,
        row: Integer[np.ndarray, " synapses"],
        position: Int64[np.ndarray, " synapses"],
        post: Integer[np.ndarray, " synapses"],
        order: Int64[np.ndarray, " synapses"],
    ) -> Float64[np.ndarray, " synapses"]:
        """Float64 values of some synapses, given their row and position in it.

        `order` is the number, in drawing order, of the first connection of the row.
        """
        if self.law is not None:
            return drawn(self.law, bits(key, row, position)[self.word])
        post = post.astype(np.int64)
        if self.function is not None:
            return self._checked(self._call(row, post), row.size)
        assert self.given is not None
        if self.at is not None:
            return self.given[self.at[0][row], self.at[1][post]]
        number = order + position
        return self.given[number if self.order is None else self.order[number]]

    def _call(
        self, pre: Integer[np.ndarray, " synapses"], post: Int64[np.ndarray, " synapses"]
    ) -> Any:
        """The function's values; whatever it raises becomes an error that names it."""
        assert self.function is not None
        try:
            with no_global_draws(self.label, self.what, _DRAWN):
                return self.function(pre, post)
        except Exception as error:
            if isinstance(error, InvalidValueError) and error.owner.startswith(self.label):
                raise
            must = (
                "a function of two arrays, the indices of sources and targets (or their "
                "positions), that returns one number per connection: use NumPy, np.where for cases"
            )
            got = f"{type(error).__name__}: {error}"
            raise InvalidValueError(self.label, self.what, must, got) from error

    def _checked(self, values: Any, n: int) -> Float64[np.ndarray, " {n}"]:
        """What the function gave for n connections, held to its kind."""
        try:
            x = _COMPUTED[self.what].convert(values)
            if x.shape not in ((), (n,)):
                raise spec.Unfit("one number per connection", f"shape {x.shape} for {n}")
        except spec.Unfit as error:
            must = f"{error.must} (what its function gives)"
            got = brief(values) if error.got is None else error.got
            raise InvalidValueError(self.label, self.what, must, got, error.hint) from None
        return np.broadcast_to(x, (n,))


_DRAWN = "; a distribution, such as jn.Normal(1.0, 0.1), is drawn by the key of build"

# What a function may give; delays in seconds are found when all of them are known.
_COMPUTED = {"weight": spec.Numbers(), "delay": spec.Numbers("ms", at_least=0.0)}


def _inverse(neurons: Neurons) -> Int64[np.ndarray, " neurons"]:
    """The number of each neuron of a population among the chosen ones."""
    if isinstance(neurons, slice):
        return np.arange(neurons.stop) - neurons.start
    out = np.zeros(int(neurons.max(initial=-1)) + 1, np.int64)
    out[neurons] = np.arange(neurons.size)
    return out


def calls_a_function(p: Projection) -> bool:
    """Whether weights or delays call a function of the user, which must run in one thread."""
    return any(is_computed(x) and callable(x) for x in (p.weight, p.delay))


# One value per connection, None where all have one.
_Columns: TypeAlias = tuple[
    Num[np.ndarray, " synapses"] | None, Integer[np.ndarray, " synapses"] | None
]


class SynapseValues:
    """The individual weights and delays of a projection, as the columns of `dtypes` keep them.

    `dtypes` of weights and of delays, None for what has no column; `counts` (sources,) how
    many connections each source has; `order` see `RowDraws`. Delays are those behind the synapse,
    without the axonal part.
    """

    def __init__(
        self,
        resolved: ResolvedProjection,
        seed: Seed,
        dt: float,
        dtypes: tuple[DTypeLike | None, DTypeLike | None],
        counts: UInt32[np.ndarray, " sources"],
        order: Integer[np.ndarray, " synapses"] | None = None,
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

    def of(self, piece: Piece) -> _Columns:
        """Weights and delays [steps] of some connections; None for what is not individual."""
        weights, delays = self._of(piece)
        if weights is None and self._dtypes[0] is not None:  # plastic weights that start equal
            weights = np.full(piece.targets.size, self._projection.weight, self._dtypes[0])
        return weights, delays

    def _of(self, piece: Piece) -> _Columns:
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
                check_drawn_weights(self._projection, weights, self._target)
        if of_delay is not None and delays is None:
            computed = of_delay.of_synapses(*synapses)
            spatial = isinstance(self._projection.delay, SpatialValue)  # two neurons at one place
            if of_delay.function is not None and not spatial:
                self._computed.see(computed)
            delays = self._steps(computed)
        return weights, delays

    def _steps(self, delays: Float64[np.ndarray, " n"]) -> Integer[np.ndarray, " n"]:
        given = isinstance(self._projection.delay, np.ndarray)
        steps = (delay_steps if given else round_delays)(self._projection.name, delays, self._dt)
        return behind_synapse(self._projection, steps, self._dt).astype(self._dtypes[1])

    def _synapses(
        self, piece: Piece
    ) -> tuple[
        Key,
        Integer[np.ndarray, " synapses"],
        Int64[np.ndarray, " synapses"],
        Integer[np.ndarray, " synapses"],
        Int64[np.ndarray, " synapses"],
    ]:
        """Key, row, position in the row, target and number of its row's first connection."""
        counts = piece.counts.astype(np.int64)
        before = np.cumsum(counts) - counts
        row = np.repeat(piece.rows, counts)
        position = np.arange(row.size) + np.repeat(piece.used - before, counts)
        return self._key, row, position, piece.targets, self._order[row]


_LONGEST = 65_535  # steps: a delay has 16 bits
_BOUND = "bound the distribution (high=...)"
_SPEED = "the speed of a ConductionDelay is in um/ms: 0.3 m/s is 300 um/ms"


def delay_steps(name: str, delay: ArrayLike, dt: float) -> Int64[Any, "..."]:
    """Delays [ms] that the user gave, in whole steps of at least one."""
    steps = steps_on_grid(f"projection {name!r}: delay", delay, dt, at_least=1)
    _check_longest(name, steps.max(initial=0), dt, "delays are in ms")
    return steps


def round_delays(
    name: str, drawn: Float64[np.ndarray, "*n"], dt: float, hint: str = _BOUND
) -> Float64[Any, "*n"]:
    """Drawn or computed delays [ms], rounded to the grid and at least one step.

    `hint` says what to do about delays that are too long.
    """
    steps = np.maximum(np.rint(drawn / dt), 1)
    _check_longest(name, steps.max(initial=0), dt, hint)
    return steps


def axonal_steps(p: Projection, dt: float) -> int:
    """The axonal delay of a projection in steps; 0 where no rule of plasticity sees it."""
    steps = int(steps_on_grid(f"projection {p.name!r}: axonal", p.axonal, dt))
    return 0 if p.plasticity is None else steps


def behind_synapse(p: Projection, steps: Num[Any, "*n"], dt: float) -> Num[Any, "*n"]:
    """What is left of delays, in steps, after the axonal part.

    Raises:
        InvalidValueError: where that is less than one step.
    """
    rest = steps - axonal_steps(p, dt)
    if np.size(rest) and np.min(rest) < 1:
        must = f"shorter than every delay by at least one time step ({dt:g} ms)"
        got = f"{p.axonal:g} ms and a delay of {np.min(steps) * dt:g} ms"
        raise InvalidValueError(p.label, "axonal", must, got)
    return rest


def check_axonal(p: Projection, dt: float) -> None:
    """Raises `InvalidValueError` for an axonal delay off the grid, or too long."""
    if isinstance(p.delay, Distribution):
        least = drawn(p.delay, np.array([0], np.uint32))
        behind_synapse(p, round_delays(p.name, least, dt), dt)
    elif isinstance(p.delay, float | np.ndarray):
        behind_synapse(p, delay_steps(p.name, p.delay, dt), dt)


def _check_longest(name: str, steps: float, dt: float, hint: str = _BOUND) -> None:
    if not steps <= _LONGEST:
        must, owner = f"at most {_LONGEST} steps, {_LONGEST * dt:g} ms", f"projection {name!r}"
        raise InvalidValueError(owner, "delay", must, f"{steps * dt:g} ms", f"; {hint}")


def longest_delay(resolved: ResolvedProjection, dt: float) -> int | None:
    """The longest delay in steps that a projection can have; None if it is not known."""
    p = resolved.projection
    if isinstance(p.delay, SpatialValue):
        pre, post = resolved.places
        p.delay.bind(f"projection {p.name!r}: delay", pre, post)  # raises without positions
        longest = p.delay.longest(pre, post) if pre and post else 0.0
        if not np.isfinite(longest):
            return None
        hint = _SPEED if isinstance(p.delay, ConductionDelay) else "delays are in ms"
        return int(round_delays(p.name, np.array(longest), dt, hint))
    if is_computed(p.delay) and not isinstance(p.delay, Distribution):
        return None
    if not isinstance(p.delay, Distribution):
        return int(delay_steps(p.name, p.delay, dt).max(initial=1))
    extremes = drawn(p.delay, np.array([0, 2**32 - 1], np.uint32))
    _check_drawn_delays(p, extremes, dt)
    return int(round_delays(p.name, extremes, dt).max())


def _check_drawn_delays(p: Projection, extremes: Float64[np.ndarray, "2"], dt: float) -> None:
    """Raises `InvalidValueError` for a distribution with delays of less than half a step."""
    low, high = extremes.min(), extremes.max()
    if high < 0.5 * dt:
        got = f"a distribution from {low:g} to {high:g} ms; delays are in ms, not in s"
        raise InvalidValueError(p.label, "delay", f"at least one time step ({dt:g} ms)", got)
    if low < 0.5 * dt * (1 - 1e-6):
        got = f"a distribution that reaches down to {low:g} ms"
        hint = f"; bound it, low={dt:g} (or low={0.5 * dt:g}, which is rounded to one step)"
        must = f"at least one time step ({dt:g} ms)"
        raise InvalidValueError(p.label, "delay", must, got, hint)


class ComputedDelays:
    """Looks at the delays of a projection that a function computes, some at a time."""

    def __init__(self, name: str, dt: float, size: int):
        self._name, self._dt, self._left, self._longest = name, dt, size, 0.0

    def see(self, delays: Float64[np.ndarray, " synapses"]) -> None:
        """Raises `InvalidValueError` after the last ones if all are below half a time step."""
        self._left -= delays.size
        self._longest = max(self._longest, float(delays.max(initial=0.0)))
        if self._left <= 0 and self._longest < 0.5 * self._dt:
            must = f"at least one time step ({self._dt:g} ms)"
            got = f"a function that gives at most {self._longest:g} ms; delays are in ms, not in s"
            raise InvalidValueError(f"projection {self._name!r}", "delay", must, got)
