"""Finds a possible cause of NaN in a state: a bad rate that is a function of time."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._fields import parameters
from .._kernels import LARGEST_MEAN
from .._network import Network
from .._numerics import per_step
from .._types import SpikeStimulus
from ..stimuli import Signal

_NUMBERS = 1_000_000  # evaluated at once


def describe_bad_rate(net: Network, steps: range) -> str | None:
    """The stimulation whose rate is the first that cannot be drawn in `steps`, in a sentence."""
    found = []
    for group in net.groups:
        for stimulus in group.stimuli:
            if isinstance(stimulus.model, SpikeStimulus):
                found += _bad_rates(stimulus.spread(), steps, net.dt)
    if not found:
        return None
    step, name, field, rate = min(found, key=lambda f: f[:2])
    return (
        f"The cause may be stimulation {name!r}: its {field} is {rate:g} Hz at {step * net.dt:g} "
        f"ms; it must be from 0 to what can be drawn in a time step of {net.dt:g} ms"
    )


def _bad_rates(stimulus: Any, steps: range, dt: float) -> list[tuple[int, str, str, float]]:
    """The first bad value of every signal: network step, stimulation, field, value."""
    delay, start, stop = stimulus.window
    first = max(steps.start, start + delay)
    last = steps.stop if stop is None else min(steps.stop, stop + delay)
    out = []
    for field in parameters(type(stimulus.model)):
        signal = getattr(stimulus.model, field.name)
        if isinstance(signal, Signal):
            # `Gamma` and `MultipleInteraction` draw events at this multiple of the rate.
            model = stimulus.model
            factor = np.asarray(model.events_per_spike())
            bad = _first_bad(signal, range(first - delay, last - delay), dt, factor, stimulus.n)
            if bad is not None:
                step, neuron, rate = bad
                owner = np.searchsorted(np.cumsum(stimulus.sizes), neuron, side="right")
                out.append((step + delay, stimulus.names[owner], field.name, rate))
    return out


def _first_bad(
    signal: Signal, steps: range, dt: float, factor: Any, n: int
) -> tuple[int, int, float] | None:
    size = max(_NUMBERS // max(n, 1), 1)
    at = jax.jit(jax.vmap(lambda step: signal.at(step, dt)))
    for begin in range(steps.start, steps.stop, size):
        block = np.arange(begin, min(begin + size, steps.stop), dtype=np.int32)
        rates = np.asarray(at(jnp.asarray(block))).reshape(block.size, -1)
        events = per_step(rates, dt) * factor
        bad = np.argwhere(~((events >= 0) & (events <= LARGEST_MEAN)))
        if bad.size:
            row, neuron = (int(k) for k in bad[0])
            return int(block[row]), neuron, float(rates[row, min(neuron, rates.shape[1] - 1)])
    return None
