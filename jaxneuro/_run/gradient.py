"""The derivative of a loop: in pieces, and by the weights of projections once after each of them.

Within the loop a derivative by weights would be an array of all of them in every step. But each
step is linear in them: with y the cotangent of what arrives, theirs is a sum of products of y and
of what was released (`_kernels/cotangents.py`). So JAX differentiates the loop with weights that do
not move, and hands out y: in each step a *tap*, zeros that stand for a change of what arrives, is
added to it, and y is the cotangent of the tap. What arrives after the last step is still in the
ring.

A loop that is differentiated is one of pieces, of about as many steps as there are pieces. With
`remat` only the state before each piece is kept, and each is run a second time. Its sums have the
same order, and so the same bits, as without.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.tree_util import Partial

from .. import spec
from .._kernels.cotangents import weight_cotangents
from .._network.runtime import RuntimeNetwork

# What a loop is given: the network, what it is expanded to, what it carries (a state and running
# sums), and inputs.
Given = tuple[Any, RuntimeNetwork, Any, Any]


_FEW = 4  # turns of a piece


class KeptStates(spec.Kind):
    """Whether only some states are kept, or how many."""

    def convert(self, value: Any) -> bool | int:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        try:
            return spec.Whole(1).convert(value)
        except spec.Unfit:
            raise spec.Unfit("True, False, or how many states to keep, at least 1") from None


def differentiable(
    loop: Callable, steps: int, every: int, remat: bool | int, after: bool
) -> Callable:
    """`loop(net, runtime, held, inputs, steps)` as a function of the first four, with a derivative.

    That by weights is made after the loop, or, if not `after`, all is JAX's: then derivatives of
    every kind are there that operations have, and the loop may close over what is differentiated.

    It returns what it carries after the steps, what it has for each step, and for each `every`
    steps. The loop also takes `taps` and then has a further result: what each pathway delivered in
    each step.
    """
    if not steps:
        return functools.partial(loop, steps=0)
    pieces = _in_pieces(loop, steps, every, remat, after)

    def whole(*given: Any) -> Any:
        return loop(*given, steps)

    def derived(asked: Given, *given: Any) -> Any:
        moving, rest = eqx.partition(given, asked)

        def inner(moving: Given) -> Any:
            net, runtime, held, inputs = eqx.combine(moving, rest)
            return _parted(pieces(net, _in_full(runtime), held, inputs))

        smooth, back, others = jax.vjp(inner, moving, has_aux=True)
        return eqx.combine(smooth, others), Partial(lambda back, bars: back(bars)[0], back)

    if not after:
        return pieces if remat else whole
    return _with_rule(whole, derived)


def _in_full(runtime: RuntimeNetwork) -> RuntimeNetwork:
    """With weights of 16 bits in the network's dtype, in which cotangents are added up."""
    weights = [p.weights for p in runtime.pathways]
    full = [x.astype(runtime.dtype) if x.dtype == jnp.bfloat16 else x for x in weights]
    return eqx.tree_at(lambda r: [p.weights for p in r.pathways], runtime, full)


def _parted(out: Any) -> tuple[Any, Any]:
    return eqx.partition(out, eqx.is_inexact_array)


def _with_rule(f: Callable, derived: Callable) -> Callable:
    """`f` with a derivative: `derived(asked, *given)` returns its result and how it goes back.

    `asked` says by which arrays of `given` a derivative is asked for. The way back is a function of
    the cotangents of the result; it returns those of these arrays, None for the others.
    """

    @jax.custom_vjp
    def run(moving: Any, rest: Any) -> Any:
        return f(*eqx.combine(moving, rest))

    def forward(moving: Any, rest: Any) -> Any:
        asked = jax.tree.map(lambda x: x.perturbed, moving)
        asked = eqx.combine(asked, jax.tree.map(lambda _: False, rest))
        moving, rest = jax.tree.map(lambda x: x.value, (moving, rest))
        out, back = derived(asked, *eqx.combine(moving, rest))
        return out, (back, _parted(out)[0])

    def backward(residuals: Any, bars: Any) -> Any:
        back, smooth = residuals

        def real(x: Any, bar: Any) -> Any:
            return jnp.zeros_like(x) if isinstance(bar, SymbolicZero) else bar

        here = lambda x: x is None  # noqa: E731
        bars = jax.tree.map(
            lambda x, bar: None if x is None else real(x, bar), smooth, bars, is_leaf=here
        )
        return back(bars), None

    run.defvjp(forward, backward, symbolic_zeros=True)
    return lambda *given: run(*_parted(given))


def _in_pieces(loop: Callable, steps: int, every: int, remat: bool | int, after: bool) -> Callable:
    """The loop as one over pieces, and a shorter one where they are not all equal."""
    length = every * piece_length(steps // every, None if remat in (False, True) else remat)
    many = steps // length

    def pieces(net: Any, runtime: RuntimeNetwork, held: Any, inputs: Any) -> Any:
        def piece(held: Any, inputs: Any, steps: int = length) -> Any:
            one = weights_after(loop, steps) if after else functools.partial(loop, steps=steps)
            if remat:
                one = jax.checkpoint(one, prevent_cse=False)
            return one(net, runtime, held, inputs)

        cut = lambda x: x[: many * length].reshape(many, length, *x.shape[1:])  # noqa: E731
        joined = lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])  # noqa: E731
        held, out = lax.scan(piece, held, jax.tree.map(cut, inputs), length=many)
        out = jax.tree.map(joined, out)
        rest = steps - many * length
        if rest:
            late = jax.tree.map(lambda x: x[many * length :], inputs)
            held, last = piece(held, late, rest)
            out = jax.tree.map(lambda *x: jnp.concatenate(x), out, last)
        return held, out

    return pieces


def piece_length(turns: int, pieces: int | None) -> int:
    """How many of the turns of a loop are a piece: about their root, or for so many pieces.

    Where it can, a number that divides them: a piece of another length is another program. Few
    turns are one piece.
    """
    if pieces is not None:
        return -(-turns // min(pieces, turns))
    root = math.isqrt(turns)
    if root < _FEW:
        return turns
    near = sorted(range(root // 2, 2 * root + 1), key=lambda n: abs(n - root))
    return next((n for n in near if turns % n == 0), root)


def weights_after(loop: Callable, steps: int) -> Callable:
    """`loop` of so many steps, whose derivative by weights is made after it.

    Pathways whose weights change, or whose scale does, are differentiated by JAX.
    """

    def whole(*given: Any) -> Any:
        return loop(*given, steps)

    def derived(asked: Given, *given: Any) -> Any:
        moving, rest = eqx.partition(given, asked)
        numbers = _asked(asked[1], given[1])
        taps = _taps(given[1], given[2], numbers, steps)

        def inner(moving: Given, taps: Any) -> Any:
            net, runtime, held, inputs = eqx.combine(moving, rest)
            still = [(p.scale, p.weights) for p in runtime.pathways]
            runtime = _with_own(runtime, numbers, lax.stop_gradient(still))
            *out, released = loop(net, runtime, held, inputs, steps, taps)
            smooth, others = _parted(tuple(out))
            return smooth, (others, released)

        def back(jax_back: Any, released: Any, runtime: Any, step: Any, bars: Any) -> Given:
            (net_bar, runtime_bar, *others), taps_bar = jax_back(bars)
            own = {}
            for k in numbers:
                p, mine = runtime.pathways[k], asked[1].pathways[k]
                later = _later(bars[0][0].groups[p.target].ring, step + steps)
                arrived = jnp.concatenate([taps_bar[p.target], later])
                scale, weights = weight_cotangents(
                    arrived, released[k], p.scale, p.weights, p.table
                )
                own[k] = (
                    scale.astype(p.scale.dtype) if mine.scale else None,
                    weights.astype(p.weights.dtype) if mine.weights else None,
                )
            return net_bar, _with_own(runtime_bar, numbers, own), *others

        smooth, jax_back, (others, released) = jax.vjp(inner, moving, taps, has_aux=True)
        residuals = jax_back, released, given[1], given[2][0].step
        return eqx.combine(smooth, others), Partial(back, *residuals)

    return _with_rule(whole, derived)


def _asked(perturbed: Any, runtime: RuntimeNetwork) -> list[int]:
    """The pathways by whose constant weights or scales a derivative is asked for."""
    paths = [target.path for m in runtime.modulators for target in m.targets]
    scaled = {path[1] for path in paths if path[0] == "pathways"}
    return [
        k
        for k, (p, asked) in enumerate(zip(runtime.pathways, perturbed.pathways))
        if p.plastic is None and k not in scaled and (asked.scale or asked.weights)
    ]


def _with_own(runtime: Any, numbers: list[int], own: Any) -> Any:
    """With other scales and weights of some pathways, pairs by number."""
    if not numbers:
        return runtime
    places = lambda r: [  # noqa: E731
        x for k in numbers for x in (r.pathways[k].scale, r.pathways[k].weights)
    ]
    new = [x for k in numbers for x in own[k]]
    return eqx.tree_at(places, runtime, new, is_leaf=lambda x: x is None)


def _taps(runtime: RuntimeNetwork, held: Any, numbers: list[int], steps: int) -> tuple:
    """For each group zeros (steps, places), None where no derivative asks for them."""
    targets = {runtime.pathways[k].target for k in numbers}
    rings = [group.ring for group in held[0].groups]
    return tuple(
        jnp.zeros((steps, ring.shape[1]), ring.dtype) if number in targets else None
        for number, ring in enumerate(rings)
    )


def _later(ring: Any, step: Any) -> Any:
    """Of a ring before `step` what arrives after that step, in its order."""
    slots = ring.shape[0]
    order = jnp.mod(step + jnp.arange(max(slots - 2, 0), dtype=jnp.int32), slots)
    return ring[order]
