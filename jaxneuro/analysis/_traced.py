"""Spikes of a run inside `jit`, `vmap` and `grad`: JAX arrays, in float32.

A part of a run is from one known time to another, while the step at which the run began may be
traced.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32, Num

from .._numerics.windows import NEAR_MS, check_time
from .._run.recording import Recording
from .._run.statistics import SpikeSums, sums_of
from ..spec import InvalidValueError
from ._bins import bin_of
from ._formulas import as_float


class TracedTrains(NamedTuple):
    """The spikes of a population of a traced run, in the place of `SpikeTrains`.

    Attributes:
        run: the run.
        population: the name of the population.
        since, until: the part `(since, until]` [ms]; None for the start and the end of the run.
    """

    run: Recording
    population: str
    since: float | None
    until: float | None

    @classmethod
    def of(
        cls, run: Recording, population: str, start: float | None, stop: float | None
    ) -> "TracedTrains":
        """The spikes in a part of a run; raises if the part cannot fit."""
        ends = (("start", start), ("stop", stop))
        start, stop = (x if x is None else check_time(name, x) for name, x in ends)
        if start is not None and stop is not None:
            longest = run.info.n_steps * run.info.dt
            if not start < stop <= start + longest + NEAR_MS + 1e-9 * abs(stop):
                must = (
                    f"after start ({start:.10g} ms), and at most the {longest:.10g} ms of the run"
                )
                raise InvalidValueError("", "stop", must, f"{stop:.10g} ms")
        return cls(run, population, start, stop)

    @property
    def n(self) -> int:
        """The number of neurons."""
        layout = self.run.info.layout
        return next(last - first for name, _, first, last in layout if name == self.population)

    @property
    def start(self) -> float | Float[Array, ""]:
        """The start of the part [ms]."""
        first = self.run.first_step
        return as_float(first) * self.run.info.dt if self.since is None else self.since

    @property
    def duration(self) -> float | Float[Array, ""]:
        """The length of the part [ms]."""
        info, first = self.run.info, self.run.first_step
        dt, last = info.dt, first + info.n_steps
        if self.since is not None and self.until is not None:
            return self.until - self.since
        # In whole steps: float32 loses small differences of times that are far from 0.
        if self.since is not None:
            return as_float(last - int(self.since // dt)) * dt - self.since % dt
        if self.until is not None:
            return as_float(int(self.until // dt) - first) * dt + self.until % dt
        return info.n_steps * dt

    def sums(self) -> SpikeSums:
        """The running sums of the spikes."""
        return sums_of(self._inside(), self.run.first_step)

    def counts(self) -> Int32[Array, " n"]:
        """The number of spikes of each neuron."""
        return self._inside().sum(axis=0, dtype=jnp.int32)

    def binned(self, bin_ms: float) -> Num[Array, " bins"]:
        """Spikes of all neurons per bin; from a record of rates they have a gradient."""
        run, name = self.run, self.population
        if name in run.counts:
            counts = run.counts[name]
        else:
            counts = self._dense().sum(axis=1) if run.spikes is None else run.spikes.counts(name)
        return as_float(self._binned(counts, bin_ms))

    def table(self, bin_ms: float) -> Int32[Array, "n bins"]:
        """Spikes of each neuron in bins."""
        return self._binned(self._dense().astype(jnp.int32), bin_ms).T

    def _dense(self) -> Bool[Array, "steps n"]:
        if self.run.spikes is None:
            must = "recorded for this: scan(..., record=jn.Record(spikes=True))"
            raise InvalidValueError("", f"spikes of {self.population!r}", must, "none")
        return self.run.spikes.dense(self.population)

    def _steps_until(self, ms: float) -> int:
        """How many steps of the network end at or before a time [ms]."""
        return int((ms + NEAR_MS) // self.run.info.dt)

    def _inside(self) -> Bool[Array, "steps n"]:
        """The spikes of the part, and none in the other steps of the run."""
        dense = self._dense()
        number = self.run.first_step + 1 + jnp.arange(dense.shape[0], dtype=jnp.int32)
        if self.since is not None:
            dense = dense & (number > self._steps_until(self.since))[:, None]
        if self.until is not None:
            dense = dense & (number <= self._steps_until(self.until))[:, None]
        return dense

    def _binned(self, values: Num[Array, "steps ..."], bin_ms: float) -> Num[Array, "bins ..."]:
        """Sums of the values of each step, in whole bins."""
        start, stop = self.since, self.until
        dt, steps = self.run.info.dt, self.run.info.n_steps
        if (start is None) != (stop is None):
            must = "both given or both left out: when the run begins is traced here"
            raise InvalidValueError("", "start and stop", must, f"start={start}, stop={stop}")
        if start is None or stop is None:
            length, ends = steps * dt, dt * np.arange(1, steps + 1)
        else:
            first, last = self._steps_until(start), self._steps_until(stop)
            number = np.arange(first, last, dtype=np.int32)
            length, ends = stop - start, dt * (number + 1) - start
            place = number - self.run.first_step
            known = ((place >= 0) & (place < steps)).reshape(-1, *[1] * (values.ndim - 1))
            values = jnp.where(known, values[jnp.clip(place, 0, steps - 1)], 0)
        index, kept, bins = bin_of(ends, length, bin_ms)
        return jax.ops.segment_sum(values[kept], index[kept], bins, indices_are_sorted=True)
