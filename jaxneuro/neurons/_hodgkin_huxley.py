"""Hodgkin-Huxley neuron: a membrane with any ion channels.

Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.
"""

import collections
import dataclasses
import functools
import keyword
from collections.abc import Callable, Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import concrete
from .._fields import Parameter, param
from .._types import Drive, Neuron
from .._units import largest
from .._warn import warn
from ..channels import Channel, Leak, SquidPotassium, SquidSodium
from ..integrators import Gate, Integrator, Linear, rk4
from ..surrogates import Surrogate, crossing


@functools.cache
def _state_class(gates: tuple[str, ...]) -> Any:
    return collections.namedtuple("HodgkinHuxleyState", ("v", *gates))


def _squid() -> tuple[Channel, ...]:
    return SquidSodium(), SquidPotassium(), Leak()


class HodgkinHuxley(Neuron):
    """Hodgkin-Huxley neuron: a capacitance and ion channels; the squid axon by default.

    Equations: `c_m dv/dt = current - conductance v - sum_k g_k open_k(v, gates) (v - e_rev_k)`,
    `dx/dt = q (a(v) (1 - x) - b(v) x)` for every gate x, with the temperature factor
    `q = q10^((celsius - that of the channel)/10)`. A spike is the upward crossing of `v_th`.
    So at the 6.3 C of the squid the channels of warm animals (36 C) are 26 times slower.

    Update: by `method` (RK4: fourth order; `exponential_euler`: first, stable at any dt). Units
    are those of densities (uA/cm2, uF/cm2, mS/cm2), or of whole cells (pA, pF, nS).

    **Fields** each () or (n,): `c_m` [uF/cm2] capacitance; `v_th` [mV] the level of a spike;
    `v_start` [mV] start of v, where the gates start at their steady states; `celsius` [C]
    temperature; `q10` [1] factor on the rates for 10 C more. `channels`: a tuple of
    channels (`jn.channels`); `method` an integrator; `surrogate` as in `LIF`.

    **Step** `init(n)` makes a state with `v` and one array (n,) per gate, by name (`m`, `h`, `n`).
    `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for `c_m` or `q10` not above 0, no channel or what is not one, a
    channel without `g` or `e_rev`, two gates of one name; from `build` for a dt above the largest
    at which gates are stable between the lowest and the highest reversal potential.

    **Source** Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.

    **Differs** depolarisation is positive, as today.
    """

    channels: tuple[Channel, ...] = eqx.field(default_factory=_squid)
    c_m: Parameter = param(1.0, unit="uF/cm2", above=0.0)
    v_th: Parameter = param(0.0, unit="mV")
    v_start: Parameter = param(-65.0, unit="mV")
    celsius: Parameter = param(6.3, unit="C")
    q10: Parameter = param(3.0, unit="1", above=0.0)
    method: Integrator = rk4
    surrogate: Surrogate | None = None

    @classmethod
    def squid_1952(cls, **parameters: Any) -> "HodgkinHuxley":
        """The squid axon with the voltages of 1952, measured from rest, which is 0 mV.

        Depolarisation is positive here and was negative there; `v_th` is 0 mV in today's terms.
        """
        sodium, leak = SquidSodium(e_rev=115.0, v_rest=0.0), Leak(e_rev=10.613)
        channels = (sodium, SquidPotassium(e_rev=-12.0, v_rest=0.0), leak)
        return cls(**{"channels": channels, "v_start": 0.0, "v_th": 65.0, **parameters})

    def with_channel(self, channel: Channel) -> "HodgkinHuxley":
        """The same neuron with a channel added; it replaces one of the same class."""
        kept = (c for c in self.channels if type(c) is not type(channel))
        return dataclasses.replace(self, channels=(*kept, channel))

    def __check_init__(self) -> None:
        _check_channels(self.channels, self.c_m)

    def init(self, n: int) -> Any:
        v = jnp.broadcast_to(self.v_start, (n,))
        rates = (pair for c in self.channels for pair in c.rates(v))
        gates = (jnp.broadcast_to(a / (a + b), (n,)) for a, b in rates)
        return self._state(v, *gates)

    def step(self, state: Any, drive: Drive, dt: float) -> tuple[Any, jax.Array]:
        v, *gates = self.method(lambda y, t: self._flow(y, drive.at(t, dt)), tuple(state), dt)
        v = drive.jumped(v)
        return self._state(v, *gates), crossing(state.v, v, self.v_th, self.surrogate)

    @property
    def _state(self) -> Any:
        return _state_class(tuple(name for c in self.channels for name in c.gates))

    def _flow(self, y: tuple, drive: Drive) -> tuple[Any, ...]:
        v, gates = y[0], iter(y[1:])
        source, rate = drive.linear()
        moving = []
        for c in self.channels:
            channel: Any = c
            g = channel.g * c.open(v, *(next(gates) for _ in c.gates))
            source, rate = source + g * channel.e_rev, rate + g
            q = self._speed(c)
            moving += [Gate(q * a, q * b) for a, b in c.rates(v)]
        return Linear(source / self.c_m, rate / self.c_m), *moving

    def _speed(self, channel: Channel) -> jax.Array:
        return self.q10 ** ((self.celsius - channel.celsius) * 0.1)

    def largest_step(self) -> Any:
        reach, fastest = self.method.reach, _fastest_rate(self.channels, self._speed)
        return None if reach is None or fastest is None else reach / fastest


_VOLTAGES = 65  # at which the rates are evaluated


def _check_channels(channels: Any, c_m: Any) -> None:
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


def _fastest_rate(channels: tuple[Channel, ...], speed: Callable[[Channel], Any]) -> Any:
    """The largest rate [1/ms] of a gate between the lowest and highest reversal potential.

    () or (n,), or None without gates; `speed` gives the temperature factor of a channel.
    """
    ends = [jnp.asarray(c.e_rev) for c in channels]  # type: ignore[attr-defined]
    low, high = (functools.reduce(f, ends) for f in (jnp.minimum, jnp.maximum))
    places = np.linspace(0.0, 1.0, _VOLTAGES).reshape(-1, 1).astype(low.dtype)
    v: jax.Array = low + (high - low) * places
    rates = [speed(c) * (a + b) for c in channels for a, b in c.rates(v)]
    return functools.reduce(jnp.maximum, rates).max(axis=0) if rates else None
