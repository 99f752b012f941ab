"""Makes a description from the content of a file."""

import dataclasses
import functools
from typing import Any

import jax
import numpy as np

from .._build.memory import available_memory
from .._describe.coupling import Coupling
from .._describe.description import Description
from .._describe.modulator import Modulator
from .._describe.part import Part
from .._describe.population import Population
from .._describe.projection import Projection
from .._describe.stimulation import Stimulation
from .._model import Neuron, Plasticity, Release, Stimulus, Synapse, state_variables
from .._network.group import initial_state
from .._numerics.distributions import Distribution
from .._text import counted, megabytes
from ..connectivity import Rule
from ..space import Area, Free, Layout, SpatialValue
from ..spec import Name, Unfit, unknown
from ..stimuli import PulsePackets
from ._entry import Entry, FileSource, attempt
from ._models import TYPE, model, number, numbers, value

# --- Checks that what a file describes fits in memory, before anything of that size is made.


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


# --- Makes a description from the content of a file.


FORMAT, VERSION = "jaxneuro network", 1
_LARGEST = 2**31 - 1  # neurons of a population
_AXES = 8
_WHERE = ("start", "stop", "indices", "area")


def description(source: FileSource) -> Description:
    """The description that a file holds."""
    file = Entry(source, (), source.data)
    _check_format(file)
    lists = ("populations", "projections", "stimuli", "couplings", "modulators")
    file.check_keys("a network", ("format", "version", *lists, "areas"), ("populations",))
    entries = {key: _items(file, key) for key in lists}
    areas = _areas(file)
    populations = [_population(e) for e in entries["populations"]]
    _check_names(entries["populations"], populations)
    names = {p.name: p for p in populations}
    projections = [_projection(e, names, areas) for e in entries["projections"]]
    stimuli = [_stimulation(e, names, areas) for e in entries["stimuli"]]
    couplings = [_coupling(e, names, areas) for e in entries["couplings"]]
    modulators = [_modulator(e, names, areas) for e in entries["modulators"]]
    made = [*populations, *projections, *stimuli, *couplings, *modulators]
    places = [e for key in lists for e in entries[key]]
    _check_names(places, made)
    check_places(file["populations"], populations, projections)
    for entry, stimulation in zip(entries["stimuli"], stimuli):
        check_packets(entry["stimulus"], stimulation, names[stimulation.post.population].n)
    about = functools.partial(_culprit, places, made, file)
    parts = populations, projections, stimuli, areas
    more = {"couplings": couplings, "modulators": modulators}
    return attempt(about, Description, *parts, **more)


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


def _items(file: Entry, key: str) -> list[Entry]:
    if key not in file:
        return []
    if not isinstance(file.value[key], list):
        raise file[key].wrong("a list of objects")
    return list(file[key])


def _check_fields(entry: Entry, cls: type, what: str) -> None:
    fields = dataclasses.fields(cls)
    missing = dataclasses.MISSING
    required = [f.name for f in fields if f.default is missing and f.default_factory is missing]
    entry.check_keys(what, [f.name for f in fields], required)


def _text(entry: Entry) -> str:
    try:
        return Name().convert(entry.value)
    except Unfit as error:
        raise entry.wrong(error.must) from None


def _population(entry: Entry) -> Population:
    _check_fields(entry, Population, "a population")
    given: dict[str, Any] = {"name": _text(entry["name"]), "n": entry["n"].value}
    if type(given["n"]) is int and given["n"] > _LARGEST:
        raise entry["n"].error(f"{entry['n'].label} must be at most {_LARGEST:,}; got more")
    given["model"] = model(entry["model"], Neuron, "neuron model")
    given |= _initial(entry)
    if entry.value.get("positions") is not None:
        given["positions"] = _layout(entry["positions"])
    population = entry.make(Population, **given)
    if population.initial:
        _check_initial(entry, population)
    return population


def _names(entry: Entry, *keys: str) -> dict[str, str]:
    """The names that are given."""
    return {key: _text(entry[key]) for key in keys if entry.value.get(key) is not None}


def _initial(entry: Entry) -> dict[str, Any]:
    """Start values, if there are any."""
    if "initial" not in entry:
        return {}
    initial = entry["initial"]
    if not isinstance(initial.value, dict):
        raise initial.wrong("an object: start values by name of the state variable")
    return {"initial": {k: value(initial[k], (Distribution,)) for k in initial.value}}


def _check_initial(entry: Entry, p: Population) -> None:
    """Raises for a start value of a variable that the state of the neuron does not have."""
    state = entry["model"].make(jax.eval_shape, lambda: initial_state(p.model, max(p.n, 1)))
    known = state_variables(state)
    for variable in p.initial:
        if variable not in known:
            what = f"state variable of population {p.name!r}"
            raise entry["initial"][variable].error(unknown(what, variable, known))


def _layout(entry: Entry) -> Layout:
    if isinstance(entry.value, list):
        layout = entry.make(Free, numbers(entry))
    else:
        layout = model(entry, Layout, "layout")
    if layout.dims > _AXES:
        raise entry.error(f"{entry.label} must have at most {_AXES} axes; got {layout.dims}")
    return layout


def _areas(file: Entry) -> dict[str, Area]:
    if "areas" not in file:
        return {}
    areas = file["areas"]
    if not isinstance(areas.value, dict):
        raise areas.wrong("an object: areas by name")
    for name in areas.value:
        _text(Entry(file.source, (*areas.path, name), name))
    return {name: _area(areas[name]) for name in areas.value}


def _area(entry: Entry) -> Area:
    if isinstance(entry.value, dict) and TYPE in entry:
        return model(entry, Area, "area")
    entry.check_keys("an area", ("low", "high"), ("low", "high"))
    return entry.make(Area, numbers(entry["low"]), numbers(entry["high"]))


def _part(entry: Entry, populations: dict[str, Population], areas: dict[str, Area]) -> Any:
    """The name of a population, or a part of one."""
    if not isinstance(entry.value, dict):
        return _known(entry, "population", populations)
    entry.check_keys("a part of a population", ("population", *_WHERE), ("population",))
    name = _known(entry["population"], "population", populations)
    ways = {"slice": {"start", "stop"}, "indices": {"indices"}, "area": {"area"}}
    used = [way for way, keys in ways.items() if keys & entry.value.keys()]
    if len(used) > 1:
        raise entry.error(
            f"{entry.label}: give one of start and stop, indices, area; got {' and '.join(used)}"
        )
    where: Any = None
    if "area" in entry:
        named = isinstance(entry["area"].value, str)
        where = _known(entry["area"], "area", areas) if named else _area(entry["area"])
    elif "indices" in entry:
        if not isinstance(entry["indices"].value, list):
            raise entry["indices"].wrong("a list of whole numbers")
        where = numbers(entry["indices"])
    elif used:
        start = number(entry["start"]) if "start" in entry else 0
        where = slice(start, number(entry["stop"]) if "stop" in entry else None)
    return entry.make(Part, name, where)


def _known(entry: Entry, what: str, names: Any) -> str:
    name = _text(entry)
    if name not in names:
        raise entry.error(unknown(what, name, names))
    return name


def _projection(entry: Entry, populations: dict, areas: dict) -> Projection:
    _check_fields(entry, Projection, "a projection")
    given: dict[str, Any] = {
        "source": _part(entry["source"], populations, areas),
        "target": _part(entry["target"], populations, areas),
        "rule": model(entry["rule"], Rule, "connection rule"),
        "synapse": model(entry["synapse"], Synapse, "synapse model"),
    }
    for key in ("weight", "delay"):
        given[key] = value(entry[key], (Distribution, SpatialValue))
    if "release" in entry:
        given["release"] = model(entry["release"], Release, "release model")
    if entry.value.get("plasticity") is not None:
        given["plasticity"] = model(entry["plasticity"], Plasticity, "plasticity rule")
    given |= {key: number(entry[key]) for key in ("gain", "axonal") if key in entry}
    given |= _initial(entry)
    given |= _names(entry, "name", "receptor_name", "release_name")
    return entry.make(Projection, **given)


def _coupling(entry: Entry, populations: dict, areas: dict) -> Coupling:
    _check_fields(entry, Coupling, "a coupling")
    given: dict[str, Any] = {
        "source": _part(entry["source"], populations, areas),
        "target": _part(entry["target"], populations, areas),
        "rule": model(entry["rule"], Rule, "connection rule"),
        "weight": value(entry["weight"], (Distribution, SpatialValue)),
    }
    if entry.value.get("synapse") is not None:
        given["synapse"] = model(entry["synapse"], Synapse, "synapse model")
    if entry.value.get("release") is not None:
        given["release"] = model(entry["release"], Release, "release model")
    given |= {key: entry[key].value for key in ("average", "symmetric") if key in entry}
    given |= {key: number(entry[key]) for key in ("gain",) if key in entry}
    given |= _initial(entry)
    given |= _names(entry, "name", "receptor_name")
    return entry.make(Coupling, **given)


def _modulator(entry: Entry, populations: dict, areas: dict) -> Modulator:
    _check_fields(entry, Modulator, "a modulator")
    given: dict[str, Any] = {"name": _text(entry["name"])}
    if entry.value.get("source") is not None:
        given["source"] = _part(entry["source"], populations, areas)
    if entry.value.get("signal") is not None:
        given["signal"] = _text(entry["signal"])
    numbers_of = ("tau", "per_spike", "baseline", "start", "lowest", "highest")
    given |= {key: number(entry[key]) for key in numbers_of if key in entry}
    if "scales" in entry:
        given["scales"] = _scales(entry["scales"])
    return entry.make(Modulator, **given)


def _scales(entry: Entry) -> dict[str, dict[str, float]]:
    """Amounts by what is scaled and by parameter."""
    if not isinstance(entry.value, dict):
        raise entry.wrong("an object: amounts by name and parameter")
    for name in entry.value:
        if not isinstance(entry[name].value, dict):
            raise entry[name].wrong("an object: amounts by parameter")
    return {name: {k: number(entry[name][k]) for k in entry.value[name]} for name in entry.value}


def _stimulation(entry: Entry, populations: dict, areas: dict) -> Stimulation:
    _check_fields(entry, Stimulation, "a stimulation")
    given: dict[str, Any] = {
        "target": _part(entry["target"], populations, areas),
        "stimulus": model(entry["stimulus"], Stimulus, "stimulus"),
    }
    if "weight" in entry:
        given["weight"] = value(entry["weight"], (Distribution,))
    if "synapse" in entry:
        given["synapse"] = model(entry["synapse"], Synapse, "synapse model")
    given |= {key: number(entry[key]) for key in ("delay", "start", "stop") if key in entry}
    given |= _initial(entry)
    given |= _names(entry, "name", "receptor_name")
    return entry.make(Stimulation, **given)


def _check_names(entries: list[Entry], made: list[Any]) -> None:
    seen: dict[str, Entry] = {}
    for entry, thing in zip(entries, made):
        if thing.name in seen:
            named = entry["name"] if "name" in entry.value else entry
            raise named.error(
                f"{entry.label} has the name {thing.name!r}, as {seen[thing.name].label} has; "
                'names must be different: give one of them another "name"'
            )
        seen[thing.name] = entry


def _culprit(entries: list[Entry], made: list[Any], file: Entry, error: Exception) -> Entry:
    """The value in the file that an error of `Description` is about."""
    owner = getattr(error, "owner", "").split(": ")[0]
    for entry, thing in zip(entries, made):
        if owner == thing.label:
            return entry.about(error)
        for side in ("source", "target"):
            part = getattr(thing, side, None)
            if isinstance(part, Part) and owner == part.label:
                return entry[side]
    return file
