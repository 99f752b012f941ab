"""A sinusoidal signal."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from .._fields import Parameter, param
from .._numerics import cycles
from ._signal import Signal


class Sinusoid(Signal):
    """Sinusoid: `mean + amplitude sin(2 pi frequency t + phase)`, t the start of the step.

    The phase is computed in whole numbers, so that it is as exact after hours as at the start.

    **Fields** each () or (n,): `mean` and `amplitude` in the unit of the field they are used for;
    `frequency` [Hz] of at least 0; `phase` [rad] at t = 0 (default 0).

    **Step** `at(step, dt)` returns the value, () or (n,).

    **Raises** `ValueError` for a value that is not finite or a negative frequency.

    **Source** as the sinusoidal generators of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.
    """

    mean: Parameter = param()
    amplitude: Parameter = param()
    frequency: Parameter = param(unit="Hz", at_least=0.0)
    phase: Parameter = param(0.0, unit="rad")

    def bounds(self) -> tuple[Any, Any] | None:
        """The lowest and the highest value, or None where they are not known."""
        if is_traced(self.mean) or is_traced(self.amplitude):
            return None
        size = np.abs(self.amplitude)
        return np.asarray(self.mean - size), np.asarray(self.mean + size)

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        turned = cycles(self.frequency, step, dt)
        # Rounding must not give less than mean - amplitude: a rate would be negative.
        wave = jnp.clip(jnp.sin(turned * (2 * np.pi) + self.phase), -1, 1)
        return self.mean + self.amplitude * wave
