"""What is known of a run before it: part of the compiled program, and of the file of a run."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64

from .._network.network import Network
from .._network.state import NetworkState
from .record import Record
from .spikes import layout


class RunInfo(NamedTuple):
    """What is known of a run before it: part of the compiled program.

    Attributes:
        dt: the time step [ms].
        n_steps: how many were run.
        layout: name, group, first and last neuron of each population.
        every: time steps between two samples; 0 if nothing is sampled.
        columns: by recorder and name, the neurons or synapses that were recorded, if not all.
        shared: by name and variable, what `Result.shared` says.
    """

    dt: float
    n_steps: int
    layout: tuple[tuple[str, int, int, int], ...]
    every: int
    columns: tuple[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], ...]
    shared: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @classmethod
    def of(cls, net: Network, state: NetworkState, record: Record, n_steps: int) -> "RunInfo":
        """That of a run from a state; `record` has every variable named."""
        columns = record.columns(net, state)
        shared = record.shared(net, state)
        return cls(
            dt=net.dt,
            n_steps=n_steps,
            layout=layout(net),
            every=record.steps_between(net.dt) if record.has_samples else 0,
            columns=tuple(
                (key, tuple((name, tuple(x.tolist())) for name, x in found.items()))
                for key, found in columns.items()
            ),
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
            "columns": {
                key: {name: np.asarray(x, np.int64) for name, x in found}
                for key, found in self.columns
            },
            "shared": {name: dict(x) for name, x in self.shared},
        }
