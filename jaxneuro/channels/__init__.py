"""Ion channels, of which conductance-based neurons are composed."""

from ._channels import CalciumL as CalciumL
from ._channels import Channel as Channel
from ._channels import Leak as Leak
from ._channels import PotassiumA as PotassiumA
from ._channels import PotassiumM as PotassiumM
from ._channels import SquidPotassium as SquidPotassium
from ._channels import SquidSodium as SquidSodium
from ._channels import relaxing as relaxing

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
