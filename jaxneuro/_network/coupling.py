"""A coupling as it runs: gap junctions, or a graded release that is gathered in every step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from .._kernels.gather import GatherTable, gather
from .._model import Drive, Release
from .group import Group, RuntimeGroup, Start, started
from .members import as_floating
from .pathway import release_state
from .peers import Peers
from .state import CouplingState, GroupState
from .stimuli import place


class Side(eqx.Module):
    """One direction of a coupling: what each target adds up.

    **Fields** `table` with targets as rows; `weights` of its entries, (0,) if there is one for all;
    `total` (targets,) the sum of the weights of each target, their number if there is one for all;
    static `source`, `target` group numbers, and `sources`, `targets` the neurons there.
    """

    table: GatherTable
    weights: jax.Array
    total: jax.Array
    source: int = eqx.field(static=True)
    sources: tuple[int, int] = eqx.field(static=True)
    target: int = eqx.field(static=True)
    targets: tuple[int, int] = eqx.field(static=True)


class CouplingSpan(NamedTuple):
    """What a coupling is called and where it arrives.

    **Fields** `name`; `source`, `target` populations; `individual` whether each connection has a
    weight of its own; `average`; `receptor` number in the target group and `input`, the row of
    its arrivals: None for gap junctions.
    """

    name: str
    source: str
    target: str
    individual: bool
    average: bool
    receptor: int | None
    input: int | None


class CouplingLayer(eqx.Module):
    """A coupling of a network; one side, or two if neurons of two populations see each other.

    **Fields** `sides`; `weight` () of all connections, 1 where they are individual; `gain` ();
    `release` None for gap junctions; `starts` of its state; static `span`.
    """

    sides: tuple[Side, ...]
    weight: jax.Array
    gain: jax.Array
    release: Release | None
    starts: tuple[Start, ...]
    span: CouplingSpan = eqx.field(static=True)

    def init(self, seed: Any, groups: Sequence[Group], dtype: Any) -> CouplingState:
        """The state at t = 0: nothing was released."""
        if self.release is None:
            return CouplingState()
        n = groups[self.sides[0].source].sizes[self._source(groups)]
        return _initial(self.release, self.starts, seed, n, self.span.name, dtype)

    def _source(self, groups: Sequence[Group]) -> int:
        return groups[self.sides[0].source].populations.index(self.span.source)

    def expand(self) -> "RuntimeCoupling":
        """The coupling as a loop runs it."""
        scale = self.weight * self.gain
        scales = tuple(
            scale / jnp.maximum(side.table.counts, 1).astype(scale.dtype)
            if self.span.average
            else scale
            for side in self.sides
        )
        return RuntimeCoupling(self.sides, scales, self.release, self.span)


def _initial(
    release: Release, starts: tuple, seed: Any, n: int, name: str, dtype: Any
) -> CouplingState:
    state = as_floating(release_state(release, n, seed, name), dtype)
    return CouplingState(started(state, starts, seed), jnp.zeros(n, dtype))


class RuntimeCoupling(eqx.Module):
    """A coupling as a loop runs it: `scales` () or (targets,) multiply the sums of each side.

    `here`: which places of the source group the sources have on a device of a mesh; None where
    they are those of `sides`.
    """

    sides: tuple[Side, ...]
    scales: tuple[jax.Array, ...]
    release: Release | None
    span: CouplingSpan = eqx.field(static=True)
    here: tuple[int, int] | None = eqx.field(static=True, default=None)

    def gathered(
        self,
        groups: Sequence[RuntimeGroup],
        states: Sequence[GroupState],
        peers: Sequence[Peers] | None,
        mine: CouplingState,
    ) -> list[tuple[int, Drive | None, dict[int, jax.Array]]]:
        """For each side the number of its target group, a drive for it, and arrivals by input."""
        out = []
        for side, scale in zip(self.sides, self.scales):
            n = groups[side.target].n
            if self.release is None:
                v = groups[side.source].model.voltage(states[side.source].neurons)
                assert v is not None  # build has checked it
                v = v if peers is None else peers[side.source].gather(v)
                current = gather(v[slice(*side.sources)], side.weights, side.table) * scale
                drive = Drive(current, jnp.broadcast_to(side.total * scale, current.shape))
                drive = jax.tree.map(lambda x: place(x, [side.targets], n), drive)  # noqa: B023
                out.append((side.target, drive, {}))
            else:
                assert mine.values is not None
                assert self.span.input is not None
                x = gather(mine.values, side.weights, side.table) * scale
                out.append((side.target, None, {self.span.input: place(x, [side.targets], n)}))
        return out

    def release_now(
        self,
        mine: CouplingState,
        spikes: jax.Array,
        v: Any,
        dt: float,
        dtype: Any,
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
        return CouplingState(release, values)
