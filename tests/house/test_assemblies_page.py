"""The page on assemblies: its code runs, and does what the page says."""

import re
from pathlib import Path

import pytest

from jaxneuro import assemblies as ac
from tests.house.test_readme import run

PAGE = "docs/assemblies.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def printed(folder):
    return run(PAGE, folder)


@pytest.mark.slow
def test_assemblies_recall(printed):
    back, half = (int(x) for x in re.findall(r"brings back (\d+)% of A", printed))
    assert back > 20
    assert half > 90


@pytest.mark.slow
def test_an_assembly_is_denser_than_chance(printed):
    (density,) = re.findall(r"with a synapse: ([\d.]+)", printed)
    assert float(density) > 0.06


@pytest.mark.slow
def test_a_large_area_is_small(printed):
    ((support, size),) = re.findall(r"([\d,]+) of 10,000,000 neurons fired, (\d+) MB", printed)
    assert 3_000 < int(support.replace(",", "")) < 6_000
    assert int(size) < 100


@pytest.mark.slow
def test_recall_grows_with_beta(printed):
    means = [float(x) for x in re.findall(r"beta [\d.]+: ([\d.]+)", printed)]
    assert means == sorted(means)
    assert means[-1] > 0.9


@pytest.mark.slow
def test_figures_are_drawn(printed, folder):
    assert printed
    assert (folder / "support.png").stat().st_size > 1000


def rows(section: str) -> list[list[str]]:
    """The cells of the tables of a section of the page."""
    text = Path(PAGE).read_text().split(f"### {section}\n")[1].split("\n### ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_has_every_word_with_its_kind():
    english = ac.parser.english
    written = {}
    for kind, words, _ in (row for row in rows("The words of English") if len(row) == 3):
        if kind.startswith("`") and hasattr(english, kind.strip("`")):
            written |= {word: getattr(english, kind.strip("`"))(word) for word in words.split(", ")}
    known = {word.name: word for word in english.grammar().words}
    assert f"knows these {len(known)} words" in Path(PAGE).read_text()
    assert written == {name: word for name, word in known.items() if name != ","}


def test_the_page_has_sentences_that_are_refused():
    grammar = ac.parser.english.grammar()
    cells = [row[0] for row in rows("The words of English")]
    sentences = [cell.strip('"') for cell in cells if cell.startswith('"')]
    assert len(sentences) == 5
    for sentence in sentences:
        with pytest.raises(ValueError, match=r"has no word|rejects the sentence"):
            ac.parser.parse(grammar, sentence)


def test_the_page_has_every_operation():
    text = Path(PAGE).read_text()
    for name in ("project", "reciprocal_project", "associate", "merge", "pattern_complete"):
        assert callable(getattr(ac, name))
        assert f"`{name}(" in text
