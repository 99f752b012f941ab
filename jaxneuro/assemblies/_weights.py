"""Weights of potentiated synapses in fixed point, and the grid on which sums are compared."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import is_traced
from .._kernels import UNIT_BITS, wide_add, wide_units
from ._description import LARGEST_BETA

# Sums are compared as multiples of 2^-12. Two sums of m weights that are equal in exact arithmetic
# differ by m 2^-24 at most; they fall apart where an edge of the grid is between them. Measured for
# m synapses of one weight each: never up to 128, 1 in 100 of 400, 3 in 100 of 1,000.
_GRID_BITS = 12
_DECIMALS = 10**6

# A growing weight is 16-bit limbs in uint32, lowest first; the first four are its fraction.
_FRACTION, _WHOLE = 4, 2
_LIMB, _LOW = np.uint32(16), np.uint32(0xFFFF)
_BYTE = np.uint32(8)


def weight_tables(beta: Any, w_max: np.ndarray, rounds: int) -> Any:
    """`w_c = min((1 + beta)^c, w_max)` for c from 0 to `rounds`: uint32 (F, rounds + 1, 2).

    In units of 2^-24. Beta has six decimals, so that 1.1 is eleven tenths, which no binary number
    is: ten weights of 1.1 weigh as much as eleven of 1. In integers, the same on every device.
    """
    xp = jnp if is_traced(beta) else np
    beta = xp.asarray(beta)
    growth = _growth(xp, beta)
    ceiling = _ceiling(w_max)
    start = [xp.full(beta.shape, i == _FRACTION, np.uint32) for i in range(_FRACTION + _WHOLE)]

    def grow(w: list, _: Any = None) -> tuple[list, Any]:
        more = _product(w, growth)[_FRACTION:]
        return _at_most(xp, _carried([a + b for a, b in zip(w, more)]), ceiling), _fixed(xp, w)

    if xp is jnp:
        return jnp.swapaxes(lax.scan(grow, start, length=rounds + 1)[1], 0, 1)
    tables = []
    for _ in range(rounds + 1):
        start, words = grow(start)
        tables.append(words)
    return jnp.asarray(np.stack(tables, axis=1))


def fixed_point(x: Any) -> Any:
    """Numbers from 0 to 2^20 in units of 2^-24, rounded half to even: uint32 (..., 2)."""
    x = x.astype(jnp.float32)
    whole = jnp.floor(x)
    part = jnp.round((x - whole) * np.float32(2.0**UNIT_BITS)).astype(jnp.uint32)
    return wide_add(wide_units(whole.astype(jnp.uint32)), jnp.stack([part, 0 * part], axis=-1))


def on_grid(sums: Any) -> Any:
    """Sums in units of 2^-24 as the nearest multiples of 2^-12: (..., 2)."""
    half = jnp.asarray(np.array([1 << (_GRID_BITS - 1), 0], np.uint32))
    near = wide_add(sums, half)
    low = near[..., 0] & np.uint32(0xFFFFFFFF ^ ((1 << _GRID_BITS) - 1))
    return jnp.stack([low, near[..., 1]], axis=-1)


def nearly(x: Any) -> Any:
    """Numbers rounded to 16 significant bits: quotients that are equal come out equal."""
    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    return lax.bitcast_convert_type((bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00), jnp.float32)


def _growth(xp: Any, beta: Any) -> list:
    """Beta as limbs: the whole part of it last."""
    beta = xp.clip(beta, xp.asarray(0, beta.dtype), xp.asarray(LARGEST_BETA, beta.dtype))
    whole = xp.floor(beta)
    left = xp.round((beta - whole) * _DECIMALS).astype(np.uint32)
    whole = whole.astype(np.uint32) + left // _DECIMALS
    left, digits = left % _DECIMALS, []
    for _ in range(2 * _FRACTION):  # long division, a byte at a time
        digits.append((left << _BYTE) // _DECIMALS)
        left = (left << _BYTE) % _DECIMALS
    fraction = [digits[i] << _BYTE | digits[i + 1] for i in range(0, 2 * _FRACTION, 2)]
    return [*reversed(fraction), whole]


def _ceiling(w_max: np.ndarray) -> list:
    x = np.asarray(w_max, np.float64)
    limbs = [x * 2.0 ** (16 * i) // 1 % 2**16 for i in range(_FRACTION, -_WHOLE, -1)]
    return [limb.astype(np.uint32) for limb in limbs]


def _product(a: list, b: list) -> list:
    columns: list[Any] = [0] * (len(a) + len(b))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            columns[i + j] = columns[i + j] + (x * y & _LOW)
            columns[i + j + 1] = columns[i + j + 1] + (x * y >> _LIMB)
    return _carried(columns)


def _carried(columns: list) -> list:
    out, carry = [], np.uint32(0)
    for column in columns:
        out.append((column + carry) & _LOW)
        carry = (column + carry) >> _LIMB
    return out


def _at_most(xp: Any, w: list, ceiling: list) -> list:
    less = xp.zeros(w[0].shape, bool)
    for a, b in zip(w, ceiling):
        less = (a < b) | ((a == b) & less)
    return [xp.where(less, a, b) for a, b in zip(w, ceiling)]


def _fixed(xp: Any, w: list) -> Any:
    """A weight as words, rounded half up to 24 bits of its fraction."""
    *_, third, last, low, high = w
    whole = low | high << _LIMB
    bit = third >> np.uint32(7) & np.uint32(1)
    words = (whole << np.uint32(24) | last << _BYTE | third >> _BYTE) + bit
    return xp.stack([words, (whole >> _BYTE) + (words < bit).astype(np.uint32)], axis=-1)
