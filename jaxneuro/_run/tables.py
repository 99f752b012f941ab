"""Results as pandas tables and Neo objects."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int, Shaped

from .. import spec

if TYPE_CHECKING:
    from .result import Result

# Units of variables with known names; all others are dimensionless.
_UNITS = {"v": "mV", "current": "pA", "lfp": "pA", "g": "nS"}


def extra_module(name: str) -> Any:
    """A module of the extra with its name; raises `ImportError` that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"this needs {name}; install it with: pip install 'jaxneuro[{name}]'"
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
        variable: pandas.DataFrame(x, index, _neurons(result, name, x))
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
    x = result.weights[name]
    index = pandas.Index(result.sample_times, name="time_ms")
    return pandas.DataFrame(x, index, pandas.Index(_synapses(result, name, x), name="synapse"))


def _synapses(
    result: Any, name: str, x: Shaped[np.ndarray, "samples chosen"]
) -> Int[np.ndarray, " chosen"]:
    """The synapses that the columns of recorded weights belong to."""
    return result.synapses.get(name, np.arange(x.shape[1]))


def _neurons(
    result: Any, name: str, x: Shaped[np.ndarray, "samples chosen"]
) -> Int[np.ndarray, " chosen"]:
    """The neurons that the columns of a trace belong to."""
    return result.neurons.get(name, np.arange(x.shape[1]))


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
            result.spikes[name].of(neuron),
            units="ms",
            t_start=result.start,
            t_stop=stop,
            population=name,
            neuron=neuron,
        )
        for name, n in result.populations.items()
        for neuron in range(n)
    ]


def _signal(
    neo: Any,
    result: "Result",
    name: str,
    variable: str,
    x: Shaped[np.ndarray, "samples ..."],
    columns: dict[str, Int[np.ndarray, " chosen"]] | None,
) -> Any:
    """A sampled variable, or with `columns` None a mean over the population."""
    import quantities

    first = result.sample_times[0] if result.sample_times.size else result.start
    return neo.AnalogSignal(
        x,
        units=_UNITS.get(variable, "dimensionless"),
        t_start=first * quantities.ms,
        sampling_period=result.interval * quantities.ms,
        name=f"{name} {variable}" if columns else f"{name} mean {variable}",
        array_annotations=columns,
        population=name,
        variable=variable,
    )
