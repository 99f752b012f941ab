"""Neuron models, one file each."""

from ._adex import AdEx as AdEx
from ._adex_state import AdExState as AdExState
from ._after_spikes import GLIFState as GLIFState
from ._alif import ALIF as ALIF
from ._alif import ALIFState as ALIFState
from ._eif import EIF as EIF
from ._eif import EIFState as EIFState
from ._escape_rate_lif import EscapeRateLIF as EscapeRateLIF
from ._escape_rate_lif import EscapeRateLIFState as EscapeRateLIFState
from ._fitzhugh_nagumo import FitzHughNagumo as FitzHughNagumo
from ._fitzhugh_nagumo import FitzHughNagumoState as FitzHughNagumoState
from ._fly_lif import FlyLIF as FlyLIF
from ._fly_lif import FlyLIFState as FlyLIFState
from ._gif import GIF as GIF
from ._gif import GIFState as GIFState
from ._glif import GLIF as GLIF
from ._hindmarsh_rose import HindmarshRose as HindmarshRose
from ._hindmarsh_rose import HindmarshRoseState as HindmarshRoseState
from ._hodgkin_huxley import HodgkinHuxley as HodgkinHuxley
from ._homeostatic_lif import HomeostaticLIF as HomeostaticLIF
from ._homeostatic_lif import HomeostaticLIFState as HomeostaticLIFState
from ._iaf_psc_alpha import IafPscAlpha as IafPscAlpha
from ._iaf_psc_alpha import IafPscAlphaState as IafPscAlphaState
from ._iaf_psc_delta import IafPscDelta as IafPscDelta
from ._iaf_psc_delta import IafPscDeltaState as IafPscDeltaState
from ._iaf_psc_exp import IafPscExp as IafPscExp
from ._iaf_psc_exp import IafPscExpState as IafPscExpState
from ._izhikevich import Izhikevich as Izhikevich
from ._leaky_integrator import LeakyIntegrator as LeakyIntegrator
from ._leaky_integrator import LeakyIntegratorState as LeakyIntegratorState
from ._leaky_izhikevich import LeakyIzhikevich as LeakyIzhikevich
from ._lif import LIF as LIF
from ._lif import LIFState as LIFState
from ._linear_rate import LinearRate as LinearRate
from ._morris_lecar import MorrisLecar as MorrisLecar
from ._morris_lecar import MorrisLecarState as MorrisLecarState
from ._poisson_source import PoissonSource as PoissonSource
from ._poisson_source import PoissonSourceState as PoissonSourceState
from ._qif import QIF as QIF
from ._qif import QIFState as QIFState
from ._rate import RateState as RateState
from ._recovery import IzhikevichState as IzhikevichState
from ._relay import Relay as Relay
from ._relay import RelayState as RelayState
from ._tanh_rate import TanhRate as TanhRate
from ._threshold_linear_rate import ThresholdLinearRate as ThresholdLinearRate
from ._traub_miles import TraubMiles as TraubMiles
from ._traub_miles import TraubMilesState as TraubMilesState
from ._two_compartment import TwoCompartment as TwoCompartment
from ._two_compartment import TwoCompartmentState as TwoCompartmentState
from ._wang_buzsaki import WangBuzsaki as WangBuzsaki
from ._wang_buzsaki import WangBuzsakiState as WangBuzsakiState

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
]
