"""The locks of a grammar as a sentence opens and closes them: what each phase projects."""

import dataclasses

from ._grammar import LEX, Grammar
from ._rules import Phase, Place, Rule


@dataclasses.dataclass(frozen=True)
class Task:
    """What the brain does in a phase.

    **Fields** `mode` of the phase; `lemma` what fires in the lexicon ("": as before); `target` the
    area that the phase is about; `sources` areas whose assemblies drive it; `position` of the word
    in the sentence (its length: the end).
    """

    mode: str
    lemma: str
    target: str
    sources: tuple[str, ...]
    position: int


class Control:
    """Which locks are closed and which areas have an assembly, while a sentence is heard.

    It knows the words' rules and nothing of neurons: the inhibitory populations of the model.

    **Raises** `ValueError`, in `hear` and `end`, for a sentence that the grammar rejects.
    """

    def __init__(self, grammar: Grammar, sentence: str) -> None:
        self.grammar, self.sentence, self.position = grammar, sentence, -1
        self.filled = {LEX}
        every = [(x,) for x in grammar.areas] + [tuple(sorted(x)) for x in grammar.fibres]
        self.locks: dict[Place, set[int]] = {place: {0} for place in every}
        self.locks[(LEX,)] = set()
        for area in grammar.start:
            self.locks[(area,)] = set()
        self.apply(grammar.rules)

    def is_open(self, place: Place) -> bool:
        return not self.locks[tuple(sorted(place))]

    def holds(self, thing: Rule | Phase) -> bool:
        """Whether the condition of a rule or a phase is met."""
        unless = bool(thing.unless) and all(map(self.is_open, thing.unless))
        return all(map(self.is_open, thing.when)) and not unless

    def apply(self, rules: tuple[Rule, ...]) -> None:
        """Does what rules say, one after the other."""
        for rule in rules:
            if not self.holds(rule):
                continue
            place = tuple(sorted(rule.place))
            if rule.action == "open":
                self.locks[place].discard(rule.lock)
            elif rule.action == "close":
                self.locks[place].add(rule.lock)
            else:
                self.filled.discard(rule.place[0])

    def hear(self, name: str) -> list[Task]:
        """The tasks of a word, and its rules."""
        word = self.grammar.word(name)
        self.position += 1
        tasks = self._phases(word.phases, name, word.lemma)
        if not tasks:
            raise self._rejected(name, "it has nothing to do here")
        return tasks

    def end(self) -> list[Task]:
        """The tasks after the last word; checks that the sentence is complete."""
        self.position += 1
        tasks = self._phases(self.grammar.end, "its end", "")
        for place in self.grammar.finished:
            if self.is_open(place):
                raise self._rejected("its end", f"{_named(place)} still waits for a word")
        if self.grammar.root not in self.filled:
            raise self._rejected("its end", f"there is no word in area {self.grammar.root}")
        return tasks

    def _phases(self, phases: tuple[Phase, ...], name: str, lemma: str) -> list[Task]:
        tasks = []
        for phase in phases:
            if not self.holds(phase):
                continue
            for area in phase.closed:
                if self.is_open((area,)):
                    raise self._rejected(name, f"area {area} still waits for another word")
            self.apply(phase.pre)
            target = phase.target or self._reached(name)
            sources = self._sources(phase, target, name)
            tasks.append(Task(phase.mode, lemma, target, sources, self.position))
            self.filled.add(target)
            self.apply(phase.post)
        return tasks

    def _reached(self, name: str) -> str:
        """The one area that the lexicon reaches."""
        ways = [x for x in self.grammar.areas if (x, LEX) in self._fibres()]
        reached = [x for x in ways if self.is_open((LEX, x)) and self.is_open((x,))]
        if len(reached) == 1:
            return reached[0]
        if reached:
            raise self._rejected(name, f"areas {', '.join(reached)} are at war for it")
        word = self.grammar.word(name)
        wanted = {x for p in word.phases for r in p.pre for x in r.place if LEX in r.place} - {LEX}
        closed = [
            f"{_named((LEX, x) if self.is_open((x,)) else (x,))} is closed"
            for x in ways
            if x in wanted
        ]
        raise self._rejected(name, f"no area is open to it: {', '.join(closed)}")

    def _fibres(self) -> set[tuple[str, str]]:
        pairs = self.grammar.fibres
        return {*pairs, *((b, a) for a, b in pairs)}

    def _sources(self, phase: Phase, target: str, name: str) -> tuple[str, ...]:
        """The areas with an assembly from which an open fibre leads to the target."""
        ways = [x for x in (LEX, *self.grammar.areas) if (x, target) in self._fibres()]
        ways = [x for x in ways if phase.mode == "word" or x != LEX]
        found = tuple(
            x for x in ways if x in self.filled and self.is_open((x,)) and self.is_open((x, target))
        )
        needed = self.grammar.needs.get(target, ()) if phase.mode == "word" else ()
        if not found or (needed and not set(needed) & set(found)):
            wanted = ", ".join(needed or [x for x in ways if x != target])
            raise self._rejected(
                name, f"area {target} needs an assembly in one of {wanted}, and none is open to it"
            )
        return found

    def _rejected(self, name: str, why: str) -> ValueError:
        at = name if name == "its end" else f"{name!r}"
        return ValueError(
            f"grammar {self.grammar.name!r} rejects the sentence {self.sentence!r} at {at}: {why}"
        )


def _named(place: Place) -> str:
    return f"area {place[0]}" if len(place) == 1 else f"fibre {place[0]} - {place[1]}"


def words_of(grammar: Grammar, sentence: str) -> tuple[str, ...]:
    """The words of a sentence: a comma may follow one directly, and a full stop is left out.

    **Raises** `ValueError` for no word, or one that the grammar has not.
    """
    if not isinstance(sentence, str) or not sentence.strip(". "):
        raise ValueError(f"a sentence must be a text of at least one word; got {sentence!r}")
    names = tuple(sentence.replace(",", " , ").rstrip(". ").split())
    for name in names:
        grammar.word(name)
    return names


def tasks_of(grammar: Grammar, sentence: str) -> list[Task]:
    """What a brain does to hear a sentence.

    **Raises** `ValueError` for a sentence that the grammar rejects.
    """
    control = Control(grammar, sentence)
    heard = [task for name in words_of(grammar, sentence) for task in control.hear(name)]
    return heard + control.end()
