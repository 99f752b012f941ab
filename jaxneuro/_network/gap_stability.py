"""Raises where gap junctions are not stable at a time step: see `neurons/_gap_stability.py`."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from .._arrays import AnyArray, is_traced
from .._model import Neuron
from .._text import an
from ..neurons._gap_stability import TRIED, growing, largest_conductance, one_neuron
from ..spec import InvalidValueError
from .coupling import CouplingLayer
from .group import Group
from .members import member


def _first_growing(model: Neuron, totals: Float[np.ndarray, " n"], dt: float) -> int:
    """A neuron whose sum of conductances is too large; that of the largest sum if none is.

    Neurons of one set of parameters have one limit, others are tried one by one.
    """
    largest, n = int(np.argmax(totals)), totals.size
    if not any(np.ndim(x) for x in jax.tree.leaves(model)):
        return largest
    for start in range(0, n, TRIED.size):
        some = np.minimum(np.arange(start, start + TRIED.size), n - 1)
        too_large = growing(one_neuron(model, some), totals[some], dt)
        if too_large.any():
            return int(some[np.argmax(too_large)])
    return largest


def check_gap_junctions(
    couplings: Sequence[CouplingLayer],
    groups: Sequence[Group],
    dt: float,
    name: str | None = None,
    layout: Any = None,
) -> None:
    """Raises `InvalidValueError` where neurons have more gap junctions than are stable.

    Those of all couplings count together; `name` is the population to look at, None for all;
    `layout` that of a network over a mesh.
    """
    for population, parts in _by_population(couplings, layout).items():
        if name in (None, population):
            group = next(g for g in groups if population in g.populations)
            model = member(group.model, group.sizes, group.populations.index(population))
            _check(population, model, parts, dt)


def _by_population(
    layers: Sequence[CouplingLayer], layout: Any
) -> dict[str, list[tuple[str, Float[AnyArray, " _"]]]]:
    """Names of couplings, and what they add to each neuron, by population."""
    out: dict[str, list] = {}
    for layer in layers:
        if layer.release is None:
            ends = (layer.target, layer.source)
            for name, side, scale in zip(ends, layer.sides, layer.expand().scales):
                total = side.total * scale
                if layout is not None:
                    total = layout.groups[side.target].of_population(name, total)
                out.setdefault(name, []).append((layer.name, total))
    return out


def _check(
    population: str, model: Neuron, parts: list[tuple[str, Float[AnyArray, " n"]]], dt: float
) -> None:
    known = not any(map(is_traced, jax.tree.leaves(([x for _, x in parts], model))))
    totals = np.sum([np.asarray(x) for _, x in parts], axis=0) if known else np.zeros(0)
    if not totals.size:
        return
    neuron = _first_growing(model, totals, dt)
    limit, most = largest_conductance(one_neuron(model, neuron), dt), float(totals[neuron])
    if not most <= limit:
        names = " and ".join(repr(name) for name, _ in parts)
        # A smaller dt allows more, and so does the method jn.integrators.exponential_euler.
        must = (
            f"at most {limit:.4g} at dt = {dt:g} ms in all at a neuron of {population!r}, where "
            f"{an(type(model).__name__)} is stable"
        )
        raise InvalidValueError(f"coupling {names}", "weight", must, f"{most:.4g}")
