"""What a figure is given: a result, connections, a brain, a parse, or what is refused."""

from collections.abc import Sequence
from typing import Any

import numpy as np

_KINDS = {
    "result": (("events", "populations"), "the result of a run, jn.simulate(net, duration)"),
    "connections": (
        ("source", "target", "shape", "pre", "post", "weight", "delay"),
        "the connections of one projection, net.connections(name)",
    ),
    "brain": (("areas", "stimuli", "fibres"), "a jn.assemblies.Brain"),
    "parse": (("words", "arcs"), "what jn.assemblies.parser.parse(sentence, ...) returns"),
}


def check_given(kind: str, value: Any) -> None:
    """Raises `ValueError` unless `value` is what a figure is drawn from."""
    attributes, what = _KINDS[kind]
    if not all(hasattr(value, name) for name in attributes):
        raise ValueError(f"a figure needs {what}; got {_short(value)}")


def numbers(name: str, value: Any, shape: str) -> np.ndarray:
    """`value` as float64, or `ValueError` unless it is numbers; `shape` says which."""
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {shape}; got {_short(value)}") from None


def lengths(shape: Sequence[int]) -> tuple[int, ...]:
    """The lengths of a lattice, or `ValueError` for one number or none."""
    if np.ndim(shape) != 1 or isinstance(shape, str):
        raise ValueError(
            "shape must be the neurons along each axis of the lattice, such as (20, 20), in the "
            f"order of its coordinates; got {_short(shape)}"
        )
    return tuple(shape)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
