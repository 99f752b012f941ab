"""Figures of parses and of brains."""

from types import SimpleNamespace

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.assemblies import Area, Brain, Fibre, Stimulus
from jaxneuro.plot._assemblies import _feet, _levels, _span
from tests.plot.results import PARSE
from tests.refusing import assert_refused


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.slow
def test_words_and_relations():
    figure = jn.plot.parse_tree(PARSE)
    assert texts(figure)[:6] == list(PARSE.words)
    assert sorted(texts(figure)[6:]) == sorted(arc[2] for arc in PARSE.arcs)
    assert len(figure.axes[0].patches) == len(PARSE.arcs)
    [bar] = figure.axes[0].lines
    word = figure.axes[0].texts[5]
    assert np.mean(bar.get_xdata()) == pytest.approx(word.get_position()[0])
    by_relation = {t.get_text(): t.get_color() for t in figure.axes[0].texts[6:]}
    assert len(set(by_relation.values())) == 4


def test_arcs_do_not_lie_on_each_other():
    arcs = sorted({tuple(arc) for arc in PARSE.arcs}, key=_span)
    levels = _levels(arcs)
    for i, (a, b, _) in enumerate(arcs):
        for j, (c, d, _) in enumerate(arcs[:i]):
            if min(a, b) < max(c, d) and min(c, d) < max(a, b):
                assert levels[i] > levels[j]
    feet = _feet(arcs, [50.0 * i for i in range(6)])
    assert len({x for pair in feet for x in pair}) == 2 * len(arcs)


def test_a_longer_sentence_is_wider():
    longer = SimpleNamespace(words=(*PARSE.words, "quickly"), arcs=PARSE.arcs)
    assert (
        jn.plot.parse_tree(longer).get_size_inches()[0]
        > (jn.plot.parse_tree(PARSE).get_size_inches()[0])
    )
    assert tuple(jn.plot.parse_tree(PARSE, size=(5, 2)).get_size_inches()) == (5, 2)
    assert_refused(
        lambda: jn.plot.parse_tree(PARSE, size=(5, 0)), "parse_tree", "size", "0.0 at index 1"
    )


def brain():
    areas = [Area(name, 100, 10) for name in "ABCDE"]
    fibres = [Fibre("S", "A"), Fibre("A", "A"), *(Fibre("A", x) for x in "BCDE"), Fibre("B", "A")]
    return Brain(areas, [Stimulus("S", 5)], fibres, p=0.1)


def test_thickness_is_activity():
    given = brain()
    active = np.stack([given.active("S->A"), given.active("S->A", "A->B")])
    figure = jn.plot.fibres(given, active)
    assert texts(figure) == ["A", *"BCDE", "S"]
    arrows = [p for p in figure.axes[0].patches if hasattr(p, "get_arrowstyle")]
    widths = sorted(p.get_linewidth() for p in arrows)
    assert len(arrows) == 7
    assert widths[-1] > widths[-2] > widths[-3] == widths[0]
    place = {t.get_text(): t.get_position() for t in figure.axes[0].texts}
    assert place["A"] == (0, 0)
    assert np.hypot(*place["B"]) == pytest.approx(1)


def test_every_fibre_is_drawn_alike_without_activity():
    patches = jn.plot.fibres(brain()).axes[0].patches
    widths = {p.get_linewidth() for p in patches if hasattr(p, "get_arrowstyle")}
    assert len(widths) == 1


def test_bad_activity():
    for active in (np.ones(3, bool), np.ones(7), np.ones((2, 2, 7), bool)):
        with pytest.raises(ValueError, match="from brain"):
            jn.plot.fibres(brain(), active)
