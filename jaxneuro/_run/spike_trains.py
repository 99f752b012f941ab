"""`SpikeTrains`: the spikes of some neurons in a window of time, as arrays on the host."""

import functools
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

from .. import spec
from .._numerics.grid import check_dt, check_resolved, step_counts, steps_on_grid, time_tolerance
from .._numerics.windows import in_window, part_of_run
from .._text import counted
from ..spec import InvalidValueError
from .chosen import chosen


def _indices(value: Any) -> Int64[np.ndarray, " spikes"]:
    """Whole numbers in one row; raises `spec.Unfit`."""
    x = np.asarray(value)
    if x.ndim != 1 or (x.size and x.dtype.kind not in "iu"):
        raise spec.Unfit("whole numbers in one row", f"{x.dtype} of shape {x.shape}")
    return spec.kept_array(value, x.astype(np.int64))


class SpikeTrains(spec.Value):
    """Spikes of `n` neurons between two times: what analysis and figures take.

    `result.spikes["E"]` is one; of spikes from elsewhere make one. A spike of time step k of a run
    has the time (k + 1) dt, the end of the step, and belongs to windows `(start, stop]`. A time
    that was given in float32 counts as the end of a step if float32 may have moved it off that end.

    Raises:
        InvalidValueError: for arrays of different lengths, times that are not finite or outside of
            the window, neurons that are not from 0 to n - 1, or a window that ends before it
            begins.
    """

    times: Any = spec.field(
        spec.Numbers("ms", ndim=(1,)), doc="(spikes,) of each spike, in any order"
    )
    neurons: Any = spec.field(
        spec.Converted(_indices, "whole numbers below n"), doc="(spikes,) of each, which neuron"
    )
    n: int = spec.field(spec.Whole(), doc="how many neurons")
    start: float = spec.field(spec.Number("ms"), doc="begin of the window")
    stop: float = spec.field(spec.Number("ms"), doc="its end")
    rules = (spec.AtMost("start", "stop"),)
    _times_dtype = np.dtype(np.float64)  # in which the times were given

    def __post_init__(self) -> None:
        given = self.times
        super().__post_init__()
        object.__setattr__(self, "_times_dtype", np.asarray(given).dtype)
        if self.times.shape != self.neurons.shape:
            must = f"one per time, {self.times.size} of them"
            raise InvalidValueError("SpikeTrains", "neurons", must, str(self.neurons.size))
        if self.neurons.size and not (self.neurons.min() >= 0 and self.neurons.max() < self.n):
            got = f"{self.neurons.min()} to {self.neurons.max()}"
            raise InvalidValueError("SpikeTrains", "neurons", f"from 0 to {self.n - 1}", got)
        outside = ~in_window(self.times, self.start, self.stop, tolerance_of(self))
        if outside.any():
            must = f"after start ({self.start:.10g} ms) and at most stop ({self.stop:.10g} ms)"
            at = np.flatnonzero(outside)[0]
            got = f"{self.times[at]:.10g} ms at index {at}"
            raise InvalidValueError("SpikeTrains", "times", must, got)

    @classmethod
    def known(
        cls,
        times: Float64[np.ndarray, " spikes"],
        neurons: Int[np.ndarray, " spikes"],
        n: int,
        start: float,
        stop: float,
        *,
        times_dtype: np.dtype = _times_dtype,
        selected: Int64[np.ndarray, " selected"] | None = None,
    ) -> "SpikeTrains":
        """Those of arrays that are known to be right: nothing is checked or copied.

        `times_dtype` is the dtype in which the times came.
        """
        made = object.__new__(cls)
        object.__setattr__(made, "_times_dtype", times_dtype)
        fields = {"times": times, "neurons": neurons, "n": n, "start": start, "stop": stop}
        for name, x in fields.items():
            object.__setattr__(made, name, x)
        if selected is not None:
            object.__setattr__(made, "_selected", selected)
        return made

    @classmethod
    def of_counts(cls, counts: Any, bin_ms: float, start: float = 0.0) -> "SpikeTrains":
        """Spikes from their counts in bins: as many at the end of each bin as the bin has.

        Args:
            counts: whole numbers of at least 0, (n, bins), or (bins,) of one neuron.
            bin_ms: the length of a bin [ms].
            start: where the first bin begins [ms].

        Raises:
            InvalidValueError: for counts that are not whole numbers of at least 0, or a bin that
                is not above 0.
        """
        owner = "SpikeTrains.of_counts"
        try:
            x = np.asarray(counts)
        except ValueError:  # rows of different lengths
            x = np.zeros(0, object)
        known = x.dtype.kind in "biu" and x.ndim in (1, 2) and not (x < 0).any()
        if not known:
            must = "whole numbers of at least 0, (bins,) or (n, bins)"
            raise InvalidValueError(owner, "counts", must, f"{x.dtype} of shape {x.shape}")
        width = spec.check(owner, "bin_ms", spec.Number("ms", above=0.0), bin_ms)
        first = spec.check(owner, "start", spec.Number("ms"), start)
        x = np.atleast_2d(x).astype(np.int64)
        bins, owners = np.nonzero(x.T)
        times = first + width * (bins + 1)
        many = x[owners, bins]
        stop = first + width * x.shape[1]
        return cls.known(np.repeat(times, many), np.repeat(owners, many), len(x), first, stop)

    @property
    def duration(self) -> float:
        """The length of the window [ms]."""
        return self.stop - self.start

    @property
    def selected(self) -> Int64[np.ndarray, " selected"] | None:
        """The numbers of the neurons that `trains[...]` selected; None for all."""
        return self.__dict__.get("_selected")

    def __len__(self) -> int:
        return self.times.size

    def __getitem__(self, neurons: Any) -> "SpikeTrains":
        """The spikes of some neurons, which keep their numbers: `trains[[1, 2]]`, `trains[10:20]`.

        A part of the time is `between`. Functions of `jn.analysis` and figures take the neurons
        that are selected, and no others.

        Args:
            neurons: one number or several, a slice, a range or a mask.

        Raises:
            InvalidValueError: for neurons that there are not, or that are given twice, and none.
        """
        which = spec.check("SpikeTrains", "neurons", spec.Converted(chosen), neurons)
        numbers = which.indices("neurons", self.n, "SpikeTrains")
        if self.selected is not None and not np.isin(numbers, self.selected).all():
            must = f"some of the {self.selected.size} that are selected, by number"
            raise InvalidValueError("SpikeTrains", "neurons", must, repr(which))
        is_selected = np.zeros(self.n, bool)
        is_selected[numbers] = True
        mine = is_selected[self.neurons]
        window = self.n, self.start, self.stop
        return self._chosen(mine, *window, numbers)

    __iter__ = None  # neither over neurons nor over spikes

    def by_place(self) -> "SpikeTrains":
        """The spikes of the neurons that are selected, numbered in the order of the selection."""
        if self.selected is None:
            return self
        place = np.zeros(self.n, np.int64)
        place[self.selected] = np.arange(self.selected.size)
        window = self.selected.size, self.start, self.stop
        dtype = self._times_dtype
        return self.known(self.times, place[self.neurons], *window, times_dtype=dtype)

    def of(self, neuron: int) -> Float64[np.ndarray, " spikes"]:
        """The times [ms] of the spikes of one neuron, ascending.

        Raises:
            InvalidValueError: for a neuron that there is not.
        """
        spec.check("SpikeTrains.of", "neuron", spec.Whole(0, self.n - 1), neuron)
        starts, times = self._by_neuron
        return times[starts[neuron] : starts[neuron + 1]]

    @functools.cached_property
    def _by_neuron(self) -> tuple[Int64[np.ndarray, " ends"], Float64[np.ndarray, " spikes"]]:
        """Where the spikes of each neuron begin, and the end; times by neuron, then by time."""
        ascending = not (np.diff(self.times) < 0).any()
        keys = (self.neurons,) if ascending else (self.times, self.neurons)
        starts = np.cumsum(np.bincount(self.neurons, minlength=self.n))
        return np.concatenate([[0], starts]), self.times[np.lexsort(keys)]

    def dense(self, dt: float) -> Bool[np.ndarray, "steps n"]:
        """Whether each neuron spikes in each time step of the window.

        Args:
            dt: the time step [ms]; the spikes of a step are those after its begin, up to its end.

        Raises:
            InvalidValueError: for a window that is no whole number of steps, or times that came in
                float32 and are more than half a step apart there.
        """
        dt = check_dt(dt)
        n_steps = int(steps_on_grid("SpikeTrains.dense: the window", self.duration, dt))
        out = np.zeros((n_steps, self.n), bool)
        out[self.steps(dt, self.start), self.neurons] = True
        return out

    def steps(self, dt: float, start: float = 0.0) -> Int64[np.ndarray, " spikes"]:
        """The time step of each spike, counted from the one that begins at `start`.

        Args:
            dt: the time step [ms]; the spikes of a step are those after its begin, up to its end.
            start: the begin of step 0 [ms].

        Raises:
            InvalidValueError: for a dt or a start that is no time, or times that came in float32
                and are more than half a step apart there.
        """
        start = spec.check("SpikeTrains.steps", "start", spec.Number("ms"), start)
        dt, tolerance = check_dt(dt), tolerance_of(self)
        check_resolved("SpikeTrains", "times", tolerance, dt)
        return step_counts(self.times - start, dt, tolerance) - 1

    def first(self, count: int) -> "SpikeTrains":
        """The spikes of the first neurons, as many as `count`, or all if there are fewer.

        Raises:
            InvalidValueError: for a count that is no whole number.
        """
        spec.check("SpikeTrains.first", "count", spec.Whole(), count)
        mine = self.neurons < count
        window = min(count, self.n), self.start, self.stop
        selected = None if self.selected is None else self.selected[self.selected < count]
        return self._chosen(mine, *window, selected)

    def between(self, start: float | None = None, stop: float | None = None) -> "SpikeTrains":
        """The spikes in the part `(start, stop]` of the window [ms], by default all.

        Raises:
            InvalidValueError: for a part that is not within the window or has no length.
        """
        if start is None and stop is None:
            return self
        first, last = part_of_run(self.start, self.stop, start, stop)
        inside = in_window(self.times, first, last, tolerance_of(self))
        return self._chosen(inside, self.n, first, last, self.selected)

    def _chosen(
        self,
        which: Bool[np.ndarray, " spikes"],
        n: int,
        start: float,
        stop: float,
        selected: Int64[np.ndarray, " selected"] | None,
    ) -> "SpikeTrains":
        times, dtype = self.times[which], self._times_dtype
        window = n, start, stop
        return self.known(times, self.neurons[which], *window, times_dtype=dtype, selected=selected)

    def __repr__(self) -> str:
        of = "" if self.selected is None else f"{self.selected.size} of "
        return trains_text(len(self), self.n, self.start, self.stop, of)


def tolerance_of(trains: SpikeTrains) -> float | Float64[np.ndarray, " spikes"]:
    """How near [ms] each time may be to another one to count as equal, by the dtype it came in."""
    return time_tolerance(trains.times, trains._times_dtype)


def trains_text(spikes: int, n: int, start: float, stop: float, of: str = "") -> str:
    """What is shown of the spikes of a population."""
    count = f"{counted(spikes, 'spike')} of {of}{counted(n, 'neuron')}"
    return f"SpikeTrains: {count} from {start:.10g} to {stop:.10g} ms"
