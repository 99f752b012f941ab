"""From a description to a network: groups, receptors, pathways, drawn connections."""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced, unknown
from .._progress import Progress
from .._types import state_variables
from ..numerics import Distribution, check_dt, seed_of
from ..release import Spikes
from ._again import Again, check_again, row_law
from ._check_neuron import check_neuron
from ._check_release import check_releases
from ._columns import Placed, build_table
from ._description import Description
from ._draw import Drawing, longest_delay
from ._drive import Driven, group_stimuli, prepare_stimuli
from ._estimate import check_fits, estimate
from ._fixed_point import find_quanta
from ._group import Group, Initial, initial_state
from ._merge import first_member, merge
from ._network import Network, Pathway
from ._places import Places
from ._plan import Plan, receptor_key
from ._population import Population
from ._projection import is_individual
from ._set import check_grid, check_stable

# Of a build whose progress is shown.
_SHOWN = 10_000_000
# Part of the time that goes into counting connections, before they are written.
_COUNTING = 0.25


def build(
    description: Description,
    key: Any,
    dt: float,
    dtype: Any = jnp.float32,
    *,
    weights: Any = None,
    deterministic: bool = False,
    progress: bool | None = None,
) -> Network:
    """Draws the connections of a description and lays everything out for speed.

    `key` an integer or a JAX key (the same key gives the same network, whatever else the
    description holds and in whatever order); `dt` [ms] the time step; `dtype` float32, or
    float64 with `jax_enable_x64`. `weights` is how individual weights are stored: as `dtype`
    (None), or as bfloat16, rounded to the nearest, in half the memory. `deterministic` counts
    arrivals in whole quanta (see `FixedPoint`): then runs on a GPU repeat bit for bit, which
    floats do not there, and nothing can be differentiated. `progress` shows a bar (default:
    for more than 10 million synapses, where stderr is a terminal).

    Connections are drawn on all cores that the process may use; their bits do not depend on
    it. Ctrl-C stops a build and leaves nothing behind.

    **Raises** `ValueError`, before anything is drawn, for a key, dt or dtype of the wrong
    kind, a dt above the largest at which a neuron model is known to be stable, a duration or
    delay that is not a whole number of steps, an unknown state variable among the initial
    values, a neuron model that ignores a part of the drive it is given, spikes asked of one that
    never spikes, or a network that does not fit in memory (with the estimate per projection).

    **Source** the house's own: design sections 3 and 4.
    """
    if not isinstance(description, Description):
        raise ValueError(f"build needs a Description; got {description!r}")
    dt, dtype, seed = check_dt(dt), _check_dtype(dtype), _concrete_seed(key)
    weights = _check_weights(weights, dtype)
    _check_deterministic(description, deterministic)
    for p in description.populations:
        check_grid(f"population {p.name!r}", p.model, dt)
        check_stable(f"population {p.name!r}", p.model, dt)
    for p in description.projections:
        check_grid(f"projection {p.name!r}: synapse", p.synapse, dt)
    places = Places(description, seed)
    plan = Plan(description, {p.name: places.wire(p) for p in description.projections})
    longest = {name: longest_delay(w, dt) for name, w in plan.wired.items()}
    for w in plan.wired.values():
        check_again(w)
    expected = estimate(plan.wired.values(), plan.neurons, weights.itemsize)
    check_fits(expected, _state_bytes(plan, longest, dtype))
    driven = prepare_stimuli(plan, places, seed, dt)
    groups = tuple(_build_group(plan, driven, number, dtype) for number in range(len(plan.groups)))
    for group in groups:
        check_neuron(group, dt, dtype)
    check_releases(plan, groups, dt, dtype)
    pathways, slots = [], [1] * len(plan.groups)
    large = expected.synapses > _SHOWN and sys.stderr.isatty()
    total, show = expected.synapses / 1e6, large if progress is None else progress
    with Progress("building", total, "million synapses", show) as bar:
        for (source, target, _), projections in plan.pathways.items():
            ends = source, target, projections
            pathway, steps = _build_pathway(plan, ends, seed, dt, dtype, weights, bar)
            pathways.append(pathway)
            slots[target] = max(slots[target], steps + 1)
    fixed = find_quanta(groups, tuple(pathways), tuple(slots), dtype) if deterministic else None
    order = tuple(p.name for p in description.populations)
    drawn = {name: places.points(name) for name in order}
    points = {name: jnp.asarray(x, dtype) for name, x in drawn.items() if x is not None}
    return Network(groups, tuple(pathways), points, fixed, dt, tuple(slots), order, np.dtype(dtype))


def _state_bytes(plan: Plan, longest: dict[str, int | None], dtype: Any) -> int:
    """Bytes of a network's state: neurons, receptors, and the ring of arrivals in flight."""
    total = 0
    for number, members in enumerate(plan.groups):
        n, receptors = plan.size(number), len(plan.receptors[number])
        if n * max(receptors, 1) >= 2**31:
            raise ValueError(
                f"populations of one neuron model must have fewer than 2^31 neurons times "
                f"receptors; {members[0].name!r} and those merged with it have {n:,} neurons and "
                f"{receptors} receptors"
            )
        names = {p.name for p in members}
        onto = [p for p in plan.description.projections if p.post.population in names]
        # A computed delay that nobody knows yet counts as one of a byte.
        steps = [255 if longest[p.name] is None else longest[p.name] for p in onto]
        slots = max((s for s in steps if s is not None), default=0) + 1
        state = jax.eval_shape(lambda m: initial_state(m, 2), first_member(members[0].model))
        per_neuron = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(state)) // 2
        total += n * (per_neuron + receptors * np.dtype(dtype).itemsize * (slots + 1))
    return total


def _check_dtype(dtype: Any) -> Any:
    try:
        d = np.dtype(dtype)
    except TypeError:
        d = None
    if d not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64; got {dtype!r}")
    if jax.dtypes.canonicalize_dtype(d) != d:
        raise ValueError(
            "dtype float64 needs 64-bit JAX; call jax.config.update('jax_enable_x64', True) first"
        )
    return d


def _check_deterministic(description: Description, deterministic: Any) -> None:
    if not isinstance(deterministic, bool):
        raise ValueError(f"deterministic must be True or False; got {deterministic!r}")
    graded = [p for p in description.projections if not isinstance(p.release, Spikes)]
    if deterministic and graded:
        raise ValueError(
            "deterministic=True needs spikes: what arrives is counted in quanta that are found "
            f"for releases of 0 and 1; projection {graded[0].name!r} has {graded[0].release!r}"
        )


def _check_weights(weights: Any, dtype: np.dtype) -> np.dtype:
    try:
        d = dtype if weights is None else np.dtype(weights)
    except TypeError:
        d = None
    if d is None or d not in (dtype, np.dtype(jnp.bfloat16)):
        raise ValueError(
            f"weights must be None (individual weights in the network's {dtype}) or bfloat16; "
            f"got {weights!r}"
        )
    return d


def _concrete_seed(key: Any) -> np.ndarray:
    seed = seed_of(key)
    if is_traced(seed):
        raise ValueError("build draws outside jit and vmap: the key must be a known value")
    return np.asarray(seed)


def _build_pathway(plan, ends, seed, dt, dtype, weights, bar) -> tuple[Pathway, int]:
    source, target, projections = ends
    placed, receptors = [], list(plan.receptors[target])
    for index, p in enumerate(projections):
        source_name, target_name = p.pre.population, p.post.population
        pre, post = (plan.description.population(name).n for name in (source_name, target_name))
        wired = plan.wired[p.name]
        law, of = row_law(wired, seed), (index, seed, pre, post)
        drawing = Drawing(wired, *of) if law is None else Again(wired, law, *of)
        first_row, first_target = plan.place[source_name][2], plan.place[target_name][2]
        receptor = receptors.index(receptor_key(p))
        placed.append(Placed(index, first_row, first_target, receptor, drawing))
        bar.advance(1e-6 * _COUNTING * drawing.size)
    written = lambda synapses: bar.advance(1e-6 * (1 - _COUNTING) * synapses)  # noqa: E731
    table, stored, longest = build_table(placed, plan.size(target), seed, dt, weights, written)
    own = tuple(is_individual(p.weight) for p in projections)
    at, release = projections[0].pre.population, projections[0].release
    pathway = Pathway(
        table=table,
        weights=stored,
        weight=jnp.asarray([1.0 if i else p.weight for p, i in zip(projections, own)], dtype),
        gain=jnp.asarray([p.gain for p in projections], dtype),
        release=_only_at(at, release, plan.groups[source], dtype),
        source=source,
        target=target,
        projections=tuple(p.name for p in projections),
        receptors=tuple(p.receptor for p in placed),
        individual=own,
        sources=tuple(p.pre.population for p in projections),
        targets=tuple(p.post.population for p in projections),
    )
    return pathway, longest


def _build_group(plan: Plan, driven: list[Driven], number: int, dtype: Any) -> Group:
    members = plan.groups[number]
    sizes = [p.n for p in members]
    return Group(
        model=merge([p.model for p in members], sizes, dtype),
        receptors=tuple(
            _only_at(p.post.population, p.synapse, members, dtype)
            for p in plan.receptors[number].values()
        ),
        stimuli=group_stimuli(plan, driven, number, dtype),
        initial=tuple(
            _initial(p, index, variable, value, dtype)
            for index, p in enumerate(members)
            for variable, value in sorted(p.initial.items())
        ),
        populations=tuple(p.name for p in members),
        sizes=tuple(sizes),
    )


def _only_at(name: str, model: Any, members: list[Population], dtype: Any) -> Any:
    """A group's model of which only the numbers at one population are used, if it has arrays."""
    models = [model if m.name == name else first_member(model) for m in members]
    return merge(models, [m.n for m in members], dtype)


def _initial(p: Population, index: int, variable: str, value: Any, dtype: Any) -> Initial:
    state = jax.eval_shape(
        lambda m: initial_state(m, p.n or 1), merge([p.model], [p.n or 1], dtype)
    )
    known = state_variables(state)
    if variable not in known:
        raise unknown(f"state variable of population {p.name!r}", variable, known)
    kind = getattr(state, variable).dtype
    if not jnp.issubdtype(kind, jnp.floating):
        info = (
            (0, 1)
            if jnp.issubdtype(kind, jnp.bool_)
            else (jnp.iinfo(kind).min, jnp.iinfo(kind).max)
        )
        x = np.asarray(0.5 if isinstance(value, Distribution) else value)
        if np.any((x != np.rint(x)) | (x < info[0]) | (x > info[1])):
            raise ValueError(
                f"population {p.name!r}: initial {variable} must be whole numbers from {info[0]} "
                f"to {info[1]}; got {value!r}"
            )
    if not isinstance(value, Distribution):
        value = jnp.asarray(value, dtype)
    return Initial(variable, index, value)
