"""What a simulation gives back: events, traces and rates by name, on the host."""

import dataclasses
import functools
from typing import Any

import numpy as np

from .._checks import unknown
from .._types import state_variables
from ..network import Network, NetworkState
from ..numerics import to_hz


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """What `simulate` recorded, as NumPy arrays by population name.

    **Fields** `network`; `state` after the last step (hand it to `simulate` to go on);
    `first_step`, `n_steps` that were run; `traces[name][variable]` `(samples, n)` at
    `sample_times` [ms]; `counts[name]` spikes per step, where asked for; `function` samples of
    the record's function; `compile_s`, `run_s` wall seconds; `interrupted` by Ctrl-C.

    **Source** the house's own: design section 3.
    """

    network: Network
    state: NetworkState
    first_step: int
    n_steps: int
    traces: dict[str, dict[str, np.ndarray]]
    sample_times: np.ndarray
    counts: dict[str, np.ndarray]
    function: Any
    compile_s: float
    run_s: float
    interrupted: bool
    spikes: tuple[tuple[np.ndarray, np.ndarray], ...] | None

    @property
    def duration(self) -> float:
        """Biological time that was run [ms]."""
        return self.n_steps * self.network.dt

    @property
    def start(self) -> float:
        """Biological time at which the run started [ms]."""
        return self.first_step * self.network.dt

    def events(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Spike times [ms] and neuron indices of a population, in order of time.

        A spike of step k has the time (k + 1) dt, the end of its step. Raises `ValueError`
        for an unknown population, or where spikes were not recorded.
        """
        number, span = self.network.population(name)
        if self.spikes is None:
            raise ValueError("spikes were not recorded; run with record=Record(spikes=True)")
        steps, neurons, starts = self._split[number]
        index = self.network.groups[number].index(name) or 0
        mine = slice(starts[index], starts[index + 1])
        times = (steps[mine] + (self.first_step + 1)) * self.network.dt
        return times, neurons[mine] - span.start

    @functools.cached_property
    def _split(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Per group: steps and neurons population by population, and where each begins."""
        out = []
        for group, (steps, neurons) in zip(self.network.groups, self.spikes or ()):
            ends = np.cumsum(group.sizes)
            owner = np.searchsorted(ends, neurons, side="right")
            order = np.argsort(owner, kind="stable")
            starts = np.searchsorted(owner[order], np.arange(len(group.sizes) + 1))
            out.append((steps[order], neurons[order], starts))
        return out

    def rate(self, name: str) -> float:
        """Mean rate of a population [Hz] over the run."""
        n = self.network.populations.get(name)
        if n is None:
            raise unknown("population", name, self.network.populations)
        if n == 0 or self.n_steps == 0:
            return 0.0
        return float(to_hz(self.events(name)[0].size, n, self.duration))

    def __repr__(self) -> str:
        return (
            f"Result: {self.duration:g} ms of {self.network!r}"
            f"{', interrupted' if self.interrupted else ''}"
        )


class NonFiniteError(ValueError):
    """A state turned NaN or infinite; `result` holds what was recorded until then.

    **Fields** `result`: the `Result` up to the end of the chunk in which it happened.

    **Source** the house's own: design section 3.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def describe_non_finite(net: Network, state: NetworkState) -> str:
    """Which population, neuron and variable are not finite first, in a sentence."""
    for name in net.order:
        number, span = net.population(name)
        holders = [("", state.neurons[number])]
        holders += [(f"receptor {r} ", s) for r, s in enumerate(state.synapses[number])]
        for label, holder in holders:
            for variable, x in _variables(holder):
                bad = np.flatnonzero(~np.isfinite(np.asarray(x)[span]))
                if bad.size:
                    value = np.asarray(x)[span][bad[0]]
                    return (
                        f"{label}{variable} of population {name!r} is {value} "
                        f"in {bad.size} neuron(s), the first is neuron {bad[0]}"
                    )
    return "a state variable is not finite"


def _variables(holder: Any) -> list[tuple[str, Any]]:
    pairs = [(name, getattr(holder, name)) for name in state_variables(holder)]
    return [(k, x) for k, x in pairs if np.issubdtype(np.asarray(x).dtype, np.floating)]
