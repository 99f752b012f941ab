"""Names in signatures that a module imports for the type checker alone: beartype needs them too."""

import ast
import importlib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]


def complete(packages: Iterable[str]) -> None:
    """Runs what stands under `if TYPE_CHECKING` in every module of some packages."""
    for package in packages:
        for path in ROOT.joinpath(*package.split(".")).glob("*.py"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                    module = importlib.import_module(f"{package}.{path.stem}")
                    exec(compile(ast.Module(node.body, []), path, "exec"), vars(module))
