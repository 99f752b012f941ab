"""Release models: what a source neuron passes to its synapses in a step."""

from ._activity import Graded as Graded
from ._activity import GradedState as GradedState
from ._activity import RateRelease as RateRelease
from ._activity import RateReleaseState as RateReleaseState
from ._activity import Spikes as Spikes
from ._activity import SpikesState as SpikesState
from ._nmda_gate import NMDAGate as NMDAGate
from ._nmda_gate import NMDAGateState as NMDAGateState
from ._short_term import QuantalRelease as QuantalRelease
from ._short_term import QuantalReleaseState as QuantalReleaseState
from ._short_term import TsodyksMarkram as TsodyksMarkram
from ._short_term import TsodyksMarkramState as TsodyksMarkramState
from ._transmitter import ClearedTransmitter as ClearedTransmitter
from ._transmitter import DecayingTransmitter as DecayingTransmitter
from ._transmitter import PulsedTransmitter as PulsedTransmitter
from ._transmitter import TransmitterState as TransmitterState
from ._transmitter import VoltageRelease as VoltageRelease
from ._transmitter import VoltageReleaseState as VoltageReleaseState

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
