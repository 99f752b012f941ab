"""Trials of data as one array, with the steps that each of them has."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, Shaped

from .. import spec
from .._arrays import AnyArray, is_traced
from .._run.spike_trains import SpikeTrains
from .._text import brief
from ..spec import InvalidValueError

_NEEDS_DT = "the time step [ms] of spikes with times"
_LENGTHS = "one whole number per trial, from 0 to the steps of the array"


class Batch(eqx.Module):
    """Trials as one input of a network: time steps first, then trials, as a loop reads them.

    Map a run over axis 1 of `inputs`. One network, with one table of connections, serves all::

        def run(x):
            return jn.scan(net, net.init(0), batch.steps, {"input": x}, record)[1]

        recordings = jax.vmap(run, in_axes=1)(batch.inputs)

    `batch[trials]` is a batch of some of them, by number or mask. It is a pytree: an argument of
    `jit` like any array.

    Attributes:
        data: (steps, trials, bytes) spikes as bits, or (steps, trials, ...) currents [pA].
        lengths: (trials,) how many of the steps each trial has; its input is 0 in the others.
        n: how many neurons spike; None for currents.
    """

    data: Shaped[AnyArray, "steps trials ..."]
    lengths: Int32[AnyArray, " trials"]
    n: int | None = eqx.field(static=True)

    @property
    def steps(self) -> int:
        """The time steps of the longest trial."""
        return self.data.shape[0]

    @property
    def inputs(self) -> Shaped[Array, "steps trials ..."]:
        """Spikes, booleans (steps, trials, n), or currents [pA]: (steps, trials) or with n."""
        if self.n is None:
            return jnp.asarray(self.data)
        bits = jnp.unpackbits(jnp.asarray(self.data), axis=-1, bitorder="little")
        return bits[..., : self.n].astype(bool)

    @property
    def mask(self) -> Bool[Array, "steps trials"]:
        """Which steps each trial has."""
        return jnp.arange(self.steps, dtype=jnp.int32)[:, None] < self.lengths

    def __len__(self) -> int:
        return self.data.shape[1]

    def __getitem__(self, trials: Any) -> "Batch":
        which = np.asarray(trials) if isinstance(trials, list | tuple | range) else trials
        if not is_traced(which) and np.ndim(np.empty(len(self))[which]) != 1:
            must = "several: a slice, an array of numbers or a mask"
            raise InvalidValueError("Batch", "trials", must, brief(trials))
        return Batch(self.data[:, which], self.lengths[which], self.n)


def batch(
    trials: Any, dt: Any = None, *, n: int | None = None, lengths: Sequence[int] | None = None
) -> Batch:
    """Makes a `Batch` of trials of any lengths; shorter ones are filled up with no input.

    Args:
        trials: a sequence of trials: `SpikeTrains`, whose windows all begin at 0 for the network;
            pairs of times [ms] since the start and neurons, `(times, neurons)`, each of which ends
            with its last spike; booleans (steps, n); or currents [pA], (steps,) or (steps, n). Or
            all of them in one array, (trials, steps) or (trials, steps, n).
        dt: the time step [ms], for what has times.
        n: how many neurons spike, for pairs.
        lengths: how many steps each trial of one array has (default: all).

    Raises:
        InvalidValueError: for no trials, trials of several kinds or numbers of neurons, a `dt` or
            `n` that is missing, or lengths beyond the array.
    """
    if hasattr(trials, "ndim"):
        return _of_array(np.asarray(trials), lengths)
    if lengths is not None:
        raise InvalidValueError("batch", "lengths", "None unless all trials are one array", "some")
    arrays = [_steps_of(k, x, dt, n) for k, x in enumerate(trials)]
    if not arrays:
        raise InvalidValueError("batch", "trials", "at least one", "none")
    kinds = [(x.dtype == bool, x.shape[1:]) for x in arrays]
    other = next((k for k, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        got = f"{_words(arrays[other])}, where trial 0 has {_words(arrays[0])}"
        raise InvalidValueError("batch", f"trial {other}", "like the first", got)
    steps = np.array([len(x) for x in arrays], np.int32)
    out = np.zeros((steps.max(), len(arrays), *arrays[0].shape[1:]), arrays[0].dtype)
    for k, x in enumerate(arrays):
        out[: len(x), k] = x
    return _packed(out, steps)


def _of_array(x: np.ndarray, lengths: Any) -> Batch:
    """Of (trials, steps) or (trials, steps, n)."""
    if x.ndim not in (2, 3) or (x.dtype == bool and x.ndim == 2) or not len(x):
        must = "(trials, steps, n), or currents (trials, steps), at least one trial"
        raise InvalidValueError("batch", "trials", must, f"{x.dtype} of shape {x.shape}")
    _check_kind("trials", x)
    every = np.full(len(x), x.shape[1], np.int32)
    steps = every if lengths is None else np.asarray(lengths)
    if steps.shape != every.shape or steps.dtype.kind not in "iu":
        raise InvalidValueError("batch", "lengths", _LENGTHS, brief(lengths))
    beyond = np.flatnonzero((steps < 0) | (steps > x.shape[1]))
    if beyond.size:
        k = beyond[0]
        must = f"from 0 to {x.shape[1]}, the steps of the array"
        raise InvalidValueError("batch", "lengths", must, f"{steps[k]} of trial {k}")
    mask = np.arange(x.shape[1]) < steps[:, None]
    x = np.where(mask[..., None] if x.ndim == 3 else mask, x, np.zeros((), x.dtype))
    return _packed(np.ascontiguousarray(np.swapaxes(x, 0, 1)), steps.astype(np.int32))


def _packed(x: np.ndarray, lengths: np.ndarray) -> Batch:
    """Of (steps, trials, ...)."""
    if x.dtype != bool:
        return Batch(x, lengths, None)
    return Batch(np.packbits(x, axis=-1, bitorder="little"), lengths, x.shape[-1])


def _steps_of(number: int, x: Any, dt: Any, n: int | None) -> np.ndarray:
    """A trial as booleans (steps, n) or currents."""
    field = f"trial {number}"
    if isinstance(x, tuple):
        x = _trains(field, x, dt, n)
    if isinstance(x, SpikeTrains):
        if dt is None:
            raise InvalidValueError("batch", "dt", _NEEDS_DT, "None")
        return x.dense(dt)
    x = np.asarray(x)
    if x.ndim not in (1, 2) or (x.dtype == bool and x.ndim == 1):
        must = "booleans (steps, n), currents (steps,) or (steps, n), SpikeTrains or a pair"
        raise InvalidValueError("batch", field, must, f"{x.dtype} of shape {x.shape}")
    _check_kind(field, x)
    return x


def _trains(field: str, pair: tuple, dt: Any, n: int | None) -> SpikeTrains:
    """Of times and neurons, up to the step of the last spike."""
    if len(pair) != 2:
        raise InvalidValueError("batch", field, "times and neurons", f"{len(pair)} arrays")
    if n is None or dt is None:
        field, must = ("n", "how many neurons spike") if n is None else ("dt", _NEEDS_DT)
        raise InvalidValueError("batch", field, must, "None")
    times = spec.check("batch", field, spec.Numbers("ms", ndim=(1,)), pair[0])
    step = float(spec.check("batch", "dt", spec.Number("ms", above=0.0), dt))
    steps = np.ceil(np.max(times, initial=0.0) / step - 1e-6)
    return SpikeTrains(pair[0], pair[1], n, 0.0, steps * step)


def _check_kind(field: str, x: np.ndarray) -> None:
    if x.dtype.kind not in "bf":
        must = "booleans for spikes, floats for currents [pA]"
        raise InvalidValueError("batch", field, must, f"{x.dtype} of shape {x.shape}")


def _words(x: np.ndarray) -> str:
    kind = "spikes" if x.dtype == bool else "currents"
    return f"{kind} of {x.shape[1]} neurons" if x.ndim == 2 else f"one {kind[:-1]}"
