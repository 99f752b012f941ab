"""What to record: a hashable value, part of the compiled program."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import Named, check_count, check_known
from .._network import (
    Network,
    NetworkState,
    Output,
    arriving,
    shared_by,
    unfed,
    value_of,
    variable_holder,
    warn_of_sum,
)
from .._text import with_fields
from .._warn import warn
from ..synapses import Direct
from ._html import html_of_record
from ._neuron_choice import Chosen, by_name, chosen
from ._population_signals import lattice_mean, lfp_proxy
from ._spikes import count_bits
from ._weight_samples import (
    check_weights,
    chosen_weights,
    histogram_bins,
    sample_weights,
    weight_bytes,
)


@dataclasses.dataclass(frozen=True, repr=False)
class Record(Named):
    """What a run records.

    **Fields** `spikes`: every spike, as bits; `variables`: names of state variables by population
    (`{"E": "v"}`), projection (of its receptor or release: `{"E->E": "g"}`), stimulation, or
    receptor or release that several share (`net.shared`), or `...` for all that are numbers (`{"E":
    ...}`); `neurons`: by the same names, which neurons (default all): numbers, a slice, a range, or
    a mask of booleans; `every`: sample every so many steps, at the end of the last of them;
    `rates`: spikes per population in every step, floats with a gradient where the neurons have a
    surrogate; `function`: any function of (state, output), sampled; `means`: like `variables`, but
    sampled as the mean over the population; `lfp`: populations whose LFP proxy [pA] is sampled, the
    sum over the receptors of the mean absolute current that they give, which is none for `Delta`
    and `Direct`. A sampled v at a spike is the value before the reset; currents are those at the
    start of the next step. A variable that is named and that nothing feeds is warned of, and so is
    an LFP where `Direct` feeds currents that are in the neuron. A function written anew, such as a
    lambda in a loop, finds its compiled program if its code and what it uses from outside (numbers,
    arrays, other such functions) are the same; one that uses lists, dicts or objects compiles again
    unless it is the same object.

    Of plastic projections: `weights`, which of `net.weights` are sampled, `{"E->E": ...}` for
    all, or numbers, a slice or a mask as for neurons, in the order of `net.connections(name)`;
    `weight_histograms`, how many weights are in each of so many equal bins, `{"E->E": 50}` between
    the limits of the rule or `(50, low, high)`; a bin includes its lower edge, and what is outside
    counts in the outermost. A sample visits a copy of all synapses of the projection, which costs
    about as much as a spike of each source neuron: choose `every` with it.

    **Raises** `ValueError` for `every` below 1, fields of another kind, neurons without
    variables, indices that are negative, repeated or none, bins below 1 or low not below high; from
    `scan` and `simulate`, for an unknown population, variable or neuron, a mask of another length,
    a `function` that raises or returns nothing, weights of a projection that is not plastic, or a
    histogram without low and high where the rule has no limits.

    **Source** LFP proxy: Mazzoni et al. (2015), doi:10.1371/journal.pcbi.1004584.

    **Differs** the currents are averaged over the neurons, not added up, so that networks of
    other sizes compare.
    """

    spikes: bool = True
    variables: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    neurons: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    every: int = 1
    rates: bool = False
    function: Callable[[NetworkState, Output], Any] | None = None
    means: Mapping[str, str | Sequence[str]] = dataclasses.field(default_factory=dict)
    lfp: str | Sequence[str] = ()
    weights: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    weight_histograms: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count("Record: every", self.every, at_least=1)
        for field in ("spikes", "rates"):
            if not isinstance(getattr(self, field), bool):
                raise ValueError(
                    f"Record: {field} must be True or False; got {getattr(self, field)!r}"
                )
        if self.function is not None and not callable(self.function):
            raise ValueError(
                "Record: function must be a function of (state, output), or None; got "
                f"{self.function!r}"
            )
        variables, means = (_names(k, getattr(self, k)) for k in ("variables", "means"))
        by_name("neurons", self.neurons, "{'E': [0, 1]}")
        for name in self.neurons:
            check_known("recorded population or projection", name, variables)
        neurons = {k: chosen(f"Record: neurons of {k!r}", v) for k, v in self.neurons.items()}
        # Frozen and hashable: the record is a static part of the program.
        object.__setattr__(self, "variables", _FrozenDict(variables))
        object.__setattr__(self, "neurons", _FrozenDict(neurons))
        object.__setattr__(self, "means", _FrozenDict(means))
        object.__setattr__(self, "lfp", _texts("lfp", self.lfp))
        object.__setattr__(self, "weights", _FrozenDict(chosen_weights(self.weights)))
        bins = histogram_bins(self.weight_histograms)
        object.__setattr__(self, "weight_histograms", _FrozenDict(bins))

    def __repr__(self) -> str:
        return with_fields(self)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_record(self)

    @property
    def samples(self) -> bool:
        """Whether anything is sampled every `every` steps."""
        weights = self.weights or self.weight_histograms
        named = self.variables or self.means or self.lfp or weights
        return bool(named) or self.function is not None

    def without_samples(self) -> "Record":
        """The same record for consecutive steps without a sample."""
        nothing = {"variables": {}, "neurons": {}, "means": {}, "lfp": (), "function": None}
        return dataclasses.replace(self, **nothing, weights={}, weight_histograms={}, every=1)

    def named(self, net: Network, state: NetworkState) -> "Record":
        """The same record with every variable named, also where `...` asks for all."""
        if not any(... in names for names in self.variables.values()):
            self._check_neurons(net, state)
            return self
        known = net.names
        for name in self.variables:
            check_known("population, projection, stimulation or receptor to record", name, known)
        every = {
            name: net.variables(state, name) if ... in names else names
            for name, names in self.variables.items()
        }
        nothing = [name for name, names in every.items() if not names]
        if nothing:
            spikes = " and record its spikes" if nothing[0] in net.populations else ""
            raise ValueError(
                f"Record: {nothing[0]!r} has no state variable that is a number; leave it "
                f"out{spikes}"
            )
        record = dataclasses.replace(self, variables=every)
        record._check_neurons(net, state)
        return record

    def warn_of_unfed(self, net: Network) -> None:
        """Warns of a named variable that nothing feeds, and of an LFP that leaves currents out."""
        for name in sorted((self.variables.keys() | self.means.keys()) & set(net.names)):
            wanted = {*self.variables.get(name, ()), *self.means.get(name, ())}
            for variable, synapse in unfed(net, name).items():
                if variable in wanted:
                    warn(
                        f"Record: nothing feeds {variable!r} of {name!r}, which stays at its start "
                        f"value or decays from it: only {synapse} does. What another receptor "
                        "holds is recorded at its projection, or by its name in net.shared"
                    )
        for name in sorted(set(self.lfp) & net.populations.keys()):
            receptors = net.groups[net.population(name)[0]].receptors
            if any(isinstance(receptors[k], Direct) for k, _ in arriving(net, name)):
                warn(
                    f"Record: the LFP of {name!r} adds up the currents of receptors and leaves out "
                    "those inside the neuron, which jn.synapses.Direct feeds: record them by name"
                )

    def _check_neurons(self, net: Network, state: NetworkState) -> None:
        """Raises `ValueError` for chosen neurons of a name that means two kinds of neurons."""
        for name in self.neurons:
            variables, whole = self.variables[name], net.whole(state)
            whats = {v: variable_holder(net, whole, name, v).what for v in variables}
            if len(set(whats.values())) > 1:
                raise ValueError(
                    f"Record: neurons of {name!r} must be those of one model; the variables are of "
                    + ", ".join(f"{what} ({variable!r})" for variable, what in whats.items())
                    + ". Record all neurons, or one of the variables in a run of its own"
                )

    def shared(self, net: Network, state: NetworkState) -> dict[str, dict[str, str]]:
        """The receptors and releases whose variables are recorded by one of several senders."""
        out: dict[str, dict[str, str]] = {}
        for names in (self.variables, self.means):
            for name, variable in ((name, x) for name, some in names.items() for x in some):
                shared = shared_by(net, state, name, variable)
                if shared is not None:
                    out.setdefault(name, {})[variable] = shared.name
        return out

    def warn_of_shared(self, net: Network, state: NetworkState) -> None:
        """Warns of a variable of several senders that is recorded by the name of one."""
        for name, variables in self.shared(net, state).items():
            for variable in variables:
                warn_of_sum(net, state, name, variable)

    def check(self, net: Network, state: NetworkState) -> None:
        """Raises `ValueError` for a name, variable or neuron that the network does not have."""
        for names in (self.variables, self.means):
            for name, variables in names.items():
                what = "population, projection, stimulation or receptor to record"
                check_known(what, name, net.names)
                for variable in variables:
                    x = value_of(net, state, name, variable)
                    if names is self.variables:
                        self.chosen(name, x.shape[-1])
        for name in self.lfp:
            check_known("population to record the LFP of", name, net.populations)
        check_weights(net, self.weights, self.weight_histograms)

    def chosen(self, name: str, n: int) -> np.ndarray | None:
        """The numbers of the recorded neurons among all n, or None where all are recorded."""
        numbers: Chosen | None = self.neurons.get(name)
        return None if numbers is None else numbers.indices(f"Record: neurons of {name!r}", n)

    def sample_bytes(self, net: Network, state: NetworkState) -> int:
        """Bytes of the variables, weights and histograms in one sample."""
        total = weight_bytes(net, self.weights, self.weight_histograms)
        for name, variables in self.variables.items():
            for variable in variables:
                x = value_of(net, state, name, variable)
                index = self.chosen(name, x.shape[-1])
                total += x.dtype.itemsize * (x.shape[-1] if index is None else index.size)
        return total

    def sample(self, net: Network, state: NetworkState, output: Output) -> "Samples":
        """What is sampled at the end of a step."""
        traces, means = {}, {}
        for name, variables in self.variables.items():
            for variable in variables:
                x = value_of(net, state, name, variable)
                index = self.chosen(name, x.shape[-1])
                x = x if index is None else x[index.astype(np.int32)]
                traces.setdefault(name, {})[variable] = x
        for name, variables in self.means.items():
            for variable in variables:
                x = value_of(net, state, name, variable).astype(net.dtype)
                means.setdefault(name, {})[variable] = lattice_mean(x)
        lfp = {name: lfp_proxy(net, state, name) for name in self.lfp}
        value = None
        if self.function is not None:
            value = _called(self.function, net.whole(state), output)
        named = self.weights, self.weight_histograms
        weights, histograms = sample_weights(net, state, *named)
        return Samples(traces, means, lfp, value, weights, histograms)

    def counts(self, net: Network, output: Output) -> dict[str, jax.Array]:
        """Spikes per population in this step, if `rates` asks for them."""
        if not self.rates:
            return {}
        out = {}
        for name in net.order:
            group, span = net.population(name)
            spikes = output.spikes[name]
            if spikes.dtype == jnp.bool_:
                out[name] = count_bits(output.bits[group], span.start, span.stop)
            else:  # with a surrogate: bits would lose the gradient
                out[name] = jnp.sum(spikes, axis=-1, dtype=net.dtype)
        return out


class Samples(NamedTuple):
    """One sample of each thing that a record samples, or many along the first axis."""

    traces: dict[str, dict[str, Any]]
    means: dict[str, dict[str, Any]]
    lfp: dict[str, Any]
    function: Any
    weights: dict[str, Any]
    weight_histograms: dict[str, Any]


class _FrozenDict(dict):
    """A dictionary that can be a static argument; nothing changes it after it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


def _names(field: str, value: Any) -> dict[str, tuple[str, ...]]:
    by_name(field, value, "{'E': 'v'}")
    return {name: _texts(f"{field} of {name!r}", texts) for name, texts in value.items()}


def _texts(what: str, value: Any) -> tuple[str, ...]:
    if value is ... and what.startswith("variables"):
        return (...,)  # type: ignore[return-value]
    try:
        names = (value,) if isinstance(value, str) else tuple(value)
    except TypeError:  # nothing that has items
        names = (value,)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"Record: {what} must be names; got {value!r}")
    return names


def _called(function: Callable, state: NetworkState, output: Output) -> Any:
    try:
        value = function(state, output)
        leaves = jax.tree.leaves(value)
        for leaf in leaves:
            jnp.asarray(leaf)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise ValueError(
            "Record: function must return values of jax.numpy: it is traced, where no number is "
            "known, so that float(x), int(x), bool(x), `if x:` and NumPy cannot be used. Return x "
            f"itself, or use jnp.where ({type(error).__name__})"
        ) from error
    except Exception as error:  # a function of the user may raise anything
        raise ValueError(
            "Record: function must be a function of (state, output) that JAX can trace and that "
            f"returns arrays; it raised {type(error).__name__}: {error}"
        ) from error
    if not leaves:
        raise ValueError(
            "Record: function must return what is to be sampled, an array or several; it returned "
            f"{value!r} (is there a return?)"
        )
    return value
