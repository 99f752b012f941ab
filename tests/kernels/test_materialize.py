"""`materialize` changes nothing: values, batches and gradients."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro._kernels.call import materialize


def square(x, y):
    a, b = materialize((x * y, x + y))
    return a * b


X, Y = (np.linspace(*ends, 37, dtype=np.float32) for ends in ((-1.0, 2.0), (0.3, 5.0)))


def test_the_arrays_are_the_same():
    out = jax.jit(lambda x, y: materialize((x, y, x)))(X, Y)
    for got, given in zip(out, (X, Y, X)):
        np.testing.assert_array_equal(got, given)


def test_it_leaves_what_it_was_given():
    """Operands are aliased: what is used again must have been copied."""
    x, y = jax.device_put((X, Y))
    got = jax.jit(lambda x, y: (materialize((x, y))[0] + 1.0, x))(x, y)
    np.testing.assert_array_equal(got[1], X)
    np.testing.assert_array_equal(x, X)


def test_batches_and_gradients():
    loss = lambda x, y: jnp.sum(square(x, y))  # noqa: E731
    plain = lambda x, y: jnp.sum((x * y) * (x + y))  # noqa: E731
    slope, expected = (jax.jit(jax.grad(f))(X, Y) for f in (loss, plain))
    np.testing.assert_allclose(slope, expected, rtol=1e-6)
    forward = [jax.jit(lambda x, y, f=f: jax.jvp(f, (x, y), (y, x))[1]) for f in (loss, plain)]
    np.testing.assert_allclose(*(f(X, Y) for f in forward))
    many = np.stack([X, 2 * X, -X])
    batched = jax.jit(jax.vmap(square, (0, None)))(many, Y)
    np.testing.assert_allclose(batched, many * Y * (many + Y), rtol=1e-6)
    slopes = jax.jit(jax.vmap(jax.grad(loss), (0, None)))(many, Y)
    np.testing.assert_allclose(np.asarray(slopes)[0], expected, rtol=1e-6)


def test_in_a_loop():
    def body(c, _):
        return materialize((c[0] * 0.5, c[1] + c[0])), None

    a, b = jax.jit(lambda c: jax.lax.scan(body, c, None, length=7)[0])((X, Y))
    np.testing.assert_allclose(a, X / 128)
    np.testing.assert_allclose(b, Y + X * (2 - 2**-6), rtol=1e-5)


def test_it_lowers_for_a_gpu():
    text = jax.jit(square).trace(X, Y).lower(lowering_platforms=("cuda",)).as_text()
    assert "jaxneuro_materialize" not in text
