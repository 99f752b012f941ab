"""Neurons driven by hand: runs, and the exact solution of their equations."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import jaxneuro as jn
from tests.oracle.integrate import derivatives
from tests.zoo import cast, numbers


@jax.jit(static_argnames="n_steps")
def _scan(model, state, drive, dt, n_steps):
    def body(state, _):
        state, spikes = model.step(state, drive, dt)
        return state, (state, spikes)

    return jax.lax.scan(body, state, None, n_steps)[1]


init = jax.jit(lambda model, n: model.init(n), static_argnums=1)


@jax.jit
def _walk(model, state, drive, dt, n_steps):
    return jax.lax.fori_loop(0, n_steps, lambda _, s: model.step(s, drive, dt)[0], state)


def run(model, n_steps, dt, n=1, state=None, **parts):
    """(states, spikes) of every step in float64, under a drive that does not change."""
    model = cast(model, jnp.float64)
    drive = jn.Drive(**{k: np.asarray(x, np.float64) for k, x in parts.items()})
    state = init(model, n) if state is None else state
    states, spikes = _scan(model, state, drive, np.float64(dt), n_steps)
    return jax.tree.map(np.asarray, states), np.asarray(spikes)


def exact(model, equations, start, stop, current, times=None, conductance=0.0):
    """The variables at the end (or at `times`) by an adaptive method of order 8."""
    p = {k: float(x) for k, x in numbers(model).items() if isinstance(x, np.ndarray | np.floating)}
    flow = derivatives(lambda y: equations(y, p, current, conductance))
    tight = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    found = solve_ivp(lambda _, y: flow(list(y)), (0.0, stop), start, t_eval=times, **tight)
    return found.y[:, -1] if times is None else found.y


def orders(model, equations, stop, steps, current, **start):
    """Orders of convergence between numbers of steps, of the largest relative error at the end.

    From `init`, but for the variables in `start`.
    """
    model = cast(model, jnp.float64)
    state = init(model, 1)
    state = state._replace(**{k: np.full(1, x) for k, x in start.items()})
    names = [k for k in state._fields if getattr(state, k).dtype == jnp.float64]
    begin = [float(np.asarray(getattr(state, k))[0]) for k in names]
    expected = exact(model, equations, begin, stop, current)
    errors = []
    for n in steps:
        end = _walk(model, state, jn.Drive(np.float64(current)), np.float64(stop / n), n)
        y = np.array([float(np.asarray(getattr(end, k))[0]) for k in names])
        errors.append(np.abs(y / expected - 1).max())
    return np.log2(np.divide(errors[:-1], errors[1:])), errors
