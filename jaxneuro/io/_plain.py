"""Makes the content of a file from a description: objects, lists, numbers and texts."""

import math
from typing import Any

import jax
import numpy as np

from .._checks import is_traced
from .._describe import (
    Coupling,
    Description,
    Modulator,
    Part,
    Population,
    Projection,
    Stimulation,
)
from ..space import Area
from ._models import Argument, arguments, inside, is_made_by_build, is_prepared, public
from ._network import FORMAT, VERSION
from ._values import TYPE


def plain(description: Description) -> dict[str, Any]:
    """A description as plain data; raises `ValueError` for what a file cannot hold."""
    out: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    if description.areas:
        areas = description.areas
        out["areas"] = {
            name: _corners(area) for name, area in areas.items() if _label("area", name)
        }
    out["populations"] = [_population(p) for p in description.populations]
    out["projections"] = [_projection(p) for p in description.projections]
    out["stimuli"] = [_stimulation(s) for s in description.stimuli]
    if description.couplings:
        out["couplings"] = [_coupling(c) for c in description.couplings]
    if description.modulators:
        out["modulators"] = [_modulator(m) for m in description.modulators]
    return out


def _label(kind: str, name: str) -> str:
    """The label used in errors; raises for a name that a file cannot hold."""
    if "\n" in name or "\r" in name:
        raise ValueError(f"{kind} {name!r}: in a file a name must be on one line")
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
        return {**out, "indices": where.tolist()}
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
