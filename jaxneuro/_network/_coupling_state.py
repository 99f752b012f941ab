"""What changes in a coupling from step to step."""

from typing import Any, NamedTuple

import jax


class CouplingState(NamedTuple):
    """The state of a coupling.

    **Fields** `release` that of its release model; `values` what that released in the last step,
    (n,). Both are None for gap junctions.
    """

    release: Any = None
    values: jax.Array | None = None
