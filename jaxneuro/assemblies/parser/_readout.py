"""The dependencies of a sentence, read from a brain that has heard it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._brain import Brain
from .._state import BrainState
from ._control import Task
from ._grammar import LEX, Grammar
from ._parser import Caps, caps_of, fire
from ._script import answer, fan_out

# An assembly is linked with another if at least this share of its neurons fires when the other
# does, and is a word if at least this share of the word's neurons fires.
_LINKED, _WORD = 0.5, 0.75


class Dependency(NamedTuple):
    """A dependent, its head, and how it depends on it.

    **Fields** `head` and `dependent` lemmas; `relation` such as "SUBJ".
    """

    head: str
    dependent: str
    relation: str


class Arc(NamedTuple):
    """A dependency between places of the sentence.

    **Fields** `head`, `dependent` places of the words, from 0; `relation`.
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
