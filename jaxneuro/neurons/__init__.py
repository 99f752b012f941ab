"""Neuron models, one file for each family."""

from ._adaptive_threshold import ALIF as ALIF
from ._adaptive_threshold import ALIFState as ALIFState
from ._adaptive_threshold import HomeostaticLIF as HomeostaticLIF
from ._adaptive_threshold import HomeostaticLIFState as HomeostaticLIFState
from ._conductance_based import MorrisLecar as MorrisLecar
from ._conductance_based import MorrisLecarState as MorrisLecarState
from ._conductance_based import TraubMiles as TraubMiles
from ._conductance_based import TraubMilesState as TraubMilesState
from ._conductance_based import WangBuzsaki as WangBuzsaki
from ._conductance_based import WangBuzsakiState as WangBuzsakiState
from ._exponential import EIF as EIF
from ._exponential import AdEx as AdEx
from ._exponential import AdExState as AdExState
from ._exponential import EIFState as EIFState
from ._gap_stability import largest_conductance as largest_conductance
from ._generalised import GIF as GIF
from ._generalised import GLIF as GLIF
from ._generalised import EscapeRateLIF as EscapeRateLIF
from ._generalised import EscapeRateLIFState as EscapeRateLIFState
from ._generalised import GIFState as GIFState
from ._generalised import GLIFState as GLIFState
from ._hodgkin_huxley import HodgkinHuxley as HodgkinHuxley
from ._iaf_psc import FlyLIF as FlyLIF
from ._iaf_psc import FlyLIFState as FlyLIFState
from ._iaf_psc import IafPscAlpha as IafPscAlpha
from ._iaf_psc import IafPscAlphaState as IafPscAlphaState
from ._iaf_psc import IafPscDelta as IafPscDelta
from ._iaf_psc import IafPscDeltaState as IafPscDeltaState
from ._iaf_psc import IafPscExp as IafPscExp
from ._iaf_psc import IafPscExpState as IafPscExpState
from ._lif import LIF as LIF
from ._lif import LeakyIntegrator as LeakyIntegrator
from ._lif import LeakyIntegratorState as LeakyIntegratorState
from ._lif import LIFState as LIFState
from ._oscillators import FitzHughNagumo as FitzHughNagumo
from ._oscillators import FitzHughNagumoState as FitzHughNagumoState
from ._oscillators import HindmarshRose as HindmarshRose
from ._oscillators import HindmarshRoseState as HindmarshRoseState
from ._quadratic import QIF as QIF
from ._quadratic import Izhikevich as Izhikevich
from ._quadratic import IzhikevichState as IzhikevichState
from ._quadratic import LeakyIzhikevich as LeakyIzhikevich
from ._quadratic import QIFState as QIFState
from ._rates import LinearRate as LinearRate
from ._rates import RateState as RateState
from ._rates import TanhRate as TanhRate
from ._rates import ThresholdLinearRate as ThresholdLinearRate
from ._sources import PoissonSource as PoissonSource
from ._sources import PoissonSourceState as PoissonSourceState
from ._sources import Relay as Relay
from ._sources import RelayState as RelayState
from ._two_compartment import TwoCompartment as TwoCompartment
from ._two_compartment import TwoCompartmentState as TwoCompartmentState

__all__ = [
    "ALIF",
    "EIF",
    "GIF",
    "GLIF",
    "LIF",
    "QIF",
    "ALIFState",
    "AdEx",
    "AdExState",
    "EIFState",
    "EscapeRateLIF",
    "EscapeRateLIFState",
    "FitzHughNagumo",
    "FitzHughNagumoState",
    "FlyLIF",
    "FlyLIFState",
    "GIFState",
    "GLIFState",
    "HindmarshRose",
    "HindmarshRoseState",
    "HodgkinHuxley",
    "HomeostaticLIF",
    "HomeostaticLIFState",
    "IafPscAlpha",
    "IafPscAlphaState",
    "IafPscDelta",
    "IafPscDeltaState",
    "IafPscExp",
    "IafPscExpState",
    "Izhikevich",
    "IzhikevichState",
    "LIFState",
    "LeakyIntegrator",
    "LeakyIntegratorState",
    "LeakyIzhikevich",
    "LinearRate",
    "MorrisLecar",
    "MorrisLecarState",
    "PoissonSource",
    "PoissonSourceState",
    "QIFState",
    "RateState",
    "Relay",
    "RelayState",
    "TanhRate",
    "ThresholdLinearRate",
    "TraubMiles",
    "TraubMilesState",
    "TwoCompartment",
    "TwoCompartmentState",
    "WangBuzsaki",
    "WangBuzsakiState",
    "largest_conductance",
]
