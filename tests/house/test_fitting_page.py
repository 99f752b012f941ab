"""The page on fitting a trace: the fit finds the true conductances."""

import re
from pathlib import Path

import pytest

from tests.house.test_readme import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/fitting.md"


@pytest.mark.slow
def test_the_true_conductances_are_found(tmp_path):
    printed = run(PAGE, tmp_path)
    rough, smooth = (int(x) for x in re.findall(r"(\d+) minima", printed))
    assert rough > 1 == smooth
    for name, true in (("g_na", 120.0), ("g_k", 36.0)):
        (found,) = re.findall(rf"^{name}: (.*)", printed, flags=re.MULTILINE)
        numbers = [float(x) for x in found.split()]
        assert numbers == pytest.approx([true] * 8, rel=0.05)
    best = re.search(r"pull: ([\d.]+) and ([\d.]+), ([\d.]+) mV", printed)
    g_na, g_k, error = map(float, best.groups())
    assert g_na == pytest.approx(120.0, rel=0.02)
    assert g_k == pytest.approx(36.0, rel=0.02)
    assert error < 1.3


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", (ROOT / PAGE).read_text())
    assert "gradients.md" in links
    assert [x for x in links if not (ROOT / PAGE).parent.joinpath(x).exists()] == []
