"""A grammar: areas, fibres, words and how a parse is read out."""

import dataclasses
import difflib
from collections.abc import Mapping

from ..._checks import unknown
from ..._text import counted
from ._rules import Phase, Place, Rule, Word

LEX = "LEX"


@dataclasses.dataclass(frozen=True)
class Branch:
    """Where the readout looks for dependents of a word.

    **Fields** `head`, `dependent` areas that a fibre joins; `relation` the name of the dependency
    (default: the dependent area); `sibling` whether the dependent belongs to the head of the head
    (a further adjective to the noun, not to the adjective before it).
    """

    head: str
    dependent: str
    relation: str = ""
    sibling: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", self.relation or self.dependent)


@dataclasses.dataclass(frozen=True)
class Grammar:
    """A language as a value: areas, fibres, words and branches.

    **Fields** `name`; `areas` without the lexicon; `fibres` pairs of areas, both directions (the
    lexicon, "LEX", is an area here); a pair of an area with itself is a chain, by which an assembly
    leads to the next that is formed there; `words`; `start` areas open at the start; `rules`
    applied at the start, when all else is closed by lock 0; `end` phases after the last word;
    `finished` places that must be closed after the last word; `root` the area of the main verb;
    `needs` for an area those of which at least one must drive a new assembly there; `branches` of
    the readout; `silent` areas without words, such as that of clauses, whose only dependent hangs
    on the word before; `gaps` areas of dependents: the first that a verb of a clause lacks is
    filled by the word on which the clause hangs.

    **Raises** `ValueError` for a name of an area that is not in `areas`, a fibre that is missing,
    or a word given twice.

    **Source** Mitropolsky, Collins and Papadimitriou (2021), doi:10.1162/tacl_a_00432.
    """

    name: str
    areas: tuple[str, ...]
    fibres: tuple[tuple[str, str], ...]
    words: tuple[Word, ...]
    branches: tuple[Branch, ...]
    start: tuple[str, ...] = (LEX,)
    rules: tuple[Rule, ...] = ()
    end: tuple[Phase, ...] = ()
    finished: tuple[Place, ...] = ()
    root: str = "VERB"
    needs: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    silent: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """The name, and how many words, areas and fibres there are."""
        parts = (
            counted(len(self.words), "word"),
            counted(len(self.areas), "area"),
            counted(len(self.fibres), "fibre"),
        )
        return f"Grammar {self.name!r}: {', '.join(parts)}"

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for word in self.words:
            if word.name in seen:
                raise ValueError(
                    f"grammar {self.name!r}: each word must be given once; got {word.name!r} "
                    "twice. Remove one, or give the forms different names"
                )
            seen.add(word.name)
        for place in self._places():
            self._check(place)

    def _places(self) -> list[Place]:
        """Every area and fibre that is named anywhere."""
        named: list[Place] = [(x,) for x in (*self.start, self.root, *self.silent, *self.gaps)]
        named += [(x,) for area, others in self.needs.items() for x in (area, *others)]
        named += [(b.head, b.dependent) for b in self.branches]
        named += self.finished
        phases = [*self.end, *(phase for word in self.words for phase in word.phases)]
        rules = [*self.rules, *(r for phase in phases for r in (*phase.pre, *phase.post))]
        for thing in (*phases, *rules):
            named += [*thing.when, *thing.unless]
        named += [rule.place for rule in rules]
        named += [(x,) for phase in phases for x in phase.closed]
        return named + [(phase.target,) for phase in phases if phase.target]

    def _check(self, place: Place) -> None:
        for area in place:
            if area not in (*self.areas, LEX):
                raise unknown(f"area of grammar {self.name!r}", area, (*self.areas, LEX))
        if len(place) == 2 and place not in self.fibres and place[::-1] not in self.fibres:
            known = [" - ".join(x) for x in self.fibres]
            raise unknown(f"fibre of grammar {self.name!r}", " - ".join(place), known)

    @property
    def lemmas(self) -> tuple[str, ...]:
        """The words that have an assembly in the lexicon, in the order of their neurons."""
        return tuple(dict.fromkeys(word.lemma for word in self.words if word.heard))

    def word(self, name: str) -> Word:
        """The word with this name; raises `ValueError` with the nearest ones if there is none."""
        for word in self.words:
            if word.name == name:
                return word
        names = [word.name for word in self.words]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {listed}."
        raise ValueError(
            f"grammar {self.name!r} has no word {name!r}; {hint} Add words with grammar.with_words"
        )

    def with_words(self, *words: Word) -> "Grammar":
        """The grammar with further words."""
        return dataclasses.replace(self, words=(*self.words, *words))
