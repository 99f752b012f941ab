"""Counter-based random bits: Threefry-2x32, by default with 20 rounds.

Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as
1, 2, 3", doi:10.1145/2063384.2063405. NumPy and JAX give the same bits: the
function below only adds, rotates and xors unsigned 32-bit words.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry2x32(
    key: tuple[Any, Any], counter: tuple[Any, Any], rounds: int = 20
) -> tuple[Any, Any]:
    """Two words of random bits for a key of two words and a counter of two words.

    All words are uint32 arrays (NumPy or JAX) of shapes that broadcast.
    """
    one = np.uint32
    keys = (key[0], key[1], key[0] ^ key[1] ^ one(_PARITY))
    x0, x1 = counter[0] + keys[0], counter[1] + keys[1]
    for number in range(rounds):
        r = _ROTATIONS[number // 4 % 2][number % 4]
        x0 = x0 + x1
        x1 = (x1 << one(r)) | (x1 >> one(32 - r))
        x1 = x1 ^ x0
        if number % 4 == 3:
            block = number // 4 + 1
            x0 = x0 + keys[block % 3]
            x1 = x1 + (keys[(block + 1) % 3] + one(block))
    return x0, x1


def as_words(*values: Any) -> Any:
    """Integers as uint32 words: NumPy where known, JAX where traced."""
    out = []
    for v in values:
        if isinstance(v, int | np.integer | np.ndarray):
            out.append(np.asarray(v).astype(np.uint32))
        else:
            out.append(jnp.asarray(v).astype(jnp.uint32))
    return out
