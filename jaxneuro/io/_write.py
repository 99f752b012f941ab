"""Writes a description to a file."""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import spec
from .._arrays import is_traced
from .._describe.coupling import Coupling
from .._describe.description import Description
from .._describe.modulator import Modulator
from .._describe.part import Part, listed
from .._describe.population import Population
from .._describe.projection import Projection
from .._describe.stimulation import Stimulation
from .._disk.whole import write_whole
from ..space import Area
from ._models import TYPE, Argument, arguments, inside, is_made_by_build, is_prepared, public
from ._network import FORMAT, VERSION
from ._read import READERS, format_of

# --- Makes the content of a file from a description: objects, lists, numbers and texts.


def plain(description: Description) -> dict[str, Any]:
    """A description as plain data; raises `ValueError` for what a file cannot hold."""
    out: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    if description.areas:
        areas = description.areas
        out["areas"] = {name: _corners(area) for name, area in areas.items()}
    out["populations"] = [_population(p) for p in description.populations]
    out["projections"] = [_projection(p) for p in description.projections]
    out["stimuli"] = [_stimulation(s) for s in description.stimuli]
    if description.couplings:
        out["couplings"] = [_coupling(c) for c in description.couplings]
    if description.modulators:
        out["modulators"] = [_modulator(m) for m in description.modulators]
    return out


def _label(kind: str, name: str) -> str:
    """The label used in errors."""
    return f"{kind} {name!r}"


def _population(p: Population) -> dict[str, Any]:
    label = _label("population", p.name)
    out = {"name": p.name, "n": p.n, "model": _value(f"{label}: model", p.model)}
    out |= _initial(label, p)
    if p.positions is not None:
        out["positions"] = _value(f"{label}: positions", p.positions)
    return out


def _projection(p: Projection) -> dict[str, Any]:
    label = _label("projection", p.name)
    out: dict[str, Any] = {"name": p.name, "source": _part(p.source), "target": _part(p.target)}
    for key in ("rule", "weight", "delay", "synapse", "release", "gain"):
        out[key] = _value(f"{label}: {key}", getattr(p, key))
    if p.plasticity is not None:
        out["plasticity"] = _value(f"{label}: plasticity", p.plasticity)
    if p.plasticity is not None or p.axonal:
        out["axonal"] = p.axonal
    return out | _names(p, "receptor_name", "release_name") | _initial(label, p)


def _coupling(c: Coupling) -> dict[str, Any]:
    label = _label("coupling", c.name)
    out: dict[str, Any] = {"name": c.name, "source": _part(c.source), "target": _part(c.target)}
    for key in ("rule", "weight", "release", "synapse", "gain", "average", "symmetric"):
        value = getattr(c, key)
        if value is not None:
            out[key] = _value(f"{label}: {key}", value)
    return out | _names(c, "receptor_name") | _initial(label, c)


def _modulator(m: Modulator) -> dict[str, Any]:
    label = _label("modulator", m.name)
    out: dict[str, Any] = {"name": m.name, "tau": m.tau}
    if m.source is not None:
        out["source"] = _part(m.source)
    for key in ("signal", "per_spike", "baseline", "start", "lowest", "highest"):
        value = getattr(m, key)
        if value is not None and value != math.inf:
            out[key] = _value(f"{label}: {key}", value)
    return {**out, "scales": m.scales}


def _initial(label: str, thing: Any) -> dict[str, Any]:
    """Start values, if there are any."""
    given = {k: _value(f"{label}: initial {k}", v) for k, v in thing.initial.items()}
    return {"initial": given} if given else {}


def _names(thing: Any, *keys: str) -> dict[str, str]:
    """The names that are chosen for what is shared."""
    return {key: getattr(thing, key) for key in keys if getattr(thing, key) is not None}


def _stimulation(s: Stimulation) -> dict[str, Any]:
    label = _label("stimulation", s.name)
    out: dict[str, Any] = {"name": s.name, "target": _part(s.target)}
    for key in ("stimulus", "weight", "synapse", "delay", "start", "stop"):
        value = getattr(s, key)
        if value is not None and not (key == "stop" and value == math.inf):
            out[key] = _value(f"{label}: {key}", value)
    return out | _names(s, "receptor_name") | _initial(label, s)


def _part(part: str | Part) -> Any:
    if isinstance(part, str) or part.where is None:
        return part if isinstance(part, str) else part.population
    out: dict[str, Any] = {"population": part.population}
    where = part.where
    if isinstance(where, slice):
        out["start"] = where.start
        return out if where.stop is None else {**out, "stop": where.stop}
    if isinstance(where, np.ndarray):
        return {**out, "indices": listed(where).tolist()}
    return {**out, "area": where if isinstance(where, str) else _corners(where)}


def _corners(area: Area) -> dict[str, Any]:
    return {"low": list(area.low), "high": list(area.high)}


def _value(label: str, value: Any) -> Any:
    """A number, an array, a text or a model as plain data."""
    if is_traced(value):
        raise ValueError(f"{label} is not known yet: write descriptions outside jit, vmap and grad")
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        return _array(label, np.asarray(value))
    if value is None or isinstance(value, bool | int | float | str):
        return _finite(label, value)
    if isinstance(value, tuple | list):
        return [_value(label, item) for item in value]
    return _model(label, value)


def _array(label: str, x: np.ndarray) -> Any:
    """Numbers; those of float32 with the fewest digits that give the same float32."""
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{label}: a file holds numbers; got an array of {x.dtype}")
    if 0 in x.shape[:-1]:  # an empty list of rows does not say how long they are
        raise ValueError(f"{label}: a file cannot hold an array of shape {x.shape}")
    _finite(label, x)
    if x.dtype == np.float32 and x.ndim:
        return [_array(label, row) if row.ndim else _short(row) for row in x]
    return _short(x[()]) if x.dtype == np.float32 else x.tolist()


def _finite(label: str, x: Any) -> Any:
    if not isinstance(x, str | None) and np.isnan(x).any():
        raise ValueError(f"{label}: a file cannot hold NaN")
    return x


def _short(x: Any) -> float:
    short = float(str(x))
    return short if np.float32(short) == x else float(x)


def _model(label: str, value: Any) -> Any:
    cls = type(value)
    if public(cls).get(cls.__name__) is not cls:
        what = (
            "a Python function" if callable(value) else f"a {cls.__name__}, no model of the package"
        )
        raise ValueError(
            f"{label} is {what}, which a file cannot hold; write numbers, or a model of the package"
        )
    if is_prepared(value) or is_made_by_build(value):
        raise ValueError(
            f"{label}: its times must be in ms; they are on the grid of a network. Write the model "
            "that was passed to build"
        )
    out = {TYPE: cls.__name__}
    for argument in arguments(cls):
        x = _argument(f"{label}: {argument.name}", value, argument)
        if x is not None and not (x == argument.default and x in (math.inf, -math.inf)):
            out[argument.name] = x
    return out if arguments(cls) else cls.__name__


def _argument(label: str, owner: Any, argument: Argument) -> Any:
    """The value of one argument of a model, as plain data."""
    if not hasattr(owner, argument.name):
        raise ValueError(f"{label}: the model does not keep this argument; a file cannot hold it")
    value = getattr(owner, argument.name)
    made = _value(label, value)
    if isinstance(made, dict | str) and not isinstance(value, str):
        cls = type(value)
        if inside(type(owner), argument).get(cls.__name__) is not cls:
            raise ValueError(f"{label} is a {cls.__name__}, which a file cannot hold there")
    return made


# --- Writes a network to a file that is easy to read.


_WIDTH = 96


@spec.arguments(description=spec.Of(Description), path=spec.FilePath())
def write_description(description: Description, path: str | os.PathLike) -> None:
    """Writes a description to a file: JSON (`.json`) or TOML (`.toml`); replaces an old file.

    `read_description` gives a description of the same network, bit for bit. Defaults are written
    out, so that the file still means the same network if a default changes.

    Raises:
        ValueError: before the file is touched, for what a file cannot hold: Python functions as
            weights, delays, probabilities or signals, and models of your own.
        FileNotFoundError: for a missing folder.
    """
    path = Path(path)
    text = format_description(description, format_of(path))
    write_whole(path, lambda file: file.write(text.encode()))


@spec.arguments(description=spec.Of(Description), format=spec.OneOf(*READERS))
def format_description(description: Description, format: str = "json") -> str:
    """A description as a text with the format "json" or "toml"; see `write_description`.

    Raises:
        ValueError: for what a file cannot hold.
    """
    data = plain(description)
    text = _json_file(data) if format == "json" else _toml_file(data)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"names must be text that can be encoded in UTF-8: {error}") from None
    return text


def _json_file(data: dict[str, Any]) -> str:
    items = [f"  {json.dumps(key)}: {_json(value, 2, len(key) + 6)}" for key, value in data.items()]
    return "{\n" + ",\n".join(items) + "\n}\n"


def _json(value: Any, indent: int, used: int) -> str:
    """A value as JSON: on one line if it fits, else one item per line."""
    if not _is_long(value):
        line = _json_line(value)
        if used + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
            return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(k, ensure_ascii=False)}: {_json(v, indent + 2, indent + len(k) + 6)}"
            for k, v in value.items()
        )
        return "{\n" + ",\n".join(inner + pair for pair in pairs) + "\n" + " " * indent + "}"
    if isinstance(value[0], dict | list):
        body = ",\n".join(inner + _json(item, indent + 2, indent + 3) for item in value)
    else:
        body = _filled([_json_line(item) for item in value], inner)
    return "[\n" + body + "\n" + " " * indent + "]"


def _json_line(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k, ensure_ascii=False)}: {_json_line(v)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json_line, value)) + "]"
    if isinstance(value, float):
        return f'"{value}"' if math.isinf(value) else repr(value)
    return json.dumps(value, ensure_ascii=False)


def _is_long(value: Any) -> bool:
    """Whether a value contains a list that is too long for a line, without writing it."""
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list) and (len(value) > _WIDTH // 3 or any(map(_is_long, value)))


def _filled(items: list[str], indent: str) -> str:
    """Items of a list, as many per line as fit."""
    lines, line = [], indent
    for number, item in enumerate(items):
        part = item + ("," if number + 1 < len(items) else "")
        if len(line) + len(part) > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += part + " "
    return "\n".join([*lines, line.rstrip()])


def _toml_file(data: dict[str, Any]) -> str:
    parts = []
    for key, value in data.items():
        if isinstance(value, dict):
            parts.append("\n".join([f"[{key}]", *(_toml_pair(k, v) for k, v in value.items())]))
        elif isinstance(value, list):
            parts += [_toml_table(key, item) for item in value]
        else:
            parts.append(_toml_pair(key, value))
    head, body = parts[:2], parts[2:]
    return "\n\n".join(["\n".join(head), *body]) + "\n"


def _toml_table(name: str, item: dict[str, Any]) -> str:
    """An item of a list of tables; an object that does not fit on a line becomes a table."""
    pairs = {key: _toml_pair(key, value) for key, value in item.items()}
    own = {k for k, line in pairs.items() if isinstance(item[k], dict) and len(line) > _WIDTH}
    lines = [f"[[{name}]]", *(line for key, line in pairs.items() if key not in own)]
    for key in item:
        if key in own:
            lines += ["", f"[{name}.{_toml_key(key)}]"]
            lines += [_toml_pair(k, v) for k, v in item[key].items()]
    return "\n".join(lines)


def _toml_pair(key: str, value: Any) -> str:
    return f"{_toml_key(key)} = {_toml_list(value, 0, len(key) + 3)}"


def _toml_list(value: Any, indent: int, used: int) -> str:
    """A value on one line if it fits, else the items of a list on several lines."""
    if not (isinstance(value, list) and _is_long(value)):
        line = _toml(value)
        if used + len(line) <= _WIDTH or not isinstance(value, list) or not value:
            return line
    inner = " " * (indent + 2)
    if isinstance(value[0], list):
        rows = (_toml_list(item, indent + 2, indent + 3) for item in value)
        body = ",\n".join(inner + row for row in rows)
    else:
        body = _filled([_toml(item) for item in value], inner)
    return f"[\n{body}\n{' ' * indent}]"


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):  # JSON text is TOML text, except for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):  # repr writes inf as TOML does
        return repr(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
