"""Every example runs at a small size, in a process of its own, with warnings as errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store import STRICT

ROOT = Path(__file__).resolve().parents[2]
SMALL = {
    "assembly_operations": [
        *("--neurons", "1000", "--k", "30", "--seeds", "1", "--out", "out.png"),
    ],
    "assembly_digits": ["--seeds", "1", "--images", "5", "--out", "out.png"],
    "assembly_learning": ["--seeds", "1", "--samples", "50", "--out", "out.png"],
    "assembly_machines": ["--seeds", "1", "--items", "6", "--out", "out.png"],
    "assembly_compared": [
        *("--neurons", "1000", "--volleys", "5", "--seeds", "1", "--out", "out.png"),
    ],
    "assembly_in_spikes": ["--neurons", "1000", "--volleys", "5", "--out", "out.png"],
    "balanced_network": ["--neurons", "200", "--seconds", "0.1", "--out", "out.png"],
    "brunel": ["--neurons", "500", "--seconds", "0.2", "--out", "out.png"],
    "cortical_microcircuit": ["--scale", "0.02", "--seconds", "0.1", "--out", "out.png"],
    "digits": [
        *("--neurons", "20", "--epochs", "1", "--images", "150", "--seeds", "1"),
        *("--out", "out.png"),
    ],
    "fly_brain": ["--small", "--seconds", "0.3", "--trials", "2", "--out", "out.png"],
    "four_dimensions": ["--network", "small.json", "--ms", "50", "--out", "out.png"],
    "lattice": ["--side", "20", "--ms", "60", "--out", "out.gif"],
    "many_processes": ["--neurons", "500", "--seconds", "0.1", "--out", "out.png"],
    "neurotransmitters": ["--side", "20", "--ms", "60", "--out", "out.png"],
    "parse_sentence": ["--neurons", "1000", "--out", "out.png"],
    "short_term_plasticity": ["--neurons", "500", "--out", "out.png"],
    "song2000": ["--seconds", "1", "--inputs", "100", "--out", "out.png"],
    "sweep": ["--neurons", "100", "--points", "2", "--out", "out.png"],
    "thousand_brains": [
        *("--brains", "3", "--neurons", "1000", "--k", "20", "--out", "out.png"),
    ],
    "two_choice": ["--trials", "20", "--seeds", "2", "--out", "out.png"],
    "vogels2011": ["--neurons", "500", "--seconds", "2", "--out", "out.png"],
    "working_memory": [
        *("--neurons", "256", "--seconds", "1", "--seeds", "1", "--out", "out.png"),
    ],
}


def small_network() -> str:
    """The four-dimensional network with 4 and 2 neurons along an axis, ten times as far apart."""
    text = (ROOT / "examples" / "four_dimensions.json").read_text()
    for old, new in (
        ('"n": 160000', '"n": 256'),
        ('"n": 10000', '"n": 16'),
        ("[20, 20, 20, 20]", "[4, 4, 4, 4]"),
        ("[10, 10, 10, 10]", "[2, 2, 2, 2]"),
        ('"spacing": 10', '"spacing": 50'),
        ('"spacing": 20', '"spacing": 100'),
        ('"sigma": 20', '"sigma": 100'),
        ('"radius": 25', '"radius": 125'),
        ('"radius": 30', '"radius": 150'),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def test_every_example_is_here():
    assert sorted(p.stem for p in (ROOT / "examples").glob("*.py")) == sorted(SMALL)


@pytest.mark.slow(but=["balanced_network"])
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name, tmp_path):
    (tmp_path / "small.json").write_text(small_network())
    done = subprocess.run(
        [sys.executable, *STRICT, str(ROOT / "examples" / f"{name}.py"), *SMALL[name]],
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
