"""Where neurons are: layouts, distances, areas, and values that depend on distance."""

from ._area import Area as Area
from ._by_positions import ByPositions as ByPositions
from ._conduction import ConductionDelay as ConductionDelay
from ._distance import Place as Place
from ._distance import common_period as common_period
from ._distance import distance as distance
from ._distance import distance_range as distance_range
from ._distance import placed as placed
from ._free import Free as Free
from ._grid import Grid as Grid
from ._layout import Layout as Layout
from ._morton import morton_codes as morton_codes
from ._profile import Disc as Disc
from ._profile import Exponential as Exponential
from ._profile import Gaussian as Gaussian
from ._profile import Linear as Linear
from ._profile import Profile as Profile
from ._uniform_box import UniformBox as UniformBox
from ._values import ByDistance as ByDistance
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
    "common_period",
    "distance",
    "distance_range",
    "morton_codes",
    "placed",
]
