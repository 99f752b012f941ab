"""What to record: a hashable value, part of the compiled program."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int64, Num

from .. import spec
from .._frozen import refuse_frozen
from .._network.names import (
    arriving,
    reference_of_variable,
    shared_by,
    unfed,
    value_of,
    warn_of_sum,
)
from .._network.network import Network
from .._network.state import NetworkState, Output
from .._numerics.grid import steps_on_grid
from .._warn import warn
from ..spec import InvalidValueError
from ..synapses import Direct
from .chosen import (
    Choice,
    Chosen,
    Histogram,
    check_weights,
    sample_weights,
    weight_bytes,
)
from .result import html_of_record
from .spikes import count_bits

# --- Signals of whole populations: the mean of a variable, and the LFP proxy.


@jax.custom_jvp
def lattice_mean(x: Float[Array, " n"]) -> Float[Array, ""]:
    """Mean of `(n,)`, of which no bit depends on the order of the sum; NaN of no numbers.

    Every number is rounded to whole multiples of a power of two far below the largest of
    them, and whole numbers add up exactly: the mean is the same on any number of threads and
    devices and in any batch, and its error does not grow with n.
    """
    if x.size == 0:
        return jnp.full((), jnp.nan, x.dtype)
    # The order of floats that are not negative is that of their bits, which vectorises.
    words = lax.bitcast_convert_type(jnp.abs(x), jnp.dtype(f"int{8 * x.dtype.itemsize}"))
    largest = lax.bitcast_convert_type(jnp.max(words), x.dtype)
    exponent = jnp.frexp(largest)[1]
    # Products only with powers of two and one reciprocal: quotients and FMAs change no bit.
    # Two powers, because the inverse of the largest exponent is not a normal number.
    one, half = jnp.ones((), x.dtype), exponent // 2
    rest = x * jnp.ldexp(one, -half) * jnp.ldexp(one, half - exponent)
    bits = 30 - math.ceil(math.log2(x.size))  # the sum of n numbers of so many bits fits int32
    unit, total = 1.0, jnp.zeros((), x.dtype)
    for _ in range(-(-(jnp.finfo(x.dtype).nmant + 2) // bits)):
        unit *= 2.0**-bits
        whole = jnp.round(rest * (1.0 / unit))
        rest = rest - whole * unit
        total += jnp.sum(whole.astype(jnp.int32), dtype=jnp.int32).astype(x.dtype) * unit
    mean = jnp.ldexp(total * (1.0 / x.size), exponent)
    return jnp.where(jnp.isfinite(largest), mean, jnp.nan)


@lattice_mean.defjvp
def _lattice_mean_jvp(primals: Any, tangents: Any) -> Any:
    return lattice_mean(*primals), jnp.mean(*tangents)


def lfp_proxy(net: Network, state: NetworkState, name: str) -> Float[Array, ""]:
    """The sum over receptors of the population's mean absolute synaptic current [pA], ()."""
    number, span = net.population(name)
    state = net.whole(state)
    group, mine = net.groups[number].expand(), state.groups[number]
    neurons = mine.neurons
    v, nothing = group.model.voltage(neurons), jnp.zeros(group.n, net.dtype)
    v = nothing if v is None else v
    total = jnp.zeros((), net.dtype)
    for receptor, synapses in zip(group.receptors, mine.receptors):
        arrivals = jnp.stack([nothing] * len(receptor.ports)) if receptor.ports else nothing
        drive = receptor.step(synapses, arrivals, v, net.dt)[1]
        current = jnp.broadcast_to(drive.current_at(v), nothing.shape)
        total += lattice_mean(jnp.abs(current[span]))
    return total


# --- What to record: a hashable value, part of the compiled program.


_RECORDED = "population, projection, stimulation or receptor to record"


@dataclasses.dataclass(frozen=True)
class RecordedNames(spec.Kind):
    """A name or several, kept as a tuple; with `every`, `...` stands for all there are."""

    every: bool = False

    def convert(self, value: Any) -> tuple:
        if value is ... and self.every:
            return (...,)
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, list | tuple | set) or not all(
            isinstance(x, str) or (x is ... and self.every) for x in names
        ):
            raise spec.Unfit("a name or several names")
        return tuple(names)


class Record(spec.Value, eq=True):
    """What a run records.

    Variables are named by population (`{"E": "v"}`), projection (those of its receptor or release:
    `{"E->E": "g"}`), stimulation, or by the name of a receptor or release that several share
    (`net.shared`); `...` stands for all that are numbers (`{"E": ...}`). `neurons` chooses some of
    the neurons of these names, by numbers, a slice, a range or a mask of booleans. Samples are
    taken at the ends of steps, each `interval` from the one before. `rates` are floats with a
    gradient where the neurons have a surrogate. `means` are like `variables`, averaged over the
    population. `statistics` are running sums of the spikes of each neuron (`SpikeSums`): rates and
    CVs of a run whose spikes are not kept, a few numbers per neuron however long it is.

    A sampled v at a spike is the value before the reset; currents are those at the start of the
    next step. A variable that is named and that nothing feeds is warned of.

    The LFP proxy [pA] of a population is the sum over its receptors of the mean absolute current
    that they give, which is none for `Delta` and `Direct`; where `Direct` feeds currents that are
    in the neuron, it is warned of.

    A `function` is part of the compiled program, which finds it again by identity: define it once,
    outside of a loop. One that is written anew for each run compiles each time.

    Of plastic projections: `weights` chooses which of `net.weights` are sampled, `{"E->E": ...}`
    for all, or numbers, a slice or a mask, in the order of `net.connections(name)`;
    `weight_histograms` counts how many weights are in each of so many equal bins, `{"E->E": 50}`
    between the limits of the rule or `(50, low, high)`; a bin includes its lower edge, and what is
    outside counts in the outermost. A sample visits a copy of all synapses of the projection, which
    costs about as much as a spike of each source neuron: choose `interval` with it.

    Raises:
        InvalidValueError: for neurons without variables; from `scan` and `simulate`, for an unknown
            population, variable or neuron, a mask of another length, a `function` that raises,
            draws numbers once for all or returns nothing, weights of a projection that is not
            plastic, or a histogram without low and high where the rule has no limits.

    Reference:
        LFP proxy: Mazzoni et al. (2015), Computing the local field potential (LFP) from
        integrate-and-fire network models, doi:10.1371/journal.pcbi.1004584. Here the currents are
        averaged over the neurons, not added up, so that networks of other sizes compare.
    """

    spikes: bool = spec.field(spec.Flag(), default=True, doc="every spike, as bits")
    variables: Mapping[str, Any] = spec.field(
        spec.Entries(RecordedNames(every=True)),
        default_factory=dict,
        doc="state variables, by name",
    )
    neurons: Mapping[str, Any] = spec.field(
        spec.Entries(Choice()), default_factory=dict, doc="which neurons, by name (default: all)"
    )
    interval: float | None = spec.field(
        spec.Maybe(spec.Number("ms", above=0.0)),
        default=None,
        doc="time between two samples, a multiple of dt (default: every step)",
    )
    rates: bool = spec.field(spec.Flag(), default=False, doc="spikes per population in every step")
    function: Callable[[NetworkState, Output], Any] | None = spec.field(
        spec.Maybe(spec.Function()),
        default=None,
        doc="a function of (state, output) that is sampled",
    )
    means: Mapping[str, str | Sequence[str]] = spec.field(
        spec.Entries(RecordedNames()), default_factory=dict, doc="variables whose mean is sampled"
    )
    lfp: str | Sequence[str] = spec.field(
        RecordedNames(), default=(), doc="populations whose LFP is sampled"
    )
    statistics: Any = spec.field(
        RecordedNames(every=True), default=(), doc="populations with running sums of spikes"
    )
    weights: Mapping[str, Any] = spec.field(
        spec.Entries(Choice("synapse")), default_factory=dict, doc="which weights are sampled"
    )
    weight_histograms: Mapping[str, Any] = spec.field(
        spec.Entries(Histogram()), default_factory=dict, doc="bins of histograms of weights"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.neurons.keys() - self.variables.keys():
            must = f"of names with variables, variables={{{name!r}: ...}}"
            raise InvalidValueError("Record", "neurons", must, repr(name))
        if self.interval is not None and not self.samples:
            must = "None where nothing is sampled: spikes and counts are those of every step"
            raise InvalidValueError("Record", "interval", must, f"{self.interval:g} ms")

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_record(self)

    @property
    def samples(self) -> bool:
        """Whether anything is sampled."""
        weights = self.weights or self.weight_histograms
        named = self.variables or self.means or self.lfp or weights
        return bool(named) or self.function is not None

    def steps_between(self, dt: float) -> int:
        """Time steps of `dt` [ms] from one sample to the next.

        Raises:
            InvalidValueError: for an interval between two steps.
        """
        if self.interval is None:
            return 1
        return int(steps_on_grid("Record: interval", self.interval, dt, at_least=1))

    def without_samples(self) -> "Record":
        """The same record for consecutive steps without a sample."""
        nothing = {"variables": {}, "neurons": {}, "means": {}, "lfp": (), "function": None}
        return dataclasses.replace(self, **nothing, weights={}, weight_histograms={}, interval=None)

    def in_chunks(self) -> "Record":
        """The same record for the chunks of a run, whose sums the host makes of their spikes.

        That costs as much as there are spikes; inside the loop every neuron costs in every step.
        """
        return dataclasses.replace(self, spikes=True, statistics=()) if self.statistics else self

    def named(self, net: Network, state: NetworkState) -> "Record":
        """The same record with every name and variable, also where `...` asks for all."""
        if ... in tuple(self.statistics):
            record = dataclasses.replace(self, statistics=net.order)
            return record.named(net, state)
        if not any(... in names for names in self.variables.values()):
            self._check_neurons(net, state)
            return self
        known = net.names
        for name in self.variables:
            spec.check_known(_RECORDED, name, known)
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
            reached = {k for k, _ in arriving(net, name) if k is not None}
            if any(isinstance(receptors[k], Direct) for k in reached):
                warn(
                    f"Record: the LFP of {name!r} adds up the currents of receptors and leaves out "
                    "those inside the neuron, which jn.synapses.Direct feeds: record them by name"
                )

    def _check_neurons(self, net: Network, state: NetworkState) -> None:
        """Raises `ValueError` for chosen neurons of a name that means two kinds of neurons."""
        for name in self.neurons:
            variables, whole = self.variables[name], net.whole(state)
            whats = {v: reference_of_variable(net, whole, name, v).what for v in variables}
            if len(set(whats.values())) > 1:
                got = ", ".join(f"{variable!r} of {what}" for variable, what in whats.items())
                hint = ". Record all neurons, or one of the variables in a run of its own"
                must = "those of one model"
                raise InvalidValueError("Record", f"neurons of {name!r}", must, got, hint)

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
                spec.check_known(_RECORDED, name, net.names)
                for variable in variables:
                    x = value_of(net, state, name, variable)
                    if names is self.variables:
                        self.chosen(name, x.shape[-1])
        for name in self.lfp:
            spec.check_known("population to record the LFP of", name, net.populations)
        self.check_statistics(net)
        check_weights(net, self.weights, self.weight_histograms)

    def check_statistics(self, net: Network) -> None:
        """Raises `InvalidValueError` for a population that the network does not have."""
        for name in self.statistics:
            spec.check_known("population to record statistics of", name, net.populations)

    def chosen(self, name: str, n: int) -> Int64[np.ndarray, " chosen"] | None:
        """The numbers of the recorded neurons among all n, or None where all are recorded."""
        numbers: Chosen | None = self.neurons.get(name)
        return None if numbers is None else numbers.indices(f"neurons of {name!r}", n)

    def sample_bytes(self, net: Network, state: NetworkState) -> int:
        """Bytes in one sample: of variables, weights, histograms, and what the function gives."""
        total = weight_bytes(net, self.weights, self.weight_histograms)
        for name, variables in self.variables.items():
            for variable in variables:
                x = value_of(net, state, name, variable)
                index = self.chosen(name, x.shape[-1])
                total += x.dtype.itemsize * (x.shape[-1] if index is None else index.size)
        if self.function is not None:
            sample = _function_now.eval_shape(self.function, net, state)
            total += sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(sample))
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
            given = net.whole(state), output
            value = _called(self.function, *given)
            refuse_frozen("Record", "function", self.function, given)
        named = self.weights, self.weight_histograms
        weights, histograms = sample_weights(net, state, *named)
        return Samples(traces, means, lfp, value, weights, histograms)

    def counts(self, net: Network, output: Output) -> dict[str, Num[Array, "*steps"]]:
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


@functools.partial(jax.jit, static_argnums=0)
def _function_now(function: Callable, net: Network, state: NetworkState) -> Any:
    """The function of a state and of the step before it, whose output is still in the state.

    Compiled, so that it is traced once for all runs of one network.
    """
    bits = tuple(group.released.bits for group in state.groups)
    spikes = {}
    for name in net.order:
        group, span = net.population(name)
        released = state.groups[group].released
        steps = jax.tree.map(lambda x: x[None], released)
        spikes[name] = steps.dense_in_steps(net.groups[group].n)[0, span]
    return _called(function, net.whole(state), Output(spikes, bits))


def _called(function: Callable, state: NetworkState, output: Output) -> Any:
    try:
        value = function(state, output)
        leaves = jax.tree.leaves(value)
        for leaf in leaves:
            jnp.asarray(leaf)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        must = (
            "one that uses jax.numpy: it is traced, where no number is known, so that float(x), "
            "int(x), bool(x), `if x:` and NumPy cannot be used (return x itself, or use jnp.where)"
        )
        raise InvalidValueError("Record", "function", must, type(error).__name__) from error
    except Exception as error:  # a function of the user may raise anything
        must = "a function of (state, output) that JAX can trace and that returns arrays"
        raise InvalidValueError(
            "Record", "function", must, f"{type(error).__name__}: {error}"
        ) from error
    if not leaves:
        must = "one that returns what is to be sampled, an array or several"
        raise InvalidValueError("Record", "function", must, repr(value), " (is there a return?)")
    return value
