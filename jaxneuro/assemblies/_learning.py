"""Classes of stimuli: an assembly forms for each, and new samples are told apart by overlap."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import check_count, names_checked
from ._areas import changed, silent
from ._brain import Brain
from ._patterns import checked_patterns, common_neurons, overlaps
from ._room import check_room
from ._state import BrainState


@names_checked()
def learn_classes(
    brain: Brain, state: BrainState, source: str, target: str, samples: Any
) -> tuple[BrainState, jax.Array]:
    """Presents samples of one class after the other; an assembly forms in the target for each.

    Before each class nobody fires in the target. A sample fires in the source for one round with
    learning. If the target has homeostasis, it rests while the target learns: weights are divided
    by their sums when they are read, as in the published program. If it is refracted, only the
    last cap of each class counts: with a large refraction no neuron belongs to two classes.

    **Step** `samples` int (classes, presentations, m): the neurons of the source that fire, m at
    most its k; -1 is nobody (see `patterns`). Returns the state, and the caps of the target: int32
    (classes, presentations, k). The last of each class is its assembly, or see `class_assemblies`.

    May be called inside `jit` and `scan`, and vmapped over states and samples.

    **Raises** `ValueError` for unknown areas, no fibre from source to target, samples that are no
    such patterns, and more rounds than the brain remembers.

    **Source** Dabagia, Papadimitriou and Vempala (2022), "Assemblies of neurons learn to classify
    well-separated distributions", COLT, arXiv:2110.03171.
    """
    brain.number(target)
    brain.active(f"{source}->{target}")
    axes = "classes, presentations, m"
    samples = checked_patterns("learn_classes: samples", brain, source, samples, axes)
    check_room("learn_classes", brain, state, samples.shape[0] * samples.shape[1])
    return _learn(brain, state, samples, source, target)


@names_checked()
def responses(
    brain: Brain, state: BrainState, source: str, target: str, samples: Any, rounds: int = 1
) -> jax.Array:
    """The cap of the target for each sample, starting from nobody: int32 (count, k).

    Nothing is learned, no neuron is refracted, and homeostasis acts if the target has it. The
    sample fires in all rounds, and from the second on what fired last in the target, where that has
    a fibre to itself.

    **Step** `samples` int (count, m), as in `learn_classes`; `rounds` at least 1. All samples are
    one batch. May be called inside `jit`, and vmapped over states.

    **Raises** `ValueError` as `learn_classes`.

    **Source** Dabagia, Papadimitriou and Vempala (2022), COLT, arXiv:2110.03171.
    """
    brain.number(target)
    brain.active(f"{source}->{target}")
    samples = checked_patterns("responses: samples", brain, source, samples, "count, m")
    count = check_count("responses: rounds", rounds, at_least=1)
    return _responses(brain, state, samples, source, target, count)


@names_checked()
def class_assemblies(brain: Brain, target: str, caps: Any) -> jax.Array:
    """The neurons of each class that most often fire for its samples: int32 (classes, k).

    **Step** `caps` int32 (classes, count, k) of the target, from `responses` or `learn_classes`.
    """
    area = brain.areas[brain.number(target)]
    return jax.vmap(lambda some: common_neurons(some, area.k, area.n))(jnp.asarray(caps))


@names_checked()
def classify(
    brain: Brain,
    state: BrainState,
    source: str,
    target: str,
    samples: Any,
    assemblies: Any,
    rounds: int = 1,
) -> jax.Array:
    """The class of each sample: that whose assembly shares most with the cap; int32 (count,).

    Of equal ones the first.

    **Step** `samples` int (count, m) and `rounds` as in `responses`; `assemblies` int32
    (classes, k).

    **Raises** `ValueError` as `learn_classes`.

    **Source** Dabagia, Papadimitriou and Vempala (2022), COLT, arXiv:2110.03171.
    """
    caps = responses(brain, state, source, target, samples, rounds)
    shared = overlaps(caps, assemblies, brain.areas[brain.number(target)].n)
    return jnp.argmax(shared, axis=-1).astype(jnp.int32)


def _recurrent(brain: Brain, source: str, target: str) -> np.ndarray:
    ends = ((source, target), (target, target))
    return np.array([(f.source, f.target) in ends for f in brain.fibres], bool)


def _balance(brain: Brain, state: BrainState, target: str, acts: bool) -> BrainState:
    there = brain.areas[brain.number(target)].homeostasis
    return brain.balance(state, target, acts) if there else state


@eqx.filter_jit
def _learn(
    brain: Brain, state: BrainState, samples: jax.Array, source: str, target: str
) -> tuple[BrainState, jax.Array]:
    classes, times, size = samples.shape
    active = _recurrent(brain, source, target)

    number = brain.number(target)
    refracted = brain.areas[number].refraction > 0

    def one(state: BrainState, now: Any) -> tuple[BrainState, jax.Array]:
        sample, starts, ends = now
        state = silent(brain, state, (target,), starts)
        wins = state.areas[number].wins
        state = brain.step(brain.with_cap(state, source, sample), active)
        cap = brain.cap(state, target)
        who, counts = jnp.where(cap < 0, wins.shape[0], cap), ends.astype(jnp.int32)
        if refracted:  # wins count once for each class: those of its last round
            state = changed(state, number, wins=wins.at[who].add(counts, mode="drop"))
        return state, cap

    place = np.tile(np.arange(times), classes)
    each = (samples.reshape(-1, size), jnp.asarray(place == 0), jnp.asarray(place == times - 1))
    state, caps = lax.scan(one, _balance(brain, state, target, False), each)
    return _balance(brain, state, target, True), caps.reshape(classes, times, -1)


@eqx.filter_jit
def _responses(
    brain: Brain, state: BrainState, samples: jax.Array, source: str, target: str, rounds: int
) -> jax.Array:
    state = _balance(brain, brain.rest(brain.clear(state, target), target), target, True)
    active = _recurrent(brain, source, target)

    def one(sample: jax.Array) -> jax.Array:
        now = brain.step(
            brain.with_cap(state, source, sample), brain.active(f"{source}->{target}"), False
        )
        if rounds > 1:
            step = lambda now, _: (brain.step(now, active, False), None)  # noqa: E731
            now, _ = lax.scan(step, now, length=rounds - 1)
        return brain.cap(now, target)

    return jax.vmap(one)(samples)
