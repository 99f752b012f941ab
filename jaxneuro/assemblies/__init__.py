"""Assemblies of neurons: the assembly calculus as pure functions."""

from . import parser as parser
from ._automaton import Generated as Generated
from ._automaton import ProbabilisticAutomaton as ProbabilisticAutomaton
from ._brain import Brain as Brain
from ._description import CONNECTOMES as CONNECTOMES
from ._description import Area as Area
from ._description import Fibre as Fibre
from ._description import Stimulus as Stimulus
from ._learning import class_assemblies as class_assemblies
from ._learning import classify as classify
from ._learning import common_neurons as common_neurons
from ._learning import learn_classes as learn_classes
from ._learning import overlaps as overlaps
from ._learning import patterns as patterns
from ._learning import responses as responses
from ._machine import Passed as Passed
from ._machine import StateMachine as StateMachine
from ._measures import FibreStatistics as FibreStatistics
from ._measures import density as density
from ._measures import memory as memory
from ._measures import overlap as overlap
from ._measures import report as report
from ._measures import statistics as statistics
from ._operations import associate as associate
from ._operations import merge as merge
from ._operations import part_of as part_of
from ._operations import pattern_complete as pattern_complete
from ._operations import project as project
from ._operations import reciprocal_project as reciprocal_project
from ._operations import schedule as schedule
from ._operations import separate as separate
from ._run import Seen as Seen
from ._run import run as run
from ._sequence import memorise as memorise
from ._sequence import recall as recall
from ._soft_cap import assembly_loss as assembly_loss
from ._soft_cap import soft_cap as soft_cap
from ._soft_cap import straight_through_cap as straight_through_cap
from ._state import AreaState as AreaState
from ._state import BrainState as BrainState
from ._state import FibreState as FibreState

__all__ = [
    "CONNECTOMES",
    "Area",
    "AreaState",
    "Brain",
    "BrainState",
    "Fibre",
    "FibreState",
    "FibreStatistics",
    "Generated",
    "Passed",
    "ProbabilisticAutomaton",
    "Seen",
    "StateMachine",
    "Stimulus",
    "assembly_loss",
    "associate",
    "class_assemblies",
    "classify",
    "common_neurons",
    "density",
    "learn_classes",
    "memorise",
    "memory",
    "merge",
    "overlap",
    "overlaps",
    "parser",
    "part_of",
    "pattern_complete",
    "patterns",
    "project",
    "recall",
    "reciprocal_project",
    "report",
    "responses",
    "run",
    "schedule",
    "separate",
    "soft_cap",
    "statistics",
    "straight_through_cap",
]
