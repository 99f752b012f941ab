"""Neurons with gates, oscillators, several compartments: their cases and settings."""

import jaxneuro as jn
from jaxneuro.surrogates import FastSigmoid
from tests.oracle import biophysical as oracle
from tests.zoo_case import SILENT, Case, Setting

# Without a spike nothing depends on what a spike crosses.
CROSSING = ("v_th", "surrogate")
neurons = jn.neurons

# RK4 bears a conductance 1000 times too large where dt times it is below 2.7 times c_m.
SETTINGS: dict[str, Setting] = {
    "TraubMiles": Setting(dt=0.01, size=10.0),
    "WangBuzsaki": Setting(dt=0.005, size=0.06),
    "MorrisLecar": Setting(dt=0.02, size=0.3),
    "FitzHughNagumo": Setting(dt=0.1, size=0.002),
    "HindmarshRose": Setting(dt=0.02, size=0.008),
    "TwoCompartment": Setting(size=0.3, arriving=400.0),
}

TRAUB = {"c_m": 190.0, "g_l": 11.0, "g_na": 19_000.0, "g_k": 6_300.0, "e_l": -62.0}
TRAUB |= {"e_na": 52.0, "e_k": -88.0, "v_t": -61.0, "v_th": -18.0}
WANG = {"c_m": 1.1, "g_l": 0.12, "g_na": 33.0, "g_k": 9.5, "e_l": -64.0, "e_na": 54.0, "e_k": -88.0}
MORRIS = {"c_m": 24.0, "g_l": 2.1, "e_l": -58.0, "e_ca": 115.0, "e_k": -82.0, "v_th": -40.0}
HINDMARSH = {"a": 1.05, "b": 2.9, "c": 0.95, "d": 4.8, "r": 0.007, "s": 3.9, "x_r": -1.55}
TWO = {"c_s": 190.0, "c_d": 90.0, "g_ls": 9.0, "g_ld": 6.0, "g_c": 11.0, "e_l": -66.0}
TWO |= {"tau_d": 4.3, "v_th": -53.0, "v_reset": -61.0, "t_ref": 1.3}

traub_miles = oracle.simulate("vmhn", oracle.traub_miles, oracle.traub_miles_start)
wang_buzsaki = oracle.simulate("vhn", oracle.wang_buzsaki, oracle.wang_buzsaki_start)
morris_lecar = oracle.simulate("vw", oracle.morris_lecar, oracle.morris_lecar_start)
fitzhugh_nagumo = oracle.simulate("vw", oracle.fitzhugh_nagumo, oracle.fitzhugh_nagumo_start)
hindmarsh_rose = oracle.simulate("vyz", oracle.hindmarsh_rose, oracle.hindmarsh_rose_start)

# An upstroke of 300 mV/ms multiplies what rounding moved: `near` of the two with sodium.
CASES: dict[str, Case] = {
    "TraubMiles": Case(
        neurons.TraubMiles(**TRAUB), traub_miles, near=1e-4, silent=CROSSING, amplifies=20.0
    ),
    "WangBuzsaki": Case(
        neurons.WangBuzsaki(**WANG, phi=4.6, v_th=-3.0),
        wang_buzsaki,
        near=5e-5,
        silent=CROSSING,
        amplifies=20.0,
    ),
    "MorrisLecar": Case(neurons.MorrisLecar.snlc(**MORRIS), morris_lecar, silent=CROSSING),
    "MorrisLecar, surrogate": Case(
        neurons.MorrisLecar(**MORRIS, surrogate=FastSigmoid(0.2)), morris_lecar, silent=CROSSING
    ),
    "FitzHughNagumo": Case(
        neurons.FitzHughNagumo(0.75, 0.85, 11.0, 0.9), fitzhugh_nagumo, silent=CROSSING
    ),
    "HindmarshRose": Case(
        neurons.HindmarshRose(**HINDMARSH, v_th=0.8), hindmarsh_rose, silent=CROSSING
    ),
    "TwoCompartment": Case(
        neurons.TwoCompartment(**TWO), oracle.two_compartment_oracle, silent=SILENT
    ),
    "TwoCompartment, surrogate": Case(
        neurons.TwoCompartment(**TWO, surrogate=FastSigmoid(0.7)),
        oracle.two_compartment_oracle,
        silent=SILENT,
    ),
}
