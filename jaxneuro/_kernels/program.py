"""Elementwise functions of JAX as lists of instructions that native code runs.

A rule is written in `jnp`. It is traced once, and its operations become a list of instructions over
*slots*: a slot holds one number, or one for every synapse of a block. So native code, which finds
the synapses that an event touches, runs any rule itself, without a call for each block.

`native/operations.h` is made from the operations listed here (`python -m scripts.native_layout`):
the number of an operation is its place in the list. Truth values are 0 and 1.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from .._frozen import check_keys


class Operation(NamedTuple):
    """An operation: its name in C++, the primitive of JAX, and what it is of x (and y) in C++."""

    name: str
    primitive: str
    expression: str

    @property
    def binary(self) -> bool:
        return re.search(r"\by\b", self.expression) is not None


OPERATIONS = (
    Operation("Copy", "copy", "x"),
    Operation("Negate", "neg", "-x"),
    Operation("Truth", "truth", "x != T(0) ? T(1) : T(0)"),
    Operation("Not", "not", "x != T(0) ? T(0) : T(1)"),
    Operation("Exp", "exp", "Exp(x)"),
    Operation("Exp2", "exp2", "Exp(x * T(0.69314718055994531))"),
    Operation("Log", "log", "Log(x)"),
    Operation("Logistic", "logistic", "Logistic(x)"),
    Operation("Square", "square", "x * x"),
    Operation("Sqrt", "sqrt", "std::sqrt(x)"),
    Operation("Rsqrt", "rsqrt", "T(1) / std::sqrt(x)"),
    Operation("Abs", "abs", "std::fabs(x)"),
    Operation("Sign", "sign", "x > T(0) ? T(1) : x < T(0) ? T(-1) : x"),
    Operation("Floor", "floor", "std::floor(x)"),
    Operation("Ceil", "ceil", "std::ceil(x)"),
    Operation("Round", "round_to_even", "std::nearbyint(x)"),
    Operation("IsFinite", "is_finite", "x - x == T(0) ? T(1) : T(0)"),
    Operation("Expm1", "expm1", "std::expm1(x)"),
    Operation("Log1p", "log1p", "std::log1p(x)"),
    Operation("Cbrt", "cbrt", "std::cbrt(x)"),
    Operation("Tanh", "tanh", "std::tanh(x)"),
    Operation("Sin", "sin", "std::sin(x)"),
    Operation("Cos", "cos", "std::cos(x)"),
    Operation("Tan", "tan", "std::tan(x)"),
    Operation("Atan", "atan", "std::atan(x)"),
    Operation("Erf", "erf", "std::erf(x)"),
    Operation("Add", "add", "x + y"),
    Operation("Subtract", "sub", "x - y"),
    Operation("Multiply", "mul", "x * y"),
    Operation("Divide", "div", "x / y"),
    Operation("Max", "max", "x > y || x != x ? x : y"),
    Operation("Min", "min", "x < y || x != x ? x : y"),
    Operation("Power", "pow", "Pow(x, y)"),
    Operation("Remainder", "rem", "std::fmod(x, y)"),
    Operation("Atan2", "atan2", "std::atan2(x, y)"),
    Operation("Less", "lt", "x < y ? T(1) : T(0)"),
    Operation("AtMost", "le", "x <= y ? T(1) : T(0)"),
    Operation("Greater", "gt", "x > y ? T(1) : T(0)"),
    Operation("AtLeast", "ge", "x >= y ? T(1) : T(0)"),
    Operation("Equal", "eq", "x == y ? T(1) : T(0)"),
    Operation("Differs", "ne", "x != y ? T(1) : T(0)"),
    Operation("And", "and", "x != T(0) && y != T(0) ? T(1) : T(0)"),
    Operation("Or", "or", "x != T(0) || y != T(0) ? T(1) : T(0)"),
    Operation("Xor", "xor", "(x != T(0)) != (y != T(0)) ? T(1) : T(0)"),
)
SELECT = len(OPERATIONS)  # of three operands: where the first holds the second, else the third
NUMBERS = {operation.primitive: number for number, operation in enumerate(OPERATIONS)}


LANES = 3  # of a trace: more than one, so that a function that mixes synapses is seen


class MixingError(ValueError):
    """A function is not elementwise; the text names the operation."""


class Port(NamedTuple):
    """A number that a program reads or writes.

    Attributes:
        kind: one of the words of `KINDS`.
        index: which one of that kind.
        row: whether it is the same for all synapses of a row.
    """

    kind: str
    index: int = 0
    row: bool = False


KINDS = (
    *("weight", "variable", "trace", "since", "released", "arriving", "post"),
    *("elapsed", "start", "stop"),
)


class Program(NamedTuple):
    """A translated function.

    Attributes:
        words: int32, as `Program` in native/program.h reads them.
        constants: the numbers in it, which come before the parameters in slots 0, 1,.
        reads, writes: its ports.
    """

    words: np.ndarray
    constants: tuple[float, ...]
    reads: tuple[Port, ...]
    writes: tuple[Port, ...]


class _Slot(NamedTuple):
    """A value of a function: rank 0 of constants and parameters, 1 of a row, 2 of a synapse."""

    number: int
    rank: int


class _Translation:
    """The state of a translation: values that are known, instructions by rank."""

    def __init__(self) -> None:
        self.constants: dict[float, _Slot] = {}
        self.numbers = itertools.count()
        self.code: tuple[list, list, list] = ([], [], [])
        self.negated: dict[_Slot, _Slot] = {}  # what a slot is the negative of
        self.ranks: dict[int, int] = {}

    def new(self, rank: int) -> _Slot:
        slot = _Slot(next(self.numbers), rank)
        self.ranks[slot.number] = rank
        return slot

    def constant(self, value: float | np.generic) -> _Slot:
        key = float(value)
        if key not in self.constants:
            self.constants[key] = self.new(0)
        return self.constants[key]

    def emit(self, operation: int, *operands: _Slot) -> _Slot:
        out = self.new(max(x.rank for x in operands))
        numbers = [x.number for x in operands]
        padded = numbers + numbers[-1:] * (3 - len(numbers))
        self.code[out.rank].append((operation, out.number, *padded))
        return out

    def named(self, name: str, *operands: _Slot) -> _Slot:
        if name == "div" and operands[0].rank == 2 > operands[1].rank:
            # One division for all synapses instead of one for each.
            inverse = self.emit(NUMBERS["div"], self.constant(1.0), operands[1])
            return self.named("mul", operands[0], inverse)
        if name == "mul":
            x, y = sorted(operands, key=lambda slot: -slot.rank)
            if x.rank == 2 > y.rank and x in self.negated:
                operands = self.negated[x], self.emit(NUMBERS["neg"], y)
        out = self.emit(NUMBERS[name], *operands)
        if name == "neg":
            self.negated[out] = operands[0]
        return out


def translate(
    function: Callable, inputs: Sequence[Port], parameters: int, dtype: Any, method: str
) -> Program:
    """The program of `function(parameters, *inputs) -> {Port: value}`.

    `parameters` is how many numbers the first argument, a list, has. Inputs that the function
    does not use are not read; outputs that it returns unchanged are not written. `method` is the
    method of the rule that it calls, for errors.

    Raises:
        MixingError: for a function that is not elementwise.
        InvalidValueError: for a function that draws with a key that never changes.
        NotImplementedError: for an operation that native code does not know.
    """
    shapes = [jax.ShapeDtypeStruct(() if p.row else (LANES,), dtype) for p in inputs]
    scalars = [jax.ShapeDtypeStruct((), dtype)] * parameters
    ports: list[Port] = []

    def listed(scalars: list, *values: Any) -> list:
        out = function(scalars, *values)
        ports[:] = list(out)
        return [jnp.asarray(x, dtype) for x in out.values()]

    closed = jax.make_jaxpr(listed)(scalars, *shapes)
    check_keys("", method, closed.jaxpr, parameters)
    t = _Translation()
    given = [t.new(0) for _ in range(parameters)]
    slots = [t.new(1 if p.row else 2) for p in inputs]
    consts = [_constant(t, x) for x in closed.consts]
    results = _run(t, closed.jaxpr, [*consts], [*given, *slots])
    same = dict(zip(inputs, slots))
    outputs = [(p, x) for p, x in zip(ports, results) if same.get(p) != x]
    return _finished(t, given, list(zip(inputs, slots)), outputs)


def _constant(t: _Translation, x: Any) -> _Slot:
    if jnp.issubdtype(jnp.result_type(x), jax.dtypes.extended):
        raise NotImplementedError("a key of jax.random")
    if np.ndim(x) and np.size(x) and not np.all(np.asarray(x) == np.ravel(x)[0]):
        raise MixingError("an array of constants")
    return t.constant(np.ravel(x)[0])


def _run(t: _Translation, jaxpr: Any, consts: list, arguments: list) -> list[_Slot]:
    known: dict[Any, _Slot] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *arguments]))

    def value(atom: Any) -> _Slot:
        return _constant(t, atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        operands = [value(x) for x in equation.invars]
        inner = _called(equation)
        if inner is not None:
            jaxpr_inside, consts_inside = inner
            made = [_constant(t, x) for x in consts_inside]
            results = _run(t, jaxpr_inside, made, operands)
        else:
            results = [_apply(t, equation, operands)]
        known |= dict(zip(equation.outvars, results))
    return [value(x) for x in jaxpr.outvars]


def _called(equation: Any) -> tuple[Any, Sequence] | None:
    """The function inside an equation that calls one, and its constants."""
    for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        inside = equation.params.get(name)
        if inside is not None and equation.primitive.name not in ("while", "scan", "cond"):
            return (inside.jaxpr, inside.consts) if hasattr(inside, "consts") else (inside, ())
    return None


# Operations that change nothing of one number.
_ALIASES = ("broadcast_in_dim", "reshape", "squeeze", "copy", "copy_p", "stop_gradient", "pvary")


def _apply(t: _Translation, equation: Any, operands: list[_Slot]) -> _Slot:
    name, params = equation.primitive.name, equation.params
    if name in _ALIASES:
        return operands[0]
    if name == "convert_element_type":
        from_bool = equation.invars[0].aval.dtype == np.bool_
        to_bool = np.dtype(params["new_dtype"]) == np.bool_
        if to_bool and not from_bool:
            return t.named("truth", operands[0])
        if jnp.issubdtype(params["new_dtype"], jnp.integer) and not from_bool:
            raise NotImplementedError("convert_element_type to integers")
        return operands[0]
    if name == "select_n":
        if len(operands) != 3 or equation.invars[0].aval.dtype != bool:
            raise NotImplementedError(name)
        which, if_not, if_so = operands
        return t.emit(SELECT, which, if_so, if_not)
    if name == "integer_pow":
        return _integer_power(t, operands[0], params["y"])
    if name == "clamp":
        low, x, high = operands
        return t.named("min", t.named("max", x, low), high)
    if name == "round" and int(params["rounding_method"]) == 1:
        return t.named("round_to_even", operands[0])
    if name in NUMBERS:
        return t.named(name, *operands)
    if _mixes(equation):
        raise MixingError(name)
    raise NotImplementedError(name)


def _mixes(equation: Any) -> bool:
    """Whether an operation takes numbers of several synapses to one."""
    elementwise = all(
        out.aval.shape in ((), x.aval.shape)
        for out in equation.outvars
        for x in equation.invars
        if x.aval.shape
    )
    name = equation.primitive.name
    words = ("reduce", "cum", "sort", "dot", "gather", "scatter", "rev", "roll", "conv", "slice")
    lanes_to_one = any(x.aval.shape for x in equation.invars) and not any(
        x.aval.shape for x in equation.outvars
    )
    return not elementwise or lanes_to_one or any(word in name for word in words)


def _integer_power(t: _Translation, x: _Slot, y: int) -> _Slot:
    if y == 0:
        return t.constant(1.0)
    base, left, out = x, abs(y), None
    while left:
        if left & 1:
            out = base if out is None else t.named("mul", out, base)
        left >>= 1
        if left:
            base = t.named("square", base)
    assert out is not None
    return out if y > 0 else t.named("div", t.constant(1.0), out)


def _finished(t: _Translation, given: list[_Slot], inputs: list, outputs: list) -> Program:
    """The words of a translation without what nobody needs, in slots that are used again."""
    needed = {slot.number for _, slot in outputs}
    code: list[list[tuple]] = [[], [], []]
    for rank in (2, 1, 0):
        for instruction in reversed(t.code[rank]):
            if instruction[1] in needed:
                needed.update(instruction[2:])
                code[rank].insert(0, instruction)
    reads = [(p, slot) for p, slot in inputs if slot.number in needed]
    constants = [(x, slot) for x, slot in t.constants.items()]
    place = {slot.number: k for k, (_, slot) in enumerate(constants)}
    place |= {slot.number: len(constants) + k for k, slot in enumerate(given)}
    for number in (
        *(s.number for _, s in reads if s.rank == 1),
        *(i[1] for r in code[:2] for i in r),
    ):
        place.setdefault(number, len(place))
    n_scalars = max(len(place), 1)
    n_slots = n_scalars + _allocate(
        code[2], [s.number for _, s in reads if s.rank == 2], [s.number for _, s in outputs], place
    )
    head = [n_scalars, n_slots, len(reads), len(outputs), *(len(c) for c in code), len(constants)]
    ports = [(KINDS.index(p.kind), p.index, place[slot.number]) for p, slot in [*reads, *outputs]]
    instructions = [
        (operation, *(place[x] for x in rest)) for part in code for operation, *rest in part
    ]
    words = [*head, *itertools.chain(*ports), *itertools.chain(*instructions)]
    return Program(
        np.array(words, np.int32),
        tuple(x for x, _ in constants),
        tuple(p for p, _ in reads),
        tuple(p for p, _ in outputs),
    )


def _allocate(code: list[tuple], inputs: list[int], outputs: list[int], place: dict) -> int:
    """Gives the values of a block slots, the same one to values that do not live together.

    Returns how many slots there are. Inputs keep theirs: they are read once per block.
    """
    first = len(place)
    last_use = {}
    for k, instruction in enumerate(code):
        last_use |= dict.fromkeys(instruction[2:], k)
    last_use |= dict.fromkeys(outputs, len(code))
    free: list[int] = []
    used = 0
    for number in inputs:
        place[number] = first + used
        used += 1
    mine: set[int] = set(inputs)
    for k, (_, out, *operands) in enumerate(code):
        if free:
            place[out] = free.pop()
        else:
            place[out] = first + used
            used += 1
        mine.add(out)
        for x in set(operands):
            if x in mine and last_use.get(x) == k:
                free.append(place[x])
                mine.discard(x)
    return used
