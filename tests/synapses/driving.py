"""Receptors driven by hand: alone, and with the membrane of one LIF neuron."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from tests.zoo import cast

LIF = {"tau_m": 20.0, "c_m": 200.0, "e_l": -60.0}


@jax.jit
def _alone(model, arrivals, v, dt):
    def body(state, now):
        state, drive = model.step(state, *now, dt)
        return state, (state, drive)

    return jax.lax.scan(body, model.init(arrivals.shape[1]), (arrivals, v))[1]


def alone(model, arrivals, v=-60.0, dt=0.1, dtype=jnp.float64):
    """(states, drives) of every step; `arrivals` (steps, n)."""
    arrivals = np.asarray(arrivals, dtype)
    v = np.broadcast_to(np.asarray(v, dtype), arrivals.shape)
    out = _alone(cast(model, dtype), arrivals, v, np.asarray(dt, dtype))
    return jax.tree.map(np.asarray, out)


@jax.jit
def _coupled(model, neuron, arrivals, current, dt, n_steps):
    """v after each step; rows of `arrivals` from n_steps on are not used."""

    def body(k, carry):
        state, own, v = carry
        own, drive = model.step(own, arrivals[k], neuron.voltage(state), dt)
        drive = drive._replace(current=drive.current + current)
        state, _ = neuron.step(state, drive, dt)
        return state, own, v.at[k].set(state.v)

    start = (neuron.init(1), model.init(1), jnp.zeros_like(arrivals))
    return jax.lax.fori_loop(0, n_steps, body, start)[2]


def coupled(model, events, stop, dt=0.1, current=0.0, dtype=jnp.float64, rows=None, **lif):
    """v (steps,) at the ends of steps; `events` are (time, weight).

    Equal `rows` (at least as many as steps) share a program.
    """
    n_steps = round(stop / dt)
    arrivals = np.zeros((rows or n_steps, 1), dtype)
    for time, weight in events:
        arrivals[round(time / dt) - 1] += weight
    neuron = jn.neurons.LIF(**{**LIF, "v_th": 1e3, "v_reset": -70.0, **lif})
    models = [cast(m, dtype) for m in (model, neuron)]
    dt, current = np.asarray(dt, dtype), np.asarray(current, dtype)
    return np.asarray(_coupled(*models, arrivals, current, dt, n_steps))[:n_steps, 0]
