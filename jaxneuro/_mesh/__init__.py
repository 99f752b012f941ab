"""Networks over the devices of a mesh: partitions of neurons, tables cut by target."""

from .arrays import share_here as share_here
from .lay import check_mesh as check_mesh
from .lay import check_rate as check_rate
from .lay import placed as placed
from .lay import plan as plan
from .lay import with_tables as with_tables
from .partition import AlongAxis as AlongAxis
from .partition import Contiguous as Contiguous
from .partition import Given as Given
from .partition import KMeans as KMeans
from .partition import Metis as Metis
from .partition import Morton as Morton
from .partition import Partition as Partition
from .partition import RoundRobin as RoundRobin
from .partition import owners_of as owners_of
from .tables import LaidTable as LaidTable
from .tables import lay_table as lay_table
from .tables import placements_of as placements_of

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
