"""Start values of receptors and releases: which state they belong to, and whether they fit it."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._arrays import as_array
from ..spec import unknown
from .._network import Start, check_state_value
from .._numerics import Distribution
from ._grouping import Grouping, Sender, receptor_key, synapse_of
from ._states import state_dtypes, state_shapes


def check_whole(label: str, variable: str, value: Any, kind: Any) -> None:
    """Raises `ValueError` for start values that a variable of this dtype cannot hold."""
    if jnp.issubdtype(kind, jnp.floating):
        return
    whole = jnp.issubdtype(kind, jnp.bool_)
    low, high = (0, 1) if whole else (jnp.iinfo(kind).min, jnp.iinfo(kind).max)
    x = np.asarray(0.5 if isinstance(value, Distribution) else value)
    if np.any((x != np.rint(x)) | (x < low) | (x > high)):
        raise ValueError(
            f"{label}: initial {variable} must be whole numbers from {low} to {high}; got {value!r}"
        )


def receptor_starts(grouping: Grouping, number: int, dtype: Any) -> tuple[tuple[Start, ...], ...]:
    """The start values of each receptor of a group."""
    found: dict[tuple, list[Start]] = {key: [] for key in grouping.receptors[number]}
    for p in sorted(grouping.senders, key=lambda p: p.name):
        seat = grouping.seats[p.post.population]
        if seat.group == number and p.initial:
            synapse, release = _variables(p)
            n = grouping.description.population(p.post.population).n
            mine = found[receptor_key(p)]
            for variable, value in sorted(p.initial.items()):
                if variable in synapse:
                    how = synapse_of(p), synapse[variable], (seat.first, n), dtype
                    start = _start(p, variable, value, how)
                    mine.append(_once(p, start, mine))
                elif variable not in release:
                    raise _absent(p, variable, [*synapse, *release])
    return tuple(tuple(starts) for starts in found.values())


def release_starts(
    grouping: Grouping, senders: list, firsts: list[int], dtype: Any
) -> tuple[Start, ...]:
    """The start values of the release that some senders share.

    `firsts` says where the sources of each of them begin in the state. Senders with the same
    sources give the same values: `Grouping` has seen to it.
    """
    out: dict[tuple[str, int], Start] = {}
    for p, first in zip(senders, firsts):
        if not p.initial:
            continue
        synapse, release = _variables(p)
        n = grouping.description.population(p.pre.population).n
        for variable, value in sorted(p.initial.items()):
            if variable in release and variable not in synapse:
                how = p.release, release[variable], (first, n), dtype
                start = _start(p, variable, value, how)
                if n:
                    out.setdefault((variable, first), start)
    return tuple(out.values())


def _variables(p: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dtypes of the state variables of the receptor and of the release of a sender."""
    synapse = None if p.synapse is None else synapse_of(p)
    release = getattr(p, "release", None)
    return tuple({} if m is None else state_dtypes(m) for m in (synapse, release))  # type: ignore[return-value]


def _absent(p: Any, variable: str, known: list[str]) -> ValueError:
    """The error for a start value of what is no variable, or no array with one number each."""
    for model in (None if p.synapse is None else synapse_of(p), getattr(p, "release", None)):
        shape = None if model is None else state_shapes(model).get(variable)
        if shape is not None:
            return ValueError(
                f"{p.label}: initial {variable} must be that of an array (n,), one number per "
                f"neuron; it has the shape {shape} for 2 neurons. Start it in init"
            )
    return unknown(f"state variable of {p.label}", variable, known)


def _start(p: Sender, variable: str, value: Any, how: tuple) -> Start:
    """Checked start values; `how`: their model, their dtype there, first unit and number, dtype."""
    model, kind, (first, n), dtype = how
    check_whole(p.label, variable, value, kind)
    if np.ndim(value) and np.shape(value) != (n,):
        raise ValueError(
            f"{p.label}: initial {variable} must be one number, one per neuron, shape ({n},), or a "
            f"distribution; got shape {np.shape(value)}"
        )
    check_state_value(f"{p.label}: initial {variable}", model, variable, value)
    if not isinstance(value, Distribution):
        value = as_array(value, dtype)
    return Start(variable, p.name, first, n, value)


def _once(p: Sender, start: Start, earlier: list[Start]) -> Start:
    """`start`, or `ValueError` if another sender has given the same numbers of a receptor."""
    for other in earlier:
        if start.n and (other.variable, other.first) == (start.variable, start.first) and other.n:
            raise ValueError(
                f"{p.label}: initial {start.variable} must be given once; {other.owner!r} shares "
                "the receptor and gives it too. Give it in one of them"
            )
    return start
