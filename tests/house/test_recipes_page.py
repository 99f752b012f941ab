"""The ten jobs of the recipes run, and find what they should."""

import re

import pytest

from tests.house.test_readme import blocks, run

PAGE = "docs/recipes.md"


@pytest.mark.slow
def test_the_jobs_run(tmp_path):
    said = run(PAGE, tmp_path)
    learned = re.search(r"E: 400 neurons, ([\d.]+) Hz", said)
    assert learned is not None
    assert 5.0 < float(learned[1]) < 10.0
    g_na, g_k = map(float, re.findall(r"g_na, g_k: ([\d.]+) ([\d.]+)", said)[0])
    assert (g_na, g_k) == pytest.approx((120.0, 36.0), rel=1e-3)
    rate, cv = map(float, re.findall(r"key 0 ([\d.]+) ([\d.]+)", said)[0])
    assert 5.0 < rate < 6.5  # CUBA
    assert 0.6 < cv < 1.0
    assert "population 'E': tau_m 15.0 ms, was 20.0 ms" in said
    for name in ("weights.png", "film.gif", "raster.png", "rates.png", "learned.npz"):
        assert (tmp_path / name).stat().st_size > 3_000


def test_each_job_is_one_block():
    assert len(blocks(PAGE)) == 11
