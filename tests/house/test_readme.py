"""The code of the README and the guide runs as it stands: all blocks of a page, in order."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.store import STRICT

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str = "README.md") -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def run(page: str, folder: Path) -> str:
    """What the blocks of a page print, in one fresh process with warnings as errors."""
    script = folder / "page.py"
    script.write_text("\n".join(blocks(page)))
    done = subprocess.run(
        [sys.executable, *STRICT, str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_readme_runs(tmp_path):
    assert "Network: 2 populations, 1,000 neurons" in run("README.md", tmp_path)


INDEX = ROOT / "docs/guide.md"
GUIDE = sorted(f"docs/guide/{path.name}" for path in (ROOT / "docs/guide").glob("*.md"))
# Each page in a namespace of its own, all in one process.
PAGES = """import sys
from pathlib import Path
for page in sys.argv[1:]:
    exec(compile(Path(page).read_text(), page, "exec"), {"__name__": "page"})
"""


@pytest.mark.slow
def test_the_guide_runs(tmp_path):
    pages = []
    for page in GUIDE:
        pages.append(tmp_path / f"page_{Path(page).stem}.py")
        pages[-1].write_text("\n".join(blocks(page)))
    done = subprocess.run(
        [sys.executable, *STRICT, "-c", PAGES, *map(str, pages)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Connections: E to I, 30 synapses" in done.stdout
    assert "Network: 1 population, 900 neurons" in done.stdout


def test_the_index_has_a_line_on_every_page():
    rows = re.findall(
        r"^\| \[[^]]+\]\(([^)]+)\) \| (.+) \|$", INDEX.read_text(), flags=re.MULTILINE
    )
    listed = [page for page, _ in rows]
    docs = INDEX.parent
    assert sorted(listed) == sorted(
        str(page.relative_to(docs)) for page in docs.rglob("*.md") if page != INDEX
    )
    assert all(answers.endswith("?") for _, answers in rows)
    last = (ROOT / "README.md").read_text().split("## Where to go next")[1]
    assert "(docs/guide.md)" in last


def test_the_readme_has_every_extra():
    with open(ROOT / "pyproject.toml", "rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    text = (ROOT / "README.md").read_text().split("extras are")[1].split(". ")[0]
    assert set(re.findall(r"`(\w+)`", text)) == set(extras) - {"dev"}


def test_the_model_is_fifteen_lines():
    _, model, *_ = blocks()
    body = model[model.index("class QIFState") : model.index("result =")]
    assert len([line for line in body.splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/examples.md", *GUIDE]
)
def test_every_link_leads_somewhere(page):
    text, folder = (ROOT / page).read_text(), (ROOT / page).parent
    links = [x for x in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in x]
    files = re.findall(r"`((?:examples|docs|benchmarks)/[\w/.]+\.\w+)`", text)
    assert [x for x in links if not (folder / x).exists()] == []
    assert [x for x in files if not (ROOT / x).exists()] == []
