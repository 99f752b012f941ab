"""Imports go downward only, and siblings on one floor never import each other."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jaxneuro"
FLOORS = {
    "_numerics": 1,
    "_kernels": 2,
    "space": 2,
    "_tables": 3,
    "integrators": 3,
    "channels": 4,
    "neurons": 5,
    "synapses": 5,
    "release": 5,
    "stimuli": 5,
    "connectivity": 5,
    "plasticity": 5,
    "_describe": 6,
    "_network": 6,
    "assemblies": 6,
    "_mesh": 6.5,
    "_build": 7,
    "_run": 8,
    "io": 8,
    "parallel": 8.5,
    "analysis": 9,
    "plot": 9,
}
FILES = sorted(p for p in PACKAGE.rglob("*.py"))


def place(module):
    """The folder of a module of the package, and its floor; files at the top are floor 0."""
    folder = module[1] if len(module) > 1 and module[1] in FLOORS else ""
    return folder, FLOORS.get(folder, 0)


def imported(path):
    """Modules of the package that a file imports anywhere, as tuples of names."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [tuple(a.name.split(".")) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: -node.level] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            names = [(*module, a.name) for a in node.names]
        else:
            continue
        yield from (name for name in names if name[0] == "jaxneuro")


def test_every_folder_has_a_floor():
    folders = {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()}
    assert folders <= set(FLOORS)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_downward(path):
    if path in (PACKAGE / "__init__.py", PACKAGE / "surrogates.py"):  # faces
        return
    folder, floor = place(path.relative_to(ROOT).with_suffix("").parts)
    for name in imported(path):
        other, below = place(name)
        if other == folder:
            continue
        # plot may use what analysis computes: both are post-hoc and nothing stands on them.
        posthoc = (folder, other) == ("plot", "analysis")
        assert below < floor or posthoc, f"{folder or 'the top'} imports {'.'.join(name)}"


def test_the_test_sees_an_upward_import(tmp_path):
    assert place(("jaxneuro", "_run", "_scan")) == ("_run", 8)
    assert place(("jaxneuro", "_fields")) == ("", 0)
    found = list(imported(PACKAGE / "_build" / "_build.py"))
    assert ("jaxneuro", "_numerics", "check_dt") in found
    assert ("jaxneuro", "_build", "_build_group", "build_group") in found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "oracle").glob("*.py")), ids=lambda p: p.name
)
def test_the_oracle_imports_nothing_of_the_package(path):
    assert not list(imported(path))
    assert "jax" not in {
        alias.name.split(".")[0]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
