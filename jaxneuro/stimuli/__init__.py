"""Stimuli: what drives neurons from outside the network, and signals that change with time."""

from ._current import Current as Current
from ._current import CurrentState as CurrentState
from ._dead_time_poisson import DeadTimePoisson as DeadTimePoisson
from ._dead_time_poisson import DeadTimePoissonState as DeadTimePoissonState
from ._first_step import first_step as first_step
from ._gamma import Gamma as Gamma
from ._gamma import GammaState as GammaState
from ._multiple_interaction import MultipleInteraction as MultipleInteraction
from ._multiple_interaction import MultipleInteractionState as MultipleInteractionState
from ._ornstein_uhlenbeck import OrnsteinUhlenbeck as OrnsteinUhlenbeck
from ._ornstein_uhlenbeck import OrnsteinUhlenbeckState as OrnsteinUhlenbeckState
from ._poisson import Poisson as Poisson
from ._poisson import PoissonState as PoissonState
from ._pulse_packets import PulsePackets as PulsePackets
from ._pulses import Pulses as Pulses
from ._ramp import Ramp as Ramp
from ._scheduled_spikes import ScheduledSpikes as ScheduledSpikes
from ._scheduled_spikes import ScheduledSpikesState as ScheduledSpikesState
from ._signal import Signal as Signal
from ._signal_field import signal as signal
from ._sinusoid import Sinusoid as Sinusoid
from ._spike_times import SpikeTimes as SpikeTimes
from ._steps import Steps as Steps
from ._time_function import TimeFunction as TimeFunction
from ._white_noise import WhiteNoise as WhiteNoise
from ._white_noise import WhiteNoiseState as WhiteNoiseState

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
