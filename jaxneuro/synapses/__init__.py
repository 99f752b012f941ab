"""Synapse models; each is one receptor of a group of neurons."""

from ._conductance import AMPA as AMPA
from ._conductance import GABA_A as GABA_A
from ._conductance import AlphaConductance as AlphaConductance
from ._conductance import AlphaConductanceState as AlphaConductanceState
from ._conductance import AMPAState as AMPAState
from ._conductance import DoubleExponentialConductance as DoubleExponentialConductance
from ._conductance import DoubleExponentialConductanceState as DoubleExponentialConductanceState
from ._conductance import ExponentialConductance as ExponentialConductance
from ._conductance import ExponentialConductanceState as ExponentialConductanceState
from ._conductance import GABA_AState as GABA_AState
from ._current import Alpha as Alpha
from ._current import AlphaState as AlphaState
from ._current import DoubleExponential as DoubleExponential
from ._current import DoubleExponentialState as DoubleExponentialState
from ._current import Exponential as Exponential
from ._current import ExponentialState as ExponentialState
from ._immediate import Delta as Delta
from ._immediate import DeltaState as DeltaState
from ._immediate import Direct as Direct
from ._immediate import DirectState as DirectState
from ._ligand_gated import ApproximateKinetics as ApproximateKinetics
from ._ligand_gated import DestexheKinetics as DestexheKinetics
from ._ligand_gated import ExponentialDecayKinetics as ExponentialDecayKinetics
from ._ligand_gated import Kinetics as Kinetics
from ._ligand_gated import LigandGated as LigandGated
from ._ligand_gated import LigandGatedNMDA as LigandGatedNMDA
from ._ligand_gated import LigandGatedState as LigandGatedState
from ._nmda import NMDA as NMDA
from ._nmda import DoubleExponentialNMDA as DoubleExponentialNMDA
from ._nmda import DoubleExponentialNMDAState as DoubleExponentialNMDAState
from ._nmda import NMDAState as NMDAState
from ._ports import DopaGluGABA as DopaGluGABA
from ._ports import DopaGluGABAState as DopaGluGABAState
from ._ports import Into as Into
from ._ports import Ionotropic as Ionotropic
from ._ports import IonotropicState as IonotropicState
from ._saturating import GABA_B as GABA_B
from ._saturating import GABA_BState as GABA_BState
from ._saturating import TwoStateConductance as TwoStateConductance
from ._saturating import TwoStateConductanceState as TwoStateConductanceState
from ._several import Several as Several

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
