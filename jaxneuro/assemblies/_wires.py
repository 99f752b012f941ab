"""`Wire`: a fibre whose ends are found."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._checks import check_known
from ._description import Area, Fibre, Stimulus

_LARGEST_SUM = 2.0**38  # in units of 2^-24 a sum and its sign then have 64 bits


class Wire(NamedTuple):
    """A fibre whose ends are found: `source` and `target` as described, `number` of the source
    among the areas (None: a stimulus), `into` that of the target."""

    name: str
    source: Any
    target: Area
    number: int | None
    into: int
    p: float

    @property
    def firing(self) -> int:
        """How many neurons of the source fire at a time."""
        return self.source.size if self.number is None else self.source.k

    @property
    def places(self) -> int:
        """How many neurons the source has, or places."""
        return self.source.size if self.number is None else self.source.places


def wires_of(
    areas: Sequence[Area], stimuli: Sequence[Stimulus], fibres: Sequence[Fibre], p: float | None
) -> tuple[Wire, ...]:
    """The fibres with their ends; `p` is that of fibres that have none.

    **Raises** `ValueError` for unknown ends, no p, equal ends, and sums beyond 64 bits.
    """
    wires = tuple(_wire(areas, stimuli, fibre, p) for fibre in fibres)
    names = [wire.name for wire in wires]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"a brain: fibres must differ in their ends; twice: {twice}")
    for number, area in enumerate(areas):
        into = [(w, f) for w, f in zip(wires, fibres) if w.into == number and w.p > 0]
        most = sum(w.firing * f.w_max for w, f in into)
        if most > _LARGEST_SUM:
            raise ValueError(
                f"area {area.name!r}: the neurons that fire into it times their w_max must be at "
                f"most 2^38; got {most:.3g}. Give its fibres a smaller w_max"
            )
    return wires


def _wire(
    areas: Sequence[Area], stimuli: Sequence[Stimulus], fibre: Fibre, default: float | None
) -> Wire:
    numbers = {area.name: number for number, area in enumerate(areas)}
    ends = {x.name: x for x in (*areas, *stimuli)}
    check_known("area", fibre.target, numbers)
    check_known("area or stimulus", fibre.source, ends)
    p = default if fibre.p is None else fibre.p
    if p is None:
        raise ValueError(
            f"fibre {fibre.name}: p must be given, by Fibre(..., p=0.01) or by Brain(..., p=0.01)"
        )
    into = numbers[fibre.target]
    return Wire(fibre.name, ends[fibre.source], areas[into], numbers.get(fibre.source), into, p)
