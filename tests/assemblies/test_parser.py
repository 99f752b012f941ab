"""What grammars accept and refuse, and what a brain reads from sentences, at a small size."""

import dataclasses

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.assemblies import parser
from jaxneuro.assemblies.parser import Branch, Grammar, Phase, Rule, Word, closes, opens
from jaxneuro.assemblies.parser._parse import Readout, tasks_of
from tests.assemblies.sentences import English, Russian
from tests.refusing import assert_refused

ENGLISH, RUSSIAN = parser.english.grammar(), parser.russian.grammar()
SMALL = {"n": 1000, "k": 50}


def found(text):
    return sorted(parser.parse(ENGLISH, text, **SMALL).dependencies)


def listed(text):
    """ "chase-mice OBJ, ..." as sorted triples."""
    pairs = (entry.split() for entry in text.split(", "))
    return sorted((*words.split("-"), relation) for words, relation in pairs)


@pytest.mark.slow(but=["dogs are big people-are-dogs SUBJ, are-people OBJ, people-big ADJ"])
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("cats chase mice", "chase-mice OBJ, chase-cats SUBJ"),
        ("the dogs chase the cats.", "chase-cats OBJ, cats-the DET, chase-dogs SUBJ, dogs-the DET"),
        ("dogs are big", "are-dogs SUBJ, are-big ADJ"),
        ("dogs are big people", "are-dogs SUBJ, are-people OBJ, people-big ADJ"),
        (
            "the big old bad wolf chases old cats quickly",
            "chases-wolf SUBJ, wolf-the DET, wolf-big ADJ, wolf-old ADJ, wolf-bad ADJ, "
            "chases-cats OBJ, cats-old ADJ, chases-quickly ADVERB",
        ),
        (
            "dogs in houses of people run in gardens",
            "run-dogs SUBJ, dogs-houses PREP_P, houses-in PREP, houses-people PREP_P, "
            "people-of PREP, run-gardens PREP_P, gardens-in PREP",
        ),
        (
            "the cats that cats chase, chase cats",
            "cats-the DET, cats-chase DEP_CLAUSE, chase-cats SUBJ, chase-cats OBJ, "
            "chase-cats SUBJ, chase-cats OBJ",
        ),
        (
            "dogs chase the mice that run",
            "chase-dogs SUBJ, chase-mice OBJ, mice-the DET, mice-run DEP_CLAUSE, run-mice SUBJ",
        ),
    ],
)
def test_sentences(sentence, expected):
    assert found(sentence) == listed(expected)


def test_places_tell_equal_words_apart():
    parse = parser.parse(ENGLISH, "the big cats chase the old cats", key=3, **SMALL)
    expected = [(2, 0, "DET"), (2, 1, "ADJ"), (3, 2, "SUBJ")]
    expected += [(6, 4, "DET"), (6, 5, "ADJ"), (3, 6, "OBJ")]
    assert sorted(parse.arcs) == sorted(expected)
    assert str(parse).splitlines()[0] == "cats - the (DET)"


@pytest.mark.slow
def test_nothing_is_invented_without_links():
    """A brain that has not learned finds no dependency, whatever fires in it."""
    parse = parser.parse(ENGLISH, "the big dogs chase cats", **SMALL)
    tasks = tasks_of(ENGLISH, "the big dogs chase cats")
    heard = [tuple(np.asarray(a.cap) for a in parse.state.areas)] * len(tasks)
    blank = parse.state._replace(learned=np.zeros_like(parse.state.learned))
    assert len(Readout(ENGLISH, parse.brain, parse.state, tasks, heard).all()) == 4
    assert Readout(ENGLISH, parse.brain, blank, tasks, heard).all() == []


@pytest.mark.slow
def test_the_same_key_is_the_same_brain():
    a, b, c = (parser.parse(ENGLISH, "cats chase mice", key=key, **SMALL) for key in (1, 1, 2))
    caps = [np.asarray(x.brain.cap(x.state, "VERB")) for x in (a, b, c)]
    np.testing.assert_array_equal(caps[0], caps[1])
    assert (caps[0] != caps[2]).any()


def test_generated_sentences_are_accepted():
    english, russian = English(seed=5), Russian(seed=5)
    for _ in range(200):
        tasks_of(ENGLISH, english.sentence().text)
        tasks_of(RUSSIAN, russian.sentence()[0])
    assert min(english.features.values()) >= 10
    assert len(russian.orders) > 30


@pytest.mark.parametrize(
    ("sentence", "at", "why"),
    [
        ("dogs chase cats run", "'run'", "fibre LEX - VERB is closed"),
        ("the chase", "'chase'", "area DET still waits"),
        ("chase cats", "'chase'", "VERB needs an assembly in one of SUBJ, DEP_CLAUSE"),
        ("dogs cats chase", "'cats'", "fibre LEX - SUBJ is closed, area OBJ is closed"),
        ("dogs run cats", "'cats'", "area SUBJ is closed, area OBJ is closed"),
        ("dogs chase the", "its end", "area DET still waits"),
        ("dogs chase big", "its end", "area ADJ still waits"),
        ("dogs", "its end", "there is no word in area VERB"),
        ("dogs that run", "its end", "fibre DEP_CLAUSE - SUBJ still waits"),
        ("dogs chase mice that", "its end", "fibre DEP_CLAUSE - VERB still waits"),
        ("dogs chase cats that run fly", "'fly'", "fibre LEX - VERB is closed"),
        ("dogs that chase cats that love mice run", "'that'", "DEP_CLAUSE needs an assembly"),
        ("in houses dogs run", "'houses'", "PREP_P needs an assembly"),
        ("dogs , run", "','", "nothing to do here"),
        ("the the dogs run", "'the'", "area DET still waits"),
    ],
)
def test_rejected_sentences(sentence, at, why):
    with pytest.raises(ValueError, match=f"'English' rejects .* at {at}: .*{why}"):
        parser.parse(ENGLISH, sentence)


def test_russian_is_rejected_too():
    for sentence, why in (("kot vidit sobaka", "LEX - NOM"), ("mamy vidit kot", "area GEN needs")):
        with pytest.raises(ValueError, match=why):
            parser.parse(RUSSIAN, sentence)


def test_unknown_words():
    with pytest.raises(ValueError, match=r"no word 'dogz'; did you mean 'dogs'\?.*with_words"):
        parser.parse(ENGLISH, "dogz run")
    with pytest.raises(ValueError, match="no word 'xyzzy'; it has 'the', "):
        parser.parse(ENGLISH, "xyzzy run")
    for nothing in ("", " . ", 3):
        with pytest.raises(ValueError, match="at least one word"):
            parser.parse(ENGLISH, nothing)


LANGUAGE = Grammar(
    name="Yoda",
    areas=("VERB", "WHAT", "WHO"),
    fibres=(("LEX", "VERB"), ("LEX", "WHAT"), ("LEX", "WHO"), ("VERB", "WHAT"), ("VERB", "WHO")),
    words=(
        *(
            Word(
                name,
                (
                    Phase(
                        pre=(opens("LEX", "WHAT"), opens("LEX", "WHO"), opens("VERB", "WHO")),
                        post=(closes("LEX", "WHAT"), closes("LEX", "WHO"), closes("WHAT")),
                    ),
                ),
            )
            for name in ("truth", "yoda")
        ),
        Word(
            "seeks",
            (
                Phase(
                    pre=(opens("LEX", "VERB"), opens("VERB", "WHAT"), opens("WHAT")),
                    post=(closes("LEX", "VERB"), closes("WHAT"), opens("WHO")),
                ),
            ),
        ),
    ),
    branches=(Branch("VERB", "WHAT"), Branch("VERB", "WHO")),
    start=("LEX", "VERB", "WHAT"),
)


def test_a_language_of_ones_own():
    targets = [(x.target, x.sources) for x in tasks_of(LANGUAGE, "truth seeks yoda")]
    assert targets == [
        ("WHAT", ("LEX",)),
        ("VERB", ("LEX", "WHAT")),
        ("WHO", ("LEX", "VERB")),
    ]
    both = dataclasses.replace(LANGUAGE, start=("LEX", "VERB", "WHAT", "WHO"))
    with pytest.raises(ValueError, match="at 'truth': areas WHAT, WHO are at war for it"):
        parser.parse(both, "truth seeks yoda")


def test_words_of_ones_own():
    more = ENGLISH.with_words(parser.english.noun("lions"), parser.english.noun("lion", "lions"))
    assert more.word("lion").lemma == "lions"
    assert len(tasks_of(more, "lions chase the lion")) == 4
    assert len(more.lemmas) == len(ENGLISH.lemmas) + 1
    assert_refused(
        lambda: ENGLISH.with_words(parser.english.noun("dogs")),
        "grammar 'English'",
        "each word",
        "'dogs' twice",
    )


BAD_INPUT = {
    "action of a rule": (
        lambda: Rule("shut", ("A",)),
        "",
        "the action of a rule",
        "'shut'",
    ),
    "rule of no area": (lambda: Rule("open", ()), "", "the place of a rule", "()"),
    "rule of three areas": (
        lambda: opens("A", "B", "C"),
        *("", "the place of a rule", "('A', 'B', 'C')"),
    ),
    "mode of a phase": (
        lambda: Phase(mode="sleep"),
        "",
        "the mode of a phase",
        "'sleep'",
    ),
    "form without a target": (
        lambda: Phase(mode="form"),
        "",
        "a phase of mode 'form'",
        "None",
    ),
    "word with a target": (lambda: Phase(target="A"), "", "a phase of mode 'word'", "'A'"),
    "two words": (
        lambda: Word("two words", (Phase(),)),
        *("", "the name of a word", "'two words'"),
    ),
    "word without phases": (lambda: Word("word", ()), "", "word 'word'", "()"),
    "unknown area": (
        lambda: dataclasses.replace(LANGUAGE, root="VREB"),
        *("", "area of grammar 'Yoda'", "'VREB'"),
    ),
    "unknown fibre": (
        lambda: dataclasses.replace(LANGUAGE, branches=(Branch("WHO", "WHAT"),)),
        *("", "fibre of grammar 'Yoda'", "'WHO - WHAT'"),
    ),
    "grammar as a text": (
        lambda: parser.parse("English", "dogs run"),
        *("parse", "grammar", "'English'"),
    ),
    "rounds": (lambda: parser.parse(ENGLISH, "dogs run", rounds=1), "parse", "rounds", "1"),
    "p": (lambda: parser.parse(ENGLISH, "dogs run", p=0.0), "parse", "p", "0.0"),
    "two betas": (
        lambda: parser.parse(ENGLISH, "dogs run", beta=(0.1, 0.2)),
        *("parse", "beta", "(0.1, 0.2)"),
    ),
    "beta": (lambda: parser.parse(ENGLISH, "dogs run", beta=0.0), "parse", "beta", "0.0"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input(case):
    assert_refused(*BAD_INPUT[case])


def test_it_is_public():
    assert jn.assemblies.parser.parse is parser.parse
