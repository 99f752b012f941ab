"""The upswing of an exponential neuron, in a coordinate in which it is nearly a straight line.

v goes to infinity in finite time, so that steps in v do not determine well when. Above `v_th` the
upswing is therefore integrated in `z = exp(-(v - v_th) / delta_t)`, which falls to 0 with a bounded
slope:

    dz/dt = -g_l / c_m - z rest / (delta_t c_m)

with `rest` [pA] the current without the exponential one. The time of the spike is then known to a
small part of the step, and the neuron continues from its reset within the same step.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._types import Drive
from ..integrators import Linear


class Course(NamedTuple):
    """What determines the motion of the coordinate in a step.

    **Fields** `inward` [pA]: the current at v = 0 without w; `g` [nS]: the conductance;
    `up` bool (n,): which neurons take the step in z.
    """

    inward: Any
    g: Any
    up: jax.Array


def begin(model: Any, v: jax.Array, w: Any, drive: Drive, dt: float) -> tuple[Course, jax.Array]:
    """The course of the step, and the coordinate at its start: z or v."""
    current, conductance = drive.linear()
    inward, g = model.g_l * model.e_l + current, model.g_l + conductance
    rest = jnp.abs(inward - w - g * v)
    z = jnp.exp((model.v_th - jnp.maximum(v, model.v_th)) / model.delta_t)
    # While the other currents dominate, v is the better coordinate: until the exponential current
    # is a quarter of them, or to the end if they move v by more than delta_t in a step.
    slow = rest * dt < model.delta_t * model.c_m
    up = (v > model.v_th) & slow & (z * rest < 4.0 * model.g_l * model.delta_t)
    return Course(inward, g, up), jnp.where(up, z, v)


def during(model: Any, course: Course, drive: Drive) -> Course:
    """The course under the drive at one moment of the step."""
    current, conductance = drive.linear()
    return Course(model.g_l * model.e_l + current, model.g_l + conductance, course.up)


def _peak(model: Any) -> jax.Array:
    """z at v_peak; the bound keeps its logarithm finite."""
    return jnp.maximum(jnp.exp((model.v_th - model.v_peak) / model.delta_t), 1e-30)


def voltage(model: Any, course: Course, y: jax.Array) -> jax.Array:
    """v [mV] at the coordinate y; above `v_peak` it is linear in z."""
    peak = _peak(model)
    z = jnp.where(course.up, y, jnp.ones_like(y))
    below = model.v_th - model.delta_t * jnp.log(jnp.maximum(z, peak))
    v = jnp.where(z > peak, below, model.v_peak + model.delta_t * (peak - z))
    return jnp.where(course.up, v, y)


def motion(model: Any, course: Course, v: jax.Array, w: Any) -> Linear:
    """The derivative of the coordinate at the voltage v."""
    x = jnp.where(course.up, model.v_th, v)
    steep = jnp.exp(jnp.minimum((x - model.v_th) / model.delta_t, 20.0))
    source = (course.inward - w + model.g_l * model.delta_t * steep) / model.c_m
    rate = (course.inward - w - course.g * v) / (model.delta_t * model.c_m)
    return Linear(
        jnp.where(course.up, -model.g_l / model.c_m, source),
        jnp.where(course.up, rate, course.g / model.c_m),
    )


def since_peak(
    model: Any, course: Course, ends: tuple, v: jax.Array, w: Any, dt: float
) -> tuple[jax.Array, jax.Array]:
    """Time [ms] since z fell below its value at `v_peak` in this step, else 0; and the mean v.

    The time is a cubic Hermite polynomial of z between the `ends` of the step. The mean [mV] is
    that of v from its start to the peak, for a z that falls linearly.
    """
    (start, end), peak = ends, _peak(model)
    over = course.up & (end <= peak)
    span = jnp.where(over, start - end, jnp.ones_like(end))

    def pace(z: jax.Array, at: Any) -> jax.Array:
        rest = (course.inward - w - course.g * at) / model.delta_t
        slope = jnp.minimum(-(model.g_l + z * rest) / model.c_m, -1e-6)
        return span / (dt * jnp.where(over, slope, -jnp.ones_like(z)))

    x = jnp.where(over, jnp.clip((peak - end) / span, 0.0, 1.0), jnp.zeros_like(end))
    bend = x * pace(start, v) - (1.0 - x) * pace(end, model.v_peak)
    late = dt * jnp.clip(x * (x * (3.0 - 2.0 * x) + (1.0 - x) * bend), 0.0, 1.0)
    fall = jnp.where(over & (start > peak), start - peak, jnp.ones_like(end))
    mean = v + model.delta_t - (model.v_peak - v) * (peak / fall)
    return late, mean


def after_reset(
    model: Any, course: Course, drive: Drive, w: Any, dw: Any, late: jax.Array, dt: float
) -> jax.Array:
    """v [mV] `late` [ms] after the reset to `v_reset`, with w of slope dw, by a Taylor series."""
    # The drive in the middle of the rest of the step is its mean over that rest.
    course = during(model, course, drive.at(dt - 0.5 * late, dt))
    steep = model.g_l * jnp.exp((model.v_reset - model.v_th) / model.delta_t)
    flow = course.inward - w - course.g * model.v_reset + steep * model.delta_t
    first = flow / model.c_m
    second = ((steep - course.g) * first - dw) / model.c_m
    return model.v_reset + late * (first + 0.5 * late * second)
