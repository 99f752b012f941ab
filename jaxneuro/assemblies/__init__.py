"""Assemblies of neurons: the assembly calculus as pure functions."""

from ._automaton import Generated as Generated
from ._automaton import ProbabilisticAutomaton as ProbabilisticAutomaton
from ._brain import Brain as Brain
from ._description import Area as Area
from ._description import Fibre as Fibre
from ._description import Stimulus as Stimulus
from ._learning import class_assemblies as class_assemblies
from ._learning import classify as classify
from ._learning import learn_classes as learn_classes
from ._learning import responses as responses
from ._machine import Passed as Passed
from ._machine import StateMachine as StateMachine
from ._patterns import common_neurons as common_neurons
from ._patterns import overlaps as overlaps
from ._patterns import patterns as patterns
from ._run import Seen as Seen
from ._run import run as run
from ._sequence import memorise as memorise
from ._sequence import recall as recall
from ._state import AreaState as AreaState
from ._state import BrainState as BrainState
from ._state import FibreState as FibreState
