"""What to record: a hashable value, part of the compiled program."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .._checks import check_count, unknown
from ..network import Network, NetworkState, Output
from ._spikes import count_bits


@dataclasses.dataclass(frozen=True)
class Record:
    """What a run records.

    **Fields** `spikes`: every spike, as bits; `variables`: names of state variables by
    population (`{"E": "v"}`) or by projection, whose receptor is meant (`{"E->E": "g"}`);
    `neurons`: by the same names, which neurons (default all); `every`: sample variables and
    `function` every so many steps, at the end of the last of them; `rates`: spikes per
    population in every step; `function`: any function of (state, output), sampled too. A
    sampled v at a spike is the value before the reset. Pass the same function object again
    to reuse the compiled program.

    **Raises** `ValueError` for `every` below 1, neurons without variables, indices that are
    negative; from `scan` and `simulate`, for an unknown population, variable or neuron.

    **Source** the house's own: design section 3.
    """

    spikes: bool = True
    variables: Mapping[str, str | Sequence[str]] = dataclasses.field(default_factory=dict)
    neurons: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    every: int = 1
    rates: bool = False
    function: Callable[[NetworkState, Output], Any] | None = None

    def __post_init__(self) -> None:
        check_count("Record: every", self.every, at_least=1)
        if not isinstance(self.variables, Mapping) or not isinstance(self.neurons, Mapping):
            raise ValueError(
                "Record: variables and neurons must map names of populations or projections, e.g. "
                f"variables={{'E': 'v'}}; got {self.variables!r} and {self.neurons!r}"
            )
        variables = {
            name: (v,) if isinstance(v, str) else tuple(v) for name, v in self.variables.items()
        }
        for name in self.neurons:
            if name not in variables:
                raise unknown("recorded population or projection", name, variables)
        neurons = {name: _indices(name, n) for name, n in self.neurons.items()}
        # Frozen and hashable: the record is a static part of the program.
        object.__setattr__(self, "variables", _FrozenDict(variables))
        object.__setattr__(self, "neurons", _FrozenDict(neurons))

    @property
    def samples(self) -> bool:
        """Whether anything is sampled every `every` steps."""
        return bool(self.variables) or self.function is not None

    def check(self, net: Network, state: NetworkState) -> None:
        """Raises `ValueError` for a name, variable or neuron that the network has not."""
        for name, variables in self.variables.items():
            if name not in net.populations and name not in net.projections:
                known = [*net.populations, *net.projections]
                raise unknown("population or projection to record", name, known)
            for variable in variables:
                n = net.read(state, name, variable).shape[-1]
                index = self.neurons.get(name, ())
                if index and max(index) >= n:
                    raise ValueError(
                        f"Record: neurons of {name!r} must be below {n}, its size; got {max(index)}"
                    )

    def sample(self, net: Network, state: NetworkState, output: Output) -> tuple[dict, Any]:
        """The sampled variables by name, and the function's value."""
        traces = {}
        for name, variables in self.variables.items():
            index = self.neurons.get(name)
            for variable in variables:
                x = net.read(state, name, variable)
                x = x if index is None else x[np.asarray(index, np.int32)]
                traces.setdefault(name, {})[variable] = x
        return traces, None if self.function is None else self.function(state, output)

    def counts(self, net: Network, output: Output) -> dict[str, jax.Array]:
        """Spikes per population in this step, where `rates` asks for them."""
        if not self.rates:
            return {}
        out = {}
        for name in net.order:
            group, span = net.population(name)
            out[name] = count_bits(output.bits[group], span.start, span.stop)
        return out


class _FrozenDict(dict):
    """A dictionary that can be a static argument; nothing changes it after it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


def _indices(name: str, values: Sequence[int]) -> tuple[int, ...]:
    return tuple(check_count(f"Record: a neuron of {name!r}", v) for v in np.ravel(values))
