"""The parser at the size of the paper: its sentences over ten brains, and generated ones."""

import pytest

from jaxneuro.assemblies import parser
from tests.assemblies.sentences import English, Russian

ENGLISH, RUSSIAN = parser.english.grammar(), parser.russian.grammar()
pytestmark = pytest.mark.science
PUBLISHED = {
    "cats chase mice": "chase-mice OBJ, chase-cats SUBJ",
    "the dogs chase the cats": "chase-cats OBJ, cats-the DET, chase-dogs SUBJ, dogs-the DET",
    "dogs are big": "are-dogs SUBJ, are-big ADJ",
    # Mitropolsky et al. (2022) have a comma here; both are understood.
    "the dogs that chase cats run": (
        "run-dogs SUBJ, dogs-the DET, dogs-chase DEP_CLAUSE, chase-cats OBJ, chase-dogs SUBJ"
    ),
    "the dogs that cats chase , run": (
        "run-dogs SUBJ, dogs-the DET, dogs-chase DEP_CLAUSE, chase-cats SUBJ, chase-dogs OBJ"
    ),
    # What the published parser does not get: two adjectives, and no determiner where none is.
    "the big bad wolf chases cats": (
        "chases-wolf SUBJ, wolf-the DET, wolf-big ADJ, wolf-bad ADJ, chases-cats OBJ"
    ),
    "kot vidit sobaku": "vidit-kot NOM, vidit-sobaka ACC",
    "sobaku vidit kot": "vidit-kot NOM, vidit-sobaka ACC",
    "kot dayet kotu sobaku": "dayet-kot NOM, dayet-kot DAT, dayet-sobaka ACC",
}


def listed(text):
    """ "chase-mice OBJ, ..." as sorted triples."""
    pairs = (entry.split() for entry in text.split(", "))
    return sorted((*words.split("-"), relation) for words, relation in pairs)


@pytest.mark.parametrize("sentence", PUBLISHED)
def test_published_sentences(sentence):
    grammar = RUSSIAN if set(sentence.split()) & {"vidit", "dayet"} else ENGLISH
    for key in range(10):
        found = parser.parse(grammar, sentence, key=key).dependencies
        assert sorted(found) == listed(PUBLISHED[sentence]), key


def test_english_sentences():
    drawn = English(seed=1)
    for key in range(150):
        said = drawn.sentence()
        parse = parser.parse(ENGLISH, said.text, key=key)
        assert sorted(parse.dependencies) == said.dependencies, said.text
        assert sorted(parse.arcs) == sorted(said.arcs), said.text
    assert len(drawn.features) == 14, drawn.features
    assert min(drawn.features.values()) >= 5, drawn.features


def test_russian_sentences():
    drawn = Russian(seed=1)
    for key in range(60):
        text, expected = drawn.sentence()
        assert sorted(parser.parse(RUSSIAN, text, key=key).dependencies) == expected, text
    assert len(drawn.orders) > 30
