"""From a description to a network: groups, receptors, pathways, drawn connections."""

from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced, unknown
from .._types import state_variables
from ..numerics import Distribution, check_dt, seed_of
from ._check_neuron import check_neuron
from ._columns import Placed, build_table
from ._description import Description, Population, Projection
from ._draw import Drawing, longest_delay
from ._estimate import check_fits, individual
from ._group import Group, Initial, StimulusGroup
from ._merge import first_member, kind_key, merge, value_key
from ._network import Network, Pathway
from ._set import check_grid


def build(description: Description, key: Any, dt: float, dtype: Any = jnp.float32) -> Network:
    """Draws the connections of a description and lays everything out for speed.

    `key` an integer or a JAX key (the same key gives the same network, whatever else the
    description holds and in whatever order); `dt` [ms] the time step; `dtype` float32, or
    float64 with `jax_enable_x64`.

    **Raises** `ValueError`, before anything is drawn, for a key, dt or dtype of the wrong
    kind, a duration or delay that is not a whole number of steps, an unknown state variable
    among the initial values, a neuron model that ignores a part of the drive it is given, or a
    network that does not fit in memory (with the estimate per projection).

    **Source** the house's own: design sections 3 and 4.
    """
    if not isinstance(description, Description):
        raise ValueError(f"build needs a Description; got {description!r}")
    dt, dtype, seed = check_dt(dt), _check_dtype(dtype), _concrete_seed(key)
    plan = _Plan(description)
    for p in description.populations:
        check_grid(f"population {p.name!r}", p.model, dt)
    for p in description.projections:
        check_grid(f"projection {p.name!r}: synapse", p.synapse, dt)
        longest_delay(p, dt)
    check_fits(description, np.dtype(dtype).itemsize, _state_bytes(plan, dt, dtype))
    groups = tuple(_build_group(plan, number, dtype) for number in range(len(plan.groups)))
    for group in groups:
        check_neuron(group, dt, dtype)
    pathways, slots = [], [1] * len(plan.groups)
    for (source, target, _), projections in plan.pathways.items():
        pathway, longest = _build_pathway(plan, source, target, projections, seed, dt, dtype)
        pathways.append(pathway)
        slots[target] = max(slots[target], longest + 1)
    order = tuple(p.name for p in description.populations)
    return Network(groups, tuple(pathways), dt, tuple(slots), order, np.dtype(dtype))


def _state_bytes(plan: "_Plan", dt: float, dtype: Any) -> int:
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
        onto = [p for p in plan.description.projections if p.target in names]
        slots = max((longest_delay(p, dt) for p in onto), default=0) + 1
        state = jax.eval_shape(lambda m: m.init(2), first_member(members[0].model))
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


def _concrete_seed(key: Any) -> np.ndarray:
    seed = seed_of(key)
    if is_traced(seed):
        raise ValueError("build draws outside jit and vmap: the key must be a known value")
    return np.asarray(seed)


class _Plan:
    """Who is in which group, which receptors a group has, which projections a pathway."""

    def __init__(self, description: Description):
        self.description = description
        # Everything is sorted by name, and what is grouped keeps the order of its first name:
        # results must not depend on the order of the description.
        by_kind: dict[Hashable, list[Population]] = {}
        for p in sorted(description.populations, key=lambda p: p.name):
            by_kind.setdefault(kind_key(p.model), []).append(p)
        self.groups = list(by_kind.values())
        self.place: dict[str, tuple[int, int, int]] = {}
        for number, members in enumerate(self.groups):
            start = 0
            for index, p in enumerate(members):
                self.place[p.name] = (number, index, start)
                start += p.n
        self.receptors = self._plan_receptors()
        self.pathways = self._plan_pathways()

    def size(self, group: int) -> int:
        return sum(p.n for p in self.groups[group])

    def receptor_key(self, p: Projection) -> tuple:
        """Equal for projections that share a receptor of their target group."""
        return (*value_key(p.synapse), p.target if _has_arrays(p.synapse) else "")

    def _plan_receptors(self) -> list[dict[tuple, Projection]]:
        found: list[dict[tuple, Projection]] = [{} for _ in self.groups]
        for p in sorted(self.description.projections, key=lambda p: p.name):
            found[self.place[p.target][0]].setdefault(self.receptor_key(p), p)
        return found

    def _plan_pathways(self) -> dict[tuple, list[Projection]]:
        found: dict[tuple, list[Projection]] = {}
        for p in sorted(self.description.projections, key=lambda p: (p.source, p.name)):
            source, target = self.place[p.source][0], self.place[p.target][0]
            release = (value_key(p.release), p.source if _has_arrays(p.release) else "")
            found.setdefault((source, target, release), []).append(p)
        return found


def _build_pathway(plan, source, target, projections, seed, dt, dtype) -> tuple[Pathway, int]:
    placed, receptors = [], list(plan.receptors[target])
    for index, p in enumerate(projections):
        pre, post = (plan.description.population(name).n for name in (p.source, p.target))
        drawing = Drawing(p, index, seed, pre, post)
        first_row, first_target = plan.place[p.source][2], plan.place[p.target][2]
        receptor = receptors.index(plan.receptor_key(p))
        placed.append(Placed(p, index, first_row, first_target, receptor, drawing))
    table, weights, longest = build_table(placed, plan.size(target), seed, dt, dtype)
    own = tuple(individual(p.weight) for p in projections)
    pathway = Pathway(
        table=table,
        weights=weights,
        weight=jnp.asarray([1.0 if i else p.weight for p, i in zip(projections, own)], dtype),
        gain=jnp.asarray([p.gain for p in projections], dtype),
        release=_only_at(projections[0].source, projections[0].release, plan.groups[source], dtype),
        source=source,
        target=target,
        projections=tuple(p.name for p in projections),
        receptors=tuple(p.receptor for p in placed),
        individual=own,
        targets=tuple(p.target for p in projections),
    )
    return pathway, longest


def _build_group(plan: _Plan, number: int, dtype: Any) -> Group:
    members = plan.groups[number]
    sizes = [p.n for p in members]
    return Group(
        model=merge([p.model for p in members], sizes, dtype),
        receptors=tuple(
            _only_at(p.target, p.synapse, members, dtype) for p in plan.receptors[number].values()
        ),
        stimuli=_stimuli(plan, members, dtype),
        initial=tuple(
            _initial(p, index, variable, value, dtype)
            for index, p in enumerate(members)
            for variable, value in sorted(p.initial.items())
        ),
        populations=tuple(p.name for p in members),
        sizes=tuple(sizes),
    )


def _has_arrays(model: Any) -> bool:
    return any(np.ndim(x) for x in jax.tree.leaves(model))


def _only_at(name: str, model: Any, members: list[Population], dtype: Any) -> Any:
    """A group's model of which only the numbers at one population are used, if it has arrays."""
    models = [model if m.name == name else first_member(model) for m in members]
    return merge(models, [m.n for m in members], dtype)


def _initial(p: Population, index: int, variable: str, value: Any, dtype: Any) -> Initial:
    state = jax.eval_shape(lambda m: m.init(max(p.n, 1)), merge([p.model], [p.n or 1], dtype))
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


def _stimuli(plan: _Plan, members: list[Population], dtype: Any) -> tuple[StimulusGroup, ...]:
    """Stimuli of one kind are one operation; a second one onto a population is a layer."""
    index = {p.name: i for i, p in enumerate(members)}
    layers: dict[tuple[Hashable, int], list] = {}
    used: dict[tuple[Hashable, str], int] = {}
    for s in sorted(plan.description.stimuli, key=lambda s: s.name):
        if s.target in index:
            kind = kind_key(s.stimulus)
            layer = used[kind, s.target] = used.get((kind, s.target), -1) + 1
            layers.setdefault((kind, layer), []).append(s)
    out = []
    for layer in layers.values():
        group = sorted(layer, key=lambda s: index[s.target])
        sizes = [members[index[s.target]].n for s in group]
        model = merge([s.stimulus for s in group], sizes, dtype)
        names, at = tuple(s.name for s in group), tuple(index[s.target] for s in group)
        out.append(StimulusGroup(model, names, at, tuple(sizes)))
    return tuple(out)
