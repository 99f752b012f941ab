"""Ion channels, of which conductance-based neurons are composed."""

from ._calcium import CalciumL as CalciumL
from ._channel import Channel as Channel
from ._channel import relaxing as relaxing
from ._leak import Leak as Leak
from ._potassium import PotassiumA as PotassiumA
from ._potassium import PotassiumM as PotassiumM
from ._squid import SquidPotassium as SquidPotassium
from ._squid import SquidSodium as SquidSodium

__all__ = [
    "CalciumL",
    "Channel",
    "Leak",
    "PotassiumA",
    "PotassiumM",
    "SquidPotassium",
    "SquidSodium",
    "relaxing",
]
