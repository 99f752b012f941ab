"""Whether weights have the sign that their receptor can take."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Neuron
from .._describe import Coupling, Description, Projection, is_computed
from .._network import check_rule_sign, sign_of
from .._numerics import Distribution, drawn
from ..synapses import Into

_EXTREMES = np.array([0, 2**32 - 1], np.uint32)


def check_signs(description: Description) -> None:
    """Raises `ValueError` for a weight that is known and has the wrong sign for its receptor."""
    for p in (*description.projections, *description.couplings, *description.stimuli):
        if isinstance(p, Coupling) or p.synapse is not None:
            gain = getattr(p, "gain", 1.0)
            values = _known(p.weight)
            neuron = description.population(p.post.population).model
            check_sign(p, sign_at(neuron, p), [gain * x for x in values], p.weight)
            if isinstance(p, Projection) and p.plasticity is not None:
                check_rule_sign(p.label, sign_at(neuron, p), p.plasticity, p.gain)


def check_drawn(p: Any, weights: np.ndarray, neuron: Neuron) -> None:
    """The same for weights that a function has given; `neuron` is the model of the targets."""
    extremes = weights.min(initial=0.0), weights.max(initial=0.0)
    check_sign(p, sign_at(neuron, p), [p.gain * x for x in extremes], "a weight")


def check_sign(p: Any, wanted: tuple[int, str], values: Sequence[Any], given: Any) -> None:
    """Raises `ValueError` unless all values have the sign."""
    sign, what = wanted
    for x in values:
        worst = float(np.min(sign * np.asarray(x))) if np.size(x) and sign else 0.0
        if worst < 0.0:
            must = "at least 0" if sign > 0 else "at most 0"
            hint = "; bound the distribution (low=0.0)" if sign > 0 else "; bound it (high=0.0)"
            hint = hint if isinstance(given, Distribution) else ""
            raise ValueError(
                f"{p.label}: the weight must be {must}, {what}; got {sign * worst:g}{hint}"
            )


def _known(weight: Any) -> list[Any]:
    """The extreme weights that can occur, of those that are known before they are drawn."""
    if isinstance(weight, Distribution):
        return [drawn(weight, _EXTREMES)]
    return [] if weight is None or is_computed(weight) else [weight]


def sign_at(neuron: Neuron, p: Any) -> tuple[int, str]:
    """The sign of the weights of a sender, 0 for any, and why."""
    if p.synapse is None:
        return 1, "it is the conductance of gap junctions"
    return sign_of(neuron, p.synapse.receptor if isinstance(p.synapse, Into) else p.synapse)
