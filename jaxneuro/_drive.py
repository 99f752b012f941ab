"""What synapses and stimuli do to neurons in one step."""

import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ._text import shown


class Drive(NamedTuple):
    """What synapses and stimuli do to a neuron during one time step.

    The synaptic current is `current - conductance * v`; both are means over the step. If they
    change much during a step, `current_slope` and `conductance_slope` give the straight line
    nearest to them: `current + current_slope (t - dt/2)`, t from 0 to dt. A neuron may ignore the
    slopes and is then of second order in dt. `jump` is added to v after the membrane has moved and
    before the threshold is tested. `arrivals` is what `Direct` synapses pass on unchanged at the
    end of the step: by port of the neuron, in the neuron's own units. A part that is None does not
    exist and costs nothing.

    Attributes:
        current: [pA], `conductance` [nS], `jump` [mV]; each `(..., n)`, a scalar, or None.
        arrivals: a dictionary of such arrays, or None.
        current_slope: [pA/ms], `conductance_slope` [nS/ms].
    """

    current: jax.Array | None = None
    conductance: jax.Array | None = None
    jump: jax.Array | None = None
    arrivals: dict[str, jax.Array] | None = None
    current_slope: jax.Array | None = None
    conductance_slope: jax.Array | None = None

    def __repr__(self) -> str:
        named = zip(self._fields, self)
        parts = ", ".join(f"{k}={shown(x)}" for k, x in named if x is not None)
        return f"Drive({parts})"

    def at(self, t: Any, dt: float) -> "Drive":
        """The drive at the time t [ms], () or (n,), after the start of the step."""
        middle = isinstance(t, float) and t == 0.5 * dt
        if (self.current_slope is None and self.conductance_slope is None) or middle:
            return self
        parts = zip(self[:2], (self.current_slope, self.conductance_slope))
        current, conductance = (
            x if slope is None else (0.0 if x is None else x) + (t - 0.5 * dt) * slope
            for x, slope in parts
        )
        return self._replace(current=current, conductance=conductance)

    def linear(self) -> tuple[Any, Any]:
        """Current [pA] and conductance [nS] for a `Linear` derivative; 0.0 if absent."""
        return tuple(0.0 if x is None else x for x in (self.current, self.conductance))  # type: ignore[return-value]

    def arriving(self, port: str) -> Any:
        """What arrives at a port at the end of the step; 0.0 if nothing does."""
        return 0.0 if self.arrivals is None else self.arrivals.get(port, 0.0)

    def current_at(self, v: jax.Array) -> jax.Array:
        """The current [pA] at the voltage v [mV]: `current - conductance v`, or 0."""
        inward = jnp.zeros_like(v) if self.current is None else self.current
        return inward if self.conductance is None else inward - self.conductance * v

    def jumped(self, v: jax.Array) -> jax.Array:
        """`v + jump` [mV]; v itself if there is no jump."""
        return v if self.jump is None else v + self.jump


def add_drives(a: Drive, b: Drive) -> Drive:
    """The sum of two drives, part by part; a part that neither has stays None."""
    current, conductance, jump, *slopes = (
        _sum(x, y, operator.add) for x, y in zip(a[:3] + a[4:], b[:3] + b[4:])
    )
    return Drive(current, conductance, jump, _sum(a.arrivals, b.arrivals, _add_ports), *slopes)


def _sum(x: Any, y: Any, add: Any) -> Any:
    return y if x is None else x if y is None else add(x, y)


def _add_ports(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    return {port: _sum(a.get(port), b.get(port), operator.add) for port in a | b}
