"""Which projections are matrix products: decided by shapes and rates, never by data."""

import numpy as np

from .._describe.description import Description
from .._describe.resolve import ResolvedProjection
from .._describe.values import is_individual

# A synapse that is visited takes about 0.5 ns, one of a product 0.1 to 0.3, and a product of a few
# hundred is no faster than a visit of its rows.
_PART = 0.25  # of the steps in which a source spikes
_SYNAPSES = 1024


def find_dense(
    description: Description, resolved: dict[str, ResolvedProjection], dt: float
) -> frozenset[str]:
    """The names of projections that are products.

    They connect all to all after one delay, by weights that do not change and that no modulator
    scales, and their sources may spike in a quarter of the steps. A rate that is not given is what
    the refractory time of the model allows; a model without one says nothing.
    """
    scaled = {name for m in description.modulators for name in m.scales}
    return frozenset(
        name
        for name, r in resolved.items()
        if name not in scaled and _all_to_all(r) and _part_of_steps(description, r, dt) >= _PART
    )


def _all_to_all(r: ResolvedProjection) -> bool:
    p, (pre, post) = r.projection, r.sizes
    plain = p.plasticity is None and r.rule.stored and not is_individual(p.delay)
    return plain and pre * post >= _SYNAPSES and r.expected == pre * post


def _part_of_steps(description: Description, r: ResolvedProjection, dt: float) -> float:
    """In which part of the steps a source may spike."""
    p = r.projection
    if p.expected_rate is not None:
        return 1e-3 * p.expected_rate * dt
    held = getattr(description.population(p.pre.population).model, "t_ref", None)
    return 0.0 if held is None else dt / (dt + float(np.min(held)))
