"""Figures of receptors: what each gives to its neuron after a spike, and after a train."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes

import jaxneuro as jn
from scripts.zoo_figures import COLOURS, GREY, panels

DT = 0.1
FIRST, PERIOD, MANY, LATE = 10.0, 20.0, 10, 500.0  # ms, ms, spikes, ms
TRAIN = (*(FIRST + PERIOD * k for k in range(MANY)), LATE)
PULSE = jn.release.ClearedTransmitter(clearance=0.2)
syn = jn.synapses
OPEN, G = "open fraction r", "g [nS]"
WIDTHS = (1.0, 1.3)  # of the panels of a spike and of a train


class Curve(NamedTuple):
    """One line: its label, the receptor, the clamped voltage, and the port of the spikes.

    `given` are concentrations at other ports that stay; `dashed` a line for comparison.
    """

    label: str
    model: Any
    v: float = -70.0
    port: str = ""
    given: dict[str, float] = {}  # noqa: RUF012
    dashed: bool = False


class Shown(NamedTuple):
    """How a receptor is shown: the axis, its curves, the lengths of both panels."""

    axis: str
    curves: tuple[Curve, ...]
    one: float = 60.0  # ms
    train: float = 600.0  # ms
    weight: float = 1.0
    pulsed: bool = False  # whether a spike is a pulse of concentration
    small: Curve | None = None  # a train of another size, in a panel of its own


def _blocked(model: Callable[..., Any], **more: Any) -> tuple[Curve, ...]:
    free = Curve("no magnesium", model(mg=0.0), dashed=True)
    at = (Curve(f"{v} mV", model(), v) for v in (-20, -40, -70))
    return (free, *at)


def _kinds(cls: Any, names: tuple[str, ...]) -> tuple[Curve, ...]:
    return tuple(Curve(name, getattr(cls, name)()) for name in names)


def _gated(kinetics: dict[str, Any]) -> tuple[Curve, ...]:
    """Receptors of 1 nS, so that the conductance is the open fraction."""
    return tuple(Curve(k, syn.LigandGated(x, g=1.0)) for k, x in kinetics.items())


DESTEXHE = {k: getattr(syn.DestexheKinetics, k)() for k in ("ampa", "nmda", "gaba_a", "gaba_b")}
PORTS = tuple(Curve(f"spikes at {p!r}", syn.Ionotropic(), -50.0, p) for p in syn.Ionotropic.ports)
DOPAMINE = tuple(
    Curve(f"dopamine {x:g} mM", syn.DopaGluGABA(), -30.0, "glutamate", {"dopamine": x})
    for x in (0.0, 0.5, 0.9)
)
BOTH = syn.Several((syn.AMPA(), syn.NMDA()), (1.0, 0.4))
DECAY = {f"tau {x:g} ms": syn.ExponentialDecayKinetics(tau=x) for x in (0.05, 2.0)}
SHOWN = {
    "Alpha": Shown("current [pA]", (Curve("", syn.Alpha()),)),
    "AlphaConductance": Shown(G, (Curve("", syn.AlphaConductance()),)),
    "AMPA": Shown(G, (Curve("", syn.AMPA()),)),
    "ApproximateKinetics": Shown(
        OPEN,
        _gated({f"r_max {x:g}": syn.ApproximateKinetics(x) for x in (1.0, 0.5)}),
        pulsed=True,
    ),
    "DestexheKinetics": Shown(OPEN, _gated(DESTEXHE), 100.0, pulsed=True),
    "DopaGluGABA": Shown("current at -30 mV [pA]", DOPAMINE, pulsed=True),
    "DoubleExponential": Shown("current [pA]", (Curve("", syn.DoubleExponential()),)),
    "DoubleExponentialConductance": Shown(G, (Curve("", syn.DoubleExponentialConductance()),)),
    "DoubleExponentialNMDA": Shown(
        "g B(v) [nS]", _blocked(syn.DoubleExponentialNMDA), 300.0, 1000.0
    ),
    "Exponential": Shown("current [pA]", (Curve("", syn.Exponential()),)),
    "ExponentialConductance": Shown(G, (Curve("", syn.ExponentialConductance()),)),
    "ExponentialDecayKinetics": Shown(OPEN, _gated(DECAY), pulsed=True),
    "GABA_A": Shown(G, (Curve("", syn.GABA_A()),)),
    "GABA_B": Shown(
        "g [nS], g_max 1 nS",
        tuple(Curve(f"k1 {x:g} /(mM ms)", syn.GABA_B(k1=x)) for x in (0.09, 0.18)),
        1000.0,
        1500.0,
    ),
    "Ionotropic": Shown("current at -50 mV [pA]", PORTS, 100.0, pulsed=True),
    "LigandGated": Shown(
        G,
        _kinds(syn.LigandGated, ("ampa", "gaba_a")),
        pulsed=True,
        small=Curve("gaba_b", syn.LigandGated.gaba_b()),
    ),
    "LigandGatedNMDA": Shown(
        "g r B(v) [nS]", _blocked(syn.LigandGatedNMDA), 300.0, 1000.0, 1, True
    ),
    "NMDA": Shown("g B(v) [nS]", _blocked(syn.NMDA), 300.0, 1000.0),
    "Several": Shown(
        "both conductances [nS]", tuple(Curve(f"{v} mV", BOTH, v) for v in (-20, -70)), 100.0, 700.0
    ),
    "TwoStateConductance": Shown(G, _kinds(syn.TwoStateConductance, ("ampa", "gaba_a"))),
}


class Neuron(NamedTuple):
    """How a synapse is shown by the v of its neuron: by label, synapse and weight."""

    model: Any
    synapses: dict[str, tuple[Any, float]]


FREE = jn.neurons.LIF(v_th=0.0)
IN_NEURONS = {
    "Delta": Neuron(FREE, {"v of a LIF, 1 mV": (syn.Delta(), 1.0)}),
    "Direct": Neuron(
        jn.neurons.IafPscExp(v_th=0.0),
        {
            "'ex' of an IafPscExp, 100 pA": (syn.Direct("ex"), 100.0),
            "'in', -100 pA": (syn.Direct("in"), -100.0),
        },
    ),
    "Into": Neuron(
        FREE,
        {
            f"{p!r}, 5 mM in a step": (syn.Into(syn.Ionotropic(), p), 5.0)
            for p in ("ampa", "nmda", "gaba")
        },
    ),
}


def draw(name: str) -> Any:
    """The figure of a receptor."""
    small = SHOWN[name].small if name in SHOWN else None
    figure, axes, places = panels(1 if small else 0, WIDTHS)
    if name in IN_NEURONS:
        for axis, times, ms in zip(axes, ((FIRST,), TRAIN), (100.0, 600.0)):
            _draw_neuron(IN_NEURONS[name], times, ms, axis)
            ticks(axis, times, ms)
        axes[0].set_ylabel("v [mV]")
    else:
        shown = SHOWN[name]
        for axis, times, ms in zip(axes, ((FIRST,), TRAIN), (shown.one, shown.train)):
            for number, curve in enumerate(shown.curves):
                _draw_curve(curve, shown, times, ms, number, axis)
            ticks(axis, times, ms)
        axes[0].set_ylabel(shown.axis)
        if small:
            _draw_curve(small, shown, TRAIN, shown.train, 2, places[0])
            ticks(places[0], TRAIN, shown.train)
            places[0].set_title(small.label, fontsize=6.5)
    label(axes[0])
    return figure


def label(axis: Axes, place: str = "best") -> None:
    """The names of the lines that have one."""
    if any(not line.get_label().startswith("_") for line in axis.lines):
        axis.legend(loc=place, fontsize=6.5, frameon=False, handlelength=1.2, borderaxespad=0.2)


def ticks(axis: Axes, times: tuple[float, ...], ms: float) -> None:
    """Grey ticks above at the spikes, and the axis of time."""
    low, high = axis.get_ylim()
    tall = high - low
    axis.vlines(times, high + 0.02 * tall, high + 0.1 * tall, GREY, linewidth=0.8)
    axis.set_ylim(low, high + 0.12 * tall)
    axis.set_xlim(0.0, ms)
    axis.set_xlabel("t [ms]")
    axis.ticklabel_format(axis="y", useOffset=False)


def spiking(times: tuple[float, ...], ms: float) -> np.ndarray:
    """Whether a neuron spikes in each step, (steps, 1)."""
    spikes = np.zeros((round(ms / DT), 1), bool)
    spikes[[round(t / DT) - 1 for t in times if t <= ms]] = True
    return spikes


def _draw_curve(
    curve: Curve, shown: Shown, times: tuple[float, ...], ms: float, number: int, axis: Axes
) -> None:
    arrivals = jnp.asarray(spiking(times, ms), jnp.float32) * shown.weight
    if shown.pulsed:
        arrivals = _concentration(spiking(times, ms))
    out = received(curve, arrivals, "current" in shown.axis)
    blocked = curve.dashed
    colours = COLOURS if not shown.curves[0].dashed else (GREY, *COLOURS)
    axis.plot(
        DT * np.arange(1, len(out) + 1),
        out,
        color=colours[number],
        linewidth=0.9,
        linestyle="--" if blocked else "-",
        label=curve.label or None,
    )


def _concentration(spikes: np.ndarray) -> jax.Array:
    """What the transmitter of the figures gives, (steps, 1)."""

    def body(state: Any, now: jax.Array) -> tuple[Any, jax.Array]:
        return PULSE.step(state, now, jnp.zeros(1), DT)

    return jax.lax.scan(body, PULSE.init(1), jnp.asarray(spikes))[1]


def received(curve: Curve, arrivals: jax.Array, current: bool) -> np.ndarray:
    """The current [pA] into a clamped neuron, or the conductance [nS], in every step."""
    model, v = curve.model, jnp.full(1, float(curve.v))
    rows = [curve.given.get(port, 0.0) for port in model.ports]
    at = model.ports.index(curve.port) if model.ports else 0

    def body(state: Any, now: jax.Array) -> tuple[Any, jax.Array]:
        if model.ports:
            now = jnp.stack([now if k == at else jnp.full(1, x) for k, x in enumerate(rows)])
        state, drive = model.step(state, now, v, DT)
        return state, (drive.current_at(v) if current else drive.conductance)[0]

    return np.asarray(jax.lax.scan(body, model.init(1), arrivals)[1])


def _draw_neuron(shown: Neuron, times: tuple[float, ...], ms: float, axis: Axes) -> None:
    """v of neurons, each with the spikes at one of the synapses."""
    n = len(shown.synapses)
    given = [
        jn.Stimulation(
            jn.Part("cells", slice(k, k + 1)),
            jn.stimuli.SpikeTimes([t for t in times if t <= ms]),
            weight=weight,
            synapse=synapse,
            name=str(k),
        )
        for k, (synapse, weight) in enumerate(shown.synapses.values())
    ]
    cells = [jn.Population("cells", n, shown.model)]
    net = jn.build(jn.Description(cells, [], given), key=0, dt=DT)
    result = jn.simulate(net, ms, record=jn.Record(variables={"cells": "v"}))
    v = result.traces["cells"]["v"]
    for k, name in enumerate(shown.synapses):
        axis.plot(
            DT * np.arange(1, len(v) + 1), v[:, k], color=COLOURS[k], linewidth=0.9, label=name
        )
