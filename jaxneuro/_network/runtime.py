"""A network as a loop runs it: its step, and several steps between two exchanges of devices.

What is released in a step arrives after the shortest delay at the earliest. So the neurons of a
device can take that many steps before they must know what others released; then all of it is
exchanged at once, and delivered step by step, in the order in which single steps would deliver.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int32, Num, Shaped

from .._arrays import AnyArray
from .._kernels.clock import Clock
from .._kernels.spike_output import SpikeOutput
from .coupling import CouplingState, RuntimeCoupling
from .group import Cells, Coupled, Group, GroupState, added, arrivals, slot_of
from .inputs import check_now, checked_inputs
from .modulator import ModulatorLayer, needed_signals
from .moved import Moved, Moving, Released, move
from .pathway import PathwayState, RuntimePathway
from .shards import Peers
from .state import NetworkState, Output
from .targets import Fired


class RuntimeNetwork(eqx.Module):
    """A network whose parameters are expanded to neurons and blocks: made once, before a loop.

    On one device of a mesh, neurons, receptors, rings and targets are those of this device, and
    what was released is that of all.

    Attributes:
        groups, pathways, couplings, modulators: those of the network, expanded.
        quanta: (inputs,) per group if arrivals are counted, else None.
        dt: time step [ms].
        order: population names.
        dtype: that of its numbers.
        peers: per group on one device of a mesh, else None.
    """

    groups: tuple[Group, ...]
    pathways: tuple[RuntimePathway, ...]
    couplings: tuple[RuntimeCoupling, ...]
    modulators: tuple[ModulatorLayer, ...]
    quanta: tuple[Float[AnyArray, "*devices _"], ...] | None
    dt: float = eqx.field(static=True)
    order: tuple[str, ...] = eqx.field(static=True)
    dtype: np.dtype = eqx.field(static=True)
    peers: tuple[Peers, ...] | None = None

    def step(
        self,
        state: NetworkState,
        inputs: Mapping[str, ArrayLike] | None = None,
        last: Clock | None = None,
        taps: Sequence[Float[Array, " places"] | None] | None = None,
    ) -> tuple[NetworkState, Output]:
        """One time step, from t_k to t_k+1; a loop that counts gives `last`, which is step k - 1.

        In this order: what the last step released is delivered, and couplings see the neurons as
        they stand; neurons are integrated under the drive of couplings and synapses at the start of
        the step, synapses decay and take the arrivals of this step, threshold and reset; what this
        step releases waits for the next. `inputs` are currents [pA] or, of relays, spikes by
        population name, () or (n,), and the signals of plasticity rules and modulators by name, ().
        What modulators scale is scaled by their levels at the start of the step.
        """
        inputs = checked_inputs("step", inputs)
        populations = {m.name: m.n for g in self.groups for m in g.members}
        check_now(inputs, populations, self._signals(state))
        inputs = {name: jnp.asarray(x, self.dtype) for name, x in inputs.items()}
        net = self
        for modulator, mine in zip(self.modulators, state.modulators):
            net = modulator.scaled(net, mine)
        return net._step(state, inputs, Clock.of(state.step - 1) if last is None else last, taps)

    def _step(
        self,
        state: NetworkState,
        inputs: dict[str, Float[Array, "..."]],
        last: Clock,
        taps: Sequence[Float[Array, " places"] | None] | None,
    ) -> tuple[NetworkState, Output]:
        """One time step of the network with its parameters as they are now."""
        rings, delivered = self.deliver_last_step(state, last)
        coupled = self._gathered(state)
        releases = tuple(p.release for p in delivered)
        cells, (rings, arrived) = [g.cells for g in state.groups], self.arrivals(rings, last, taps)
        read = list(rings)
        for number, tap in enumerate(taps or ()):
            now = arrived[number]
            if tap is not None and now is not None:
                read[number] = now[None]
        moved = self.moved(cells, releases, arrived, read, last, inputs, coupled)
        groups = tuple(
            GroupState(*m.cells, ring, self._everywhere(number, m.released))
            for number, (m, ring) in enumerate(zip(moved, rings))
        )
        spikes = tuple(m.spikes for m in moved)
        fired = self._fired_everywhere(groups, spikes)
        free = {m.name: m.set_free(fired, inputs, self.dtype) for m in self.modulators}
        new = NetworkState(
            step=state.step + 1,
            seed=state.seed,
            groups=groups,
            pathways=self._release(delivered, groups, moved, inputs | free),
            couplings=self._release_graded(state.couplings, groups, spikes),
            modulators=tuple(
                m.step(mine, free[m.name], self.dt)
                for m, mine in zip(self.modulators, state.modulators)
            ),
            fingerprint=state.fingerprint,
        )
        return new, Output(self.by_name(fired), tuple(g.released.bits for g in groups))

    def moved(
        self,
        cells: Sequence[Cells],
        releases: Sequence[Any],
        arrived: Sequence[Num[Array, " _"] | None],
        rings: Sequence[Num[Array, "_ _"]],
        last: Clock,
        inputs: Mapping[str, Float[Array, "..."]],
        coupled: Sequence[Coupled] | None = None,
    ) -> tuple[Moved, ...]:
        """The groups after their neurons have moved; `releases` are the states of the pathways'.

        `arrived` are the slots of this step of `rings`.
        """
        out = []
        for number, (group, before) in enumerate(zip(self.groups, cells)):
            mine = self._releases_of(number)
            moving = Moving(
                group,
                tuple(self.pathways[k].release for k in mine),
                None if self.quanta is None else self.quanta[number],
                before,
                tuple(releases[k] for k in mine),
                arrived[number],
                rings[number],
                Coupled((), {}) if coupled is None else coupled[number],
                {m.name: inputs[m.name] for m in group.members if m.name in inputs},
                last,
            )
            out.append(move(moving, self.dt, self.dtype))
        return tuple(out)

    def arrivals(
        self,
        rings: Sequence[Num[Array, "_ _"]],
        last: Clock,
        taps: Sequence[Float[Array, " places"] | None] | None = None,
    ) -> tuple[list[Num[Array, "_ _"]], list[Num[Array, " places"] | None]]:
        """The rings, unchanged, and what arrives from them at each group in the next step."""
        rings, out, step = list(rings), [], last.now + 1
        targets = {p.target for p in self.pathways if not p.ahead}
        for number, (group, ring) in enumerate(zip(self.groups, rings)):
            arrived = tap = None if taps is None else taps[number]
            if number in targets:
                rings[number], arrived = arrivals(ring, step, tap)
            elif tap is None and group.fed_inputs:
                arrived = slot_of(ring, step)
            out.append(arrived)
        return rings, out

    def waiting(self, state: NetworkState) -> tuple[SpikeOutput, ...]:
        """The spikes or values that each pathway delivers in the next step."""
        return tuple(
            _delivered_by(state.groups[p.source].released, mine.released)
            for p, mine in zip(self.pathways, state.pathways)
        )

    def _releases_of(self, group: int) -> tuple[int, ...]:
        """The pathways whose release models see the neurons of a group."""
        return tuple(
            k for k, p in enumerate(self.pathways) if p.source == group and not p.release.plain
        )

    def by_pathway(self, moved: Sequence[Moved]) -> dict[int, Released]:
        """What release models did, by the numbers of their pathways."""
        return {
            k: released
            for number, m in enumerate(moved)
            for k, released in zip(self._releases_of(number), m.releases)
        }

    def _everywhere(self, number: int, released: SpikeOutput) -> SpikeOutput:
        """What all neurons of a group released, from what those of this device did."""
        return released if self.peers is None else self.peers[number].released(released)

    def _fired_everywhere(
        self, groups: tuple[GroupState, ...], spikes: tuple[Shaped[Array, " _"], ...]
    ) -> tuple[Shaped[Array, " _"], ...]:
        """The spikes of all neurons of each group."""
        if self.peers is None:
            return spikes
        return tuple(
            g.released.dense(here.dtype)[: peers.n]
            for g, here, peers in zip(groups, spikes, self.peers)
        )

    def deliver_last_step(
        self, state: NetworkState, last: Clock
    ) -> tuple[list[Num[Array, "_ _"]], list[PathwayState]]:
        """Rings and pathways after what step k - 1 released has been delivered, in step k.

        So a ring is written before it is read, and XLA updates it in place. The slot of step
        k - 1, which was read in that step, is emptied by the first delivery into the ring.
        """
        rings, cleared, pathways = [group.ring for group in state.groups], set(), []
        for p, mine in zip(self.pathways, state.pathways):
            if p.ahead:
                pathways.append(mine)
                continue
            spikes, target = state.groups[p.source].released, state.groups[p.target]
            v = getattr(target.neurons, "v", None)  # before a reset, which the next step does
            if v is None:  # a rate unit
                v = self.groups[p.target].model.voltage(target.neurons)
            fired = target.released.bits
            if self.peers is not None and p.plastic is not None:
                fired = self.peers[p.target].bits_here(fired)
            rings[p.target], new = p.deliver(
                rings[p.target],
                spikes,
                Fired(fired, v),
                mine,
                last,
                clear=p.target not in cleared,
            )
            pathways.append(new)
            cleared.add(p.target)
        return rings, pathways

    def _gathered(self, state: NetworkState) -> list[Coupled]:
        """What couplings do to each group in this step."""
        out = [Coupled((), {}) for _ in self.groups]
        for coupling, mine in zip(self.couplings, state.couplings):
            for target, new in coupling.gathered(self.groups, state.groups, self.peers, mine):
                old = out[target]
                out[target] = Coupled(old.gaps + new.gaps, added(old.arrivals, new.arrivals))
        return out

    def _release_graded(
        self,
        couplings: Sequence[CouplingState],
        groups: tuple[GroupState, ...],
        spikes: tuple[Shaped[Array, " _"], ...],
    ) -> tuple[CouplingState, ...]:
        """The states of the couplings after the step of their release models."""
        out = []
        for c, before in zip(self.couplings, couplings):
            source = c.sides[0].source
            v = self.groups[source].model.voltage(groups[source].neurons)
            peers = None if self.peers is None else self.peers[source]
            out.append(c.release_now(before, spikes[source], v, self.dt, self.dtype, peers))
        return tuple(out)

    def _release(
        self,
        pathways: Sequence[PathwayState],
        groups: tuple[GroupState, ...],
        moved: Sequence[Moved],
        inputs: Mapping[str, Float[Array, "..."]],
    ) -> tuple[PathwayState, ...]:
        """The states of the pathways after the step of their release models."""
        released = self.by_pathway(moved)
        return tuple(
            p.after(
                before,
                released.get(k),
                groups[p.source].released.bits,
                signals=inputs,
                peers=None if self.peers is None else self.peers[p.source],
            )
            for k, (p, before) in enumerate(zip(self.pathways, pathways))
        )

    def by_name(
        self, spikes: Sequence[Shaped[Array, "*steps _"]], axis: int = 0
    ) -> dict[str, Shaped[Array, "*steps _"]]:
        """The spikes of groups, whose neurons are on an axis, by the names of populations."""
        found = {}
        for group, fired in zip(self.groups if self.peers is None else self.peers, spikes):
            start = 0
            for member in group.members:
                found[member.name] = lax.slice_in_dim(fired, start, start + member.n, axis=axis)
                start += member.n
        return {name: found[name] for name in self.order}

    def _signals(self, state: NetworkState) -> tuple[str, ...]:
        """The names of the signals that a step must be given."""
        plastic = [mine.plastic for mine in state.pathways if mine.plastic is not None]
        return needed_signals((name for mine in plastic for name in mine.signals), self.modulators)


def _delivered_by(spikes: SpikeOutput, own: SpikeOutput | None) -> SpikeOutput:
    """What a pathway delivers: what its release made, or spikes, whose values are 1."""
    if own is not None:
        return own
    return spikes if spikes.counted is None else SpikeOutput(spikes.bits)


def steps_together(
    net: Any,
    state: NetworkState,
    inputs: Mapping[str, Num[Array, "steps ..."]],
    steps: int,
    taps: Sequence[Float[Array, "steps places"] | None] | None = None,
) -> tuple[NetworkState, Output, tuple[SpikeOutput, ...]]:
    """`steps` steps of one device, inside `shard_map`; the output has an axis of steps.

    `net` a `RuntimeNetwork` with peers, and without couplings, modulators and plastic weights;
    `inputs` (steps, ...). The last result is what each pathway delivered in each step.
    """
    start = Clock.of(state.step - 1)
    rings, pathways = net.deliver_last_step(state, start)
    releases = tuple(p.release for p in pathways)
    cells = tuple(g.cells for g in state.groups)
    arriving = []
    for k in range(steps):
        now = jax.tree.map(lambda x: x[k], taps)  # noqa: B023
        rings, arrived = net.arrivals(rings, start._replace(since=start.since + k), now)
        arriving.append(arrived)
    arriving = jax.tree.map(lambda *x: jnp.stack(x), *arriving)

    def one(carry: tuple, given: tuple) -> tuple:
        (since, cells, releases), (now, arrived) = carry, given
        moved = net.moved(cells, releases, arrived, rings, start._replace(since=since), now)
        released = net.by_pathway(moved)
        held = tuple(released[k].state if k in released else x for k, x in enumerate(releases))
        values = tuple(released[k].values if k in released else None for k in range(len(held)))
        here = tuple(m.released for m in moved)
        return (since + 1, tuple(m.cells for m in moved), held), (here, values)

    inputs = {name: jnp.asarray(x, net.dtype) for name, x in inputs.items()}
    carry = start.since, cells, releases
    (_, cells, releases), (here, values) = lax.scan(one, carry, (inputs, arriving), length=steps)
    everywhere = tuple(peers.released_in_steps(r) for peers, r in zip(net.peers, here))
    own = tuple(_own(net, p, x, everywhere) for p, x in zip(net.pathways, values))
    rings = _delivered(net, state.step, rings, everywhere, own, steps)
    final = jax.tree.map(lambda x: x[-1], (everywhere, own))
    new = state._replace(
        step=state.step + steps,
        groups=tuple(GroupState(*x) for x in zip(*zip(*cells), rings, final[0])),
        pathways=tuple(
            p._replace(release=release, released=x)
            for p, release, x in zip(pathways, releases, final[1])
        ),
    )
    spikes = [r.dense_in_steps(p.n) for r, p in zip(everywhere, net.peers)]
    earlier = [_delivered_by(everywhere[p.source], x) for p, x in zip(net.pathways, own)]
    waiting = jax.tree.map(
        lambda first, x: jnp.concatenate([first[None], x[:-1]]), net.waiting(state), tuple(earlier)
    )
    return new, Output(net.by_name(spikes, axis=1), tuple(r.bits for r in everywhere)), waiting


def _own(
    net: Any,
    pathway: RuntimePathway,
    values: Float[Array, "steps n"] | None,
    everywhere: tuple[SpikeOutput, ...],
) -> SpikeOutput | None:
    """What all sources of a pathway released in each step, None where that is the spikes."""
    if values is None:
        return None
    peers = net.peers[pathway.source]
    if pathway.release.with_spikes:
        return SpikeOutput(everywhere[pathway.source].bits, peers.gather(values))
    return peers.released_in_steps(jax.vmap(SpikeOutput.of_values)(values))


def _delivered(
    net: RuntimeNetwork,
    first: Int32[Array, ""],
    rings: list[Num[Array, "_ _"]],
    everywhere: tuple[SpikeOutput, ...],
    own: tuple[SpikeOutput | None, ...],
    steps: int,
) -> tuple[Num[Array, "_ _"], ...]:
    """The rings after all steps but the last have been delivered."""

    def one(rings: tuple, now: tuple) -> tuple:
        step, spikes, mine = now
        new, cleared = list(rings), set()
        for p, released in zip(net.pathways, mine):
            x = p.released_by(spikes[p.source], released)
            new[p.target] = p.deliver_now(new[p.target], x, Clock.of(step), p.target not in cleared)
            cleared.add(p.target)
        return tuple(new), None

    before = jax.tree.map(lambda x: x[:-1], (everywhere, own))
    numbers = first + jnp.arange(steps - 1, dtype=first.dtype)
    return lax.scan(one, tuple(rings), (numbers, *before))[0]
