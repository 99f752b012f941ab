"""Many devices: one network over a mesh, how its neurons are shared out, and sweeps."""

from .._help import add_hints as _add_hints
from ..mesh import AlongAxis as AlongAxis
from ..mesh import Contiguous as Contiguous
from ..mesh import Given as Given
from ..mesh import KMeans as KMeans
from ..mesh import Metis as Metis
from ..mesh import Morton as Morton
from ..mesh import Partition as Partition
from ..mesh import RoundRobin as RoundRobin
from ._connect import connect as connect
from ._report import PartitionReport as PartitionReport
from ._report import best_of as best_of
from ._report import report as report
from ._shard import shard as shard
from ._sweep import sweep as sweep
from ._sweep_result import SweepResult as SweepResult

__all__ = [
    "AlongAxis",
    "Contiguous",
    "Given",
    "KMeans",
    "Metis",
    "Morton",
    "Partition",
    "PartitionReport",
    "RoundRobin",
    "SweepResult",
    "best_of",
    "connect",
    "report",
    "shard",
    "sweep",
]

_add_hints(__name__)
