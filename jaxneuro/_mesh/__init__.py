"""Networks over the devices of a mesh: partitions of neurons, tables cut by target."""

from ._lay import check_mesh as check_mesh
from ._lay import check_rate as check_rate
from ._lay import placed as placed
from ._lay import plan as plan
from ._lay import with_tables as with_tables
from ._metis import Metis as Metis
from ._partition import AlongAxis as AlongAxis
from ._partition import Contiguous as Contiguous
from ._partition import Given as Given
from ._partition import KMeans as KMeans
from ._partition import Morton as Morton
from ._partition import Partition as Partition
from ._partition import RoundRobin as RoundRobin
from ._partition import owners_of as owners_of
from ._place import share_here as share_here
from ._tables import LaidTable as LaidTable
from ._tables import lay_table as lay_table
from ._tables import placements_of as placements_of

__all__ = [
    "AlongAxis",
    "Contiguous",
    "Given",
    "KMeans",
    "LaidTable",
    "Metis",
    "Morton",
    "Partition",
    "RoundRobin",
    "check_mesh",
    "check_rate",
    "lay_table",
    "owners_of",
    "placed",
    "placements_of",
    "plan",
    "share_here",
    "with_tables",
]
