"""A grammar of English, and what makes words of it.

Determiners, adjectives, adverbs, prepositions, intransitive and transitive verbs, the copula, and
clauses after "that" behind a subject or an object. Numbers and persons are not told apart.

Reference:
    Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
    doi:10.1162/tacl_a_00432: the areas, and how locks guide words to them. Mitropolsky, Ejaz, Shi,
    Yannakakis and Papadimitriou (2022), arXiv:2206.13217: the area of dependent clauses.
"""

from ._grammar import LEX, Branch, Grammar, Phase, Rule, Word, closes, forgets, opens

NOUNS = ("SUBJ", "OBJ", "PREP_P")  # areas of nouns
MODIFIERS = ("DET", "ADJ", "PREP")  # what waits for a noun
AREAS = (
    *("DET", "ADJ", "ADJ_MORE", "SUBJ", "OBJ", "VERB", "ADVERB", "ADVERB_MORE"),
    *("PREP", "PREP_P", "DEP_CLAUSE"),
)
FIBRES = (
    *((LEX, area) for area in AREAS if area != "DEP_CLAUSE"),
    *((word, noun) for word in ("DET", "ADJ") for noun in NOUNS),
    *(("VERB", area) for area in ("SUBJ", "OBJ", "ADJ", "ADVERB", "PREP_P")),
    *(("PREP", "PREP_P"), ("PREP_P", "SUBJ"), ("PREP_P", "OBJ"), ("PREP_P", "PREP_P")),
    *(("ADJ", "ADJ_MORE"), ("ADJ_MORE", "ADJ_MORE")),
    *(("ADVERB", "ADVERB_MORE"), ("ADVERB_MORE", "ADVERB_MORE")),
    *(("DEP_CLAUSE", "SUBJ"), ("DEP_CLAUSE", "OBJ"), ("DEP_CLAUSE", "VERB")),
)


# Several in a row: the first has its own area and waits for its head; the second is linked with the
# first, in a second area; each further one is chained to the one before, in that area.
def _first(area: str) -> tuple[Rule, ...]:
    """The next word for this area is the first of a row."""
    more = f"{area}_MORE"
    return (
        *(closes(area), closes(more), opens(LEX, area, lock=1), closes(LEX, more, lock=1)),
        *(opens(area, more, lock=1), closes(more, more, lock=1)),
    )


def _row(area: str, *links: Rule) -> Phase:
    """The phase of a word that may stand in a row."""
    more = f"{area}_MORE"
    ways = ((LEX, area), (LEX, more), (area, more), (more, more))
    return Phase(
        pre=(opens(area), *(opens(*way) for way in ways), *links),
        post=(
            *(closes(*way) for way in ways),
            *(closes(area, more, lock=1, when=more), opens(more, more, lock=1, when=more)),
            *(opens(more), closes(LEX, area, lock=1), opens(LEX, more, lock=1)),
        ),
        closed=("DET", "PREP") if area == "ADVERB" else (),
    )


# A prepositional phrase hangs on the last noun, or on the verb if that came last, or on the
# prepositional phrase directly before it.
def _phrases(*on: str) -> tuple[Rule, ...]:
    """The next prepositional phrase hangs on one of these areas."""
    ends = ("SUBJ", "OBJ", "VERB", "PREP_P")
    return tuple((opens if x in on else closes)("PREP_P", x, lock=1) for x in ends)


# An adjective after the copula belongs to the verb if no noun comes: known only at the next word.
PREDICATE = Phase(
    mode="link",
    target="ADJ",
    when=(("ADJ",), ("ADJ", "VERB")),
    post=(*_first("ADJ"), closes("ADJ", "VERB")),
)
# The clause behind a subject ends with a comma or the next verb: the subject fires again.
RESUME = Phase(
    mode="recall",
    target="SUBJ",
    when=(("DEP_CLAUSE",), ("DEP_CLAUSE", "SUBJ")),
    unless=(("DEP_CLAUSE", "VERB"),),
    pre=(opens("SUBJ"),),
    post=(
        *(forgets("VERB"), forgets("OBJ"), forgets("ADVERB"), closes("OBJ")),
        *(closes("DEP_CLAUSE"), closes("DEP_CLAUSE", "SUBJ"), opens(LEX, "VERB", lock=1)),
        *(closes(LEX, "SUBJ", lock=2), *_first("ADVERB"), *_phrases()),
    ),
    closed=MODIFIERS,
)
# A clause behind an object ends with the sentence: the object fires again, and then its verb.
RECALL_OBJECT = Phase(
    mode="recall",
    target="OBJ",
    when=(("DEP_CLAUSE",), ("DEP_CLAUSE", "OBJ")),
    unless=(("DEP_CLAUSE", "VERB"),),
    pre=(opens("OBJ"), forgets("VERB")),
)
RECALL_VERB = Phase(
    mode="recall",
    target="VERB",
    when=RECALL_OBJECT.when,
    unless=RECALL_OBJECT.unless,
    pre=(closes("DEP_CLAUSE"), opens("VERB", "OBJ")),
    post=(closes("VERB", "OBJ"),),
)


def noun(name: str, lemma: str = "") -> Word:
    """A noun: subject, object or in a prepositional phrase."""
    links = [
        *((LEX, x) for x in NOUNS),
        *((x, y) for x in ("DET", "ADJ") for y in NOUNS),
        *(("VERB", "OBJ"), ("PREP", "PREP_P")),
        *(("PREP_P", x) for x in ("SUBJ", "OBJ", "VERB", "PREP_P")),
    ]
    after = {x: (opens if x in ("SUBJ", "OBJ") else closes) for x in ("SUBJ", "OBJ", "VERB")}
    attach = [
        *(turn("PREP_P", x, lock=1, unless="PREP_P") for x, turn in after.items()),
        closes("PREP_P", "PREP_P", lock=1, unless="PREP_P"),
        *(closes("PREP_P", x, lock=1, when="PREP_P") for x in after),
        opens("PREP_P", "PREP_P", lock=1, when="PREP_P"),
    ]
    # The nouns of a clause are not linked with it: only the one on which it hangs, and its verb.
    hidden = tuple(closes("DEP_CLAUSE", x, lock=3) for x in ("SUBJ", "OBJ"))
    return _word(
        name,
        Phase(
            pre=(*(opens(*link) for link in links), *hidden),
            post=(
                *(closes(*link) for link in links),
                *(opens("DEP_CLAUSE", x, lock=3) for x in ("SUBJ", "OBJ")),
                *attach,
                # No second noun in the same place: but a preposition opens another.
                *(closes(LEX, x, lock=2) for x in ("SUBJ", "OBJ")),
                *(opens(LEX, x, lock=1) for x in ("SUBJ", "OBJ")),
                *(closes("DET"), closes("PREP"), closes("PREP_P")),
                *(*_first("ADJ"), closes("ADJ", "VERB")),
            ),
        ),
        lemma=lemma,
    )


def _verb(name: str, lemma: str, *post: Rule) -> Word:
    links = ((LEX, "VERB"), ("VERB", "SUBJ"), ("VERB", "ADVERB"))
    phase = Phase(
        pre=tuple(opens(*link) for link in links),
        post=(
            *(closes(*link) for link in links),
            *(closes(LEX, "VERB", lock=1), closes("SUBJ"), closes("DEP_CLAUSE", "VERB")),
            *(*_phrases("VERB"), opens(LEX, "OBJ", lock=2), *post),
        ),
        closed=MODIFIERS,
    )
    return _word(name, PREDICATE, RESUME, phase, lemma=lemma)


def intransitive(name: str, lemma: str = "") -> Word:
    """A verb without an object."""
    return _verb(name, lemma)


def transitive(name: str, lemma: str = "") -> Word:
    """A verb that may have an object."""
    return _verb(name, lemma, opens("OBJ"))


def copula(name: str, lemma: str = "") -> Word:
    """A verb that links its subject with an adjective (ADJ of the verb) or a noun (OBJ)."""
    return _verb(name, lemma, opens("OBJ"), opens("ADJ", "VERB"))


def determiner(name: str, lemma: str = "") -> Word:
    """A determiner of the next noun."""
    return _word(
        name,
        Phase(
            pre=(opens("DET"), opens(LEX, "DET")),
            post=(closes(LEX, "DET"),),
            closed=("DET", "ADJ"),
        ),
        lemma=lemma,
    )


def adjective(name: str, lemma: str = "") -> Word:
    """An adjective of the next noun, or of a copula; there may be several."""
    row = _row("ADJ", closes("ADJ", "VERB", lock=1))
    return _word(name, Phase(row.pre, (*row.post, opens("ADJ", "VERB", lock=1))), lemma=lemma)


def adverb(name: str, lemma: str = "") -> Word:
    """An adverb of the next verb, or of the one before; there may be several."""
    links = (opens("VERB", "ADVERB"),)
    row = _row("ADVERB", *links)
    post = (*row.post, closes("VERB", "ADVERB"))
    return _word(name, PREDICATE, Phase(row.pre, post, closed=row.closed), lemma=lemma)


def preposition(name: str, lemma: str = "") -> Word:
    """A preposition of the next noun."""
    phase = Phase(
        pre=(opens("PREP"), opens(LEX, "PREP")),
        post=(
            *(closes(LEX, "PREP"), opens("PREP_P")),
            *(closes(LEX, x, lock=1) for x in ("SUBJ", "OBJ")),
        ),
        closed=("DET", "ADJ"),
    )
    return _word(name, PREDICATE, phase, lemma=lemma)


def relative(name: str) -> Word:
    """What begins a clause on the last subject or object: "that"."""
    clause = Phase(
        mode="form",
        target="DEP_CLAUSE",
        pre=(
            # A clause within a clause finds both ways closed.
            *(closes("DEP_CLAUSE", x, lock=2, when="DEP_CLAUSE") for x in ("SUBJ", "OBJ")),
            *(opens("DEP_CLAUSE"), opens("DEP_CLAUSE", "SUBJ"), opens("DEP_CLAUSE", "OBJ")),
            *(opens("DEP_CLAUSE", x, lock=1) for x in ("SUBJ", "OBJ")),
            closes("DEP_CLAUSE", "SUBJ", lock=1, when="OBJ"),
            closes("DEP_CLAUSE", "OBJ", lock=1, unless="OBJ"),
        ),
        post=(
            *(forgets(x) for x in ("SUBJ", "OBJ", "VERB", "ADVERB")),
            *(opens("SUBJ"), closes("OBJ"), opens("DEP_CLAUSE", "VERB")),
            *(opens(LEX, "VERB", lock=1), opens(LEX, "SUBJ", lock=2)),
            *(*_first("ADVERB"), *_phrases()),
        ),
        closed=MODIFIERS,
    )
    return Word(name, (clause,))


def _word(name: str, *phases: Phase, lemma: str) -> Word:
    return Word(name, phases, lemma)


def words() -> tuple[Word, ...]:
    """The words of the published parser, and some more."""
    nouns = "dogs cats mice people man woman wolf houses gardens cities"
    return (
        *map(determiner, ("the", "a")),
        *map(noun, nouns.split()),
        *map(transitive, ["chase", "chases", "love", "loves", "bite", "see", "saw"]),
        *map(intransitive, ["run", "runs", "fly", "sleep"]),
        *map(copula, ("are", "is")),
        *map(adjective, ["big", "bad", "old", "small", "happy"]),
        *map(adverb, ["quickly", "slowly", "often"]),
        *map(preposition, ["of", "in", "with"]),
        *(relative("that"), Word(",", (PREDICATE, RESUME))),
    )


def grammar() -> Grammar:
    """English; `grammar().with_words(noun("lions"))` knows more words.

    Reference:
        Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
        doi:10.1162/tacl_a_00432.
    """
    nouns = [Branch(x, y) for x in ("SUBJ", "OBJ") for y in ("DET", "ADJ", "PREP_P", "DEP_CLAUSE")]
    return Grammar(
        name="English",
        areas=AREAS,
        fibres=FIBRES,
        words=words(),
        start=(LEX, "SUBJ", "VERB"),
        rules=(
            *(closes(LEX, f"{x}_MORE", lock=1) for x in ("ADJ", "ADVERB")),
            *(closes(f"{x}_MORE", f"{x}_MORE", lock=1) for x in ("ADJ", "ADVERB")),
            *_phrases(),
        ),
        end=(PREDICATE, RECALL_OBJECT, RECALL_VERB),
        finished=(("DET",), ("ADJ",), ("PREP",), ("DEP_CLAUSE", "SUBJ"), ("DEP_CLAUSE", "VERB")),
        needs={"VERB": ("SUBJ", "DEP_CLAUSE"), "PREP_P": ("SUBJ", "OBJ", "VERB", "PREP_P")},
        branches=(
            *(Branch("VERB", x) for x in ("SUBJ", "OBJ", "ADJ", "ADVERB", "PREP_P")),
            *nouns,
            *(Branch("PREP_P", x) for x in ("PREP", "DET", "ADJ", "PREP_P")),
            *(
                Branch(x, f"{y}_MORE", y, sibling=True)
                for y in ("ADJ", "ADVERB")
                for x in (y, f"{y}_MORE")
            ),
            Branch("DEP_CLAUSE", "VERB", "DEP_CLAUSE"),
        ),
        silent=("DEP_CLAUSE",),
        gaps=("SUBJ", "OBJ"),
    )
