"""Hodgkin-Huxley written by hand: one `lax.scan`, without the package."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

START = (-65.0, 0.05293249, 0.59612075, 0.31767691)


def _linoid(x):
    small = jnp.abs(x) < 1e-4
    safe = jnp.where(small, 1.0, x)
    return jnp.where(small, 1.0 + x / 2, safe / (1.0 - jnp.exp(-safe)))


def _rates(v):
    a_m, b_m = _linoid((v + 40) / 10), 4 * jnp.exp(-(v + 65) / 18)
    a_h, b_h = 0.07 * jnp.exp(-(v + 65) / 20), 1 / (1 + jnp.exp(-(v + 35) / 10))
    return (a_m, b_m), (a_h, b_h), (0.1 * _linoid((v + 55) / 10), 0.125 * jnp.exp(-(v + 65) / 80))


def _linear(y, current):
    """Every variable as (source, rate)."""
    v, m, h, n = y
    g_na, g_k = 120 * m**3 * h, 36 * n**4
    membrane = current + g_na * 50 - g_k * 77 - 0.3 * 54.387, g_na + g_k + 0.3
    return membrane, *((a, a + b) for a, b in _rates(v))


def _slope(y, current):
    return [a - b * x for (a, b), x in zip(_linear(y, current), y)]


def _moved(y, k, by):
    return [x + by * slope for x, slope in zip(y, k)]


def _rk4(y, current, dt):
    k1 = _slope(y, current)
    k2 = _slope(_moved(y, k1, dt / 2), current)
    k3 = _slope(_moved(y, k2, dt / 2), current)
    k4 = _slope(_moved(y, k3, dt), current)
    parts = zip(y, k1, k2, k3, k4)
    return tuple(x + dt / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in parts)


def _exponential_euler(y, current, dt):
    parts = zip(_linear(y, current), y)
    return tuple(a / b + (x - a / b) * jnp.exp(-dt * b) for (a, b), x in parts)


METHODS = {"rk4": _rk4, "exponential_euler": _exponential_euler}


@partial(jax.jit, static_argnames=("method", "n_steps", "record"))
def run(y: tuple, currents: Any, dt: float, method: str, n_steps: int, record: bool) -> Any:
    """The last state, and v of every step if it is recorded; `currents` (n,)."""
    step = METHODS[method]

    def body(y, _):
        y = step(y, currents, dt)
        return y, (y[0] if record else None)

    return lax.scan(body, y, None, length=n_steps)
