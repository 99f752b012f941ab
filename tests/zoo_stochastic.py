"""Neurons that draw, GLIF, sources, rate units and the readout: their cases and settings."""

import jaxneuro as jn
from jaxneuro.surrogates import FastSigmoid
from tests.oracle import rate_units, stochastic
from tests.oracle.threefry import stream_key
from tests.zoo_case import SILENT, Case, Setting
from tests.zoo_stimuli import NAME, SEED

nr = jn.neurons
LIF = {"tau_m": 12.0, "c_m": 180.0, "e_l": -64.0, "v_th": -51.5, "v_reset": -62.0, "t_ref": 1.3}
CURRENTS = {"tau_stc_1": 31.0, "q_stc_1": 40.0, "tau_stc_2": 190.0, "q_stc_2": -9.0}
THRESHOLDS = {"tau_sfa_1": 47.0, "q_sfa_1": 6.0, "tau_sfa_2": 300.0, "q_sfa_2": 1.5}
GIF = {"c_m": 170.0, "g_l": 11.0, "e_l": -66.0, "v_reset": -60.0, "t_ref": 1.7, "lambda_0": 40.0}
GLIF = {"c_m": 150.0, "g_l": 12.0, "e_l": -70.0, "v_th": -52.0, "t_ref": 2.1}
AFTER = {"k_1": 0.02, "f_1": 0.7, "delta_i_1": -30.0, "k_2": 0.3, "f_2": 0.9, "delta_i_2": 80.0}
RULES = {"f_v": 0.3, "delta_v": 2.0, "b_s": 0.05, "delta_theta_s": 1.4, "a_v": 0.012, "b_v": 0.07}
# What a spike does, which nothing sees without one.
NO_SPIKE = (*SILENT, "f_v", "delta_v", *AFTER, "b_s", "delta_theta_s")
NO_ESCAPE = ("v_t_star", "delta_v", "lambda_0", "v_reset", "t_ref", *CURRENTS, *THRESHOLDS)


def drawing(function):
    """The oracle of a neuron that draws where those of the zoo do."""

    def oracle(params, drives, n, dt):
        return function(params, drives, n, dt, stream_key(SEED, NAME, "stimulus"))

    return oracle


SETTINGS: dict[str, Setting] = {
    name: Setting(size=0.004, arriving=1.0)
    for name in ("LinearRate", "TanhRate", "ThresholdLinearRate")
}
CASES: dict[str, Case] = {
    "EscapeRateLIF": Case(
        nr.EscapeRateLIF(**LIF, rho_0=0.11, delta_u=2.3),
        drawing(stochastic.escape_rate_lif),
        silent=(*SILENT, "rho_0", "delta_u"),
    ),
    "GIF": Case(
        nr.GIF(**GIF, v_t_star=-52.0, delta_v=1.9, **CURRENTS, **THRESHOLDS),
        drawing(stochastic.gif),
        silent=NO_ESCAPE,
        calm=0.01,
    ),
    "GLIF": Case(nr.GLIF(**GLIF, **AFTER, **RULES), stochastic.glif, silent=NO_SPIKE),
    "GLIF, surrogate": Case(
        nr.GLIF(**GLIF, **AFTER, **RULES, surrogate=FastSigmoid(0.7)),
        stochastic.glif,
        silent=NO_SPIKE,
    ),
    "PoissonSource": Case(nr.PoissonSource(300.0), drawing(stochastic.poisson_source)),
    "Relay": Case(nr.Relay(), stochastic.relay),
    "LinearRate": Case(nr.LinearRate(7.0, 1.3), rate_units.linear, spiking=False),
    "TanhRate": Case(nr.TanhRate(7.0, 0.8, 0.6), rate_units.tanh, spiking=False),
    "ThresholdLinearRate": Case(
        nr.ThresholdLinearRate(7.0, 1.3, 0.6), rate_units.threshold_linear, spiking=False
    ),
    "LeakyIntegrator": Case(
        nr.LeakyIntegrator(13.0, 210.0, -58.0), rate_units.leaky_integrator, spiking=False
    ),
}
