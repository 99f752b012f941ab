"""What a step would take on cards that nobody here has: a prediction to be held to.

    launches * LAUNCH_US + max(bytes / bandwidth, adds / their rate, operations / their rate)

microseconds per step.
Launches, and the bytes that belong to neurons, are those that `gpu_check` found. The rest follows
from sizes and rates: an event reads its target (and weight and delay where it has them) and makes
one atomic add in the L2 cache.
"""

import argparse
import json
from typing import Any, NamedTuple

from ._cards import CARDS, Card
from ._gpu_table import TABLE

__all__ = ["add_options", "run"]

LAUNCH_US = 2.5  # of one of many kernels in a row
HASH_OPERATIONS = 40  # integer operations per synapse that is drawn again


class Work(NamedTuple):
    """A network in a step.

    Attributes:
        like: the network of the table that has its launches and bytes per neuron.
        neurons: how many.
        spikes: of all neurons per step, on average.
        fan_out: synapses per neuron.
        bytes_per_event: read of a synapse.
        adds: atomic adds per event.
        operations: integer operations per event.
        more: launches of further groups and pathways.
    """

    like: str
    neurons: float
    spikes: float
    fan_out: float
    bytes_per_event: float = 2.0
    adds: float = 1.0
    operations: float = 0.0
    more: int = 0


def _per_step(neurons: float, hz: float, dt_ms: float = 0.1) -> float:
    return neurons * hz * dt_ms / 1000


WORK = {
    **{
        f"COBA, {name}": Work("COBA (one slot)", n, _per_step(n, 22.0), 80.0)
        for name, n in (("4,000", 4e3), ("400,000", 4e5), ("4 million", 4e6))
    },
    # 77,169 neurons, 299 million synapses, 3.2 Hz; one weight per projection, a delay per synapse.
    "microcircuit": Work("microcircuit, a tenth", 77_169, _per_step(77_169, 3.2), 3874.0, 3.0),
    # 10,000 Poisson sources of 10 Hz, 100 synapses each, onto 1,000 neurons of 20 Hz.
    "STDP, a million synapses": Work(
        *("pair STDP", 11_000, _per_step(10_000, 10.0), 100.0), bytes_per_event=50.0, more=1
    ),
    # 11,250 neurons of 8 Hz; 9,000 synapses of a row are plastic, and 2,250 are not.
    "hpc": Work("pair STDP", 11_250, _per_step(11_250, 8.0), 11_250.0, 40.0, more=2),
    # A gap junction reads an index and a voltage for each neighbour in every step.
    "lattice, a million": Work("gap junctions", 1e6, 1e6, 9.6, 8.0, adds=0.0),
    # A round: 1,000 neurons of the area and 1,000 of the stimulus fire, p = 0.01. Its cap takes
    # XLA's passes, 125 launches in all (docs/gpu.md), 101 more than at 10,000 neurons.
    "assembly, a million": Work(
        *("assembly", 1e6, 2000.0, 1e4), bytes_per_event=0.0, operations=HASH_OPERATIONS, more=101
    ),
}
# Times per step of other simulators [us]; a step is 0.1 ms of biology. The microcircuit's are
# real-time factors of 0.272 and 0.386 (Golosio et al. 2023), from docs/benchmarking of
# github.com/INM-6/microcircuit-PD14-model.
OTHERS = {
    "microcircuit": (
        "27.2 with Poisson drive (GeNN, RTX 4090), 38.6 with constant drive (NEST GPU, RTX 4090)"
    ),
    "COBA, 4,000": "26.6 (A6000)",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(options: argparse.Namespace) -> None:
    """Prints a JSON line for each network and card."""
    del options
    for name in WORK:
        for card in CARDS:
            print(json.dumps({"network": name, "card": card, "us_per_step": predicted(name, card)}))


def predicted(name: str, card: str) -> float:
    """Microseconds per step."""
    work, found = WORK[name], _found(WORK[name].like)
    neurons = {"microcircuit, a tenth": 7716, "gap junctions": 4096, "assembly": 1e4}
    per_neuron = found["moved"] / neurons.get(work.like, 4000)
    events = work.spikes * work.fan_out
    moved = per_neuron * work.neurons + work.bytes_per_event * events
    return round(
        (found["launches"] + work.more) * LAUNCH_US + _work_us(CARDS[card], moved, work), 1
    )


def _work_us(card: Card, moved: float, work: Work) -> float:
    events, lanes = work.spikes * work.fan_out, card.cores * card.lanes * card.clock_ghz * 1e9
    seconds = moved / card.bandwidth, work.adds * events / card.adds()
    return max(*seconds, work.operations * events / lanes) * 1e6


def beside(bench: str, neurons: int, device: str) -> dict[str, float]:
    """The prediction for a benchmark of `benchmarks.gpu` on a card, if there is one."""
    work = {("gpu coba", 4000): "COBA, 4,000", ("gpu coba", 400_000): "COBA, 400,000"}
    work["gpu microcircuit 1 poisson", 77_169] = "microcircuit"
    cards = [name for name, card in CARDS.items() if card.name == device]
    name = work.get((bench, neurons))
    return {"predicted_us_per_step": predicted(name, cards[0])} if name and cards else {}


def _found(name: str) -> dict[str, Any]:
    versions: dict[str, Any] = json.loads(TABLE.read_text())
    return max((v[name]["H100"] for v in versions.values()), key=lambda x: x["launches"])


def prediction_table() -> str:
    """A row for each network, a column for each card."""
    out = f"| us per step | {' | '.join(CARDS)} | measured by others |\n"
    out += "|---" * (len(CARDS) + 2) + "|\n"
    for name in WORK:
        columns = " | ".join(f"{predicted(name, card):,.0f}" for card in CARDS)
        out += f"| {name} | {columns} | {OTHERS.get(name, '')} |\n"
    return out
