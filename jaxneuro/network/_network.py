"""The network: what the machine runs. A pytree whose leaves are all its numbers."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import unknown
from .._text import counted, megabytes
from .._types import Drive, Release, add_drives, state_variables
from ..kernels import Table, deliver, pack
from ..numerics import seed_of
from ..release import Spikes
from ._connections import Connections, read_connections
from ._fixed_point import FixedPoint
from ._group import Group
from ._set import set_values
from ._state import NetworkState, Output
from ._stimuli import place


class Pathway(eqx.Module):
    """All projections from one group to another with one release model: one delivery.

    **Fields** `table` the connections; `weights` individual ones (see `Table`); `weight` and
    `gain` (projections,), one number per projection (`weight` is 1 where they are
    individual); `release`; static `source`, `target` group numbers, `projections` names,
    `receptors` number of each projection's receptor, `individual` whether each has
    individual weights, `sources` and `targets` population names; `scale` (blocks,) what
    multiplies the weights of each block, None until the network is spread.

    **Source** the house's own: design section 3.
    """

    table: Table
    weights: jax.Array
    weight: jax.Array
    gain: jax.Array
    release: Release
    source: int = eqx.field(static=True)
    target: int = eqx.field(static=True)
    projections: tuple[str, ...] = eqx.field(static=True)
    receptors: tuple[int, ...] = eqx.field(static=True)
    individual: tuple[bool, ...] = eqx.field(static=True)
    sources: tuple[str, ...] = eqx.field(static=True)
    targets: tuple[str, ...] = eqx.field(static=True)
    scale: jax.Array | None = None


class Network(eqx.Module):
    """A network ready to run; made by `build`, never by hand.

    A frozen pytree: pass it to `jit` as an argument (closed over, its connections would
    become constants of the program). `init(key)` makes a state, `step(state, inputs)` is a
    scan body.

    **Fields** `groups`, `pathways`, `points` positions [um] (n, d) by population; `fixed_point`
    where arrivals are counted in quanta, else None; static `dt` [ms], `slots` ring length per
    group, `order` population names as described, `dtype` of its numbers.

    **Source** the house's own: design sections 2 to 4.
    """

    groups: tuple[Group, ...]
    pathways: tuple[Pathway, ...]
    points: dict[str, jax.Array]
    fixed_point: FixedPoint | None
    dt: float = eqx.field(static=True)
    slots: tuple[int, ...] = eqx.field(static=True)
    order: tuple[str, ...] = eqx.field(static=True)
    dtype: Any = eqx.field(static=True)

    @property
    def populations(self) -> dict[str, int]:
        """Sizes by population name, in the order of the description."""
        sizes = {name: n for g in self.groups for name, n in zip(g.populations, g.sizes)}
        return {name: sizes[name] for name in self.order}

    @property
    def projections(self) -> tuple[str, ...]:
        """Names of all projections."""
        return tuple(name for p in self.pathways for name in p.projections)

    @property
    def stimulations(self) -> tuple[str, ...]:
        """Names of all stimulations."""
        return tuple(name for g in self.groups for s in g.stimuli for name in s.names)

    @property
    def n_neurons(self) -> int:
        return sum(g.n for g in self.groups)

    @property
    def n_synapses(self) -> int:
        return sum(p.table.n_synapses for p in self.pathways)

    @property
    def connection_bytes(self) -> int:
        """Bytes of all connection arrays."""
        leaves = jax.tree.leaves([(p.table, p.weights) for p in self.pathways])
        return sum(x.nbytes for x in leaves)

    def population(self, name: str) -> tuple[int, slice]:
        """The group number of a population and its slice in the group's arrays."""
        for number, group in enumerate(self.groups):
            index = group.index(name)
            if index is not None:
                return number, group.span(index)
        raise unknown("population", name, self.populations)

    def read(self, state: NetworkState, name: str, variable: str) -> jax.Array:
        """A state variable of a population (`"v"`), or of a receptor (`"g"`).

        The receptor is that of a projection or of a stimulation by name. Returns `(n,)` for the
        whole population. Raises `ValueError` for an unknown name, listing the known ones.
        """
        holder, span = self._holder(state, name)
        known = state_variables(holder)
        if variable not in known:
            raise unknown(f"state variable of {name!r}", variable, known)
        return getattr(holder, variable)[span]

    def variables(self, state: NetworkState, name: str) -> tuple[str, ...]:
        """The state variables of a population or receptor that are numbers: those to record.

        Raises `ValueError` for an unknown name, listing the known ones.
        """
        holder, _ = self._holder(state, name)
        arrays = {variable: getattr(holder, variable) for variable in state_variables(holder)}
        return tuple(k for k, x in arrays.items() if _is_numbers(x))

    def _holder(self, state: NetworkState, name: str) -> tuple[Any, slice]:
        """The state of the neurons or of the receptor that a name stands for, and its neurons."""
        group, receptor, span = self._receptor(name)
        if receptor is not None:
            return state.synapses[group][receptor], span
        group, span = self.population(name)
        return state.neurons[group], span

    def connections(self, name: str) -> Connections:
        """The connections of a projection: who, to whom, weights, delays [ms], as NumPy arrays.

        **Raises** `ValueError` for an unknown name, listing the known ones.
        """
        return read_connections(self, name)

    def positions(self, name: str) -> np.ndarray:
        """Positions [um] (n, d) of the neurons of a population.

        **Raises** `ValueError` for an unknown population, or one without positions.
        """
        self.population(name)
        if name not in self.points:
            raise ValueError(
                f"population {name!r} must have positions; describe it with positions= (a Grid, a "
                "UniformBox or an array)"
            )
        return np.asarray(self.points[name])

    def _receptor(self, name: str) -> tuple[int, int | None, slice]:
        """Group, receptor and neurons that a projection or a stimulation of spikes reaches."""
        for p in self.pathways:
            if name in p.projections:
                index = p.projections.index(name)
                return p.target, p.receptors[index], self.population(p.targets[index])[1]
        for number, group in enumerate(self.groups):
            for s in group.stimuli:
                if name in s.names and s.receptor is not None:
                    member = s.members[s.names.index(name)]
                    return number, s.receptor, group.span(member)
        return 0, None, slice(0)

    def set(self, name: str, **values: Any) -> "Network":
        """A new network with other parameter values; this one stays as it is.

        `name` is a population (parameters of its model), a stimulation (of its stimulus) or
        a projection: its `gain`, its `weight` if that is one number, or parameters of its
        synapse, which hold for every projection that shares the receptor onto that target.
        Works under `jit`, `vmap` and `grad`. A leaf changes its shape only where one of
        several equal populations becomes different (one retrace).

        **Raises** `ValueError` for an unknown name or parameter, or a value out of range.
        """
        return set_values(self, name, values)

    def init(self, key: Any) -> NetworkState:
        """The state at t = 0; `key` is an integer or a JAX key, and the run's only seed."""
        return _init(self, jnp.asarray(seed_of(key)))

    def _init(self, seed: jax.Array) -> NetworkState:
        net = self.spread()
        groups = net.groups
        stimuli = tuple(tuple(s.init(seed) for s in g.stimuli) for g in groups)
        release = tuple(p.release.init(groups[p.source].n) for p in net.pathways)
        state = NetworkState(
            step=jnp.zeros((), jnp.int32),
            seed=seed,
            neurons=self._cast(tuple(g.init_neurons(seed) for g in groups)),
            synapses=self._cast(tuple(tuple(r.init(g.n) for r in g.receptors) for g in groups)),
            stimuli=self._cast(stimuli),
            rings=tuple(
                jnp.zeros((slots, len(g.receptors), g.n), self._ring_dtype)
                for g, slots in zip(groups, self.slots)
            ),
            release=self._cast(release),
            released=((), ()),
        )
        return state._replace(released=net._nothing_released(state))

    @property
    def _ring_dtype(self) -> Any:
        return self.dtype if self.fixed_point is None else jnp.int32

    def _cast(self, state: Any) -> Any:
        """Floating point arrays of a state in the network's dtype."""
        floating = lambda x: jnp.issubdtype(x.dtype, jnp.floating)  # noqa: E731
        return jax.tree.map(lambda x: x.astype(self.dtype) if floating(x) else x, state)

    def _nothing_released(self, state: NetworkState) -> tuple[tuple, tuple]:
        def spikes(net: Network, state: NetworkState) -> list[jax.Array]:
            # With a current, which a neuron may count on: `inputs` can give it to any.
            zero = {name: jnp.zeros(()) for name in net.order}
            parts = (net._advance(state, state.rings, k, g, zero) for k, g in enumerate(net.groups))
            return [part[3] for part in parts]

        shapes = jax.eval_shape(spikes, self, state)
        by_group = tuple(_released(jnp.zeros(x.shape, x.dtype)) for x in shapes)
        own = tuple(
            None
            if isinstance(p.release, Spikes)
            else jnp.zeros(self.groups[p.source].n, self.dtype)
            for p in self.pathways
        )
        return by_group, own

    def spread(self) -> "Network":
        """Merged parameters spread over neurons and blocks: done once, before a loop."""
        groups = tuple(g.spread() for g in self.groups)
        net = eqx.tree_at(lambda n: n.groups, self, groups)
        if any(p.scale is not None for p in self.pathways):
            return net
        fixed = None if self.fixed_point is None else self.fixed_point.now(self.pathways)
        parts = tuple(_scaled(p, fixed) for p in self.pathways), fixed
        none = lambda x: x is None  # noqa: E731
        return eqx.tree_at(lambda n: (n.pathways, n.fixed_point), net, parts, is_leaf=none)

    def step(
        self, state: NetworkState, inputs: Mapping[str, jax.Array] | None = None
    ) -> tuple[NetworkState, Output]:
        """One time step, from t_k to t_k+1.

        In this order: what the last step released is delivered; neurons move under the
        drive of the synapses as they stand; synapses decay and take the arrivals of slot k;
        threshold and reset. `inputs` are currents [pA] by population name, () or (n,).
        """
        net = self.spread()
        rings = net._deliver(state)
        neurons, synapses, stimuli, spikes = [], [], [], []
        for number, group in enumerate(net.groups):
            parts = net._advance(state, rings, number, group, inputs or {})
            for out, part in zip((neurons, synapses, stimuli, spikes), parts):
                out.append(part)
        release, own = net._release(state, neurons, spikes)
        bits = tuple(pack(s if s.dtype == bool else s > 0) for s in spikes)
        released = tuple(b if s.dtype == bool else s for b, s in zip(bits, spikes))
        new = NetworkState(
            step=state.step + 1,
            seed=state.seed,
            neurons=tuple(neurons),
            synapses=tuple(synapses),
            stimuli=tuple(stimuli),
            rings=rings,
            release=release,
            released=(released, own),
        )
        return new, Output(net._by_name(spikes), bits)

    def _deliver(self, state: NetworkState) -> tuple:
        rings, cleared = list(state.rings), set()
        by_group, own = state.released
        for number, p in enumerate(self.pathways):
            released = by_group[p.source] if own[number] is None else own[number]
            assert p.scale is not None, "deliver comes after spread"
            rings[p.target] = deliver(
                rings[p.target],
                released,
                state.step - 1,
                p.scale,
                p.weights,
                p.table,
                clear=p.target not in cleared,
            )
            cleared.add(p.target)
        return tuple(rings)

    def _advance(self, state, rings, number: int, group: Group, inputs) -> tuple:
        neurons, arrived = state.neurons[number], None
        if group.receptors:
            slot = lax.rem(state.step, jnp.int32(self.slots[number]))
            arrived = lax.dynamic_index_in_dim(rings[number], slot, 0, keepdims=False)
            if self.fixed_point is not None:
                arrived = arrived.astype(self.dtype) * self.fixed_point.quanta[number][:, None]
        stimuli, part, outside = group.stimulus_drive(state.stimuli[number], state.step, self.dt)
        synapses, drive = group.synaptic_drive(
            state.synapses[number], arrived, outside, neurons, self.dt
        )
        drive = add_drives(drive, part)
        for name in group.populations:
            if name in inputs:
                span = group.span(group.populations.index(name))
                current = jnp.asarray(inputs[name], self.dtype)
                current = place(current, [(span.start, span.stop)], group.n)
                drive = add_drives(drive, Drive(current=current))
        neurons, spikes = group.model.step(neurons, drive, self.dt)
        return neurons, synapses, stimuli, spikes

    def _release(self, state, neurons, spikes) -> tuple[tuple, tuple]:
        states, values = [], []
        for number, p in enumerate(self.pathways):
            if isinstance(p.release, Spikes):
                states.append(state.release[number])
                values.append(None)
                continue
            v: Any = self.groups[p.source].model.voltage(neurons[p.source])
            new, value = p.release.step(state.release[number], spikes[p.source], v, self.dt)
            states.append(new)
            values.append(value.astype(self.dtype))
        return tuple(states), tuple(values)

    def _by_name(self, values) -> dict[str, jax.Array]:
        out = {}
        for name in self.order:
            number, span = self.population(name)
            out[name] = values[number][span]
        return out

    def __repr__(self) -> str:
        parts = [
            counted(len(self.order), "population"),
            counted(self.n_neurons, "neuron"),
            counted(self.n_synapses, "synapse"),
            megabytes(self.connection_bytes),
        ]
        return "Network: " + ", ".join(parts)


@jax.jit
def _init(net: Network, seed: jax.Array) -> NetworkState:
    return net._init(seed)


def _scaled(pathway: Pathway, fixed: FixedPoint | None) -> Pathway:
    scale = pathway.weight * pathway.gain
    if fixed is not None:
        scale = fixed.scale(scale, pathway)
    scale = scale[pathway.table.block_projection]
    return eqx.tree_at(lambda p: p.scale, pathway, scale, is_leaf=lambda x: x is None)


def _is_numbers(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating) and x.ndim == 1


def _released(spikes: jax.Array) -> jax.Array:
    return pack(spikes) if spikes.dtype == bool else spikes
