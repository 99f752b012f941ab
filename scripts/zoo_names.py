"""The kind of each neuron model, and the names of all models in other simulators, for the zoo."""

from typing import NamedTuple

LINEAR, EXACT, THRESHOLD = "linear", "exact", "threshold, reset"
CROSSING, DRAWN, RATE = "crossing", "drawn, reset", "none (a rate)"
# By name: equations, update ("" for that of the field `method`), how it spikes.
KINDS = {
    "AdEx": ("exponential, adaptation", "", "peak, reset within the step"),
    "ALIF": ("linear, moving threshold", EXACT, THRESHOLD),
    "EIF": ("exponential", "", "peak, reset within the step"),
    "EscapeRateLIF": (LINEAR, "exact; spikes of order 1", DRAWN),
    "FitzHughNagumo": ("cubic, recovery", "", CROSSING),
    "FlyLIF": ("linear, an input of its own", EXACT, THRESHOLD),
    "GIF": ("linear, currents and threshold after spikes", "exact; spikes of order 1", DRAWN),
    "GLIF": ("linear, currents and threshold after spikes", "order 2", THRESHOLD),
    "HindmarshRose": ("cubic, recovery, adaptation", "", CROSSING),
    "HodgkinHuxley": ("any channels", "", CROSSING),
    "HomeostaticLIF": ("linear, moving threshold", EXACT, THRESHOLD),
    "IafPscAlpha": ("linear, currents of its own", EXACT, THRESHOLD),
    "IafPscDelta": (LINEAR, EXACT, THRESHOLD),
    "IafPscExp": ("linear, currents of its own", EXACT, THRESHOLD),
    "Izhikevich": ("quadratic, recovery", "", "peak, reset"),
    "LeakyIntegrator": (LINEAR, EXACT, "none"),
    "LeakyIzhikevich": ("quadratic, recovery", "", "peak, reset"),
    "LIF": (LINEAR, "exact; order 4 under conductances", THRESHOLD),
    "LinearRate": (LINEAR, EXACT, RATE),
    "MorrisLecar": ("two channels", "", CROSSING),
    "PoissonSource": ("none", EXACT, "drawn"),
    "QIF": ("quadratic", "", "peak, reset"),
    "Relay": ("none", EXACT, "as they arrive"),
    "TanhRate": ("linear, saturating input", EXACT, RATE),
    "ThresholdLinearRate": ("linear, rectified input", EXACT, RATE),
    "TraubMiles": ("two channels", "", CROSSING),
    "TwoCompartment": ("linear, two compartments", "", THRESHOLD),
    "WangBuzsaki": ("two channels", "", CROSSING),
}
EXP, COND, DELTA = "`Exponential`", "`ExponentialConductance`", "`Delta`"
# NEST, Brian2, lixirnet, here.
PEERS = (
    ("`iaf_psc_exp`", "`CUBA`", "", f"`IafPscExp`; or `LIF` with {EXP}: its mean over a step"),
    ("`iaf_psc_alpha`", "", "", "`IafPscAlpha`"),
    ("`iaf_psc_delta`", "`IF_curve_LIF`", "", f"`IafPscDelta`; or `LIF` with {DELTA}"),
    ("`iaf_cond_exp`", "", "", f"`LIF` with {COND}; tau_m = C_m / g_L = 15 ms, v_reset -60 mV"),
    (
        "",
        "",
        "`LeakyIntegrateAndFireNeuron`",
        "`LIF`, `method=forward_euler`; tau_m 10 ms, c_m = tau_m g_l = 100 pF",
    ),
    ("", "", "`QuadraticIntegrateAndFireNeuron`", "`QIF`, `method=forward_euler`; other units"),
    (
        "`aeif_cond_exp`",
        "`Brette_Gerstner_2005`, `Naud_et_al_2008_adex_firing_patterns`",
        "`AdaptiveExpLeakyIntegrateAndFireNeuron`",
        f"`AdEx` with {COND}; the patterns are presets",
    ),
    ("`aeif_psc_exp`, `aeif_psc_delta`", "", "", f"`AdEx` with {EXP}, with {DELTA}"),
    (
        "`eprop_iaf_adapt`",
        "`adaptive_threshold`",
        "",
        "`ALIF`, which resets to v_reset; NEST's subtracts the threshold",
    ),
    ("`izhikevich`", "`Izhikevich_2003`", "", "`Izhikevich`"),
    ("", "", "`IzhikevichNeuron`", "`Izhikevich.lixirnet()`"),
    ("", "", "`LeakyIzhikevichNeuron`", "`LeakyIzhikevich`"),
    ("`gif_psc_exp`, `gif_cond_exp`", "", "", f"`GIF` with {EXP}, with {COND}"),
    ("`glif_psc`, `glif_cond`", "", "", "`GLIF`, its levels as presets, with any synapse"),
    ("`pp_psc_delta`", "", "", f"`EscapeRateLIF` with {DELTA}; another hazard"),
    (
        "`hh_psc_alpha`",
        "`compartmental/hodgkin_huxley_1952`",
        "`HodgkinHuxleyNeuron`",
        "`HodgkinHuxley`; NEST's is 1e-4 cm2 of it, with a leak at -54.402 mV",
    ),
    ("`hh_cond_exp_traub`", "`COBAHH`", "", f"`TraubMiles` with {COND}; NEST adds a t_ref"),
    ("", "`Wang_Buszaki_1996`", "", "`WangBuzsaki`"),
    ("", "`Morris_Lecar_1981`", "`MorrisLecarNeuron`", "`MorrisLecar`; other numbers"),
    ("", "`Hindmarsh_Rose_1984`", "", "`HindmarshRose`"),
    ("`iaf_cond_alpha_mc`", "", "", "`TwoCompartment` is the nearest: two, not three"),
    ("`eprop_readout`", "", "", "`LeakyIntegrator`"),
    (
        "`lin_rate_ipn`, `tanh_rate_ipn`, `threshold_lin_rate_ipn`",
        "",
        "",
        "`LinearRate`, `TanhRate`, `ThresholdLinearRate`; without noise",
    ),
    ("`parrot_neuron`", "", "", "`Relay`"),
    (
        "`spike_generator`",
        "`SpikeGeneratorGroup`",
        "`PresetSpikeTrain`",
        "the stimulus `SpikeTimes`; with a `Relay` as a population",
    ),
    (
        "`poisson_generator`",
        "`PoissonGroup`, `PoissonInput`",
        "`PoissonNeuron`",
        "`PoissonSource`; or the stimulus `Poisson`",
    ),
)
NONE = "none"


class Names(NamedTuple):
    """What a model of transmission is called elsewhere, or `NONE`."""

    nest: str
    brian2: str
    lixirnet: str


BRUNEL_WANG = "examples `frompapers/Brunel_Wang_2001`, `frompapers/Wang_2002`"
G = "with `I = g*(e_rev - v)`"
# Of every public synapse, release and kinetics; of Brian2 examples, or the equations to write.
TRANSMISSION = {
    # Synapses.
    "Alpha": Names(
        "`iaf_psc_alpha`, `aeif_psc_alpha`",
        "`di/dt = (x - i)/tau`, `dx/dt = -x/tau`, `on_pre='x += e*w'` with e = exp(1)",
        NONE,
    ),
    "AlphaConductance": Names(
        "`iaf_cond_alpha`, `aeif_cond_alpha`",
        f"`dg/dt = (x - g)/tau`, `dx/dt = -x/tau`, `on_pre='x += e*w'` with e = exp(1), {G}",
        NONE,
    ),
    "AMPA": Names(
        "AMPA of `iaf_bw_2001`",
        f"`s_AMPA` of the {BRUNEL_WANG}",
        "none; `AMPAReceptor` is `LigandGated.ampa()`",
    ),
    "Delta": Names("`iaf_psc_delta`, `aeif_psc_delta`", "`on_pre='v += w'`", NONE),
    "Direct": Names(
        "none: the `receptor_type` of a connection to a neuron with currents of its own",
        "`on_pre='x += w'`, x any variable of the neuron",
        NONE,
    ),
    "DopaGluGABA": Names(NONE, NONE, "`DopaGluGABAReceptors`"),
    "DoubleExponential": Names(
        NONE,
        "`di/dt = (q*x - i)/tau_rise`, `dx/dt = -x/tau_decay`, `on_pre='x += w'` with "
        "`q = (tau_decay/tau_rise)**(tau_rise/(tau_decay - tau_rise))`",
        NONE,
    ),
    "DoubleExponentialConductance": Names(
        "`iaf_cond_beta`, `aeif_cond_beta_multisynapse`",
        f"as of `DoubleExponential`, in g, {G}",
        NONE,
    ),
    "DoubleExponentialNMDA": Names(
        "none: NMDA of `ht_neuron` and of `cm_default` rise and decay so, with another block",
        "as of `DoubleExponential`, in g, with `I = g*(e_rev - v)/(1 + mg/3.57*exp(-0.062*v/mV))`",
        NONE,
    ),
    "Exponential": Names(
        "`iaf_psc_exp`, `aeif_psc_exp`; they do not take the mean over a step",
        "`di/dt = -i/tau`, `on_pre='i += w'`; example `CUBA`",
        NONE,
    ),
    "ExponentialConductance": Names(
        "`iaf_cond_exp`, `aeif_cond_exp`",
        f"`dg/dt = -g/tau`, `on_pre='g += w'`, {G}; example `COBAHH`",
        NONE,
    ),
    "GABA_A": Names(
        "GABA of `iaf_bw_2001`",
        f"`s_GABA` of the {BRUNEL_WANG}",
        "none; `GABAReceptor` is `LigandGated.gaba_a()`",
    ),
    "GABA_B": Names(
        "none: GABA_B of `ht_neuron` is a difference of exponentials",
        "`dr/dt = -k2*r`, `ds/dt = k3*r - k4*s`, `on_pre='r += (1 - r)*(1 - exp(-k1*w))'`, with "
        "`I = g_max*s**4/(s**4 + k_d)*(e_rev - v)`",
        NONE,
    ),
    "Into": Names(
        "the `receptor_type` of a connection",
        "`on_pre` with the variable of that input",
        "the `NeurotransmitterType` of what a neuron releases",
    ),
    "Ionotropic": Names(NONE, NONE, "`Ionotropic`"),
    "LigandGated": Names(
        NONE,
        "`dr/dt = alpha*T*(1 - r) - beta*r`, with `I = g*r*(e_rev - v)`",
        "`AMPAReceptor`, `GABAReceptor`",
    ),
    "LigandGatedNMDA": Names(
        NONE,
        "as of `LigandGated`, with `I = g*r*(e_rev - v)/(1 + mg/3.57*exp(-0.062*v/mV))`",
        "`NMDAReceptor`",
    ),
    "NMDA": Names(
        "NMDA of `iaf_bw_2001`, with the release `NMDAGate`",
        f"`I_NMDA` of the {BRUNEL_WANG}, with the release `NMDAGate`",
        "none; `NMDAReceptor` is `LigandGatedNMDA`",
    ),
    "Several": Names(
        "`AMPA_NMDA` of `cm_default`, with other kinetics",
        "`on_pre` with one statement for each receptor",
        NONE,
    ),
    "TwoStateConductance": Names(
        NONE,
        "`dr/dt = -beta*r`, `on_pre='r += (1 - r)*(1 - exp(-alpha*w))'`, with "
        "`I = g_max*r*(e_rev - v)`",
        "none; `DestexheReceptor` has the same scheme without pulses",
    ),
    # Kinetics.
    "ApproximateKinetics": Names(NONE, NONE, "`ApproximateReceptor`"),
    "DestexheKinetics": Names(
        NONE, "`dr/dt = alpha*T*(1 - r) - beta*r`, `method='euler'`", "`DestexheReceptor`"
    ),
    "ExponentialDecayKinetics": Names(NONE, NONE, "`ExponentialDecayReceptor`"),
    # Releases.
    "ClearedTransmitter": Names(
        NONE,
        "`dT/dt = -clearance*T`, `method='euler'`, reset `T = clip(T + t_max, 0, t_max)`",
        "`ApproximateNeurotransmitter`",
    ),
    "DecayingTransmitter": Names(NONE, NONE, "`ExponentialDecayNeurotransmitter`"),
    "Graded": Names(
        "`rate_connection_instantaneous`, `rate_connection_delayed`",
        "`x_post = w*r_pre : 1 (summed)`",
        NONE,
    ),
    "NMDAGate": Names(
        "the gate of `iaf_bw_2001`; `iaf_bw_2001_exact` has both variables",
        f"none in one variable; `s_NMDA` and `x` of the {BRUNEL_WANG}",
        NONE,
    ),
    "PulsedTransmitter": Names(NONE, NONE, "`DiscreteSpikeNeurotransmitter`"),
    "QuantalRelease": Names("`quantal_stp_synapse`, which draws per synapse", NONE, NONE),
    "RateRelease": Names(
        NONE, "`dr/dt = -r/tau`, reset `r += 1/tau`, and `x_post = w*r_pre : 1 (summed)`", NONE
    ),
    "Spikes": Names("`static_synapse`", "`on_pre='g += w'`", NONE),
    "TsodyksMarkram": Names(
        '`tsodyks2_synapse`; none for "jump first"',
        "`on_pre='u += U*(1 - u); r = u*x; x -= r'` with u that decays to 0 "
        '("tsodyks2"; example `frompapers/Stimberg_et_al_2018/example_1_COBA`) or to U '
        '("jump first")',
        NONE,
    ),
    "VoltageRelease": Names(
        NONE,
        "the factor of `(1 - s)` in the example `synapses/continuous_interaction`, where "
        "`v_half` is 0",
        "`DestexheNeurotransmitter`",
    ),
    # Couplings, by the name of their figure.
    "GapJunctions": Names(
        "`gap_junction`, with `use_wfr=False` for voltages of the last step",
        "`I_post = w*(v_pre - v_post) : 1 (summed)`; example `synapses/gapjunctions`",
        "none: it always averages",
    ),
    "AveragedGapJunctions": Names(
        NONE,
        "`I_post = w*(v_pre - v_post)/N_incoming : 1 (summed)`",
        "`electrical_synapse` of a lattice; its g is that of the target, times the weight",
    ),
    "CoupledVoltages": Names(
        NONE,
        "example `synapses/continuous_interaction`",
        "`chemical_synapse` of a lattice with `DestexheNeurotransmitter`, averaged",
    ),
    "CoupledSpikeRates": Names(NONE, "as of the release `RateRelease`", "none"),
    "CoupledRates": Names(
        "`rate_connection_instantaneous`", "`x_post = w*r_pre : 1 (summed)`", NONE
    ),
}
