"""Neurons with synaptic currents of their own: their cases and settings for the laws."""

import jaxneuro as jn
from jaxneuro.surrogates import FastSigmoid
from tests.oracle import fly_lif, iaf_psc
from tests.zoo_case import SILENT, Case, Setting

MEMBRANE = {
    "tau_m": 11.0,
    "c_m": 210.0,
    "e_l": -66.0,
    "v_th": -52.5,
    "v_reset": -63.0,
    "t_ref": 1.7,
}
FLY = MEMBRANE | {"tau_syn": 3.1}
TAUS = {"tau_syn_ex": 0.6, "tau_syn_in": 3.1}

SETTINGS: dict[str, Setting] = {
    "IafPscExp": Setting(arriving=500.0),
    "IafPscAlpha": Setting(arriving=300.0),
    "FlyLIF": Setting(arriving=30.0),
}
CASES: dict[str, Case] = {
    "IafPscExp": Case(jn.neurons.IafPscExp(**MEMBRANE, **TAUS), iaf_psc.exponential, silent=SILENT),
    "IafPscExp, surrogate": Case(
        jn.neurons.IafPscExp(**MEMBRANE, **TAUS, surrogate=FastSigmoid(0.7)),
        iaf_psc.exponential,
        silent=SILENT,
    ),
    "IafPscAlpha": Case(jn.neurons.IafPscAlpha(**MEMBRANE, **TAUS), iaf_psc.alpha, silent=SILENT),
    "FlyLIF": Case(jn.neurons.FlyLIF(**FLY), fly_lif.neuron, silent=SILENT),
    "FlyLIF, surrogate": Case(
        jn.neurons.FlyLIF(**FLY, surrogate=FastSigmoid(0.7)), fly_lif.neuron, silent=SILENT
    ),
    "IafPscDelta": Case(jn.neurons.IafPscDelta(**MEMBRANE), iaf_psc.delta, silent=SILENT),
}
