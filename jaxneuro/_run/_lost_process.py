"""The error of a run over several processes when one of them is lost."""

from typing import Any

import jax

from .._network import Network
from ._result import Result


class LostProcessError(RuntimeError):
    """Another process of the run is gone; `result` holds what was recorded until then.

    Its state lies on devices that cannot be reached: a run cannot go on from it.

    **Fields** `result`: the `Result` up to the last chunk that this process has.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def over_processes(net: Network) -> bool:
    """Whether a network lies on devices of several processes."""
    layout: Any = net.layout
    if layout is None:
        return False
    return any(d.process_index != jax.process_index() for d in layout.mesh.devices.flat)
