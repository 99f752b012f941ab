"""Recorders: each takes one kind of sample.

A recorder is a hashable value, part of the compiled program. `Record` makes one of each keyword.
Scans, chunks, batches, results and files loop over the recorders by name.
"""

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import jaxpr_as_fun
from jaxtyping import Array, Float, Int64

from .. import spec
from .._frozen import trace
from .._network.names import arriving, reference_of_variable, unfed, value_of
from .._network.network import Network
from .._network.state import NetworkState, Output
from .._warn import warn
from ..spec import InvalidValueError
from ..synapses import Direct
from .chosen import Chosen

RECORDED = "population, projection, stimulation or receptor to record"


class Signal(NamedTuple):
    """Samples of one variable of a population or projection.

    Attributes:
        name: of the population or projection.
        what: `v`, `mean v`, `lfp`, `weights` or `weight histogram`.
        variable: `v`, `lfp` or `weight`, which decides the unit.
        samples: (samples, columns), or (samples,) of a whole population.
        of: the meaning of a column, "neuron" or "synapse"; "" without columns.
        numbers: the numbers of the neurons or synapses of the columns.
    """

    name: str
    what: str
    variable: str
    samples: Any
    of: str = ""
    numbers: Any = None

    @property
    def title(self) -> str:
        """A name of its own: `E mean v`."""
        return f"{self.name} {self.variable if self.of else self.what}"


class Moment:
    """The end of a step, at which recorders take their samples.

    Attributes:
        net, state, output: the network, its state, and the output of the step.
    """

    def __init__(self, net: Network, state: NetworkState, output: Output) -> None:
        self.net, self.state, self.output = net, state, output
        self._weights: dict[str, Any] = {}

    @property
    def whole(self) -> NetworkState:
        """The state on one device."""
        return self.net.whole(self.state)

    def weights(self, name: str) -> Float[Array, " synapses"]:
        """The weights of a plastic projection, for which its synapses are visited once."""
        if name not in self._weights:
            self._weights[name] = self.net.weights(self.state, name)
        return self._weights[name]


class Recorder(ABC):
    """A recorder takes one kind of sample.

    Attributes:
        kind: the owner of a sample in words, for errors; "" if samples have no owner.
        how: the arguments of `Record` for `{name}`, for errors.
        axes: the number of axes of the samples of a run.
        by_variable: whether a name has samples of several variables.
        what: the name of a signal, or what stands before its variable.
        variable: the variable, if a name has one alone.
        of: the meaning of a column, "neuron" or "synapse"; "" without columns.
    """

    kind: ClassVar[str] = ""
    how: ClassVar[str] = ""
    axes: ClassVar[int] = 1
    by_variable: ClassVar[bool] = False
    what: ClassVar[str] = ""
    variable: ClassVar[str] = ""
    of: ClassVar[str] = ""

    @abstractmethod
    def sample(self, now: Moment) -> Any:
        """Return the sample at the end of a step: arrays by name."""

    def check(self, net: Network, state: NetworkState) -> None:  # noqa: B027
        """Raise `InvalidValueError` for what the network does not have."""

    def warn(self, net: Network) -> None:  # noqa: B027
        """Warn of samples that can hardly be meant."""

    def columns(self, net: Network, state: NetworkState) -> dict[str, Int64[np.ndarray, " _"]]:
        """Return the numbers of the recorded neurons or synapses, of names that record some."""
        return {}

    def constants(self, net: Network) -> dict[str, Any]:
        """Return arrays by name that all samples of a run share."""
        return {}

    @classmethod
    def signals(cls, samples: Any, columns: Mapping[str, Any]) -> Iterator[Signal]:
        """Yield the samples of each name and variable; `columns` are those of this recorder."""
        for name, values in samples.items() if cls.kind else ():
            for variable, x in values.items() if cls.by_variable else ((cls.variable, values),):
                what = cls.what + variable if cls.by_variable else cls.what
                numbers = columns.get(name, np.arange(x.shape[-1])) if cls.of else None
                yield Signal(name, what, variable, x, cls.of, numbers)


@dataclasses.dataclass(frozen=True)
class Traces(Recorder):
    """State variables by name, of all neurons or of the chosen ones."""

    variables: Mapping[str, tuple[str, ...]]
    neurons: Mapping[str, Chosen]

    kind = "recorded population or projection"
    how = "variables={{{name!r}: ...}}"
    axes, by_variable, of = 2, True, "neuron"

    def check(self, net: Network, state: NetworkState) -> None:
        for name, _, x in _values(net, state, self.variables):
            self._chosen(name, x.shape[-1])
        for name in self.neurons:
            whole, whats = net.whole(state), {}
            for variable in self.variables[name]:
                whats[variable] = reference_of_variable(net, whole, name, variable).what
            if len(set(whats.values())) > 1:
                got = ", ".join(f"{variable!r} of {what}" for variable, what in whats.items())
                hint = ". Record all neurons, or one of the variables in a run of its own"
                must = "those of one model"
                raise InvalidValueError("Record", f"neurons of {name!r}", must, got, hint)

    def columns(self, net: Network, state: NetworkState) -> dict[str, Int64[np.ndarray, " _"]]:
        out = {}
        for name, chosen in self.neurons.items():
            first = {name: self.variables[name][:1]}
            size = jax.eval_shape(lambda n, s: next(_values(n, s, first))[2], net, state)  # noqa: B023
            out[name] = chosen.indices(f"neurons of {name!r}", size.shape[-1])
        return out

    def sample(self, now: Moment) -> Any:
        out: dict[str, dict[str, Any]] = {}
        for name, variable, x in _values(now.net, now.state, self.variables):
            index = self._chosen(name, x.shape[-1])
            x = x if index is None else x[index.astype(np.int32)]
            out.setdefault(name, {})[variable] = x
        return out

    def _chosen(self, name: str, n: int) -> Int64[np.ndarray, " chosen"] | None:
        """The recorded neurons among all n; None for all."""
        chosen = self.neurons.get(name)
        return None if chosen is None else chosen.indices(f"neurons of {name!r}", n)


@dataclasses.dataclass(frozen=True)
class Means(Recorder):
    """Means of state variables over populations."""

    variables: Mapping[str, tuple[str, ...]]

    kind = "population or projection with recorded means"
    how = "means={{{name!r}: 'v'}}"
    by_variable, what = True, "mean "

    def check(self, net: Network, state: NetworkState) -> None:
        for _ in _values(net, state, self.variables):
            pass

    def sample(self, now: Moment) -> Any:
        out: dict[str, dict[str, Any]] = {}
        for name, variable, x in _values(now.net, now.state, self.variables):
            out.setdefault(name, {})[variable] = lattice_mean(x.astype(now.net.dtype))
        return out


@dataclasses.dataclass(frozen=True)
class LFP(Recorder):
    """The LFP proxy of populations."""

    names: tuple[str, ...]

    kind = "population with a recorded LFP"
    how = "lfp=({name!r},)"
    what = variable = "lfp"

    def check(self, net: Network, state: NetworkState) -> None:
        for name in self.names:
            spec.check_known("population to record the LFP of", name, net.populations)

    def warn(self, net: Network) -> None:
        for name in sorted(set(self.names) & net.populations.keys()):
            receptors = net.groups[net.population(name)[0]].receptors
            reached = {k for k, _ in arriving(net, name) if k is not None}
            if any(isinstance(receptors[k], Direct) for k in reached):
                warn(
                    f"Record: the LFP of {name!r} adds up the currents of receptors and leaves out "
                    "those inside the neuron, which jn.synapses.Direct feeds: record them by name"
                )

    def sample(self, now: Moment) -> Any:
        return {name: lfp_proxy(now.net, now.state, name) for name in self.names}


@dataclasses.dataclass(frozen=True)
class Function(Recorder):
    """A function of a user."""

    function: Callable

    def sample(self, now: Moment) -> Any:
        return _called("function", "(state, output)", self.function, now.whole, now.output)


@dataclasses.dataclass(frozen=True)
class Own(Recorder):
    """A recorder of a user, and its name."""

    name: str
    recorder: Any

    def check(self, net: Network, state: NetworkState) -> None:
        if hasattr(self.recorder, "check"):
            self.recorder.check(net, state)

    def sample(self, now: Moment) -> Any:
        field, takes = f"recorders[{self.name!r}]", "(net, state, output)"
        return _called(field, takes, self.recorder.sample, now.net, now.whole, now.output)


def _called(field: str, takes: str, function: Callable, *arguments: Any) -> Any:
    """Return the arrays that a function of a user returns; it is traced, once."""
    call = functools.partial(_arrays, field, takes, function)
    closed, shapes = trace("Record", field, call, *arguments)
    leaves = jaxpr_as_fun(closed)(*jax.tree.leaves(arguments))
    return jax.tree.unflatten(jax.tree.structure(shapes), leaves)


def _arrays(field: str, takes: str, function: Callable, *arguments: Any) -> Any:
    """Call a function of a user; raise for what cannot be traced or returns nothing."""
    try:
        value = function(*arguments)
        leaves = jax.tree.leaves(value)
        for leaf in leaves:
            jnp.asarray(leaf)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        must = (
            "one that uses jax.numpy: it is traced, where no number is known, so that float(x), "
            "int(x), bool(x), `if x:` and NumPy cannot be used (return x itself, or use jnp.where)"
        )
        raise InvalidValueError("Record", field, must, type(error).__name__) from error
    except Exception as error:  # a function of the user may raise anything
        must = f"a function of {takes} that JAX can trace and that returns arrays"
        got = f"{type(error).__name__}: {error}"
        raise InvalidValueError("Record", field, must, got) from error
    if not leaves:
        must = "one that returns what is to be sampled, an array or several"
        raise InvalidValueError("Record", field, must, repr(value), " (is there a return?)")
    return value


@dataclasses.dataclass(frozen=True)
class OwnKind(spec.Kind):
    """A recorder of a user: a hashable value with a method `sample(net, state, output)`."""

    def convert(self, value: Any) -> Any:
        if not callable(getattr(value, "sample", None)):
            raise spec.Unfit("a value with a method sample(net, state, output)")
        if isinstance(value, type):
            raise spec.Unfit("a recorder and not a class: call it")
        try:
            hash(value)
        except TypeError:
            raise spec.Unfit("hashable, such as a dataclass with frozen=True") from None
        # Programs and saved runs know a recorder by its values.
        if type(value).__hash__ is object.__hash__ and getattr(value, "__dict__", None):
            raise spec.Unfit("a dataclass with frozen=True, since it has attributes")
        return value


# --- Values of variables.


def _values(
    net: Network, state: NetworkState, variables: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str, Any]]:
    """Names, variables and their values; raises for what the network does not have."""
    for name, some in variables.items():
        spec.check_known(RECORDED, name, net.names)
        for variable in some:
            yield name, variable, value_of(net, state, name, variable)


def warn_of_unfed(net: Network, variables: Mapping[str, Collection[str]]) -> None:
    """Warn of variables that are recorded by name and receive no input."""
    for name in sorted(variables.keys() & set(net.names)):
        for variable, synapse in unfed(net, name).items():
            if variable in variables[name]:
                warn(
                    f"Record: nothing feeds {variable!r} of {name!r}, which stays at its start "
                    f"value or decays from it: only {synapse} does. What another receptor "
                    "holds is recorded at its projection, or by its name in net.shared"
                )


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
