"""The page on sweeps: its code runs and does what the page says."""

import inspect
import re
from pathlib import Path

import pytest

import jaxneuro as jn
from tests.house.test_readme import run

PAGE = "docs/sweeps.md"
TEXT = (Path(__file__).resolve().parents[2] / PAGE).read_text()


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return run(PAGE, tmp_path_factory.mktemp("page"))


@pytest.mark.slow
def test_the_grid_and_the_list(printed):
    assert "SweepResult: 40 points (grid: gain 4, seed 10)" in printed
    means = [float(x) for x in re.search(r"^\[(.*)\]$", printed, re.MULTILINE)[1].split()]
    assert len(means) == 4
    assert means[0] > means[-1] > 0.0  # more inhibition, lower rate
    assert "gain  seed" in printed


@pytest.mark.slow
def test_what_is_saved_is_found(printed):
    assert printed.splitlines()[-1] == "0 40"


def test_every_option_is_explained():
    options = ["mesh", "save", "chunk", "executor"]
    assert [x for x in options if f"`{x}=`" not in TEXT] == []
    assert set(options) <= set(inspect.signature(jn.sweep).parameters)
