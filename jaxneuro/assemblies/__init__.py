"""Assemblies of neurons: the assembly calculus as pure functions."""

from . import parser as parser
from ._brain import Brain as Brain
from ._description import Area as Area
from ._description import Fibre as Fibre
from ._description import Stimulus as Stimulus
from ._run import Seen as Seen
from ._run import run as run
from ._state import AreaState as AreaState
from ._state import BrainState as BrainState
from ._state import FibreState as FibreState
