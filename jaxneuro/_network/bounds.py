"""What can be set: signs of weights, values of state variables, parameters of a merged model."""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Float, Shaped

from .. import spec
from .._arrays import as_array, is_traced
from .._fields import check_lengths, inner, named_parameters, unit_guesses, with_numbers
from .._model import Neuron, Plasticity, Release, Stimulus, Synapse, state_variables
from .._numerics.distributions import Distribution
from .._numerics.grid import check_grid, check_stable
from .._numerics.streams import stream_key
from .._text import an
from .._units import Guess, warn_of_units
from ..spec import InvalidValueError
from ..stimuli import Signal
from ..synapses import Direct, Several
from .group import Group
from .members import first_member, member, replace_member
from .names import ModelReference

if TYPE_CHECKING:
    from .network import Network


def sign_of(neuron: Neuron, receptor: Synapse) -> tuple[int, str]:
    """The sign of the weights of what reaches a receptor of a neuron, 0 for any, and why."""
    name = type(receptor).__name__
    if isinstance(receptor, Direct):
        sign = neuron.port_signs.get(receptor.port, 0)
        kind = "excitatory" if sign > 0 else "inhibitory"
        return sign, f"it goes to the {kind} port {receptor.port!r} of {an(type(neuron).__name__)}"
    reversal = f" (an inhibitory {name} has a low e_rev)" if hasattr(receptor, "e_rev") else ""
    return receptor.weight_sign, f"what arrives at {an(name)} opens its channels{reversal}"


def check_set_sign(
    owner: str,
    field: str,
    value: Any,
    group: Group,
    receptor: int | None,
    others: Callable[[int], Any],
) -> None:
    """Raises `InvalidValueError` for a weight or a gain that makes weights of the wrong sign.

    Args:
        owner, field: whose value it is: "weight" or "gain".
        value: the weight or the gain.
        group: the group of the targets.
        receptor: the number there of the one that is reached, None for gap junctions.
        others: for a sign, what the value is multiplied by: the gain, or weights, of which the
            extremes do.
    """
    sign, why = 1, "it is the conductance of gap junctions"
    if receptor is not None:
        sign, why = sign_of(group.model, group.receptors[receptor])
    if not sign:
        return
    worst = _worst(sign, np.asarray(value)[..., None], others(sign))
    if worst < 0.0:
        times = f"times {'the gain' if field == 'weight' else 'a weight'}"
        must = f"{_must(sign)} {times}, {why}"
        raise InvalidValueError(owner, field, must, f"{sign * worst:g}")


def check_rule_sign(owner: str, sign: tuple[int, str], rule: Plasticity, gain: Any) -> None:
    """Raises `InvalidValueError` for a rule of plasticity that may bring weights to the wrong sign.

    Its weights lie between its limits. `sign` as of `sign_of`; a gain of 0 allows any.
    """
    wanted, why = sign
    limits = rule_limits(rule)
    if not wanted or limits is None or is_traced(gain) or not np.asarray(gain).all():
        return
    if _worst(wanted, gain, limits) < 0.0:
        must = f"one with bounds that times the gain are {_must(wanted)} (w_min=0.0), {why}"
        got = f"{type(rule).__name__}, whose weights are from {limits[0]:g} to {limits[1]:g}"
        raise InvalidValueError(owner, "plasticity", must, got)


def rule_limits(rule: Plasticity) -> Float[np.ndarray, "2"] | None:
    """The lowest and the highest weight that a rule allows; None where they are not known."""
    limits = rule.limits()
    if any(map(is_traced, limits)):
        return None
    low, high = (
        x if bound is None else float(bound) for bound, x in zip(limits, (-np.inf, np.inf))
    )
    return np.array([low, high])


def beyond(limits: Float[np.ndarray, "2"], weights: Shaped[np.ndarray, "..."]) -> bool:
    """Whether weights are beyond limits by more than the precision of a network."""
    slack = 1e-6 * np.abs(limits).max(where=np.isfinite(limits), initial=0.0)
    inside = limits[0] - slack <= weights.min() and weights.max() <= limits[1] + slack
    return not inside


def check_within(owner: str, field: str, rule: Plasticity, values: Any) -> None:
    """Raises `InvalidValueError` for known weights outside the limits of a rule."""
    limits = None if is_traced(values) else rule_limits(rule)
    weights = np.zeros(0) if limits is None else np.asarray(values)
    if limits is not None and weights.size and beyond(limits, weights):
        # An inhibitory projection onto currents has positive weights and gain=-1.
        must = f"within the bounds of {type(rule).__name__}, {limits[0]:g} to {limits[1]:g}"
        raise InvalidValueError(owner, field, must, f"{weights.min():g} to {weights.max():g}")


def check_numbers(
    owner: str, field: str, value: Any, n: int | None = None, each: str = "neuron"
) -> None:
    """Raises `InvalidValueError` unless a value is one finite number, or with `n` one of each."""
    if np.shape(value) not in (((),) if n is None else ((), (n,))):
        must = "one number" if n is None else f"one number or one per {each}, shape ({n},)"
        raise InvalidValueError(owner, field, must, f"shape {np.shape(value)}")
    spec.check(owner, field, spec.Numbers(traceable=True), value)


def _worst(sign: int, value: Any, others: Any) -> float:
    """The product that is furthest on the wrong side, 0 if none is."""
    others = np.asarray(others, np.float64)
    products = np.multiply(sign * np.asarray(value, np.float64), others)
    return float(np.nanmin(products, initial=0.0))  # 0 times no limit


def _must(sign: int) -> str:
    return "at least 0" if sign > 0 else "at most 0"


# What a run may leave outside a bound by rounding; values that were read can be set again.
_ROUNDING = 1e-5


def check_state_value(
    owner: str, field: str, model: Synapse | Release | Neuron, variable: str, value: Any
) -> None:
    """Raises `InvalidValueError` for numbers, or a distribution, that a state variable never has.

    `model` is the neuron, the receptor or the release, whose `state_bounds` count.
    """
    low, high, *more = state_bounds(model).get(variable, (None, None))
    drawn, whole = isinstance(value, Distribution), int in more
    ends: Any = value.support() if drawn else (value, value)
    if drawn and Distribution in more:  # refused if no number that is drawn is inside
        ends = ends[::-1]
    if any(map(is_traced, (*ends, low, high))) or (low is high is None and not whole):
        return
    ends = [np.asarray(x) for x in ends]
    bounds = [None if b is None else np.asarray(b) for b in (low, high)]
    bad = [
        b is not None and np.any(sign * (x - b) < -_ROUNDING * np.maximum(np.abs(b), 1.0))
        for sign, x, b in zip((1, -1), ends, bounds)
    ]
    bad.append(whole and (drawn or bool(np.any(ends[0] != np.rint(ends[0])))))
    if any(bad):
        kind = "whole numbers " if whole else ""
        least, most = (None if b is None else _shown(b) for b in bounds)
        span = f"from {least} to {most}" if most and least else f"at least {least or most}"
        hint = "; bound the distribution (low=, high=)" if drawn and not whole else ""
        raise InvalidValueError(owner, field, f"{kind}{span}", _shown_value(value), hint)


def state_bounds(model: Synapse | Release | Neuron) -> dict[str, tuple]:
    """The bounds of the state variables of a model, numbers in the place of names of fields."""
    if isinstance(model, Several):  # its state has the variables of its parts, in their order
        names = state_variables(jax.eval_shape(lambda m: m.init(1), first_member(model)))
        each = [pair for part in model.parts for pair in _each(part)]
        return {name: bounds for name, (_, bounds) in zip(names, each) if bounds}
    return {
        name: tuple(operator.attrgetter(b)(model) if isinstance(b, str) else b for b in bounds)
        for name, bounds in model.state_bounds.items()
    }


def _each(part: Synapse | Release) -> list[tuple[str, tuple | None]]:
    """All state variables of a part, with their bounds or None."""
    state = jax.eval_shape(lambda m: m.init(1), first_member(part))
    bounds = state_bounds(part)
    return [(name, bounds.get(name)) for name in state_variables(state)]


def _shown(bound: Shaped[np.ndarray, "..."]) -> str:
    return f"{bound:g}" if bound.ndim == 0 else f"the neuron's own ({bound.min():g} or more)"


def _shown_value(value: Any) -> str:
    if isinstance(value, Distribution) or np.ndim(value) == 0:
        return f"{value!r}" if isinstance(value, Distribution) else f"{float(value):g}"
    x = np.asarray(value)
    return f"values from {x.min():g} to {x.max():g}"


def with_parameters(
    label: str, reference: ModelReference, net: "Network", values: dict[str, Any]
) -> Any:
    """A merged model with parameters of one member replaced, checked as when made."""
    model, sizes, index = reference.model(net), reference.sizes, reference.member
    for key, value in values.items():
        n = None if isinstance(model, Plasticity) else sizes[index]
        if key not in inner(model) and np.shape(value) not in ((), (n,)):
            must = "one number" if n is None else f"one number or one per neuron, shape ({n},)"
            raise InvalidValueError(label, key, must, f"shape {np.shape(value)}")
    old, random = member(model, sizes, index), stream_key(0, label, "stimulus")
    ready = {  # as build leaves them: times as whole steps
        name: x.prepare(f"{label}: {name}", sizes[index], net.dt, random)
        if isinstance(x, Signal)
        else x
        for name, x in values.items()
    }
    known = named_parameters(old)
    try:
        new = with_numbers(old, {known[k][0] if k in known else (k,): x for k, x in ready.items()})
    except InvalidValueError as error:
        inside = {k: known[k][0] for k in values if k in known}  # mg of what is nmda_mg here
        key = next((k for k, path in inside.items() if error.field in path), error.field)
        raise InvalidValueError(label, key, error.must, error.got, error.hint) from None
    if jax.tree.structure(new) != jax.tree.structure(old):
        must = (
            "of its kind: a number (or one per neuron) where it was a number, a whole signal of "
            "the same class where it was a signal, amplitude=Sinusoid(10.0, 2.0, 8.0)"
        )
        raise InvalidValueError(label, ", ".join(values), must, "another kind")
    # Made in 64 bits, numbers would not mix with those of the network that are kept.
    new = jax.tree.map(lambda x, kept: as_array(x, kept.dtype), new, old)
    check_lengths(label, new, sizes[index], label)
    check_grid(label, new, net.dt)
    if isinstance(new, Neuron):
        check_stable(label, new, net.dt)
    if isinstance(new, Stimulus):  # what build checks is checked for new values too
        new.prepare(label, sizes[index], net.dt, random)
    keys = {known[key][0][-1] if key in known else key: key for key in values}
    warn_of_units(
        Guess(label, keys[guess.field], guess.must, guess.got, guess.hint)
        for guess in unit_guesses(new, net.dt)
        if guess.field in keys
    )
    return replace_member(model, sizes, index, new)
