"""COBA with short-term plasticity of all its synapses, and without."""

import argparse
import dataclasses

import jaxneuro as jn

from ._balanced import coba
from ._run import add_network_options
from ._stationary import tsodyks_markram
from ._variants import VARIANTS, Variant, run_variants

__all__ = ["add_options", "description", "run"]

add_options = add_network_options

# Weak enough that the irregular trains of COBA release as Poisson trains do on average: it fires at
# 20.9 Hz with them and at 20.6 without (three seeds). Stronger ones fire at other rates.
U, TAU_REC, TAU_FAC = 0.12, 40.0, 40.0
RATE = 21.0  # Hz, at which gain makes up for the mean release


def description(neurons: int, plastic: bool = True) -> jn.Description:
    """COBA; or with Tsodyks-Markram release, whose gain makes up for the mean release at 21 Hz.

    The release starts at its mean, so that the beginning is matched, too.
    """
    d = coba(neurons)
    if not plastic:
        return d
    x, u, mean = tsodyks_markram(U, TAU_REC, TAU_FAC, RATE)
    release = jn.release.TsodyksMarkram(U, TAU_REC, TAU_FAC)
    changed = [
        dataclasses.replace(
            p,
            release=release,
            gain=1.0 / mean,
            # All projections of a population share its release, whose start is given once.
            initial={"x": x, "u": u} if p.source == p.target else {},
        )
        for p in d.projections
    ]
    return dataclasses.replace(d, projections=changed)


def run(options: argparse.Namespace) -> None:
    """Runs the benchmark with and without the release, and prints a JSON line for each."""
    ours = {
        name: Variant("stp", description(options.neurons, name == "with"), options, name)
        for name in VARIANTS
    }
    run_variants("stp", ours, options)
