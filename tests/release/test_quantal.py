"""Quantal release: its law, its mean against `TsodyksMarkram`, its bits."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxneuro as jn
from jaxneuro.release._short_term import binomial
from tests.compiling import AS_WRITTEN
from tests.release.alone import released
from tests.zoo import stream

N = 20_000


@functools.partial(jax.jit, static_argnums=3, compiler_options=AS_WRITTEN)
def drawn(model, spikes, bits, n):
    """Values (steps, n) if all n neurons spike in the steps `spikes` (steps,)."""

    def body(state, now):
        return model.step(state, jnp.broadcast_to(now, n), None, 1.0)

    return jax.lax.scan(body, model.init(n, bits), spikes)[1]


def in_steps(at, steps=121):
    spikes = np.zeros(steps, bool)
    spikes[list(at)] = True
    return spikes


@pytest.mark.slow(but=["1"])
@pytest.mark.parametrize("sites", [1, 7, 64])
def test_the_mean_is_that_of_tsodyks_markram(sites):
    """And the first spike is binomial; later ones have depressed and facilitated."""
    at, fields = (0, 30, 50, 120), (0.3, 60.0, 40.0)
    spikes = in_steps(at)
    values = np.asarray(
        drawn(jn.release.QuantalRelease(*fields, sites), spikes, stream(range(N)), N)
    )
    assert not values[~spikes].any()
    values = values[list(at)]
    np.testing.assert_array_equal(values * sites, np.rint(values * sites))
    v = np.zeros((len(spikes), 1), np.float32)
    mean = released(jn.release.TsodyksMarkram(*fields), spikes[:, None], v, 1.0)[0]
    mean = np.asarray(mean)[list(at), 0]
    # Sites are independent: each releases with this probability, which fixes the variance too.
    sd = np.sqrt(mean * (1 - mean) / sites)
    assert (np.abs(values.mean(1) - mean) < 4 * sd / np.sqrt(N)).all()
    np.testing.assert_allclose(values.var(1), sd**2, rtol=5 * np.sqrt(2 / N))


def test_a_site_is_empty_after_its_release():
    """With U = 1 and slow recovery nothing is left for the second spike."""
    values = drawn(
        jn.release.QuantalRelease(1.0, 1e9, 0.0, 7), in_steps((0, 30)), stream([0] * 50), 50
    )
    assert (np.asarray(values)[0] == 1).all()
    assert not np.asarray(values)[30].any()


@pytest.mark.parametrize(("n", "most"), [(1, 64), (7, 64), (64, 64), (0, 64), (1, 1)])
@pytest.mark.parametrize("p", [0.0, 1e-3, 0.3, 0.5, 0.9, 1.0])
def test_the_inversion_is_the_binomial_law(n, most, p):
    """At the middles of 4096 equal parts of the unit interval."""
    u = (np.arange(4096, dtype=np.float32) + np.float32(0.5)) / np.float32(4096)
    k = np.asarray(inverted(u, np.float32(n), np.float32(p), most))
    q = min(p, 1 - p)
    expected = stats.binom.ppf(u, n, q)
    expected = n - expected if p > 0.5 else expected
    assert (k != expected).sum() <= 2  # where a probability is within a few ulp of a middle
    assert k.min() >= 0
    assert k.max() <= n


inverted = jax.jit(lambda u, n, p, most: binomial(u, n, p, most), static_argnums=3)


def test_bits_depend_on_seed_and_neuron_alone():
    """A neuron draws the same in a group of another size, a later one with the seed changed not."""
    model, spikes = jn.release.QuantalRelease(0.3, 60.0, 40.0, 7), in_steps((0, 30, 50, 120))
    all_of_them = np.asarray(drawn(model, spikes, stream(range(N)), N))
    few = np.asarray(drawn(model, spikes, stream(range(100, 150)), 50))
    np.testing.assert_array_equal(few, all_of_them[:, 100:150])
    other = np.asarray(drawn(model, spikes, stream(range(100, 150), 4), 50))
    assert (other != few).any()


@pytest.mark.parametrize("sites", [0, 65])
def test_sites_are_a_whole_number_that_is_not_large(sites):
    with pytest.raises(jn.InvalidValueError) as error:
        jn.release.QuantalRelease(sites=sites)
    assert (error.value.owner, error.value.field) == ("QuantalRelease", "sites")
