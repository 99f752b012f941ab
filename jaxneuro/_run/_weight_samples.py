"""Plastic weights and their histograms, as they are recorded."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_bounds, check_count, is_traced
from .._network import Network, NetworkState, plastic_pathway
from ._neuron_choice import by_name, chosen


class Bins(NamedTuple):
    """The bins of a histogram: how many, from where to where; None for the rule's own limit."""

    count: int
    low: float | None
    high: float | None


def chosen_weights(value: Any) -> dict[str, Any]:
    """`Record.weights` as values that can be hashed: by projection a `Chosen`, or `...` for all."""
    return {
        name: which if which is ... else chosen(_label(name), which, "synapse")
        for name, which in by_name("weights", value, "{'E->E': ...}").items()
    }


def histogram_bins(value: Any) -> dict[str, Bins]:
    """`Record.weight_histograms` as values that can be hashed: by projection its `Bins`."""
    given = by_name("weight_histograms", value, "{'E->E': 50}")
    return {name: _bins(name, bins) for name, bins in given.items()}


def check_weights(net: Network, weights: Mapping[str, Any], bins: Mapping[str, Bins]) -> None:
    """Raises `ValueError` for a projection that is not plastic, or what does not fit it."""
    for name, which in weights.items():
        chosen_synapses(net, name, which)
    for name, b in bins.items():
        bin_edges(net, name, b)


def chosen_synapses(net: Network, name: str, which: Any) -> np.ndarray | None:
    """The numbers of the recorded synapses of a projection; None for all."""
    n = net.synapses_of(plastic_pathway(net, name))
    return None if which is ... else which.indices(_label(name), n)


def bin_edges(net: Network, name: str, bins: Bins) -> Any:
    """The edges of a histogram, (bins + 1,): an array of NumPy, or of JAX while a limit is traced.

    **Raises** `ValueError` for a limit that neither the user nor the rule gives.
    """
    plastic = net.pathways[plastic_pathway(net, name)].plastic
    assert plastic is not None
    low, high = (
        own if given is None else given
        for own, given in zip(plastic.rule.limits(), (bins.low, bins.high))
    )
    if low is None or high is None:
        raise ValueError(
            f"Record: weight_histograms of {name!r} must say from where to where, as "
            f"{type(plastic.rule).__name__} leaves weights without a "
            f"{'lowest' if low is None else 'highest'} one; give ({bins.count}, low, high)"
        )
    asarray = jnp.asarray if is_traced(low) or is_traced(high) else np.asarray
    low, high = (asarray(x, net.dtype) for x in (low, high))
    part = np.linspace(0.0, 1.0, bins.count + 1).astype(net.dtype)
    return low * (1 - part) + high * part


def sample_weights(
    net: Network, state: NetworkState, weights: Mapping[str, Any], bins: Mapping[str, Bins]
) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
    """The chosen weights (chosen,) and the histograms int32 (bins,), those of `Network.weights`.

    The state does not change: a sample is taken from a copy, whose rows are all visited.
    """
    kept, counts = {}, {}
    for name in dict.fromkeys((*weights, *bins)):
        now = net.weights(state, name)
        if name in weights:
            index = chosen_synapses(net, name, weights[name])
            kept[name] = now if index is None else now[index.astype(np.int32)]
        if name in bins:
            counts[name] = _counted(now, bin_edges(net, name, bins[name]))
    return kept, counts


def weight_bytes(net: Network, weights: Mapping[str, Any], bins: Mapping[str, Bins]) -> int:
    """Bytes of one sample of weights and histograms."""
    total = sum(4 * b.count for b in bins.values())
    for name, which in weights.items():
        total += net.dtype.itemsize * number_of_weights(net, name, which)
    return total


def number_of_weights(net: Network, name: str, which: Any) -> int:
    """How many weights of a projection are recorded."""
    index = chosen_synapses(net, name, which)
    if index is not None:
        return index.size
    return net.synapses_of(plastic_pathway(net, name))


def _counted(w: jax.Array, edges: Any) -> jax.Array:
    """How many weights are in each bin, its lower edge included; those outside in the outermost."""
    edges = jnp.asarray(edges)
    bins = edges.size - 1
    width = (edges[-1] - edges[0]) / bins
    near = jnp.clip((w - edges[0]) / width, 0, bins - 1).astype(jnp.int32)
    near = jnp.clip(near, 0, bins - 1)  # of a weight that is not a number too
    # The division may be off by a rounding; the edges say what is in a bin.
    near = jnp.where((w < edges[near]) & (near > 0), near - 1, near)
    near = jnp.where((w >= edges[near + 1]) & (near < bins - 1), near + 1, near)
    return jnp.zeros(bins, jnp.int32).at[near].add(1)


def _label(name: str) -> str:
    return f"Record: weights of {name!r}"


def _bins(name: str, value: Any) -> Bins:
    label = f"Record: weight_histograms of {name!r}"
    if isinstance(value, Bins):
        return value
    if not isinstance(value, tuple | list):
        return Bins(check_count(label, value, at_least=1), None, None)
    if len(value) != 3:
        raise ValueError(f"{label} must be a number of bins, or (bins, low, high); got {value!r}")
    count = check_count(f"{label}: bins", value[0], at_least=1)
    for x in value[1:]:
        check_bounds(label, x)
    low, high = (float(x) for x in value[1:])
    if not low < high:
        raise ValueError(f"{label}: low must be below high; got {low:g} and {high:g}")
    return Bins(count, low, high)
