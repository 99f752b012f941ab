"""Pages show the numbers that are in benchmarks/results, and the rows of tables are benchmarks."""

import json

import pytest

from benchmarks import _page_tables, _rows, tables
from benchmarks.__main__ import make_parser

HERE = {"commit": "abc", "machine": "a machine", "versions": {"python": "3", "jax": "0"}}


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: page.name)
def test_tables_are_those_of_the_results(page):
    assert page.read_text() == tables.pages()[page]


def test_every_row_is_a_command_of_benchmarks():
    parser = make_parser()
    for name in _rows.ROWS:
        full = parser.parse_args(_rows.arguments(name))
        small = parser.parse_args(_rows.arguments(name, small=True, peers=()))
        assert full.name == small.name
        assert vars(full) != vars(small)


def test_every_row_that_is_measured_is_on_a_page():
    """A page differs without the row, and says so where its figures stood."""
    rows = _rows.read()

    def texts(rows):
        regions = {**_page_tables.README, **_page_tables.PERFORMANCE}
        return {name: region(rows) for name, region in regions.items()}

    whole = texts(rows)
    for name in rows:
        assert texts({k: row for k, row in rows.items() if k != name}) != whole, name
    assert "| COBA 4,000, one | **not run** | not run | not run | not run |" in "".join(
        texts({}).values()
    )


def test_a_simulator_that_could_not_run_stays_not_run():
    ours = {"impl": "jaxneuro", "rtf": 0.04043, "over_ours": {"brian2": 6.6}}
    theirs = {"impl": "brian2-cpp", "versions": {"brian2": "2.9.0"}}
    lines = [ours, *({**theirs, "rtf": x} for x in (0.3, 0.2, 0.262))]
    text = _page_tables.against({"coba-4k": {**HERE, "date": "2026-11-20", "lines": lines}})
    assert "| network, cores | jaxneuro | Brian2 2.9 C++ | brainpy | NEST |" in text
    assert "| COBA 4,000, one | **0.0404** | 0.262 (6.60) | not run | not run |" in text
    assert text.endswith("Measured on a machine, Python 3, jax 0, commit abc, 2026-11-20.\n")


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """Measures rows by a fake command; returns what failed, what was run, and the rows."""
    run = []
    broken = set()

    def output(words):
        run.append(words[0])
        return [] if words[0] in broken else [{"bench": words[0]}]

    def measured(*names, commit="abc", fails=(), **options):
        run.clear()
        broken.clear()
        broken.update(fails)
        monkeypatch.setattr(_rows, "_here", lambda: {**HERE, "commit": commit})
        how = {"small": True, "peers": (), "again": False} | options
        failed = _rows.measure(names, tmp_path / "tables.json", **how)
        return failed, list(run), json.loads((tmp_path / "tables.json").read_text())

    monkeypatch.setattr(_rows, "_output", output)
    return measured


def test_a_second_run_measures_what_the_first_did_not_store(measure):
    failed, _, rows = measure("brunel", "stp", "gap", fails=["stp"])
    assert (failed, list(rows)) == (["stp"], ["brunel", "gap"])
    failed, run, rows = measure("brunel", "stp", "gap")
    assert (failed, run, list(rows)) == ([], ["stp"], ["brunel", "stp", "gap"])
    assert rows["gap"]["command"].startswith("python -m benchmarks gap --side 200")
    assert rows["gap"]["lines"] == [{"bench": "gap"}]


def test_rows_of_another_commit_or_size_are_measured_anew(measure):
    measure("brunel", "gap")
    _, run, rows = measure("brunel", commit="def")
    assert run == ["brunel"]
    assert {name: row["commit"] for name, row in rows.items()} == {"brunel": "def", "gap": "abc"}
    assert measure("brunel", commit="def")[1] == []
    assert measure("brunel", commit="def", small=False)[1] == ["brunel"]
    assert measure("gap", again=True)[1] == ["gap"]


def test_small_sizes_do_not_get_into_the_results():
    options = make_parser().parse_args(["tables", "--measure", "--small", "--only", "brunel"])
    with pytest.raises(SystemExit, match="--file"):
        options.run(options)
