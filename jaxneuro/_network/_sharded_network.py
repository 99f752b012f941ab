"""A network over the devices of a mesh as a loop runs it."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from jaxneuro._network._exchange import local_layout
from jaxneuro._network._layout import Layout
from jaxneuro._network._network_state import NetworkState, Output
from jaxneuro._network._spread_network import SpreadNetwork


class ShardedNetwork(eqx.Module):
    """A spread network over a mesh: each device runs the step of its own neurons.

    **Fields** `local` a `SpreadNetwork` whose arrays have an entry per device; `net` the network,
    whose tables have; `layout`.
    """

    local: SpreadNetwork
    net: Any
    layout: Layout

    def step(
        self, state: NetworkState, inputs: Mapping[str, jax.Array] | None = None
    ) -> tuple[NetworkState, Output]:
        """One time step; see `SpreadNetwork.step`. The output is that of the whole network."""
        one = lambda net, spread, state, xs: spread.step(state, xs)  # noqa: E731
        return self.on_devices(one, state, dict(inputs or {}), steps=False)

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
        """`loop(net, spread, state, inputs)` on each device, with what is there.

        It returns a state and what is equal on all devices. `inputs` have an axis of time steps
        before that of neurons if there are `steps`.
        """
        own, shared = P(self.layout.axis), P()
        states = self.layout.specs(state)
        inputs = {name: self._input(name, x, steps) for name, x in inputs.items()}
        cut = {name: own if x.ndim == 2 + steps else shared for name, x in inputs.items()}

        def here(local: Any, net: Any, layout: Layout, orders: Any, state: Any, xs: Any) -> Any:
            first = lambda tree: jax.tree.map(lambda x: x[0], tree)  # noqa: E731
            seen = local_layout(layout, first(orders))
            net = dataclasses.replace(_with_own(net, first), layout=seen)
            spread = dataclasses.replace(first(local), peers=seen.groups)
            xs = {name: x[0] if x.ndim == 2 + steps else x for name, x in xs.items()}
            state, out = loop(net, spread, _over(states, state, own, lambda x: x[0]), xs)
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

    def _input(self, name: str, x: Any, steps: bool) -> jax.Array:
        """The currents of a population, one per neuron, as those of each device's places."""
        x = jnp.asarray(x, self.local.dtype)
        return x if x.ndim < 1 + steps else self.layout.split_population(name, x)


def each_device(layout: Layout, f: Callable, *own: Any, shared: Any = ()) -> Any:
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


def _with_own(net: Any, change: Callable) -> Any:
    """The network with a change of every part of which a device has its own."""
    pathways = tuple(
        dataclasses.replace(p, table=change(p.table), weights=change(p.weights))
        for p in net.pathways
    )
    couplings = tuple(dataclasses.replace(c, sides=change(c.sides)) for c in net.couplings)
    return dataclasses.replace(net, pathways=pathways, couplings=couplings)
