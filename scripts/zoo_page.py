"""Writes docs/zoo.md from the package: `python -m scripts.zoo_page [--text]` (no figures)."""

import argparse
import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import jaxneuro as jn
from jaxneuro._fields import parameters
from scripts.zoo_checks import cases, checks
from scripts.zoo_names import KINDS, PEERS

ROOT = Path(__file__).resolve().parents[1]
PAGE, FIGURES = ROOT / "docs" / "zoo.md", ROOT / "docs" / "zoo"

HEAD = """<!-- Written by `make zoo` from the docstrings: change those, not this page. -->

# The zoo: every neuron, channel and integrator

This page shows every model with its equations, parameters, figure and tests. To write a model of
your own, read [write-a-model.md](write-a-model.md).

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
    """Draws the figures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", action="store_true", help="do not draw the figures")
    if not parser.parse_args().text:
        from scripts.zoo_figures import draw

        FIGURES.mkdir(exist_ok=True)
        for name in neurons():
            draw(name, FIGURES / f"{name}.png")
    PAGE.write_text(page())


def neurons() -> dict[str, type]:
    """The public neuron models by name, in the order of the alphabet."""
    return dict(sorted(classes(jn.neurons, jn.Neuron).items(), key=lambda x: x[0].lower()))


def page() -> str:
    """The text of the page."""
    table = _table(
        ("neuron", "what it is", "equations", "update", "spikes"),
        [
            (f"[`{name}`](#{name.lower()})", _summary(cls), *_row(name))
            for name, cls in neurons().items()
        ],
    )
    peers = _table(("NEST", "Brian2", "lixirnet", "here"), PEERS)
    parts = [HEAD, table, EXPLAINED, peers, LAWS, "\n## Neurons\n"]
    parts += [_neuron(name, cls) for name, cls in neurons().items()]
    parts += [CHANNELS]
    parts += [_channel(cls) for cls in classes(jn.channels, jn.channels.Channel).values()]
    parts += ["\n## Integrators\n\nValues of the field `method`: `jn.integrators.rk4`, ...\n\n"]
    return "".join(parts) + _integrators()


def classes(module: Any, role: type) -> dict[str, type]:
    """The public classes of a module that play a role, by name."""
    found = {k: v for k, v in vars(module).items() if inspect.isclass(v) and issubclass(v, role)}
    return {k: v for k, v in found.items() if v is not role}


def _row(name: str) -> tuple[str, str, str]:
    kind, update, spikes = KINDS[name]
    if update:
        return kind, update, spikes
    method: Any = inspect.signature(getattr(jn.neurons, name)).parameters["method"].default
    return kind, f"`{_value(type(method))}`, order {method.order}", spikes


def _neuron(name: str, cls: type) -> str:
    figure = f"\n![{name}: answer to a step, and rate](zoo/{name}.png)\n"
    start = f"\n### {name}\n\n{_equations(cls)}\n"
    return start + figure + _fields(cls) + _presets(cls) + _ends(cls)


def _channel(cls: Any) -> str:
    start = f"\n### {cls.__name__}\n\n{_equations(cls)}\n"
    if cls.gates:
        gates = ", ".join(f"`{x}`" for x in cls.gates)
        start += f"\nGates: {gates}, at the rates of {cls.celsius:g} C.\n"
    return start + _fields(cls) + _ends(cls)


def _ends(cls: type) -> str:
    """The source of a model, what differs from it, and what is tested."""
    out = f"\nSource: {_block(cls, 'Source')}\n"
    if _block(cls, "Differs"):
        out += f"\nDiffers: {_block(cls, 'Differs')}\n"
    names = ", ".join(f"`{case}`" for case in cases(cls))
    parts = [f"- the laws on {names}"] if names else []
    for file, tests in checks(cls):
        parts.append(f"- [{file}](../tests/{file}): {', '.join(f'`{x}`' for x in tests)}")
    return out + "\nChecks:\n\n" + "\n".join(parts) + "\n"


def _integrators() -> str:
    rows = []
    for cls in classes(jn.integrators, jn.integrators.Integrator).values():
        reach: Any = cls.reach  # type: ignore[attr-defined]
        bound = "none" if reach is None else f"{reach:g} / rate"
        sentence, *_ = _summary(cls).split(". ")
        source = _block(cls, "Source")
        rows.append((f"`{_value(cls)}`", sentence, str(cls.order), bound, source))  # type: ignore[attr-defined]
    table = _table(("value", "what it does", "order", "largest dt", "source"), rows)
    file = "integrators/test_order.py"
    return f"{table}\nChecks: every order, and what is stable, in [{file}](../tests/{file}).\n"


def _value(cls: type) -> str:
    """The name of the value of an integrator's class."""
    return next(name for name, x in vars(jn.integrators).items() if type(x) is cls)


def _doc(cls: type) -> str:
    """The docstring as Markdown: a paragraph a line, so that none begins like a list."""
    paragraphs = re.sub(r"::\n", ":\n", inspect.getdoc(cls) or "").split("\n\n")
    return "\n\n".join(x if x.startswith("    ") else " ".join(x.split()) for x in paragraphs)


def _summary(cls: type) -> str:
    return _doc(cls).split("\n\n")[0]


def _equations(cls: type) -> str:
    return _doc(cls).split("\n\n**", 1)[0]


def _block(cls: type, name: str) -> str:
    """The text of a block of the docstring, empty if there is none."""
    start = f"\n\n**{name}**"
    return _doc(cls).split(start, 1)[1].split("\n\n**", 1)[0].strip() if start in _doc(cls) else ""


def _fields(cls: type) -> str:
    """What the fields mean, and their units, defaults and ranges."""
    if not dataclasses.fields(cls):
        return ""
    checked = {f.name for f in parameters(cls)}
    rows = []
    for field in dataclasses.fields(cls):
        if field.name in checked:
            limits: dict[str, Any] = dict(field.metadata["checks"])
            unit = limits.pop("unit")
            steps = ["whole steps"] if field.metadata["on_grid"] else []
            words = [f"{_WORDS[k]} {x:g}" for k, x in limits.items() if x is not None] + steps
            has = field.default is not dataclasses.MISSING
            default = f"{field.default:.6g}" if has else "needed"
            rows.append((f"`{field.name}`", unit, default, ", ".join(words)))
        else:
            rows.append((f"`{field.name}`", "", _default(field), ""))
    table = _table(("field", "unit", "default", "range"), rows)
    return f"\nFields: {_block(cls, 'Fields')}\n\n{table}"


_WORDS = {"above": "above", "at_least": "at least", "at_most": "at most"}


def _default(field: dataclasses.Field) -> str:
    """The default of a field that is no number."""
    if field.default_factory is not dataclasses.MISSING:
        return ", ".join(f"`{type(x).__name__}()`" for x in field.default_factory())
    if isinstance(field.default, jn.integrators.Integrator):
        return f"`{_value(type(field.default))}`"
    return "none" if field.default is None else f"`{field.default!r}`"


def _presets(cls: type) -> str:
    """The class methods that make a neuron, and what they change."""
    names = [k for k, member in vars(cls).items() if isinstance(member, classmethod)]
    if not names:
        return ""
    rows, plain = [], cls()
    for name in names:
        preset = getattr(cls, name)()
        changed = [
            f"{f.name} {float(getattr(preset, f.name)):g}"
            for f in parameters(cls)
            if getattr(preset, f.name) != getattr(plain, f.name)
        ]
        if getattr(preset, "channels", None) != getattr(plain, "channels", None):
            changed.append("channels")
        words = " ".join((inspect.getdoc(getattr(cls, name)) or "").split())
        rows.append((f"`{cls.__name__}.{name}()`", words, ", ".join(changed) or "nothing"))
    return "\n" + _table(("preset", "what it is", "changes"), rows)


def _table(head: Any, rows: Any) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(x.replace("|", "\\|") for x in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
