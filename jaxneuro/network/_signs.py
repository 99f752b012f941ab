"""Which sign the weights of a receptor must have, and whether a number that is set has it."""

from typing import Any

import numpy as np

from .._types import Neuron, Synapse
from ..synapses import Direct


def sign_of(neuron: Neuron, receptor: Synapse) -> tuple[int, str]:
    """The sign of the weights of what reaches a receptor of a neuron, 0 for any, and why."""
    name = type(receptor).__name__
    if isinstance(receptor, Direct):
        sign = neuron.port_signs.get(receptor.port, 0)
        kind = "excitatory" if sign > 0 else "inhibitory"
        return sign, f"it goes to the {kind} port {receptor.port!r} of a {type(neuron).__name__}"
    reversal = f" (an inhibitory {name} has a low e_rev)" if hasattr(receptor, "e_rev") else ""
    return receptor.weight_sign, f"what arrives at a {name} opens its channels{reversal}"


def check_set_sign(
    label: str, group: Any, receptor: int | None, new: tuple[str, Any], now: tuple[Any, Any]
) -> None:
    """Raises `ValueError` for a weight or a gain that makes weights of the wrong sign.

    `receptor` is the number of the one that is reached, None for gap junctions; `new` the name of
    the value and the value; `now` weight and gain before, the weight None if it is individual:
    such weights have the right sign under the gain that there was.
    """
    sign, why = 1, "it is the conductance of gap junctions"
    if receptor is not None:
        sign, why = sign_of(group.model, group.receptors[receptor])
    (key, value), (weight, gain) = new, now
    if weight is None:
        weight = sign * np.sign(gain)
    factor = gain if key == "weight" else weight
    worst = float(np.min(sign * np.asarray(value) * np.asarray(factor), initial=0.0))
    if worst < 0.0:
        must = "at least 0" if sign > 0 else "at most 0"
        times = f"times {'the gain' if key == 'weight' else 'a weight'} "
        raise ValueError(f"{label}: the {key} {times}must be {must}, {why}; got {sign * worst:g}")
