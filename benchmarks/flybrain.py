"""The fly's brain (Shiu et al. 2024): loading, building, compiling and one trial."""

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import jaxneuro as jn

from ._pairing import pair, print_table
from ._peers import run_peer
from ._record import Record, print_record, round_floats
from ._run import Timed, add_network_options, median_record
from .peers import _fly_edges as fly


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a network, of the size of a fly's brain, and the number of edges."""
    add_network_options(parser, neurons=fly.NEURONS)
    parser.add_argument("--edges", type=int, default=fly.EDGES)


def load(
    columns: Mapping[str, np.ndarray], neurons: int
) -> tuple[jn.connectivity.Edges, float, str]:
    """The edges as a user reads them, from a parquet file; the seconds; and what was read.

    Without pyarrow the arrays are read. The file is written before, into a temporary folder.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, kind = columns, "arrays"
        try:
            from pyarrow import parquet, table  # pyright: ignore[reportMissingImports]
        except ImportError:
            pass
        else:
            source, kind = Path(folder) / "edges.parquet", "parquet"
            parquet.write_table(table(dict(columns)), source)
        start = time.perf_counter()
        edges = jn.connectivity.Explicit.from_edges(
            source, neurons=np.arange(neurons), duplicates="keep"
        )
        return edges, time.perf_counter() - start, kind


def description(edges: jn.connectivity.Edges) -> jn.Description:
    """One population, its edges, and Poisson input that makes the first 20 neurons fire."""
    cells = jn.Population("brain", edges.n, jn.neurons.FlyLIF())
    wires = jn.Projection(
        "brain",
        "brain",
        edges.rule,
        weight=fly.WEIGHT_MV * edges.weight,
        delay=fly.DELAY_MS,
        synapse=jn.synapses.Direct("g"),
    )
    drive = jn.Stimulation(
        jn.Part("brain", slice(0, fly.DRIVEN)),
        jn.stimuli.Poisson(fly.RATE_HZ),
        weight=fly.DRIVE_MV,
        synapse=jn.synapses.Delta(),
    )
    return jn.Description([cells], [wires], [drive])


def of_size(neurons: int, seed: int = 1) -> jn.Description:
    """The same with as many edges per neuron as a fly has, from arrays."""
    columns = fly.random_edges(neurons, round(neurons * fly.EDGES / fly.NEURONS), seed)
    edges = jn.connectivity.Explicit.from_edges(
        columns, neurons=np.arange(neurons), duplicates="keep"
    )
    return description(edges)


class Loaded(Timed):
    """A network whose records say how long its edges took to load."""

    def __init__(self, options: Any) -> None:
        columns = fly.random_edges(options.neurons, options.edges, options.seed)
        edges, self.load_s, self.read = load(columns, options.neurons)
        super().__init__("flybrain", description(edges), options)

    def more(self, result: jn.Result) -> Record:
        return {"load_s": round_floats(self.load_s), "read": self.read}


def run(options: argparse.Namespace) -> None:
    """Runs the benchmark, in turn with peers, and prints our JSON line (ratios on stderr)."""
    ours, records = Loaded(options), []

    def once() -> Record:
        records.append(ours.once())
        return records[-1]

    def peer(name: str) -> Any:
        how = options.seconds, options.threads, options.seed
        return lambda: run_peer(name, "flybrain", options.neurons, *how, edges=options.edges)

    table = pair(once, {name: peer(name) for name in options.against}, options.repeats)
    print_record(median_record(records) | table.over_ours)
    if options.against:
        print_table(table)
