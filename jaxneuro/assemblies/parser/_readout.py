"""The dependencies of a sentence, read from a brain that has heard it."""

from typing import Any, NamedTuple

import numpy as np

from .._brain import Brain
from .._state import BrainState
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


class _Node(NamedTuple):
    """An assembly that fires: its area, its word ("": none), and what fires everywhere."""

    area: str
    word: str
    caps: Caps


class Readout:
    """Walks from the assembly of the main verb to those that are linked with it, and on.

    Whether two assemblies are linked is asked of the synapses: the first fires, some neurons of the
    area of the second follow, and if these make the first fire again, and a word of the lexicon,
    then they are an assembly that was linked with it. What follows without a link is other neurons,
    of which neither is true.
    """

    def __init__(self, grammar: Grammar, brain: Brain, state: BrainState) -> None:
        self.grammar, self.brain, self.state = grammar, brain, state
        self.found: list[Dependency] = []

    def all(self) -> tuple[Dependency, ...]:
        """All dependencies, in the order in which they are found."""
        root = self.grammar.root
        caps = self._fire(caps_of(self.state), self.brain.active(f"{root}->{LEX}"))
        self._walk(_Node(root, self._word(caps), caps_of(self.state)), "", "")
        return tuple(self.found)

    def _fire(self, caps: Caps, active: np.ndarray) -> Caps:
        return fire(self.brain, self.state, caps, active)

    def _walk(self, node: _Node, head: str, gap: str) -> None:
        """Adds what depends on a word. `head` its own head; `gap` the word that its clause lacks."""
        branches = [b for b in self.grammar.branches if b.head == node.area]
        seen, children = set(), []
        after = self._fire(node.caps, fan_out(self.grammar, self.brain, node.area))
        for branch in branches:
            child = self._linked(node, branch.dependent, after)
            if child is not None:
                seen.add(branch.dependent)
                children.append((branch, child))
        for branch, child in children:
            if child.area in self.grammar.silent:
                self._walk(child, node.word, node.word)
                continue
            above = head if branch.sibling or node.area in self.grammar.silent else node.word
            self.found.append(Dependency(above, child.word, branch.relation))
            self._walk(child, above, gap if node.area in self.grammar.silent else "")
        lacking = [x for x in self.grammar.gaps if x not in seen]
        if gap and lacking and node.area not in self.grammar.silent:
            self.found.append(Dependency(node.word, gap, lacking[0]))

    def _linked(self, node: _Node, area: str, after: Caps) -> _Node | None:
        """The assembly in an area that is linked with a node, or None."""
        back = self._fire(after, answer(self.grammar, self.brain, area, node.area))
        here, there = self.brain.number(node.area), self.brain.number(area)
        if area == node.area:  # a chain leads to another assembly, and not back
            linked = _shared(after[here], node.caps[here]) < _LINKED
        else:
            linked = _shared(back[here], node.caps[here]) >= _LINKED
        silent = area in self.grammar.silent
        word = "" if silent or not linked else self._word(back)
        return _Node(area, word, after) if linked and (silent or word) else None

    def _word(self, caps: Caps) -> str:
        """The word whose neurons fire in the lexicon; "" if none."""
        lex_k = self.brain.areas[0].k
        counts = np.bincount(caps[0] // lex_k, minlength=len(self.grammar.lemmas))
        best = int(counts.argmax())
        return self.grammar.lemmas[best] if counts[best] >= _WORD * lex_k else ""


def _shared(cap: np.ndarray, other: np.ndarray) -> float:
    return float(np.isin(cap, other).mean())
