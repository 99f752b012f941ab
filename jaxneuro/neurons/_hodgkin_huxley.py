"""Hodgkin-Huxley neuron: a membrane with any ion channels.

Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.
"""

import collections
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._fields import Parameter, param
from .._model import Drive, Neuron
from ..channels import Channel, Leak, SquidPotassium, SquidSodium
from ..channels._channels import Channels
from ..integrators import Gate, Integrator, Linear, rk4
from ..integrators._integrators import method_field
from ..spec import field
from ..surrogates import Surrogate, crossing, surrogate_field


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

    Start: v at `v_start`. The state has `v` and one array (n,) for each gate, by its name (`m`,
    `h`, `n`).

    Raises:
        InvalidValueError: from `build` for a dt above the largest at which gates are stable between
            the lowest and the highest reversal potential.

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, doi:10.1113/jphysiol.1952.sp004764.

    Note:
        Depolarisation is positive, as today.
    """

    channels: tuple[Channel, ...] = field(
        Channels(), default_factory=_squid, doc="ion channels (`jn.channels`)"
    )
    c_m: Parameter = param(1.0, unit="uF/cm2", above=0.0, doc="capacitance")
    v_th: Parameter = param(0.0, unit="mV", doc="level of a spike")
    v_start: Parameter = param(-65.0, unit="mV", doc="start of v, with gates steady there")
    celsius: Parameter = param(6.3, unit="C", at_most=100.0, doc="temperature")
    q10: Parameter = param(3.0, unit="1", above=0.0, doc="factor on the rates for 10 C more")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()

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

    @property
    def state_bounds(self) -> dict[str, tuple]:  # type: ignore[override]
        """Gates are between shut and open."""
        return {name: (0.0, 1.0) for c in self.channels for name in c.gates}

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

    def largest_step(self) -> jax.Array | float | None:
        reach, fastest = self.method.reach, _fastest_rate(self.channels, self._speed)
        return None if reach is None or fastest is None else reach / fastest


def _fastest_rate(
    channels: tuple[Channel, ...], speed: Callable[[Channel], jax.Array]
) -> jax.Array | None:
    """The largest rate [1/ms] of a gate between the lowest and highest reversal potential.

    () or (n,), or None without gates; `speed` gives the temperature factor of a channel.
    """
    ends = [jnp.asarray(c.e_rev) for c in channels]  # type: ignore[attr-defined]
    low, high = (functools.reduce(f, ends) for f in (jnp.minimum, jnp.maximum))
    places = np.linspace(0.0, 1.0, 65).reshape(-1, 1).astype(low.dtype)
    v: jax.Array = low + (high - low) * places
    rates = [speed(c) * (a + b) for c in channels for a, b in c.rates(v)]
    return functools.reduce(jnp.maximum, rates).max(axis=0) if rates else None
