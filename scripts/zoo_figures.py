"""The figures of docs/zoo.md: the response of each model to a step, and its rate by the input."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import jaxneuro as jn

BLUE, RED, GREY = "#0072B2", "#D55E00", "#8C8C8C"
# Okabe and Ito (2008) without yellow, and three more for the longest list of presets.
COLOURS = (BLUE, RED, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", GREY, "#7F3C8D")
CURRENTS = 101  # in an f-I curve
SKIPPED = 300.0  # ms of it before spikes are counted
WIDTH, ROW, LOW, DPI = 6.0, 2.0, 1.1, 150  # inches: 900 x 300 pixels without further rows
FEW = 2  # small panels that stand beside the large ones
MANY = 5  # small panels in one row at most


class Shown(NamedTuple):
    """How a model is shown: a step from `base` to `step`, and a sweep of constant inputs."""

    step: float
    sweep: tuple[float, float]
    unit: str = "pA"
    ms: float = 200.0
    dt: float = 0.1
    base: float = 0.0
    variables: tuple[str, ...] = ("v",)
    axis: str = "v [mV]"
    rate: str = "spikes/s"
    counted: float = 1000.0  # ms
    repeats: int = 1  # neurons per input, for those that draw
    presets: dict[str, float] = {}  # noqa: RUF012 (class method: its step)
    channels: dict[str, float] = {}  # noqa: RUF012 (one channel more: its step)
    arrivals: dict[str, float] = {}  # noqa: RUF012 (port, or "jump": what arrives once)


DENSITY = "uA/cm2"
UNITLESS: dict[str, Any] = {"unit": "", "axis": "v", "rate": "spikes in 1000 units of time"}
RATE: dict[str, Any] = {
    "unit": "",
    "variables": ("r",),
    "axis": "r",
    "rate": "r after a second",
    "ms": 100.0,
}
ADEX = {"tonic": 500.0, "adapting": 500.0, "initial_burst": 400.0, "regular_bursting": 210.0}
IZHIKEVICH = {
    "regular_spiking": 10.0,
    "intrinsically_bursting": 10.0,
    "chattering": 10.0,
    "fast_spiking": 10.0,
    "low_threshold_spiking": 10.0,
    "thalamo_cortical": 2.0,
    "resonator": 2.0,
    "lixirnet": 40.0,
}
CHANNELS = {"PotassiumA": 40.0}
# The levels differ in how they fire: one step for all.
GLIF: dict[str, float] = dict.fromkeys(("glif1", "glif2", "glif3", "glif4", "glif5"), 400.0)
SHOWN = {
    "ALIF": Shown(500.0, (300.0, 1500.0), ms=500.0, counted=2000.0),
    "AdEx": Shown(800.0, (0.0, 1500.0), ms=500.0, counted=2000.0, presets=ADEX),
    "EIF": Shown(50.0, (0.0, 400.0)),
    "EscapeRateLIF": Shown(400.0, (0.0, 1000.0), repeats=20),
    "FitzHughNagumo": Shown(0.5, (0.0, 1.8), **UNITLESS, ms=400.0, counted=4000.0),
    "FlyLIF": Shown(1000.0, (0.0, 3000.0), arrivals={"g": 20.0}),
    "GIF": Shown(500.0, (0.0, 1000.0), repeats=20, ms=500.0, presets={"cortical": 300.0}),
    "GLIF": Shown(400.0, (0.0, 1000.0), ms=500.0, presets=GLIF),
    "HindmarshRose": Shown(2.0, (0.0, 5.0), **UNITLESS, ms=1200.0, counted=6000.0),
    "HodgkinHuxley": Shown(10.0, (0.0, 100.0), DENSITY, 100.0, 0.02, channels=CHANNELS),
    "HomeostaticLIF": Shown(500.0, (300.0, 1500.0), ms=500.0, counted=2000.0),
    "IafPscAlpha": Shown(450.0, (0.0, 1500.0), arrivals={"ex": 300.0, "in": -300.0}),
    "IafPscDelta": Shown(450.0, (0.0, 1500.0), arrivals={"jump": 3.0}),
    "IafPscExp": Shown(450.0, (0.0, 1500.0), arrivals={"ex": 300.0, "in": -300.0}),
    "Izhikevich": Shown(10.0, (0.0, 30.0), "mV/ms", 400.0, presets=IZHIKEVICH),
    "LIF": Shown(450.0, (0.0, 1500.0)),
    "LeakyIntegrator": Shown(250.0, (-500.0, 500.0), rate="v after a second [mV]"),
    "LeakyIzhikevich": Shown(1500.0, (18.0, 3000.0), "mV/ms", 4000.0, base=20.0, counted=9700.0),
    "LinearRate": Shown(1.0, (-2.0, 2.0), **RATE),
    "MorrisLecar": Shown(
        110.0, (0.0, 250.0), DENSITY, 600.0, counted=4000.0, presets={"hopf": 110.0, "snlc": 60.0}
    ),
    "PoissonSource": Shown(100.0, (0.0, 5000.0), "Hz", 200.0),
    "QIF": Shown(150.0, (0.0, 500.0), ms=300.0),
    "Relay": Shown(100.0, (0.0, 5000.0), "Hz", 200.0),
    "TanhRate": Shown(1.0, (-3.0, 3.0), **RATE),
    "ThresholdLinearRate": Shown(1.0, (-2.0, 2.0), **RATE),
    "TraubMiles": Shown(500.0, (-200.0, 2000.0), ms=100.0, dt=0.02, base=-100.0),
    "TwoCompartment": Shown(
        500.0,
        (0.0, 1500.0),
        variables=("v", "v_d"),
        axis="v, and v_d in red [mV]",
        arrivals={"dendrite": 300.0},
    ),
    "WangBuzsaki": Shown(1.0, (0.0, 10.0), DENSITY, 200.0, 0.02),
}


def draw(name: str, path: Path) -> None:
    """Writes the figure of a neuron model."""
    shown = SHOWN[name]
    extras = [*shown.presets.items(), *shown.channels.items(), *shown.arrivals.items()]
    figure, (left, right), places = panels(len(extras))
    if name in ("PoissonSource", "Relay"):
        _draw_source(name, shown, left, right)
    else:
        cls = getattr(jn.neurons, name)
        _draw_step(cls(), shown, shown.step, left)
        _draw_curves(cls, shown, right)
        for number, (place, (what, value)) in enumerate(zip(places, extras), start=1):
            if what in shown.presets:
                _draw_step(getattr(cls, what)(), shown, value, place, COLOURS[number])
                place.set_title(f"{what}: {value:g}", fontsize=6.5)
            elif what in shown.channels:
                channel = getattr(jn.channels, what)()
                _draw_step(cls().with_channel(channel), shown, value, place, COLOURS[number])
                place.set_title(f"with {what}: {value:g}", fontsize=6.5)
            else:
                _draw_arrival(cls(), what, value, place)
    finish(figure, path)


def panels(
    small: int, widths: tuple[float, float] = (1.5, 1.0)
) -> tuple[Figure, Sequence[Axes], list[Axes]]:
    """The two large panels, and the small ones: beside them if they are few, else in rows below."""
    if small <= FEW:
        figure = Figure(figsize=(WIDTH, ROW), layout="constrained")
        ratios = (widths[0] - 0.1, widths[1], 0.6) if small else widths
        grid = figure.add_gridspec(max(small, 1), len(ratios), width_ratios=ratios)
        large = [figure.add_subplot(grid[:, k]) for k in range(2)]
        return figure, large, [figure.add_subplot(grid[k, 2]) for k in range(small)]
    columns = small if small <= MANY else 4
    rows = math.ceil(small / columns)
    figure = Figure(figsize=(WIDTH, ROW + LOW * rows), layout="constrained")
    parts: Any = figure.subfigures(1 + rows, 1, height_ratios=[ROW] + rows * [LOW])
    top, *below = parts
    large = top.subplots(1, 2, width_ratios=widths)
    return figure, large, [axis for row in below for axis in row.subplots(1, columns)]


def finish(figure: Figure, path: Path) -> None:
    """Sets sizes and lines of all panels, and writes the figure with few colours."""
    for axis in figure.axes:
        small = axis.title.get_text() != ""
        axis.tick_params(labelsize=6 if small else 7, width=0.6, length=2.5)
        axis.spines[["top", "right"]].set_visible(False)
        axis.spines[["left", "bottom"]].set_linewidth(0.6)
        for text in (axis.xaxis.label, axis.yaxis.label):
            text.set_fontsize(7.5)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI, metadata={"Software": None})
    picture = Image.open(buffer).convert("RGB").quantize(96, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)


def _draw_step(model: Any, shown: Shown, step: float, axis: Axes, colour: str = BLUE) -> None:
    """The variables under a step from a tenth to nine tenths of the time, spikes as ticks above."""
    n_steps = round(shown.ms / shown.dt)
    t = shown.dt * np.arange(1, n_steps + 1)
    start, stop = 0.1 * shown.ms, 0.9 * shown.ms
    current = np.where((t > start) & (t <= stop), step, shown.base)
    record = jn.Record(variables={"neurons": shown.variables})
    result = jn.simulate(model, current=current[:, None], dt=shown.dt, record=record, key=1)
    traces = result.traces["neurons"]
    for name, tone in zip(shown.variables, (colour, RED)):
        axis.plot(t, traces[name][:, 0], color=tone, linewidth=0.9)
    values = np.concatenate([traces[x][:, 0] for x in shown.variables])
    low, high = values.min(), max(values.max(), values.min() + 1e-6)
    spikes = result.events("neurons")[0]
    axis.vlines(spikes, high + 0.06 * (high - low), high + 0.14 * (high - low), "k", linewidth=0.6)
    axis.hlines(low - 0.1 * (high - low), start, stop, GREY, linewidth=2.5)
    axis.set_ylim(low - 0.17 * (high - low), high + 0.17 * (high - low))
    axis.set_xlim(0.0, shown.ms)
    if colour == BLUE:
        words = f"{shown.base:g} to {step:g}" if shown.base else f"{step:g}"
        axis.set_xlabel(f"t [ms]; grey: {words} {shown.unit}".rstrip())
        axis.set_ylabel(shown.axis)


def _draw_arrival(model: Any, port: str, value: float, axis: Axes) -> None:
    """v after what arrives once at a port, 5 ms after the start."""
    dt, n_steps = 0.1, 500
    at = (jnp.arange(n_steps) == 49) * value

    def body(state: Any, x: jax.Array) -> tuple[Any, jax.Array]:
        arriving = jnp.full(1, x)
        jumps = port == "jump"
        drive = jn.Drive(jump=arriving) if jumps else jn.Drive(arrivals={port: arriving})
        state, _ = model.step(state, drive, dt)
        return state, state.v[0]

    _, v = jax.lax.scan(body, model.init(1), at)
    axis.plot(dt * np.arange(1, n_steps + 1), v, color=BLUE, linewidth=0.9)
    what = "Delta" if port == "jump" else port
    axis.set_title(f"{what}: {value:g} {'mV' if port == 'jump' else 'pA'}", fontsize=6.5)
    axis.ticklabel_format(useOffset=False)


def _draw_curves(cls: type, shown: Shown, axis: Axes) -> None:
    """The rate by a constant input, of all inputs at once, for the defaults and the presets."""
    inputs = np.linspace(*shown.sweep, CURRENTS)
    with_channels = {name: getattr(jn.channels, name)() for name in shown.channels}
    for number, name in enumerate(("", *shown.presets, *shown.channels)):
        model = getattr(cls, name)() if name in shown.presets else cls()
        if name in with_channels:
            model = model.with_channel(with_channels[name])
        style = {"linewidth": 1.2 if not name else 0.8, "zorder": 3 if not name else 2}
        axis.plot(inputs, _curve(model, shown, inputs), color=COLOURS[number], **style)
    axis.set_xlabel(f"constant current [{shown.unit}]" if shown.unit else "constant input")
    axis.set_ylabel(shown.rate)
    axis.set_xlim(*shown.sweep)


def _curve(model: Any, shown: Shown, inputs: np.ndarray) -> np.ndarray:
    constant = np.repeat(inputs, shown.repeats)
    steps = round((SKIPPED + shown.counted) / shown.dt)
    given = np.broadcast_to(constant.astype(np.float32), (steps, constant.size))
    if "after a second" in shown.rate:
        record = jn.Record(variables={"neurons": shown.variables}, interval=steps * shown.dt)
        result = jn.simulate(model, current=given, dt=shown.dt, record=record)
        return result.traces["neurons"][shown.variables[0]][-1]
    times, neurons = jn.simulate(model, current=given, dt=shown.dt, key=1).events("neurons")
    counts = np.bincount(neurons[times > SKIPPED], minlength=constant.size)
    return counts.reshape(-1, shown.repeats).mean(axis=1) * 1000.0 / shown.counted


def _sources(name: str, rate: Any, n: int, ms: float) -> Any:
    if name == "PoissonSource":
        return jn.simulate(jn.neurons.PoissonSource(rate), ms, n=n, dt=0.1, key=1)
    given = jn.Stimulation(
        "neurons", jn.stimuli.Poisson(rate), weight=1.0, synapse=jn.synapses.Delta()
    )
    cells = [jn.Population("neurons", n, jn.neurons.Relay())]
    net = jn.build(jn.Description(cells, [], [given]), key=1, dt=0.1)
    return jn.simulate(net, ms, key=1)


def _draw_source(name: str, shown: Shown, left: Axes, right: Axes) -> None:
    """Spikes of twenty sources, and their rate by the one that they are given."""
    times, neurons = _sources(name, shown.step, 20, shown.ms).events("neurons")
    left.vlines(times, neurons - 0.4, neurons + 0.4, BLUE, linewidth=0.8)
    left.set_xlim(0.0, shown.ms)
    left.set_xlabel(f"t [ms]; Poisson, {shown.step:g} Hz")
    left.set_ylabel("neuron")
    rates, repeats = np.linspace(*shown.sweep, 26), 20
    result = _sources(name, np.repeat(rates, repeats), rates.size * repeats, 1000.0)
    counts = np.bincount(result.events("neurons")[1], minlength=rates.size * repeats)
    right.plot(rates, rates, color=GREY, linewidth=0.8, linestyle="--")
    right.plot(rates, counts.reshape(-1, repeats).mean(axis=1), color=BLUE, linewidth=1.2)
    right.set_xlabel("rate given [Hz]")
    right.set_ylabel("spikes/s at dt 0.1 ms")
