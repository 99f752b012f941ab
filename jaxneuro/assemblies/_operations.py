"""The operations of the assembly calculus, as schedules of active fibres.

Each is a pure function of a brain and a state. Those that differ only in their fibres and have
equally many rounds share one compiled program.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32

from .. import spec
from .._arrays import ArrayLike, is_traced
from .._kernels.k_cap import k_cap
from .._numerics.streams import bits, seed_of, stream_key
from .._text import brief
from .._warn import warn
from ..spec import InvalidValueError
from ._brain import Brain
from ._learning import checked_patterns
from ._run import run
from ._state import BrainState

_ROUNDS = spec.Whole()
_NAMES = spec.Items(spec.Name())


@spec.arguments(brain=spec.Of(Brain))
def schedule(
    brain: Brain, *parts: tuple[str | Sequence[str], int]
) -> Bool[np.ndarray, "rounds fibres"]:
    """Active fibres round by round, bool (rounds, F), from names of fibres and numbers of rounds.

    `schedule(brain, (["S->A"], 1), (["S->A", "A->A"], 24))` is the projection of S to A.

    A part with one fibre may have its name alone: `("S->A", 1)`.

    Raises:
        InvalidValueError: for a part that is no such pair, an unknown fibre and a negative number
            of rounds.
    """
    for part in parts:
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise InvalidValueError(
                "schedule",
                "each part",
                'a pair of fibres and rounds, such as schedule(brain, (["S->A"], 5))',
                str(brief(part)),
            )
    rows = [
        np.tile(
            brain.active(*_names(names)),
            (spec.check("schedule", "rounds", _ROUNDS, rounds), 1),
        )
        for names, rounds in parts
    ]
    return np.concatenate(rows) if rows else np.zeros((0, len(brain.fibres)), bool)


@spec.arguments(brain=spec.Of(Brain), rounds=spec.Whole())
def project(
    brain: Brain,
    state: BrainState,
    source: str | Sequence[str],
    target: str,
    rounds: int,
    plastic: ArrayLike = True,
) -> BrainState:
    """Makes an assembly in `target` of what `source` fires (one name or several).

    In the first round the target hears the source alone, in the others itself as well, if it has a
    fibre onto itself. A source that is an area keeps its cap, if nothing drives it.
    """
    names = [f"{name}->{target}" for name in _names(source)]
    first, again = _first(rounds), _own(brain, [target])
    plan = schedule(brain, (names, first), ([*names, *again], rounds - first))
    _warn_of_nobody("project", brain, state, _names(source))
    return run(brain, state, plan, plastic=plastic)[0]


@spec.arguments(brain=spec.Of(Brain), rounds=spec.Whole())
def reciprocal_project(
    brain: Brain, state: BrainState, source: str, target: str, rounds: int
) -> BrainState:
    """Makes an assembly in `target` that also excites the one in `source`, which stays as it is.

    The source is fixed meanwhile: its synapses from the target learn. It is released at the end.
    """
    forth, back = f"{source}->{target}", f"{target}->{source}"
    first = _first(rounds)
    plan = schedule(
        brain, ([forth], first), ([forth, back, *_own(brain, [target])], rounds - first)
    )
    state = brain.fix(state, source)
    return brain.release(run(brain, state, plan)[0], source)


@spec.arguments(brain=spec.Of(Brain), areas=_NAMES, rounds=spec.Whole(), stimuli=_NAMES)
def associate(
    brain: Brain,
    state: BrainState,
    areas: Sequence[str],
    target: str,
    rounds: int,
    stimuli: Sequence[str] = (),
) -> BrainState:
    """Brings the assemblies that two areas project into `target` closer: they fire together.

    `stimuli` keep the areas firing; each excites all areas onto which it has a fibre.
    """
    return run(brain, state, _together(brain, areas, target, rounds, stimuli, back=False))[0]


@spec.arguments(brain=spec.Of(Brain), areas=_NAMES, rounds=spec.Whole(), stimuli=_NAMES)
def merge(
    brain: Brain,
    state: BrainState,
    areas: Sequence[str],
    target: str,
    rounds: int,
    stimuli: Sequence[str] = (),
) -> BrainState:
    """Makes one assembly in `target` of those of several areas, which it also excites."""
    return run(brain, state, _together(brain, areas, target, rounds, stimuli, back=True))[0]


def _together(
    brain: Brain,
    areas: Sequence[str],
    target: str,
    rounds: int,
    stimuli: Sequence[str],
    back: bool,
) -> Bool[np.ndarray, "rounds fibres"]:
    driven = [f"{s}->{a}" for s in stimuli for a in areas if f"{s}->{a}" in brain.fibre_names]
    silent = [s for s in stimuli if not any(f.startswith(f"{s}->") for f in driven)]
    if silent:
        raise InvalidValueError(
            "", "stimuli", f"one with a fibre onto one of {list(areas)}", str(silent)
        )
    forth = [*driven, *_own(brain, areas), *(f"{a}->{target}" for a in areas)]
    later = [*forth, *_own(brain, [target]), *(f"{target}->{a}" for a in areas if back)]
    first = _first(rounds)
    return schedule(brain, (forth, first), (later, rounds - first))


@spec.arguments(brain=spec.Of(Brain), fraction=spec.FRACTION, rounds=spec.Whole())
def pattern_complete(
    brain: Brain,
    state: BrainState,
    area: str,
    key: Any,
    fraction: float = 0.5,
    rounds: int = 5,
    plastic: ArrayLike = True,
) -> BrainState:
    """Fires a random part of the cap of an area alone, and lets the area complete it.

    `fraction` of the k neurons are chosen, a number that does not depend on the key.

    Raises:
        InvalidValueError: for a fraction outside [0, 1], and an area without a fibre onto itself.
    """
    _warn_of_nobody("pattern_complete", brain, state, [area])
    state = brain.with_cap(state, area, part_of(brain, state, area, key, fraction))
    plan = schedule(brain, ([f"{area}->{area}"], rounds))
    return run(brain, state, plan, plastic=plastic)[0]


def _warn_of_nobody(what: str, brain: Brain, state: Any, sources: Sequence[str]) -> None:
    """Warns where all sources are areas without a cap, so that nothing will fire."""
    if not isinstance(state, BrainState):
        return
    areas = {area.name: of.fired for area, of in zip(brain.areas, state.areas)}
    fired = [areas.get(name, True) for name in sources]
    # By NumPy: inside `jit` what JAX makes of a known array is traced.
    if fired and not any(is_traced(x) or np.any(np.asarray(x)) for x in fired):
        names = " and ".join(map(repr, sources))
        warn(
            f"{what}: nobody fires in {names}, so that nothing happens. Give a cap first: "
            "brain.with_cap(state, area, neurons), or project a stimulus into it"
        )


@spec.arguments(brain=spec.Of(Brain), fraction=spec.FRACTION)
def part_of(
    brain: Brain, state: BrainState, area: str, key: Any, fraction: float
) -> Int32[Array, " m"]:
    """A random part of the cap of an area: int32 (round(fraction k),), ascending.

    Where fewer neurons fire than that, the rest is -1, nobody."""
    k = brain.areas[brain.number(area)].k
    size = round(fraction * k)
    if size == 0:
        return jnp.zeros(0, jnp.int32)
    seed = jnp.asarray(seed_of(key))
    word = bits(stream_key(seed, area, "part"), jnp.arange(k, dtype=jnp.uint32), jnp.uint32(0))[0]
    cap = brain.cap(state, area)
    return cap[k_cap(jnp.where(cap < 0, 0, word), size)]


@spec.arguments(brain=spec.Of(Brain), rounds=spec.Whole())
def separate(
    brain: Brain, state: BrainState, source: str, target: str, caps: ArrayLike, rounds: int
) -> tuple[BrainState, Int32[Array, "caps k"]]:
    """Projects several caps of an area one after the other: the assemblies, int32 (caps, k).

    `caps` int (caps, m), -1 for nobody. What two of them share, their assemblies share less of;
    see `overlap`.
    """
    names, own = [f"{source}->{target}"], _own(brain, [target])
    first = _first(rounds)
    plan = schedule(brain, (names, first), ([*names, *own], rounds - first))

    def one(state: BrainState, cap: Int32[Array, " m"]) -> tuple[BrainState, Int32[Array, " k"]]:
        state = brain.with_cap(state, source, cap)
        state = run(brain, state, plan)[0]
        return state, brain.cap(state, target)

    caps = checked_patterns("separate: caps", brain, source, caps, "caps, m")
    return lax.scan(one, state, jnp.asarray(caps, jnp.int32))


def _names(source: str | Sequence[str]) -> list[str]:
    return [source] if isinstance(source, str) else list(source)


def _first(rounds: int) -> int:
    """The rounds in which a target does not hear itself."""
    return min(1, spec.check("", "rounds", spec.Whole(), rounds))


def _own(brain: Brain, areas: Sequence[str]) -> list[str]:
    """The fibres of areas onto themselves, of those that have one."""
    return [f"{a}->{a}" for a in areas if f"{a}->{a}" in brain.fibre_names]
