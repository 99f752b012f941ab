"""Bytes per synapse of a built network, and the peak of the process that builds it.

Each network is built in its own process, because a process does not give memory back.
"""

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

import jaxneuro as jn
from examples.cortical_microcircuit import description as microcircuit

from . import brunel
from ._balanced import coba
from ._record import peak_rss_mb
from ._run import DT, versions

__all__ = ["add_options", "run"]


def _unstored(d: jn.Description) -> jn.Description:
    """The same network with rows that are drawn again at every spike."""
    projections = [
        dataclasses.replace(p, rule=dataclasses.replace(p.rule, stored=False))
        for p in d.projections
    ]
    return dataclasses.replace(d, projections=projections)


# The network by its scale, and options of `build`.
CASES: dict[str, tuple[Callable[[float], jn.Description], dict[str, Any]]] = {
    "coba": (lambda scale: coba(round(4_000_000 * scale)), {}),
    "coba, not stored": (lambda scale: _unstored(coba(round(4_000_000 * scale))), {}),
    "brunel": (lambda scale: brunel.description(round(12_500 * scale**0.5)), {}),
    "microcircuit": (microcircuit, {}),
    "microcircuit, bfloat16": (microcircuit, {"weights": jnp.bfloat16}),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this benchmark."""
    parser.add_argument("--scale", type=float, default=0.1, help="part of the full networks")
    parser.add_argument("--case", choices=CASES, help="only this one, in this process")


def run(options: argparse.Namespace) -> None:
    """One JSON line per network."""
    if options.case:
        _case(options)
        return
    for case in CASES:
        command = [sys.executable, "-m", "benchmarks", "memory", "--case", case]
        command += ["--scale", str(options.scale), "--threads", str(options.threads)]
        subprocess.run(command, check=True)


def _case(options: argparse.Namespace) -> None:
    make, how = CASES[options.case]
    description, before = make(options.scale), peak_rss_mb()
    start = time.perf_counter()
    net = jn.build(description, key=1, dt=DT, **how)
    line = {
        "bench": "memory",
        "case": options.case,
        "scale": options.scale,
        "neurons": net.n_neurons,
        "synapses": net.n_synapses,
        "build_s": round(time.perf_counter() - start, 4),
        "connections_mb": round(net.connection_bytes / 2**20, 1),
        "bytes_per_synapse": round(net.connection_bytes / net.n_synapses, 3),
        "before_mb": before,
        "peak_rss_mb": peak_rss_mb(),
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)
