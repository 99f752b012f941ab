"""The number of a time step, as two numbers that a loop has anyway."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Int32

from .._arrays import AnyArray


class Clock(NamedTuple):
    """A step: `first + since`, which a GPU would compute in a launch of its own in every step.

    Attributes:
        first: int32 () the step in which a loop began, with the axes of a batch.
        since: int32 () those that it has made since, likewise.
    """

    first: Int32[AnyArray, "..."]
    since: Int32[AnyArray, "..."]

    @classmethod
    def of(cls, step: "Step") -> "Clock":
        """A step as a clock."""
        return step if isinstance(step, Clock) else cls(jnp.asarray(step, jnp.int32), jnp.int32(0))

    @property
    def now(self) -> Int32[Array, "..."]:
        """The step as one number."""
        return jnp.asarray(self.first + self.since)


Step = Clock | Int[AnyArray | np.generic, "..."]
