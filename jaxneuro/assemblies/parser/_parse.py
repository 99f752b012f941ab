"""Parses a sentence word by word in a brain, and reads its dependencies out of it."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ... import spec
from ...spec import InvalidValueError
from .._brain import Brain
from .._description import Area, Fibre
from .._state import BrainState, on_host
from ._grammar import LEX, Grammar, Phase, Place, Rule

# --- The locks of a grammar as a sentence opens and closes them: what each phase projects.


@dataclasses.dataclass(frozen=True)
class Task:
    """What the brain does in a phase.

    Attributes:
        mode: of the phase.
        lemma: what fires in the lexicon ("": as before).
        target: the area that the phase is about.
        sources: areas whose assemblies drive it.
        position: of the word in the sentence (its length: the end).
    """

    mode: str
    lemma: str
    target: str
    sources: tuple[str, ...]
    position: int


class Control:
    """Which locks are closed and which areas have an assembly, while a sentence is heard.

    It knows the words' rules and nothing of neurons: the inhibitory populations of the model.

    Raises:
        InvalidValueError: in `hear` and `end`, for a sentence that the grammar rejects.
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

    Raises:
        InvalidValueError: for no word, or one that the grammar has not.
    """
    if not isinstance(sentence, str) or not sentence.strip(". "):
        raise InvalidValueError(
            "words_of", "a sentence", "a text of at least one word", repr(sentence)
        )
    names = tuple(sentence.replace(",", " , ").rstrip(". ").split())
    for name in names:
        grammar.word(name)
    return names


def tasks_of(grammar: Grammar, sentence: str) -> list[Task]:
    """What a brain does to hear a sentence.

    Raises:
        InvalidValueError: for a sentence that the grammar rejects.
    """
    control = Control(grammar, sentence)
    heard = [task for name in words_of(grammar, sentence) for task in control.hear(name)]
    return heard + control.end()


# --- What a brain does to hear a sentence, as arrays.


_STEP = 12  # phases


class Do(NamedTuple):
    """What a brain does in a phase. F are fibres, A areas.

    Attributes:
        word: int32 which assembly of the lexicon fires (-1: as before).
        first: bool (F,) the fibres of the first round, in which an assembly forms.
        later: bool (F,) those of the other rounds, in which it is held and linked.
        free: bool (A,) the areas that are not held in the first round.
        plastic: whether synapses learn.
        refracted: whether neurons of earlier assemblies are kept from firing again.
    """

    word: Any
    first: Any
    later: Any
    free: Any
    plastic: Any
    refracted: Any


def rounds_of(tasks: Sequence[Task], rounds: int) -> int:
    """How many rounds a brain must remember; sentences that need about as many share programs."""
    return _STEP * -(-len(tasks) // _STEP) * rounds


def script_of(grammar: Grammar, brain: Any, tasks: Sequence[Task]) -> list[Do]:
    """The tasks of a sentence as arrays."""
    return [_do(grammar, brain, task) for task in tasks]


def _do(grammar: Grammar, brain: Any, task: Task) -> Do:
    into = [f"{x}->{task.target}" for x in task.sources]
    others = [x for x in task.sources if x != task.target]
    back = [f"{task.target}->{x}" for x in others]
    both = brain.active(*(f"{x}->{task.target}" for x in others), *back)
    link, recall = task.mode == "link", task.mode == "recall"
    names = np.array(brain.area_names)
    learns = np.array(not recall)
    return Do(
        word=np.int32(grammar.lemmas.index(task.lemma) if task.mode == "word" else -1),
        first=both if link else brain.active(*into),
        later=np.zeros_like(both) if recall else both,
        free=(names == task.target) & (not link),
        plastic=learns,
        refracted=learns,
    )


def fan_out(grammar: Grammar, brain: Any, area: str) -> np.ndarray:
    """The fibres from an area to where its dependents are."""
    ends = [b.dependent for b in grammar.branches if b.head == area]
    return brain.active(*dict.fromkeys(f"{area}->{x}" for x in ends))


def answer(grammar: Grammar, brain: Any, area: str, head: str) -> np.ndarray:
    """The fibres from a dependent to the lexicon and back to the area of its head."""
    names = [f"{area}->{LEX}"] if area not in grammar.silent else []
    names += [f"{area}->{head}"] if head not in ("", area) else []
    return brain.active(*names)


# --- `Parser`: a brain with the areas of a grammar, which hears sentences.


Caps = tuple[Any, ...]  # what fires in each area

# Weights stay far below what an earlier assembly is refracted by, whatever beta is.
_CEILING, _REFRACTION = 2.0**12, 2.0**20


def brain_of(
    grammar: Grammar,
    *,
    n: int,
    k: int,
    lex_k: int,
    p: float,
    beta: tuple[float, float, float],
    rounds: int,
) -> Brain:
    """The brain of a grammar; `rounds` those that it remembers."""
    lex_beta, link_beta, chain_beta = beta
    lexicon = Area(LEX, lex_k * len(grammar.lemmas), lex_k)
    # Drawn again in each round: to store these synapses takes longer than some forty sentences, and
    # sampled areas number their neurons anew in each branch of the readout.
    areas = [Area(x, n, k, refraction=_REFRACTION) for x in grammar.areas]
    fibres = []
    for a, b in grammar.fibres:
        grows = chain_beta if a == b else lex_beta if LEX in (a, b) else link_beta
        for source, target in dict.fromkeys([(a, b), (b, a)]):
            fibres.append(Fibre(source, target, p=p, beta=grows, w_max=_CEILING))
    return Brain([lexicon, *areas], fibres=fibres, rounds=rounds)


def hear(
    brain: Brain, state: BrainState, script: Sequence[Do], rounds: int
) -> tuple[BrainState, list[Caps]]:
    """The state after a sentence, and what fired after each phase of `rounds` rounds.

    An assembly forms in the first round of a phase. It is held in the others, so that refraction,
    which keeps neurons of earlier assemblies silent, does not dissolve it.
    """
    heard = []
    for do in script:
        state = _phase(brain, state, do, np.int32(rounds))
        heard.append(caps_of(state))
    return state, heard


def fire(brain: Brain, state: BrainState, caps: Caps, active: np.ndarray) -> Caps:
    """What fires after one round without learning and refraction, in which no area is held."""
    yes, no = np.array(True), np.array(False)
    do = Do(np.int32(-1), active, np.zeros_like(active), np.ones(len(caps), bool), no, no)
    areas = [a._replace(cap=c, fired=yes) for a, c in zip(state.areas, caps)]
    return caps_of(_phase(brain, state._replace(areas=tuple(areas)), do, np.int32(1)))


def caps_of(state: BrainState) -> Caps:
    """What fires in each area."""
    return tuple(np.asarray(area.cap) for area in state.areas)


# One program for hearing and reading: compiling takes longer than a hundred sentences.
@eqx.filter_jit
def _phase(brain: Brain, state: BrainState, do: Do, rounds: Any) -> BrainState:
    def one(number: Any, state: BrainState) -> BrainState:
        first = number == 0
        state = _hold(state, first & do.free)
        active = jnp.where(first, do.first, do.later)
        return _round(brain, state, active, do.plastic, do.refracted)

    return lax.fori_loop(0, rounds, one, _speak(brain, state, do.word))


def _speak(brain: Brain, state: BrainState, word: Any) -> BrainState:
    """The word fires in the lexicon; -1: what fired before."""
    lex_k = brain.areas[0].k
    spoken = brain.with_cap(state, LEX, lex_k * word + jnp.arange(lex_k, dtype=jnp.int32))
    lexicon = jax.tree.map(
        lambda new, old: jnp.where(word >= 0, new, old), spoken.areas[0], state.areas[0]
    )
    return state._replace(areas=(lexicon, *state.areas[1:]))


def _hold(state: BrainState, free: Any) -> BrainState:
    """Every area keeps its cap but those that are free."""
    held = [a._replace(fixed=~free[number]) for number, a in enumerate(state.areas)]
    return state._replace(areas=tuple(held))


def _round(
    brain: Brain, state: BrainState, active: Any, plastic: Any, refracted: Any
) -> BrainState:
    """One round; without refraction, neurons of earlier assemblies may fire again."""
    wins = [a.wins for a in state.areas]
    rested = [a._replace(wins=jnp.where(refracted, a.wins, 0)) for a in state.areas]
    new = brain.step(state._replace(areas=tuple(rested)), active, plastic)
    back = [a._replace(wins=jnp.where(refracted, a.wins, old)) for a, old in zip(new.areas, wins)]
    return new._replace(areas=tuple(back))


def three_betas(beta: Any) -> tuple[float, float, float]:
    """Those of fibres with the lexicon, between areas, and of chains."""
    given = (beta,) * 3 if isinstance(beta, int | float) else tuple(beta)
    if len(given) != 3:
        raise InvalidValueError(
            "parse",
            "beta",
            "one number, or three: of fibres with the lexicon, between areas, and of chains",
            repr(beta),
        )
    one = spec.Number(above=0.0)
    return tuple(spec.check("parse", "beta", one, x) for x in given)  # type: ignore[return-value]


# --- The dependencies of a sentence, read from a brain that has heard it.


# An assembly is linked with another if at least this share of its neurons fires when the other
# does, and is a word if at least this share of the word's neurons fires.
_LINKED, _WORD = 0.5, 0.75


class Dependency(NamedTuple):
    """A dependent, its head, and how it depends on it.

    Attributes:
        head, dependent: lemmas.
        relation: such as "SUBJ".
    """

    head: str
    dependent: str
    relation: str


class Arc(NamedTuple):
    """A dependency between places of the sentence.

    Attributes:
        head, dependent: places of the words, from 0.
        relation: such as "SUBJ".
    """

    head: int
    dependent: int
    relation: str


class _Node(NamedTuple):
    """An assembly that fires: its area, its word ("": none) and the place of that, what fires."""

    area: str
    word: str
    at: int
    caps: Caps


class Readout:
    """Walks from the assembly of the main verb to those that are linked with it, and on.

    Whether two assemblies are linked is asked of the synapses: the first fires, some neurons of the
    area of the second follow, and if these make the first fire again, and a word of the lexicon,
    then they are an assembly that was linked with it. What follows without a link is other neurons,
    of which neither is true.
    """

    def __init__(
        self,
        grammar: Grammar,
        brain: Brain,
        state: BrainState,
        tasks: Sequence[Task],
        heard: Sequence[Caps],
    ) -> None:
        self.grammar, self.brain, self.state = grammar, brain, state
        self.tasks, self.heard = tasks, heard
        self.found: list[tuple[Dependency, Arc]] = []

    def all(self) -> list[tuple[Dependency, Arc]]:
        """All dependencies, in the order of the words."""
        root, caps = self.grammar.root, caps_of(self.state)
        after = self._fire(caps, self.brain.active(f"{root}->{LEX}"))
        self._walk(_Node(root, self._word(after), self._place(root, caps), caps), None, None)
        return sorted(self.found, key=lambda x: (x[1].dependent, x[1].head))

    def _fire(self, caps: Caps, active: np.ndarray) -> Caps:
        return fire(self.brain, self.state, caps, active)

    def _walk(self, node: _Node, head: _Node | None, gap: _Node | None) -> None:
        """Adds what depends on a word. `head`: its own; `gap`: the word that its clause lacks."""
        silent = node.area in self.grammar.silent
        after = self._fire(node.caps, fan_out(self.grammar, self.brain, node.area))
        seen = set()
        for branch in self.grammar.branches:
            child = (
                self._linked(node, branch.dependent, after) if branch.head == node.area else None
            )
            if child is None:
                continue
            seen.add(branch.dependent)
            if child.area in self.grammar.silent:
                self._walk(child, node, node)
                continue
            above = head if head is not None and (branch.sibling or silent) else node
            self._add(above, child, branch.relation)
            self._walk(child, above, gap if silent else None)
        lacking = [x for x in self.grammar.gaps if x not in seen]
        if gap is not None and lacking and not silent:
            self._add(node, gap, lacking[0])

    def _add(self, head: _Node, dependent: _Node, relation: str) -> None:
        words = Dependency(head.word, dependent.word, relation)
        self.found.append((words, Arc(head.at, dependent.at, relation)))

    def _linked(self, node: _Node, area: str, after: Caps) -> _Node | None:
        """The assembly in an area that is linked with a node, or None."""
        back = self._fire(after, answer(self.grammar, self.brain, area, node.area))
        here = self.brain.number(node.area)
        if area == node.area:  # a chain leads to another assembly, and not back
            linked = _shared(after[here], node.caps[here]) < _LINKED
        else:
            linked = _shared(back[here], node.caps[here]) >= _LINKED
        silent = area in self.grammar.silent
        word = "" if silent or not linked else self._word(back)
        at = self._place(area, after) if word else -1
        return _Node(area, word, at, after) if linked and (silent or word) else None

    def _word(self, caps: Caps) -> str:
        """The word whose neurons fire in the lexicon; "" if none."""
        lex_k = self.brain.areas[0].k
        counts = np.bincount(caps[0] // lex_k, minlength=len(self.grammar.lemmas))
        best = int(counts.argmax())
        return self.grammar.lemmas[best] if counts[best] >= _WORD * lex_k else ""

    def _place(self, area: str, caps: Caps) -> int:
        """The place of the word after which the same assembly fired in an area."""
        number = self.brain.number(area)
        shares = [
            (_shared(self.heard[phase][number], caps[number]), -phase, task.position)
            for phase, task in enumerate(self.tasks)
            if task.target == area and task.mode == "word"
        ]
        return max(shares)[2]


def _shared(cap: np.ndarray, other: np.ndarray) -> float:
    return float(np.isin(cap, other).mean())


# --- `parse`: the dependencies of a sentence.


class Parse(eqx.Module):
    """What `parse` returns.

    Attributes:
        words: of the sentence.
        dependencies: (head, dependent, relation), as lemmas, in the order of the dependents.
        arcs: the same with places of words.
        brain, state: after the sentence, for those who want to look.
        grammar: by which it was parsed.
    """

    words: tuple[str, ...] = eqx.field(static=True)
    dependencies: tuple[Dependency, ...] = eqx.field(static=True)
    arcs: tuple[Arc, ...] = eqx.field(static=True)
    grammar: Grammar = eqx.field(static=True)
    brain: Brain
    state: BrainState

    def __str__(self) -> str:
        return "\n".join(f"{d.head} - {d.dependent} ({d.relation})" for d in self.dependencies)


@spec.arguments(
    grammar=spec.Of(Grammar),
    n=spec.Whole(1),
    k=spec.Whole(1),
    lex_k=spec.Whole(1),
    p=spec.Number(above=0.0, at_most=1.0),
    rounds=spec.Whole(2),
)
def parse(
    grammar: Grammar,
    sentence: str,
    *,
    key: Any = 0,
    n: int = 10_000,
    k: int = 100,
    p: float = 0.1,
    beta: float | tuple[float, float, float] = (1.0, 0.5, 100.0),
    rounds: int = 20,
    lex_k: int = 20,
) -> Parse:
    """Has a brain hear a sentence, and reads its dependencies from the brain.

    `grammar` such as `parser.english.grammar()`; `sentence` words of the grammar, with spaces;
    `key` the seed of the brain's synapses, an integer or a JAX key; `n` neurons in each area, of
    which `k` fire; `p` the probability of each synapse; `beta` what a weight grows by in a round,
    of fibres with the lexicon, between other areas and of chains (one number: of all); `rounds` of
    each word; `lex_k` neurons of each word in the lexicon.

    A word fires in the lexicon, and its rules open areas and fibres. An assembly forms in the one
    area that the word reaches, in one round; neurons of earlier assemblies there are refracted, so
    each occurrence of a word is an assembly of its own. It is held in the other rounds, in which
    the open fibres link it, in both directions, with the assemblies that fire at their other ends.
    The readout knows only the branches of the grammar: it lets the assembly of the main verb fire,
    then those that are linked with it, and so on.

    A neuron needs some synapses from an assembly that it is linked with: with k * p below about 5,
    dependencies are missed.

    Sentences of up to 12 words share their program, and those of up to 24.

    Raises:
        InvalidValueError: for a word that is not in the grammar, a sentence that the grammar
            rejects (with the word, and the areas and fibres that are closed or at war), a size
            that is out of bounds, or a traced key.

    Note:
        The published program projects a word until its assembly is stable, so a word has one
        assembly in an area however often it occurs there; it remembers which fibres were active,
        for the readout. It keeps one adjective of a noun, and a clause behind an object gets the
        subject of the sentence.

    Reference:
        Mitropolsky, Collins and Papadimitriou (2021), A biologically plausible parser,
        doi:10.1162/tacl_a_00432; clauses: Mitropolsky, Ejaz, Shi, Yannakakis and Papadimitriou
        (2022), arXiv:2206.13217.
    """
    betas = three_betas(beta)
    words, tasks = words_of(grammar, sentence), tasks_of(grammar, sentence)
    with on_host("parse", key=key):
        brain = brain_of(
            grammar,
            n=n,
            k=k,
            lex_k=lex_k,
            p=p,
            beta=betas,
            rounds=rounds_of(tasks, rounds),
        )
        script = script_of(grammar, brain, tasks)
        state, heard = hear(brain, brain.init(key), script, rounds)
        found = Readout(grammar, brain, state, tasks, heard).all()
    if not found and len(words) > 1:
        raise ValueError(
            f"parse: no dependency can be read from {n} neurons with k = {k} and p = {p}: a neuron "
            "needs several synapses from an assembly; ask for k * p of 5 or more"
        )
    dependencies, arcs = tuple(d for d, _ in found), tuple(a for _, a in found)
    return Parse(words, dependencies, arcs, grammar, brain, state)
