"""Whether a projection names the port of its receptor, and has weights in the unit of it."""

from typing import Any

from .._types import Synapse
from .._units import check_weight
from ._population import sizes


def check_receptor(label: str, synapse: Synapse) -> None:
    """Raises `ValueError` for a receptor with ports of which none is named."""
    if synapse.ports:
        kind = type(synapse).__name__
        raise ValueError(
            f"{label}: {kind} has several inputs, {', '.join(map(repr, synapse.ports))}: name one "
            f"of them, synapse=jn.synapses.Into({kind}(...), {synapse.ports[0]!r})"
        )


def check_weight_unit(label: str, unit: str, weight: Any, gain: float = 1.0) -> None:
    """Raises `ValueError` for weights that are known and in SI units."""
    values = sizes(weight) if unit and gain else None
    if values is not None:
        check_weight(label, gain * values, unit)
