"""Where neurons are: layouts, distances, areas, and values that depend on distance."""

from ._distances import Disc as Disc
from ._distances import Exponential as Exponential
from ._distances import Gaussian as Gaussian
from ._distances import Linear as Linear
from ._distances import Place as Place
from ._distances import Profile as Profile
from ._distances import distance as distance
from ._layouts import Area as Area
from ._layouts import Free as Free
from ._layouts import Grid as Grid
from ._layouts import Layout as Layout
from ._layouts import UniformBox as UniformBox
from ._layouts import morton_codes as morton_codes
from ._values import ByDistance as ByDistance
from ._values import ByPositions as ByPositions
from ._values import ConductionDelay as ConductionDelay
from ._values import SpatialValue as SpatialValue

__all__ = [
    "Area",
    "ByDistance",
    "ByPositions",
    "ConductionDelay",
    "Disc",
    "Exponential",
    "Free",
    "Gaussian",
    "Grid",
    "Layout",
    "Linear",
    "Place",
    "Profile",
    "SpatialValue",
    "UniformBox",
    "distance",
    "morton_codes",
]
