"""Constant current into every neuron of a population."""

from typing import NamedTuple

import jax

from .._fields import Parameter, param
from .._types import Drive, Stimulus


class ConstantCurrentState(NamedTuple):
    """Nothing: a constant current has no state.

    **Source** see `ConstantCurrent`.
    """


class ConstantCurrent(Stimulus):
    """Constant current: `current = amplitude` in every step.

    **Fields** `amplitude` [pA] () or (n,).

    **Step** returns the amplitude as `drive.current`.

    **Raises** `ValueError` unless the amplitude is finite.

    **Source** Brette et al. (2007), doi:10.1007/s10827-007-0038-6.
    """

    amplitude: Parameter = param(unit="pA")

    def init(self, n: int) -> ConstantCurrentState:
        return ConstantCurrentState()

    def step(
        self, state: ConstantCurrentState, step: jax.Array, dt: float
    ) -> tuple[ConstantCurrentState, Drive]:
        return state, Drive(current=self.amplitude)
