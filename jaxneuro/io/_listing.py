"""A list of the models that a file can name."""

import dataclasses
import textwrap
from typing import Any

from .._fields import Model
from .._numerics import Distribution, Surrogate
from .._types import Neuron, Plasticity, Release, Stimulus, Synapse
from ..channels import Channel
from ..connectivity import Rule
from ..integrators import Integrator
from ..space import Layout, Profile, SpatialValue
from ..stimuli import Signal
from ._models import NO_DEFAULT, Argument, arguments, known

_ROLES = {
    "neuron models (model)": Neuron,
    "ion channels (channels of HodgkinHuxley)": Channel,
    "integrators (method of a neuron)": Integrator,
    "layouts (positions)": Layout,
    "distributions (initial, weight, delay)": Distribution,
    "values by distance (weight, delay)": SpatialValue,
    "profiles (of distance)": Profile,
    "connection rules (rule)": Rule,
    "synapse models (synapse)": Synapse,
    "release models (release)": Release,
    "plasticity rules (plasticity)": Plasticity,
    "stimuli (stimulus)": Stimulus,
    "signals (amplitude or rate of a stimulus)": Signal,
    "surrogate gradients (surrogate of a neuron)": Surrogate,
}


def list_models() -> str:
    """The models that a network file can name, by role, with parameters, units and defaults."""
    parts = []
    for title, role in _ROLES.items():
        named = sorted(known(role).items())
        lines = [_line(name, cls) for name, cls in named]
        parts.append("\n".join([title, *lines]))
    return "\n\n".join(parts)


def _line(name: str, cls: type) -> str:
    units = {f.name: f.metadata.get("checks", {}).get("unit", "1") for f in dataclasses.fields(cls)}
    shown = ", ".join(_shown(a, units.get(a.name, "1")) for a in arguments(cls))
    text = f"{name}: {shown}" if shown else name
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent="      ")


def _shown(argument: Argument, unit: Any) -> str:
    unit = "" if unit == "1" else f" {unit}"
    if argument.required:
        return f"{argument.name}{unit and f' [{unit.strip()}]'}"
    default = None if argument.default is NO_DEFAULT else argument.default
    if isinstance(default, bool):
        default = str(default).lower()
    if isinstance(default, tuple) and any(isinstance(x, Model) for x in default):
        default = f"[{', '.join(type(x).__name__ for x in default)}]"
    if isinstance(default, Model):
        default = type(default).__name__
    return f"{argument.name} = {default}{unit}"
