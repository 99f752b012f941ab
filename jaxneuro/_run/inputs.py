"""Inputs of a run over its steps: currents and spikes of populations, signals of rules."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Shaped

from .. import spec
from .._arrays import AnyArray, as_array, is_traced
from .._build.drives import check_neuron
from .._network.inputs import checked_inputs
from .._network.network import Network
from .._network.state import NetworkState
from .._numerics.windows import NEAR_MS
from ..spec import InvalidValueError
from .spike_trains import SpikeTrains
from .spikes import SpikeBits

_CURRENT, _SIGNAL = spec.Numbers("pA"), spec.Numbers()
_SPIKES = spec.Numbers(at_least=0.0, at_most=1.0)


class SpikesByStep:
    """Spikes of a run, of which an array is made for some of its steps at a time."""

    def __init__(self, trains: SpikeTrains, first_step: int, n_steps: int, dt: float) -> None:
        # A spike at the end of step k is of step k; times between two steps are of the later one.
        steps = np.ceil((trains.times - NEAR_MS) / dt).astype(np.int64) - 1 - first_step
        order = np.argsort(steps, kind="stable")
        self._steps, self._neurons = steps[order], np.asarray(trains.neurons)[order]
        self.shape = n_steps, trains.n

    def __getitem__(self, part: slice) -> Bool[np.ndarray, "steps n"]:
        first, last, _ = part.indices(self.shape[0])
        here = slice(*np.searchsorted(self._steps, (first, last)))
        out = np.zeros((last - first, self.shape[1]), bool)
        out[self._steps[here] - first, self._neurons[here]] = True
        return out


def inputs_of_scan(
    net: Network, state: NetworkState, inputs: Any, n_steps: int
) -> dict[str, Shaped[AnyArray, "steps ..."]]:
    """Inputs of a `scan`, as arrays over its steps, or `ValueError`."""
    arrays, trains = _parted(net, "scan", inputs)
    if trains and is_traced(state.step):
        must = "booleans (n_steps, n) inside jit, as trains.dense(dt) makes them"
        raise InvalidValueError("scan", f"the input of {next(iter(trains))!r}", must, "SpikeTrains")
    for name, x in trains.items():
        arrays[name] = SpikesByStep(x, int(state.step), n_steps, net.dt)[:]
    given = _over_time(arrays, n_steps)
    _check_shapes("scan", net, given, n_steps)
    _check_driven(net, given)
    return {
        name: as_array(x, bool if _takes_spikes(net, name) else net.dtype)
        for name, x in given.items()
    }


def inputs_of_run(
    net: Network, inputs: Any, first_step: int, n_steps: int
) -> dict[str, Shaped[np.ndarray, "steps ..."] | SpikesByStep]:
    """Inputs of `simulate`: each gives an array of some steps by a slice; or `ValueError`."""
    arrays, trains = _parted(net, "simulate", inputs)
    given = {name: np.asarray(x) for name, x in _over_time(arrays, n_steps).items()}
    events = {k: SpikesByStep(x, first_step, n_steps, net.dt) for k, x in trains.items()}
    _check_shapes("simulate", net, given, n_steps)
    for name, x in given.items():
        spikes = _takes_spikes(net, name)
        if not (spikes and x.dtype == bool):
            kind = _SPIKES if spikes else _CURRENT if name in net.populations else _SIGNAL
            spec.check("", f"the input of {name!r}", kind, x)
    _check_over_time(net, given, n_steps)
    return given | events


def _parted(net: Network, what: str, inputs: Any) -> tuple[dict[str, Any], dict[str, SpikeTrains]]:
    """Inputs that are arrays, and those that are spikes with their times, by name."""
    arrays: dict[str, Any] = {}
    trains: dict[str, SpikeTrains] = {}
    if inputs is not None and not isinstance(inputs, Mapping):
        return checked_inputs(what, inputs), {}
    for name, x in (inputs or {}).items():
        relayed, field = _takes_spikes(net, name), f"the input of {name!r}"
        if isinstance(x, SpikeTrains | SpikeBits) and not relayed:
            must = "a current: only a population of a model such as Relay repeats spikes"
            raise InvalidValueError(what, field, must, repr(x))
        if isinstance(x, SpikeTrains):
            if x.n != net.populations[name]:
                must = f"spikes of its {net.populations[name]} neurons"
                raise InvalidValueError(what, field, must, repr(x))
            trains[name] = x
        elif isinstance(x, SpikeBits):
            own = [known for known, *_ in x.populations]
            arrays[name] = x.dense(own[0] if len(own) == 1 else name)
        else:
            arrays[name] = _unpacked(x, net.populations[name]) if relayed else x
    return checked_inputs(what, arrays), trains


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
        if name not in net.populations:
            raise spec.unknown("population to drive", name, [*net.populations, *net.signals])
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
