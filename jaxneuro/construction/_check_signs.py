"""Whether weights have the sign that their receptor can take."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Neuron, Synapse
from ..description import Coupling, Description, is_computed
from ..numerics import Distribution, drawn
from ..synapses import Direct, Into

_EXTREMES = np.array([0, 2**32 - 1], np.uint32)


def check_signs(description: Description) -> None:
    """Raises `ValueError` for a weight that is known and has the wrong sign for its receptor."""
    for p in (*description.projections, *description.couplings, *description.stimuli):
        if isinstance(p, Coupling) or p.synapse is not None:
            gain = getattr(p, "gain", 1.0)
            values = _known(p.weight)
            check_sign(p, _sign(description, p), [gain * x for x in values], p.weight)


def check_drawn(p: Any, weights: np.ndarray, description: Description | None = None) -> None:
    """The same for weights that a function has given."""
    check_sign(p, _sign(description, p), [p.gain * weights.min(initial=0.0)], "a weight")
    check_sign(p, _sign(description, p), [p.gain * weights.max(initial=0.0)], "a weight")


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


def _sign(description: Description | None, p: Any) -> tuple[int, str]:
    """The sign of the weights of a sender, 0 for any, and why."""
    if p.synapse is None:
        return 1, "it is the conductance of gap junctions"
    synapse: Synapse = p.synapse
    if isinstance(synapse, Direct) and description is not None:
        neuron: Neuron = description.population(p.post.population).model
        sign = neuron.port_signs.get(synapse.port, 0)
        kind = "excitatory" if sign > 0 else "inhibitory"
        name = type(neuron).__name__
        return sign, f"it goes to the {kind} port {synapse.port!r} of a {name}"
    receptor = synapse.receptor if isinstance(synapse, Into) else synapse
    name = type(receptor).__name__
    reversal = f" (an inhibitory {name} has a low e_rev)" if hasattr(receptor, "e_rev") else ""
    return receptor.weight_sign, f"what arrives at a {name} opens its channels{reversal}"
