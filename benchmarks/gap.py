"""Gap junctions on a sheet of Izhikevich neurons: their cost, and the bound that memory sets."""

import argparse
from typing import Any

import jax
import jax.numpy as jnp

import jaxneuro as jn
from jaxneuro._kernels.gather import gather

from ._bandwidth import cached_bytes_per_s, memory_bytes_per_s
from ._gpu_kernels import seconds
from ._record import Record, round_floats
from ._run import DT, add_network_options
from ._variants import VARIANTS, Variant, run_variants

RADIUS = 2.0  # spacings: 12 neighbours
WEIGHT, CURRENT = 0.02, 10.0  # in the unit of the neuron, mV/ms


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a network, the side of the sheet in place of the number of neurons."""
    add_network_options(parser, neurons=None)
    parser.add_argument("--side", type=int, default=200, help="neurons along an edge")
    parser.add_argument(
        "--individual", action="store_true", help="a weight of its own for every pair"
    )


def description(side: int, coupled: bool = True, individual: bool = False) -> jn.Description:
    """Regular spiking neurons, each coupled to all within two spacings; or without couplings."""
    sheet = jn.Population(
        "sheet",
        side**2,
        jn.neurons.Izhikevich.regular_spiking(),
        {"v": jn.Uniform(-65.0, 30.0)},
        positions=jn.space.Grid((side, side)),
    )
    near = jn.connectivity.DistanceProbability(jn.space.Disc(RADIUS))
    weight = jn.Uniform(0.5 * WEIGHT, 1.5 * WEIGHT) if individual else WEIGHT
    couplings = [jn.Coupling("sheet", "sheet", near, weight=weight, name="gap")]
    drive = jn.Stimulation("sheet", jn.stimuli.Current(CURRENT))
    return jn.Description([sheet], [], [drive], couplings=couplings if coupled else [])


def moved_bytes(net: jn.Network) -> dict[str, int]:
    """What a row sum over any table must move in a step: each array once, no padding."""
    (side,) = net.couplings[0].sides
    table, real = side.table, side.total.dtype.itemsize
    return {
        "indices": table.n_entries * table.sources.dtype.itemsize,
        "weights": table.n_entries * real if side.weights.size else 0,
        "voltages": table.n_sources * real,
        "sums": table.n_rows * real,
    }


def gather_us(net: jn.Network, n_steps: int = 2000) -> float:
    """Microseconds of the row sum alone, in a compiled loop."""
    (side,) = net.couplings[0].sides

    @jax.jit
    def loop(v: jax.Array, weights: jax.Array, table: Any) -> jax.Array:
        # Of zeros the sums are zeros, which the compiler does not know.
        return jax.lax.fori_loop(0, n_steps, lambda _, v: gather(v, weights, table), v)

    v = jnp.zeros(side.table.n_sources, side.total.dtype)
    return 1e6 * seconds(lambda: loop(v, side.weights, side.table)) / n_steps


def bound(net: jn.Network, bio_s: float, threads: int, extra_s: float) -> Record:
    """The time that the bytes need, and how many times as long the coupling takes.

    `memory_bound_s` is what the bytes of a step would need from memory. They may fit in a cache
    (`level`, the smallest that holds them all): the bandwidth over as many bytes gives
    `cache_bound_s`. `ratio` and `cache_ratio` are `extra_s`, the time with the coupling less that
    without, over these bounds; `gather_s` is the row sum alone.
    """
    moved, n_steps = moved_bytes(net), bio_s * 1e3 / DT
    total = sum(moved.values())
    level, cached = cached_bytes_per_s(total, threads)
    memory = memory_bytes_per_s(threads)
    memory_s = n_steps * total / memory
    cache_s = memory_s if level == "memory" else n_steps * total / cached
    gather_s = 1e-6 * gather_us(net) * n_steps
    rates = {"same bytes": cached, "memory": memory}
    fields = {
        "bytes_per_step": moved,
        "level": level,
        "gb_per_s": {name: round_floats(1e-9 * rate) for name, rate in rates.items()},
        "memory_bound_s": memory_s,
        "cache_bound_s": cache_s,
        "coupling_s": extra_s,
        "ratio": extra_s / memory_s,
        "cache_ratio": extra_s / cache_s,
        "gather_s": gather_s,
    }
    return {key: round_floats(value) for key, value in fields.items()}


def run(options: argparse.Namespace) -> None:
    """Runs the benchmark with and without the coupling, and prints a JSON line for each."""
    options.neurons = options.side**2
    ours = {
        name: Variant(
            "gap", description(options.side, name == "with", options.individual), options, name
        )
        for name in VARIANTS
    }
    run_variants(
        "gap",
        ours,
        options,
        more={"side": options.side, "individual": int(options.individual)},
        extend=lambda extra_s: bound(ours["with"].net, options.seconds, options.threads, extra_s),
    )
