"""Events that happen with a probability."""

from typing import Any

import jax
import numpy as np


def chance(word: Any, p: jax.Array) -> jax.Array:
    """Whether an event of probability p happens, from a random word; exact to 2^-32."""
    return (word.astype(p.dtype) < p * np.asarray(2.0**32, p.dtype)) | (p >= 1)
