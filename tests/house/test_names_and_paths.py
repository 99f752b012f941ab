"""No path of one machine, no names that say nothing; nothing of the package in the oracle."""

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("jaxneuro", "benchmarks", "tests", "examples")
FILES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))


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


def test_every_page_that_is_named_exists():
    named = re.compile(r"(?<![\w./-])docs/[\w/.-]+\.md\b")
    found = {(p, x) for p in tracked() if p.is_file() for x in named.findall(p.read_text())}
    assert len(found) > 20
    assert [(path, x) for path, x in found if not (ROOT / x).is_file()] == []


def test_no_forbidden_names():
    """Names say what a thing does: no utils, no managers, no engines.

    A brain is what the assembly calculus calls a set of areas, and is one only there.
    """
    for path in FILES:
        assert path.stem.strip("_") not in ("utils", "util", "helpers", "common", "misc") or (
            "peers" in path.parts
        ), path
        words = "Manager|Engine|Helper"
        if "assembl" not in str(path.relative_to(ROOT)):
            words += "|Brain"
        assert not re.search(rf"^ *class \w*({words})", path.read_text(), re.M), path


def roots(path):
    """The first names of what a file imports; a relative import of a sibling is `.`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * min(node.level, 1) or node.module.split(".")[0]


def test_the_oracle_imports_nothing_of_the_package():
    paths = sorted((ROOT / "tests" / "oracle").glob("*.py"))
    assert len(paths) > 20
    assert {p.name: x for p in paths if (x := {"jax", "jaxlib", "jaxneuro"} & {*roots(p)})} == {}
