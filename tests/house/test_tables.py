"""Pages show the numbers that are in benchmarks/results."""

import pytest

from benchmarks import tables


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: page.name)
def test_tables_are_those_of_the_results(page):
    assert page.read_text() == tables.pages()[page]
