"""Loops that a GPU may run in one launch: many steps of neurons that nothing connects.

The rest of the package uses only `one_launch_or_loop`.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._fields import has_tables
from .._kernels.fused_scan import NotFusedError, fused_or_plain
from .._kernels.spike_output import SpikeOutput
from .._network.group import Cells, Coupled
from .._network.network import Network
from .._network.runtime import RuntimeNetwork
from .._network.state import NetworkState, Output
from .record import Record


def one_launch_or_loop(
    loop: Callable,
    net: Network,
    runtime: RuntimeNetwork,
    state: NetworkState,
    inputs: dict[str, Float[Array, "steps ..."]],
    record: Record,
    n_steps: int,
) -> Any:
    """`loop(net, runtime, state, inputs)`; on a GPU in one launch, if the run is `fusable`."""
    if not fusable(net, inputs, record, n_steps):
        return loop(net, runtime, state, inputs)
    one_launch = functools.partial(fused, record=record, n_steps=n_steps)
    otherwise = "these neurons step one launch after the other"
    return fused_or_plain(one_launch, loop, otherwise, net, runtime, state, inputs)


def fusable(net: Network, inputs: Mapping[str, Any], record: Record, n_steps: int) -> bool:
    """Whether a run is one of neurons that nothing connects, recorded as variables and spikes."""
    if len(net.groups) != 1 or net.pathways or net.couplings or net.modulators:
        return False
    if n_steps == 0 or net.n_neurons == 0:
        return False
    (group,) = net.groups
    if group.receptors or any(group.slow) or (inputs and len(group.populations) > 1):
        return False
    if inputs and group.model.input_part != "current":
        return False
    models = (group.model, *(s.model for s in group.stimuli))
    if any(has_tables(model) for model in models) or not all(
        s.receptor is None and s.onto_all(group.n) for s in group.stimuli
    ):
        return False
    if record.all_recorders.keys() - {"traces"} or record.statistics:
        return False
    return all(name in net.populations for name in record.variables)


def fused(
    net: Network,
    runtime: RuntimeNetwork,
    state: NetworkState,
    inputs: dict,
    record: Record,
    n_steps: int,
    **options: Any,
) -> tuple[NetworkState, tuple]:
    """The state after `n_steps`, and the result of a loop of windows, in one launch on a GPU.

    `net` is `fusable`, `runtime` is what it is expanded to. `options` are those of the kernel.
    """
    from .._kernels.gpu_fused_scan import FusedScan, fused_scan  # Pallas: only where it is needed

    (group,), (mine,) = runtime.groups, state.groups
    every = record.steps_between(net.dt) if record.has_samples else 1
    kept, places, names = _samples(net, state, record)
    spikes = record.spikes or record.rates
    how = FusedScan(group.n, n_steps, every, kept, spikes)

    def step(parameters: Any, held: Any, now: Any, k: Any) -> Any:
        return _step(parameters, held, list(now.values()), k, net.dt)

    parameters, held = (group, state.step), (mine.neurons, mine.stimuli)
    held, last, fired, samples = fused_scan(step, parameters, held, inputs, places, how, **options)
    bits = None if fired is None else SpikeOutput.of_spikes(fired).bits
    # Without projections nobody asks which spikes have a derivative: all may have one.
    counted = None if mine.released.counted is None else jnp.ones(last.shape, bool)
    released = SpikeOutput.of_spikes(last, counted)
    after = mine._replace(neurons=held[0], stimuli=held[1], released=released)
    new = state._replace(step=state.step + n_steps, groups=(after,))
    traces: dict = {}
    for (name, variable), x in zip(names, samples):
        traces.setdefault(name, {})[variable] = x
    counts = {}
    if fired is not None and bits is not None:
        counts = record.counts(net, Output(runtime.by_name((fired,), axis=1), (bits,)))
    per_step = ((bits,) if record.spikes else ()), counts
    return new, (per_step, {"traces": traces} if traces else {}, {})


def _step(parameters: Any, held: Any, now: list, k: Any, dt: float) -> Any:
    """One step of a block of neurons: what `RuntimeNetwork.step` does if nothing is connected."""
    (group, first), (neurons, stimuli) = parameters, held
    block = group.cut(max(x.shape[0] for x in jax.tree.leaves(held) if x.ndim))
    before = Cells(neurons, (), stimuli, ({},))
    inputs = dict(zip(block.populations, now))
    after, (spikes, _) = block.step(before, None, Coupled((), {}), inputs, first + k, dt)
    return (after.neurons, after.stimuli), spikes


def _samples(net: Network, state: NetworkState, record: Record) -> tuple[tuple, tuple, list]:
    """The leaf and the number of neurons of each sample, their places in it, and its name."""
    leaves, tree = jax.tree.flatten(state.groups[0].neurons)
    numbers: Any = jax.tree.unflatten(tree, range(len(leaves)))
    kept, places, names = [], [], []
    for name, variables in record.variables.items():
        _, span = net.population(name)
        for variable in variables:
            number = getattr(numbers, variable)
            if not isinstance(number, int) or leaves[number].ndim != 1:
                raise NotFusedError(f"{variable!r} is not one number per neuron")
            n, chosen = span.stop - span.start, record.neurons.get(name)
            index = None if chosen is None else chosen.indices(f"neurons of {name!r}", n)
            whole = span == slice(0, net.n_neurons)
            count, place = None, None
            if index is not None or not whole:
                index = jnp.arange(n) if index is None else jnp.asarray(index)
                count, place = index.size, jnp.full(net.n_neurons, 2**30, jnp.int32)
                order = jnp.arange(count, dtype=jnp.int32)
                place = place.at[span.start + index].set(order)
            kept.append((number, count))
            places.append(place)
            names.append((name, variable))
    return tuple(kept), tuple(places), names
