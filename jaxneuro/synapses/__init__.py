"""Synapse models; each is one receptor of a group of neurons."""

from ._alpha import Alpha as Alpha
from ._alpha import AlphaState as AlphaState
from ._alpha_conductance import AlphaConductance as AlphaConductance
from ._alpha_conductance import AlphaConductanceState as AlphaConductanceState
from ._ampa import AMPA as AMPA
from ._ampa import AMPAState as AMPAState
from ._delta import Delta as Delta
from ._delta import DeltaState as DeltaState
from ._direct import Direct as Direct
from ._direct import DirectState as DirectState
from ._dopa_glu_gaba import DopaGluGABA as DopaGluGABA
from ._dopa_glu_gaba import DopaGluGABAState as DopaGluGABAState
from ._double_exponential import DoubleExponential as DoubleExponential
from ._double_exponential import DoubleExponentialState as DoubleExponentialState
from ._double_exponential_conductance import (
    DoubleExponentialConductance as DoubleExponentialConductance,
)
from ._double_exponential_conductance import (
    DoubleExponentialConductanceState as DoubleExponentialConductanceState,
)
from ._double_exponential_nmda import DoubleExponentialNMDA as DoubleExponentialNMDA
from ._double_exponential_nmda import DoubleExponentialNMDAState as DoubleExponentialNMDAState
from ._exponential import Exponential as Exponential
from ._exponential import ExponentialState as ExponentialState
from ._exponential_conductance import ExponentialConductance as ExponentialConductance
from ._exponential_conductance import ExponentialConductanceState as ExponentialConductanceState
from ._gaba_a import GABA_A as GABA_A
from ._gaba_a import GABA_AState as GABA_AState
from ._gaba_b import GABA_B as GABA_B
from ._gaba_b import GABA_BState as GABA_BState
from ._into import Into as Into
from ._ionotropic import Ionotropic as Ionotropic
from ._ionotropic import IonotropicState as IonotropicState
from ._ligand_gated import LigandGated as LigandGated
from ._ligand_gated import LigandGatedNMDA as LigandGatedNMDA
from ._ligand_gated import LigandGatedState as LigandGatedState
from ._nmda import NMDA as NMDA
from ._nmda import NMDAState as NMDAState
from ._receptor_kinetics import ApproximateKinetics as ApproximateKinetics
from ._receptor_kinetics import DestexheKinetics as DestexheKinetics
from ._receptor_kinetics import ExponentialDecayKinetics as ExponentialDecayKinetics
from ._receptor_kinetics import Kinetics as Kinetics
from ._several import Several as Several
from ._two_state_conductance import TwoStateConductance as TwoStateConductance
from ._two_state_conductance import TwoStateConductanceState as TwoStateConductanceState

__all__ = [
    "AMPA",
    "GABA_A",
    "GABA_B",
    "NMDA",
    "AMPAState",
    "Alpha",
    "AlphaConductance",
    "AlphaConductanceState",
    "AlphaState",
    "ApproximateKinetics",
    "Delta",
    "DeltaState",
    "DestexheKinetics",
    "Direct",
    "DirectState",
    "DopaGluGABA",
    "DopaGluGABAState",
    "DoubleExponential",
    "DoubleExponentialConductance",
    "DoubleExponentialConductanceState",
    "DoubleExponentialNMDA",
    "DoubleExponentialNMDAState",
    "DoubleExponentialState",
    "Exponential",
    "ExponentialConductance",
    "ExponentialConductanceState",
    "ExponentialDecayKinetics",
    "ExponentialState",
    "GABA_AState",
    "GABA_BState",
    "Into",
    "Ionotropic",
    "IonotropicState",
    "Kinetics",
    "LigandGated",
    "LigandGatedNMDA",
    "LigandGatedState",
    "NMDAState",
    "Several",
    "TwoStateConductance",
    "TwoStateConductanceState",
]
