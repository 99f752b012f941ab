"""Stimuli: what drives neurons from outside the network, and signals that change with time."""

from ._current import Current as Current
from ._current import CurrentState as CurrentState
from ._current import OrnsteinUhlenbeck as OrnsteinUhlenbeck
from ._current import OrnsteinUhlenbeckState as OrnsteinUhlenbeckState
from ._current import WhiteNoise as WhiteNoise
from ._current import WhiteNoiseState as WhiteNoiseState
from ._first_step import first_step as first_step
from ._given_spikes import PulsePackets as PulsePackets
from ._given_spikes import ScheduledSpikes as ScheduledSpikes
from ._given_spikes import ScheduledSpikesState as ScheduledSpikesState
from ._given_spikes import SpikeTimes as SpikeTimes
from ._random_spikes import DeadTimePoisson as DeadTimePoisson
from ._random_spikes import DeadTimePoissonState as DeadTimePoissonState
from ._random_spikes import Gamma as Gamma
from ._random_spikes import GammaState as GammaState
from ._random_spikes import MultipleInteraction as MultipleInteraction
from ._random_spikes import MultipleInteractionState as MultipleInteractionState
from ._random_spikes import Poisson as Poisson
from ._random_spikes import PoissonState as PoissonState
from ._signal import Pulses as Pulses
from ._signal import Ramp as Ramp
from ._signal import Signal as Signal
from ._signal import Sinusoid as Sinusoid
from ._signal import Steps as Steps
from ._signal import TimeFunction as TimeFunction
from ._signal_field import signal as signal

__all__ = [
    "Current",
    "CurrentState",
    "DeadTimePoisson",
    "DeadTimePoissonState",
    "Gamma",
    "GammaState",
    "MultipleInteraction",
    "MultipleInteractionState",
    "OrnsteinUhlenbeck",
    "OrnsteinUhlenbeckState",
    "Poisson",
    "PoissonState",
    "PulsePackets",
    "Pulses",
    "Ramp",
    "ScheduledSpikes",
    "ScheduledSpikesState",
    "Signal",
    "Sinusoid",
    "SpikeTimes",
    "Steps",
    "TimeFunction",
    "WhiteNoise",
    "WhiteNoiseState",
    "first_step",
    "signal",
]
