"""A convolution between two grids of neurons, as connections that share the weights of a kernel."""

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Array, Bool, Int64, Integer, Num

from .. import spec
from .._arrays import ArrayLike
from ._rule import Chunk, RowDraws, Rule, ranges, row_draws


@dataclasses.dataclass(frozen=True)
class _Pair(spec.Kind):
    """Two whole numbers; kept as a tuple.

    Attributes:
        at_least: the lowest number.
        single: whether one number stands for both.
    """

    at_least: int = 1
    single: bool = False

    def convert(self, value: Any) -> tuple[int, int]:
        whole = spec.Whole(self.at_least)
        if self.single and not np.iterable(value):
            value = (whole.convert(value), value)
        pair = spec.Items(whole).convert(value) if np.iterable(value) else ()
        if len(pair) != 2:
            raise spec.Unfit("one whole number, or two" if self.single else "two whole numbers")
        return pair[0], pair[1]

    def words(self) -> str:
        return f"whole numbers of at least {self.at_least}"


class Convolution(Rule):
    """A convolution: each target connects to the sources under its window of a grid.

    Sources lie on a grid of `shape` with `channels[0]` neurons at each position, targets on a grid
    of `target_shape` with `channels[1]`. Neuron (row * columns + column) * channels + channel is at
    (row, column, channel). Target (r, c, o) has a connection from each source (r * stride - padding
    + dr, c * stride - padding + dc, i) that exists, with element (dr, dc, i, o) of the kernel, as
    in `jax.lax.conv_general_dilated` with the dimension numbers ("NHWC", "HWIO", "NHWC"). `kernel`,
    `stride` and `padding` are one number for rows and columns, or one for each.

        rule = jn.connectivity.Convolution((28, 28), kernel=3, channels=(1, 8))
        link = jn.Projection("in", "hid", rule, weight=rule.weights(kernel), ...)

    Reference:
        LeCun et al. (1998), Gradient-based learning applied to document recognition,
        doi:10.1109/5.726791.
    """

    pairs: ClassVar[str | None] = None

    shape: tuple[int, int] = spec.field(
        _Pair(), static=True, doc="rows and columns of the grid of sources"
    )
    kernel: tuple[int, int] = spec.field(
        _Pair(single=True), static=True, doc="rows and columns of the kernel"
    )
    stride: tuple[int, int] = spec.field(
        _Pair(single=True),
        default=1,
        static=True,
        doc="rows and columns of sources from one target to the next",
    )
    padding: tuple[int, int] = spec.field(
        _Pair(at_least=0, single=True),
        default=0,
        static=True,
        doc="rows and columns without neurons on each side of the sources",
    )
    channels: tuple[int, int] = spec.field(
        _Pair(), default=(1, 1), static=True, doc="neurons at each position of sources and targets"
    )
    rules = (
        spec.Rule(
            "kernel",
            "at most as large as shape {shape} with padding {padding} on both sides",
            lambda kernel, shape, padding: np.less_equal(
                kernel, np.add(shape, np.multiply(2, padding))
            ).all(),
        ),
    )

    @property
    def target_shape(self) -> tuple[int, int]:
        """Rows and columns of the grid of targets."""
        rows, columns = (
            (n + 2 * p - k) // s + 1
            for n, k, s, p in zip(self.shape, self.kernel, self.stride, self.padding)
        )
        return rows, columns

    @property
    def sources(self) -> int:
        """The number of sources."""
        return self.shape[0] * self.shape[1] * self.channels[0]

    @property
    def targets(self) -> int:
        """The number of targets."""
        return self.target_shape[0] * self.target_shape[1] * self.channels[1]

    @property
    def element(self) -> Int64[np.ndarray, " synapses"]:
        """The flat number of the kernel element of each connection, by source, then target."""
        return np.concatenate([self._row_elements(*rows) for rows in self._ranges()])

    def weights(self, kernel: ArrayLike) -> Num[Array | np.ndarray, " synapses"]:
        """Return the weight of each connection, in the order of `element`.

        Args:
            kernel: (rows, columns, channels of a source, channels of a target), in the units of the
                projection's weight.

        Raises:
            InvalidValueError: for a kernel of another shape.
        """
        shape = (*self.kernel, *self.channels)
        values = kernel if isinstance(kernel, jax.Array) else np.asarray(kernel)
        if values.shape != shape:
            must, got = f"of shape {shape}", f"shape {values.shape}"
            raise spec.InvalidValueError("Convolution.weights", "kernel", must, got)
        return values.reshape(-1)[self.element]

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if (n_pre, n_post) != (self.sources, self.targets):
            must = f"between {self.sources} sources and {self.targets} targets for {self!r}"
            raise spec.InvalidValueError(name, "rule", must, f"{n_pre} and {n_post}")

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self._counts().sum())

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        return RowDraws(self._counts(), self._row_targets)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))

    def arrange(self, values: Num[np.ndarray, " synapses"]) -> Num[np.ndarray, " synapses"]:
        return values

    def _counts(self) -> Int64[np.ndarray, " sources"]:
        """The number of targets of each source."""
        rows, columns = (
            (self._along(axis, np.arange(self.shape[axis])) >= 0).sum(1) for axis in (0, 1)
        )
        return np.repeat(np.outer(rows, columns).ravel() * self.channels[1], self.channels[0])

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Ranges of sources with a bounded number of connections each."""
        return ((first, stop) for first, stop, _, _ in ranges(self._counts()))

    def _along(
        self, axis: int, at: Integer[np.ndarray, " sources"]
    ) -> Int64[np.ndarray, "sources elements"]:
        """The targets of sources along one axis by element of the kernel; -1 for no target.

        The last element comes first, so that targets ascend.
        """
        elements = np.arange(self.kernel[axis])[::-1]
        target, rest = np.divmod(at[:, None] + self.padding[axis] - elements, self.stride[axis])
        inside = (rest == 0) & (target >= 0) & (target < self.target_shape[axis])
        return np.where(inside, target, -1)

    def _windows(
        self, first: int, stop: int
    ) -> tuple[
        Int64[np.ndarray, "sources elements"],
        Int64[np.ndarray, "sources elements"],
        Bool[np.ndarray, "sources elements elements"],
    ]:
        """Target rows and columns of some sources by kernel element, and where both exist."""
        row, column = np.divmod(np.arange(first, stop) // self.channels[0], self.shape[1])
        rows, columns = self._along(0, row), self._along(1, column)
        return rows, columns, (rows[:, :, None] >= 0) & (columns[:, None, :] >= 0)

    def _row_targets(self, first: int, stop: int) -> Int64[np.ndarray, " synapses"]:
        rows, columns, exists = self._windows(first, stop)
        position = (rows[:, :, None] * self.target_shape[1] + columns[:, None, :])[exists]
        return self._with_channels(position)

    def _row_elements(self, first: int, stop: int) -> Int64[np.ndarray, " synapses"]:
        exists = self._windows(first, stop)[2]
        element = np.arange(self.kernel[0] * self.kernel[1])[::-1].reshape(self.kernel)
        channel = np.arange(first, stop) % self.channels[0]
        inputs = element * self.channels[0] + channel[:, None, None]
        return self._with_channels(inputs[exists])

    def _with_channels(
        self, numbers: Int64[np.ndarray, " positions"]
    ) -> Int64[np.ndarray, " synapses"]:
        """The numbers of all target channels of positions or of inputs."""
        return (numbers[:, None] * self.channels[1] + np.arange(self.channels[1])).ravel()
