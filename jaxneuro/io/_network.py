"""Makes a description from the content of a file."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np

from .._build.memory import available_memory
from .._describe.description import Description
from .._describe.part import Part, as_part
from .._describe.population import Population
from .._describe.projection import Projection
from .._describe.stimulation import Stimulation
from .._model import state_variables
from .._network.group import initial_state
from .._text import counted, megabytes
from ..space import Free
from ..spec import unknown
from ..stimuli import PulsePackets
from ._entry import Entry, FileSource, attempt

FORMAT, VERSION = "jaxneuro network", 1
_LARGEST = 2**31 - 1  # neurons of a population


def description(source: FileSource) -> Description:
    """The description that a file holds."""
    file = Entry(source, (), source.data)
    _check_format(file)
    given = file.fields(Description, "a network", "format", "version")
    lists = [key for key in given if key != "areas"]
    things = [pair for key in lists for pair in zip(file[key], given[key])]
    _check_names(things)
    populations = {p.name: p for p in given["populations"]}
    for entry, thing in things:
        if isinstance(thing, Population):
            _check_population(entry, thing)
        _check_ends(entry, thing, {"population": populations, "area": given.get("areas", {})})
    check_places(file["populations"], given["populations"], given.get("projections", ()))
    for entry, thing in things:
        if isinstance(thing, Stimulation):
            check_packets(entry["stimulus"], thing, populations[thing.post.population].n)
    return attempt(functools.partial(_culprit, things, file), Description, **given)


def _check_format(file: Entry) -> None:
    if not isinstance(file.value, dict):
        raise file.wrong("an object with keys")
    if "format" not in file:
        raise file.error(
            f'the file must begin with the key "format": "{FORMAT}", and "version": {VERSION}'
        )
    if file.value["format"] != FORMAT:
        raise file["format"].wrong(f"the text {FORMAT!r}")
    if "version" not in file:
        raise file.error(f'the file must have the key "version": {VERSION}')
    version = file.value["version"]
    if type(version) is not int or version != VERSION:
        newer = type(version) is int and version > VERSION
        what = "; update jaxneuro to read it" if newer else ""
        raise file["version"].error(f"version must be {VERSION}; got {version!r}{what}")


def _check_names(things: list[tuple[Entry, Any]]) -> None:
    seen: dict[str, Entry] = {}
    for entry, thing in things:
        if thing.name in seen:
            raise entry.at("name").error(
                f"{entry.label} has the name {thing.name!r}, as {seen[thing.name].label} has; "
                'names must be different: give one of them another "name"'
            )
        seen[thing.name] = entry


def _check_population(entry: Entry, p: Population) -> None:
    """Raises for too many neurons, and for a start value of a variable that they do not have."""
    if p.n > _LARGEST:
        raise entry["n"].error(f"{entry['n'].label} must be at most {_LARGEST:,}; got more")
    if not p.initial:
        return
    state = entry["model"].make(jax.eval_shape, lambda: initial_state(p.model, max(p.n, 1)))
    variables = state_variables(state)
    for name in p.initial:
        if name not in variables:
            what = f"state variable of population {p.name!r}"
            raise entry["initial"][name].error(unknown(what, name, variables))


def _check_ends(entry: Entry, thing: Any, names: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises for an end at a population, or at an area, that the file does not have."""
    for side in ("source", "target"):
        if (end := getattr(thing, side, None)) is None:
            continue
        part = as_part(end)
        for kind, name in (("population", part.population), ("area", part.where)):
            if isinstance(name, str) and name not in names[kind]:
                raise entry[side].at(kind).error(unknown(kind, name, names[kind]))


def _culprit(things: list[tuple[Entry, Any]], file: Entry, error: Exception) -> Entry:
    """The value in the file that an error of `Description` is about."""
    owner = getattr(error, "owner", "").split(": ")[0]
    for entry, thing in things:
        if owner == thing.label:
            return entry.about(error)
        for side in ("source", "target"):
            part = getattr(thing, side, None)
            if isinstance(part, Part) and owner == part.label:
                return entry[side]
    return file


# --- Checks that what a file describes fits in memory, before anything of that size is made.


_SPIKE = 80  # bytes for each spike of a packet while `build` draws and sorts them


def check_places(
    entry: Entry, populations: Iterable[Population], projections: Iterable[Projection]
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
