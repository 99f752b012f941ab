"""The page on many devices: its code runs, and it names every partition."""

from pathlib import Path

import pytest

from jaxneuro import parallel
from tests.house.test_readme import run

PAGE = "docs/devices.md"
TEXT = (Path(__file__).resolve().parents[2] / PAGE).read_text()


@pytest.mark.slow
def test_the_page_runs(tmp_path):
    run(PAGE, tmp_path)  # its assert says that both runs have the same spikes


OWN = [p.__name__ for p in vars(parallel).values() if p in parallel.Partition.__subclasses__()]


@pytest.mark.parametrize("name", OWN)
def test_every_partition_is_named(name):
    assert f"{name}(" in TEXT
