"""Which neurons and synapses are recorded, and samples of weights."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32, Int64

from .. import spec
from .._arrays import AnyArray, is_traced
from .._network.network import Network
from .._network.state import NetworkState
from .._network.weights import plastic_pathway
from .._text import counted
from ..spec import InvalidValueError

# --- Which neurons or synapses are recorded: a value that can be hashed before there is a network.


_SHOWN = 8  # numbers in a text
_ALL = {"neuron": "neurons= to record all", "synapse": "give ... to record all"}


class Chosen(NamedTuple):
    """Numbers of neurons, a slice of them, or where a mask of the given length is true.

    `of` what they are, "neuron" or "synapse", for messages.
    """

    numbers: tuple[int, ...] | None
    part: tuple[int | None, int | None, int | None] | None = None
    length: int | None = None
    of: str = "neuron"

    def __repr__(self) -> str:
        if self.part is not None:
            start, stop, step = self.part
            return f"slice({start}, {stop}{'' if step is None else f', {step}'})"
        numbers = self.numbers or ()
        if len(numbers) <= _SHOWN:
            return f"[{', '.join(map(str, numbers))}]"
        return f"{counted(len(numbers), self.of)} from {min(numbers)} to {max(numbers)}"

    def indices(self, field: str, n: int, owner: str = "Record") -> Int64[np.ndarray, " chosen"]:
        """The numbers among n; raises `InvalidValueError` if they do not fit or there are none."""
        if self.length is not None and self.length != n:
            must = f"a mask of one boolean per {self.of}, {n} of them"
            raise InvalidValueError(owner, field, must, str(self.length))
        numbers = range(n)[slice(*self.part)] if self.part is not None else self.numbers
        index = np.asarray(numbers, np.int64)
        if index.size == 0:
            must = f"at least one of {n} (leave the name out to record nothing, or {_ALL[self.of]})"
            raise InvalidValueError(owner, field, must, str(self.part and slice(*self.part)))
        if index.max() >= n:
            raise InvalidValueError(owner, field, f"below {n}, its size", str(index.max()))
        return index


def chosen(value: Any, of: str = "neuron") -> Chosen:
    """What the user selected: one, a list, array, range, slice or mask; raises `Unfit`."""
    if isinstance(value, Chosen):
        return value
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        if not all(x is None or _whole(x) for x in ends) or value.step == 0:
            raise spec.Unfit("a slice of whole numbers")
        return Chosen(None, tuple(None if x is None else int(x) for x in ends), of=of)  # type: ignore[arg-type]
    try:
        x = np.asarray(value)
    except ValueError:  # rows of different lengths
        x = np.zeros((0, 0))
    if x.ndim > 1 or x.dtype.kind not in "biuf" or (x.dtype.kind == "f" and x.size):
        raise spec.Unfit("whole numbers, a slice, a range or a mask")
    if x.size == 0 or (x.dtype == bool and not x.any()):
        raise spec.Unfit("at least one (leave the name out to record nothing)")
    if x.dtype == bool and x.ndim:
        return Chosen(tuple(np.flatnonzero(x).tolist()), length=x.size, of=of)
    if x.dtype == bool or x.min() < 0:
        raise spec.Unfit("whole numbers of at least 0")
    found, counts = np.unique(x, return_counts=True)
    if counts.max() > 1:
        raise spec.Unfit("different numbers", f"{found[counts.argmax()]} more than once")
    return Chosen(tuple(int(k) for k in np.ravel(x)), of=of)


def _whole(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


@dataclasses.dataclass(frozen=True)
class Choice(spec.Kind):
    """Which neurons or synapses are recorded; `...` for all synapses."""

    of: str = "neuron"

    def convert(self, value: Any) -> Any:
        return value if value is ... and self.of == "synapse" else chosen(value, self.of)


# --- Plastic weights and their histograms, as they are recorded.


class Bins(NamedTuple):
    """The bins of a histogram: how many, from where to where; None for the rule's own limit."""

    count: int
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True)
class Histogram(spec.Kind):
    """A number of bins, or `(bins, low, high)`; kept as `Bins`."""

    def convert(self, value: Any) -> Bins:
        if isinstance(value, Bins):
            return value
        if not isinstance(value, tuple | list):
            return Bins(spec.Whole(1).convert(value), None, None)
        if len(value) != 3:
            raise spec.Unfit("a number of bins, or (bins, low, high)")
        count = spec.Whole(1).convert(value[0])
        low, high = (spec.Number().convert(x) for x in value[1:])
        if not low < high:
            raise spec.Unfit("(bins, low, high) with low below high")
        return Bins(count, low, high)


def check_weights(net: Network, weights: Mapping[str, Any], bins: Mapping[str, Bins]) -> None:
    """Raises `ValueError` for a projection that is not plastic, or what does not fit it."""
    for name, which in weights.items():
        chosen_synapses(net, name, which)
    for name, b in bins.items():
        bin_edges(net, name, b)


def chosen_synapses(net: Network, name: str, which: Any) -> Int64[np.ndarray, " chosen"] | None:
    """The numbers of the recorded synapses of a projection; None for all."""
    n = net.synapses_of(plastic_pathway(net, name))
    return None if which is ... else which.indices(f"weights of {name!r}", n)


def bin_edges(net: Network, name: str, bins: Bins) -> Float[AnyArray, " edges"]:
    """The edges of a histogram, (bins + 1,): an array of NumPy, or of JAX while a limit is traced.

    Raises:
        ValueError: for a limit that neither the user nor the rule gives.
    """
    plastic = net.pathways[plastic_pathway(net, name)].plastic
    assert plastic is not None
    low, high = (
        own if given is None else given
        for own, given in zip(plastic.rule.limits(), (bins.low, bins.high))
    )
    if low is None or high is None:
        must = f"({bins.count}, low, high) where the rule leaves weights without a limit"
        got = f"{bins.count}, with {type(plastic.rule).__name__}"
        raise InvalidValueError("Record", f"weight_histograms of {name!r}", must, got)
    asarray = jnp.asarray if is_traced(low) or is_traced(high) else np.asarray
    low, high = (asarray(x, net.dtype) for x in (low, high))
    part = np.linspace(0.0, 1.0, bins.count + 1).astype(net.dtype)
    return low * (1 - part) + high * part


def sample_weights(
    net: Network, state: NetworkState, weights: Mapping[str, Any], bins: Mapping[str, Bins]
) -> tuple[dict[str, Float[Array, " _"]], dict[str, Int32[Array, " _"]]]:
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


def _counted(
    w: Float[Array, " synapses"], edges: Float[AnyArray, " edges"]
) -> Int32[Array, " bins"]:
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
