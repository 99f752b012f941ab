"""The network that runs: groups, pathways, their states, and the step of a network."""

from ._by_name import ByName as ByName
from ._by_name import NoSuchNameError as NoSuchNameError
from ._by_name import register_dictionary as register_dictionary
from ._connections import Connections as Connections
from ._coupling import CouplingLayer as CouplingLayer
from ._coupling import CouplingSpan as CouplingSpan
from ._coupling import Side as Side
from ._coupling_state import CouplingState as CouplingState
from ._extremes import check_extremes as check_extremes
from ._fed import arriving as arriving
from ._fed import unfed as unfed
from ._fixed_point import FixedPoint as FixedPoint
from ._fixed_point import find_quanta as find_quanta
from ._group import Group as Group
from ._group import PopulationSpan as PopulationSpan
from ._group import initial_state as initial_state
from ._group_state import GroupState as GroupState
from ._html import remember_names as remember_names
from ._initial import Initial as Initial
from ._lay_network import whole_populations as whole_populations
from ._layout import Layout as Layout
from ._layout import Seats as Seats
from ._layout import seats as seats
from ._learning import check_within as check_within
from ._learning import plastic_pathway as plastic_pathway
from ._members import as_floating as as_floating
from ._members import first_member as first_member
from ._members import member as member
from ._modulator import Kinetics as Kinetics
from ._modulator import ModulatorLayer as ModulatorLayer
from ._modulator import ModulatorSpan as ModulatorSpan
from ._modulator import Reach as Reach
from ._modulator_state import ModulatorState as ModulatorState
from ._named import Holder as Holder
from ._named import Named as Named
from ._named import Shared as Shared
from ._named import holders_at as holders_at
from ._named import inside as inside
from ._named import named as named
from ._named import projection as projection
from ._named import variable_holder as variable_holder
from ._network import Network as Network
from ._network_state import NetworkState as NetworkState
from ._network_state import Output as Output
from ._pathway import Pathway as Pathway
from ._pathway import ProjectionSpan as ProjectionSpan
from ._pathway import release_state as release_state
from ._pathway_state import PathwayState as PathwayState
from ._plastic import Plastic as Plastic
from ._plastic_state import PlasticState as PlasticState
from ._read import shared_by as shared_by
from ._read import value_of as value_of
from ._read import warn_of_sum as warn_of_sum
from ._rewire import rewire as rewire
from ._ring import count_fed as count_fed
from ._ring import input_rows as input_rows
from ._saved_state import SavedState as SavedState
from ._saved_state import state_of as state_of
from ._sharded_network import ShardedNetwork as ShardedNetwork
from ._signs import check_rule_sign as check_rule_sign
from ._signs import sign_of as sign_of
from ._spike_lists import list_length as list_length
from ._spread_group import SpreadGroup as SpreadGroup
from ._spread_network import SpreadNetwork as SpreadNetwork
from ._stable_coupling import check_gap_junctions as check_gap_junctions
from ._stable_coupling import largest_conductance as largest_conductance
from ._start import Start as Start
from ._state_bounds import check_state_value as check_state_value
from ._steps_together import steps_together as steps_together
from ._stimuli import StimulusGroup as StimulusGroup
from ._stimuli import Target as Target
from ._stimuli import Window as Window

__all__ = [
    "ByName",
    "Connections",
    "CouplingLayer",
    "CouplingSpan",
    "CouplingState",
    "FixedPoint",
    "Group",
    "GroupState",
    "Holder",
    "Initial",
    "Kinetics",
    "Layout",
    "ModulatorLayer",
    "ModulatorSpan",
    "ModulatorState",
    "Named",
    "Network",
    "NetworkState",
    "NoSuchNameError",
    "Output",
    "Pathway",
    "PathwayState",
    "Plastic",
    "PlasticState",
    "PopulationSpan",
    "ProjectionSpan",
    "Reach",
    "SavedState",
    "Seats",
    "ShardedNetwork",
    "Shared",
    "Side",
    "SpreadGroup",
    "SpreadNetwork",
    "Start",
    "StimulusGroup",
    "Target",
    "Window",
    "arriving",
    "as_floating",
    "check_extremes",
    "check_gap_junctions",
    "check_rule_sign",
    "check_state_value",
    "check_within",
    "count_fed",
    "find_quanta",
    "first_member",
    "holders_at",
    "initial_state",
    "input_rows",
    "inside",
    "largest_conductance",
    "list_length",
    "member",
    "named",
    "plastic_pathway",
    "projection",
    "register_dictionary",
    "release_state",
    "remember_names",
    "rewire",
    "seats",
    "shared_by",
    "sign_of",
    "state_of",
    "steps_together",
    "unfed",
    "value_of",
    "variable_holder",
    "warn_of_sum",
    "whole_populations",
]
