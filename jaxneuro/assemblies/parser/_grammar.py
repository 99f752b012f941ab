"""A grammar as a value: areas, fibres, and what each word opens and closes."""

import dataclasses
import difflib
from collections.abc import Mapping

from ... import spec
from ..._text import counted
from ...spec import InvalidValueError

# --- What a word does to the areas: rules that open and close them, and phases of projection.


Place = tuple[str, ...]  # one area, or the two ends of a fibre

MODES = ("word", "form", "recall", "link")


@dataclasses.dataclass(frozen=True)
class Rule:
    """Opens or closes an area or a fibre, or forgets what fires in an area.

    Attributes:
        action: "open", "close" or "forget".
        place: one area, or the two ends of a fibre (both its directions).
        lock: which of its locks: an area or a fibre is open when none of its locks is closed.
        when: places that must all be open for the rule to act.
        unless: places that must not all be open (none: no condition).

    Raises:
        InvalidValueError: for an unknown action, or a place that is neither one nor two names.

    Reference:
        Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
        doi:10.1162/tacl_a_00432: rules and locks. Conditions are added here: an inhibitory
        population that is itself inhibited.
    """

    action: str
    place: Place
    lock: int = 0
    when: tuple[Place, ...] = ()
    unless: tuple[Place, ...] = ()

    def __post_init__(self) -> None:
        if self.action not in ("open", "close", "forget"):
            raise InvalidValueError(
                "", "the action of a rule", "'open', 'close' or 'forget'", repr(self.action)
            )
        for place in (self.place, *self.when, *self.unless):
            if not isinstance(place, tuple) or len(place) not in (1, 2):
                raise InvalidValueError(
                    "", "the place of a rule", "one area, or the two ends of a fibre", repr(place)
                )


def opens(*place: str, lock: int = 0, when: str | Place = (), unless: str | Place = ()) -> Rule:
    """The rule that opens a lock of an area (one name) or of a fibre (two names).

    `when`, `unless` an area or the two ends of a fibre: the condition of the rule.
    """
    return Rule("open", place, lock, places(when), places(unless))


def closes(*place: str, lock: int = 0, when: str | Place = (), unless: str | Place = ()) -> Rule:
    """The rule that closes a lock of an area (one name) or of a fibre (two names)."""
    return Rule("close", place, lock, places(when), places(unless))


def forgets(area: str) -> Rule:
    """The rule after which no assembly fires in an area."""
    return Rule("forget", (area,))


def places(given: str | Place) -> tuple[Place, ...]:
    """A condition as given by a user, an area or a fibre, as a tuple of places."""
    if isinstance(given, str):
        return ((given,),)
    return (given,) if given else ()


@dataclasses.dataclass(frozen=True)
class Phase:
    """Rules, rounds of projection, and rules again.

    * "word": the word fires in the lexicon, and the one area that it reaches gets a new assembly,
      which is linked with all assemblies from which an open fibre leads there.
    * "form": the same, with `target` as the area and without the lexicon.
    * "recall": the assembly in `target` that is linked with what fires elsewhere fires again.
    * "link": assemblies that fire are linked with that in `target`, and none is new.

    Attributes:
        pre, post: rules before and after the rounds.
        mode: what the rounds do, see above.
        target: the area (with "word" none).
        closed: areas that must be closed before `pre`, or the sentence is rejected.
        when, unless: places as in a `Rule`: the condition of the phase.

    Raises:
        InvalidValueError: for an unknown mode, or a target with "word" or none with another mode.
    """

    pre: tuple[Rule, ...] = ()
    post: tuple[Rule, ...] = ()
    mode: str = "word"
    target: str | None = None
    closed: tuple[str, ...] = ()
    when: tuple[Place, ...] = ()
    unless: tuple[Place, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidValueError("", "the mode of a phase", f"one of {MODES}", repr(self.mode))
        if (self.target is None) != (self.mode == "word"):
            raise InvalidValueError(
                "",
                f"a phase of mode {self.mode!r}",
                (
                    "one with "
                    f"{'no target: the open fibres decide' if self.mode == 'word' else 'a target'}"
                ),
                repr(self.target),
            )


@dataclasses.dataclass(frozen=True)
class Word:
    """A word of the lexicon and what it does.

    Attributes:
        name: as written.
        phases: in their order.
        lemma: the assembly of the lexicon that it fires (default: one of its own; forms of one word
            share theirs).

    Raises:
        InvalidValueError: for an empty name or one with a space, or a word without a phase.
    """

    name: str
    phases: tuple[Phase, ...]
    lemma: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or len(self.name.split()) != 1:
            raise InvalidValueError("", "the name of a word", "one word", repr(self.name))
        if not self.phases or not all(isinstance(x, Phase) for x in self.phases):
            raise InvalidValueError(
                "", f"word {self.name!r}", "one with at least one Phase", str(self.phases)
            )
        object.__setattr__(self, "lemma", self.lemma or self.name)

    @property
    def heard(self) -> bool:
        """Whether it fires in the lexicon."""
        return any(phase.mode == "word" for phase in self.phases)


# --- A grammar: areas, fibres, words and how a parse is read out.


LEX = "LEX"


@dataclasses.dataclass(frozen=True)
class Branch:
    """Where the readout looks for dependents of a word.

    Attributes:
        head, dependent: areas that a fibre joins.
        relation: the name of the dependency (default: the dependent area).
        sibling: whether the dependent belongs to the head of the head (a further adjective to the
            noun, not to the adjective before it).
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

    Attributes:
        name: of the language, for messages.
        areas: without the lexicon.
        fibres: pairs of areas, both directions (the lexicon, "LEX", is an area here); a pair of an
            area with itself is a chain, by which an assembly leads to the next that is formed
            there.
        words: of the lexicon.
        start: areas open at the start.
        rules: applied at the start, when all else is closed by lock 0.
        end: phases after the last word.
        finished: places that must be closed after the last word.
        root: the area of the main verb.
        needs: for an area those of which at least one must drive a new assembly there.
        branches: of the readout.
        silent: areas without words, such as that of clauses, whose only dependent hangs on the word
            before.
        gaps: areas of dependents: the first that a verb of a clause lacks is filled by the word on
            which the clause hangs.

    Raises:
        InvalidValueError: for a name of an area that is not in `areas`, a fibre that is missing, or
            a word given twice.

    Reference:
        Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
        doi:10.1162/tacl_a_00432.
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
                raise InvalidValueError(
                    f"grammar {self.name!r}",
                    "each word",
                    "given once (remove one, or give the forms different names)",
                    f"{word.name!r} twice",
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
                raise spec.unknown(f"area of grammar {self.name!r}", area, (*self.areas, LEX))
        if len(place) == 2 and place not in self.fibres and place[::-1] not in self.fibres:
            known = [" - ".join(x) for x in self.fibres]
            raise spec.unknown(f"fibre of grammar {self.name!r}", " - ".join(place), known)

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
