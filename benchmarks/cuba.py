"""CUBA, any size: wall time of one run."""

from ._balanced import cuba as description
from ._run import add_network_options, run_network

__all__ = ["add_options", "run"]

add_options = add_network_options


def run(options) -> None:
    """Runs the benchmark and prints its JSON line (and the peers' ones)."""
    run_network("cuba", description(options.neurons), options)
