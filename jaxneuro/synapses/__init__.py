"""Synapse models; each is one receptor of a group of neurons."""

from ._delta import Delta as Delta
from ._delta import DeltaState as DeltaState
from ._direct import Direct as Direct
from ._direct import DirectState as DirectState
from ._exponential import Exponential as Exponential
from ._exponential import ExponentialState as ExponentialState
from ._exponential_conductance import ExponentialConductance as ExponentialConductance
from ._exponential_conductance import ExponentialConductanceState as ExponentialConductanceState
