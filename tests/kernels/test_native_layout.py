"""The C++ header of the layout is what the Python side says."""

import numpy as np
import pytest

from jaxneuro._kernels.redraw import DRAW_WORDS, Draw
from jaxneuro._kernels.table import SECTION_NARROW, SECTION_WORDS, Section
from scripts import native_layout


@pytest.mark.parametrize("name", native_layout.HEADERS)
def test_the_header_is_current(name):
    """If this fails, run `python -m scripts.native_layout` and build the kernels again."""
    assert (native_layout.NATIVE / name).read_text() == native_layout.HEADERS[name]()


def test_a_section_is_read_as_it_was_written():
    wide = len(Section._fields) - SECTION_NARROW
    section = Section(*range(1, 1 + SECTION_NARROW), *(2**32 * (k + 7) + k for k in range(wide)))
    words = section.words()
    assert words.shape == (SECTION_WORDS,)
    assert Section.read(words) == section
    low = Section.read_low(lambda k: int(words[k]))
    assert low == Section(*(x % 2**32 for x in section))


def test_a_draw_is_read_as_it_was_written():
    draw = Draw(*range(len(Draw._fields)))
    assert draw.words().shape == (DRAW_WORDS,)
    assert tuple(Draw.read(draw.words())) == tuple(np.arange(len(Draw._fields)))
