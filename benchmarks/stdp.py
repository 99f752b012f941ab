"""Plastic synapses: 10,000 Poisson inputs onto 1,000 LIF neurons, a million synapses with STDP."""

import argparse

import jaxneuro as jn

from ._plastic import run_plastic
from ._run import add_network_options

INPUTS, RATE = 10, 10.0  # per neuron; Hz


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a network, of 1,000 neurons unless told, with ten inputs for each."""
    add_network_options(parser)
    parser.set_defaults(neurons=1000)


def description(neurons: int, plastic: bool = True) -> jn.Description:
    """Additive STDP on a tenth of all pairs; or the same weights at rest."""
    model = jn.neurons.LIF(tau_m=20.0, c_m=250.0, e_l=-70.0, v_th=-55.0, v_reset=-70.0, t_ref=2.0)
    rule = jn.plasticity.TraceSTDP(a_plus=0.2, a_minus=0.21, w_max=20.0)
    return jn.Description(
        [
            jn.Population("inputs", INPUTS * neurons, jn.neurons.PoissonSource(RATE)),
            jn.Population("neurons", neurons, model, {"v": jn.Uniform(-70.0, -55.0)}),
        ],
        [
            jn.Projection(
                "inputs",
                "neurons",
                jn.connectivity.FixedProbability(100.0 / neurons),
                weight=jn.Uniform(0.0, 20.0),
                delay=0.1,
                synapse=jn.synapses.Exponential(tau_syn=2.0),
                plasticity=rule if plastic else None,
            )
        ],
    )


def run(options) -> None:
    """Runs the benchmark with and without the rule, and prints a JSON line for each."""
    run_plastic("stdp", description, options)
