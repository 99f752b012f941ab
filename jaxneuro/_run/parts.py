"""A `Part` where a run takes the name of a population."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int64

from .. import spec
from .._describe.part import Part
from .._describe.resolve import select_neurons
from ..spec import InvalidValueError

if TYPE_CHECKING:
    from .result import Result


def name_and_neurons(
    result: "Result", population: str | Part
) -> tuple[str, Int64[np.ndarray, " neurons"] | None]:
    """The name of a population, and the numbers of the neurons of a part; None for all.

    Raises:
        InvalidValueError: for an unknown population, neurons that it has not, the name of an area,
            and an area in a run without a network or in a population without positions.
    """
    if not isinstance(population, Part):
        spec.check_known("population", population, result.populations)
        return population, None
    name, where, network = population.population, population.where, result.network
    spec.check_known("population", name, result.populations)
    if where is None:
        return name, None
    if isinstance(where, str):
        must = "an Area, or numbers of neurons: a run does not have the areas of the description"
        raise InvalidValueError(population.label, "where", must, repr(where))
    n = result.populations[name]
    placed = network is not None and name in network.points
    points = network.positions(name) if network is not None and placed else None
    neurons = select_neurons(population, where, n, points)
    return name, np.arange(n)[neurons]
