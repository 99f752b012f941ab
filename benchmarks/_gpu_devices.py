"""One network over the cards of this machine: the same spikes as on one, and its scaling."""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

import jaxneuro as jn

from ._balanced import coba
from ._devices import Apart, Case, Laid, opened, records, table, take_turns
from ._record import Record
from ._run import DT
from .devices import cases_of

# Network, neurons (of one card if they grow with the cards), whether they grow.
NETWORKS = (
    ("coba", 400_000, False),
    ("coba", 400_000, True),
    ("microcircuit", 77_169, False),
)


def counts() -> list[int]:
    """1, 2, 4 ... cards, and all of them."""
    every = jax.device_count()
    return sorted({d for d in (1, 2, 4, 8, 16, 32) if d < every} | {every})


def checks(small: bool) -> Iterator[tuple[str, bool]]:
    """Spikes over a mesh of 1, 2 ... cards equal those without a mesh, summed in whole numbers."""
    net = jn.build(coba(200 if small else 4000), key=1, dt=DT, deterministic=True)
    ms = 5.0 if small else 100.0
    alone = jn.simulate(net, ms, key=1, progress=False)
    for d in counts():
        spread = jn.parallel.shard(net, Mesh(np.array(jax.devices()[:d]), ("devices",)))
        many = jn.simulate(spread, ms, key=1, progress=False)
        same = (np.array_equal(*x) for k in net.populations for x in zip(*both(alone, many, k)))
        yield f"coba over {d} of the cards", all(same)


def both(one: jn.Result, many: jn.Result, name: str) -> tuple:
    """Times and neurons of the spikes of a population in two runs."""
    return one.events(name), many.events(name)


def scaling(
    options: argparse.Namespace, left: Callable[[], float], say: Callable[[str], None]
) -> Iterator[Record]:
    """Lines of `benchmarks devices` for the cards here, and for native threads of the CPU."""
    small = options.interpret
    for network, neurons, weak in NETWORKS:
        if left() < 60:
            say(f"skipped {network}: too little of the time is left")
            continue
        ours = argparse.Namespace(
            network=network,
            neurons=max(neurons // 200, 300) if small else neurons,
            weak=weak,
            devices=counts(),
            threads=options.threads,
            seconds=0.002 if small else 0.1 * options.seconds,
        )
        platform = jax.default_backend()
        cases = cases_of(ours, platform, jax.device_count())
        with opened([x for x in cases if x.copies == 1], _runner) as runners:
            lines = list(records(runners, take_turns(runners, 1 if small else 3), weak))
        yield from lines
        say("\n".join(table(lines)))


def _runner(case: Case) -> Any:
    """Cards belong to this process; native threads of the CPU have one of their own."""
    here = case.platform == jax.default_backend() and case.threads == 1
    return Laid(case) if here else Apart(case)
