"""Runs a stimulus alone, as a network would: prepared, started, stepped."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro._numerics.streams import Stream, seed_of, stream_key

DT = 0.1


def stream_of(n, seed=0, name="x"):
    key = stream_key(seed_of(seed), name, "stimulus")
    return jax.device_put(Stream(*key, np.arange(n, dtype=np.uint32)))


def prepare(model, n, dt=DT, seed=0, name="x"):
    return model.prepare(name, n, dt, stream_key(seed_of(seed), name, "stimulus"))


def start(model, n, seed=0, name="x"):
    """The state of a prepared stimulus for n neurons."""
    return _start(model, stream_of(n, seed, name), n)


@jax.jit(static_argnames="n")
def _start(model, stream, n):
    return model.init(n, stream)


def scan(model, state, n_steps, first=0, dt=DT):
    """The last state and the outputs of the steps from `first` on."""
    return _scan(model, state, np.int32(first), n_steps, dt)


@jax.jit(static_argnames=("n_steps", "dt"))
def _scan(model, state, first, n_steps, dt):
    steps = first + jnp.arange(n_steps, dtype=jnp.int32)
    return jax.lax.scan(lambda s, k: model.step(s, k, dt), state, steps)


def run(model, n, n_steps, first=0, seed=0, name="x", dt=DT):
    """The counts (n_steps, n), or the currents, of a stimulus from its start."""
    ready = prepare(model, n, dt, seed, name)
    out = scan(ready, start(ready, n, seed, name), n_steps, first, dt)[1]
    return np.asarray(out if isinstance(out, jax.Array) else out.current)


def values(signal, steps, n=1, dt=DT):
    """The values of a signal at given steps."""
    ready = signal.prepare("x", n, dt, None)
    # Sizes from a short list: many tests run one program.
    steps = np.asarray(steps, np.int32)
    padded = np.resize(steps, 2 ** int(np.ceil(np.log2(max(steps.size, 16)))))
    return np.asarray(_values(ready, padded, dt))[: steps.size]


@jax.jit(static_argnames="dt")
def _values(signal, steps, dt):
    return jax.vmap(lambda k: signal.at(k, dt))(steps)


def intervals(counts):
    """The intervals between spikes [steps] of all neurons; counts of 0 and 1."""
    return np.concatenate([np.diff(np.flatnonzero(c)) for c in np.asarray(counts).T])


def correlation(a, b):
    """The correlation coefficient of two arrays, and its standard error if there is none."""
    a, b = (np.ravel(x).astype(np.float64) for x in (a, b))
    return np.corrcoef(a, b)[0, 1], 1 / np.sqrt(a.size)
