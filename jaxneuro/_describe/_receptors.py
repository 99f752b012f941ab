"""Whether a projection names the port of its receptor, and has weights in the unit of it."""

import math
from typing import Any

from .._checks import check_name
from .._numerics import LogNormal
from .._types import Synapse
from .._units import check_weight, warn_of_large
from ..synapses import Delta
from ._population import sizes


def check_receptor(label: str, synapse: Synapse) -> None:
    """Raises `ValueError` for a receptor with ports of which none is named."""
    if synapse.ports:
        kind = type(synapse).__name__
        raise ValueError(
            f"{label}: {kind} has several inputs, {', '.join(map(repr, synapse.ports))}: name one "
            f"of them, synapse=jn.synapses.Into({kind}(...), {synapse.ports[0]!r})"
        )


def check_chosen(label: str, name: Any, model: Any) -> None:
    """Raises `ValueError` for a name that is no text, or of no model (None)."""
    if name is None:
        return
    check_name(label, name)
    if model is None:
        raise ValueError(f"{label}: there is nothing that could have the name {name!r}")


# Medians that no weight and no delay has.
_MOST = {"pA": 1e4, "nS": 1e4, "mV": 1e3, "ms": 1e3}


def check_log_normal(what: str, law: Any, unit: str, gain: float = 1.0) -> None:
    """Raises `ValueError` for a log-normal law of weights or delays whose mu is their median."""
    if not isinstance(law, LogNormal) or unit not in _MOST or law.mu <= 0:
        return
    median = min(math.exp(min(law.mu, 700.0)), law.high)
    if median * abs(gain) > _MOST[unit]:
        raise ValueError(
            f"{what}: mu and sigma of a LogNormal are those of the logarithm; mu = {law.mu:g} "
            f"gives a median of exp(mu) = {median:.3g} {unit}. For a median of {law.mu:g} {unit} "
            f"give mu={math.log(law.mu):.4g}, its logarithm"
        )


def check_weight_unit(label: str, synapse: Synapse | None, weight: Any, gain: float = 1.0) -> None:
    """Raises `ValueError` for weights that are known and in SI units; None: of gap junctions.

    Warns of weights that no synapse has.
    """
    unit = "nS" if synapse is None else synapse.weight_unit
    check_log_normal(f"{label}: weight", weight, "mV" if isinstance(synapse, Delta) else unit, gain)
    values = sizes(weight) if unit and gain else None
    if values is not None:
        check_weight(label, gain * values, unit)
    if values is not None or isinstance(synapse, Delta):
        warn_of_large(label, sizes(weight), unit or "mV")
