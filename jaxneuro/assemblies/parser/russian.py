"""A grammar of Russian, where cases and not places say who does what, and what makes its words.

Verbs, and nouns in nominative, accusative, dative, instrumental and genitive, in any order but that
a genitive follows its noun. All forms of a noun fire the same assembly of the lexicon.

Reference:
    Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
    doi:10.1162/tacl_a_00432: the areas NOM, ACC and DAT and their rules.
"""

from ._grammar import LEX, Branch, Grammar, Phase, Word, closes, opens

CASES = ("NOM", "ACC", "DAT", "INS")  # of the arguments of a verb
AREAS = ("VERB", *CASES, "GEN")
FIBRES = (
    *((LEX, area) for area in AREAS),
    *(("VERB", case) for case in CASES),
    *(("GEN", case) for case in (*CASES, "GEN")),
)


def _genitive_of(last: str) -> tuple:
    """The next genitive belongs to the assembly in this area ("": to none)."""
    return tuple((opens if x == last else closes)("GEN", x, lock=1) for x in (*CASES, "GEN"))


def noun(name: str, case: str, lemma: str = "") -> Word:
    """A noun in a case ("NOM", "ACC", "DAT", "INS" or "GEN"); `lemma` its nominative."""
    links = ((LEX, case),) + ((("VERB", case),) if case != "GEN" else ())
    genitive = tuple(("GEN", x) for x in (*CASES, "GEN")) if case == "GEN" else ()
    phase = Phase(
        pre=(opens(case), *(opens(*x) for x in (*links, *genitive))),
        post=(
            *(closes(*x) for x in (*links, *genitive)),
            *(() if case == "GEN" else (closes(LEX, case, lock=1),)),
            *_genitive_of(case),
        ),
    )
    return Word(name, (phase,), lemma)


def verb(name: str, lemma: str = "") -> Word:
    """A verb, with those arguments whose cases are in the sentence."""
    links = ((LEX, "VERB"), *(("VERB", case) for case in CASES))
    phase = Phase(
        pre=tuple(opens(*x) for x in links),
        post=(*(closes(*x) for x in links), closes(LEX, "VERB", lock=1), *_genitive_of("")),
    )
    return Word(name, (phase,), lemma)


def words() -> tuple[Word, ...]:
    """Nouns in all cases, and verbs."""
    cases = ("NOM", "ACC", "DAT", "INS", "GEN")
    forms = (
        "kot kota kotu kotom",
        "sobaka sobaku sobake sobakoy sobaki",
        "mama mamu mame mamoy mamy",
        "devochka devochku devochke devochkoy devochki",
        "kniga knigu knige knigoy knigi",
    )
    verbs = ["vidit", "lyubit", "dayet", "pishet", "spit", "begaet"]
    return (
        *map(verb, verbs),
        *(
            noun(name, case, lemma=line.split()[0])
            for line in forms
            for name, case in zip(line.split(), cases)
        ),
        noun("sobakie", "DAT", lemma="sobaka"),
    )


def grammar() -> Grammar:
    """Russian; `grammar().with_words(noun("lisa", "NOM"))` knows more words.

    Reference:
        Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
        doi:10.1162/tacl_a_00432.
    """
    return Grammar(
        name="Russian",
        areas=AREAS,
        fibres=FIBRES,
        words=words(),
        start=(LEX, "VERB"),
        rules=_genitive_of(""),
        needs={"GEN": (*CASES, "GEN")},
        branches=(
            *(Branch("VERB", case) for case in CASES),
            *(Branch(case, "GEN") for case in (*CASES, "GEN")),
        ),
    )
