"""Checks of the channels of one neuron together, and the rate of their fastest gate."""

import functools
import keyword
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import concrete
from .._units import largest
from .._warn import warn
from ..channels import Channel
from ..integrators import Gate

_VOLTAGES = 65  # at which the rates are evaluated


def check_channels(channels: Any, c_m: Any) -> None:
    """Raises `ValueError` unless these are channels that fit together.

    Warns of a capacitance in pF beside conductances per area.
    """
    if not isinstance(channels, tuple) or not channels:
        raise ValueError(f"HodgkinHuxley: channels must be a tuple of channels; got {channels!r}")
    owners: dict[str, str] = {}
    for c in channels:
        name = type(c).__name__
        if not isinstance(c, Channel):
            hint = " (a class was given: call it)" if isinstance(c, type) else ""
            raise ValueError(f"HodgkinHuxley: channels must be channels; got {c!r}{hint}")
        for field in ("g", "e_rev"):
            if not hasattr(c, field):
                what = {"g": "a conductance g", "e_rev": "a reversal potential e_rev"}[field]
                raise ValueError(
                    f"HodgkinHuxley: every channel must have {what}; {name} has none. Give it "
                    f"the field {field}: jn.Parameter = jn.param(...)"
                )
        if not isinstance(c.gates, tuple) or not all(map(_can_be_named, c.gates)):
            raise ValueError(
                f"HodgkinHuxley: the gates of a channel must be a tuple of names that Python "
                f"takes; {name} has {c.gates!r}"
            )
        _check_methods(name, c)
        for gate in c.gates:
            if gate in owners or gate == "v":
                raise ValueError(
                    f"HodgkinHuxley: gates must have different names, none of them 'v'; {gate!r} "
                    f"is in {owners.get(gate, 'the membrane')} and in {name}. Add up the "
                    "conductances of equal channels, or name the gates of one otherwise"
                )
            owners[gate] = name
    _warn_of_capacitance("HodgkinHuxley", c_m, [(c.g, c.e_rev) for c in channels])


_LARGEST_C = 20.0  # uF/cm2
_SLOWEST = 5.0  # mS/cm2 per uF/cm2 of channels that make spikes


def _warn_of_capacitance(label: str, c_m: Any, channels: Iterable[tuple[Any, Any]]) -> None:
    """Warns of a capacitance in pF beside conductances per area; `channels` are g and e_rev.

    Where both are those of a whole cell, the channels that depolarise are much larger than c_m.
    """
    known, x = [(concrete(g), largest(e_rev)) for g, e_rev in channels], largest(c_m)
    pairs = [(g, e) for g, e in known if g is not None and e is not None]
    inward = [float(g.max(initial=0)) for g, e in pairs if e > 0]
    if x is not None and x > _LARGEST_C and inward and max(inward) < _SLOWEST * x:
        warn(
            f"{label}: c_m is in uF/cm2, where a membrane has about 1; got {x:g}: did you mean 1? "
            "For a whole cell in pF give the conductances of its channels in nS"
        )


def _can_be_named(gate: Any) -> bool:
    known = isinstance(gate, str) and gate.isidentifier() and not keyword.iskeyword(gate)
    return known and not gate.startswith("_")


def _check_methods(name: str, channel: Any) -> None:
    v = jax.ShapeDtypeStruct((), jnp.result_type(channel.g))
    try:
        rates = jax.eval_shape(lambda v: channel.rates(v), v)
        jax.eval_shape(lambda v, *gates: channel.open(v, *gates), v, *(v for _ in channel.gates))
    except Exception as error:  # a method of the user may raise anything
        raise ValueError(
            f"HodgkinHuxley: a channel must have rates(v) and open(v, {', '.join(channel.gates)}) "
            f"that JAX can trace; those of {name} raise {type(error).__name__}: {error}"
        ) from error
    fits = isinstance(rates, tuple) and all(type(r) is Gate for r in rates)
    if not fits or len(rates) != len(channel.gates):
        raise ValueError(
            f"HodgkinHuxley: rates(v) of {name} must return a tuple with one Gate(opening, "
            f"closing) for each of its gates {channel.gates}; got {rates!r}"
        )


def fastest_rate(channels: tuple[Channel, ...], speed: Callable[[Channel], Any]) -> Any:
    """The largest rate [1/ms] of a gate between the lowest and highest reversal potential.

    () or (n,), or None without gates; `speed` gives the temperature factor of a channel.
    """
    ends = [jnp.asarray(c.e_rev) for c in channels]  # type: ignore[attr-defined]
    low, high = (functools.reduce(f, ends) for f in (jnp.minimum, jnp.maximum))
    places = np.linspace(0.0, 1.0, _VOLTAGES).reshape(-1, 1).astype(low.dtype)
    v: jax.Array = low + (high - low) * places
    rates = [speed(c) * (a + b) for c in channels for a, b in c.rates(v)]
    return functools.reduce(jnp.maximum, rates).max(axis=0) if rates else None
