"""What changes in a pathway from step to step."""

from typing import Any, NamedTuple

from ..kernels import Released


class PathwayState(NamedTuple):
    """The state of a pathway.

    **Fields** `release` that of the release model; `released` what it released in the last step,
    None if that is the spikes of the source group.
    """

    release: Any
    released: Released | None
