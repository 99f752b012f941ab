"""Figures of releases: what a source delivers for a spike, and for a train."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes

import jaxneuro as jn
from jaxneuro._numerics.streams import stream_key
from scripts.zoo_figures import BLUE, COLOURS, GREY, RED, panels
from scripts.zoo_receptor_figures import DT, FIRST, TRAIN, WIDTHS, label, spiking, ticks

GREEN = COLOURS[2]
N = 1000  # neurons, for those that draw
rel = jn.release


class AtSpikes(NamedTuple):
    """A release at spikes: its model, variables to draw beside the values, and presets."""

    model: Any
    variables: tuple[str, ...] = ()
    axis: str = "released"
    one: float = 100.0  # ms
    train: float = 600.0  # ms
    presets: tuple[str, ...] = ()


class EveryStep(NamedTuple):
    """A release in every step: its axis, by label its models, and the source that drives it."""

    axis: str
    models: dict[str, Any]
    source: Any = None
    strength: float = 0.0
    one: float = 100.0  # ms
    train: float = 600.0  # ms


PLASTIC = ("depressing", "facilitating", "working_memory")
CLEARANCES = {f"clearance {x:g} /ms": rel.ClearedTransmitter(clearance=x) for x in (0.01, 0.1)}
DECAYS = {f"tau {x:g} ms": rel.DecayingTransmitter(tau=x) for x in (2.0, 0.05)}
WINDOWS = {f"tau {x:g} ms": rel.RateRelease(x) for x in (20.0, 100.0)}
SHOWN: dict[str, AtSpikes | EveryStep] = {
    "ClearedTransmitter": EveryStep("T [mM]", CLEARANCES),
    "DecayingTransmitter": EveryStep("T [mM]", DECAYS, one=20.0),
    "Graded": EveryStep("delivered: r", {"": rel.Graded()}, jn.neurons.LinearRate(), 1.0),
    "NMDAGate": AtSpikes(rel.NMDAGate(), ("s",), "delivered, and the gate s", 300.0, 1000.0),
    "PulsedTransmitter": AtSpikes(rel.PulsedTransmitter(), (), "T [mM]"),
    "QuantalRelease": AtSpikes(rel.QuantalRelease(sites=5)),
    "RateRelease": EveryStep("r [Hz]", WINDOWS),
    "Spikes": AtSpikes(rel.Spikes(), (), "delivered"),
    "TsodyksMarkram": AtSpikes(
        rel.TsodyksMarkram(), ("x", "u"), "delivered, x and u", 600.0, 600.0, PLASTIC
    ),
    "VoltageRelease": EveryStep(
        "T [mM]",
        {"default": rel.VoltageRelease(), "gaba_b": rel.VoltageRelease.gaba_b()},
        jn.neurons.HodgkinHuxley(),
        40.0,
        20.0,
    ),
}


def draw(name: str) -> Any:
    """The figure of a release."""
    shown = SHOWN[name]
    presets = shown.presets if isinstance(shown, AtSpikes) else ()
    figure, axes, below = panels(len(presets), WIDTHS)
    for axis, times, ms in zip(axes, ((FIRST,), TRAIN), (shown.one, shown.train)):
        if isinstance(shown, EveryStep):
            _draw_every_step(shown, times, ms, axis)
        elif name == "QuantalRelease":
            _draw_quantal(shown.model, times, ms, axis)
        else:
            _draw_at_spikes(shown.model, shown.variables, times, ms, axis)
        if axis.get_xlabel() == "":
            ticks(axis, times, ms)
    for axis, preset in zip(below, presets):
        model = getattr(type(shown.model), preset)()
        _draw_at_spikes(model, shown.variables, TRAIN, shown.train, axis)
        ticks(axis, TRAIN, shown.train)
        axis.set_xlabel("")
        axis.set_title(preset, fontsize=6.5)
    if name != "QuantalRelease":
        axes[0].set_ylabel(shown.axis)
    label(axes[0])
    return figure


def delivered(model: Any, state: Any, spikes: np.ndarray, v: np.ndarray) -> tuple[Any, Any]:
    """The values of all steps, (steps, n), and the states after them."""

    def body(state: Any, now: Any) -> tuple[Any, Any]:
        state, values = model.step(state, *now, DT)
        return state, (values, state)

    return jax.lax.scan(body, state, (jnp.asarray(spikes), jnp.asarray(v)))[1]


def _draw_at_spikes(
    model: Any, variables: tuple[str, ...], times: tuple[float, ...], ms: float, axis: Axes
) -> None:
    """A stem for each delivery, and the course of variables, after each spike."""
    spikes = spiking(times, ms)
    values, states = delivered(model, model.init(1), spikes, np.zeros(spikes.shape))
    t = DT * np.arange(1, len(spikes) + 1)
    for variable, colour in zip(variables, (GREY, GREEN)):
        axis.plot(t, getattr(states, variable)[:, 0], color=colour, linewidth=0.9, label=variable)
    at = spikes[:, 0]
    axis.vlines(t[at], 0.0, values[at, 0], BLUE, linewidth=1.2)
    axis.plot(
        t[at],
        values[at, 0],
        ".",
        color=BLUE,
        markersize=4,
        label="delivered" if variables else None,
    )
    axis.set_ylim(0.0, 1.05 * max(1.0 if "x" in variables else 0.0, *_tops(axis)))


def _tops(axis: Axes) -> list[float]:
    return [float(np.max(line.get_ydata())) for line in axis.lines]


def _draw_quantal(model: Any, times: tuple[float, ...], ms: float, axis: Axes) -> None:
    """How many sites release at a first spike; for a train one neuron, and the mean of all."""
    high, low = stream_key(np.uint32(1), "zoo", "release")
    stream = jn.Stream(high, low, np.arange(N, dtype=np.uint32))
    spikes = np.repeat(spiking(times, ms), N, axis=1)
    values, _ = delivered(model, model.init(N, stream), spikes, np.zeros((len(spikes), 1)))
    values = np.asarray(values)[spikes[:, 0]]
    if len(times) == 1:
        counts = np.bincount(np.rint(values[0] * model.sites).astype(int), minlength=6)
        axis.bar(np.arange(counts.size), counts / N, 0.7, color=BLUE)
        axis.set_xlabel("sites that release at a first spike, of 5")
        axis.set_ylabel(f"share of {N} neurons")
        return
    axis.vlines(times, 0.0, values[:, 0], BLUE, linewidth=1.2)
    axis.plot(times, values[:, 0], ".", color=BLUE, markersize=4, label="one neuron")
    axis.plot(times, values.mean(axis=1), "_", color=RED, markersize=6, label=f"mean of {N}")
    axis.set_ylabel("fraction released")
    axis.set_ylim(0.0, 1.05)
    label(axis, "center right")


def _draw_every_step(shown: EveryStep, times: tuple[float, ...], ms: float, axis: Axes) -> None:
    spikes = spiking(times, ms)
    v = np.zeros(spikes.shape, np.float32)
    if shown.source is not None:
        v = _driven(shown.source, shown.strength, spikes)
    t = DT * np.arange(1, len(spikes) + 1)
    for colour, (name, model) in zip(COLOURS, shown.models.items()):
        values, _ = delivered(model, model.init(1), spikes, v)
        axis.plot(t, values[:, 0], color=colour, linewidth=0.9, label=name or None)


def _driven(source: Any, strength: float, spikes: np.ndarray) -> np.ndarray:
    """v, or the rate, of a neuron with a pulse of 1 ms of input before each spike time."""
    width = round(1.0 / DT)
    pulses = np.convolve(spikes[:, 0], np.ones(width))[width - 1 :] > 0
    variable = "v" if hasattr(source.init(1), "v") else "r"
    record = jn.Record(variables={"neurons": variable})
    given = (strength * pulses).astype(np.float32)[: len(spikes), None]
    fine = 5  # steps of the source in one of the release
    result = jn.simulate(
        source, current=np.repeat(given, fine, axis=0), dt=DT / fine, record=record
    )
    return np.asarray(result.traces["neurons"][variable])[fine - 1 :: fine]
