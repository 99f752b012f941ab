"""Networks over the devices of a mesh: partitions of neurons, tables cut by target."""

from jaxneuro._mesh.lay import LaidTable as LaidTable
from jaxneuro._mesh.lay import check_mesh as check_mesh
from jaxneuro._mesh.lay import check_rate as check_rate
from jaxneuro._mesh.lay import lay_table as lay_table
from jaxneuro._mesh.lay import placed as placed
from jaxneuro._mesh.lay import placements_of as placements_of
from jaxneuro._mesh.lay import plan as plan
from jaxneuro._mesh.lay import with_tables as with_tables
from jaxneuro._mesh.partition import AlongAxis as AlongAxis
from jaxneuro._mesh.partition import Contiguous as Contiguous
from jaxneuro._mesh.partition import Given as Given
from jaxneuro._mesh.partition import KMeans as KMeans
from jaxneuro._mesh.partition import Metis as Metis
from jaxneuro._mesh.partition import Morton as Morton
from jaxneuro._mesh.partition import Partition as Partition
from jaxneuro._mesh.partition import RoundRobin as RoundRobin
from jaxneuro._mesh.partition import owners_of as owners_of
from jaxneuro._mesh.place import share_here as share_here

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
