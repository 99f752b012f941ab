"""`Recording`: what a scan recorded, of one run or of a batch of runs."""

import dataclasses
import functools
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Int32, Num, Shaped

from .._arrays import as_array, is_traced
from .._disk.parts import OnDisk
from .._network.network import Network
from .._text import counted, shown, text_inside
from ..spec import InvalidValueError
from .info import RunInfo
from .intervals import open_run
from .recorded import recorded, sampled
from .result import Result
from .spikes import SpikeBits
from .statistics import SpikeSums, joined_sums


class Recording(eqx.Module):
    """What a `scan` recorded; under `vmap`, what a batch of runs recorded.

    All arrays of a batch have its axes in front. `recording[3]`, or `recording[3, 0]` of two axes,
    is one run, a slice or a mask a smaller batch; a loop goes over the first axis.
    `recording[3].result()` is a run as `simulate` returns it. `jn.analysis` and `jn.plot` take a
    recording, and give numbers of a batch with its axes in front.

    Attributes:
        spikes: a `SpikeBits`, or None.
        samples: by recorder, what was sampled, (samples, ...) each: `samples["mine"]` of
            `Record(recorders={"mine": ...})`, `traces` and others have names of their own.
        counts: spikes per step by population, (steps,): int32, or floats with a gradient if its
            neurons have a surrogate.
        constants: by recorder, what all its samples share.
        statistics: by population, a `SpikeSums`.
        first_step: the number of the first step, int32 ().
        key: the seed of the run, uint32 ().
        info: what is the same in all runs of a batch.
    """

    spikes: SpikeBits | None
    samples: dict[str, Any]
    counts: dict[str, Num[Array, "*batch steps"]]
    constants: dict[str, Any]
    statistics: dict[str, SpikeSums]
    first_step: Int32[Array, "*batch"]
    key: Shaped[Array, "*batch"]
    info: RunInfo = eqx.field(static=True)

    traces = sampled("traces", "By name and variable, (samples, n).")
    means = sampled("means", "By name and variable, (samples,).")
    lfp = sampled("lfp", "By population [pA], (samples,).")
    weights = sampled("weights", "By plastic projection, (samples, chosen).")
    weight_histograms = sampled(
        "weight_histograms", "By plastic projection, int32 (samples, bins)."
    )

    @property
    def function(self) -> Any:
        """The samples of the record's function; None without one."""
        return self.samples.get("function")

    @property
    def weight_edges(self) -> dict[str, Any]:
        """The edges of the bins of `weight_histograms`, (bins + 1,)."""
        return recorded("weight_edges", self.constants.get("weight_histograms", {}))

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

        def taken(x: Any) -> Any:
            if isinstance(x, OnDisk):
                return x[index]
            return x.reshape(size, *x.shape[axes:])[chosen]

        return jax.tree.map(taken, self)

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
            samples=host.samples,
            counts=host.counts,
            constants=host.constants,
            statistics=host.statistics,
            key=int(self.key),
        )

    def in_time(self) -> "Recording":
        """The runs along the first axis, which follow each other in time, as one.

        So what `jn.checkpoint.repeat` collected of a batch, (calls, runs), becomes a batch (runs,);
        `recorded[:, :10].in_time()` reads ten of them.

        Raises:
            InvalidValueError: for one run, and for runs that do not follow each other.
        """
        self._check(bool(self.batch), "a batch", "one run")
        host = jax.tree.map(np.asarray, self)
        begins = host.first_step.reshape(len(host), -1)
        after = (np.diff(begins, axis=0) == self.info.n_steps).all()
        self._check(bool(after), "of runs that follow each other", "others")
        axis = len(self.batch) - 1

        def joined(x: Any) -> Any:
            x = np.moveaxis(x, 0, axis)
            return as_array(x.reshape(*x.shape[:axis], -1, *x.shape[axis + 2 :]))

        first = jax.tree.map(lambda x: as_array(x[0]), host)
        grown = {k: jax.tree.map(joined, getattr(host, k)) for k in ("samples", "counts")}
        spikes: Any = first.spikes
        if spikes is not None:
            spikes = dataclasses.replace(spikes, bits=jax.tree.map(joined, host.spikes.bits))
        sums = {
            name: functools.reduce(joined_sums, (SpikeSums(*y) for y in zip(*x)))
            for name, x in host.statistics.items()
        }
        sums = recorded("statistics", jax.tree.map(as_array, sums))
        info = self.info._replace(n_steps=self.info.n_steps * len(host))
        return dataclasses.replace(first, spikes=spikes, statistics=sums, info=info, **grown)

    @staticmethod
    def open(path: str | os.PathLike) -> Result:
        """The run that `simulate(..., save=path)` writes, as a `Result` without its network.

        Nothing is read but where things are: each of its spikes, traces and other samples reads
        what is asked of it, so a run may be larger than the memory. It may still go on: this is
        what it had when it was opened.

        Raises:
            InvalidValueError: for another folder, one without a finished interval, and files that
                are damaged or of a newer version.
        """
        return open_run("Recording.open", path)

    @property
    def _runs(self) -> str:
        return " x ".join(map(str, self.batch))

    def _check(self, holds: bool, must: str, got: str) -> None:
        if not holds:
            raise InvalidValueError("", "the recording", must, got)

    def __repr__(self) -> str:
        fields = {**self.samples, "counts": self.counts, "statistics": self.statistics}
        held = [f"{k} {shown(x)}" for k, x in fields.items() if _some(x)]
        spikes = [] if self.spikes is None else ["spikes, see spikes.events(name)"]
        run = f"{self.info.n_steps * self.info.dt:g} ms ({counted(self.info.n_steps, 'step')})"
        runs = f" of {self._runs} runs" if self.batch else ""
        return f"Recording{runs}, {run}: {'; '.join(spikes + held) or 'nothing'}"

    __pdoc__ = text_inside


def _some(value: Any) -> bool:
    return value is not None and not (isinstance(value, Mapping) and not value)
