"""The network that runs: groups, pathways, their states, and the step of a network."""

from jaxneuro._network.bounds import check_rule_sign as check_rule_sign
from jaxneuro._network.bounds import check_state_value as check_state_value
from jaxneuro._network.bounds import sign_of as sign_of
from jaxneuro._network.coupling import CouplingLayer as CouplingLayer
from jaxneuro._network.coupling import CouplingSpan as CouplingSpan
from jaxneuro._network.coupling import Side as Side
from jaxneuro._network.extremes import check_extremes as check_extremes
from jaxneuro._network.fixed_point import FixedPoint as FixedPoint
from jaxneuro._network.fixed_point import find_quanta as find_quanta
from jaxneuro._network.gap_stability import check_gap_junctions as check_gap_junctions
from jaxneuro._network.gap_stability import largest_conductance as largest_conductance
from jaxneuro._network.group import Group as Group
from jaxneuro._network.group import Initial as Initial
from jaxneuro._network.group import PopulationSpan as PopulationSpan
from jaxneuro._network.group import SpreadGroup as SpreadGroup
from jaxneuro._network.group import Start as Start
from jaxneuro._network.group import count_fed as count_fed
from jaxneuro._network.group import initial_state as initial_state
from jaxneuro._network.group import input_rows as input_rows
from jaxneuro._network.html import remember_names as remember_names
from jaxneuro._network.layout import Layout as Layout
from jaxneuro._network.layout import Seats as Seats
from jaxneuro._network.layout import seats as seats
from jaxneuro._network.members import ByName as ByName
from jaxneuro._network.members import NoSuchNameError as NoSuchNameError
from jaxneuro._network.members import as_floating as as_floating
from jaxneuro._network.members import first_member as first_member
from jaxneuro._network.members import member as member
from jaxneuro._network.members import register_dictionary as register_dictionary
from jaxneuro._network.modulator import Kinetics as Kinetics
from jaxneuro._network.modulator import ModulatorLayer as ModulatorLayer
from jaxneuro._network.modulator import ModulatorSpan as ModulatorSpan
from jaxneuro._network.modulator import Reach as Reach
from jaxneuro._network.names import Holder as Holder
from jaxneuro._network.names import Named as Named
from jaxneuro._network.names import Shared as Shared
from jaxneuro._network.names import arriving as arriving
from jaxneuro._network.names import holders_at as holders_at
from jaxneuro._network.names import inside as inside
from jaxneuro._network.names import named as named
from jaxneuro._network.names import projection as projection
from jaxneuro._network.names import shared_by as shared_by
from jaxneuro._network.names import unfed as unfed
from jaxneuro._network.names import value_of as value_of
from jaxneuro._network.names import variable_holder as variable_holder
from jaxneuro._network.names import warn_of_sum as warn_of_sum
from jaxneuro._network.network import Network as Network
from jaxneuro._network.pathway import Pathway as Pathway
from jaxneuro._network.pathway import ProjectionSpan as ProjectionSpan
from jaxneuro._network.pathway import release_state as release_state
from jaxneuro._network.peers import list_length as list_length
from jaxneuro._network.plastic import Plastic as Plastic
from jaxneuro._network.rewire import rewire as rewire
from jaxneuro._network.runtime import SpreadNetwork as SpreadNetwork
from jaxneuro._network.runtime import steps_together as steps_together
from jaxneuro._network.saved_state import SavedState as SavedState
from jaxneuro._network.saved_state import state_of as state_of
from jaxneuro._network.sharded import ShardedNetwork as ShardedNetwork
from jaxneuro._network.sharded import whole_populations as whole_populations
from jaxneuro._network.state import CouplingState as CouplingState
from jaxneuro._network.state import GroupState as GroupState
from jaxneuro._network.state import ModulatorState as ModulatorState
from jaxneuro._network.state import NetworkState as NetworkState
from jaxneuro._network.state import Output as Output
from jaxneuro._network.state import PathwayState as PathwayState
from jaxneuro._network.state import PlasticState as PlasticState
from jaxneuro._network.stimuli import StimulusGroup as StimulusGroup
from jaxneuro._network.stimuli import Target as Target
from jaxneuro._network.stimuli import Window as Window
from jaxneuro._network.weights import Connections as Connections
from jaxneuro._network.weights import check_within as check_within
from jaxneuro._network.weights import plastic_pathway as plastic_pathway

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
