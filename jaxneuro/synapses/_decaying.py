"""The steps that several receptors share."""

from typing import Any

import jax
import jax.numpy as jnp

from .._model import Drive
from .._numerics.distributions import Distribution
from .._numerics.maths import log_quotient, mean_over_step, slope_over_step, two_decays

# Between what a conductance lies: numbers; a few that are drawn may be below, and soon decay.
CONDUCTANCE = (0.0, None, Distribution)


def pulling(mean: jax.Array, slope: jax.Array, e_rev: jax.Array) -> Drive:
    """The drive of a conductance [nS] with its slope [nS/ms] and reversal potential [mV]."""
    return Drive(mean * e_rev, mean, None, None, slope * e_rev, slope)


def decayed(
    g: jax.Array, arrivals: jax.Array, tau_syn: jax.Array, dt: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """g after a step of `tau_syn dg/dt = -g` and its arrivals; its mean and slope in the step."""
    mean = g * mean_over_step(tau_syn, dt)
    slope = g * slope_over_step(tau_syn, dt)
    return g * jnp.exp(-dt / tau_syn) + arrivals, mean, slope


def risen(
    x: jax.Array, rise: jax.Array, arrivals: jax.Array, taus: tuple[Any, Any], peak: Any, dt: float
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """x and `rise` after a step; mean and slope of x in the step.

    `tau_rise d(rise)/dt = -rise`, `dx/dt = rise/tau_rise - x/tau_decay`; arrivals times `peak` go
    into `rise`. `taus` are `(tau_rise, tau_decay)` [ms], which may be equal.
    """
    a, b = dt / taus[1], dt / taus[0]
    end, integral, tilted = two_decays(a, b)
    mean = x * mean_over_step(taus[1], dt) + rise * (b * integral)
    slope = x * slope_over_step(taus[1], dt) + rise * ((12.0 / dt) * b * tilted)
    new = x * jnp.exp(-a) + rise * (b * end)
    return new, rise * jnp.exp(-b) + peak * arrivals, mean, slope


def unit_peak(tau_rise: jax.Array, tau_decay: jax.Array) -> jax.Array:
    """By what an arrival in `rise` is multiplied so that x has a peak of 1."""
    return jnp.exp(log_quotient((tau_decay - tau_rise) / tau_rise))
