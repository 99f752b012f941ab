"""What changes in a pathway from step to step."""

from typing import Any, NamedTuple

from jaxneuro._network._plastic_state import PlasticState

from .._kernels import Released


class PathwayState(NamedTuple):
    """The state of a pathway.

    **Fields** `release` that of the release model; `released` what it released in the last step,
    None if that is the spikes of the source group; `plastic` that of a rule by which weights
    change, None if they do not.
    """

    release: Any
    released: Released | None
    plastic: PlasticState | None = None
