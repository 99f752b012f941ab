"""Results as pandas tables, xarray Datasets and Neo objects."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import spec
from .recorded import RECORDERS
from .recorders import Signal

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
        variable: pandas.DataFrame(np.asarray(x), index, result.neurons.get(name))
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
    synapses = result.synapses.get(name, np.arange(x.shape[1]))
    return pandas.DataFrame(x, index, pandas.Index(synapses, name="synapse"))


def signals(result: "Result") -> list[Signal]:
    """All that the recorders of this package sampled, variable by variable."""
    return [
        signal
        for key, recorder in RECORDERS.items()
        if key in result.samples
        for signal in recorder.signals(result.samples[key], result.columns.get(key, {}))
    ]


def exported(result: "Result") -> list[Signal]:
    """The signals that other formats have: all but histograms."""
    return [signal for signal in signals(result) if signal.of or len(signal.samples.shape) == 1]


def to_xarray(result: "Result") -> Any:
    """See `Result.to_xarray`."""
    xarray = extra_module("xarray")
    coords: dict[str, Any] = {"time_ms": ("time_ms", result.sample_times, {"units": "ms"})}
    arrays = {}
    for signal in exported(result):
        dims = ["time_ms"]
        if signal.of:
            dim = f"{signal.name} {signal.of}"
            if dim in coords and coords[dim][1].tolist() != signal.numbers.tolist():
                dim = f"{signal.title} {signal.of}"
            coords[dim] = dim, signal.numbers
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
    segment.analogsignals.extend([_signal(neo, result, signal) for signal in exported(result)])
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


def _signal(neo: Any, result: "Result", signal: Signal) -> Any:
    import quantities

    first = result.sample_times[0] if result.sample_times.size else result.start
    return neo.AnalogSignal(
        signal.samples,
        units=UNITS.get(signal.variable, "dimensionless"),
        t_start=first * quantities.ms,
        sampling_period=result.interval * quantities.ms,
        name=signal.title,
        array_annotations={signal.of: signal.numbers} if signal.of else None,
        population=signal.name,
        variable=signal.variable,
    )
