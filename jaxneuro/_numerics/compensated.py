"""Steps in float32 that lose nothing where a variable changes by less than its last digit.

A variable x with a long time constant changes by about `x dt/tau` in a step. In float32 a change
below 6e-8 x is lost, and `exp(-dt/tau)` has few digits of its distance from 1. `step_compensated`
runs a step with two numbers for such a variable: x, and `low`, the digits below those of x. Sums
are taken without an error (Knuth's TwoSum), and `exp(-y)` that multiplies x is applied as
`x + x expm1(-y)`.

The step is not changed for it: its operations are traced, and those that lead from the variable
to its new value are done with both numbers. Products with other numbers, quotients and choices
carry `low` along, but round as ever; any other operation sees x alone. A step that so loses all of
`low` gives a warning.

Reference:
    Knuth (1997), The Art of Computer Programming, vol. 2, sec. 4.2.2, theorem B; Kahan (1965),
    Further remarks on reducing truncation errors, doi:10.1145/363707.363723.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, DebugInfo, Jaxpr, Literal, jaxpr_as_fun

from .._warn import warn

# Of some variables of a state, by name, the digits below those of the variable, of its shape.
Low: TypeAlias = dict[str, jax.Array]


class _Number(NamedTuple):
    """A value of the step.

    Attributes:
        x: the value.
        low: what is to be added to it, None for nothing.
        from_one: a function that returns the value minus 1 to all digits, None if unknown.
        constant: whether it is a number of the program.
        key: equal for values that are the same; None where nothing is known.
        whole, less: where the value is `whole - less`, these two. So `(x - p) (1 + m) + p` is
            `x + (x - p) m`, with one sum that keeps its error and not three.
    """

    x: Any
    low: Any = None
    from_one: Callable[[], Any] | None = None
    constant: bool = False
    key: Any = None
    whole: "_Number | None" = None
    less: "_Number | None" = None


def no_low(state: Any, names: Sequence[str]) -> Low:
    """Nothing below the digits of these variables, as at the start of a run."""
    return {name: jnp.zeros_like(variable(state, name)) for name in names}


def step_compensated(step: Callable, state: Any, low: Low, *operands: Any) -> tuple[Any, Low, Any]:
    """Return the new state, its new `low`, and the output of `step(state, *operands)`.

    Args:
        step: a function that returns `(state, output)`, with a state like the given one.
        state: a named tuple, a module or a dictionary.
        low: the digits below those of its slow variables; if empty, `step` is called as it is.
        operands: further arguments.
    """
    if not low:
        state, output = step(state, *operands)
        return state, low, output
    leaves, structure = jax.tree.flatten((state, *operands))

    def flat(*leaves: Any) -> Any:
        state, *operands = jax.tree.unflatten(structure, leaves)
        return step(state, *operands)

    program, shapes = jax.make_jaxpr(flat, return_shape=True)(*leaves)
    numbers = [_Number(x) for x in leaves]
    for name, place in _places(state, low).items():
        numbers[place] = _Number(leaves[place], low[name])
    results = _evaluated(program.jaxpr, [_Number(x) for x in program.consts], numbers)
    new, output = jax.tree.unflatten(jax.tree.structure(shapes), [r.x for r in results])
    lows = {}
    for name, place in _places(new, low).items():
        x, rest = results[place].x, results[place].low
        if rest is None:
            warn(
                f"the digits below those of {name!r} of {type(state).__name__} are lost in its "
                "step: the new value is no sum of the old one and a change; write it so, or build "
                "with dtype=jnp.float64"
            )
        x, rest = (x, jnp.zeros_like(x)) if rest is None else two_sum(x, rest)
        results[place], lows[name] = _Number(x), rest
    new, output = jax.tree.unflatten(jax.tree.structure(shapes), [r.x for r in results])
    return new, lows, output


def variable(state: Any, name: str) -> Any:
    """A variable of a state by name."""
    return state[name] if isinstance(state, Mapping) else getattr(state, name)


def _places(state: Any, names: Mapping[str, Any]) -> dict[str, int]:
    """The number of the leaf that each variable is."""
    leaves, structure = jax.tree.flatten(state)
    numbered = jax.tree.unflatten(structure, range(len(leaves)))
    return {name: variable(numbered, name) for name in names}


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return `a + b` and its rounding error, which has no derivative."""
    total = a + b
    other = total - a
    return total, lax.stop_gradient((a - (total - other)) + (b - other))


def _evaluated(
    jaxpr: Jaxpr, consts: Sequence[_Number], operands: Sequence[_Number]
) -> list[_Number]:
    """The results of a program."""
    numbers = (n if n.key else n._replace(key=id(n.x)) for n in (*consts, *operands))
    values = dict(zip((*jaxpr.constvars, *jaxpr.invars), numbers))
    read = lambda v: _Number(v.val, constant=True) if isinstance(v, Literal) else values[v]  # noqa: E731
    for eqn in jaxpr.eqns:
        values.update(zip(eqn.outvars, _applied(eqn, [read(v) for v in eqn.invars])))
    return [read(v) for v in jaxpr.outvars]


def _applied(eqn: Any, operands: list[_Number]) -> list[_Number]:
    """The results of one operation."""
    name, inner = eqn.primitive.name, eqn.params.get("jaxpr")
    if name in ("jit", "pjit") and isinstance(inner, ClosedJaxpr):
        return _evaluated(inner.jaxpr, [_Number(x) for x in inner.consts], operands)
    rule = _RULES.get(name)
    if rule is not None and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.floating):
        result = rule(lambda *x: eqn.primitive.bind(*x, **eqn.params), *operands)
        if result is not None:
            return [result]
    return [_Number(x) for x in _run(eqn, [n.x for n in operands])]


def _run(eqn: Any, values: list) -> Sequence[Any]:
    """One operation of any kind, such as a loop or a function with its own derivative."""
    inputs = {v: x for v, x in zip(eqn.invars, values) if not isinstance(v, Literal)}
    names = DebugInfo("operation", "operation", None, None)
    alone = Jaxpr((), list(inputs), eqn.outvars, [eqn], eqn.effects, names)
    return jaxpr_as_fun(ClosedJaxpr(alone, ()))(*inputs.values())


# Each rule gets a function that binds the operation and the operands, and returns the result, or
# None where the operation on the values alone will do.


def _is_one(n: _Number) -> bool:
    return n.constant and jnp.ndim(n.x) == 0 and n.x == 1.0


def _exponential(bound: Callable, y: _Number) -> _Number | None:
    return None if y.low is not None else _Number(bound(y.x), from_one=lambda: jnp.expm1(y.x))


def _sum(bound: Callable, a: _Number, b: _Number) -> _Number | None:
    if a.low is None and b.low is None:
        if _is_one(a):
            a, b = b, a
        return _Number(bound(a.x, b.x), from_one=lambda: a.x) if _is_one(b) else None
    if a.low is None:
        a, b = b, a  # XLA takes (c + x) - c for x where c is a constant, and would find no error
    if a.whole is not None and a.less is not None and b.key and b.key == a.less.key:
        return a.whole
    total, error = two_sum(a.x, b.x)
    for low in (a.low, b.low):
        error = error if low is None else error + low
    return _Number(total, error)


def _negative(bound: Callable, a: _Number) -> _Number | None:
    return None if a.low is None else _Number(-a.x, -a.low)


def _difference(bound: Callable, a: _Number, b: _Number) -> _Number | None:
    if _is_one(a) and b.from_one is not None:
        return _Number(_written(-b.from_one()))
    if _is_one(b) and a.from_one is not None:
        return _Number(a.from_one())
    if _is_one(a) and b.low is None:
        return _Number(bound(a.x, b.x), from_one=lambda: -b.x)
    if a.low is None and b.low is None:
        return None
    minus = _Number(-b.x, None if b.low is None else -b.low, constant=b.constant)
    result = _sum(bound, a, minus)
    return result if result is None or b.low is not None else result._replace(whole=a, less=b)


def _product(bound: Callable, a: _Number, b: _Number) -> _Number | None:
    if a.low is None:
        a, b = b, a
    if a.low is None or b.low is not None:
        return None
    if b.from_one is None:
        return _Number(a.x * b.x, a.low * b.x)
    result = _grown(a, a.x * b.from_one(), a.low * b.x)
    if a.whole is None or a.whole.low is None:
        return result
    return result._replace(whole=_grown(a.whole, a.x * b.from_one(), a.whole.low), less=a.less)


def _grown(a: _Number, change: Any, low: Any) -> _Number:
    """`a.x + change + low`."""
    total, error = two_sum(a.x, change)
    return _Number(total, error + low)


def _written(x: Any) -> Any:
    """An array as one that is read: XLA computes it once, for the value and for `low`."""
    return lax.optimization_barrier(x) if jnp.ndim(x) else x


def _quotient(bound: Callable, a: _Number, b: _Number) -> _Number | None:
    if a.low is None and b.low is None:
        return _Number(_written(bound(a.x, b.x)))
    if a.low is None or b.low is not None:
        return None
    return _Number(a.x / b.x, a.low / b.x)


def _chosen(bound: Callable, which: _Number, *cases: _Number) -> _Number | None:
    if all(case.low is None for case in cases):
        return None
    lows = (jnp.zeros_like(case.x) if case.low is None else case.low for case in cases)
    return _Number(bound(which.x, *(case.x for case in cases)), bound(which.x, *lows))


def _extreme(compare: Callable) -> Callable:
    def rule(bound: Callable, a: _Number, b: _Number) -> _Number | None:
        if a.low is None and b.low is None:
            return None
        first = compare(a.x, b.x)
        zero = jnp.zeros((), a.x.dtype)
        lows = (zero if n.low is None else n.low for n in (a, b))
        return _Number(bound(a.x, b.x), jnp.where(first, *lows))

    return rule


def _rearranged(bound: Callable, a: _Number, *others: _Number) -> _Number | None:
    """The same numbers in another shape or dtype."""
    if others:
        return None
    x = bound(a.x)
    low = None if a.low is None else bound(a.low)
    from_one = a.from_one
    again = None if from_one is None else lambda: bound(from_one())
    return _Number(x, low, again, key=a.key and (a.key, jnp.shape(x), x.dtype))


_RULES: dict[str, Callable] = {
    "exp": _exponential,
    "add": _sum,
    "add_any": _sum,
    "sub": _difference,
    "neg": _negative,
    "mul": _product,
    "div": _quotient,
    "select_n": _chosen,
    "max": _extreme(jnp.greater_equal),
    "min": _extreme(jnp.less_equal),
    **dict.fromkeys(
        (
            *("broadcast_in_dim", "reshape", "squeeze", "transpose", "slice"),
            *("convert_element_type", "copy", "copy_p"),
        ),
        _rearranged,
    ),
}
