"""Writes docs/objects.md, all that a value has to offer: `python -m scripts.objects_page`."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jaxneuro as jn
from jaxneuro._run.spikes import SpikeBits

PAGE = Path(__file__).resolve().parents[1] / "docs/objects.md"
SHOWN = (
    *(jn.Description, jn.Network, jn.Result, jn.SpikeTrains, jn.Recording, SpikeBits),
    jn.parallel.SweepResult,
)
# For those who change jaxneuro.
INSIDE = {
    *("label", "rules", "known", "whole", "expand", "synapses_of", "exchanges_every_step"),
    *("layout", "pathways", "groups", "fixed_point", "fingerprint", "points", "info"),
    "by_population",
}
HEAD = """<!-- Written by `python -m scripts.objects_page` from the docstrings: change those. -->

# What you hold: everything it has

This page lists the attributes, properties and methods of a description, a network, a result,
spikes, a recording and a sweep. `help(jn.Network.set)` has the arguments, shapes, units and errors
of each. The pages of the [guide](guide.md) show them at work.
"""


def first(text: str | None) -> str:
    """The first sentence of a docstring, for a cell of a table."""
    paragraph = " ".join((text or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.:])\s(?=[A-Z`])", paragraph)[0].rstrip(".:").replace("|", "\\|")


def attributes(cls: type) -> Iterator[tuple[str, str]]:
    """The names and words of the attributes in a docstring."""
    block = re.search(r"\n *Attributes:\n(.*?)(\n\n|\Z)", cls.__doc__ or "", re.DOTALL)
    if block is None:
        return
    for entry in re.split(r"\n(?= {4}(?: {4})?\w[\w, ]*: )", block[1].rstrip()):
        names, _, words = " ".join(entry.split()).partition(": ")
        for name in names.split(", "):
            yield name, words.rstrip(".").replace("|", "\\|")


def call(name: str, function: Any) -> str:
    """A method with its arguments, without their types."""
    parts = []
    for p in inspect.signature(function).parameters.values():
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        given = "" if p.default is p.empty else f"={p.default!r}"
        parts += [] if p.name in ("self", "cls") else [f"{stars}{p.name}{given}"]
    return f"`{name}({', '.join(parts)})`"


def rows(cls: type) -> Iterator[tuple[str, str]]:
    """A line for each thing that a value of a class has."""
    seen = set(INSIDE)
    for name, words in attributes(cls):
        if name not in seen:
            seen.add(name)
            yield f"`{name}`", words
    for name, member in inspect.getmembers_static(cls):
        if name.startswith("_") or name in seen:
            continue
        if isinstance(member, property):
            yield f"`{name}`", first(member.__doc__)
        elif callable(getattr(cls, name)):
            yield call(name, getattr(cls, name)), first(getattr(cls, name).__doc__)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for cls in SHOWN:
        table = [f"| {name} | {words} |" for name, words in rows(cls)]
        head = f"## {cls.__name__}\n\n{first(cls.__doc__)}.\n\n| | |\n|---|---|\n"
        parts.append(head + "\n".join(table) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
