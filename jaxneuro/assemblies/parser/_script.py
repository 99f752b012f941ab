"""What a brain does to hear a sentence, as arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._control import Task
from ._grammar import LEX, Grammar

_STEP = 12  # phases


class Do(NamedTuple):
    """What a brain does in a phase. F are fibres, A areas.

    **Fields** `word` int32 which assembly of the lexicon fires (-1: as before); `first` bool (F,)
    the fibres of the first round, in which an assembly forms, and `later` those of the other
    rounds, in which it is held and linked; `free` bool (A,) the areas that are not held in the
    first round; `plastic` whether synapses learn; `refracted` whether neurons of earlier assemblies
    are kept from firing again.
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
