"""Times a network with and without a rule of plasticity, in turn."""

import argparse
from collections.abc import Callable
from typing import Any

import jaxneuro as jn

from ._pairing import pair, print_table
from ._peers import run_peer
from ._record import Record, print_record
from ._run import Timed, median_record


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
        self.projection = f"{self.source}->{self.target}"
        connected = self.net.connections(self.projection)
        self.per_source = len(connected) / connected.shape[0]
        self.per_target = len(connected) / connected.shape[1]

    def more(self, result: jn.Result) -> Record:
        arrivals = result.events(self.source)[0].size * self.per_source
        pairings = result.events(self.target)[0].size * self.per_target
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
    records: dict[str, list[Record]] = {name: [] for name in ours}

    def once(name: str) -> Callable[[], Record]:
        def run() -> Record:
            records[name].append(ours[name].once())
            return records[name][-1]

        return run

    def peer(name: str) -> Callable[[], Record]:
        return lambda: run_peer(
            name, bench, options.neurons, options.seconds, options.threads, options.seed
        )

    others = {"without": once("without")} | {name: peer(name) for name in options.against}
    table = pair(once("with"), others, options.repeats)
    for name in ours:
        print_record(median_record(records[name]))
    print_table(table)
