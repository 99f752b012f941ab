"""The balanced network of NEST's example brunel_delta (V_reset 0 mV): wall time of one run."""

import argparse

import jaxneuro as jn

from ._run import add_network_options, run_network


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a network, of 12,500 neurons unless told."""
    add_network_options(parser)
    parser.set_defaults(neurons=12_500)


def description(neurons: int) -> jn.Description:
    """Brunel (2000) with V_reset 0: g 5, eta 2, J 0.1 mV, in-degrees of a tenth.

    Each neuron has its own Poisson input of 20 kHz, whatever the size;
    doi:10.1023/A:1008925309027.
    """
    sizes = {"E": round(0.8 * neurons), "I": neurons - round(0.8 * neurons)}
    model = jn.neurons.LIF(tau_m=20.0, e_l=0.0, v_th=20.0, v_reset=0.0, t_ref=2.0)
    delta = jn.synapses.Delta()
    projections = [
        jn.Projection(
            source,
            target,
            jn.connectivity.FixedIndegree(sizes[source] // 10),
            weight=0.1 if source == "E" else -0.5,
            delay=1.5,
            synapse=delta,
        )
        for source in sizes
        for target in sizes
    ]
    outside = jn.stimuli.Poisson(20_000.0)
    stimuli = [jn.Stimulation(name, outside, weight=0.1, synapse=delta) for name in sizes]
    populations = [jn.Population(name, n, model) for name, n in sizes.items()]
    return jn.Description(populations, projections, stimuli)


def run(options) -> None:
    """Runs the benchmark and prints its JSON line (and the peers' ones)."""
    run_network("brunel", description(options.neurons), options)
