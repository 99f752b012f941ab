"""The README's code runs as it stands: all Python blocks, in order, in one fresh process."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def blocks() -> list[str]:
    text = (ROOT / "README.md").read_text()
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def test_the_readme_runs(tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks()))
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Network: 2 populations, 1,000 neurons" in done.stdout


def test_the_network_is_ten_lines_and_the_model_fifteen():
    network, model, *_ = blocks()
    lines = [line for line in network.splitlines() if line.strip()]
    assert len(lines) <= 10
    body = model[model.index("class QIFState") : model.index("result =")]
    assert len([line for line in body.splitlines() if line.strip()]) <= 15


def test_every_link_leads_somewhere():
    text = (ROOT / "README.md").read_text()
    links = [x for x in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in x]
    assert links
    assert [x for x in links if not (ROOT / x).exists()] == []
