"""Many devices: one network over a mesh, how its neurons are shared out, and sweeps."""

from .._mesh.partition import AlongAxis as AlongAxis
from .._mesh.partition import Contiguous as Contiguous
from .._mesh.partition import Given as Given
from .._mesh.partition import KMeans as KMeans
from .._mesh.partition import Metis as Metis
from .._mesh.partition import Morton as Morton
from .._mesh.partition import Partition as Partition
from .._mesh.partition import RoundRobin as RoundRobin
from ._connect import connect as connect
from ._shard import PartitionReport as PartitionReport
from ._shard import best_of as best_of
from ._shard import report as report
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
