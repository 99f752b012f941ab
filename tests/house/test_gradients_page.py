"""The page on gradients: its network learns, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.house.test_readme import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/gradients.md"


@pytest.mark.slow
def test_the_network_learns_its_rates(tmp_path):
    printed = run(PAGE, tmp_path)
    found = re.findall(r"loss ([\d.]+): E (\d+) Hz, I (\d+) Hz", printed)
    (first, *_), (last, e, i) = found[0], found[-1]
    assert float(first) > 1.0
    assert float(last) < 0.15
    assert abs(int(e) - 20) < 7
    assert abs(int(i) - 40) < 8
    (slope,) = re.findall(r"by the gain: (-?\d+) spikes", printed)
    assert 300 < int(slope) < 5000


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", (ROOT / PAGE).read_text())
    assert {"write-a-model.md", "performance.md", "plasticity.md"} <= set(links)
    assert [x for x in links if not (ROOT / PAGE).parent.joinpath(x).exists()] == []
