"""Which tests use a class of the package, found in the source of the tests."""

import ast
import dataclasses
import functools
from pathlib import Path
from typing import Any

from jaxneuro._fields import Model
from tests.zoo import CASES

TESTS = Path(__file__).resolve().parents[1] / "tests"
OF_NEURONS = ("neurons", "channels", "integrators", "science")
DEFINED = (ast.FunctionDef, ast.ClassDef)


def cases(cls: type) -> list[str]:
    """The names of the cases of a class in the zoo, also as a part of another model."""
    found = []
    for name, case in CASES.items():
        found += [name] if any(type(part) is cls for part in _parts(case.model)) else []
    return found


def _parts(model: Any) -> list[Any]:
    """A model and the models that it is composed of."""
    inside = [getattr(model, field.name) for field in dataclasses.fields(model)]
    every = [x for value in inside for x in (value if isinstance(value, tuple) else (value,))]
    return [model, *(x for x in every if isinstance(x, Model))]


def checks(cls: type, folders: tuple[str, ...] = OF_NEURONS) -> list[tuple[str, list[str]]]:
    """Test files that name a class, each with the tests that do, directly or by what they use."""
    found = []
    for file, tests in _tests(folders).items():
        forms = {cls.__name__, f".{cls.__name__}"}
        named = [test for test, names in tests.items() if forms & names]
        found += [(file, [test.removeprefix("test_") for test in named])] if named else []
    return found


@functools.cache
def _tests(folders: tuple[str, ...]) -> dict[str, dict[str, set[str]]]:
    """By file and test: all names in the test and in what it uses from its file."""
    files = sorted(path for folder in folders for path in (TESTS / folder).glob("test_*.py"))
    return {str(path.relative_to(TESTS)): _names(path) for path in files}


def _names(path: Path) -> dict[str, set[str]]:
    used: dict[str, set[str]] = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, DEFINED):
            used.setdefault(node.name, set()).update(_in(node))
        elif isinstance(node, ast.Assign):
            for target, value in _pairs(node.targets[0], node.value):
                used.setdefault(target.id, set()).update(_in(value))
    return {test: _closure(test, used) for test in used if test.startswith("test_")}


def _pairs(target: Any, value: Any) -> list[tuple[ast.Name, Any]]:
    """The names that an assignment makes, each with its own value if both sides are tuples."""
    if isinstance(target, ast.Name):
        return [(target, value)]
    parts = getattr(target, "elts", [])
    values = value.elts if isinstance(value, ast.Tuple) else [value] * len(parts)
    return [pair for x, y in zip(parts, values) for pair in _pairs(x, y)]


def _in(node: ast.AST) -> set[str]:
    """Names of the file that a function or an assignment reads, and attributes of modules.

    Not those of an oracle, which has classes of its own.
    """
    every = list(ast.walk(node))
    names = [x for x in every if isinstance(x, ast.Name)]
    own = (
        {x.id for x in names if isinstance(x.ctx, ast.Store)}
        if isinstance(node, DEFINED)
        else set()
    )
    own |= {x.arg for x in every if isinstance(x, ast.arg)}
    attributes = {
        f".{x.attr}"
        for x in every
        if isinstance(x, ast.Attribute) and getattr(x.value, "id", "") != "oracle"
    }
    return {x.id for x in names if x.id not in own} | attributes


def _closure(start: str, used: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    new = {start}
    while new:
        seen |= new
        new = {x for name in new for x in used.get(name, ())} - seen
    return seen
