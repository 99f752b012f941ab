"""The network that runs: groups, pathways, their states, and the step of a network."""

from .connections import Connections as Connections
from .connections import check_within as check_within
from .connections import plastic_pathway as plastic_pathway
from .coupling import CouplingLayer as CouplingLayer
from .coupling import CouplingSpan as CouplingSpan
from .coupling import CouplingState as CouplingState
from .coupling import Side as Side
from .gap_stability import check_gap_junctions as check_gap_junctions
from .gap_stability import largest_conductance as largest_conductance
from .group import Group as Group
from .group import GroupState as GroupState
from .group import PopulationSpan as PopulationSpan
from .group import SpreadGroup as SpreadGroup
from .group import initial_state as initial_state
from .html import remember_names as remember_names
from .layout import Layout as Layout
from .members import as_floating as as_floating
from .members import first_member as first_member
from .members import inside as inside
from .members import member as member
from .mesh import ShardedNetwork as ShardedNetwork
from .mesh import whole_populations as whole_populations
from .modulated import check_extremes as check_extremes
from .modulator import Kinetics as Kinetics
from .modulator import ModulatorLayer as ModulatorLayer
from .modulator import ModulatorSpan as ModulatorSpan
from .modulator import ModulatorState as ModulatorState
from .modulator import Reach as Reach
from .names import ByName as ByName
from .names import Holder as Holder
from .names import Named as Named
from .names import NoSuchNameError as NoSuchNameError
from .names import Shared as Shared
from .names import holders_at as holders_at
from .names import named as named
from .names import projection as projection
from .names import register_dictionary as register_dictionary
from .names import variable_holder as variable_holder
from .network import Network as Network
from .parameters import check_rule_sign as check_rule_sign
from .parameters import sign_of as sign_of
from .pathway import Pathway as Pathway
from .pathway import PathwayState as PathwayState
from .pathway import ProjectionSpan as ProjectionSpan
from .pathway import release_state as release_state
from .plastic import Plastic as Plastic
from .plastic import PlasticState as PlasticState
from .rewire import rewire as rewire
from .ring import FixedPoint as FixedPoint
from .ring import count_fed as count_fed
from .ring import find_quanta as find_quanta
from .ring import input_rows as input_rows
from .runtime import SpreadNetwork as SpreadNetwork
from .runtime import steps_together as steps_together
from .shards import Seats as Seats
from .shards import list_length as list_length
from .shards import seats as seats
from .start_values import Initial as Initial
from .start_values import Start as Start
from .start_values import check_state_value as check_state_value
from .state import NetworkState as NetworkState
from .state import Output as Output
from .state import SavedState as SavedState
from .state import state_of as state_of
from .stimuli import StimulusGroup as StimulusGroup
from .stimuli import Target as Target
from .stimuli import Window as Window
from .variables import arriving as arriving
from .variables import shared_by as shared_by
from .variables import unfed as unfed
from .variables import value_of as value_of
from .variables import warn_of_sum as warn_of_sum

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
