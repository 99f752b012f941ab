"""A pathway: all projections from one group to another that can share a release.

Theirs are equal, and so are its start values and its chosen name; if it has numbers for each
neuron, they have one source population. A projection has a pathway of its own if its weights are
plastic, or if its release or the start values of that are drawn.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num, UInt8

from .._arrays import AnyArray
from .._kernels.clock import Clock
from .._kernels.deliver import deliver
from .._kernels.spike_output import SpikeOutput
from .._kernels.table import Table
from .._model import Release, StochasticRelease
from .._numerics.streams import Stream, stream_key
from .dense import Dense
from .fixed_point import FixedPoint
from .group import Group, InitialValue, with_initial
from .members import Seed, as_floating, expand
from .moved import Released
from .plastic import Plastic, PlasticState
from .shards import Peers
from .targets import Fired


class ProjectionMember(NamedTuple):
    """A projection of a pathway.

    Attributes:
        name: its name.
        source, target: names of populations.
        receptor: number of the receptor in the target group.
        input: the row of its arrivals.
        individual: whether its synapses have individual weights.
    """

    name: str
    source: str
    target: str
    receptor: int
    input: int
    individual: bool


class PathwayState(NamedTuple):
    """The state of a pathway.

    Attributes:
        release: that of the release model.
        released: what it released in the last step, None if that is the spikes of the source group.
        plastic: that of a rule by which weights change, None if they do not.
    """

    release: Any
    released: SpikeOutput | None
    plastic: PlasticState | None = None


class Pathway(eqx.Module):
    """All projections from one group to another with one release model: one delivery.

    Attributes:
        table: the connections.
        weights: individual ones (see `Table`); those at the start if they are plastic.
        weight: (projections,) one number per projection, 1 where they are individual.
        gain: (projections,) multiplies them.
        release: the release model.
        plastic: the rule by which weights change, None if they do not.
        initial: start values of the state of the release.
        source, target: group numbers.
        members: the projections.
        dense: how the only projection is a matrix product, None where its spikes are events.
    """

    table: Table
    weights: Float[AnyArray, "*devices weights"]
    weight: Float[Array, " projections"]
    gain: Float[Array, " projections"]
    release: Release
    plastic: Plastic | None
    initial: tuple[InitialValue, ...]
    source: int = eqx.field(static=True)
    target: int = eqx.field(static=True)
    members: tuple[ProjectionMember, ...] = eqx.field(static=True)
    dense: Dense | None = eqx.field(static=True, default=None)

    @property
    def projections(self) -> tuple[str, ...]:
        """Names of the projections."""
        return tuple(member.name for member in self.members)

    @property
    def inputs(self) -> tuple[int, ...]:
        """The row of arrivals that each projection reaches."""
        return tuple(member.input for member in self.members)

    def init(self, seed: Seed, sources: Group, dtype: np.dtype) -> PathwayState:
        """The state at t = 0: nothing was released."""
        if self.release.plain:
            release, released = self.release.init(sources.n), None
        else:
            mine = self.members[0]
            first = sources.span(sources.populations.index(mine.source)).start
            release, released = _initial(
                self.release, self.initial, seed, sources.sizes, mine.name, first, dtype
            )
        plastic = None
        if self.plastic is not None:
            plastic = self._plastic_state(released is not None, dtype)
        return PathwayState(release=release, released=released, plastic=plastic)

    def _plastic_state(self, values: bool, dtype: np.dtype) -> PlasticState:
        """The state of the rule; over a mesh, with the synapses and targets of each device."""
        assert self.plastic is not None
        if self.weights.ndim == 1:
            return self.plastic.init(self.weights, values, dtype)
        init = functools.partial(self.plastic.init, values=values, dtype=dtype)
        own, rest = jax.vmap(init)(self.weights).parts()
        return PlasticState(**own, **jax.tree.map(lambda x: x[0], rest))

    def expand(self, sizes: Sequence[int], fixed: FixedPoint | None) -> "RuntimePathway":
        """The pathway as a loop runs it; `sizes` are those of the source group.

        If arrivals are counted (`fixed`), its weights are in quanta of the receptors.
        """
        scale = self.weight * self.gain
        if fixed is not None:
            scale = fixed.scale(scale, self.target, self.inputs)
        scale = scale[self.table.block_projection]
        matrix = None
        if self.dense is not None and self.weights.ndim == 1:  # not over a mesh
            matrix = self.dense.matrix(scale, self.weights)
        return RuntimePathway(
            self.table,
            self.weights,
            scale,
            expand(self.release, sizes),
            None if self.plastic is None else self.plastic.expand(),
            self.source,
            self.target,
            self.dense,
            matrix,
        )


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def _initial(
    release: Release,
    initial: tuple[InitialValue, ...],
    seed: Seed,
    sizes: tuple[int, ...],
    name: str,
    first: int,
    dtype: np.dtype,
) -> tuple[Any, SpikeOutput]:
    """The state of a release, and that it has released nothing."""
    n = sum(sizes)
    state = as_floating(release_state(expand(release, sizes), n, seed, name, first), dtype)
    return with_initial(state, initial, seed), SpikeOutput.of_values(jnp.zeros(n, dtype))


def release_state(release: Release, n: int, seed: Seed, name: str, first: int = 0) -> Any:
    """The state of n sources; those that draw use the stream of the projection `name`.

    `first` is the first neuron of its source population.
    """
    if not isinstance(release, StochasticRelease):
        return release.init(n)
    high, low = stream_key(seed, name, "release")
    high, low = (jnp.broadcast_to(jnp.asarray(word), (n,)) for word in (high, low))
    return release.init(n, Stream(high, low, jnp.arange(n, dtype=jnp.uint32) - np.uint32(first)))


class RuntimePathway(eqx.Module):
    """A pathway as a loop runs it.

    Attributes:
        table, weights, release, plastic, source, target, dense: as of a `Pathway`.
        scale: (blocks,) what multiplies the weights of each block.
        matrix: scale times weight where it is a matrix product, else None.
        ahead: whether its arrivals are made before the loop (`_network/ahead.py`).
    """

    table: Table
    weights: Float[AnyArray, "*devices weights"]
    scale: Float[Array, "*devices blocks"]
    release: Release
    plastic: Plastic | None
    source: int = eqx.field(static=True)
    target: int = eqx.field(static=True)
    dense: Dense | None = eqx.field(static=True, default=None)
    matrix: Float[Array, "sources targets"] | None = None
    ahead: bool = eqx.field(static=True, default=False)

    @property
    def known(self) -> bool:
        """Whether it is a product of spikes that the inputs of a run give."""
        return self.matrix is not None and self.dense is not None and self.dense.given is not None

    def deliver(
        self,
        ring: Num[Array, "slots places"],
        spikes: SpikeOutput,
        fired: Fired,
        state: PathwayState,
        step: Clock,
        clear: bool,
    ) -> tuple[Num[Array, "slots places"], PathwayState]:
        """The ring of the target group with what was released in `step`, and the state after it.

        `spikes` are those of the source group; `fired` is what plastic weights depend on. With
        `clear` the slot of `step`, which has been read, is emptied.
        """
        released = self.released_by(spikes, state.released)
        if self.plastic is None or state.plastic is None:
            return self.deliver_now(ring, released, step, clear), state
        ring, plastic = self.plastic.deliver(
            ring, released, fired, state.plastic, step, self.scale, self.table, clear
        )
        return ring, state._replace(plastic=plastic)

    def released_by(self, spikes: SpikeOutput, own: SpikeOutput | None) -> SpikeOutput:
        """What is delivered: spikes, or what the release has made of them."""
        if own is None:
            return spikes
        return own.made_of(spikes) if self.release.with_spikes else own

    def deliver_now(
        self,
        ring: Num[Array, "slots places"],
        released: SpikeOutput,
        step: Clock,
        clear: bool,
    ) -> Num[Array, "slots places"]:
        """The ring with what was released in `step`, by weights that do not change."""
        if self.dense is not None and self.matrix is not None:
            return self.dense.deliver(ring, released, step, self.matrix, clear)
        return deliver(ring, released, step, self.scale, self.weights, self.table, clear)

    def after(
        self,
        state: PathwayState,
        released: Released | None,
        bits: UInt8[Array, " bytes"],
        signals: Mapping[str, Float[Array, "..."]],
        peers: Peers | None = None,
    ) -> PathwayState:
        """The state after its sources have released something, None where those are spikes.

        `bits` are the packed spikes; with `peers`, those of all devices, to which also goes what
        the sources here release. The rule of plastic weights keeps the signals of the step
        until it is delivered.
        """
        if state.plastic is not None:
            kept = {name: signals[name] for name in state.plastic.signals}
            state = state._replace(plastic=state.plastic._replace(signals=kept))
        if released is None:
            return state
        new, values, own = released
        with_spikes = self.release.with_spikes
        if peers is None:
            out = SpikeOutput(own, values) if with_spikes else SpikeOutput.of_values(values)
        elif with_spikes:
            out = SpikeOutput(bits, peers.gather(values))
        else:
            out = peers.released(SpikeOutput.of_values(values))
        return state._replace(release=new, released=out)
