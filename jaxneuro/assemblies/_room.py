"""Whether a brain has room to remember some rounds, asked before they are run."""

from typing import Any

import numpy as np

from .._checks import is_traced
from .._text import counted


def check_room(what: str, brain: Any, state: Any, rounds: int) -> None:
    """Raises `ValueError` if a brain cannot remember so many more rounds with learning."""
    past = _past(state)
    if past + rounds > brain.rounds:
        some = any(area.sampled for area in brain.areas)
        kind = " with learning, or in which a sampled area fires," if some else " with learning"
        raise ValueError(
            f"{what} takes {counted(rounds, 'round')}{kind} after {past} that the brain remembers, "
            f"and it can remember rounds={brain.rounds}: ask for Brain(..., "
            f"rounds={past + rounds}){'' if some else ', or let nothing learn: plastic=False'}"
        )


def check_room_of_run(what: str, brain: Any, state: Any, active: Any, plastic: Any) -> None:
    """The same for rounds with fibres that are active, (rounds, F), and whether each learns.

    What is traced counts as little as it may: of a state what it remembers, of fibres and learning
    all. Areas of a traced state count as firing.
    """
    if is_traced(active):
        return
    wires = brain.wires
    learns = False if is_traced(plastic) else np.asarray(plastic)
    sampled = np.array([w.target.sampled for w in wires], bool)
    there = np.asarray(active) & np.array([w.p > 0 for w in wires], bool)
    written = there & (sampled | np.broadcast_to(learns, len(there))[:, None])
    if _past(state) + int(written.any(1).sum()) <= brain.rounds:
        return
    source = np.array([-1 if w.number is None else w.number for w in wires])
    into = np.array([w.into for w in wires])
    fires = np.array([*(_known(a.fired, True) for a in state.areas), True])  # last: the stimuli
    moves = ~np.array([_known(a.fixed, False) for a in state.areas])
    rounds = 0
    for now, marked in zip(there, written):
        on = fires[source]
        rounds += bool((marked & on).any())
        reached = into[now & on]
        fires[reached] |= moves[reached]
    check_room(what, brain, state, rounds)


def _past(state: Any) -> int:
    return 0 if is_traced(state.remembered) else int(np.max(np.asarray(state.remembered)))


def _known(value: Any, otherwise: bool) -> bool:
    return otherwise if is_traced(value) else bool(value)
