"""Runs networks: the pure loop `scan`, and `simulate`, which runs it from the host."""

from ._interrupted import Interrupted as Interrupted
from ._lost_process import LostProcessError as LostProcessError
from ._non_finite import NonFiniteError as NonFiniteError
from ._record import Record as Record
from ._result import Result as Result
from ._scan import Recording as Recording
from ._scan import scan as scan
from ._simulate import simulate as simulate
from ._spikes import SpikeBits as SpikeBits
from ._tables import extra_module as extra_module

__all__ = [
    "Interrupted",
    "LostProcessError",
    "NonFiniteError",
    "Record",
    "Recording",
    "Result",
    "SpikeBits",
    "extra_module",
    "scan",
    "simulate",
]
