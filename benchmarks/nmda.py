"""COBA with saturating NMDA receptors for its excitation, and with AMPA in their place."""

import argparse
import dataclasses
import math

import jaxneuro as jn

from ._balanced import INPUTS, coba
from ._run import add_network_options
from ._stationary import nmda_gate
from ._variants import VARIANTS, Variant, run_variants

__all__ = ["add_options", "description", "run"]

add_options = add_network_options

AMPA = 15.0  # nS: of 2 ms it has the charge of COBA's 6 nS of 5 ms
RATE, V = 14.8, -55.0  # Hz and mV at which the mean conductances of both receptors are equal


def description(neurons: int, nmda: bool = True) -> jn.Description:
    """COBA whose excitation has NMDA receptors and their gates; or AMPA receptors.

    At 14.8 Hz, the rate with AMPA, and -55 mV the mean conductance of both is the same; with NMDA
    the network then fires at 14.4 Hz (three seeds). The gates and the conductances begin at their
    means, so that the beginning is matched, too.
    """
    gate, receptor, ampa = jn.release.NMDAGate(), jn.synapses.NMDA(), jn.synapses.AMPA()
    k_0, k_1 = (float(k) for k in gate.jumps())
    s = nmda_gate(k_0, k_1, float(gate.tau_decay), RATE)
    passed = 1.0 / (1.0 + float(receptor.mg) / 3.57 * math.exp(-0.062 * V))
    mean = 1e-3 * RATE * AMPA * float(ampa.tau_syn)  # nS of one input
    inputs = 0.8 * min(INPUTS, neurons)
    change = {"synapse": ampa, "weight": AMPA, "initial": {"g": inputs * mean}}
    if nmda:
        weight, start = mean / (passed * s), {"g": inputs * mean / passed}
        change = {"synapse": receptor, "release": gate, "weight": weight, "initial": start}
    d = coba(neurons)
    changed = [dataclasses.replace(p, **change) if p.source == "E0" else p for p in d.projections]
    if nmda:  # both projections of E0 share its gates, whose start is given once
        changed[0] = dataclasses.replace(changed[0], initial={**start, "s": s})
    return dataclasses.replace(d, projections=changed)


def run(options: argparse.Namespace) -> None:
    """Runs the benchmark with NMDA and with AMPA receptors, and prints a JSON line for each."""
    ours = {
        name: Variant("nmda", description(options.neurons, name == "with"), options, name)
        for name in VARIANTS
    }
    run_variants("nmda", ours, options)
