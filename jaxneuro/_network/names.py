"""From a name to models, states and neurons: what is read, set, recorded, modulated and checked.

A *model reference* is a model of the network that a name reaches, with its state and its neurons: a
population has its neuron model; a projection its receptor, its release and its rule of plasticity;
a stimulation its stimulus and, if it sends spikes, the receptor that they reach; a coupling its
receptor and its release; a modulator its kinetics.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float, Shaped

from .._arrays import AnyArray
from .._model import NamedNumbers, state_variables
from .._text import listed
from .._warn import warn
from ..spec import InvalidValueError, unknown
from ..synapses import Direct
from .group import input_rows
from .layout import MeshLayout
from .members import inside
from .state import NetworkState, state_of

if TYPE_CHECKING:
    from .network import Network


class NoSuchNameError(KeyError, ValueError):
    """There is nothing of that name; a `KeyError` and a `ValueError`."""

    def __str__(self) -> str:
        return str(self.args[0])


def register_dictionary(kind: type, about: Callable[[Any], tuple] = lambda _: ()) -> None:
    """Lets JAX map over a class as over any dictionary; `about` is what it is made of beside it."""

    def apart(x: Any) -> tuple[Iterable, tuple]:
        names = tuple(sorted(x))
        return tuple((jax.tree_util.DictKey(k), x[k]) for k in names), (names, about(x))

    made = lambda of, values: kind(zip(of[0], values), *of[1])  # noqa: E731
    jax.tree_util.register_pytree_with_keys(kind, apart, made)


class ByName(dict):
    """A dictionary by the names of populations; the error for another name lists them."""

    def __missing__(self, name: Any) -> Any:
        raise NoSuchNameError(str(unknown("population", name, self)))

    def __reduce__(self) -> tuple:
        return ByName, (dict(self),)


register_dictionary(ByName)


class Shared(NamedTuple):
    """A receptor or a release with a name of its own.

    Attributes:
        name: its name.
        kind: "receptor" or "release".
        senders: names of the projections, stimulations and couplings that use it, in alphabetical
            order.
    """

    name: str
    kind: str
    senders: tuple[str, ...]


class ModelReference(NamedTuple):
    """A model of a network that a name refers to.

    Attributes:
        kind: population, stimulation, receptor, release, plasticity or modulator.
        names: its own name, or those of the projections and stimulations that use it, for messages.
        population: at whose neurons it acts.
        path: attributes and numbers that lead to its model in a network.
        state: takes its state from that of a network.
        sizes: of the members of the merged model.
        member: the number of the selected one.
        neurons: those of that member in the arrays of the state.
        shared: its own name and senders, if it was found by one of several senders.
    """

    kind: str
    names: tuple[str, ...]
    population: str
    path: tuple[Any, ...]
    state: Callable[[NetworkState], Any]
    sizes: tuple[int, ...]
    member: int
    neurons: slice
    shared: Shared | None = None

    def model(self, net: "Network") -> Any:
        """Its model in a network."""
        return inside(net, self.path)

    @property
    def what(self) -> str:
        """What it is, for messages."""
        more = ", ..." if len(self.names) > 2 else ""
        names = ", ".join(map(repr, self.names[:2])) + more
        own = self.kind in ("population", "stimulation", "modulator")
        return f"{self.kind} {names}" if own else f"the {self.kind} of {names}"

    def check_own(self, label: str, what: str) -> None:
        """Raises `InvalidValueError` for what several share, by the name of one of them."""
        if self.shared is not None:
            name, kind, senders = self.shared
            must = f"set for all by its name, {name!r} (or {kind}_name= given to part them)"
            got = f"one of the {kind} that {listed(senders)} share"
            raise InvalidValueError(label, what, must, got)

    def at_population(self) -> str:
        """What it is, with its population, for messages."""
        if self.kind in ("population", "modulator"):
            return self.what
        return f"{self.what} of population {self.population!r}"

    def variables(self, state: NetworkState) -> dict[str, Shaped[AnyArray, " _"]]:
        """The variables of the state that have an entry per neuron."""
        mine = self.state(state)
        arrays = {name: getattr(mine, name) for name in state_variables(mine)}
        return {name: x for name, x in arrays.items() if getattr(x, "ndim", 0) == 1}

    def numbers(self, state: NetworkState) -> Iterator[tuple[str, Float[AnyArray, " _"]]]:
        """The variables that are numbers, and those of this member."""
        for name, x in self.variables(state).items():
            if jnp.issubdtype(x.dtype, jnp.floating):
                yield name, span_of(x, self.neurons)


def span_of(x: Shaped[AnyArray, " n"], neurons: slice) -> Shaped[AnyArray, " selected"]:
    """The values of some neurons; the array itself if those are all."""
    return x if neurons == slice(0, x.shape[-1]) else x[neurons]


class Named(NamedTuple):
    """What a name refers to.

    Attributes:
        label: what it is, for messages: "projection 'E->I'".
        references: the models.
    """

    label: str
    references: tuple[ModelReference, ...]

    def only(
        self,
        kind: str,
        wanted: str,
        known: Sequence[Iterable[str]],
        also: Iterable[str] = (),
    ) -> int:
        """The number of the one reference that has `wanted`.

        Args:
            kind: what is wanted, for messages.
            wanted: its name.
            known: what each of the references has.
            also: further names that an error lists.

        Raises:
            InvalidValueError: if none has it, or two have.
        """
        found = [k for k, names in enumerate(known) if wanted in names]
        if not found:
            every = dict.fromkeys(name for names in known for name in names)
            raise unknown(f"{kind} of {self.label}", wanted, [*every, *also])
        if len(found) > 1:
            whats = " and ".join(self.references[k].what for k in found)
            must, got = "that of one model", f"two: {whats} both have one"
            raise InvalidValueError(self.label, wanted, must, got)
        return found[0]


def named(net: "Network", name: str) -> Named:
    """What a name refers to.

    Raises:
        InvalidValueError: for a name that there is not.
    """
    for model in net.shared:
        if name == model.name:
            found = _by_part(net, model.senders[0]).references
            (reference,) = (h for h in found if h.kind == model.kind)
            return Named(f"{model.kind} {name!r}", (reference._replace(names=(name,)),))
    label, references = _by_part(net, name)
    several = {s.kind: s for s in net.shared if name in s.senders and len(s.senders) > 1}
    return Named(label, tuple(h._replace(shared=several.get(h.kind)) for h in references))


def _by_part(net: "Network", name: str) -> Named:
    """What the name of a part of the description refers to."""
    for number, group in enumerate(net.groups):
        if name in group.populations:
            reference = _population(net, number, group.populations.index(name))
            return Named(f"population {name!r}", (reference,))
        for layer, stimulus in enumerate(group.stimuli):
            if name in stimulus.names:
                references = _stimulation(net, number, layer, stimulus.names.index(name))
                return Named(f"stimulation {name!r}", references)
    for number, pathway in enumerate(net.pathways):
        if name in pathway.projections:
            references = _projection(net, number, pathway.projections.index(name))
            return Named(f"projection {name!r}", references)
    for number, layer in enumerate(net.couplings):
        if name == layer.name:
            return Named(f"coupling {name!r}", _coupling(net, number))
    for number, modulator in enumerate(net.modulators):
        if name == modulator.name:
            return Named(f"modulator {name!r}", (_modulator(name, number),))
    what = "population, projection, stimulation, coupling, modulator, shared receptor or release"
    raise unknown(what, name, net.names)


def projection(net: "Network", name: str) -> tuple[int, int]:
    """The number of a projection's pathway and its number there, or `InvalidValueError`."""
    for number, pathway in enumerate(net.pathways):
        if name in pathway.projections:
            return number, pathway.projections.index(name)
    raise unknown("projection", name, net.projections)


def stimulation(net: "Network", name: str) -> tuple[int, int, int] | None:
    """Group, layer and number there of a stimulation; None if the name is not one."""
    for number, group in enumerate(net.groups):
        for layer, stimulus in enumerate(group.stimuli):
            if name in stimulus.names:
                return number, layer, stimulus.names.index(name)
    return None


def reference_of_variable(
    net: "Network", state: NetworkState, name: str, variable: str
) -> ModelReference:
    """What holds a state variable of a name; raises `InvalidValueError` if nothing or two do."""
    found = named(net, name)
    known = [reference.variables(state) for reference in found.references]
    for reference in found.references:
        shape = shape_of(reference.state(state), variable)
        if shape is not None and not any(variable in names for names in known):
            must = "an array (n,), one number per neuron (or read by jn.Record(function=...))"
            raise InvalidValueError(found.label, variable, must, f"shape {shape}")
    return found.references[found.only("state variable", variable, known)]


def shape_of(state: Any, variable: Any) -> tuple[int, ...] | None:
    """The shape of an array of a model's state; None if it has no such array."""
    known = isinstance(variable, str) and variable in state_variables(state)
    return getattr(getattr(state, variable), "shape", None) if known else None


def references_at(net: "Network", population: str) -> tuple[ModelReference, ...]:
    """Everything that holds a state at the neurons of a population: each model once."""
    found: dict[tuple, ModelReference] = {}
    names = (population, *net.projections, *net.stimulations, *net.coupled)
    for reference in (reference for name in names for reference in named(net, name).references):
        if reference.population == population:
            key = id(reference.model(net)), reference.neurons.start, reference.neurons.stop
            earlier = found.get(key)
            if earlier is not None:
                reference = reference._replace(names=earlier.names + reference.names)
            found[key] = reference
    return tuple(found.values())


def _population(net: "Network", number: int, index: int) -> ModelReference:
    group = net.groups[number]
    name = group.populations[index]
    return ModelReference(
        "population",
        (name,),
        name,
        ("groups", number, "model"),
        lambda s: s.groups[number].neurons,
        group.sizes,
        index,
        group.span(index),
    )


def _receptor(net: "Network", name: str, number: int, receptor: int, index: int) -> ModelReference:
    group = net.groups[number]
    return ModelReference(
        "receptor",
        (name,),
        group.populations[index],
        ("groups", number, "receptors", receptor),
        lambda s: s.groups[number].receptors[receptor],
        group.sizes,
        index,
        group.span(index),
    )


def _projection(net: "Network", number: int, index: int) -> tuple[ModelReference, ...]:
    pathway = net.pathways[number]
    mine = pathway.members[index]
    target = net.groups[pathway.target].populations.index(mine.target)
    receptor = _receptor(net, mine.name, pathway.target, mine.receptor, target)
    sources = net.groups[pathway.source]
    source = sources.populations.index(mine.source)
    release = ModelReference(
        "release",
        (mine.name,),
        mine.source,
        ("pathways", number, "release"),
        lambda s: s.pathways[number].release,
        sources.sizes,
        source,
        sources.span(source),
    )
    if pathway.plastic is None:
        return receptor, release
    plastic = ModelReference(
        "plasticity",
        (mine.name,),
        mine.target,
        ("pathways", number, "plastic", "rule"),
        lambda s: NamedNumbers(s.pathways[number].plastic.targets),
        (pathway.plastic.n_targets,),
        0,
        slice(0, pathway.plastic.n_targets),
    )
    return receptor, release, plastic


def _coupling(net: "Network", number: int) -> tuple[ModelReference, ...]:
    layer = net.couplings[number]
    if layer.release is None:
        return ()
    assert layer.receptor is not None
    target = layer.sides[0].target
    index = net.groups[target].populations.index(layer.target)
    n = net.populations[layer.source]
    release = ModelReference(
        "release",
        (layer.name,),
        layer.source,
        ("couplings", number, "release"),
        lambda s: s.couplings[number].release,
        (n,),
        0,
        slice(0, n),
    )
    return _receptor(net, layer.name, target, layer.receptor, index), release


def _modulator(name: str, number: int) -> ModelReference:
    where = ("modulators", number, "model")
    state = lambda s: s.modulators[number]  # noqa: E731
    return ModelReference("modulator", (name,), name, where, state, (1,), 0, slice(0, 1))


def _stimulation(net: "Network", number: int, layer: int, index: int) -> tuple[ModelReference, ...]:
    group = net.groups[number]
    stimulus = group.stimuli[layer]
    target = stimulus.targets[index]
    own = ModelReference(
        "stimulation",
        (target.name,),
        group.populations[target.population],
        ("groups", number, "stimuli", layer, "model"),
        lambda s: s.groups[number].stimuli[layer],
        stimulus.sizes,
        index,
        stimulus.neurons(index),
    )
    if stimulus.receptor is None:
        return (own,)
    return own, _receptor(net, target.name, number, stimulus.receptor, target.population)


def arriving(net: "Network", population: str) -> set[tuple[int | None, int | None]]:
    """Receptor and row of arrivals of all that is sent to a population."""
    number = net.population(population)[0]
    group = net.groups[number]
    sent = [x for p in net.pathways if p.target == number for x in p.members]
    sent += [c for c in net.couplings if c.release is not None]
    found = {(x.receptor, x.input) for x in sent if x.target == population}
    return found | {
        (s.receptor, s.input)
        for s in group.stimuli
        if s.receptor is not None
        and any(group.populations[t.population] == population for t in s.targets)
    }


def unfed(net: "Network", name: str) -> dict[str, str]:
    """The variables of a name that only a port fills to which nothing leads: what would feed it."""
    out: dict[str, str] = {}
    for reference in named(net, name).references:
        fills = getattr(reference.model(net), "port_fills", {})
        fed = _fed_ports(net, reference) if fills else ()
        for port in (port for port in fills if port not in fed):
            synapse = f"jn.synapses.Direct({port!r})"
            if reference.kind == "receptor":
                synapse = f"jn.synapses.Into({type(reference.model(net)).__name__}(...), {port!r})"
            out |= dict.fromkeys(fills[port], synapse)
    return out


def _fed_ports(net: "Network", reference: ModelReference) -> set[str]:
    """The ports of a neuron or of a receptor, at one population, to which something leads."""
    receptors, fed = (getattr(net.groups[reference.path[1]], k) for k in ("receptors", "fed"))
    sent = arriving(net, reference.population)
    if reference.kind == "population":
        return {receptors[k].port for k, _ in sent if isinstance(receptors[k], Direct)}
    mine: Any = reference.path[3]
    first = input_rows(receptors, fed)[mine].start
    return {receptors[mine].ports[row - first] for k, row in sent if k == mine}


def value_of(net: "Network", state: Any, name: str, variable: str) -> Shaped[AnyArray, " n"]:
    """A state variable of a name, see `Network.read`."""
    state = state_of(net, state)
    if isinstance(net.layout, MeshLayout):
        return _read_laid(net, state, name, variable)
    return _read(net, state, name, variable)


def shared_by(net: "Network", state: NetworkState, name: str, variable: str) -> Shared | None:
    """Whose a variable is that one of several senders of a receptor or a release was asked for."""
    for reference in named(net, name).references:
        if reference.shared and variable in state_variables(reference.state(state)):
            return reference.shared
    return None


def warn_of_sum(net: "Network", state: NetworkState, name: str, variable: str) -> None:
    """Warns where a variable that is read by the name of one sender is that of several."""
    shared = shared_by(net, state, name, variable)
    if shared is not None:
        warn(
            f"{variable!r} of {name!r} is that of the {shared.kind} {shared.name!r}, in which "
            f"{listed(shared.senders)} act together: read it by this name"
        )


def _read(net: "Network", state: Any, name: str, variable: str) -> Shaped[AnyArray, " n"]:
    state = net.whole(state)
    reference = reference_of_variable(net, state, name, variable)
    return span_of(getattr(reference.state(state), variable), reference.neurons)


# Over a mesh, one program for what would else be one for each array.
_read_laid = functools.partial(jax.jit, static_argnums=(2, 3))(_read)
