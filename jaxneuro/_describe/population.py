"""A population: neurons of one model under one name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import spec
from .._fields import check_lengths
from .._model import Neuron
from ..space import Free, Layout
from .values import START_VALUES

_AXES = 8  # of positions in a network file


class LayoutKind(spec.Kind):
    """A layout, or one point for each neuron."""

    def convert(self, value: Any) -> Layout:
        return value if isinstance(value, Layout) else Free(value)

    def read(self, entry: Any) -> Layout:
        is_list = isinstance(entry.value, list)
        layout = entry.make(Free, entry.numbers()) if is_list else entry.instance(Layout)
        if layout.dims > _AXES:
            raise entry.error(f"{entry.label} must have at most {_AXES} axes; got {layout.dims}")
        return layout


class Population(spec.Value):
    """Neurons of one model under one name.

    Raises:
        InvalidValueError: for a wrong name, size or model, an array of another length than n,
            and a layout that cannot place n neurons.
    """

    name: str = spec.field(spec.Name(), doc="its name, by which projections and results know it")
    n: int = spec.field(spec.Whole(), doc="number of neurons")
    model: Neuron = spec.field(
        spec.Of(Neuron), doc="a neuron model, its parameters one number for all or arrays `(n,)`"
    )
    initial: Mapping[str, Any] = spec.field(
        START_VALUES,
        default=spec.KeptMapping(),
        doc='start values of state variables by name (`{"v": Uniform(-60, -50)}`), each a number, '
        "an array `(n,)` or a distribution",
    )
    positions: Any = spec.field(
        spec.Maybe(LayoutKind()),
        default=None,
        kw_only=True,
        doc="positions (um): a layout of `jn.space` (`Grid`, `UniformBox`) or an array `(n, d)`",
    )

    @property
    def label(self) -> str:
        return f"population {self.name!r}"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lengths(self.label, self.model, self.n, self.name)
        for variable, value in self.initial.items():
            self._check_start(variable, value)
        if self.positions is not None:
            self.positions.check(self.label, self.n)

    def _check_start(self, variable: str, value: Any) -> None:
        field, shape = f"initial {variable}", np.shape(value) if np.ndim(value) else ()
        if shape not in ((), (self.n,)):
            must = f"one number or one per neuron, shape ({self.n},)"
            raise spec.InvalidValueError(self.label, field, must, str(shape))
