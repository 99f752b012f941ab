"""A lattice numbered by rows, along the Z-curve, or at random: time per step and per event.

The three networks are the same but for the order of their neurons: every neuron is connected to all
within a radius. What differs is which cache lines a row of synapses, or of neighbours, reaches.
"""

import argparse
import json
import statistics
import time
from collections.abc import Iterator

import numpy as np

import jaxneuro as jn
from jaxneuro.space import morton_codes

from ._record import cpu_device, round_floats
from ._run import DT, connections_of, versions

__all__ = ["add_options", "run"]

ALONE = "neurons alone"  # with receptors that nothing reaches
NO_NEIGHBOURS = 0.5  # spacings


def add_options(parser: argparse.ArgumentParser) -> None:
    """The lattice, and what joins its neurons."""
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument(
        "--dimensions", type=int, default=2, help="side is that of a square of as many"
    )
    parser.add_argument("--radius", type=float, default=5.0, help="spacings")
    parser.add_argument("--gap", action="store_true", help="gap junctions instead of synapses")
    parser.add_argument("--seconds", type=float, default=0.01, help="biological time")
    parser.add_argument("--repeats", type=int, default=5, help="turns")


def numberings(side: int, dimensions: int = 2) -> dict[str, np.ndarray]:
    """Positions of about side^2 neurons in each order: float (n, dimensions)."""
    edge = round(side ** (2 / dimensions))
    axes = np.meshgrid(*[np.arange(edge, dtype=float)] * dimensions, indexing="ij")
    rows = np.stack([x.ravel() for x in axes], axis=1)
    return {
        "rows": rows,
        "z": rows[np.argsort(morton_codes(rows), kind="stable")],
        "random": np.random.default_rng(0).permutation(rows),
    }


def description(points: np.ndarray, radius: float, gap: bool) -> jn.Description:
    """Neurons at these points that fire at about 20 Hz; synapses too weak to change that."""
    lif = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    near = jn.connectivity.DistanceProbability(jn.space.Disc(radius, 1.0))
    start = {"v": jn.Uniform(-60.0, -50.0)}
    neurons = jn.Population("lattice", len(points), lif, start, positions=points)
    ends = "lattice", "lattice", near
    synapse = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)
    projection = jn.Projection(*ends, weight=1e-4, delay=1.5, synapse=synapse)
    return jn.Description(
        [neurons],
        [] if gap else [projection],
        [jn.Stimulation("lattice", jn.stimuli.Current(115.0))],
        couplings=[jn.Coupling(*ends, weight=0.01)] if gap else [],
    )


def run(options: argparse.Namespace) -> None:
    """One JSON line per numbering; neurons alone run in turn with them."""
    for line in measured(*built(options), options):
        line = {key: round_floats(value) for key, value in line.items()}
        print(json.dumps({**line, "device": cpu_device(), "versions": versions()}), flush=True)


def built(options: argparse.Namespace) -> tuple[dict[str, jn.Network], dict[str, float]]:
    """The networks, and how long each took to build [s]."""
    points = numberings(options.side, options.dimensions)
    descriptions = {k: description(x, options.radius, options.gap) for k, x in points.items()}
    descriptions[ALONE] = description(points["rows"], NO_NEIGHBOURS, options.gap)
    nets, build_s = {}, {}
    for name, d in descriptions.items():
        start = time.perf_counter()
        nets[name] = jn.build(d, key=1, dt=DT)
        build_s[name] = time.perf_counter() - start
    return nets, build_s


def measured(
    nets: dict[str, jn.Network], build_s: dict[str, float], options: argparse.Namespace
) -> Iterator[dict]:
    """A line per numbering, from some turns of all networks."""
    ms = 1e3 * options.seconds
    micros: dict[str, list[float]] = {name: [] for name in nets}
    states, spikes = {}, {}
    for turn in range(options.repeats + 1):
        for name, net in nets.items():
            if not turn:
                states[name] = jn.simulate(net, ms, key=1, progress=False).state
                continue
            result = jn.simulate(net, ms, state=states[name], progress=False)
            spikes[name] = result.events("lattice")[0].size / result.n_steps
            micros[name].append(result.run_s * 1e6 / result.n_steps)
    rest = micros.pop(ALONE)
    for name, mine in micros.items():
        net = nets[name]
        each = connections_of(net) / net.n_neurons
        events = connections_of(net) if options.gap else spikes[name] * each
        own = statistics.median(a - b for a, b in zip(mine, rest))
        yield {
            "bench": "numbering",
            "numbering": name,
            "joined": "gap junctions" if options.gap else "synapses",
            "neurons": net.n_neurons,
            "dimensions": options.dimensions,
            "connections_per_neuron": each,
            "build_s": build_s[name],
            "us_per_step": statistics.median(mine),
            "us_neurons_alone": statistics.median(rest),
            "events_per_step": events,
            "ns_per_event": 1e3 * own / events,
            "over_rows": statistics.median(a / b for a, b in zip(mine, micros["rows"])),
            "threads": options.threads,
        }
