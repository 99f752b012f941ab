"""The contracts of the package's own models are traced once per process.

Most tests build a network, and a build traces every model. What a trace finds depends on the kinds
of the models and on shapes, not on values, so the tests remember it. A `build` of a user does not,
nor does `make test-all`.
"""

import functools
import importlib
import types
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np

from jaxneuro._build.contract import user_part


def _kind(x: Any) -> Hashable:
    """What decides the trace of an argument; it cannot be hashed if the argument cannot."""
    if isinstance(x, types.FunctionType):
        closed = [c.cell_contents for c in x.__closure__ or ()]
        return x.__code__, *map(_kind, [*closed, *(x.__defaults__ or ())])
    leaves, structure = jax.tree.flatten(x)
    if not leaves or structure.num_nodes == 1:  # no tree: a number such as dt, or a text
        return type(x), x
    return structure, *((type(v), np.shape(v), getattr(v, "dtype", None)) for v in leaves)


def _once(function: Callable) -> Callable:
    """The function, which is called once for models of the package of a kind."""
    found: dict[Hashable, Any] = {}

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        arguments = [*given, *named.values()]
        closed = [c.cell_contents for x in arguments for c in getattr(x, "__closure__", None) or ()]
        if any(user_part(x) is not None for x in (*arguments, *closed)):
            return function(*given, **named)
        try:
            key = (*map(_kind, given), *((name, _kind(x)) for name, x in named.items()))
            known = key in found
        except TypeError:
            return function(*given, **named)
        if not known:
            found[key] = function(*given, **named)
        return found[key]

    return call


def remember() -> None:
    """From here on the tests trace a contract once."""
    for module, name in (
        *(("build", "check_neuron"), ("contract", "traced_state"), ("drives", "traced_state")),
        *(("releases", "traced_state"), ("drives", "step"), ("releases", "step")),
    ):
        module = importlib.import_module(f"jaxneuro._build.{module}")
        setattr(module, name, _once(getattr(module, name)))
