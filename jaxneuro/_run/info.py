"""What is known of a run before it: part of the compiled program, and of the file of a run."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float64

from .._network.names import value_of
from .._network.network import Network
from .._network.state import NetworkState
from .chosen import chosen_synapses
from .record import Record
from .spikes import layout

# The fields of a `Result` with a row for each sample.
SAMPLED = ("traces", "means", "lfp", "function", "weights", "weight_histograms")


class RunInfo(NamedTuple):
    """What is known of a run before it: part of the compiled program.

    Attributes:
        dt: the time step [ms].
        n_steps: how many were run.
        layout: name, group, first and last neuron of each population.
        every: time steps between two samples; 0 if nothing is sampled.
        neurons: by name, the numbers of the neurons whose traces they are, if not all.
        synapses: by name, those of synapses, in the same way.
        shared: by name and variable, what `Result.shared` says.
    """

    dt: float
    n_steps: int
    layout: tuple[tuple[str, int, int, int], ...]
    every: int
    neurons: tuple[tuple[str, tuple[int, ...]], ...]
    synapses: tuple[tuple[str, tuple[int, ...]], ...]
    shared: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @classmethod
    def of(cls, net: Network, state: NetworkState, record: Record, n_steps: int) -> "RunInfo":
        """That of a run from a state; `record` has every variable named."""
        neurons = []
        for name in record.neurons:
            variable = record.variables[name][0]
            size = jax.eval_shape(lambda n, s: value_of(n, s, name, variable), net, state)  # noqa: B023
            index = record.chosen(name, size.shape[-1])
            neurons.append((name, () if index is None else tuple(index.tolist())))
        found = {name: chosen_synapses(net, name, x) for name, x in record.weights.items()}
        synapses = [(name, tuple(x.tolist())) for name, x in found.items() if x is not None]
        shared = record.shared(net, state)
        return cls(
            dt=net.dt,
            n_steps=n_steps,
            layout=layout(net),
            every=record.steps_between(net.dt) if record.samples else 0,
            neurons=tuple(neurons),
            synapses=tuple(synapses),
            shared=tuple((name, tuple(x.items())) for name, x in shared.items()),
        )

    def times(self, first_step: int) -> Float64[np.ndarray, " samples"]:
        """When samples of a scan from `first_step` on were taken [ms]."""
        if not self.every:
            return np.zeros(0)
        steps = first_step + self.every * np.arange(1, self.n_steps // self.every + 1)
        return steps.astype(np.int64) * self.dt

    def fields(self) -> dict[str, Any]:
        """What a `Result` has of it."""
        return {
            "dt": self.dt,
            "n_steps": self.n_steps,
            "layout": self.layout,
            "interval": max(self.every, 1) * self.dt,
            "neurons": {name: np.asarray(x, np.int64) for name, x in self.neurons},
            "synapses": {name: np.asarray(x, np.int64) for name, x in self.synapses},
            "shared": {name: dict(x) for name, x in self.shared},
        }
