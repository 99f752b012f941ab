"""The elementwise operations that native code knows: of JAX, and in C++.

`native/operations.h` is made from this list (`python -m scripts.native_layout`). The number of an
operation is its place in the list. Truth values are 0 and 1.
"""

import re
from typing import NamedTuple


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
