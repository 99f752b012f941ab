"""The page of the design names what there is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / name for name in ("jaxneuro", "tests", "scripts", "benchmarks", "docs")]
FILES = [*ROOT.iterdir(), *(path for folder in FOLDERS for path in folder.rglob("*"))]
SOURCES = [x for x in FILES if x.suffix in (".py", ".h", ".cc") and "tests" not in x.parts]


def missing(page):
    """The words and paths in backticks, outside of blocks of code, that are nowhere."""
    words = {"lint", "VTA"}  # a target of make, and the name of a population
    for path in SOURCES:
        words.update(re.findall(r"[A-Za-z_]\w*", path.read_text()))
    paths = {path.relative_to(ROOT).as_posix() for path in FILES}
    out = set()
    for inside in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)):
        for name in re.findall(r"[\w*/.]*\w", inside):
            pattern = re.compile(rf"(.*/)?{re.escape(name.strip('./'))}".replace(r"\*", ".*"))
            parts = [x for x in re.split(r"[^\w]+", name) if not x[:1].isdigit()]
            if not words.issuperset(filter(None, parts)) and not any(map(pattern.fullmatch, paths)):
                out.add(name)
    return sorted(out)


def test_names_exist():
    assert missing((ROOT / "docs/design.md").read_text()) == []


def test_a_name_that_is_gone_is_found():
    page = "`Group.step` of `_network/group.py` calls `RuntimePathway.release_spikes`."
    assert missing(page) == ["RuntimePathway.release_spikes"]
