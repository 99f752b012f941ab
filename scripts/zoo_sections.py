"""The parts of a section of the zoo, written from a class, its docstring and its tests."""

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import equinox as eqx

import jaxneuro as jn
from jaxneuro._fields import Model, ParameterKind, parameters
from scripts.zoo_checks import OF_NEURONS, cases, checks

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIGURES = DOCS / "zoo"


def classes(module: Any, role: type) -> dict[str, type]:
    """The public classes of a module that play a role, by name."""
    found = {k: v for k, v in vars(module).items() if inspect.isclass(v) and issubclass(v, role)}
    return {k: v for k, v in found.items() if v is not role}


def in_order(found: dict[str, type]) -> dict[str, type]:
    """Classes in the order of the alphabet."""
    return dict(sorted(found.items(), key=lambda x: x[0].lower()))


def summary(cls: type) -> str:
    """The first sentences of the docstring."""
    return _doc(cls).split("\n\n")[0]


_SECTIONS = r"\n\n(?:\*\*[A-Z]|(?:Attributes|Args|Returns|Raises|Reference|Note):\n)"


def equations(cls: type) -> str:
    """The docstring up to its first section."""
    return _doc(cls, re.split(_SECTIONS, inspect.getdoc(cls) or "")[0])


def block(cls: type, name: str) -> str:
    """The text of a section of the docstring, empty if there is none."""
    doc = inspect.getdoc(cls) or ""
    heads = {"Source": "Reference", "Differs": "Note", "Fields": "Attributes"}
    for start in (f"\n\n**{name}**", f"\n\n{heads.get(name, name)}:\n"):
        if start in doc:
            text = re.split(_SECTIONS, doc.split(start, 1)[1])[0]
            return _doc(cls, inspect.cleandoc("\n" + text)).strip()
    return ""


def _doc(cls: type, text: str | None = None) -> str:
    """A docstring, or a part of one, as Markdown: a paragraph a line, so that none begins a list.

    What is a list, with "* " before each of its items, stays one.
    """
    text = (inspect.getdoc(cls) or "") if text is None else text
    paragraphs = re.sub(r"::\n", ":\n", text).split("\n\n")
    return "\n\n".join(x if x.startswith("    ") else _joined(x) for x in paragraphs)


def _joined(paragraph: str) -> str:
    items = re.split(r"\n(?=\* )", paragraph) if paragraph.startswith("* ") else [paragraph]
    return "\n".join(" ".join(item.split()) for item in items)


def fields(cls: type) -> str:
    """What the fields are, with units, defaults and ranges, as they are declared."""
    rows = []
    for field in dataclasses.fields(cls):
        kind, words = field.metadata.get("kind"), field.metadata.get("doc", "")
        if isinstance(kind, ParameterKind):
            limits = [x for x in (kind.range_words(), _steps(kind)) if x]
            has = field.default is not dataclasses.MISSING
            default = f"{field.default:.6g}" if has else "needed"
            rows.append((f"`{field.name}`", words, kind.unit, default, ", ".join(limits)))
        else:
            rows.append((f"`{field.name}`", words, "", _default(field), ""))
    return "\n" + table(("field", "what it is", "unit", "default", "range"), rows) if rows else ""


def _steps(kind: Any) -> str:
    return "whole steps" if getattr(kind, "on_grid", False) else ""


def _default(field: dataclasses.Field) -> str:
    """The default of a field that is no number."""
    if field.default_factory is not dataclasses.MISSING:
        return ", ".join(f"`{value_of(x)}`" for x in _as_tuple(field.default_factory()))
    if isinstance(field.default, jn.integrators.Integrator):
        return f"`{name_of(type(field.default))}`"
    if field.default is dataclasses.MISSING:
        return "needed"
    return "none" if field.default is None else f"`{field.default!r}`"


def _as_tuple(x: Any) -> tuple:
    """The parts of a tuple; of anything else the thing itself."""
    return x if isinstance(x, tuple) else (x,)


def value_of(model: Any) -> str:
    """A model inside another as it is written: only what is not the default."""
    values = [(f, f"{float(getattr(model, f.name)):g}") for f in parameters(type(model))]
    told = [f"{f.name}={x}" for f, x in values if x != f"{f.default:g}"]
    return f"{type(model).__name__}({', '.join(told)})"


def name_of(cls: type) -> str:
    """The name of the value of an integrator's class."""
    return next(name for name, x in vars(jn.integrators).items() if type(x) is cls)


def presets(cls: type) -> str:
    """The class methods that make a model, and what they change."""
    names = [k for k, member in vars(cls).items() if isinstance(member, classmethod)]
    if not names:
        return ""
    rows, plain = [], cls()
    for name in names:
        preset = getattr(cls, name)()
        words = " ".join((inspect.getdoc(getattr(cls, name)) or "").split())
        changed = ", ".join(_changed(plain, preset)) or "nothing"
        rows.append((f"`{cls.__name__}.{name}()`", words, changed))
    return "\n" + table(("preset", "what it is", "changes"), rows)


def _changed(plain: Any, preset: Any) -> list[str]:
    """What a preset has that differs from the defaults: numbers first."""
    numbers, others = [], []
    checked = {f.name for f in parameters(type(plain))}
    for field in dataclasses.fields(plain):
        before, after = getattr(plain, field.name), getattr(preset, field.name)
        if field.name in checked:
            numbers += [f"{field.name} {float(after):g}"] if after != before else []
        elif isinstance(after, str):
            others += [f"{field.name} {after!r}"] if after != before else []
        elif not eqx.tree_equal(before, after):
            model = isinstance(after, Model)
            others += [f"{field.name} `{value_of(after)}`" if model else field.name]
    return numbers + others


def ends(cls: type, folders: tuple[str, ...] = OF_NEURONS) -> str:
    """The source of a model, what differs from it, and what is tested."""
    out = f"\nSource: {block(cls, 'Source')}\n" if block(cls, "Source") else ""
    if block(cls, "Differs"):
        out += f"\nDiffers: {block(cls, 'Differs')}\n"
    names = ", ".join(f"`{case}`" for case in cases(cls))
    parts = [f"- the laws on {names}"] if names else []
    for file, tests in checks(cls, folders):
        parts.append(f"- [{file}](../tests/{file}): {', '.join(f'`{x}`' for x in tests)}")
    return out + ("\nChecks:\n\n" + "\n".join(parts) + "\n" if parts else "")


def table(head: Any, rows: Any) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(x.replace("|", "\\|") for x in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
