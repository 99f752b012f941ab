"""What to record: a hashable value, part of the compiled program."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Num

from .. import spec
from .._html import page, table
from .._network.names import shared_by, warn_of_sum
from .._network.network import Network
from .._network.state import NetworkState, Output
from .._numerics.grid import steps_on_grid
from .._text import shown
from ..spec import InvalidValueError
from .chosen import Choice
from .recorded import RECORDERS
from .recorders import RECORDED, Moment, Own, OwnKind, Recorder, warn_of_unfed
from .spikes import count_bits
from .weight_recorders import Histogram


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
    next step. A named variable that receives no input gives a warning.

    The LFP proxy [pA] of a population is the sum over its receptors of the mean absolute current
    that they give, which is none for `Delta` and `Direct`. A population with `Direct` inputs to
    currents of its neurons gives a warning.

    A `function` is part of the compiled program, which finds it again by identity: define it once,
    outside of a loop. One that is written anew for each run compiles each time.

    `recorders` are your own recorders by name: hashable values, such as dataclasses with
    `frozen=True`. The method `sample(net, state, output)` returns arrays, which are in
    `result.samples[name]`. A method `check(net, state)` may refuse a network.

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
    recorders: Mapping[str, Any] = spec.field(
        spec.Entries(OwnKind()), default_factory=dict, doc="recorders of your own, by name"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.recorders.keys() & RECORDERS.keys():
            must = f"named otherwise than {', '.join(RECORDERS)}"
            raise InvalidValueError("Record", "recorders", must, repr(name))
        for name in self.neurons.keys() - self.variables.keys():
            must = f"of names with variables, variables={{{name!r}: ...}}"
            raise InvalidValueError("Record", "neurons", must, repr(name))
        if self.interval is not None and not self.has_samples:
            must = "None where nothing is sampled: spikes and counts are those of every step"
            raise InvalidValueError("Record", "interval", must, f"{self.interval:g} ms")

    def _repr_html_(self) -> str:
        """Return a table of the fields that record something, for notebooks."""
        rows = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "interval" and value:
                rows.append((field.metadata["doc"], "yes" if value is True else shown(value)))
        if self.has_samples:
            every = "every step" if self.interval is None else f"every {self.interval:g} ms"
            rows.append(("sampled", every))
        return page("Record", [table(("what", "which"), rows)])

    @property
    def all_recorders(self) -> dict[str, Recorder]:
        """The recorders of all keywords, by the name of their samples."""
        made = {
            "traces": (self.variables, self.neurons),
            "means": (self.means,),
            "lfp": (self.lfp,),
            "function": (self.function,),
            "weights": (self.weights,),
            "weight_histograms": (self.weight_histograms,),
        }
        named = {k: RECORDERS[k](*args) for k, args in made.items() if args[0]}  # type: ignore[call-arg]
        return named | {name: Own(name, x) for name, x in self.recorders.items()}

    @property
    def has_samples(self) -> bool:
        """Whether anything is sampled."""
        return bool(self.all_recorders)

    def steps_between(self, dt: float) -> int:
        """Time steps of `dt` [ms] from one sample to the next.

        Raises:
            InvalidValueError: for an interval between two steps.
        """
        if self.interval is None:
            return 1
        return int(steps_on_grid("Record: interval", self.interval, dt, at_least=1))

    def without_samples(self) -> "Record":
        """Return the same record for consecutive steps without a sample."""
        return Record(spikes=self.spikes, rates=self.rates, statistics=self.statistics)

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
            return self
        for name in self.variables:
            spec.check_known(RECORDED, name, net.names)
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
        return dataclasses.replace(self, variables=every)

    def warn_of_unfed(self, net: Network) -> None:
        """Warn of named variables without an input, and of an LFP that leaves currents out."""
        named = {k: {*self.variables.get(k, ()), *self.means.get(k, ())} for k in net.names}
        warn_of_unfed(net, {name: variables for name, variables in named.items() if variables})
        for recorder in self.all_recorders.values():
            recorder.warn(net)

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
        """Raise `ValueError` for a name, variable or neuron that the network does not have."""
        for recorder in self.all_recorders.values():
            recorder.check(net, state)
        self.check_statistics(net)

    def check_statistics(self, net: Network) -> None:
        """Raise `InvalidValueError` for a population that the network does not have."""
        for name in self.statistics:
            spec.check_known("population to record statistics of", name, net.populations)

    def columns(self, net: Network, state: NetworkState) -> dict[str, dict[str, Any]]:
        """Return the numbers of the columns of samples, by recorder and name; see `Recorder`."""
        return {k: x for k, r in self.all_recorders.items() if (x := r.columns(net, state))}

    def constants(self, net: Network) -> dict[str, dict[str, Any]]:
        """Return what all samples share, by recorder and name; see `Recorder`."""
        return {k: x for k, r in self.all_recorders.items() if (x := r.constants(net))}

    def sample(self, net: Network, state: NetworkState, output: Output) -> dict[str, Any]:
        """Return the samples at the end of a step, by recorder."""
        now = Moment(net, state, output)
        return {k: r.sample(now) for k, r in self.all_recorders.items()}

    def shapes(self, net: Network, state: NetworkState) -> dict[str, Any]:
        """Return the shapes and dtypes of the samples of one step."""
        return _sampled_now.eval_shape(self, net, state) if self.has_samples else {}

    def sample_bytes(self, net: Network, state: NetworkState) -> int:
        """Return the bytes of the samples of one step."""
        leaves = jax.tree.leaves(self.shapes(net, state))
        return sum(x.size * x.dtype.itemsize for x in leaves)

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


@functools.partial(jax.jit, static_argnums=0)
def _sampled_now(record: Record, net: Network, state: NetworkState) -> dict[str, Any]:
    """The samples of a state and of the step before it, whose output is still in the state.

    Compiled, so that it is traced once for all runs of one network.
    """
    bits = tuple(group.released.bits for group in state.groups)
    spikes = {}
    for name in net.order:
        group, span = net.population(name)
        released = state.groups[group].released
        steps = jax.tree.map(lambda x: x[None], released)
        spikes[name] = steps.dense_in_steps(net.groups[group].n)[0, span]
    record.check(net, state)
    return record.sample(net, state, Output(spikes, bits))
