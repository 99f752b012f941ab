"""Plasticity rules: how weights change."""

from ._activity import BCM as BCM
from ._activity import Hebb as Hebb
from ._activity import Oja as Oja
from ._clopath import ClopathSTDP as ClopathSTDP
from ._homeostatic import HomeostaticScaling as HomeostaticScaling
from ._homeostatic import Normalized as Normalized
from ._pair import PairSTDP as PairSTDP
from ._pair import PowerLawSTDP as PowerLawSTDP
from ._pair import TraceSTDP as TraceSTDP
from ._reward import RewardModulatedSTDP as RewardModulatedSTDP
from ._triplet import DiehlCookSTDP as DiehlCookSTDP
from ._triplet import TripletSTDP as TripletSTDP
from ._vogels import VogelsSTDP as VogelsSTDP

__all__ = [
    "BCM",
    "ClopathSTDP",
    "DiehlCookSTDP",
    "Hebb",
    "HomeostaticScaling",
    "Normalized",
    "Oja",
    "PairSTDP",
    "PowerLawSTDP",
    "RewardModulatedSTDP",
    "TraceSTDP",
    "TripletSTDP",
    "VogelsSTDP",
]
