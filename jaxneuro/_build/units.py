"""Warns of the numbers of a description that are far too small for their unit."""

from collections.abc import Iterator

import numpy as np

from .._describe.coupling import Coupling
from .._describe.description import Description
from .._describe.population import Population
from .._describe.projection import Projection
from .._describe.stimulation import Stimulation
from .._describe.values import extremes
from .._fields import potentials, unit_guesses
from .._units import (
    Guess,
    far_too_small,
    largest,
    one_in_volts,
    start_in_volts,
    warn_of_large,
    warn_of_units,
    weight_in_si,
)
from ..synapses import Delta


def check_units(description: Description, dt: float) -> None:
    """Warns once per field of numbers that are far too small for their unit, or weights too large.

    A time is too small only below `dt` [ms].
    """
    d = description
    senders = *d.projections, *d.couplings, *d.stimuli
    warn_of_units(_guesses(d, senders, dt))
    for sender in senders:
        _warn_of_large_weights(sender)


def _guesses(
    d: Description, senders: tuple[Projection | Coupling | Stimulation, ...], dt: float
) -> Iterator[Guess]:
    for population in d.populations:
        yield from unit_guesses(population, dt)
        yield from _start_values(population)
    for sender in senders:
        yield from unit_guesses(sender, dt)
        yield from _weights(sender)
    for modulator in d.modulators:
        yield from far_too_small(modulator.label, "tau", modulator.tau, "ms", dt=dt)


def _start_values(population: Population) -> Iterator[Guess]:
    known = potentials(population.model)
    for variable, value in population.initial.items():
        place = population.label, f"initial {variable}"
        yield from start_in_volts(*place, known, variable, extremes(value))
        if isinstance(value, np.ndarray) and (variable == "v" or variable.startswith("v_")):
            yield from one_in_volts(*place, value)


def _weights(sender: Projection | Coupling | Stimulation) -> Iterator[Guess]:
    """The guess for the known weights of a sender; plastic weights may start near 0."""
    x = largest(extremes(sender.weight))
    if x is not None and getattr(sender, "plasticity", None) is None:
        yield from weight_in_si(sender.label, getattr(sender, "gain", 1.0) * x, _unit(sender))


def _warn_of_large_weights(sender: Projection | Coupling | Stimulation) -> None:
    if getattr(sender, "plasticity", None) is not None:
        return
    unit = "mV" if isinstance(sender.synapse, Delta) else _unit(sender)
    if unit and getattr(sender, "gain", 1.0):
        warn_of_large(sender.label, extremes(sender.weight), unit)


def _unit(sender: Projection | Coupling | Stimulation) -> str:
    """The unit of the weights; "" for none, where they may be of any size."""
    return "nS" if sender.synapse is None else sender.synapse.weight_unit
