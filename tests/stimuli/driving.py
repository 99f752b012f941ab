"""Runs a stimulus alone, as a network would: prepared, started, stepped."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro.numerics import Stream, seed_of, stream_key

DT = 0.1


def stream_of(n, seed=0, name="x"):
    high, low = (jnp.asarray(k) for k in stream_key(seed_of(seed), name, "stimulus"))
    return Stream(high, low, jnp.arange(n, dtype=jnp.uint32))


def prepare(model, n, dt=DT, seed=0, name="x"):
    return model.prepare(name, n, dt, stream_key(seed_of(seed), name, "stimulus"))


def scan(model, state, n_steps, first=0, dt=DT):
    """The last state and the outputs of the steps from `first` on."""
    return _scan(model, state, jnp.int32(first), n_steps, dt)


@functools.partial(jax.jit, static_argnames=("n_steps", "dt"))
def _scan(model, state, first, n_steps, dt):
    steps = first + jnp.arange(n_steps, dtype=jnp.int32)
    return jax.lax.scan(lambda s, k: model.step(s, k, dt), state, steps)


def run(model, n, n_steps, first=0, seed=0, name="x", dt=DT):
    """The counts (n_steps, n), or the currents, of a stimulus from its start."""
    ready = prepare(model, n, dt, seed, name)
    out = scan(ready, ready.init(n, stream_of(n, seed, name)), n_steps, first, dt)[1]
    return np.asarray(out if isinstance(out, jax.Array) else out.current)


def values(signal, steps, n=1, dt=DT):
    """The values of a signal at given steps."""
    ready = signal.prepare("x", n, dt, None)
    at = jax.jit(jax.vmap(lambda k: ready.at(k, dt)))
    return np.asarray(at(jnp.asarray(steps, jnp.int32)))


def intervals(counts):
    """The intervals between spikes [steps] of all neurons; counts of 0 and 1."""
    return np.concatenate([np.diff(np.flatnonzero(c)) for c in np.asarray(counts).T])


def correlation(a, b):
    """The correlation coefficient of two arrays, and its standard error if there is none."""
    a, b = (np.ravel(x).astype(np.float64) for x in (a, b))
    return np.corrcoef(a, b)[0, 1], 1 / np.sqrt(a.size)
