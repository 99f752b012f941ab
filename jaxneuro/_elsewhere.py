"""What to say to a name that `jaxneuro`, a module or a value of it does not have: where it is."""

import contextlib
import dataclasses
import difflib
import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from ._text import an, brief

# What habit and other simulators call things that are done in another way here.
_INSTEAD = {
    "run": "use jn.simulate(net, ms, key=...)",
    "Simulate": "use jn.simulate(net, ms, key=...)",
    "Simulator": "use jn.build and jn.simulate",
    "load": "use jn.Result.load(path) for a result, jn.io.read_description(path) for a network",
    "save": "use result.save(path) for a result, jn.io.write_description for a network",
    "connect": "use a jn.Projection in the jn.Description; jn.parallel.connect joins processes",
    "Connect": "use a jn.Projection in the jn.Description",
    "Synapses": "use a jn.Projection in the jn.Description; models are in jn.synapses",
    "Create": "use a jn.Population in the jn.Description",
    "NeuronGroup": "use a jn.Population in the jn.Description",
    "show": "use plt.show() of matplotlib.pyplot, or the .savefig of the figure",
    "grad": "use jax.grad of a function that calls jn.scan",
    "gradient": "use jax.grad of a function that calls jn.scan",
    "isi": "use jn.analysis.intervals",
    "cv": "use jn.analysis.interval_cv",
    "cv_isi": "use jn.analysis.interval_cv",
    "firing_rate": "use result.rate(population), or jn.analysis.neuron_rates",
    "correlation": "use jn.analysis.count_correlation",
    "corrcoef": "use jn.analysis.count_correlation",
    "SpikeMonitor": "use result.events(name), of what jn.simulate returns",
    "StateMonitor": "use jn.Record(variables=...)",
    **dict.fromkeys(
        ("SetStatus", "GetStatus"),
        "use net.set(name, parameter=value), and the fields of a model in the jn.Description",
    ),
    "SetKernelStatus": "use dt= of jn.build, threads= of jn.configure_cpu",
    "ResetKernel": "nothing is global: jn.build makes a network, net.init(key) a new state",
    "GetConnections": "use net.connections(name), which has .pre, .post, .weight, .delay",
    **dict.fromkeys(
        ("seed", "set_seed", "rng_seed"),
        "use key= of jn.build for the connections, and of jn.simulate for a run: key=1",
    ),
    **dict.fromkeys(
        ("ms", "second", "mV", "volt", "pA", "nA", "pF", "nS", "Hz", "units"),
        "numbers have no units: times are ms, voltages mV, currents pA, capacitances pF, "
        "conductances nS, rates Hz",
    ),
    "defaultclock": "use dt= of jn.build",
    **dict.fromkeys(
        ("run_regularly", "network_operation"),
        "call jn.simulate in a loop, with state=result.state, and net.set between two runs",
    ),
    **dict.fromkeys(
        ("PoissonGroup", "SpikeGeneratorGroup", "spike_generator", "poisson_generator"),
        "use a jn.Population of jn.neurons.PoissonSource(rate), or a jn.Stimulation of "
        "jn.stimuli.Poisson(rate) or jn.stimuli.SpikeTimes(...)",
    ),
    "PoissonInput": "use a jn.Stimulation of jn.stimuli.Poisson(rate), rate that of all inputs",
    **dict.fromkeys(
        ("DC", "dc_generator", "IClamp"), "use a jn.Stimulation of jn.stimuli.Current(amplitude)"
    ),
    **dict.fromkeys(
        ("spike_recorder", "spike_detector"),
        "use result.events(name), of what jn.simulate returns",
    ),
    **dict.fromkeys(
        ("voltmeter", "multimeter"), "use jn.Record(variables={'E': 'v'}) and result.traces"
    ),
    "read": "use jn.io.read_description(path) for a network, jn.Result.load(path) for a result",
    "np": "import numpy as np",
    "jnp": "import jax.numpy as jnp",
    "jax": "import jax",
}
# The same for values, by their class.
_DESCRIBED = "describe it in the jn.Description, and build again"
_OF_VALUES = {
    "Network": {
        **dict.fromkeys(("run", "simulate", "Simulate"), "use jn.simulate(net, ms)"),
        **dict.fromkeys(("add", "connect", "Connect", "Create", "record"), _DESCRIBED),
        "plot": "use jn.plot.connectivity(net), or jn.plot.raster of a result",
        "state": "use net.init(key), or the .state of a result",
        "sweep": "use jn.sweep(function, grid)",
        "save": "use jn.io.write_description(description, path), or the .save of a result",
        "summary": "print it, or use jn.analysis.summary(result)",
    },
    "Result": {
        **dict.fromkeys(
            ("spike_times", "spike_trains", "spiketrains", "times", "t", "i", "senders"),
            "use result.events(population), which gives times [ms] and neurons",
        ),
        **dict.fromkeys(
            ("v", "V_m", "voltage", "voltages", "trace", "variables"),
            'use result.traces[population]["v"], recorded by jn.Record(variables=...)',
        ),
        **dict.fromkeys(
            ("rates", "firing_rate", "firing_rates"),
            "use result.rate(population), or jn.analysis.neuron_rates",
        ),
        "plot": "use jn.plot.raster(result); dir(jn.plot) lists the other figures",
        "raster": "use jn.plot.raster(result)",
        "summary": "use jn.analysis.summary(result)",
        "to_csv": "use result.to_pandas().to_csv(path)",
        "to_numpy": "use result.events(population), which gives arrays",
    },
    "NetworkState": {
        **dict.fromkeys(
            ("v", "V_m", "u", "w", "g", "spikes", "weights", "populations"),
            "use net.read(state, population, variable), or net.weights(state, projection)",
        ),
    },
    "Population": {
        **dict.fromkeys(("size", "N", "number", "neurons"), "use .n"),
        **dict.fromkeys(("v", "V_m"), "use net.read(state, name, 'v'), or result.traces"),
    },
    "SweepResult": dict.fromkeys(
        ("result", "results", "output", "data"), "use .values, or result[name] of a dict's name"
    ),
    "Connections": dict.fromkeys(("weights", "w"), "use .weight"),
    "Recording": {
        **dict.fromkeys(("events", "dense"), "use recording.spikes.events(population)"),
        "rates": "use recording.counts, recorded by jn.Record(rates=True)",
        **dict.fromkeys(
            ("v", "V_m", "variables"),
            'use recording.traces[population]["v"], recorded by jn.Record(variables=...)',
        ),
    },
    "SpikeBits": dict.fromkeys(
        ("times", "neurons", "spike_times"), "use .events(population), times [ms] and neurons"
    ),
    "Drive": {
        **dict.fromkeys(("v", "V_m"), "v is in the state; drive.current_at(v) is the current"),
        **dict.fromkeys(("spikes", "weight"), "spikes come as a current, conductance or jump"),
    },
    "Description": {
        **dict.fromkeys(("run", "simulate"), "use jn.build and jn.simulate"),
        **dict.fromkeys(
            ("add", "append", "connect", "Connect"),
            "a description does not change: give its lists to a new jn.Description",
        ),
        "build": "use jn.build(description, key, dt=...)",
        "plot": "use jn.plot.connectivity(jn.build(description, key, dt=...))",
        "save": "use jn.io.write_description(description, path)",
    },
}
# What takes the place of an item, by class.
_ITEMS = {
    "Result": "use result.events({0}) for spikes, result.rate({0}), result.traces[{0}][variable] "
    "for what was recorded",
    "Network": "use net.connections(name) of a projection, net.read(state, name, variable), "
    "net.populations[name] for a size",
    "Description": "it has .population(name), and the lists .projections and .stimuli",
    "Connections": "use .pre, .post, .weight, .delay, arrays with an entry per synapse",
    "Brain": "use brain.cap(state, {0}) for who fires, brain.support(state, {0})",
}
_FEW = 3
# What a user writes: the parts of a description, and the modules whose models they hold.
_PARTS = "Population", "Projection", "Stimulation", "Coupling", "Modulator", "Record"
_OF_MODELS = "neurons", "synapses", "stimuli", "connectivity", "release", "plasticity"


def nothing_in(module: ModuleType, name: str) -> str:
    """The message for a name that a public module of the package does not have."""
    if name.startswith("_"):
        return f"module {module.__name__!r} has no attribute {name!r}"
    own = module.__name__.partition(".")[2]
    if name in _INSTEAD:
        return f"there is no jn.{own}.{name}; {_INSTEAD[name]}"
    places = {k: [f"jn.{own}.{k}"] for k, x in vars(module).items() if _is_public(k, x)}
    package = module.__name__.partition(".")[0]
    top = sys.modules[package]
    others = [x for x in vars(top).values() if _is_own(x, package)]
    found = _like(name, places) or _like(name, _places(top, others, []))
    hint = f"did you mean {' or '.join(found)}?" if found else f"dir(jn.{own}) lists what there is"
    return f"there is no jn.{own}.{name}; {hint}"


def nothing_of(kind: type, name: str) -> str:
    """The message for a name that a value of a class does not have."""
    if name.startswith("_"):
        return f"{kind.__name__!r} object has no attribute {name!r}"
    instead = _OF_VALUES.get(kind.__name__, {})
    if name in instead:
        return f"{an(kind.__name__)} has no .{name}; {instead[name]}"

    def does(own: str) -> bool:  # a method or a property, no note of a class on itself
        return callable(x := getattr(kind, own, None)) or isinstance(x, property)

    named = dataclasses.is_dataclass(kind)
    fields = (x.name for x in dataclasses.fields(kind)) if named else getattr(kind, "_fields", ())
    own = set(dir(kind)) - set(dir(tuple))  # a named tuple is asked for none of a tuple's
    known = [x for x in (*filter(does, own), *fields) if not x.startswith("_")]
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    near = near or [x for x in known if x.startswith(name.lower())]
    hint = f"did you mean .{near[0]}?" if near else f"It has {', '.join(sorted(set(known)))}"
    return f"{an(kind.__name__)} has no .{name}; {hint}"


def instead_of_item(kind: type, key: Any) -> str:
    """The message for an item that is asked of a value that has none."""
    name = kind.__name__
    hint = _ITEMS[name].format(repr(key) if isinstance(key, str) else "name")
    return f"{an(name)} is no dict or list, and has no item {brief(key)}; {hint}"


def instead_of_call(module: ModuleType) -> str:
    """The message for a module that is called as if it were a function."""
    own = module.__name__.partition(".")[2]
    known = [k for k, x in vars(module).items() if _is_public(k, x)]
    first = [f"jn.{own}.{k}" for k in ("grammar", "parse") if k in known]
    hint = f"did you mean {first[0]}(...)?" if first else f"dir(jn.{own}) lists what it has"
    return f"jn.{own} is a module, which cannot be called; {hint}"


def nothing_named(name: str, package: str, later: Mapping[str, str]) -> str:
    """The message for `package.name`; `later` are names that are loaded when first used.

    What is loaded later is loaded only if what is there has no name like it.
    """
    if name.startswith("_"):  # asked for by tools, not by people
        return f"module {package!r} has no attribute {name!r}"
    start = f"there is no jn.{name}"
    if name in _INSTEAD:
        return f"{start}; {_INSTEAD[name]}"
    top = sys.modules[package]
    modules = [x for x in vars(top).values() if _is_own(x, package)]
    places = _places(top, modules, [*later])
    found = _like(name, places)
    if not found:
        for module in sorted(set(later.values())):
            try:
                modules.append(importlib.import_module(f".{module}", package))
            except ImportError:  # of an extra that is not installed
                continue
        places = _places(top, modules, [*later])
        found = _like(name, places)
    if found:
        return f"{start}; did you mean {' or '.join(found)}?"
    return f"{start}; dir(jn) lists what there is"


def having(parameter: str, package: str) -> str:
    """What of a description has a parameter: its parts by name, or the modules of models."""
    top = sys.modules[package]
    found = [f"jn.{name}" for name in _PARTS if parameter in _parameters(getattr(top, name))]
    for module in () if found else _OF_MODELS:
        here = vars(getattr(top, module)).items()
        models = {k: x for k, x in here if isinstance(x, type) and not issubclass(x, tuple)}
        names = [k for k, x in models.items() if k[0] != "_" and parameter in _parameters(x)]
        several = f"models of jn.{module}"
        found += [several] if len(names) > _FEW else [f"jn.{module}.{name}" for name in names]
    return " and ".join(found)


def _parameters(kind: type) -> Iterable[str]:
    with contextlib.suppress(ValueError, TypeError):  # of what is written in C
        return inspect.signature(kind).parameters
    return ()


def _is_own(x: Any, package: str) -> bool:
    """Whether it is a module of the package that is for users."""
    own, _, rest = getattr(x, "__name__", "").partition(".")
    hidden = rest[:1] in ("", "_")
    return isinstance(x, ModuleType) and own == package and not hidden


def _places(top: ModuleType, modules: Iterable[ModuleType], later: list[str]) -> dict[str, list]:
    """Where each public name is, that of the package first."""
    places: dict[str, list[str]] = {}
    for name in dict.fromkeys((*vars(top), *later)):
        if name in later or _is_public(name, getattr(top, name)):
            places.setdefault(name, []).append(f"jn.{name}")
    for module in modules:
        for name, x in vars(module).items():
            if _is_public(name, x) and f"jn.{name}" not in places.get(name, ()):
                short = module.__name__.partition(".")[2]
                places.setdefault(name, []).append(f"jn.{short}.{name}")
    return places


def _is_public(name: str, x: Any) -> bool:
    return not name.startswith("_") and (isinstance(x, ModuleType) or callable(x))


def _like(name: str, places: Mapping[str, list[str]]) -> list[str]:
    """Where the name is, or what is nearest to it, or what has it in its own."""
    if name in places:
        return places[name][:_FEW]
    plain: dict[str, list[str]] = {}
    for own, where in places.items():
        plain.setdefault(own.lower(), []).extend(where)
    # One letter of four makes another word: "seed" is not "seen".
    near = difflib.get_close_matches(
        name.lower(), plain, n=1, cutoff=0.8 if len(name) < 6 else 0.75
    )
    if near:
        return plain[near[0]][:_FEW]
    inside = [own for own in plain if len(name) > 2 and name.lower() in own]
    inside = inside or [own for own in plain if len(own) > 4 and own in name.lower()]
    return [where for own in inside for where in plain[own][:1]][:_FEW]
