"""The network that runs. A pytree whose leaves are all its numbers."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Shaped, UInt32

from .._arrays import AnyArray, as_array
from .._numerics.streams import seed_of
from .._text import counted, listed, megabytes, text_inside
from ..spec import InvalidValueError, Of, check, unknown
from .changes import Changes, changes_of
from .coupling import CouplingLayer
from .fixed_point import FixedPoint
from .get import Parameters, get_value, parameters_of
from .group import Group, GroupState
from .html import html_of_network
from .layout import LocalLayout, MeshLayout
from .modulator import ModulatorLayer, needed_signals
from .names import ByName, Shared, named, value_of, warn_of_sum
from .pathway import Pathway
from .portable import on_mesh, one_device
from .runtime import RuntimeNetwork
from .set import set_values, with_values
from .sharded import ShardedNetwork, lay_network
from .slow import slow_names
from .state import NetworkState, Output, state_of
from .weights import (
    Connections,
    flush,
    read_connections,
    weights_now,
    with_learning,
    with_weights,
)


class Network(eqx.Module):
    """A network that is ready to run; only `build` makes one.

    An immutable pytree: pass it to `jit` as an argument (closed over, its connections would
    become constants of the program). `init(key)` makes a state, `step(state, inputs)` is one step.

    Attributes:
        groups: all populations, by neuron model.
        pathways: all projections, by groups and release.
        couplings: gap junctions and graded couplings.
        modulators: those of the description.
        points: positions [um] (n, d) by population.
        fixed_point: the quanta in which arrivals are counted, None if they are floats.
        dt: time step [ms].
        order: population names as described.
        dtype: that of its numbers.
        fingerprint: uint32 (2,) of the description, key, dt, dtype and partition, by which a state
            of another network is known.
        layout: over the devices of a mesh, None on one device (see `jaxneuro.parallel.shard`).
        shared: the receptors and releases that have a name of their own, with those that use them.
    """

    groups: tuple[Group, ...]
    pathways: tuple[Pathway, ...]
    couplings: tuple[CouplingLayer, ...]
    modulators: tuple[ModulatorLayer, ...]
    points: dict[str, Float[Array, "_ _"]]
    fixed_point: FixedPoint | None
    dt: float = eqx.field(static=True)
    order: tuple[str, ...] = eqx.field(static=True)
    dtype: np.dtype = eqx.field(static=True)
    fingerprint: UInt32[AnyArray, "2"]
    layout: MeshLayout | LocalLayout | None = None
    shared: tuple[Shared, ...] = eqx.field(static=True, default=())

    @property
    def populations(self) -> dict[str, int]:
        """Sizes by population name, in the order of the description."""
        sizes = {member.name: member.n for g in self.groups for member in g.members}
        return ByName((name, sizes[name]) for name in self.order)

    @property
    def projections(self) -> tuple[str, ...]:
        """Names of all projections."""
        return tuple(name for p in self.pathways for name in p.projections)

    @property
    def coupled(self) -> tuple[str, ...]:
        """Names of all couplings."""
        return tuple(c.name for c in self.couplings)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of everything that can be read or set."""
        modulators, shared = ([m.name for m in self.modulators], [s.name for s in self.shared])
        parts = *self.populations, *self.projections, *self.stimulations, *self.coupled
        return *parts, *shared, *modulators

    @property
    def stimulations(self) -> tuple[str, ...]:
        """Names of all stimulations."""
        return tuple(name for g in self.groups for s in g.stimuli for name in s.names)

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the inputs that modulators and rules of plasticity take, such as a reward."""
        rules = [p.plastic.rule for p in self.pathways if p.plastic is not None]
        return needed_signals((name for rule in rules for name in rule.signals), self.modulators)

    @property
    def n_neurons(self) -> int:
        """Neurons of all populations."""
        return sum(g.n for g in self.groups)

    @property
    def n_synapses(self) -> int:
        """Synapses of all projections."""
        return sum(map(self.synapses_of, range(len(self.pathways))))

    @property
    def exchanges_every_step(self) -> bool:
        """Whether devices of a mesh need each other in every step, however long delays are."""
        plastic = any(p.plastic is not None for p in self.pathways)
        return bool(self.couplings or self.modulators or plastic)

    def synapses_of(self, pathway: int) -> int:
        """The synapses of a pathway, by its number; over a mesh, those of all devices."""
        if self.layout is not None:
            return self.layout.synapses[pathway]
        return self.pathways[pathway].table.n_synapses

    @property
    def n_couplings(self) -> int:
        """Connections of all couplings; a pair of neurons that see each other counts twice."""
        return sum(side.table.n_entries for c in self.couplings for side in c.sides)

    @property
    def connection_bytes(self) -> int:
        """Bytes of all connection arrays."""
        sides = [side for c in self.couplings for side in c.sides]
        leaves = jax.tree.leaves([(x.table, x.weights) for x in (*self.pathways, *sides)])
        return sum(x.nbytes for x in leaves)

    def population(self, name: str) -> tuple[int, slice]:
        """The group number of a population and its slice in the group's arrays."""
        for number, group in enumerate(self.groups):
            index = group.index(name)
            if index is not None:
                return number, group.span(index)
        raise unknown("population", name, self.populations)

    def read(self, state: Any, name: str, variable: str) -> Shaped[AnyArray, " n"]:
        """A state variable of a population, projection, ... by name, one number per neuron.

        A population has those of its neurons (`"v"`), a projection those of its receptor at the
        targets (`"g"`) and of its release at the sources, a stimulation those of its stimulus and,
        if it sends spikes, of the receptor that they reach, a coupling those of its receptor and
        its release, and a modulator its `"level"`, (1,). Those of a receptor that several share
        have its name (`shared`); by the name of one of them they are read with a warning.

        Args:
            state: the state of the network, or a result.
            name: of a population, projection, ...
            variable: of one of its models.

        Returns:
            The variable, (n,).

        Raises:
            InvalidValueError: for a name or a variable that there is not.
        """
        state = state_of(self, state)
        warn_of_sum(self, state, name, variable)
        return value_of(self, state, name, variable)

    def variables(self, state: Any, name: str) -> tuple[str, ...]:
        """The state variables of a name that are numbers: those that can be recorded.

        Raises:
            InvalidValueError: for a name that there is not.
        """
        state = self.whole(state)
        return tuple(
            variable
            for reference in named(self, name).references
            for variable, _ in reference.numbers(state)
        )

    def connections(self, name: str, state: Any = None) -> Connections:
        """The connections of a projection or a coupling as NumPy arrays.

        They are sources, targets, weights and delays [ms], which are 0 for a coupling. One between
        two populations that see each other lists the way from its source to its target.

        Args:
            name: of a projection or a coupling.
            state: whose weights a plastic projection has; None for those at the start.

        Raises:
            InvalidValueError: for a name that there is not.
        """
        return read_connections(self, name, None if state is None else state_of(self, state))

    def weights(
        self, state: Any, name: str, variable: str = "weight"
    ) -> Float[Array, "*batch synapses"]:
        """The weights of a plastic projection as they are now.

        They are in the order of `connections(name)`, after all that has been delivered: spikes of
        the last step are delivered in the next one and change weights there. Works under `jit` and
        `vmap`. Rows whose sources have not spiked for a while are brought up to date in a copy, at
        the cost of a visit to all synapses.

        Args:
            state: the state of the network, or a result.
            name: of a plastic projection.
            variable: "weight", or another variable that the rule gives its synapses, such as an
                eligibility.

        Returns:
            The variable, (synapses,).

        Raises:
            InvalidValueError: for a projection or a variable that there is not, or a projection
                that is not plastic.
        """
        return weights_now(self, state, name, variable)

    def flush(self, state: Any, name: str) -> NetworkState:
        """The state with all rows of a plastic projection brought up to date.

        Runs give the same results from it, up to rounding. A gradient needs it: that of a step in
        which rows are brought up to date from earlier steps is NaN.

        Raises:
            InvalidValueError: for a projection that is not plastic.
        """
        return flush(self, state, name)

    def with_weights(self, state: Any, name: str, values: Any) -> NetworkState:
        """A state with other weights of a plastic projection; this one does not change.

        Args:
            state: the state of the network, or a result.
            name: of a plastic projection.
            values: one number, or one per connection in the order of `connections(name)`. They
                apply from the next spikes to arrive on.

        Raises:
            InvalidValueError: for a projection that is not plastic, another shape, or weights
                outside the bounds of the rule.
        """
        return with_weights(self, state, name, values)

    def with_values(self, state: Any, name: str, **values: Any) -> NetworkState:
        """A state with other values of state variables; this one does not change.

        Works under `jit`, `vmap` and `grad`.

        Args:
            state: the state of the network, or a result.
            name: as for `read`: `net.with_values(state, "E->E", x=0.5)`. What several share is set
                by its own name (`shared`).
            values: by variable, one number or one per neuron.

        Raises:
            InvalidValueError: for a name or a variable that there is not, one that the name shares
                with others, another shape, a value that is not finite or that a receptor or a
                release never has (a share above 1), or a variable that is not a number.
        """
        state = with_values(self, self.whole(state), name, values)
        return self.layout.lay(state, self) if isinstance(self.layout, MeshLayout) else state

    def whole(self, state: Any) -> NetworkState:
        """The state with neurons in the order of the network, wherever they are.

        On one device the state itself; over a mesh, neurons, receptors, stimuli and releases are
        brought together.
        """
        state = state_of(self, state)
        return state if self.layout is None else self.layout.whole(state, self)

    def as_one_device(self, state: Any) -> NetworkState:
        """The state as the network has it on one device: it goes on over any number of devices.

        On one device the state itself. Over a mesh rows of plastic synapses are brought up to date:
        what follows has the bits of what would have, but for their weights, which are equal up to
        rounding. `scan`, `simulate` and `jn.checkpoint.load` take it with the network built on one
        device or laid over any mesh.
        """
        return one_device(self, state_of(self, state))

    def laid(self, state: NetworkState) -> NetworkState:
        """What `as_one_device` made, as this network has it: over its mesh, if it has one."""
        return on_mesh(self, state)

    def freeze(self, state: Any, name: str) -> NetworkState:
        """A state in which the weights of a plastic projection rest; see `resume`.

        What has been delivered counts, see `weights`. Traces go on, so that after `resume` they are
        those of all spikes. Further variables of synapses, and what a rule integrates over time,
        rest as well.

        Raises:
            InvalidValueError: for a projection that is not plastic.
        """
        return with_learning(self, state, name, False)

    def resume(self, state: Any, name: str) -> NetworkState:
        """A state in which the weights of a plastic projection change again; see `freeze`.

        Raises:
            InvalidValueError: for a projection that is not plastic.
        """
        return with_learning(self, state, name, True)

    def positions(self, name: str) -> Float[np.ndarray, "n axes"]:
        """Positions [um] (n, d) of the neurons of a population.

        Raises:
            InvalidValueError: for a population that there is not, or one without positions.
        """
        self.population(name)
        if name not in self.points:
            must = "described (a Grid, a UniformBox or an array)"
            raise InvalidValueError(f"population {name!r}", "positions", must, "None")
        return np.asarray(self.points[name])

    def set(self, name: str, **values: Any) -> "Network":
        """A new network with other parameter values; this one does not change.

        Works under `jit`, `vmap` and `grad`. A leaf changes its shape only if one of several equal
        populations becomes different (one retrace).

        A population has the parameters of its model, a stimulation those of its stimulus, a
        modulator its `tau`, `per_spike` and `baseline`; a projection or a coupling has its `gain`,
        its `weight`, and the parameters of its synapse, of its release and of its rule of
        plasticity. Parameters of a model inside a model have the name of its field, or in a tuple
        that of its class, in front: `kinetics_alpha`, `nmda_mg`, `nmda_share`; a signal is set as a
        whole. A receptor or a release that several share has a name of its own (`shared`), by which
        its parameters are set for all of them. Those of a rule also hold for spikes that its
        synapses have not seen yet, because their rows wait: go on from `flush(state, name)` where
        that matters.

        A weight that was described as one number is one number. Individual weights are one for all
        synapses, an array of one per synapse in the order of `connections(name)`, or an array
        (n_pre, n_post), on a network that is not over a mesh nor an argument of `jit`; those of a
        plastic projection are in the state, and set by `with_weights`.

        Args:
            name: of a population, stimulation, projection, coupling, modulator, or of a shared
                receptor or release.
            values: by parameter.

        Raises:
            InvalidValueError: for a name or a parameter that there is not, a parameter that the
                name shares with others, a value out of range, or one that modulators could bring
                out of range.
        """
        return set_values(self, name, values)

    def get(self, name: str, parameter: str) -> Any:
        """What a parameter is set to: the value of everything that `set` takes.

        What is read can be set again: `net.set(name, **{parameter: net.get(name, parameter)})` is a
        network with the same numbers, to the bit. A receptor or a release that several share is
        read by its own name (`shared`) or by that of one of them; it is set by its own. A whole
        signal or model is as `build` leaves it, with the times of a signal in steps. Works under
        `jit`: what is traced is read as a traced array.

        Args:
            name: of a population, stimulation, projection, coupling, modulator, or of a shared
                receptor or release.
            parameter: as of `set`.

        Returns:
            One number, or an array (n,) of one per neuron; for individual weights one per
            connection, in the order of `connections(name)`. Those of a coupling are read and
            cannot be set.

        Raises:
            InvalidValueError: for a name or a parameter that there is not, the weight of a plastic
                projection, which is in the state (`weights`), and individual weights where
                connections are not known.
        """
        return get_value(self, name, parameter)

    def parameters(self, name: str) -> Parameters:
        """All that is set of a name, with units: a mapping from parameters to values.

        Its text and its page in a notebook are a table. The weight of a plastic projection is not
        in it, see `weights`. A model inside a model has its own parameters in it, as of `set`. What
        a shared receptor or release has is in it, and is set by the name of that (column "of").

        Args:
            name: as of `get`.

        Raises:
            InvalidValueError: for a name that there is not.
        """
        return parameters_of(self, name)

    def changes(self, other: "Network") -> Changes:
        """What is different in this network: `changed.changes(net)`, one line per difference.

        Compared are dt, dtype, and by name what the networks are made of: sizes, models and their
        parameters, gains and weights, connections and delays, start values. So networks that were
        built apart compare too. Connections are read unless both networks have the same in memory,
        as after `set`. Of plastic weights, those at the start are compared.

        Args:
            other: what this network is compared with, such as an earlier one.

        Returns:
            A tuple of `Change`: name, parameter, value here, value in `other`. It is empty where
            nothing differs.

        Raises:
            InvalidValueError: for a value that is no network.
        """
        return changes_of(self, check("changes", "other", Of(Network), other))

    def init(self, key: Any) -> NetworkState:
        """The state at t = 0; `key` is an integer or a JAX key, and the run's only seed."""
        seed = as_array(seed_of(key))
        return self._init(seed) if self.layout is None else _init_laid(self, seed)

    def _init(self, seed: UInt32[Array, ""]) -> NetworkState:
        """The state at t = 0 before it is laid over a mesh."""
        ring_dtype = self.dtype if self.fixed_point is None else np.dtype(np.int32)
        return NetworkState(
            step=as_array(0, np.int32),
            seed=seed,
            groups=_init_groups(self.groups, seed, ring_dtype, self.dtype, self.dt),
            pathways=tuple(p.init(seed, self.groups[p.source], self.dtype) for p in self.pathways),
            couplings=tuple(c.init(seed, self.dtype) for c in self.couplings),
            modulators=tuple(m.init(self.dtype) for m in self.modulators),
            fingerprint=as_array(self.fingerprint),
        )

    def expand(self) -> RuntimeNetwork | ShardedNetwork:
        """The network as a loop runs it: parameters expanded to neurons and blocks."""
        if self.layout is not None:
            return lay_network(self)
        fixed = None if self.fixed_point is None else self.fixed_point.now(self.pathways)
        return RuntimeNetwork(
            groups=tuple(g.expand() for g in self.groups),
            pathways=tuple(p.expand(self.groups[p.source].sizes, fixed) for p in self.pathways),
            couplings=tuple(c.expand() for c in self.couplings),
            modulators=self.modulators,
            quanta=None if fixed is None else fixed.quanta,
            dt=self.dt,
            order=self.order,
            dtype=self.dtype,
        )

    def step(
        self, state: Any, inputs: Mapping[str, ArrayLike] | None = None
    ) -> tuple[NetworkState, Output]:
        """One time step; see `RuntimeNetwork.step`. For a loop, `expand` the network once."""
        return self.expand().step(state_of(self, state), inputs)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_network(self)

    __pdoc__ = text_inside

    @property
    def _dense(self) -> list[str]:
        """The projections that are matrix products, by name."""
        if self.layout is not None:
            return []
        return [p.projections[0] for p in self.pathways if p.dense is not None]

    def __repr__(self) -> str:
        parts = [
            counted(len(self.order), "population"),
            counted(self.n_neurons, "neuron"),
            counted(self.n_synapses, "synapse"),
            *([counted(self.n_couplings, "coupled neighbour")] if self.couplings else []),
            megabytes(self.connection_bytes),
            *([f"matrix products: {listed(dense)}"] if (dense := self._dense) else []),
            *([f"kept with more digits: {listed(slow)}"] if (slow := slow_names(self)) else []),
        ]
        return "Network: " + ", ".join(parts)


@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def _init_groups(
    groups: tuple[Group, ...],
    seed: UInt32[Array, ""],
    ring_dtype: np.dtype,
    dtype: np.dtype,
    dt: float,
) -> tuple[GroupState, ...]:
    """Without the pathways: the program does not depend on who is connected to whom."""
    return tuple(group.init(seed, ring_dtype, dtype, dt) for group in groups)


@jax.jit
def _init_laid(net: Network, seed: UInt32[Array, ""]) -> NetworkState:
    assert isinstance(net.layout, MeshLayout)
    return net.layout.lay(net._init(seed), net)
