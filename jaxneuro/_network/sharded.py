"""A network over the devices of a mesh: its arrays side by side, and its step on each device."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int32, Shaped

from .coupling import RuntimeCoupling
from .group import Group, PopulationMember
from .inputs import check_now, checked_inputs
from .layout import MeshLayout, Orders, local_layout
from .modulator import ModulationTarget, ModulatorLayer
from .pathway import RuntimePathway
from .runtime import RuntimeNetwork
from .shards import ShardLayout
from .state import NetworkState, Output
from .stimuli import StimulationMember, StimulusGroup

if TYPE_CHECKING:
    from .network import Network


class ShardedNetwork(eqx.Module):
    """A network over a mesh as it runs: each device runs the step of its own neurons.

    Attributes:
        local: a `RuntimeNetwork` whose arrays have an entry per device.
        net: the network, whose tables have.
        layout: its layout.
    """

    local: RuntimeNetwork
    net: "Network"
    layout: MeshLayout

    def step(
        self, state: NetworkState, inputs: Mapping[str, ArrayLike] | None = None
    ) -> tuple[NetworkState, Output]:
        """One time step; see `RuntimeNetwork.step`. The output is that of the whole network."""
        one = lambda net, runtime, state, xs: runtime.step(state, xs)  # noqa: E731
        known = checked_inputs("step", inputs)
        check_now(known, self.net.populations, self.net.signals)
        return self.on_devices(one, state, known, steps=False)

    def steps_together(self, steps: int) -> int:
        """How many steps to take between two exchanges, those of the shortest delay at most.

        They divide `steps`. One where neurons see each other's voltages, where spikes set a
        modulator free, and where weights are plastic.
        """
        most = 1 if self.net.exchanges_every_step else self.layout.shortest
        return max(k for k in range(1, most + 1) if steps % k == 0)

    def on_devices(
        self, loop: Callable, state: NetworkState, inputs: dict[str, Any], steps: bool = True
    ) -> tuple[NetworkState, Any]:
        """`loop(net, runtime, state, inputs)` on each device, with what is there.

        It returns a state and what is equal on all devices. `inputs` have an axis of time steps
        before that of neurons if there are `steps`.
        """
        own, shared = P(self.layout.axis), P()
        states = self.layout.specs(state)
        inputs = {name: self._input(name, x, steps) for name, x in inputs.items()}
        cut = {name: own if x.ndim == 2 + steps else shared for name, x in inputs.items()}

        def here(
            local: RuntimeNetwork,
            net: "Network",
            layout: MeshLayout,
            orders: Orders,
            state: NetworkState,
            xs: dict[str, Float[Array, "..."]],
        ) -> tuple[NetworkState, Any]:
            first = lambda tree: jax.tree.map(lambda x: x[0], tree)  # noqa: E731
            seen = local_layout(layout, first(orders))
            net = dataclasses.replace(_with_own(net, first), layout=seen)
            runtime = dataclasses.replace(first(local), peers=seen.groups)
            xs = {name: x[0] if x.ndim == 2 + steps else x for name, x in xs.items()}
            state, out = loop(net, runtime, _over(states, state, own, lambda x: x[0]), xs)
            return _over(states, state, own, lambda x: x[None]), out

        kept = jax.tree.map(lambda _: shared, dataclasses.replace(self.net, layout=None))
        parts = _with_own(kept, lambda part: jax.tree.map(lambda _: own, part))
        run = jax.shard_map(
            here,
            mesh=self.layout.mesh,
            in_specs=(own, parts, shared, own, states, cut),
            out_specs=(states, shared),
            check_vma=False,
        )
        every = dataclasses.replace(self.layout, numbers=())
        net = dataclasses.replace(self.net, layout=None)
        return run(self.local, net, every, self.layout.orders, state, inputs)

    def _input(self, name: str, x: Any, steps: bool) -> Float[Array, "..."]:
        """The currents of a population, one per neuron, as those of each device's places."""
        x = jnp.asarray(x, self.local.dtype)
        return x if x.ndim < 1 + steps else self.layout.split_population(name, x)


def each_device(layout: MeshLayout, f: Callable, *own: Any, shared: Any = ()) -> Any:
    """`f(*own, *shared)` on each device, of what is there; it returns what each device has."""
    mine, every = P(layout.axis), P()

    def here(own: Any, shared: Any) -> Any:
        out = f(*jax.tree.map(lambda x: x[0], own), *shared)
        return jax.tree.map(lambda x: x[None], out)

    run = jax.shard_map(
        here, mesh=layout.mesh, in_specs=(mine, every), out_specs=mine, check_vma=False
    )
    return run(own, shared)


def _over(specs: NetworkState, state: NetworkState, own: P, change: Callable) -> NetworkState:
    """The state with a change of every array of which a device has its own part."""
    part = lambda spec, x: jax.tree.map(change, x) if spec == own else x  # noqa: E731
    return jax.tree.map(part, specs, state, is_leaf=lambda x: isinstance(x, P))


def _with_own(net: "Network", change: Callable) -> Any:
    """The network with a change of every part of which a device has its own."""
    pathways, couplings = range(len(net.pathways)), range(len(net.couplings))

    def own(n: "Network") -> list:
        tables = [x for k in pathways for x in (n.pathways[k].table, n.pathways[k].weights)]
        return [*tables, *(n.couplings[k].sides for k in couplings)]

    return eqx.tree_at(own, net, change(own(net))) if pathways or couplings else net


def lay_network(net: "Network") -> ShardedNetwork:
    """The network as a loop runs it on its mesh. Its tables are laid over the mesh already."""
    layout = net.layout
    assert isinstance(layout, MeshLayout)
    fixed = None if net.fixed_point is None else net.fixed_point.now(net.pathways)
    pathways = (p.expand(net.groups[p.source].sizes, fixed) for p in net.pathways)
    numbers = range(len(net.couplings))
    local = RuntimeNetwork(
        groups=tuple(_group(net, number, layout) for number in range(len(net.groups))),
        pathways=tuple(_pathway(p, layout) for p in pathways),
        couplings=tuple(_coupling(net, number, layout) for number in numbers),
        modulators=tuple(_modulator(m, net, layout) for m in net.modulators),
        quanta=None if fixed is None else _repeated(fixed.quanta, layout),
        dt=net.dt,
        order=net.order,
        dtype=net.dtype,
    )
    return ShardedNetwork(local, net, layout)


def _repeated(tree: Any, layout: MeshLayout) -> Any:
    """The same arrays for every device."""
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (layout.devices, *x.shape)), tree)


def _group(net: "Network", number: int, layout: MeshLayout) -> Group:
    expanded, mine = net.groups[number].expand(), layout.groups[number]
    driven = layout.stimuli[number]
    return dataclasses.replace(
        expanded,
        model=mine.split(expanded.model),
        receptors=tuple(mine.split(r) for r in expanded.receptors),
        stimuli=tuple(_stimulus(s, units, mine) for s, units in zip(expanded.stimuli, driven)),
        members=tuple(PopulationMember(m.name, n) for m, n in zip(mine.members, mine.sizes)),
    )


def _stimulus(stimulus: StimulusGroup, units: ShardLayout, mine: ShardLayout) -> StimulusGroup:
    """A stimulus on the places of each device; `units` are the shards of what it drives."""
    cut = dataclasses.replace(units, everywhere=False)
    weight = None if stimulus.weight is None else cut.split(_each(stimulus.weight, stimulus))
    if units.everywhere:
        model, here = units.split(stimulus.model), units.order
    else:
        model, here = units.split(_each(stimulus.model, stimulus)), None
    new = dataclasses.replace(stimulus, model=model, weight=weight, here=here)
    if stimulus.index is None and whole_populations(stimulus, mine):
        return dataclasses.replace(new, targets=_local_targets(stimulus, mine))
    index = places_of_units(stimulus, units, mine)
    one = stimulus.targets[0]
    target = StimulationMember(one.name, one.population, units.places, None, 0)
    return dataclasses.replace(new, index=index, targets=(target,))


def _each(tree: Any, stimulus: StimulusGroup) -> Any:
    """Numbers that are given per run as one per neuron that is driven."""
    runs = len(stimulus.targets)

    def leaf(x: Shaped[Array, "..."]) -> Shaped[Array, "..."]:
        if x.ndim == 0 or x.shape[0] == stimulus.n or runs == 1:
            return x
        return jnp.repeat(x, jnp.asarray(stimulus.sizes), total_repeat_length=stimulus.n)

    return jax.tree.map(leaf, tree)


def whole_populations(stimulus: StimulusGroup, mine: ShardLayout) -> bool:
    """Whether every stimulation drives all neurons of its population."""
    return all(t.span is not None and t.n == mine.members[t.population].n for t in stimulus.targets)


def _local_targets(stimulus: StimulusGroup, mine: ShardLayout) -> tuple[StimulationMember, ...]:
    out = []
    for t in stimulus.targets:
        start, size = sum(mine.sizes[: t.population]), mine.sizes[t.population]
        out.append(StimulationMember(t.name, t.population, size, (start, start + size), 0))
    return tuple(out)


def places_of_units(
    stimulus: StimulusGroup, units: ShardLayout, mine: ShardLayout
) -> Int32[Array, "devices places"]:
    """The place of each driven neuron on its device; none for padding."""
    if stimulus.index is not None:
        neurons = stimulus.index
    else:
        neurons = jnp.concatenate([jnp.arange(*span, dtype=jnp.int32) for span in stimulus.spans])
    place = mine.place[neurons[units.order]] % mine.places
    beyond = mine.places + jnp.arange(units.places, dtype=jnp.int32)
    return jnp.where(units.real, place, beyond)


def _pathway(p: RuntimePathway, layout: MeshLayout) -> RuntimePathway:
    release = layout.groups[p.source].split(p.release)
    plastic = None if p.plastic is None else _repeated(p.plastic, layout)
    # What tables are padded with has no targets, and must not reach a gradient.
    empty = p.table.block_span[..., 0] == p.table.block_span[..., 1]
    scale = jnp.where(empty, jnp.zeros_like(p.scale), p.scale)
    return dataclasses.replace(p, release=release, plastic=plastic, scale=scale)


def _coupling(net: "Network", number: int, layout: MeshLayout) -> RuntimeCoupling:
    layer = net.couplings[number]
    scale = layer.weight * layer.gain
    scales = tuple(
        scale / jnp.maximum(side.table.counts, 1).astype(scale.dtype)
        if layer.average
        else _repeated(scale, layout)
        for side in layer.sides
    )
    here, release = None, layer.release
    if release is not None:
        source = layout.groups[layer.sides[0].source]
        index = [m.name for m in source.members].index(layer.source)
        start = sum(source.sizes[:index])
        here = start, start + source.sizes[index]
        release = layout.sources[number].split(release)
    return RuntimeCoupling(layer.sides, scales, release, layer.input, here)


def _modulator(m: ModulatorLayer, net: "Network", layout: MeshLayout) -> ModulatorLayer:
    targets = tuple(_modulation_target(target, net, layout) for target in m.targets)
    return _repeated(dataclasses.replace(m, targets=targets), layout)


def _modulation_target(
    target: ModulationTarget, net: "Network", layout: MeshLayout
) -> ModulationTarget:
    """What is scaled, with the sizes of populations on a device."""
    path = target.path
    if target.blocks or len(target.sizes) == 1:
        return target
    if path[0] == "groups" and "stimuli" in path:
        return target._replace(sizes=layout.stimuli[path[1]][path[3]].sizes)
    number = path[1] if path[0] == "groups" else net.pathways[path[1]].source
    return target._replace(sizes=layout.groups[number].sizes)
