"""Recorders of the weights of plastic projections: chosen ones, and histograms."""

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
from ..spec import InvalidValueError
from .recorders import Moment, Recorder


@dataclasses.dataclass(frozen=True)
class Weights(Recorder):
    """Weights of plastic projections, all or the chosen ones.

    The state does not change: a sample is taken from a copy, of which all rows are visited.
    """

    chosen: Mapping[str, Any]

    kind = "projection with recorded weights"
    how = "weights={{{name!r}: ...}}"
    axes, what, variable, of = 2, "weights", "weight", "synapse"

    def check(self, net: Network, state: NetworkState) -> None:
        for name in self.chosen:
            self._numbers(net, name)

    def columns(self, net: Network, state: NetworkState) -> dict[str, Int64[np.ndarray, " _"]]:
        numbers = {name: self._numbers(net, name) for name in self.chosen}
        return {name: x for name, x in numbers.items() if x is not None}

    def sample(self, now: Moment) -> Any:
        out = {}
        for name in self.chosen:
            weights, numbers = now.weights(name), self._numbers(now.net, name)
            out[name] = weights if numbers is None else weights[numbers.astype(np.int32)]
        return out

    def _numbers(self, net: Network, name: str) -> Int64[np.ndarray, " chosen"] | None:
        """The numbers of the recorded synapses; None for all."""
        n, chosen = net.synapses_of(plastic_pathway(net, name)), self.chosen[name]
        return None if chosen is ... else chosen.indices(f"weights of {name!r}", n)


@dataclasses.dataclass(frozen=True)
class WeightHistograms(Recorder):
    """Numbers of weights of plastic projections by bin."""

    bins: Mapping[str, "Bins"]

    kind = "recorded histogram of weights"
    how = "weight_histograms={{{name!r}: 50}}"
    axes, what, variable = 2, "weight histogram", "weight"

    def check(self, net: Network, state: NetworkState) -> None:
        self.constants(net)

    def constants(self, net: Network) -> dict[str, Any]:
        return {name: bin_edges(net, name, bins) for name, bins in self.bins.items()}

    def sample(self, now: Moment) -> Any:
        edges = self.constants(now.net)
        return {name: _counted(now.weights(name), x) for name, x in edges.items()}


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
