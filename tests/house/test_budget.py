"""Files under 400 lines, functions under 50, models under 120; no paths of one machine."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("jaxneuro", "benchmarks", "tests", "examples")
FILES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
MODELS = [
    p
    for p in FILES
    if p.parent.name in ("neurons", "synapses", "stimuli") and "jaxneuro" in p.parts
]
every_file = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))


@every_file
def test_a_file_is_one_concept(path):
    assert len(path.read_text().splitlines()) < 400


@every_file
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            doc = ast.get_docstring(node, clean=False)
            length = node.end_lineno - node.lineno + 1 - (len(doc.splitlines()) if doc else 0)
            assert length < 50, f"{node.name} has {length} lines without its docstring"


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_models_are_short(path):
    assert len(path.read_text().splitlines()) < 120


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    names = listed.stdout.splitlines() if listed.returncode == 0 else []
    return [ROOT / n for n in names if n.endswith((".py", ".md", ".toml", ".cc", ".h", "Makefile"))]


def test_no_path_of_one_machine():
    absolute = re.compile(r"(?<![\w.])/(?:home|work|root|Users|mnt|opt|tmp)/\w")
    for path in tracked():
        if path.is_file() and path != Path(__file__).resolve():
            assert not absolute.search(path.read_text()), path


def test_no_forbidden_names():
    """Names say what a thing does: no utils, no managers, no engines.

    A brain is what the assembly calculus calls a set of areas, and is one only there.
    """
    for path in FILES:
        assert path.stem.strip("_") not in ("utils", "util", "helpers", "common", "misc") or (
            "peers" in path.parts
        ), path
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                words = r"Manager|Engine|Helper" + (
                    "" if "assembl" in str(path.relative_to(ROOT)) else "|Brain"
                )
                assert not re.search(words, node.name), node.name
