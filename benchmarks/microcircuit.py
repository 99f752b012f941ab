"""The cortical microcircuit (Potjans and Diesmann 2014), or a part of it: wall time of a run."""

import argparse

from examples.cortical_microcircuit import N, description

from ._run import add_network_options, run_network

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a network, by its scale instead of its size."""
    add_network_options(parser)
    parser.add_argument("--scale", type=float, default=1.0, help="part of the full network")
    parser.add_argument("--drive", choices=("poisson", "dc"), default="poisson")
    parser.set_defaults(neurons=None)


def run(options: argparse.Namespace) -> None:
    """Runs the benchmark and prints its JSON line (and the peers' ones), with rates by population.

    Rates are those after the first 500 ms of a longer run, as are the published ones.
    """
    neurons = sum(round(options.scale * n) for n in N[:8])
    if options.neurons not in (None, neurons):
        raise SystemExit("microcircuit takes --scale, not --neurons")
    options.neurons = neurons
    peer = {"scale": options.scale, "drive": options.drive}
    run_network(
        "microcircuit", description(options.scale, options.drive), options, peer, rates=True
    )
