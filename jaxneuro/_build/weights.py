"""Weights of a wrong sign or unit, and connections that are hardly meant."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64, Num

from .._arrays import ArrayLike, is_traced
from .._describe.coupling import Coupling
from .._describe.description import Description
from .._describe.projection import Projection
from .._describe.resolve import ResolvedProjection
from .._describe.stimulation import Stimulation
from .._describe.values import extremes, is_computed
from .._fields import parameters, potentials
from .._model import Neuron
from .._network.bounds import check_rule_sign, sign_of
from .._numerics.distributions import Distribution
from .._numerics.draws import drawn
from .._units import far_too_small, largest, warn_of_units, weight_in_si
from .._warn import warn
from ..release import Spikes, TsodyksMarkram
from ..space import ConductionDelay
from ..space._distances import distance_range
from ..spec import InvalidValueError
from ..stimuli import Current, Signal
from ..synapses import Delta, Direct, Into
from .grouping import Sender

_EXTREMES = np.array([0, 2**32 - 1], np.uint32)


def check_signs(description: Description) -> None:
    """Raises `InvalidValueError` for a known weight of the wrong sign for its receptor, or a port
    that there is not.
    """
    for p in (*description.projections, *description.couplings, *description.stimuli):
        if isinstance(p, Coupling) or p.synapse is not None:
            gain = getattr(p, "gain", 1.0)
            values = _known(p.weight)
            neuron = description.population(p.post.population).model
            _check_port(p, neuron)
            check_sign(p, sign_at(neuron, p), [gain * x for x in values], p.weight)
            if isinstance(p, Projection) and p.plasticity is not None:
                check_rule_sign(p.label, sign_at(neuron, p), p.plasticity, p.gain)


def _check_port(p: Sender, neuron: Neuron) -> None:
    """Raises `InvalidValueError` for a port that the neurons do not have."""
    if isinstance(p.synapse, Direct) and p.synapse.port not in neuron.ports:
        ports = ", ".join(map(repr, neuron.ports))
        must = f"one of the ports of {type(neuron).__name__}, {ports}"
        must = must if ports else f"no Direct, as {type(neuron).__name__} has no port"
        raise InvalidValueError(p.label, "synapse", must, repr(p.synapse))


def check_drawn_weights(
    p: Projection | Coupling, weights: Num[np.ndarray, " synapses"], neuron: Neuron
) -> None:
    """The same for weights that a function has given; `neuron` is the model of the targets."""
    extremes = weights.min(initial=0.0), weights.max(initial=0.0)
    check_sign(p, sign_at(neuron, p), [p.gain * x for x in extremes], "a weight")


def check_sign(p: Sender, wanted: tuple[int, str], values: Sequence[ArrayLike], given: Any) -> None:
    """Raises `InvalidValueError` unless all values have the sign."""
    sign, what = wanted
    for x in values:
        worst = float(np.min(sign * np.asarray(x))) if np.size(x) and sign else 0.0
        if worst < 0.0:
            must = "at least 0" if sign > 0 else "at most 0"
            must += "" if getattr(p, "gain", 1.0) == 1.0 else " when multiplied by the gain"
            hint = "; bound the distribution (low=0.0)" if sign > 0 else "; bound it (high=0.0)"
            hint = hint if isinstance(given, Distribution) else ""
            got = f"{sign * worst:g}{hint}"
            raise InvalidValueError(p.label, "weight", f"{must}, {what}", got)


def _known(weight: Any) -> list[Any]:
    """The extreme weights that can occur, of those that are known before they are drawn."""
    if isinstance(weight, Distribution):
        return [drawn(weight, _EXTREMES)]
    return [] if weight is None or is_computed(weight) else [weight]


def sign_at(neuron: Neuron, p: Sender) -> tuple[int, str]:
    """The sign of the weights of a sender, 0 for any, and why."""
    if p.synapse is None:
        return 1, "it is the conductance of gap junctions"
    return sign_of(neuron, p.synapse.receptor if isinstance(p.synapse, Into) else p.synapse)


# A neuron feels no jumps [mV] that are this small, if all of them together are.
_LEAST_JUMP, _LEAST_OF_ALL = 1e-3, 0.1
_LEAST_PSP = 1e-3  # the same of postsynaptic potentials [mV]
_LEAST_GIVEN = 3e-4  # nA or uS; smaller weights do nothing on purpose
_LEAST_SHIFT = 0.04  # nor a current that moves v by less [mV]
_LEAST_PULL = 20.0  # mV between v and a reversal potential: at rest a shunt pulls nowhere
_OWN_UNIT = 10.0  # mV: a model whose potentials are all nearer to 0 has a unit of its own
_MEMORY = 0.02  # seconds that a membrane remembers
_LONGEST = 1000.0  # ms: no spike travels for longer
_FASTEST = 1.2e8  # um/s of the fastest axons; a higher number stands for no delay by distance
_MANY_PAIRS = 10_000  # of which some should be connected


class ComputedWeights:
    """Looks at the weights of a projection that a function computes, some at a time.

    Several threads may show it weights.
    """

    def __init__(self, resolved: ResolvedProjection, size: int):
        self._resolved, self._size, self._left, self._largest = resolved, size, size, 0.0
        self._lock = threading.Lock()

    def see(self, weights: Float64[np.ndarray, " synapses"]) -> None:
        """Warns after the last ones if all of them are in another unit."""
        with self._lock:
            self._left -= weights.size
            self._largest = max(self._largest, float(np.abs(weights).max(initial=0.0)))
            last = self._left <= 0
        p = self._resolved.projection
        if last and p.plasticity is None:
            warn_of_units(weight_in_si(p.label, p.gain * self._largest, p.synapse.weight_unit))
            warn_of_volts(self._resolved, self._size, self._largest)


def warn_of_volts(resolved: ResolvedProjection, synapses: int, weight: float | None = None) -> None:
    """Warns of weights so small that all of a neuron's synapses together do nothing: jumps of v in
    V, currents in nA, conductances in uS.

    `weight` is the largest one that a function has given.
    """
    p = resolved.projection
    if p.plasticity is not None or (weight is None and is_computed(p.weight)):
        return
    x = largest(extremes(p.weight)) if weight is None else weight
    each = synapses / max(resolved.sizes[1], 1)
    unscaled = isinstance(p.release, Spikes | TsodyksMarkram)
    # Of less than a synapse per neuron the largest of drawn weights may be small by chance.
    if x is not None and each >= 1.0 and (unscaled or isinstance(p.synapse, Delta)):
        what = f"all {each:.4g} synapses of a neuron make"
        _warn_of_nothing(p, resolved.target, p.gain * x, each, what)


def warn_of_volts_sent(s: Stimulation, neuron: Neuron) -> None:
    """The same for the spikes that a stimulation sends."""
    x = None if s.weight is None else largest(extremes(s.weight))
    if x is None:
        return
    highest = _highest(getattr(s.stimulus, "rate", 0.0))
    if highest is not None:
        each = max(highest * _MEMORY, 1.0)
        what = "one spike makes" if each == 1.0 else f"{each:.4g} spikes in {_MEMORY} s make"
        _warn_of_nothing(s, neuron, x, each, what)


def _highest(value: Signal | ArrayLike) -> float | None:
    """The number of the largest size of a number or a signal; None if it is not known."""
    bounds = value.bounds() if isinstance(value, Signal) else (value, value)
    found = [] if bounds is None else [largest(x) for x in bounds]
    known = [x for x in found if x is not None]
    return max(known, key=abs) if known and len(known) == len(found) else None


def _warn_of_nothing(p: Any, neuron: Neuron, weight: float, each: float, what: str) -> None:
    if not _in_mv(neuron):
        return
    synapse = p.synapse.receptor if isinstance(p.synapse, Into) else p.synapse
    if isinstance(synapse, Delta):
        per, least, meant = 1.0, _LEAST_JUMP, "jumps of v in mV"
        other = "V -> mV"
    elif abs(weight) < _LEAST_GIVEN:
        return
    else:
        per, least, unit = _jump_per_weight(synapse, neuron), _LEAST_PSP, synapse.weight_unit
        meant, other = f"in {unit}", f"{'nA' if unit == 'pA' else 'uS'} -> {unit}"
    jump = abs(weight) * per
    if 0 < jump < least and each * jump < _LEAST_OF_ALL:
        warn(
            f"{p.label}: weights of {type(synapse).__name__} are {meant}; got at most "
            f"{abs(weight):.4g}, of which {what} {each * jump:.2g} mV: did you mean "
            f"{1e3 * weight:.4g} ({other})?"
        )


def _in_mv(neuron: Neuron) -> bool:
    return max(map(abs, potentials(neuron)), default=0.0) > _OWN_UNIT


def _jump_per_weight(synapse: Any, neuron: Neuron) -> float:
    """What an arrival of weight 1 moves v by at most [mV]; 0 where it is not known."""
    taus = [x for tau in synapse.time_constants().values() if (x := largest(tau)) is not None]
    c_m = _capacitance(neuron)
    if not taus or c_m is None:
        return 0.0
    pull = 1.0
    if synapse.weight_unit == "nS":
        e_rev = largest(getattr(synapse, "e_rev", None))
        known = potentials(neuron)
        pull = 0.0 if e_rev is None else max(_LEAST_PULL, *(abs(e_rev - v) for v in known))
    return synapse.response_area * max(taus) * pull / c_m


def _capacitance(neuron: Any) -> float | None:
    """The smallest capacitance [pF] of a neuron; None if it is not known, or in another unit."""
    field = next((f for f in parameters(type(neuron)) if f.name == "c_m"), None)
    known = None if field is None or is_traced(neuron.c_m) else np.asarray(neuron.c_m)
    if field is None or known is None or field.metadata["kind"].unit != "pF":
        return None
    return float(known.min()) if known.size else None


def warn_of_nano(stimulations: Iterable[Stimulation], neuron: Neuron) -> None:
    """Warns of currents so small that v stays where it is, if all into a population are.

    A small current beside a larger one may be a probe.
    """
    c_m, found = _capacitance(neuron), list(stimulations)
    if c_m is None or not _in_mv(neuron) or len(found) != 1:
        return
    s = found[0]
    x = _highest(s.stimulus.amplitude) if isinstance(s.stimulus, Current) else None
    tau, g_l = (largest(getattr(neuron, name, None)) for name in ("tau_m", "g_l"))
    resistance = tau / c_m if tau else 1.0 / g_l if g_l else 0.0
    if x is None or any(far_too_small("", "current", x, "pA")):
        return  # build, or simulate, has said so
    if 0.0 < abs(x) * resistance < _LEAST_SHIFT:
        warn(
            f"{s.label}: a Current is in pA; got at most {abs(x):.4g}, which moves v by "
            f"{abs(x) * resistance:.2g} mV: did you mean {1e3 * x:.4g} (nA -> pA)?"
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
