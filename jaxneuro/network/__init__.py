"""The network that runs: groups, pathways, their states, and the step of a network."""

from ._connections import Connections as Connections
from ._fixed_point import FixedPoint as FixedPoint
from ._fixed_point import find_quanta as find_quanta
from ._group import Group as Group
from ._group import Initial as Initial
from ._group import PopulationSpan as PopulationSpan
from ._group import initial_state as initial_state
from ._group_state import GroupState as GroupState
from ._learning import check_within as check_within
from ._members import first_member as first_member
from ._named import Holder as Holder
from ._named import holders_at as holders_at
from ._named import variable_holder as variable_holder
from ._network import Network as Network
from ._network_state import NetworkState as NetworkState
from ._network_state import Output as Output
from ._pathway import Pathway as Pathway
from ._pathway import ProjectionSpan as ProjectionSpan
from ._pathway_state import PathwayState as PathwayState
from ._plastic import Plastic as Plastic
from ._plastic_state import PlasticState as PlasticState
from ._spread_group import SpreadGroup as SpreadGroup
from ._spread_network import SpreadNetwork as SpreadNetwork
from ._stimuli import StimulusGroup as StimulusGroup
from ._stimuli import Target as Target
from ._stimuli import Window as Window
