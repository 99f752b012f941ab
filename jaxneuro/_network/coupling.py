"""A coupling: gap junctions, or a graded release that is gathered in every step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from .._arrays import AnyArray
from .._kernels.gather import GatherTable, gather
from .._model import Release
from .group import Coupled, GapSum, Group, GroupState, InitialValue, with_initial
from .members import Seed, as_floating
from .pathway import release_state
from .shards import Peers
from .stimuli import place


class Side(eqx.Module):
    """One direction of a coupling: what each target adds up.

    Attributes:
        table: the connections, with targets as rows.
        weights: of its entries, (0,) if there is one for all.
        total: (targets,) the sum of the weights of each target, their number if there is one
            weight for all.
        source, target: group numbers.
        sources, targets: the neurons there, first and last + 1.
    """

    table: GatherTable
    weights: Float[AnyArray, "*devices entries"]
    total: Float[AnyArray, "*devices targets"]
    source: int = eqx.field(static=True)
    sources: tuple[int, int] = eqx.field(static=True)
    target: int = eqx.field(static=True)
    targets: tuple[int, int] = eqx.field(static=True)


class CouplingState(NamedTuple):
    """The state of a coupling.

    Attributes:
        release: that of its release model, None for gap junctions.
        values: (n,) what that released in the last step, None for gap junctions.
    """

    release: Any = None
    values: Float[Array, " n"] | None = None


class CouplingLayer(eqx.Module):
    """A coupling of a network; one side, or two if neurons of two populations see each other.

    Attributes:
        sides: its directions, that from source to target first.
        weight: () of all connections, 1 where they are individual.
        gain: () multiplies all weights.
        release: the release model, None for gap junctions.
        initial: start values of its state.
        name: its name.
        source, target: populations.
        individual: whether each connection has a weight of its own.
        average: whether a target takes the mean over its connections.
        receptor: number of the receptor in the target group, None for gap junctions.
        input: the row of its arrivals, None for gap junctions.
    """

    sides: tuple[Side, ...]
    weight: Float[AnyArray, ""]
    gain: Float[AnyArray, ""]
    release: Release | None
    initial: tuple[InitialValue, ...]
    name: str = eqx.field(static=True)
    source: str = eqx.field(static=True)
    target: str = eqx.field(static=True)
    individual: bool = eqx.field(static=True)
    average: bool = eqx.field(static=True)
    receptor: int | None = eqx.field(static=True)
    input: int | None = eqx.field(static=True)

    def init(self, seed: Seed, dtype: np.dtype) -> CouplingState:
        """The state at t = 0: nothing was released."""
        if self.release is None:
            return CouplingState()
        first, last = self.sides[0].sources
        state = release_state(self.release, last - first, seed, self.name)
        state = with_initial(as_floating(state, dtype), self.initial, seed)
        return CouplingState(release=state, values=jnp.zeros(last - first, dtype))

    def expand(self) -> "RuntimeCoupling":
        """The coupling as a loop runs it."""
        scale = self.weight * self.gain
        scales = tuple(
            scale / jnp.maximum(side.table.counts, 1).astype(scale.dtype) if self.average else scale
            for side in self.sides
        )
        return RuntimeCoupling(self.sides, scales, self.release, self.input)


class RuntimeCoupling(eqx.Module):
    """A coupling as a loop runs it.

    Attributes:
        sides: its directions.
        scales: () or (targets,) of each side, which multiply its sums.
        release: the release model, None for gap junctions.
        input: the row of its arrivals, None for gap junctions.
        here: which places of the source group the sources have on a device of a mesh; None where
            they are those of `sides`.
    """

    sides: tuple[Side, ...]
    scales: tuple[Float[AnyArray, "..."], ...]
    release: Release | None
    input: int | None = eqx.field(static=True)
    here: tuple[int, int] | None = eqx.field(static=True, default=None)

    def gathered(
        self,
        groups: Sequence[Group],
        states: Sequence[GroupState],
        peers: Sequence[Peers] | None,
        mine: CouplingState,
    ) -> list[tuple[int, Coupled]]:
        """For each side the number of its target group, and what it does to that."""
        out = []
        for side, scale in zip(self.sides, self.scales):
            n = groups[side.target].n
            if self.release is None:
                v = groups[side.source].model.voltage(states[side.source].neurons)
                assert v is not None  # build has checked it
                v = v if peers is None else peers[side.source].gather(v)
                sums = gather(v[slice(*side.sources)], side.weights, side.table)
                gap = GapSum(sums, side.total, scale, side.targets, n)
                out.append((side.target, Coupled((gap,), {})))
            else:
                assert mine.values is not None
                assert self.input is not None
                x = gather(mine.values, side.weights, side.table) * scale
                arriving = {self.input: place(x, [side.targets], n)}
                out.append((side.target, Coupled((), arriving)))
        return out

    def release_now(
        self,
        mine: CouplingState,
        spikes: Shaped[Array, " n"],
        v: Any,
        dt: float,
        dtype: np.dtype,
        peers: Peers | None = None,
    ) -> CouplingState:
        """The state after the release has seen spikes and voltages of the group of its sources.

        With `peers`, those of this device; its values are those of all.
        """
        if self.release is None:
            return mine
        span = self.here or self.sides[0].sources
        v = None if v is None else v[slice(*span)]
        release, values = self.release.step(mine.release, spikes[slice(*span)], v, dt)
        values = values.astype(dtype)
        if peers is not None:
            every = peers.gather(place(values, [span], spikes.shape[0]))
            values = every[slice(*self.sides[0].sources)]
        return CouplingState(release=release, values=values)
