"""The network that runs: groups, pathways, their states, and the step of a network."""

from jaxneuro._network._by_name import ByName as ByName
from jaxneuro._network._by_name import NoSuchNameError as NoSuchNameError
from jaxneuro._network._by_name import register_dictionary as register_dictionary
from jaxneuro._network._connections import Connections as Connections
from jaxneuro._network._coupling import CouplingLayer as CouplingLayer
from jaxneuro._network._coupling import CouplingSpan as CouplingSpan
from jaxneuro._network._coupling import Side as Side
from jaxneuro._network._coupling_state import CouplingState as CouplingState
from jaxneuro._network._extremes import check_extremes as check_extremes
from jaxneuro._network._fed import arriving as arriving
from jaxneuro._network._fed import unfed as unfed
from jaxneuro._network._fixed_point import FixedPoint as FixedPoint
from jaxneuro._network._fixed_point import find_quanta as find_quanta
from jaxneuro._network._group import Group as Group
from jaxneuro._network._group import PopulationSpan as PopulationSpan
from jaxneuro._network._group import initial_state as initial_state
from jaxneuro._network._group_state import GroupState as GroupState
from jaxneuro._network._html import remember_names as remember_names
from jaxneuro._network._initial import Initial as Initial
from jaxneuro._network._lay_network import whole_populations as whole_populations
from jaxneuro._network._layout import Layout as Layout
from jaxneuro._network._layout import Seats as Seats
from jaxneuro._network._layout import seats as seats
from jaxneuro._network._learning import check_within as check_within
from jaxneuro._network._learning import plastic_pathway as plastic_pathway
from jaxneuro._network._members import as_floating as as_floating
from jaxneuro._network._members import first_member as first_member
from jaxneuro._network._members import member as member
from jaxneuro._network._modulator import Kinetics as Kinetics
from jaxneuro._network._modulator import ModulatorLayer as ModulatorLayer
from jaxneuro._network._modulator import ModulatorSpan as ModulatorSpan
from jaxneuro._network._modulator import Reach as Reach
from jaxneuro._network._modulator_state import ModulatorState as ModulatorState
from jaxneuro._network._named import Holder as Holder
from jaxneuro._network._named import Named as Named
from jaxneuro._network._named import Shared as Shared
from jaxneuro._network._named import holders_at as holders_at
from jaxneuro._network._named import inside as inside
from jaxneuro._network._named import named as named
from jaxneuro._network._named import projection as projection
from jaxneuro._network._named import variable_holder as variable_holder
from jaxneuro._network._network import Network as Network
from jaxneuro._network._network_state import NetworkState as NetworkState
from jaxneuro._network._network_state import Output as Output
from jaxneuro._network._pathway import Pathway as Pathway
from jaxneuro._network._pathway import ProjectionSpan as ProjectionSpan
from jaxneuro._network._pathway import release_state as release_state
from jaxneuro._network._pathway_state import PathwayState as PathwayState
from jaxneuro._network._plastic import Plastic as Plastic
from jaxneuro._network._plastic_state import PlasticState as PlasticState
from jaxneuro._network._read import shared_by as shared_by
from jaxneuro._network._read import value_of as value_of
from jaxneuro._network._read import warn_of_sum as warn_of_sum
from jaxneuro._network._rewire import rewire as rewire
from jaxneuro._network._ring import count_fed as count_fed
from jaxneuro._network._ring import input_rows as input_rows
from jaxneuro._network._saved_state import SavedState as SavedState
from jaxneuro._network._saved_state import state_of as state_of
from jaxneuro._network._sharded_network import ShardedNetwork as ShardedNetwork
from jaxneuro._network._signs import check_rule_sign as check_rule_sign
from jaxneuro._network._signs import sign_of as sign_of
from jaxneuro._network._spike_lists import list_length as list_length
from jaxneuro._network._spread_group import SpreadGroup as SpreadGroup
from jaxneuro._network._spread_network import SpreadNetwork as SpreadNetwork
from jaxneuro._network._stable_coupling import check_gap_junctions as check_gap_junctions
from jaxneuro._network._stable_coupling import largest_conductance as largest_conductance
from jaxneuro._network._start import Start as Start
from jaxneuro._network._state_bounds import check_state_value as check_state_value
from jaxneuro._network._steps_together import steps_together as steps_together
from jaxneuro._network._stimuli import StimulusGroup as StimulusGroup
from jaxneuro._network._stimuli import Target as Target
from jaxneuro._network._stimuli import Window as Window

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
