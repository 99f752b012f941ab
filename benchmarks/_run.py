"""Times a network: build, compile and run apart, the median of several runs."""

import argparse
import importlib.metadata
import statistics
import time
from typing import Any

import jaxneuro as jn

from ._pairing import pair, print_table
from ._peers import run_peer
from ._record import Record, make_record, peak_rss_mb, print_record

DT = 0.1
SETTLED_MS = 500.0  # of a run that rates by population leave out


def add_network_options(parser: argparse.ArgumentParser, neurons: int | None = 4000) -> None:
    """The options of every benchmark that runs a network; None: another option says its size."""
    if neurons is not None:
        parser.add_argument("--neurons", type=int, default=neurons)
    parser.add_argument("--seconds", type=float, default=1.0, help="biological time")
    parser.add_argument("--repeats", type=int, default=3, help="runs after one warm-up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--against", nargs="*", default=[], metavar="PEER")


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    names = ("jaxneuro", "jax", "jaxlib", "numpy")
    return {name: importlib.metadata.version(name) for name in names}


def connections_of(net: jn.Network) -> int:
    """Synapses and couplings; a pair that sees each other has two of these."""
    sides = [side for c in net.couplings for side in c.sides]
    return net.n_synapses + sum(side.table.n_entries for side in sides)


class Timed:
    """A built and warmed-up network that can be run again and again.

    `rates`: its records have the rate of each population, after the first 500 ms of a longer run.
    """

    def __init__(self, bench: str, description: jn.Description, options: Any, rates: bool = False):
        self.bench, self.options, self.rates = bench, options, rates
        start = time.perf_counter()
        self.net = jn.build(description, key=options.seed, dt=DT)
        self.build_s = time.perf_counter() - start
        warm = jn.simulate(self.net, 1e3 * options.seconds, key=options.seed, progress=False)
        self.compile_s = warm.compile_s

    def once(self) -> Record:
        """One run, as a record (not printed)."""
        result = jn.simulate(
            self.net, 1e3 * self.options.seconds, key=self.options.seed, progress=False
        )
        spikes = sum(result.events(name)[0].size for name in self.net.populations)
        return make_record(
            bench=self.bench,
            impl="jaxneuro",
            neurons=self.net.n_neurons,
            synapses=connections_of(self.net),
            dt_ms=DT,
            bio_s=self.options.seconds,
            build_s=self.build_s,
            compile_s=self.compile_s,
            wall_s=result.run_s,
            rate_hz=spikes / max(self.net.n_neurons, 1) / self.options.seconds,
            rates_hz=_late_rates(result) if self.rates else None,
            peak_rss_mb=peak_rss_mb(),
            threads=self.options.threads,
            versions=versions(),
        ) | self.more(result)

    def more(self, result: jn.Result) -> Record:
        """What the records of a kind of benchmark have beside the others."""
        return {}


def _late_rates(result: jn.Result) -> dict[str, float]:
    """Mean rate of each population [Hz] after the first 500 ms, if there is more than that."""
    start = SETTLED_MS if result.duration > SETTLED_MS else 0.0
    rates = {}
    for name, n in result.populations.items():
        late = (result.events(name)[0] > start).sum()
        rates[name] = 1e3 * float(late) / max(n, 1) / (result.duration - start)
    return rates


def median_record(records: list[Record]) -> Record:
    """The record with the median wall time (the lower one of an even number)."""
    wall = statistics.median_low(r["wall_s"] for r in records)
    return next(r for r in records if r["wall_s"] == wall)


def run_network(
    bench: str,
    description: jn.Description,
    options: Any,
    more: dict[str, Any] | None = None,
    rates: bool = False,
) -> None:
    """Runs ours, alone or in turn with peers, and prints JSON lines (ratios on stderr).

    `more`: options of this benchmark alone, handed to the peers; `rates`: as `Timed`.
    """
    timed = Timed(bench, description, options, rates)
    if not options.against:
        print_record(median_record([timed.once() for _ in range(options.repeats)]))
        return

    def peer(name: str) -> Any:
        return lambda: run_peer(
            name,
            bench,
            options.neurons,
            options.seconds,
            options.threads,
            options.seed,
            **(more or {}),
        )

    ours: list[Record] = []

    def once() -> Record:
        ours.append(timed.once())
        return ours[-1]

    table = pair(once, {name: peer(name) for name in options.against}, options.repeats)
    print_record(median_record(ours) | table.over_ours)
    print_table(table)
