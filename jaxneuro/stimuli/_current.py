"""Current into neurons, constant or a function of time."""

from typing import Any, NamedTuple

import jax

from .._types import Drive, Stimulus
from ._signal_field import check_signals, prepare_signals, signal, value_at


class CurrentState(NamedTuple):
    """Empty: a current that is given beforehand has no state."""


class Current(Stimulus):
    """Current: `current = amplitude(t)`, held over each time step.

    A function of time gets t as float32: from step 2^23 on, neighbouring steps get the same time.
    For longer runs use a signal, which is exact at any step.

    **Fields** `amplitude` [pA] () or (n,), a function of t [ms], or a signal (`Sinusoid`,
    `Steps`, `Ramp`, `Pulses`).

    **Step** returns the amplitude as `drive.current`.

    **Raises** `ValueError` unless the amplitude is finite; from `prepare` for a wrong shape, or a
    signal with times off the grid.

    **Source** Brette et al. (2007), doi:10.1007/s10827-007-0038-6.
    """

    amplitude: Any = signal(unit="pA")

    def __check_init__(self) -> None:
        check_signals(self)

    def init(self, n: int, stream: Any) -> CurrentState:
        return CurrentState()

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Stimulus:
        return prepare_signals(label, self, n, dt, key)

    def step(self, state: CurrentState, step: jax.Array, dt: float) -> tuple[CurrentState, Drive]:
        return state, Drive(current=value_at(self.amplitude, step, dt))
