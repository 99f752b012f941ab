"""Checks that what a file describes fits in memory, before anything of that size is made."""

import numpy as np

from .._build import available_memory
from .._describe import Population, Projection, Stimulation
from .._text import counted, megabytes
from ..space import Free
from ..stimuli import PulsePackets
from ._entry import Entry

_SPIKE = 80  # bytes for each spike of a packet while `build` draws and sorts them


def check_places(
    entry: Entry, populations: list[Population], projections: list[Projection]
) -> None:
    """Raises before a description places neurons, if their positions do not fit."""
    needed = 0
    parts = [part for p in projections for part in (p.pre, p.post)]
    split = {part.population for part in parts if part.where is not None}
    for p in populations:
        layout = p.positions
        # Several copies of the coordinates, and the numbers of the neurons if parts are used.
        axes = 0 if layout is None or isinstance(layout, Free) else 6 * layout.dims
        needed += 8 * p.n * (axes + 4 * (p.name in split))
    _check(entry, f"placing {counted(sum(p.n for p in populations), 'neuron')}", needed)


def check_packets(entry: Entry, s: Stimulation, n: int) -> None:
    """Raises for pulse packets of more spikes than fit; n neurons are in the population."""
    if isinstance(s.stimulus, PulsePackets):
        where = s.post.where
        if isinstance(where, slice):
            n = len(range(n)[where])
        elif where is not None:  # unknown for an area: at least one
            n = len(where) if isinstance(where, np.ndarray) else min(n, 1)
        spikes = n * np.size(s.stimulus.times) * s.stimulus.activity
        _check(entry, f"drawing {counted(spikes, 'spike')} of pulse packets", _SPIKE * spikes)


def _check(entry: Entry, what: str, needed: int) -> None:
    free = available_memory()
    if free is not None and needed > free:
        raise entry.error(
            f"{what} takes about {megabytes(needed)} of memory, {megabytes(free)} are free"
        )
