"""Which projections are matrix products: decided by shapes and rates, never by data."""

import numpy as np

from .._describe.description import Description
from .._describe.part import as_part
from .._describe.projection import Projection
from .._describe.resolve import ResolvedProjection
from .._describe.values import is_individual
from .._model import Neuron

# A synapse that is visited takes about 0.5 ns, one of a product 0.1 to 0.3, and a product of a few
# hundred is no faster than a visit of its rows. Of spikes that are known before a loop, all steps
# are one product, which takes a tenth of that.
_PART, _PART_AHEAD = 0.25, 0.03  # of the steps in which a source spikes
_SYNAPSES = 1024


def find_dense(
    description: Description, resolved: dict[str, ResolvedProjection], dt: float
) -> dict[str, bool]:
    """The names of projections that are products, and whether before the loop over time.

    They connect all to all after one delay, by weights that do not change and that no modulator
    scales, and their sources may spike in many steps. A rate that is not given is what the
    refractory time of the model allows; a model without one says nothing, unless the inputs of a
    run alone are its spikes.
    """
    scaled = {name for m in description.modulators for name in m.scales}
    driven = {p.post.population for p in description.projections}
    driven |= {as_part(s.target).population for s in description.stimuli}
    driven |= {end.population for c in description.couplings for end in (c.pre, c.post)}
    out = {}
    for name, r in resolved.items():
        p = r.projection
        model = description.population(p.pre.population).model
        undriven = model.repeats_inputs and p.pre.population not in driven
        ahead = undriven and p.release.plain
        if name in scaled or not _all_to_all(r):
            continue
        if _part_of_steps(p, model, dt, ahead) >= (_PART_AHEAD if ahead else _PART):
            out[name] = ahead
    return out


def _all_to_all(r: ResolvedProjection) -> bool:
    p, (pre, post) = r.projection, r.sizes
    plain = p.plasticity is None and r.rule.stored and not is_individual(p.delay)
    return plain and pre * post >= _SYNAPSES and r.expected == pre * post


def _part_of_steps(p: Projection, model: Neuron, dt: float, ahead: bool) -> float:
    """In which part of the steps a source may spike."""
    if p.expected_rate is not None:
        return 1e-3 * p.expected_rate * dt
    held = getattr(model, "t_ref", None)
    return float(ahead) if held is None else dt / (dt + float(np.min(held)))
