"""Inputs of a run over its steps: currents and spikes of populations, signals of rules."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int, Shaped

from .. import spec
from .._arrays import AnyArray, as_array, is_traced
from .._build.drives import check_neuron
from .._network.inputs import checked_inputs
from .._network.network import Network
from .._network.state import NetworkState
from .._numerics.windows import warn_of_early_times
from .._text import brief
from .._units import far_too_small, warn_of_units
from .._warn import warn
from ..spec import InvalidValueError
from .spike_trains import SpikeTrains
from .spikes import SpikeBits, time_of

_CURRENT, _SIGNAL = spec.Numbers("pA"), spec.Numbers()


class SpikesByStep:
    """Spikes over the steps of a run, of which an array is made for some steps at a time."""

    def __init__(self, trains: SpikeTrains, first_step: int, n_steps: int, dt: float) -> None:
        steps = trains.steps(dt) - first_step
        order = np.lexsort((trains.neurons, steps))
        self._steps, self._neurons = steps[order], trains.neurons[order]
        self.shape = n_steps, trains.n

    def events(self, first: int, last: int) -> tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]:
        """Steps, counted from `first`, and neurons of the spikes before step `last`, in order."""
        here = slice(*np.searchsorted(self._steps, np.array([first, last], self._steps.dtype)))
        return self._steps[here] - first, self._neurons[here]

    def __getitem__(self, part: slice) -> Bool[np.ndarray, "steps n"]:
        first, last, _ = part.indices(self.shape[0])
        out = np.zeros((last - first, self.shape[1]), bool)
        out[self.events(first, last)] = True
        return out


def inputs_of_scan(
    net: Network, state: NetworkState, inputs: Any, n_steps: int
) -> dict[str, Shaped[AnyArray, "steps ..."]]:
    """Inputs of a `scan`, as arrays over its steps, or `ValueError`."""
    arrays, spikes = _parted(net, "scan", inputs)
    for name, x in spikes.items():
        if isinstance(x, SpikeBits):
            arrays[name] = x.dense(_source(x, name))
        elif is_traced(state.step):
            must = "booleans (n_steps, n) inside jit, as trains.dense(dt) makes them"
            raise InvalidValueError("scan", f"the input of {name!r}", must, repr(x))
        else:
            arrays[name] = _given_trains(name, x, int(state.step), n_steps, net.dt)[:]
    given = _over_time(arrays, n_steps)
    _check_shapes("scan", net, given, n_steps)
    _check_driven(net, given)
    for name, x in given.items():
        if _takes_spikes(net, name) and not is_traced(x):
            _check_spikes(name, x)
    return {
        name: as_array(x, bool if _takes_spikes(net, name) else net.dtype)
        for name, x in given.items()
    }


def inputs_of_run(
    net: Network, inputs: Any, first_step: int, n_steps: int
) -> dict[str, Shaped[np.ndarray, "steps ..."] | SpikesByStep]:
    """Inputs of `simulate`: each gives an array of some steps by a slice; or `ValueError`."""
    arrays, spikes = _parted(net, "simulate", inputs)
    given = {name: np.asarray(x) for name, x in _over_time(arrays, n_steps).items()}
    events = {
        name: _given_bits(name, x)
        if isinstance(x, SpikeBits)
        else _given_trains(name, x, first_step, n_steps, net.dt)
        for name, x in spikes.items()
    }
    _check_shapes("simulate", net, given | events, n_steps)
    for name, x in given.items():
        if _takes_spikes(net, name):
            _check_spikes(name, x)
            given[name] = x.astype(bool)
        else:
            field, is_current = f"the input of {name!r}", name in net.populations
            spec.check("", field, _CURRENT if is_current else _SIGNAL, x)
            if is_current:
                warn_of_units(far_too_small("", field, x, "pA"))
    _check_over_time(net, given, n_steps)
    return given | events


def _parted(
    net: Network, what: str, inputs: Any
) -> tuple[dict[str, Any], dict[str, SpikeTrains | SpikeBits]]:
    """Inputs that are arrays, and those that are spikes, by name."""
    arrays: dict[str, Any] = {}
    spikes: dict[str, SpikeTrains | SpikeBits] = {}
    if inputs is not None and not isinstance(inputs, Mapping):
        return checked_inputs(what, inputs), {}
    for name, x in (inputs or {}).items():
        relayed, field = _takes_spikes(net, name), f"the input of {name!r}"
        booleans = getattr(getattr(x, "dtype", None), "kind", "") == "b"
        if not isinstance(x, SpikeTrains | SpikeBits) and (relayed or not booleans):
            arrays[name] = _unpacked(x, net.populations[name]) if relayed else x
            continue
        if not relayed:
            _check_name(net, name)
            must = "numbers: only a population of a model such as Relay repeats spikes"
            raise InvalidValueError(what, field, must, brief(x))
        if isinstance(x, SpikeTrains) and x.n != net.populations[name]:
            must = f"spikes of its {net.populations[name]} neurons"
            raise InvalidValueError(what, field, must, repr(x))
        if isinstance(x, SpikeBits) and x.dt != net.dt:
            raise InvalidValueError(what, field, f"bits of steps of {net.dt:g} ms", repr(x))
        spikes[name] = x
    return checked_inputs(what, arrays), spikes


def _source(bits: SpikeBits, name: str) -> str:
    """The population of recorded spikes that one of another network repeats."""
    own = [known for known, *_ in bits.populations]
    return own[0] if len(own) == 1 else name


def _given_bits(name: str, bits: SpikeBits) -> SpikesByStep:
    """Recorded spikes as those of a run of as many steps, whenever they were recorded."""
    trains, n_steps = bits[_source(bits, name)], bits.bits[0].shape[0]
    return SpikesByStep(trains, int(bits.first_step), n_steps, bits.dt)


def _given_trains(
    name: str, trains: SpikeTrains, first_step: int, n_steps: int, dt: float
) -> SpikesByStep:
    """Spikes with their times as those of a run; warns of those of another time."""
    start, stop = time_of(first_step, dt), time_of(first_step + n_steps, dt)
    if n_steps and len(trains) and (trains.stop <= start or stop <= trains.start):
        warn(
            f"the input of {name!r} has its spikes from {trains.start:.10g} to {trains.stop:.10g} "
            f"ms, where the run is from {start:.10g} to {stop:.10g} ms: none of them comes. Times "
            "are ms since the network's start"
        )
    warn_of_early_times(trains.times - start, stop - start, f"the input of {name!r}")
    return SpikesByStep(trains, first_step, n_steps, dt)


def _check_spikes(name: str, x: Any) -> None:
    """Raises `InvalidValueError` for known numbers that are no spikes."""
    x = np.asarray(x)
    if x.dtype == bool:
        return
    other = x[~((x == 0) | (x == 1))]
    if other.size:
        must = "spikes: booleans, or 0 and 1"
        raise InvalidValueError("", f"the input of {name!r}", must, str(other.flat[0]))


def _takes_spikes(net: Network, name: Any) -> bool:
    """Whether the input of a population are its spikes."""
    if name not in net.populations:
        return False
    return net.groups[net.population(name)[0]].model.input_part == "jump"


def _unpacked(x: Any, n: int) -> Any:
    """Booleans (n_steps, n) of packed bits, one byte for 8 neurons; anything else as it is."""
    packed = getattr(x, "dtype", None) == np.uint8 and np.shape(x)[1:] == (-(-n // 8),)
    if not packed or n == 1:
        return x
    unpackbits: Any = jnp.unpackbits if isinstance(x, jax.Array) else np.unpackbits
    return unpackbits(x, axis=-1, bitorder="little")[..., :n].astype(bool)


def _over_time(inputs: Mapping[str, Any], n_steps: int) -> dict[str, Any]:
    """Inputs with a value for each time step: one number is the same in all of them."""
    shape = (n_steps,)
    return {
        name: x
        if np.ndim(x)
        else (jnp.broadcast_to(x, shape) if is_traced(x) else np.broadcast_to(np.asarray(x), shape))
        for name, x in inputs.items()
    }


def _check_driven(net: Network, inputs: Mapping[str, Any]) -> None:
    """Holds the models that a run gives something to their role."""
    driven = {net.population(name)[0] for name in inputs if name in net.populations}
    for number in sorted(driven):
        check_neuron(net.groups[number], net.dt, net.dtype, inputs=True)


def _check_name(net: Network, name: Any) -> None:
    """Raises the error for what is neither a population nor a signal."""
    if name not in net.populations and name not in net.signals:
        raise spec.unknown("population to drive", name, [*net.populations, *net.signals])


def _check_shapes(what: str, net: Network, inputs: Mapping[str, Any], n_steps: int) -> None:
    """Raises `ValueError` for an unknown input, one of the wrong shape, or a missing signal."""
    for name in net.signals:
        if name not in inputs or np.shape(inputs[name]) != (n_steps,):
            got = f"shape {np.shape(inputs[name])}" if name in inputs else "none"
            must = (
                f"one number per time step, shape ({n_steps},), inputs={{{name!r}: ...}}: a signal "
                "of rules or modulators"
            )
            raise InvalidValueError(what, f"the input of {name!r}", must, got)
    for name, x in inputs.items():
        if name in net.signals:
            continue
        _check_name(net, name)
        n = net.populations[name]
        if np.shape(x) not in ((n_steps,), (n_steps, n)):
            turned = np.shape(x) == (n, n_steps)
            hint = ". A constant current per neuron is a jn.stimuli.Current"
            hint = ". The time steps come first: transpose it" if turned else hint
            hint = hint if turned or np.shape(x) == (n,) else ""
            must = f"one with shape ({n_steps},) or ({n_steps}, {n})"
            raise InvalidValueError(what, f"the input of {name!r}", must, str(np.shape(x)), hint)


def _check_over_time(net: Network, inputs: Mapping[str, Any], n_steps: int) -> None:
    """Raises `ValueError` for an input over time that may as well be one number per neuron."""
    for name, given in inputs.items():
        n, x = net.populations.get(name, 0), np.asarray(given)
        if n_steps > 1 and x.shape == (n,) == (n_steps,) and (x != x[0]).any():
            raise ValueError(
                f"the input of {name!r} has {n} numbers for {n} neurons and {n} time steps: it may "
                f"be one per neuron or one per step. Give the shape ({n}, {n}), steps first: "
                f"np.tile(x[:, None], {n}) for one per step, np.tile(x, ({n}, 1)) for one per "
                "neuron; a current that does not change is a jn.Stimulation with a "
                "jn.stimuli.Current, or current= of a bare neuron"
            )
