"""Results as pandas tables, xarray Datasets and Neo objects."""

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Int

from .. import spec

if TYPE_CHECKING:
    from .result import Result

# Units of variables with known names; all others are dimensionless.
UNITS = {"v": "mV", "v_th": "mV", "theta": "mV", "current": "pA", "lfp": "pA", "g": "nS"}


def extra_module(name: str, extra: str | None = None) -> Any:
    """A module of an extra, by default of its name; the `ImportError` says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"this needs {name}; install it with: pip install 'jaxneuro[{extra or name}]'"
        ) from error


def spikes_to_pandas(result: "Result") -> Any:
    """See `Result.to_pandas`."""
    pandas, names = extra_module("pandas"), list(result.populations)
    events = [result.events(name) for name in names]
    times = np.concatenate([np.zeros(0), *(t for t, _ in events)])
    neurons = np.concatenate([np.zeros(0, np.int32), *(n for _, n in events)])
    number = np.repeat(np.arange(len(names)), [t.size for t, _ in events])
    order = np.argsort(times, kind="stable")
    population = pandas.Categorical.from_codes(number[order], categories=names)
    columns = {"time_ms": times[order], "population": population, "neuron": neurons[order]}
    return pandas.DataFrame(columns)


def traces_to_pandas(result: "Result", name: str) -> Any:
    """See `Result.traces_to_pandas`."""
    pandas = extra_module("pandas")
    _check_recorded("population or projection with traces", name, result.traces)
    index = pandas.Index(result.sample_times, name="time_ms")
    parts = {
        variable: pandas.DataFrame(np.asarray(x), index, _neurons(result, name, x))
        for variable, x in result.traces[name].items()
    }
    return pandas.concat(parts, axis=1, names=["variable", "neuron"])


def _check_recorded(kind: str, name: Any, values: Any) -> None:
    if not isinstance(name, str):
        spec.check_known(kind, name, values)
    values[name]  # says how what is missing is recorded


def weights_to_pandas(result: "Result", name: str) -> Any:
    """See `Result.weights_to_pandas`."""
    pandas = extra_module("pandas")
    _check_recorded("projection with recorded weights", name, result.weights)
    x = np.asarray(result.weights[name])
    index = pandas.Index(result.sample_times, name="time_ms")
    return pandas.DataFrame(x, index, pandas.Index(_synapses(result, name, x), name="synapse"))


def _synapses(result: Any, name: str, x: Any) -> Int[np.ndarray, " chosen"]:
    """The synapses that the columns of recorded weights belong to."""
    return result.synapses.get(name, np.arange(x.shape[1]))


def _neurons(result: Any, name: str, x: Any) -> Int[np.ndarray, " chosen"]:
    """The neurons that the columns of a trace belong to."""
    return result.neurons.get(name, np.arange(x.shape[1]))


class Signal(NamedTuple):
    """A sampled variable of a population or projection.

    Attributes:
        name: of whom.
        what: `v`, `mean v`, `lfp` or `weight`.
        variable: `v`, `lfp` or `weight`, which has the unit.
        samples: (samples, columns), or (samples,) of a whole population.
    """

    name: str
    what: str
    variable: str
    samples: Any

    @property
    def title(self) -> str:
        """A name of its own: `E mean v`."""
        return f"{self.name} {self.what}"


def signals(result: "Result") -> list[Signal]:
    """All traces, means, field potentials and weights of a result."""
    both = (("", result.traces), ("mean ", result.means))
    found = [
        Signal(name, before + variable, variable, x)
        for before, some in both
        for name, variables in some.items()
        for variable, x in variables.items()
    ]
    found += [Signal(name, "lfp", "lfp", x) for name, x in result.lfp.items()]
    return found + [Signal(name, "weight", "weight", x) for name, x in result.weights.items()]


def columns_of(result: "Result", signal: Signal) -> tuple[Any, str | None]:
    """The numbers of the columns of a signal, and what they are of; None where it has none."""
    if len(signal.samples.shape) == 1:
        return None, None
    if signal.variable == "weight" and signal.name in result.weights:
        return _synapses(result, signal.name, signal.samples), "synapse"
    return _neurons(result, signal.name, signal.samples), "neuron"


def to_xarray(result: "Result") -> Any:
    """See `Result.to_xarray`."""
    xarray = extra_module("xarray")
    coords: dict[str, Any] = {"time_ms": ("time_ms", result.sample_times, {"units": "ms"})}
    arrays = {}
    for signal in signals(result):
        dims, (numbers, of) = ["time_ms"], columns_of(result, signal)
        if of is not None:
            dim = f"{signal.name} {of}"
            if dim in coords and coords[dim][1].tolist() != numbers.tolist():
                dim = f"{signal.title} {of}"
            coords[dim] = dim, numbers
            dims.append(dim)
        about = {"name": signal.name, "variable": signal.variable}
        about |= {"units": UNITS[signal.variable]} if signal.variable in UNITS else {}
        arrays[signal.title] = dims, np.asarray(signal.samples), about
    run = {"dt_ms": result.dt, "start_ms": result.start, "stop_ms": result.stop}
    return xarray.Dataset(arrays, coords, run)


def to_neo(result: "Result") -> Any:
    """See `Result.to_neo`."""
    neo = extra_module("neo")
    segment = neo.Segment(name="jaxneuro")
    if result.spikes:
        segment.spiketrains.extend(_spike_trains(neo, result))
    for name, variables in result.traces.items():
        for variable, x in variables.items():
            neurons = {"neuron": _neurons(result, name, x)}
            segment.analogsignals.append(_signal(neo, result, name, variable, x, neurons))
    for name, variables in result.means.items():
        for variable, x in variables.items():
            segment.analogsignals.append(_signal(neo, result, name, variable, x, None))
    for name, x in result.weights.items():
        synapses = {"synapse": _synapses(result, name, x)}
        segment.analogsignals.append(_signal(neo, result, name, "weight", x, synapses))
    for name, x in result.lfp.items():
        segment.analogsignals.append(_signal(neo, result, name, "lfp", x, None))
    return segment


def _spike_trains(neo: Any, result: "Result") -> list[Any]:
    # Computed like the time of a spike in the last step, so that no spike is later.
    stop = (result.first_step + result.n_steps) * result.dt
    return [
        neo.SpikeTrain(
            trains.of(neuron),
            units="ms",
            t_start=result.start,
            t_stop=stop,
            population=name,
            neuron=neuron,
        )
        for name in result.populations
        for trains in [result.spikes[name]]  # sorted once
        for neuron in range(trains.n)
    ]


def _signal(
    neo: Any,
    result: "Result",
    name: str,
    variable: str,
    x: Any,
    columns: dict[str, Int[np.ndarray, " chosen"]] | None,
) -> Any:
    """A sampled variable, here or on disk, or with `columns` None a mean over the population."""
    import quantities

    first = result.sample_times[0] if result.sample_times.size else result.start
    return neo.AnalogSignal(
        x,
        units=UNITS.get(variable, "dimensionless"),
        t_start=first * quantities.ms,
        sampling_period=result.interval * quantities.ms,
        name=f"{name} {variable}" if columns else f"{name} mean {variable}",
        array_annotations=columns,
        population=name,
        variable=variable,
    )
