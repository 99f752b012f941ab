"""Every example runs at a small size, in a process of its own, with warnings as errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = {
    "balanced_network": ["--neurons", "200", "--seconds", "0.1", "--out", "out.png"],
    "brunel": ["--neurons", "500", "--seconds", "0.2", "--out", "out.png"],
    "four_dimensions": ["--side", "4", "--ms", "50", "--out", "out.png"],
    "lattice": ["--side", "20", "--ms", "60", "--out", "out.gif"],
    "sweep": ["--neurons", "100", "--points", "2", "--out", "out.png"],
}


def test_every_example_is_here():
    assert sorted(p.stem for p in (ROOT / "examples").glob("*.py")) == sorted(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py"), *SMALL[name]],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "XLA_FLAGS"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    out = tmp_path / SMALL[name][-1]
    assert out.stat().st_size > 10_000
    assert "wrote" in done.stdout


@pytest.mark.parametrize("name", SMALL)
def test_it_is_short(name):
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < 100
