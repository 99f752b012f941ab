"""The integrators: order of convergence, exactness, and what transforms do to them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jaxneuro.integrators import Gate, Linear, exponential_euler, forward_euler, heun, rk4
from tests.oracle import integrate

METHODS = {"forward": forward_euler, "exponential": exponential_euler, "heun": heun, "rk4": rk4}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
START, STOP = (0.3, -0.4), 2.0


def flow(y, t=0.0):
    """A membrane and a gate, each bound to the other."""
    v, w = y
    speed = 0.6 + 0.3 * jnp.square(v)
    return Linear(1.3 - 0.2 * w, 0.4 + jnp.square(w)), Gate(speed * jax.nn.sigmoid(v), 0.5 * speed)


def derivatives(y):
    v, w = y
    speed = 0.6 + 0.3 * v**2
    opening = speed / (1 + np.exp(-v))
    return [1.3 - 0.2 * w - (0.4 + w**2) * v, opening * (1 - w) - 0.5 * speed * w]


def pairs(y):
    v, w = y
    speed = 0.6 + 0.3 * v**2
    opening = speed / (1 + np.exp(-v))
    return [(1.3 - 0.2 * w, 0.4 + w**2), (opening, opening + 0.5 * speed)]


@jax.jit
def walk(method, y, n_steps, dt):
    return jax.lax.fori_loop(0, n_steps, lambda _, y: tuple(method(flow, y, dt)), y)


@jax.jit
def decayed(method, y, n_steps, dt):
    decay = lambda y, t: (Linear(jnp.zeros_like(y[0]), 1.3),)  # noqa: E731
    return jax.lax.fori_loop(0, n_steps, lambda _, y: tuple(method(decay, y, dt)), y)


def start(dtype=jnp.float64):
    return tuple(np.full(1, x, dtype) for x in START)


@every_method
def test_order_on_a_nonlinear_system(method, x64):
    tight = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    exact = solve_ivp(lambda _, y: derivatives(y), (0.0, STOP), START, **tight).y[:, -1]
    errors = []
    for n in (40, 80, 160):
        y = np.ravel(walk(method, start(), n, np.float64(STOP / n)))
        errors.append(np.abs(y - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - method.order).max() < 0.1, (errors, orders)


@every_method
@pytest.mark.parametrize(("dtype", "close"), [("float32", 1e-6), ("float64", 1e-14)])
def test_one_step_equals_the_textbook(method, dtype, close, x64):
    y = tuple(np.linspace(a, b, 7, dtype=dtype) for a, b in ((-1.0, 2.0), (0.9, -0.3)))
    got = jax.jit(lambda y: method(flow, y, 0.13))(y)
    assert all(x.dtype == dtype and not x.weak_type for x in got)
    expected = integrate.BY_KIND[type(method).__name__](pairs, y, 0.13)
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=close, atol=close)


@every_method
def test_order_on_a_decay(method, x64):
    exact, errors = 0.7 * np.exp(-1.3 * STOP), []
    for n in (20, 40, 80):
        (y,) = decayed(method, (np.full(1, 0.7),), n, np.float64(STOP / n))
        errors.append(abs(float(np.asarray(y)[0]) - exact))
    if method is exponential_euler:
        assert max(errors) < 1e-14
    else:
        assert np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - method.order).max() < 0.2


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_exponential_euler_is_exact_for_a_constant_source(dtype, x64):
    """At rate 0, at rates that hardly decay, and far beyond every explicit method."""
    rate = np.asarray([0.0, 1e-30, 1e-9, 1e-3, 0.09, 0.11, 0.7, 4.0, 1e3, 1e9], dtype)
    y, source, dt = np.full(10, 3.0, dtype), np.linspace(-2.0, 5.0, 10, dtype=dtype), 0.5
    step = jax.jit(lambda s, r, y: exponential_euler(lambda y, t: (Linear(s, r),), (y,), dt)[0])
    got = np.asarray(step(source, rate, y))
    r, s = np.asarray(rate, np.float64), np.asarray(source, np.float64)
    expected = 3.0 * np.exp(-r * dt) + s * integrate.mean_decay(r, dt)
    # What decays away leaves the rounding of what it was.
    eps = jnp.finfo(dtype).eps
    np.testing.assert_allclose(got, expected, rtol=20 * eps, atol=4 * eps)
    assert got[0] == 3.0 + source[0] * dt


def test_a_derivative_without_a_rate_moves_by_forward_euler(x64):
    plain = lambda y, t: (jnp.sin(y[0]), -y[0] * y[1])  # noqa: E731
    y = (np.linspace(-1.0, 1.0, 5), np.linspace(2.0, 3.0, 5))
    both = jax.jit(lambda y: [m(plain, y, 0.1) for m in (exponential_euler, forward_euler)])
    for a, b in zip(*both(y)):
        np.testing.assert_array_equal(a, b)


@every_method
def test_reach_is_where_a_decay_stops_to_decay(method, x64):
    if method.reach is None:
        assert method is exponential_euler
        return
    decay = lambda y, t: (Linear(0.0 * y[0], 1.0),)  # noqa: E731
    step = jax.jit(lambda dt: method(decay, (np.ones(1),), dt)[0][0])
    grown = [abs(float(step(at * method.reach))) for at in (0.999, 1.001)]
    assert grown[0] < 1 < grown[1]


@every_method
def test_vmap_equals_a_loop(method):
    y = tuple(np.linspace(a, 2.0, 12, dtype=np.float32).reshape(3, 4) for a in (-1.0, 0.5))
    alone = jax.jit(lambda y: tuple(method(flow, y, 0.1)))
    many = jax.jit(jax.vmap(lambda y: tuple(method(flow, y, 0.1))))(y)
    for k in range(3):
        for a, b in zip(map(np.asarray, many), alone(tuple(x[k] for x in y))):
            np.testing.assert_allclose(a[k], b, rtol=1e-6)


@every_method
def test_gradient_equals_central_differences(method, x64):
    def last(v):
        y = (jnp.full(2, v), jnp.full(2, -0.4))
        for _ in range(5):
            y = method(flow, y, 0.2)
        return jnp.sum(y[0] * y[1])

    both = jax.jit(jax.value_and_grad(last))
    slope = both(0.3)[1]
    wide = both(0.3001)[0] - both(0.2999)[0]
    np.testing.assert_allclose(slope, float(wide) / 2e-4, rtol=1e-6)
