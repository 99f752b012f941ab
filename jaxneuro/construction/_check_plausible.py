"""Weights, delays and connections that are hardly meant: in another unit, or none at all."""

import threading
from typing import Any

import numpy as np

from .._fields import potentials
from .._types import Neuron
from .._units import check_weight, largest
from .._warn import warn
from ..description import ResolvedProjection, Stimulation, is_computed, sizes
from ..neurons import PoissonSource
from ..space import ConductionDelay, distance_range
from ..stimuli import Signal
from ..synapses import Delta

# A neuron feels no jumps [mV] that are this small, if all of them together are.
_LEAST_JUMP, _LEAST_OF_ALL = 1e-3, 0.1
_OWN_UNIT = 10.0  # mV: a model whose potentials are all nearer to 0 has a unit of its own
_MEMORY = 0.02  # seconds that a membrane remembers
_LONGEST = 1000.0  # ms: no spike travels for longer
_FASTEST = 1.2e8  # um/s of the fastest axons; a higher number stands for no delay by distance
_MOST_PER_STEP = 1e3 * (1 + 1e-6)  # Hz times ms, with the rounding of float32
_MANY_PAIRS = 10_000  # of which some should be connected


class ComputedWeights:
    """Looks at the weights of a projection that a function computes, some at a time.

    Several threads may show it weights.
    """

    def __init__(self, resolved: ResolvedProjection, size: int):
        self._resolved, self._size, self._left, self._largest = resolved, size, size, 0.0
        self._lock = threading.Lock()

    def see(self, weights: np.ndarray) -> None:
        """Raises `ValueError` after the last ones if all of them are in SI units."""
        with self._lock:
            self._left -= weights.size
            self._largest = max(self._largest, float(np.abs(weights).max(initial=0.0)))
            last = self._left <= 0
        p = self._resolved.projection
        if last and p.plasticity is None:
            check_weight(p.label, p.gain * self._largest, p.synapse.weight_unit)
            warn_of_volts(self._resolved, self._size, self._largest)


def warn_of_volts(resolved: ResolvedProjection, synapses: int, weight: float | None = None) -> None:
    """Warns of jumps of v so small that all of a neuron's together do nothing: they are in V.

    `weight` is the largest one that a function has given.
    """
    p = resolved.projection
    if p.plasticity is not None or (weight is None and is_computed(p.weight)):
        return
    x = largest(sizes(p.weight)) if weight is None else weight
    each = synapses / max(resolved.sizes[1], 1)
    if x is not None:
        _warn_of_volts(
            p, resolved.target, p.gain * x, each, f"all {each:.4g} synapses of a neuron make"
        )


def warn_of_volts_sent(s: Stimulation, neuron: Neuron) -> None:
    """The same for the spikes that a stimulation sends."""
    x = None if s.weight is None else largest(sizes(s.weight))
    if x is None:
        return
    rate = getattr(s.stimulus, "rate", 0.0)
    bounds = rate.bounds() if isinstance(rate, Signal) else (rate, rate)
    highest = None if bounds is None else largest(bounds[1])
    if highest is not None:
        each = max(highest * _MEMORY, 1.0)
        what = "one spike makes" if each == 1.0 else f"{each:.4g} spikes in {_MEMORY} s make"
        _warn_of_volts(s, neuron, x, each, what)


def _warn_of_volts(p: Any, neuron: Any, weight: float, each: float, what: str) -> None:
    known, x = potentials(neuron), abs(weight)
    in_mv = max(map(abs, known), default=0.0) > _OWN_UNIT
    if isinstance(p.synapse, Delta) and in_mv and 0 < x < _LEAST_JUMP and each * x < _LEAST_OF_ALL:
        warn(
            f"{p.label}: weights of Delta are jumps of v in mV; got at most {x:.4g}, of which "
            f"{what} {each * x:.2g} mV: did you mean {1e3 * weight:.4g} "
            "(V -> mV)?"
        )


def check_source_rate(label: str, model: Neuron, dt: float) -> None:
    """Raises `ValueError` for a `PoissonSource` of more than one spike per step, which is lost."""
    rate = largest(model.rate) if isinstance(model, PoissonSource) else None
    if rate is not None and rate * dt > _MOST_PER_STEP:
        raise ValueError(
            f"{label}: a PoissonSource has at most one spike per time step of {dt:g} ms: rate must "
            f"be at most {1e3 / dt:g} Hz; got {rate:g}. Make several sources of lower rates, take "
            "a smaller dt, or drive the targets by jn.stimuli.Poisson, which sends several spikes "
            "in a step"
        )


def warn_of_speed(resolved: ResolvedProjection, dt: float) -> None:
    """Warns of a speed of conduction that makes all delays the same, or longer than any is."""
    p, (pre, post) = resolved.projection, resolved.places
    if not isinstance(p.delay, ConductionDelay) or pre is None or post is None:
        return
    farthest, speed = distance_range(pre, post)[1], p.delay.speed
    travels = farthest / speed
    means = (
        f"{p.label}: the speed of a ConductionDelay is in um/ms, where positions are in um "
        f"(0.3 m/s is 300 um/ms); got {speed:g}, with which"
    )
    if travels > _LONGEST:
        warn(f"{means} a spike travels {travels:.4g} ms over {farthest:.4g} um")
    elif farthest > 0.0 and travels < 0.5 * dt and speed <= _FASTEST:
        warn(
            f"{means} a spike travels {travels:.2g} ms over {farthest:.4g} um, less than half a "
            f"time step ({dt:g} ms): distance makes no difference. Give one number as the delay "
            "if this is meant"
        )


def warn_of_none(resolved: ResolvedProjection, synapses: int) -> None:
    """Warns of a rule by position that connects nobody, of many pairs."""
    p, (pre, post) = resolved.projection, resolved.sizes
    if p.rule.spatial and not synapses and pre * post >= _MANY_PAIRS:
        warn(
            f"{p.label} has no synapses: {type(p.rule).__name__} connects none of the "
            f"{pre * post:,} pairs of neurons. Its lengths are in um, as positions are"
        )
