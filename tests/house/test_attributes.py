"""`Attributes:` sections of docstrings are whole, those of private classes too."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^Attributes:\n(.*?)(?=^\S|\Z)", re.M | re.S)
ENTRY = re.compile(r"^    (\w[\w, ]*): *(.*)$", re.M)


@functools.cache
def classes():
    """Every class with an `Attributes:` section: where it is, its node, its entries by names."""
    found = []
    for path in sorted((ROOT / "jaxneuro").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            doc = isinstance(node, ast.ClassDef) and ast.get_docstring(node)
            if doc and (section := SECTION.search(doc)):
                entries = dict(ENTRY.findall(section[1]))
                found.append((f"{path.name}: {node.name}", node, entries))
    return found


def fields(node):
    """Public fields that are declared in the body of a class, without those of its type."""
    declared = [x for x in node.body if isinstance(x, ast.AnnAssign)]
    declared = [x for x in declared if "ClassVar" not in ast.unparse(x.annotation)]
    names = (x.target.id for x in declared if isinstance(x.target, ast.Name))
    return {name for name in names if not name.startswith("_")}


def test_sections_are_found():
    found = {where: entries for where, _, entries in classes()}
    assert len(found) > 100
    assert "first_row, rows" in found["table.py: Section"]


def test_no_entry_is_empty_or_begins_with_a_punctuation_mark():
    bad = re.compile(r"[,.;:]|and\b|$")
    found = [
        f"{where}, {names}"
        for where, _, all_ in classes()
        for names in all_
        if bad.match(all_[names])
    ]
    assert found == []


def test_every_public_field_has_an_entry():
    missing = {}
    for where, node, entries in classes():
        named = {name for names in entries for name in re.split(r", *", names)}
        if lacks := fields(node) - named:
            missing[where] = lacks
    assert missing == {}
