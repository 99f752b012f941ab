"""Writes the zoo from the package: `python -m scripts.zoo_page [--text]` (no figures).

docs/zoo.md is made here, docs/zoo_transmission.md in `zoo_transmission`.
"""

import argparse
import inspect
from typing import Any

import jaxneuro as jn
from scripts import zoo_transmission
from scripts.zoo_names import KINDS, PEERS
from scripts.zoo_sections import (
    DOCS,
    FIGURES,
    block,
    classes,
    ends,
    equations,
    fields,
    in_order,
    name_of,
    presets,
    summary,
    table,
)

PAGE = DOCS / "zoo.md"

HEAD = """<!-- Written by `make zoo` from the docstrings: change those, not this page. -->

# The zoo: every neuron, channel and integrator

This page shows every model with its equations, parameters, figure and tests. Synapses, releases and
couplings are in [zoo_transmission.md](zoo_transmission.md). To write a model of your own, read
[write-a-model.md](write-a-model.md).

Units are ms, mV, pA, pF and nS, or uA/cm2, uF/cm2 and mS/cm2 where a model says so. The left panel
of a figure shows the response to a step of current (grey bar), from the start values of the model,
with spikes as ticks above. The right panel shows the rate under constant currents, from one
`jn.simulate` over all of them, without the first 300 ms. A small panel shows a preset, or the
neuron with one more channel, at the step in its title and in the colour of its curve; or v after
one arrival at a port. For sources, the left panel shows spikes of twenty neurons, and the right one
their rate against the rate that was set (dashed: equal).

"""
EXPLAINED = """
*Equations* says whether the membrane is linear, has a quadratic, cubic or exponential upswing, or
has channels. *Update* is *exact* for a drive that is constant over the step, or has an *order*:
that of the error in dt of everything between spikes. *Spikes* happen at a *threshold*, when v is at
or above it at the end of a step, or at an upward *crossing*, for models without a reset.

## Names in other simulators

Equations are the same unless the table says otherwise. Defaults are those of NEST if it has the
model. In Brian2 a user writes the equations; the names are those of its examples. The names of
lixirnet are those of its crate `spiking_neural_networks`.

"""
LAWS = """
## Checks

The laws (`tests/laws`) run on every case that a model names below. They are: float64 equals an
oracle, a float64 NumPy program that was written from the paper; float32 stays near it; compiled
equals eager; `vmap` equals a loop; one number equals an array of equal numbers; permuting the
neurons only permutes the result; a run in chunks equals a whole run; gradients equal finite
differences; there is no NaN and no leaked tracer. Tests that are specific to a model are in the
files named with it.
"""

CHANNELS = """
## Channels

[`HodgkinHuxley`](#hodgkinhuxley) is composed of channels;
`with_channel(jn.channels.PotassiumM(g=0.1))` adds one. The neuron's `q10` scales rates that hold at
another temperature than its own: rates measured at 36 C are 26 times slower in an axon at 6.3 C.
"""


def main() -> None:
    """Draws the figures and writes the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", action="store_true", help="do not draw the figures")
    if not parser.parse_args().text:
        from scripts import zoo_figures, zoo_transmission_figures

        FIGURES.mkdir(exist_ok=True)
        for name in neurons():
            zoo_figures.draw(name, FIGURES / f"{name}.png")
        for name in zoo_transmission.figures():
            zoo_transmission_figures.draw(name, FIGURES / f"{name}.png")
    PAGE.write_text(page())
    zoo_transmission.PAGE.write_text(zoo_transmission.page())


def neurons() -> dict[str, type]:
    """The public neuron models by name, in the order of the alphabet."""
    return in_order(classes(jn.neurons, jn.Neuron))


def page() -> str:
    """The text of the page."""
    rows = table(
        ("neuron", "what it is", "equations", "update", "spikes"),
        [
            (f"[`{name}`](#{name.lower()})", summary(cls), *_row(name))
            for name, cls in neurons().items()
        ],
    )
    peers = table(("NEST", "Brian2", "lixirnet", "here"), PEERS)
    parts = [HEAD, rows, EXPLAINED, peers, LAWS, "\n## Neurons\n"]
    parts += [_neuron(name, cls) for name, cls in neurons().items()]
    parts += [CHANNELS]
    parts += [_channel(cls) for cls in classes(jn.channels, jn.channels.Channel).values()]
    parts += ["\n## Integrators\n\nValues of the field `method`: `jn.integrators.rk4`, ...\n\n"]
    return "".join(parts) + _integrators()


def _row(name: str) -> tuple[str, str, str]:
    kind, update, spikes = KINDS[name]
    if update:
        return kind, update, spikes
    method: Any = inspect.signature(getattr(jn.neurons, name)).parameters["method"].default
    return kind, f"`{name_of(type(method))}`, order {method.order}", spikes


def _neuron(name: str, cls: type) -> str:
    figure = f"\n![{name}: answer to a step, and rate](zoo/{name}.png)\n"
    start = f"\n### {name}\n\n{equations(cls)}\n"
    return start + figure + fields(cls) + presets(cls) + ends(cls)


def _channel(cls: Any) -> str:
    start = f"\n### {cls.__name__}\n\n{equations(cls)}\n"
    if cls.gates:
        gates = ", ".join(f"`{x}`" for x in cls.gates)
        start += f"\nGates: {gates}, at the rates of {cls.celsius:g} C.\n"
    return start + fields(cls) + ends(cls)


def _integrators() -> str:
    rows = []
    for cls in classes(jn.integrators, jn.integrators.Integrator).values():
        reach: Any = cls.reach  # type: ignore[attr-defined]
        bound = "none" if reach is None else f"{reach:g} / rate"
        sentence, *_ = summary(cls).split(". ")
        source = block(cls, "Source")
        rows.append((f"`{name_of(cls)}`", sentence, str(cls.order), bound, source))  # type: ignore[attr-defined]
    rendered = table(("value", "what it does", "order", "largest dt", "source"), rows)
    file = "integrators/test_order.py"
    return f"{rendered}\nChecks: every order, and what is stable, in [{file}](../tests/{file}).\n"


if __name__ == "__main__":
    main()
