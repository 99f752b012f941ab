"""Release models: what a source neuron passes to its synapses in a step."""

from ._graded import Graded as Graded
from ._graded import GradedState as GradedState
from ._nmda_gate import NMDAGate as NMDAGate
from ._nmda_gate import NMDAGateState as NMDAGateState
from ._quantal_release import QuantalRelease as QuantalRelease
from ._quantal_release import QuantalReleaseState as QuantalReleaseState
from ._rate_release import RateRelease as RateRelease
from ._rate_release import RateReleaseState as RateReleaseState
from ._spikes import Spikes as Spikes
from ._spikes import SpikesState as SpikesState
from ._transmitter import ClearedTransmitter as ClearedTransmitter
from ._transmitter import DecayingTransmitter as DecayingTransmitter
from ._transmitter import PulsedTransmitter as PulsedTransmitter
from ._transmitter import TransmitterState as TransmitterState
from ._tsodyks_markram import TsodyksMarkram as TsodyksMarkram
from ._tsodyks_markram import TsodyksMarkramState as TsodyksMarkramState
from ._voltage_release import VoltageRelease as VoltageRelease
from ._voltage_release import VoltageReleaseState as VoltageReleaseState

__all__ = [
    "ClearedTransmitter",
    "DecayingTransmitter",
    "Graded",
    "GradedState",
    "NMDAGate",
    "NMDAGateState",
    "PulsedTransmitter",
    "QuantalRelease",
    "QuantalReleaseState",
    "RateRelease",
    "RateReleaseState",
    "Spikes",
    "SpikesState",
    "TransmitterState",
    "TsodyksMarkram",
    "TsodyksMarkramState",
    "VoltageRelease",
    "VoltageReleaseState",
]
