"""Figures of couplings: a driven neuron, and another that is coupled to it."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import jaxneuro as jn
from scripts.zoo_figures import BLUE, RED, WIDTH
from scripts.zoo_receptor_figures import FIRST, TRAIN, ticks
from scripts.zoo_transmission import COUPLINGS

HEIGHT = 2.6  # inches
PULSE = 1.0  # ms of input for a spike


class Shown(NamedTuple):
    """Who is coupled, and how a driven and an undriven neuron are shown.

    `sizes` and `models` of the populations, of which the first neuron of the first is driven with
    pulses of `strength`; of the last neuron of the last population the lower panel is.
    """

    models: dict[str, Any]
    n: int
    strength: float
    above: tuple[str, str]  # variable, axis
    below: tuple[str, str]
    dt: float = 0.02
    limits: tuple[float, float] | None = None  # of the lower panel


REST = -64.0  # mV, of the neuron below
FAST, V = jn.neurons.WangBuzsaki(), ("v", "v, driven [mV]")
OTHER = ("v", "v, other [mV]")
SHOWN = {
    "GapJunctions": Shown({"cells": FAST}, 5, 30.0, V, OTHER, limits=(-65.0, -61.0)),
    "AveragedGapJunctions": Shown({"cells": FAST}, 5, 30.0, V, OTHER, limits=(-65.0, -61.0)),
    "CoupledVoltages": Shown({"cells": FAST, "targets": FAST}, 1, 30.0, V, OTHER),
    "CoupledSpikeRates": Shown(
        {"cells": jn.neurons.LIF(), "units": jn.neurons.LinearRate()},
        1,
        6000.0,
        V,
        ("r", "r of the unit"),
        0.1,
    ),
    "CoupledRates": Shown(
        {"sources": jn.neurons.LinearRate(), "units": jn.neurons.LinearRate()},
        1,
        10.0,
        ("r", "r, driven"),
        ("r", "r, other"),
        0.1,
    ),
}


def draw(name: str) -> Figure:
    """The figure of a coupling: the driven neuron above, the other below."""
    shown = SHOWN[name]
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes: Any = figure.subplots(2, 2, sharex="col", width_ratios=(1.0, 1.5))
    for column, times, ms in zip(axes.T, ((FIRST,), TRAIN), (60.0, 600.0)):
        for axis, course, colour in zip(column, _run(name, shown, times, ms), (BLUE, RED)):
            axis.plot(shown.dt * np.arange(1, len(course) + 1), course, color=colour, linewidth=0.9)
        _limits(column, shown, times, ms)
    axes[0, 0].set_ylabel(shown.above[1])
    axes[1, 0].set_ylabel(shown.below[1])
    figure.align_ylabels()
    return figure


def _limits(column: Any, shown: Shown, times: tuple[float, ...], ms: float) -> None:
    above, below = column
    ticks(above, times, ms)
    above.set_xlabel("")
    if shown.limits is not None:
        below.set_ylim(*shown.limits)
    below.set_xlim(0.0, ms)
    below.set_xlabel("t [ms]")


def coupling(name: str) -> jn.Coupling:
    """The coupling whose code is on the page."""
    return eval(COUPLINGS[name].code, {"jn": jn})


def _run(name: str, shown: Shown, times: tuple[float, ...], ms: float) -> tuple[Any, Any]:
    """The courses of the driven neuron and of the other."""
    cells = [
        jn.Population(k, shown.n, model, {"v": REST} if model is FAST else {})
        for k, model in shown.models.items()
    ]
    driven, other = cells[0].name, cells[-1].name
    edges = sorted({x for t in times if t <= ms for x in (t, t + PULSE)})
    values = [shown.strength if k % 2 == 0 else 0.0 for k in range(len(edges))]
    pulses = jn.stimuli.Current(jn.stimuli.Steps(edges, values))
    given = [jn.Stimulation(jn.Part(driven, slice(0, 1)), pulses)]
    description = jn.Description(cells, [], given, couplings=[coupling(name)])
    net = jn.build(description, key=0, dt=shown.dt)
    wanted = {driven: {shown.above[0]}}
    wanted.setdefault(other, set()).add(shown.below[0])
    record = jn.Record(variables={k: tuple(sorted(x)) for k, x in wanted.items()})
    traces = jn.simulate(net, ms, record=record).traces
    return traces[driven][shown.above[0]][:, 0], traces[other][shown.below[0]][:, -1]
