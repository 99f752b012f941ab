"""Plasticity rules: how weights change, one file each."""

from ._bcm import BCM as BCM
from ._clopath import ClopathSTDP as ClopathSTDP
from ._diehl_cook import DiehlCookSTDP as DiehlCookSTDP
from ._hebb import Hebb as Hebb
from ._normalized import Normalized as Normalized
from ._oja import Oja as Oja
from ._pair import PairSTDP as PairSTDP
from ._power_law import PowerLawSTDP as PowerLawSTDP
from ._reward import RewardModulatedSTDP as RewardModulatedSTDP
from ._scaling import HomeostaticScaling as HomeostaticScaling
from ._trace import TraceSTDP as TraceSTDP
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
