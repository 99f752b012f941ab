"""Times a network with and without a rule of plasticity, in turn."""

import argparse
from collections.abc import Callable
from typing import Any

import jaxneuro as jn

from ._record import Record
from ._run import Timed
from ._variants import run_variants


class Variant(Timed):
    """A network whose records say which variant it is, and its time per synaptic event.

    An event is an arrival of a presynaptic spike at a synapse that is or could be plastic, and in
    the variant with the rule also each of the postsynaptic spikes that it is paired with.
    """

    def __init__(
        self, bench: str, description: jn.Description, options: Any, ends: tuple, name: str
    ):
        super().__init__(bench, description, options)
        self.name, (self.source, self.target) = name, ends
        self.synapses = 0.0  # that are, or could be, plastic

    def more(self, result: jn.Result) -> Record:
        sources, targets = (self.net.populations[x] for x in (self.source, self.target))
        arrivals = result.events(self.source)[0].size * self.synapses / sources
        pairings = result.events(self.target)[0].size * self.synapses / targets
        events = arrivals + (pairings if self.name == "with" else 0.0)
        return {
            "variant": self.name,
            "events": events,
            "ns_per_event": 1e9 * result.run_s / events if events else None,
            "target_rate_hz": result.rate(self.target),
        }


def run_plastic(bench: str, describe: Callable, options: argparse.Namespace) -> None:
    """Runs both variants and the peers in turn, and prints a JSON line for each of ours."""
    ends = next(
        (p.pre.population, p.post.population)
        for p in describe(options.neurons).projections
        if p.plasticity is not None
    )
    ours = {
        name: Variant(bench, describe(options.neurons, name == "with"), options, ends, name)
        for name in ("with", "without")
    }
    plastic = (p for p in ours["with"].net.pathways if p.plastic is not None)
    synapses = sum(p.table.n_synapses for p in plastic)
    for variant in ours.values():
        variant.synapses = synapses
    run_variants(bench, ours, options)
