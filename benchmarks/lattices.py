"""Lattices of lixirnet with gap junctions, sides of 10 to 200: time per step, as a table."""

import argparse
import sys

import jaxneuro as jn

from ._record import Record, print_record, round_floats
from ._run import Timed, median_record

SIDES = (10, 20, 50, 100, 200)
RADIUS, PROBABILITY, CONDUCTANCE = 2.0, 0.8, 10.0
START = {"v": jn.Uniform(-65.0, 30.0), "u": 30.0}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The sides, and how long each lattice runs."""
    parser.add_argument("--sides", type=int, nargs="*", default=list(SIDES), metavar="SIDE")
    parser.add_argument("--seconds", type=float, default=0.5, help="biological time")
    parser.add_argument("--repeats", type=int, default=3, help="runs after one warm-up")
    parser.add_argument("--seed", type=int, default=1)


def description(side: int) -> jn.Description:
    """The lattice of lixirnet's example: neurons within two spacings, each with probability 0.8.

    The two directions of a pair are drawn apart, and a neuron averages over those that it sees;
    https://github.com/NikhilMukraj/spiking-neural-networks, lattice_example. There a neuron may
    see itself, which adds no current but counts in the average; here it does not.
    """
    cell = jn.neurons.Izhikevich(0.02, 0.2, -55.0, 8.0, c_m=100.0)
    grid = jn.space.Grid((side, side))
    lattice = jn.Population("lattice", side**2, cell, START, positions=grid)
    near = jn.connectivity.DistanceProbability(jn.space.Disc(RADIUS, PROBABILITY))
    gap = jn.Coupling(
        *("lattice", "lattice", near), weight=CONDUCTANCE, average=True, symmetric=False
    )
    return jn.Description([lattice], couplings=[gap])


class Lattice(Timed):
    """A lattice whose records have its side, its couplings and its time per step."""

    def __init__(self, side: int, options: argparse.Namespace):
        super().__init__("lattices", description(side), options)
        self.side = side

    def more(self, result: jn.Result) -> Record:
        per_step = result.run_s / result.n_steps
        return {
            "side": self.side,
            "ms_per_step": round_floats(1e3 * per_step),
            "steps_per_s": round_floats(1.0 / per_step),
        }


def run(options: argparse.Namespace) -> None:
    """Prints a JSON line per side, and the table on stderr."""
    rows = ["side    neurons   synapses     ms per step   steps per s"]
    for side in options.sides:
        lattice = Lattice(side, options)
        line = median_record([lattice.once() for _ in range(options.repeats)])
        print_record(line)
        rows.append(
            f"{side:4}  {side**2:9,}  {line['synapses']:9,}  {line['ms_per_step']:14.4g}"
            f"  {line['steps_per_s']:12,.0f}"
        )
    print("\n".join(rows), file=sys.stderr, flush=True)
