"""What ends a run early, each with the result so far, and the search for what made a state NaN."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from .._arrays import AnyArray
from .._fields import parameters
from .._kernels.poisson import LARGEST_MEAN
from .._model import SpikeStimulus
from .._network.names import references_at
from .._network.network import Network
from .._network.state import NetworkState
from .._numerics.grid import per_step
from .._text import counted
from ..stimuli import Signal
from .result import Result

# --- What Ctrl-C raises in a run.


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run; `result` holds what was recorded until then.

    A `KeyboardInterrupt`, so that it also ends a loop over runs. To keep the result:
    `except jn.Interrupted as stop: result = stop.result`; in a notebook, after the cell has ended,
    `sys.last_value.result`.

    Attributes:
        result: the `Result` up to the last chunk that was finished. A run goes on from it:
            `simulate(net, rest, state=result)`.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


# --- The error of a run over several processes when one of them is lost.


class LostProcessError(RuntimeError):
    """Another process of the run is gone; `result` holds what was recorded until then.

    Its state lies on devices that cannot be reached: a run cannot go on from it.

    Attributes:
        result: the `Result` up to the last chunk that this process has.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def over_processes(net: Network) -> bool:
    """Whether a network lies on devices of several processes."""
    layout: Any = net.layout
    if layout is None:
        return False
    return any(d.process_index != jax.process_index() for d in layout.mesh.devices.flat)


# --- The error for a state that turned NaN or infinite, which says where.


class NonFiniteError(ValueError):
    """A state turned NaN or infinite; `result` holds what was recorded until then.

    Attributes:
        result: the `Result` up to the end of the chunk in which it happened.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def describe_non_finite(net: Network, state: NetworkState) -> str:
    """What is not finite, where first, in a sentence.

    Weights come first: a neuron that gets one that is not finite is not finite either.
    """
    for pathway, mine in zip(net.pathways, state.pathways):
        found = _in_synapses(pathway.plastic, mine.plastic)
        if found is not None:
            return found
    whole = net.whole(state)
    for name in net.order:
        for reference in references_at(net, name):
            for variable, x in reference.numbers(whole):
                values = np.asarray(x)
                bad = np.flatnonzero(~np.isfinite(values))
                if bad.size:
                    return (
                        f"{variable} of {reference.at_population()} is {values[bad[0]]} in "
                        f"{bad.size} neuron(s), the first is neuron {bad[0]}"
                    )
    return "a state variable is not finite"


def explicit_methods(net: Network, state: NetworkState) -> str:
    """What helps neurons that are not finite, of a model whose method is not stable at any dt."""
    for group, mine in zip(net.groups, net.whole(state).groups):
        method = getattr(group.model, "method", None)
        bad = any(not np.isfinite(x).all() for x in jax.tree.leaves(mine.neurons) if _is_float(x))
        if bad and getattr(method, "reach", None) is not None:
            name, kind = type(group.model).__name__, type(method).__name__
            return (
                f". {name} moves by {kind}, which may need a dt below {net.dt:g} ms in spikes: "
                "half of it, or method=jn.integrators.exponential_euler, which is stable at any dt"
            )
    return ""


def _is_float(x: Shaped[AnyArray, "..."]) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


def _in_synapses(plastic: Any, state: Any) -> str | None:
    """Which number of a rule's synapses is not finite, None if all are."""
    if plastic is None:
        return None
    rows = (state.synapses.weights, *state.synapses.variables)
    for variable, x in zip(("weight", *plastic.rule.variables()), rows):
        values = np.asarray(x)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return (
                f"{variable} of projection {plastic.name!r} is {values[bad[0]]} in "
                f"{counted(bad.size, 'synapse')}, the first is synapse {bad[0]}"
            )
    for variable, x in state.shared.items():
        if not np.isfinite(x).all():
            return f"{variable} of the plasticity of projection {plastic.name!r} is not finite"
    return None


# --- Finds a possible cause of NaN in a state: a bad rate that is a function of time.


_NUMBERS = 1_000_000  # evaluated at once


def describe_bad_rate(net: Network, steps: range) -> str | None:
    """The stimulation whose rate is the first that cannot be drawn in `steps`, in a sentence."""
    found = []
    for group in net.groups:
        for stimulus in group.stimuli:
            if isinstance(stimulus.model, SpikeStimulus):
                found += _bad_rates(stimulus.expand(), steps, net.dt)
    if not found:
        return None
    step, name, field, rate = min(found, key=lambda f: f[:2])
    return (
        f"The cause may be stimulation {name!r}: its {field} is {rate:.4g} Hz at {step * net.dt:g} "
        f"ms; it must be from 0 to what can be drawn in a time step of {net.dt:g} ms"
    )


def _bad_rates(stimulus: Any, steps: range, dt: float) -> list[tuple[int, str, str, float]]:
    """The first bad value of every signal: network step, stimulation, field, value."""
    delay, start, stop = stimulus.window
    first = max(steps.start, start + delay)
    last = steps.stop if stop is None else min(steps.stop, stop + delay)
    out = []
    for field in parameters(type(stimulus.model)):
        signal = getattr(stimulus.model, field.name)
        if isinstance(signal, Signal):
            # `Gamma` and `MultipleInteraction` draw events at this multiple of the rate.
            model = stimulus.model
            factor = np.asarray(model.events_per_spike())
            bad = _first_bad(signal, range(first - delay, last - delay), dt, factor, stimulus.n)
            if bad is not None:
                step, neuron, rate = bad
                owner = np.searchsorted(np.cumsum(stimulus.sizes), neuron, side="right")
                out.append((step + delay, stimulus.names[owner], field.name, rate))
    return out


def _first_bad(
    signal: Signal, steps: range, dt: float, factor: Shaped[np.ndarray, "..."], n: int
) -> tuple[int, int, float] | None:
    size = max(_NUMBERS // max(n, 1), 1)
    at = jax.jit(jax.vmap(lambda step: signal.at(step, dt)))
    for begin in range(steps.start, steps.stop, size):
        block = np.arange(begin, min(begin + size, steps.stop), dtype=np.int32)
        rates = np.asarray(at(jnp.asarray(block))).reshape(block.size, -1)
        events = per_step(rates, dt) * factor
        bad = np.argwhere(~((events >= 0) & (events <= LARGEST_MEAN)))
        if bad.size:
            row, neuron = (int(k) for k in bad[0])
            return int(block[row]), neuron, float(rates[row, min(neuron, rates.shape[1] - 1)])
    return None
