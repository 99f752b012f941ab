"""Neurons at random positions in a box."""

from typing import Any

import equinox as eqx
import numpy as np

from .._numerics import bits
from ._axes import axes_of, check_far, flag_per_axis, per_axis, periods
from ._layout import Layout


class UniformBox(Layout):
    """Independent positions, uniform in the box `low <= x < high`.

    Index of a draw: the neuron; counter: the axis. 53 random bits make each coordinate.

    **Fields** `low`, `high` [um] corners, one number per axis (two single numbers make one
    axis); `periodic` whether an axis repeats after `high - low`: one value,
    or one per axis.

    **Raises** `ValueError` unless low is below high on every axis, both within 1e15 um.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    low: tuple[float, ...] = eqx.field(static=True)
    high: tuple[float, ...] = eqx.field(static=True)
    periodic: tuple[bool, ...] = eqx.field(static=True)

    def __init__(self, low: Any, high: Any, periodic: Any = False):
        dims = axes_of(low, high, periodic)
        self.low = per_axis("UniformBox: low", low, dims)
        self.high = per_axis("UniformBox: high", high, dims)
        check_far("UniformBox: low", self.low)
        check_far("UniformBox: high", self.high)
        self.periodic = flag_per_axis("UniformBox: periodic", periodic, dims)
        if not dims or any(a >= b for a, b in zip(self.low, self.high)):
            raise ValueError(
                f"UniformBox: low must be below high on every axis; got {low!r} and {high!r}"
            )

    @property
    def dims(self) -> int:
        """The number of axes."""
        return len(self.low)

    @property
    def period(self) -> np.ndarray | None:
        """`high - low` of the periodic axes, inf for open ones; None where all are open."""
        return periods(tuple(b - a for a, b in zip(self.low, self.high)), self.periodic)

    def check(self, label: str, n: int) -> None:
        """Any number of neurons fits."""

    def draw(self, key: Any, n: int) -> np.ndarray:
        first, second = bits(key, np.arange(n)[:, None], np.arange(self.dims)[None, :])
        u = (first * 2.0**21 + (second >> np.uint32(11))) * 2.0**-53
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.minimum(low + (high - low) * u, np.nextafter(high, low))
