"""What a brain does to hear a sentence, as arrays: one entry per phase."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._control import Task
from ._grammar import LEX, Grammar

_STEP = 12  # phases are padded to a multiple of this, so that sentences share their programs


class Script(NamedTuple):
    """The phases of a sentence. P are phases, F fibres, A areas.

    **Fields** `word` int32 (P,) which assembly of the lexicon fires (-1: as before); `first` bool
    (P, F) the fibres of the first round, in which an assembly forms, and `later` those of the other
    rounds, in which it is held and linked; `free` bool (P, A) the areas that are not held in the
    first round; `plastic` bool (P,) whether synapses learn; `refracted` bool (P,) whether neurons
    of earlier assemblies are kept from firing again.
    """

    word: Any
    first: Any
    later: Any
    free: Any
    plastic: Any
    refracted: Any


def phases_of(tasks: Sequence[Task]) -> int:
    """How many phases the script of a sentence has, with those in which nothing happens."""
    return _STEP * -(-len(tasks) // _STEP)


def script_of(grammar: Grammar, brain: Any, tasks: Sequence[Task]) -> Script:
    """The tasks of a sentence as arrays, padded with phases in which nothing happens."""
    n = phases_of(tasks)
    fibres, areas = len(brain.fibre_names), len(brain.area_names)
    out = Script(
        word=np.full(n, -1, np.int32),
        first=np.zeros((n, fibres), bool),
        later=np.zeros((n, fibres), bool),
        free=np.zeros((n, areas), bool),
        plastic=np.ones(n, bool),
        refracted=np.ones(n, bool),
    )
    lemmas = grammar.lemmas
    for number, task in enumerate(tasks):
        chain = [f"{x}->{task.target}" for x in task.sources]
        both = [
            f"{a}->{b}"
            for x in task.sources
            if x != task.target
            for a, b in ((x, task.target), (task.target, x))
        ]
        out.first[number] = brain.active(*(both if task.mode == "link" else chain))
        if task.mode != "recall":
            out.later[number] = brain.active(*both)
        if task.mode != "link":
            out.free[number, brain.number(task.target)] = True
        out.plastic[number] = out.refracted[number] = task.mode != "recall"
        if task.mode == "word":
            out.word[number] = lemmas.index(task.lemma)
    return out


def fan_out(grammar: Grammar, brain: Any, area: str) -> np.ndarray:
    """The fibres from an area to where its dependents are."""
    ends = [b.dependent for b in grammar.branches if b.head == area]
    return brain.active(*dict.fromkeys(f"{area}->{x}" for x in ends))


def answer(grammar: Grammar, brain: Any, area: str, head: str) -> np.ndarray:
    """The fibres from a dependent to the lexicon and back to the area of its head."""
    names = [f"{area}->{LEX}"] if area not in grammar.silent else []
    names += [f"{area}->{head}"] if head not in ("", area) else []
    return brain.active(*names)
