"""Many devices: one network over a mesh, how its neurons are shared out, and sweeps."""

from ._metis import Metis as Metis
from ._partition import AlongAxis as AlongAxis
from ._partition import Contiguous as Contiguous
from ._partition import Given as Given
from ._partition import KMeans as KMeans
from ._partition import Morton as Morton
from ._partition import Partition as Partition
from ._partition import RoundRobin as RoundRobin
from ._report import PartitionReport as PartitionReport
from ._report import best_of as best_of
from ._report import report as report
from ._shard import shard as shard
from ._sweep import sweep as sweep
from ._sweep_result import SweepResult as SweepResult
