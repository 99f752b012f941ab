"""Patterns as caps, and classes that areas learn from them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Integer

from .. import spec
from .._arrays import ArrayLike, is_traced
from .._kernels.k_cap import k_cap
from .._warn import warn
from ..spec import InvalidValueError
from ._brain import Brain
from ._state import BrainState, changed, check_room, on_host, silent

# --- Patterns of firing neurons: given as sets, compared as caps.


@spec.arguments(size=spec.Maybe(spec.Whole(1)))
def patterns(fires: ArrayLike, size: int | None = None) -> Int32[np.ndarray, "*shape size"]:
    """Which neurons fire, as `Brain.with_cap` takes them: int32 (..., size), from bool (..., n).

    The neurons ascend; the rest of a row is -1, nobody. `size` is that of the largest pattern if
    it is not given. On the host.

    Raises:
        InvalidValueError: for an array that is not bool, and a `size` below that of a pattern.
    """
    with on_host("patterns", fires=fires):
        fires = np.asarray(fires)
    if fires.dtype != bool or fires.ndim < 1:
        raise InvalidValueError(
            "patterns", "fires", "bool (..., n)", f"{fires.dtype} {fires.shape}"
        )
    most = int(fires.sum(-1).max(initial=0))
    size = max(most, 1) if size is None else size
    if most > size:
        raise InvalidValueError(
            "patterns", "size", f"at least {most}, that of the largest pattern", str(size)
        )
    order = np.argsort(~fires, axis=-1, kind="stable")[..., :size].astype(np.int32)
    there = np.take_along_axis(fires, order, -1)
    out = np.full((*fires.shape[:-1], size), -1, np.int32)
    out[..., : order.shape[-1]] = np.where(there, order, -1)
    return out


_NEURONS = spec.Whole(1, 2**30)  # as of an area


@spec.arguments(k=_NEURONS, n=_NEURONS)
def common_neurons(caps: ArrayLike, k: int, n: int) -> Int32[Array, " k"]:
    """The k of n neurons that are in the most of some caps, ascending; of equal ones the lower.

    `caps` int32 (count, k') as `Brain.cap` returns them: -1 is nobody. Returns int32 (k,).
    """
    if k > n:
        raise InvalidValueError("common_neurons", "k", f"at most n = {n}", str(k))
    caps = jnp.asarray(_checked_caps("common_neurons: caps", caps, n), jnp.int32)
    times = jnp.zeros(n, jnp.int32).at[_counted(caps, n)].add(1, mode="drop")
    return k_cap(times, k)


@spec.arguments(n=_NEURONS)
def overlaps(caps: ArrayLike, assemblies: ArrayLike, n: int) -> Float32[Array, "*shape classes"]:
    """The fraction of each assembly that is in each cap: float32 (..., classes).

    `caps` int32 (..., k) and `assemblies` int32 (classes, k') of an area of n neurons, as
    `Brain.cap` returns them: each neuron once, -1 nobody. Warns where an assembly, or every cap, is
    nobody, outside of `jit`.

    Raises:
        InvalidValueError: for neurons that are none of the n, or stand twice in a row.
    """
    caps = _checked_caps("overlaps: caps", caps, n)
    assemblies = _checked_caps("overlaps: assemblies", assemblies, n, axes=2)
    _warn_of_nobody(*(None if is_traced(x) else np.asarray(x) for x in (caps, assemblies)))
    caps, assemblies = jnp.asarray(caps, jnp.int32), jnp.asarray(assemblies, jnp.int32)
    member = jax.vmap(lambda one: jnp.zeros(n, jnp.int32).at[_counted(one, n)].set(1, mode="drop"))
    shared = member(assemblies).T.at[_counted(caps, n)].get(mode="fill", fill_value=0)
    return jnp.sum(shared, axis=-2).astype(jnp.float32) / jnp.float32(assemblies.shape[-1])


def _warn_of_nobody(
    caps: Integer[np.ndarray, "*shape k"] | None,
    assemblies: Integer[np.ndarray, "classes size"] | None,
) -> None:
    none = [] if assemblies is None else np.flatnonzero((assemblies < 0).all(-1)).tolist()
    if none:
        warn(f"overlaps: nobody fires in assembly {none[0]} (all -1), so that no cap shares any")
    elif caps is not None and caps.size and (caps < 0).all():
        warn("overlaps: nobody fires in any cap (all -1), so that all overlaps are 0")


def _counted(neurons: Int32[Array, "*shape"], n: int) -> Int32[Array, "*shape"]:
    return jnp.where(neurons < 0, n, neurons)


def checked_patterns(
    what: str, brain: Brain, source: str, given: Any, axes: str
) -> Int32[Array, "*shape m"]:
    """The patterns as int32, or `ValueError` unless they may be caps of an area.

    `axes` are the names of the axes, separated by commas.
    """
    area = brain.areas[brain.number(source)]
    if not is_traced(given):
        given = np.asarray(given)
    shape, rank = given.shape, len(axes.split(","))
    if not jnp.issubdtype(given.dtype, jnp.integer) or len(shape) != rank or shape[-1] > area.k:
        raise InvalidValueError(
            "",
            what,
            (
                f"whole numbers ({axes}), the firing neurons of area {source!r}, at most its k = "
                f"{area.k} (-1: nobody) (see patterns(...))"
            ),
            f"{given.dtype} {shape}",
        )
    if 0 in shape:
        raise InvalidValueError("", what, "not empty", f"shape {shape}")
    if isinstance(given, np.ndarray):
        _check_neurons(what, given, area.n)
        given = given.astype(np.int32)
    return jnp.asarray(given, jnp.int32)


def _checked_caps(what: str, given: Any, n: int, axes: int = 1) -> Any:
    """Caps as they are given; `InvalidValueError` for known ones that are none of n neurons."""
    if is_traced(given):
        return given
    x = np.asarray(given)
    if x.dtype.kind not in "iu" or x.ndim < axes:
        must = f"whole numbers of at least {axes} axes, as Brain.cap returns them"
        raise InvalidValueError("", what, must, f"{x.dtype} {x.shape}")
    if x.size:
        _check_neurons(what, x, n)
    return given


def _check_neurons(what: str, given: Integer[np.ndarray, "*shape m"], n: int) -> None:
    if given.min() < -1 or given.max() >= n:
        raise InvalidValueError(
            "",
            what,
            f"neurons from 0 to {n - 1:,}, or -1 for nobody",
            f"{given.min()} to {given.max()}",
        )
    ordered = np.sort(given, axis=-1)
    if ((ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)).any():
        raise ValueError(f"{what}: a neuron must stand once in a pattern; one has it twice")


# --- Classes of stimuli: an assembly forms for each, and new samples are told apart by overlap.


@spec.arguments(brain=spec.Of(Brain))
def learn_classes(
    brain: Brain, state: BrainState, source: str, target: str, samples: ArrayLike
) -> tuple[BrainState, Int32[Array, "classes presentations k"]]:
    """Presents samples of one class after the other; an assembly forms in the target for each.

    Before each class nobody fires in the target. A sample fires in the source for one round with
    learning. If the target has homeostasis, it rests while the target learns: weights are divided
    by their sums when they are read, as in the published program. If it is refracted, only the
    last cap of each class counts: with a large refraction no neuron belongs to two classes.

    `samples` int (classes, presentations, m): the neurons of the source that fire, m at most its k;
    -1 is nobody (see `patterns`). Returns the state, and the caps of the target: int32 (classes,
    presentations, k). The last of each class is its assembly, or see `class_assemblies`.

    May be called inside `jit` and `scan`, and vmapped over states and samples.

    Raises:
        InvalidValueError: for unknown areas, no fibre from source to target, samples that are no
            such patterns, and more rounds than the brain remembers.

    Reference:
        Dabagia, Papadimitriou and Vempala (2022), "Assemblies of neurons learn to classify
        well-separated distributions", COLT, arXiv:2110.03171.
    """
    brain.number(target)
    brain.active(f"{source}->{target}")
    axes = "classes, presentations, m"
    samples = checked_patterns("learn_classes: samples", brain, source, samples, axes)
    check_room("learn_classes", brain, state, samples.shape[0] * samples.shape[1])
    return _learn(brain, state, samples, source, target)


@spec.arguments(brain=spec.Of(Brain), rounds=spec.Whole(1))
def responses(
    brain: Brain, state: BrainState, source: str, target: str, samples: ArrayLike, rounds: int = 1
) -> Int32[Array, "count k"]:
    """The cap of the target for each sample, starting from nobody: int32 (count, k).

    Nothing is learned, no neuron is refracted, and homeostasis acts if the target has it. The
    sample fires in all rounds, and from the second on what fired last in the target, where that has
    a fibre to itself.

    `samples` int (count, m), as in `learn_classes`; `rounds` at least 1. All samples are one batch.
    May be called inside `jit`, and vmapped over states.

    Raises:
        InvalidValueError: as `learn_classes`.

    Reference:
        Dabagia, Papadimitriou and Vempala (2022), COLT, arXiv:2110.03171.
    """
    brain.number(target)
    brain.active(f"{source}->{target}")
    samples = checked_patterns("responses: samples", brain, source, samples, "count, m")
    count = rounds
    return _responses(brain, state, samples, source, target, count)


@spec.arguments(brain=spec.Of(Brain))
def class_assemblies(brain: Brain, target: str, caps: ArrayLike) -> Int32[Array, "classes k"]:
    """The neurons of each class that most often fire for its samples: int32 (classes, k).

    `caps` int32 (classes, count, k) of the target, from `responses` or `learn_classes`.
    """
    area = brain.areas[brain.number(target)]
    return jax.vmap(lambda some: common_neurons(some, area.k, area.n))(jnp.asarray(caps))


@spec.arguments(brain=spec.Of(Brain), rounds=spec.Whole())
def classify(
    brain: Brain,
    state: BrainState,
    source: str,
    target: str,
    samples: ArrayLike,
    assemblies: ArrayLike,
    rounds: int = 1,
) -> Int32[Array, " count"]:
    """The class of each sample: that whose assembly shares most with the cap; int32 (count,).

    Of equal ones the first.

    `samples` int (count, m) and `rounds` as in `responses`; `assemblies` int32 (classes, k).

    Raises:
        InvalidValueError: as `learn_classes`.

    Reference:
        Dabagia, Papadimitriou and Vempala (2022), COLT, arXiv:2110.03171.
    """
    caps = responses(brain, state, source, target, samples, rounds)
    shared = overlaps(caps, assemblies, brain.areas[brain.number(target)].n)
    return jnp.argmax(shared, axis=-1).astype(jnp.int32)


def _recurrent(brain: Brain, source: str, target: str) -> Bool[np.ndarray, " fibres"]:
    ends = ((source, target), (target, target))
    return np.array([(f.source, f.target) in ends for f in brain.fibres], bool)


def _balance(brain: Brain, state: BrainState, target: str, acts: bool) -> BrainState:
    there = brain.areas[brain.number(target)].homeostasis
    return brain.balance(state, target, acts) if there else state


@eqx.filter_jit
def _learn(
    brain: Brain,
    state: BrainState,
    samples: Int32[Array, "classes presentations m"],
    source: str,
    target: str,
) -> tuple[BrainState, Int32[Array, "classes presentations k"]]:
    classes, times, size = samples.shape
    active = _recurrent(brain, source, target)

    number = brain.number(target)
    refracted = brain.areas[number].refraction > 0

    def one(state: BrainState, now: Any) -> tuple[BrainState, Int32[Array, " k"]]:
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
    brain: Brain,
    state: BrainState,
    samples: Int32[Array, "count m"],
    source: str,
    target: str,
    rounds: int,
) -> Int32[Array, "count k"]:
    state = _balance(brain, brain.rest(brain.clear(state, target), target), target, True)
    active = _recurrent(brain, source, target)

    def one(sample: Int32[Array, " m"]) -> Int32[Array, " k"]:
        now = brain.step(
            brain.with_cap(state, source, sample), brain.active(f"{source}->{target}"), False
        )
        if rounds > 1:
            step = lambda now, _: (brain.step(now, active, False), None)  # noqa: E731
            now, _ = lax.scan(step, now, length=rounds - 1)
        return brain.cap(now, target)

    return jax.vmap(one)(samples)
