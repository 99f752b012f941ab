"""Sequences of assemblies: memorised item by item, recalled from the first."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int32, Integer

from .. import spec
from .._arrays import ArrayLike
from ..spec import InvalidValueError
from ._brain import Brain
from ._learning import checked_patterns
from ._state import BrainState, check_room, silent


@spec.arguments(brain=spec.Of(Brain), presentations=spec.Whole(1))
def memorise(
    brain: Brain,
    state: BrainState,
    source: str,
    target: str,
    items: ArrayLike,
    presentations: int = 1,
    *,
    scaffold: str | None = None,
) -> tuple[BrainState, Int32[Array, "presentations length k"]]:
    """Presents a sequence of items several times, so that the target learns to go through it.

    Before each presentation nobody fires in the target. Then each item fires in the source for one
    round with learning, and the target fires from it and from what it fired last; so do synapses
    from the assembly of an item to that of the next grow. With a `scaffold`, an area that target
    and scaffold drive in turn, about half the presentations do.

    `items` int (length, m): the neurons of the source that each item is, m at most its k; -1 is
    nobody. Returns the state, and the caps of the target: int32 (presentations, length, k). Those
    of the first presentation are the assemblies that `recall` goes through.

    May be called inside `jit` and `scan`, and vmapped over states.

    Raises:
        InvalidValueError: for unknown areas, missing fibres (source -> target, target -> target,
            with a scaffold also target -> scaffold -> target), items that are no such patterns, and
            more rounds than the brain remembers.

    Reference:
        Dabagia, Papadimitriou and Vempala (2025), Computation with sequences of assemblies in a
        model of the brain, Neural Computation 37 (1), arXiv:2306.03812;
        https://github.com/mdabagia/nemo.
    """
    areas = _areas(brain, source, target, scaffold)
    items = checked_patterns("memorise: items", brain, source, items, "length, m")
    times = presentations
    check_room("memorise", brain, state, times * items.shape[0])
    return _memorise(brain, state, items, areas, times)


@spec.arguments(brain=spec.Of(Brain), length=spec.Whole(1))
def recall(
    brain: Brain,
    state: BrainState,
    source: str,
    target: str,
    first: ArrayLike,
    length: int,
    *,
    scaffold: str | None = None,
) -> tuple[BrainState, Int32[Array, "length k"]]:
    """What the target fires after one item alone has fired in the source, for one round.

    Nothing is learned. At the start nobody fires in the target and the scaffold.

    `first` int (m,) the neurons of the item; `length` rounds, at least 1. Returns the state, and
    the caps of the target: int32 (length, k).

    Raises:
        InvalidValueError: as `memorise`.

    Reference:
        Dabagia, Papadimitriou and Vempala (2025), Computation with sequences of assemblies in a
        model of the brain, Neural Computation 37 (1), arXiv:2306.03812.
    """
    areas = _areas(brain, source, target, scaffold)
    first = checked_patterns("recall: first", brain, source, first, "m")
    return _recall(brain, state, first, areas, length)


def _areas(brain: Brain, source: str, target: str, scaffold: str | None) -> tuple[str, ...]:
    """Source, target and scaffold, if the fibres between them exist."""
    needed = [f"{source}->{target}", f"{target}->{target}"]
    names = [source, target]
    if scaffold is not None:
        needed += [f"{target}->{scaffold}", f"{scaffold}->{target}"]
        names.append(scaffold)
    for name in names:
        brain.number(name)
    if len(set(names)) < len(names):
        raise InvalidValueError("", "source, target and scaffold", "different areas", str(names))
    brain.active(*needed)
    return tuple(names)


def _fibres(
    brain: Brain, areas: tuple[str, ...]
) -> tuple[Bool[np.ndarray, " fibres"], Bool[np.ndarray, " fibres"]]:
    """The fibres that are active with an item, and without: those between all areas but the
    source, which only its items make fire."""
    _, *others = areas
    within = [f.source in areas and f.target in others for f in brain.fibres]
    inner = [f.source in others and f.target in others for f in brain.fibres]
    return np.array(within, bool), np.array(inner, bool)


@eqx.filter_jit
def _memorise(
    brain: Brain,
    state: BrainState,
    items: Int32[Array, "length m"],
    areas: tuple[str, ...],
    times: int,
) -> tuple[BrainState, Int32[Array, "presentations length k"]]:
    length = items.shape[0]
    source, target = areas[:2]
    active = _fibres(brain, areas)[0]

    def one(state: BrainState, i: Integer[Array, ""]) -> tuple[BrainState, Int32[Array, " k"]]:
        state = silent(brain, state, areas[1:], i == 0)
        state = brain.step(brain.with_cap(state, source, items[i]), active)
        return state, brain.cap(state, target)

    state, caps = lax.scan(one, state, jnp.asarray(np.tile(np.arange(length), times)))
    return state, caps.reshape(times, length, -1)


@eqx.filter_jit
def _recall(
    brain: Brain,
    state: BrainState,
    first: Int32[Array, " m"],
    areas: tuple[str, ...],
    length: int,
) -> tuple[BrainState, Int32[Array, "length k"]]:
    with_item, without = _fibres(brain, areas)
    active = np.tile(without, (length, 1))
    active[0] = with_item
    state = silent(brain, state, areas[1:], True)
    state = brain.with_cap(state, areas[0], first)

    def one(
        state: BrainState, active: Bool[Array, " fibres"]
    ) -> tuple[BrainState, Int32[Array, " k"]]:
        state = brain.step(state, active, False)
        return state, brain.cap(state, areas[1])

    return lax.scan(one, state, jnp.asarray(active))
