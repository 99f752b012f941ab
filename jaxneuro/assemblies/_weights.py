"""The synapses of fibres: their ends, how they are kept, and the weights that they learn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Float32, Integer, UInt32

from .. import spec
from .._arrays import AnyArray, is_traced
from .._kernels.edges import Counts, Firing, Hashed, Lists, Stored
from .._kernels.new_sources import gap_lists, gap_width
from .._kernels.synaptic_input import synaptic_input
from .._kernels.wide import UNIT_BITS, wide_add, wide_to_number, wide_units
from .._numerics.streams import stream_keys
from ..spec import InvalidValueError
from ._description import LARGEST_BETA, Area, Fibre, Stimulus
from ._state import FibreState

# --- `Wire`: a fibre whose ends are found.


_LARGEST_SUM = 2.0**38  # in units of 2^-24 a sum and its sign then have 64 bits


class Wire(NamedTuple):
    """A fibre whose ends are found: `source` and `target` as described, `number` of the source
    among the areas (None: a stimulus), `into` that of the target."""

    name: str
    source: Any
    target: Area
    number: int | None
    into: int
    p: float

    @property
    def firing(self) -> int:
        """How many neurons of the source fire at a time."""
        return self.source.size if self.number is None else self.source.k

    @property
    def places(self) -> int:
        """How many neurons the source has, or places."""
        return self.source.size if self.number is None else self.source.places


def wires_of(
    areas: Sequence[Area], stimuli: Sequence[Stimulus], fibres: Sequence[Fibre], p: float | None
) -> tuple[Wire, ...]:
    """The fibres with their ends; `p` is that of fibres that have none.

    Raises:
        InvalidValueError: for unknown ends, no p, equal ends, and sums beyond 64 bits.
    """
    wires = tuple(_wire(areas, stimuli, fibre, p) for fibre in fibres)
    names = [wire.name for wire in wires]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"a brain: fibres must differ in their ends; twice: {twice}")
    for number, area in enumerate(areas):
        into = [(w, f) for w, f in zip(wires, fibres) if w.into == number and w.p > 0]
        most = sum(w.firing * f.w_max for w, f in into)
        if most > _LARGEST_SUM:
            raise InvalidValueError(
                f"area {area.name!r}",
                "the neurons that fire into it times their w_max",
                "at most 2^38 (give its fibres a smaller w_max)",
                f"{most:.3g}",
            )
    return wires


def _wire(
    areas: Sequence[Area], stimuli: Sequence[Stimulus], fibre: Fibre, default: float | None
) -> Wire:
    numbers = {area.name: number for number, area in enumerate(areas)}
    ends = {x.name: x for x in (*areas, *stimuli)}
    spec.check_known("area", fibre.target, numbers)
    spec.check_known("area or stimulus", fibre.source, ends)
    p = default if fibre.p is None else fibre.p
    if p is None:
        raise ValueError(
            f"fibre {fibre.name}: p must be given, by Fibre(..., p=0.01) or by Brain(..., p=0.01)"
        )
    into = numbers[fibre.target]
    return Wire(fibre.name, ends[fibre.source], areas[into], numbers.get(fibre.source), into, p)


# --- Weights of potentiated synapses in fixed point, and the grid on which sums are compared.


# Sums are compared as multiples of 2^-12. Two sums of m weights that are equal in exact arithmetic
# differ by m 2^-24 at most; they fall apart where an edge of the grid is between them. Measured for
# m synapses of one weight each: never up to 128, 1 in 100 of 400, 3 in 100 of 1,000.
_GRID_BITS = 12
_DECIMALS = 10**6

# A growing weight is 16-bit limbs in uint32, lowest first; the first four are its fraction.
_FRACTION, _WHOLE = 4, 2
_LIMB, _LOW = np.uint32(16), np.uint32(0xFFFF)
_BYTE = np.uint32(8)


def weight_tables(
    beta: Float[AnyArray, " fibres"], w_max: Float[np.ndarray, " fibres"], rounds: int
) -> UInt32[Array, "fibres potentiations 2"]:
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


def without_derivative(brain: Any) -> Any:
    """The same brain. Derivatives of what its weights and refractions lead to are refused.

    They are rounded to whole numbers, so that JAX would say 0.
    """
    kept = _kept((brain.weights, brain.refraction), brain.beta)
    return eqx.tree_at(lambda b: (b.weights, b.refraction), brain, kept)


@jax.custom_jvp
def _kept(numbers: tuple[Array, Array], beta: Float[AnyArray, " fibres"]) -> tuple[Array, Array]:
    del beta
    return numbers


@_kept.defjvp
def _refused(primals: tuple, tangents: tuple) -> tuple:
    del primals, tangents
    raise ValueError(
        "a brain has no derivative by beta or refraction: caps are all or nothing, and weights are "
        "whole numbers. Use caps that have a gradient, jn.assemblies.soft_cap or "
        "straight_through_cap, with weights of your own; or compare runs with several betas, "
        "brain.with_beta inside jax.vmap"
    )


def fixed_point(x: Float[Array, "*shape"]) -> UInt32[Array, "*shape 2"]:
    """Numbers from 0 to 2^20 in units of 2^-24, rounded half to even: uint32 (..., 2)."""
    x = x.astype(jnp.float32)
    whole = jnp.floor(x)
    part = jnp.round((x - whole) * np.float32(2.0**UNIT_BITS)).astype(jnp.uint32)
    return wide_add(wide_units(whole.astype(jnp.uint32)), jnp.stack([part, 0 * part], axis=-1))


def on_grid(sums: UInt32[Array, "*shape 2"]) -> UInt32[Array, "*shape 2"]:
    """Sums in units of 2^-24 as the nearest multiples of 2^-12: (..., 2)."""
    half = jnp.asarray(np.array([1 << (_GRID_BITS - 1), 0], np.uint32))
    near = wide_add(sums, half)
    low = near[..., 0] & np.uint32(0xFFFFFFFF ^ ((1 << _GRID_BITS) - 1))
    return jnp.stack([low, near[..., 1]], axis=-1)


def nearly(x: Float[Array, "*shape"]) -> Float32[Array, "*shape"]:
    """Numbers rounded to 16 significant bits: quotients that are equal come out equal."""
    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    return lax.bitcast_convert_type((bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00), jnp.float32)


def _growth(xp: Any, beta: Float[AnyArray, " fibres"]) -> list:
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


def _ceiling(w_max: Float[np.ndarray, " fibres"]) -> list:
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


def _fixed(xp: Any, w: list) -> UInt32[AnyArray, "fibres 2"]:
    """A weight as words, rounded half up to 24 bits of its fraction."""
    *_, third, last, low, high = w
    whole = low | high << _LIMB
    bit = third >> np.uint32(7) & np.uint32(1)
    words = (whole << np.uint32(24) | last << _BYTE | third >> _BYTE) + bit
    return xp.stack([words, (whole >> _BYTE) + (words < bit).astype(np.uint32)], axis=-1)


# --- The synapses of a fibre in the form that its target area asks for.


_NARROW = 65_535  # more targets than this need 32 bits


def init_fibres(fibres: tuple, seed: UInt32[Array, ""]) -> tuple[FibreState, ...]:
    """The synapses of all fibres under a seed."""
    if not fibres:
        return ()
    words = stream_keys(seed, [fibre.name for fibre in fibres], "synapses")
    keys = jnp.stack([jnp.asarray(w) for w in words], axis=-1)
    return tuple(init_fibre(fibre, keys[number]) for number, fibre in enumerate(fibres))


def init_fibre(fibre: Any, key: UInt32[Array, "2"]) -> FibreState:
    """The synapses of a fibre with the key of its draws."""
    target, drawn = fibre.target, Hashed(key, fibre.target.n, fibre.p)
    synapses = jnp.zeros(0, jnp.int32)
    if isinstance(fibre.source, Stimulus):
        synapses = jnp.zeros(target.places, jnp.int32)
        if not target.sampled:
            sums = all_weights(drawn, fibre.places)
            synapses = wide_to_number(sums).astype(jnp.int32)
    elif target.sampled:
        synapses = jnp.full((target.places, list_width(fibre)), fibre.places, jnp.int32)
    elif target.connectome == "explicit":
        synapses = _stored(drawn, fibre.places)
    sums = jnp.zeros((0, 2), jnp.uint32)
    if target.homeostasis:
        sums = all_weights(drawn, fibre.places)
    return FibreState(key, synapses, sums)


def edges_of(fibre: Any, state: FibreState) -> Any:
    """The synapses of a fibre as the kernels take them."""
    if isinstance(fibre.source, Stimulus):
        return Counts(state.synapses)
    if fibre.target.sampled:
        return Lists(state.synapses)
    if fibre.target.connectome == "explicit":
        return Stored(state.synapses)
    return Hashed(state.key, fibre.target.n, fibre.p)


def all_weights(drawn: Hashed, sources: int) -> UInt32[Array, "n 2"]:
    """The sum of the weights of each target's synapses before any learning: (n, 2)."""
    sums = jnp.zeros((drawn.n, 2), jnp.uint32)
    if drawn.p == 0:
        return sums
    no_word = lambda n: jnp.zeros((n, 1), jnp.uint32)  # noqa: E731
    one = wide_units(jnp.ones(33, jnp.uint32))
    cap, on = jnp.arange(sources, dtype=jnp.int32), jnp.asarray(True)
    firing = Firing(on, cap, no_word(sources), no_word(drawn.n), jnp.zeros(1, jnp.uint32), one)
    return synaptic_input(sums, firing, drawn)


def _stored(drawn: Hashed, sources: int) -> Integer[Array, "sources width"]:
    dtype = jnp.uint16 if drawn.n <= _NARROW else jnp.int32
    if drawn.p == 0:
        return jnp.full((sources, 1), drawn.n, dtype)
    width = gap_width(drawn.n, drawn.p)
    rows = jnp.arange(sources, dtype=jnp.int32)
    return gap_lists(drawn, rows, width).astype(dtype)


def list_width(fibre: Any) -> int:
    """Places for the sources of a neuron of a sampled area: drawn ones, then chosen ones.

    See `_sampled.py`: the chosen ones are among those that fire in the round in which the neuron
    fires for the first time.
    """
    return drawn_width(fibre) + most_chosen(fibre)


def drawn_width(fibre: Any) -> int:
    """Places for drawn sources."""
    return gap_width(fibre.places, fibre.p) if fibre.p > 0 else 1


def most_chosen(fibre: Any) -> int:
    """More of the firing sources than a neuron has synapses from, but once in 10^18."""
    return max(1, gap_width(fibre.firing, fibre.p)) if fibre.p > 0 else 1
