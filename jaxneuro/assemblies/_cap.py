import jax.numpy as jnp
import numpy as np
from jax import lax


def k_cap_wide(words, k):
    n = words.shape[0]
    idx = jnp.arange(n, dtype=jnp.int32)
    hi = ~(words[:, 1] ^ np.uint32(0x80000000))
    lo = ~words[:, 0]
    return jnp.sort(lax.sort((hi, lo, idx), num_keys=3)[2][:k])


def k_cap(x, k):
    n = x.shape[0]
    return jnp.sort(lax.sort((-x, jnp.arange(n, dtype=jnp.int32)), num_keys=2)[1][:k])
