"""A neuron model at constant currents, in float64."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from tests.zoo import cast


@jax.jit(static_argnames="n_steps")
def _scan(model, currents, start, dt, n_steps):
    state = _started(model, currents, start)

    def body(state, _):
        state, spikes = model.step(state, jn.Drive(current=currents), dt)
        return state, (spikes, state)

    return jax.lax.scan(body, state, None, length=n_steps)[1]


@jax.jit
def _last(model, currents, start, dt, n_steps):
    state, drive = _started(model, currents, start), jn.Drive(current=currents)
    return jax.lax.fori_loop(0, n_steps, lambda _, s: model.step(s, drive, dt)[0], state)


def _started(model, currents, start):
    state = model.init(currents.size)
    return state._replace(**{k: jnp.full_like(getattr(state, k), x) for k, x in start.items()})


def _prepared(model, currents, dtype, start):
    return cast(model, dtype), np.atleast_1d(np.asarray(currents, dtype)), start


def run(model, currents, n_steps, dt, dtype=jnp.float64, **start):
    """(spikes, states) of every step, arrays (n_steps, n), one neuron per current."""
    out = _scan(*_prepared(model, currents, dtype, start), dt, n_steps)
    return jax.tree.map(np.asarray, out)


def end(model, currents, n_steps, dt, dtype=jnp.float64, **start):
    """The last state, arrays (n,); one program for any number of steps."""
    state = _last(*_prepared(model, currents, dtype, start), dt, n_steps)
    return jax.tree.map(np.asarray, state)


def steps_of(spikes, neuron=0):
    """The steps in which a neuron spiked."""
    return np.flatnonzero(spikes[:, neuron])


def order_of_error(model, variables, start, current, method, dts=(0.4, 0.2, 0.1), duration=8.0):
    """log2 of how much the error of all variables falls when dt halves, twice."""

    def last(method, dt):
        changed = dataclasses.replace(model, method=method)
        state = end(changed, current, round(duration / dt), dt, **start)
        return np.array([getattr(state, x)[0] for x in variables])

    exact = last(jn.integrators.rk4, dts[-1] / 16)
    errors = [np.abs(last(method, dt) - exact).max() for dt in dts]
    return np.log2(np.divide(errors[:-1], errors[1:]))
