"""The benchmark network of NEST: 11,250 neurons, 81 million synapses with power-law STDP."""

import argparse

import numpy as np

import jaxneuro as jn

from ._plastic import run_plastic
from ._run import add_network_options

# Morrison, Aertsen and Diesmann (2007), doi:10.1162/neco.2007.19.6.1467, as NEST's
# hpc_benchmark has it: indegrees at every size, weights of 0.14 mV, g = -5, eta = 1.685.
EXCITATORY, INHIBITORY, PEAK = 9000, 2250, 0.14
TAU_SYN, TAU_M, C_M, V_TH = 0.32582722403722841, 10.0, 250.0, 20.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a network, of 11,250 neurons unless told."""
    add_network_options(parser)
    # As in NEST's example. Its rates grow: those of NEST are 8, 10, 12, 24 and 49 Hz in the first
    # five windows of 100 ms, so that a longer run measures another network.
    parser.set_defaults(neurons=11_250, repeats=1, seconds=0.25)


def current_of(peak: float) -> float:
    """The peak current [pA] of an alpha synapse whose potential has the peak [mV]."""
    t = np.linspace(0.0, 5.0, 50_001)
    a, b = 1.0 / TAU_SYN, 1.0 / TAU_M
    late = (np.exp(-b * t) - np.exp(-a * t)) / (a - b) - t * np.exp(-a * t)
    return peak / float((np.e * a / C_M / (a - b) * late).max())


def description(neurons: int, plastic: bool = True) -> jn.Description:
    """At `neurons` other than 11,250 the indegrees shrink in proportion."""
    scale = neurons / (EXCITATORY + INHIBITORY)
    sizes = {"E": round(EXCITATORY * scale), "I": round(INHIBITORY * scale)}
    model = jn.neurons.IafPscAlpha(
        tau_m=TAU_M, c_m=C_M, e_l=0.0, v_th=V_TH, v_reset=0.0, t_ref=0.5,
        tau_syn_ex=TAU_SYN, tau_syn_in=TAU_SYN,
    )  # fmt: skip
    weight = current_of(PEAK) / scale
    rule = jn.plasticity.PowerLawSTDP(0.1, 0.0513, 0.4, 15.0, 30.0)
    projections = [
        jn.Projection(
            source,
            target,
            jn.connectivity.FixedIndegree(sizes[source], autapses=False),
            weight=weight if source == "E" else -5.0 * weight,
            delay=1.5,
            synapse=jn.synapses.Direct("ex" if source == "E" else "in"),
            plasticity=rule if plastic and (source, target) == ("E", "E") else None,
        )
        for source in sizes
        for target in sizes
    ]
    # eta = 1.685 times the rate [Hz] at which the mean of the external input is at threshold: one
    # spike has the charge weight e tau_syn.
    threshold = 1e3 * V_TH * C_M / (TAU_M * current_of(PEAK) * np.e * TAU_SYN)
    outside = jn.stimuli.Poisson(1.685 * threshold)
    stimuli = [
        jn.Stimulation(name, outside, weight=current_of(PEAK), synapse=jn.synapses.Direct("ex"))
        for name in sizes
    ]
    start = {"v": jn.Normal(5.7, 7.2)}
    populations = [jn.Population(name, n, model, start) for name, n in sizes.items()]
    return jn.Description(populations, projections, stimuli)


def run(options) -> None:
    """Runs the benchmark with and without the rule, and prints a JSON line for each."""
    run_plastic("hpc", description, options)
