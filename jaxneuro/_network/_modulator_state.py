"""What changes in a modulator from step to step."""

from typing import NamedTuple

import jax


class ModulatorState(NamedTuple):
    """The state of a modulator.

    **Fields** `level` (1,).
    """

    level: jax.Array
