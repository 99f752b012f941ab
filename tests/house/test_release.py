"""A version has an entry in the changelog, and is the same wherever it is written."""

import re
import tomllib
from pathlib import Path

import pytest

import jaxneuro as jn

ROOT = Path(__file__).parents[2]


def versions(changelog):
    when = r"(?:\d{4}-\d\d-\d\d|not released yet)"
    return re.findall(rf"^## \[(\d+\.\d+\.\d+)\] - {when}$", changelog, re.M)


def entry(changelog, version):
    """What the changelog says of a version; raises `ValueError` if that is nothing."""
    _, head, after = changelog.partition(f"\n## [{version}] - ")
    text = after.split("\n## [")[0].partition("\n")[2]
    if not head or "\n- " not in text:
        raise ValueError(f"CHANGELOG.md must have an entry for {version}")
    return text


CHANGELOG = (ROOT / "CHANGELOG.md").read_text()


def test_this_version_has_an_entry():
    assert versions(CHANGELOG)[0] == jn.__version__
    assert entry(CHANGELOG, jn.__version__)


EMPTY = "\n## [9.0.0] - 2026-01-01\n\n## [8.0.0] - 2025-01-01\n\n- x\n"


@pytest.mark.parametrize("text", ["", EMPTY])
def test_a_version_without_an_entry_is_refused(text):
    with pytest.raises(ValueError, match=r"9\.0\.0"):
        entry(text, "9.0.0")


def test_versions_fall():
    numbers = [tuple(map(int, v.split("."))) for v in versions(CHANGELOG)]
    assert numbers == sorted(set(numbers), reverse=True)
    assert len(numbers) == CHANGELOG.count("\n## ")


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert project["version"] == cited[1] == jn.__version__


def test_what_the_release_pages_link_to_is_there():
    for page in ("CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"):
        for link in re.findall(r"\]\((?!https)([^)#]+)", (ROOT / page).read_text()):
            assert (ROOT / link).exists(), (page, link)


def test_the_workflow_runs_what_there_is():
    """Its targets of make and its tests; nothing else of it can be tried here."""
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert {"lint", "types"} <= set(re.findall(r"\bmake ([a-z-]+)", text)) <= targets
    named = re.findall(r"\btests/[\w./]+", text)
    assert named
    assert all((ROOT / name).exists() for name in named)
