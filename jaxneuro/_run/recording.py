"""`Recording`: what a scan recorded, of one run or of a batch of runs."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Float64, Int32, Num, Shaped

from .._arrays import is_traced
from .._network.names import value_of
from .._network.network import Network
from .._network.state import NetworkState
from .._text import counted, shown, text_inside
from ..spec import InvalidValueError
from .chosen import chosen_synapses
from .record import Record
from .result import Result
from .spikes import SpikeBits, layout
from .statistics import SpikeSums


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


class Recording(eqx.Module):
    """What a `scan` recorded; under `vmap`, what a batch of runs recorded.

    All arrays of a batch have its axes in front. `recording[3]`, or `recording[3, 0]` of two axes,
    is one run, a slice or a mask a smaller batch; a loop goes over the first axis.
    `recording[3].result()` is a run as `simulate` returns it. `jn.analysis` and `jn.plot` take a
    recording, and give numbers of a batch with its axes in front.

    Attributes:
        spikes: a `SpikeBits`, or None.
        traces: by name and variable, (samples, n).
        counts: spikes per step by population, (steps,): int32, or floats with a gradient if its
            neurons have a surrogate.
        function: the samples of the record's function.
        means: by name and variable, (samples,).
        lfp: by population [pA], (samples,).
        weights: by projection, (samples, chosen).
        weight_histograms: by projection, int32 (samples, bins).
        weight_edges: by projection, the edges of the bins, (bins + 1,).
        statistics: by population, a `SpikeSums`.
        first_step: the number of the first step, int32 ().
        key: the seed of the run, uint32 ().
        info: what is the same in all runs of a batch.
    """

    spikes: SpikeBits | None
    traces: dict[str, dict[str, Shaped[Array, "*batch samples _"]]]
    counts: dict[str, Num[Array, "*batch steps"]]
    function: Any
    means: dict[str, dict[str, Float[Array, "*batch samples"]]]
    lfp: dict[str, Float[Array, "*batch samples"]]
    weights: dict[str, Float[Array, "*batch samples _"]]
    weight_histograms: dict[str, Int32[Array, "*batch samples _"]]
    weight_edges: dict[str, Float[Array, "*batch _"]]
    statistics: dict[str, SpikeSums]
    first_step: Int32[Array, "*batch"]
    key: Shaped[Array, "*batch"]
    info: RunInfo = eqx.field(static=True)

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of the batch; () of one run."""
        return self.first_step.shape

    def __len__(self) -> int:
        self._check(bool(self.batch), "a batch", "one run")
        return self.batch[0]

    def __getitem__(self, index: Any) -> "Recording":
        """Some runs of a batch.

        Raises:
            InvalidValueError: for one run, which is no batch.
            IndexError: for a run that there is not.
        """
        self._check(bool(self.batch), "a batch", "one run")
        if any(map(is_traced, jax.tree.leaves(index))):
            return jax.tree.map(lambda x: x[index], self)
        # The numbers of the chosen runs among all: JAX clips what is out of range, and takes an
        # index with `...` for one of all axes of an array.
        size, axes = math.prod(self.batch), len(self.batch)
        runs = np.arange(size).reshape(self.batch)[index]
        chosen = runs if runs.ndim else int(runs)
        return jax.tree.map(lambda x: x.reshape(size, *x.shape[axes:])[chosen], self)

    def __iter__(self) -> Iterator["Recording"]:
        return (self[k] for k in range(len(self)))

    def result(self, network: Network | None = None) -> Result:
        """One run as a `Result`, on the host; `network` is the one that it is of, if it is known.

        Raises:
            InvalidValueError: for a batch of runs, and inside `jit`, `vmap` and `grad`.
        """
        self._check(not self.batch, "one run of the batch, recording[k]", f"{self._runs} runs")
        traced = any(map(is_traced, jax.tree.leaves(self)))
        self._check(not traced, "known: return it from the function that is traced", "a traced one")
        host = jax.tree.map(np.asarray, self)
        first = int(self.first_step)
        spikes: Any = None if self.spikes is None else self.spikes.by_population()
        return Result(
            network=network,
            state=None,
            first_step=first,
            spikes=spikes,
            sample_times=self.info.times(first),
            **self.info.fields(),
            **{name: getattr(host, name) for name in RECORDED},
            key=int(self.key),
        )

    @property
    def _runs(self) -> str:
        return " x ".join(map(str, self.batch))

    def _check(self, holds: bool, must: str, got: str) -> None:
        if not holds:
            raise InvalidValueError("", "the recording", must, got)

    def __repr__(self) -> str:
        fields = {name: getattr(self, name) for name in RECORDED}
        held = [f"{k} {shown(x)}" for k, x in fields.items() if _some(x) and k != "weight_edges"]
        spikes = [] if self.spikes is None else ["spikes, see spikes.events(name)"]
        run = f"{self.info.n_steps * self.info.dt:g} ms ({counted(self.info.n_steps, 'step')})"
        runs = f" of {self._runs} runs" if self.batch else ""
        return f"Recording{runs}, {run}: {'; '.join(spikes + held) or 'nothing'}"

    __pdoc__ = text_inside


# The fields that a `Result` has as they are.
_OTHERS = ("spikes", "first_step", "key", "info")
RECORDED = tuple(f.name for f in dataclasses.fields(Recording) if f.name not in _OTHERS)


def _some(value: Any) -> bool:
    return value is not None and not (isinstance(value, Mapping) and not value)
