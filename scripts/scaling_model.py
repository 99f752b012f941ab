"""Simulation on paper: what a step costs on 1 to 1,024 GPUs, by a model.

A step of a network of N neurons over D devices takes, in microseconds,

    launches + c_n N/D + c_r S B + c_e S K/D + c_s N + exchange / M

with S spikes of all neurons in a step, K synapses of a neuron, B blocks of targets on a device
(rows are visited once per block, whatever their length), and M steps between two exchanges. Terms
without 1/D are those that do not scale: the row of every spike is looked for on every device, and
every device reads the bits of all neurons. `fit` finds the costs of a CPU from lines of `python -m
benchmarks devices`; those of GPUs are computed from published figures and assumptions (`GPUS`,
`gpu_costs`): nothing here has been measured on one.

    python -m scripts.scaling_model [LINES.jsonl]      # tables on stdout, docs/scaling.png
"""

import argparse
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

BLOCK = 65_536  # targets of a block: a target is 2 bytes
PICTURE = Path(__file__).parents[1] / "docs" / "scaling.png"


class Costs(NamedTuple):
    """Microseconds: `launches` of a step; per `neuron`, `row` visited, `event`, and per neuron of
    the whole network that a device `scan`s."""

    launches: float
    neuron: float
    row: float
    event: float
    scan: float


@dataclasses.dataclass(frozen=True)
class Gpu:
    """A card and its links.

    **Fields** memory bandwidth [GB/s] and `memory` [GB]; `link` to the cards of a node and `rail`,
    its port to other nodes, one direction [GB/s]; `near` and `far` latency of one stage of a
    collective [us]; `node` cards.
    """

    name: str
    bandwidth: float
    memory: float
    link: float
    rail: float
    near: float = 5.0
    far: float = 10.0
    node: int = 8


GPUS = {
    "A100": Gpu("A100", 2039.0, 80.0, 300.0, 25.0),
    "H100": Gpu("H100", 3350.0, 80.0, 450.0, 50.0),
    "H200": Gpu("H200", 4800.0, 141.0, 450.0, 50.0),
}


@dataclasses.dataclass(frozen=True)
class Net:
    """What the model knows of a network.

    **Fields** `neurons`; `synapses` of one; `rate` [Hz]; `dt` [ms]; `together` steps between two
    exchanges; `synapse_bytes` of the table.
    """

    name: str
    neurons: float
    synapses: float
    rate: float
    dt: float = 0.1
    together: int = 1
    synapse_bytes: float = 2.0

    @property
    def spikes(self) -> float:
        """Of all neurons in a step."""
        return self.neurons * self.rate * self.dt * 1e-3


NETS = (
    Net("microcircuit", 77_169, 3873.0, 3.0, synapse_bytes=7.0),
    Net("a million neurons", 1e6, 1000.0, 5.0, together=15),
    Net("a billion neurons", 1e9, 1000.0, 5.0, together=15),
)
GOALS = (  # of the 4D roadmap: neurons, cards, seconds per second of biology
    (1e6, 8, 3.0),
    (1e7, 8, 20.0),
)


def gpu_costs(gpu: Gpu, launches: int = 12, launch: float = 2.5, of_peak: float = 0.2) -> Costs:
    """Costs of a card, by arithmetic.

    A neuron moves 50 bytes at 0.7 of the bandwidth of the memory; an event moves a sector of 32
    bytes there and back at `of_peak` of it, since places are scattered; a row that is visited takes
    two such accesses (pointer, first targets); over several devices each moves 11 bytes for every
    neuron of the network in merging bits (unpacked, gathered by a number of 4 bytes, packed).
    """
    scattered = 64e-3 / (gpu.bandwidth * of_peak)
    streamed = 1e-3 / (gpu.bandwidth * 0.7)
    return Costs(launches * launch, 50 * streamed, 2 * scattered, scattered, 11 * streamed)


def blocks(net: Net, devices: int) -> int:
    """Blocks of targets on a device."""
    return math.ceil(net.neurons / devices / BLOCK)


def work(net: Net, devices: int) -> np.ndarray:
    """How many of each of `Costs` a device has in a step."""
    s, d = net.spikes, devices
    events = s * net.synapses / d
    scanned = net.neurons if d > 1 else 0.0
    return np.array([1.0, net.neurons / d, s * blocks(net, d), events, scanned])


def exchange_us(net: Net, devices: int, gpu: Gpu, lists: bool = False) -> float:
    """An all-gather of what `together` steps released, divided by these steps [us].

    One bit per neuron and step, or `lists` of 4 bytes per spike. Every card gets all of it. Stages
    double what is known, first in a node, then between nodes; each node gets it once, over all of
    its ports, and hands it on by its own links.
    """
    if devices == 1:
        return 0.0
    each = 4.0 * net.spikes if lists else net.neurons / 8.0
    total = each * net.together
    nodes = math.ceil(devices / gpu.node)
    inside = min(devices, gpu.node)
    latency = gpu.near * math.ceil(math.log2(inside)) + gpu.far * math.ceil(math.log2(nodes))
    moved = total * (1 - 1 / devices) / gpu.link
    if nodes > 1:
        moved += total * (1 - 1 / nodes) / (gpu.rail * inside)
    return (latency + moved * 1e-3) / net.together


def step_us(net: Net, devices: int, gpu: Gpu, lists: bool = False) -> dict[str, float]:
    """Microseconds of a step by what they go to.

    With `lists`, spikes are sent by number: nothing is scanned, every spike is looked up once, and
    a row is visited only where it has a target.
    """
    done = dict(zip(Costs._fields, map(float, work(net, devices))))
    if lists and devices > 1:
        done["scan"], done["row"] = 0.0, net.spikes + min(done["row"], done["event"])
    costs = gpu_costs(gpu)._asdict()
    parts = {name: amount * costs[name] for name, amount in done.items()}
    return {**parts, "exchange": exchange_us(net, devices, gpu, lists)}


def factor(net: Net, devices: int, gpu: Gpu, lists: bool = False) -> float:
    """Seconds per second of biology."""
    return sum(step_us(net, devices, gpu, lists).values()) * 1e-3 / net.dt


def memory_gb(net: Net, devices: int, sparse: bool = False) -> float:
    """Of a device: synapses, state, 4 bytes per source and block for the rows, and the numbering.

    The numbering says which device has which neuron, 9 bytes for each of the network. `sparse`: no
    numbering, and 12 bytes for each source that has a target in a block, none for others.
    """
    rows = net.neurons * blocks(net, devices)
    here = net.neurons / devices * net.synapses
    numbering = 9.0 * net.neurons if devices > 1 else 0.0
    pointers = 12.0 * min(rows, here) if sparse else 4.0 * rows + numbering
    return (here * net.synapse_bytes + pointers + 100.0 * net.neurons / devices) * 1e-9


def fits(net: Net, gpu: Gpu, counts: Sequence[int], sparse: bool = False) -> int | None:
    """The fewest devices of `counts` that hold the network, None if none do."""
    return next((d for d in counts if memory_gb(net, d, sparse) < 0.9 * gpu.memory), None)


def stops(net: Net, gpu: Gpu, counts: Sequence[int], lists: bool = False) -> int:
    """The last number of devices whose doubling still gains a fifth."""
    for d in counts[:-1]:
        if factor(net, d, gpu, lists) < 1.2 * factor(net, 2 * d, gpu, lists):
            return d
    return counts[-1]


def measured(line: Mapping) -> tuple[Net, int, float]:
    """Network, devices and microseconds per step of a line of `benchmarks devices`."""
    together = line["steps_per_exchange"] or 1
    each = line["synapses"] / line["neurons"]
    net = Net(line["network"], line["neurons"], each, line["rate_hz"], line["dt_ms"], together)
    return net, line["devices"], line["us_per_step"]


def fit(lines: Sequence[Mapping]) -> dict[str, float]:
    """Costs [us] per neuron, row, event, scanned neuron and exchange: least squares, none below 0.

    Each line counts alike, whatever its time. `lines` of one thread per device.
    """
    rows, times = [], []
    for line in lines:
        net, d, us = measured(line)
        rows.append([*work(net, d)[1:4], float(d > 1) / net.together])
        times.append(us)
    a, t = np.array(rows), np.array(times)
    kept = list(range(a.shape[1]))
    while True:  # take out what would be negative, the worst first
        x = np.linalg.lstsq(a[:, kept] / t[:, None], np.ones(t.size), rcond=None)[0]
        if x.min() >= 0 or len(kept) == 1:
            break
        kept.pop(int(x.argmin()))
    found = dict.fromkeys(("neuron", "row", "event", "exchange"), 0.0)
    names = list(found)
    return found | {names[k]: float(v) for k, v in zip(kept, x)}


def fitted_us(line: Mapping, costs: Mapping[str, float]) -> float:
    """What the fitted costs say of a line."""
    net, d, _ = measured(line)
    own = work(net, d)[1:4] @ [costs["neuron"], costs["row"], costs["event"]]
    return float(own + costs["exchange"] * (d > 1) / net.together)


def fit_table(lines: Sequence[Mapping]) -> list[str]:
    """The fit beside what was measured, as Markdown."""
    costs = fit(lines)
    out = [", ".join(f"{k} {1e3 * v:.3g} ns" for k, v in costs.items()), ""]
    out += ["| network | neurons | devices | us per step | model |", "|---|---|---|---|---|"]
    for x in lines:
        row = f"| {x['network']} | {x['neurons']:,} | {x['devices']} | {x['us_per_step']:,.0f}"
        out.append(f"{row} | {fitted_us(x, costs):,.0f} |")
    return out


COUNTS = tuple(2**k for k in range(11))


def prediction_table(gpu: Gpu) -> list[str]:
    """Seconds per second of biology over cards, as Markdown."""
    shown = [1, 2, 4, 8, 16, 64, 256, 1024]
    out = ["| network | exchange | " + " | ".join(map(str, shown)) + " | scales to |"]
    out.append("|" + "---|" * (len(shown) + 3))
    for net in NETS:
        for lists in (False, True):
            first = fits(net, gpu, COUNTS, sparse=lists) or math.inf
            cells = [f"{factor(net, d, gpu, lists):.3g}" if d >= first else "" for d in shown]
            name = "lists" if lists else "bits"
            row = f"| {net.name} | {name} | " + " | ".join(cells)
            held = [d for d in COUNTS if d >= first]
            out.append(f"{row} | {stops(net, gpu, held, lists) if held else 'does not fit'} |")
    return out


def goal_table(gpu: Gpu) -> list[str]:
    """The 4D roadmap's goals for several cards, at 0.1 and 1 ms, as Markdown."""
    out = ["| neurons | cards | goal, s per s | at 0.1 ms | at 1 ms |", "|---|---|---|---|---|"]
    for neurons, cards, goal in (*GOALS, *((n, 16, None) for n, _, _ in GOALS)):
        fine = Net("", neurons, 1000.0, 6.0, 0.1, 15)
        coarse = Net("", neurons, 1000.0, 6.0, 1.0, 2)
        a, b = (factor(net, cards, gpu) for net in (fine, coarse))
        out.append(f"| {neurons:,.0f} | {cards} | {goal or ''} | {a:.3g} | {b:.3g} |")
    return out


def draw(gpu: Gpu, path: Path) -> None:
    """Time over devices for the networks, and what it goes to."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(NETS), figsize=(13, 4.2), sharex=True)
    for axis, net in zip(axes, NETS):
        _draw_one(axis, net, gpu)
    axes[0].set_ylabel("seconds per second of biology")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=9)
    figure.suptitle("A prediction: nothing has been measured on these cards", fontsize=11)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=110)


def _draw_one(axis: Any, net: Net, gpu: Gpu) -> None:
    """One network, on as many cards as hold it in one way or the other."""
    first, listed = fits(net, gpu, COUNTS) or math.inf, fits(net, gpu, COUNTS, sparse=True)
    d = [x for x in COUNTS if x >= min(first, listed or math.inf)]
    parts = [step_us(net, x, gpu) for x in d]
    for name in (*Costs._fields, "exchange"):
        y = [p[name] * 1e-3 / net.dt for p in parts]
        axis.plot(d, [v or math.nan for v in y], lw=1, alpha=0.8, label=name)
    total = [factor(net, x, gpu) for x in d]
    axis.plot(d, total, "k:", lw=1)  # where it would not fit
    held = [math.nan if x < first else y for x, y in zip(d, total)]
    axis.plot(d, held, "k-o", ms=4, label="all, packed bits")
    lists = [factor(net, x, gpu, lists=True) for x in d]
    axis.plot(d, lists, "k--s", ms=3, mfc="w", label="all, lists of spikes")
    axis.set(xscale="log", yscale="log", title=net.name, xlabel=f"{gpu.name} cards")
    axis.set_xticks(COUNTS[::2], [str(x) for x in COUNTS[::2]])
    axis.minorticks_off()
    axis.set_ylim(min(total) / 100, max(total) * 2)
    axis.axhline(1.0, color="0.7", lw=0.8, zorder=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", nargs="?", type=Path, help="of python -m benchmarks devices")
    parser.add_argument("--gpu", choices=GPUS, default="H100")
    parser.add_argument("--out", type=Path, default=PICTURE)
    options = parser.parse_args()
    gpu = GPUS[options.gpu]
    if options.lines:
        found = [json.loads(x) for x in options.lines.read_text().splitlines()]
        alone = [x for x in found if x["threads"] == 1 and x["copies"] == 1]
        print("\n".join(fit_table(alone)), end="\n\n")
    print("\n".join(prediction_table(gpu)), end="\n\n")
    print("\n".join(goal_table(gpu)))
    draw(gpu, options.out)


if __name__ == "__main__":
    main()
