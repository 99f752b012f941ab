"""The page on writing models: its code runs, and says what the page says."""

import re
from pathlib import Path

import pytest

from tests.house.test_readme import blocks, run, test_every_link_leads_somewhere

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/write-a-model.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return run(PAGE, tmp_path_factory.mktemp("page"))
