"""Reads what is set, by name: `Network.get` and `Network.parameters`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import as_array, is_traced
from .._fields import Path, inner, named_parameters
from .._html import page, table
from .._text import plainly, shown
from ..spec import InvalidValueError, unknown
from .members import inside, member
from .names import ModelReference, Named, NoSuchNameError, named, projection, stimulation
from .weights import places, read_connections

if TYPE_CHECKING:
    from .network import Network

_WORDS = {"gain": "multiplies the weights", "weight": "what a spike delivers, before the gain"}
_GAP = "conductance of a gap junction, before the gain"


class Settable(NamedTuple):
    """What can be set of a name, and read.

    Attributes:
        found: the models that it refers to.
        known: of each, where its parameters are in it, and the models inside it, also whole.
        kind: what has a gain or a weight: projection, coupling or stimulation; "" for nothing.
        at: its numbers: of pathway and projection; of the coupling; of group, layer, stimulation.
        own: which of gain and weight it has.
    """

    found: Named
    known: tuple[dict[str, Path], ...]
    kind: str = ""
    at: tuple[int, ...] = ()
    own: tuple[str, ...] = ()

    def holder(self, key: str) -> int | None:
        """The number of the model with a parameter; None for a gain or a weight.

        Raises:
            InvalidValueError: for a parameter that there is not, or that two models have.
        """
        return None if key in self.own else self.found.only("parameter", key, self.known, self.own)

    def weight_unit(self, net: "Network") -> str:
        """The unit of its weights: nS of a gap junction, else that of the receptor."""
        if self.kind == "projection":
            pathway = net.pathways[self.at[0]]
            group, receptor = pathway.target, pathway.members[self.at[1]].receptor
        elif self.kind == "coupling":
            layer = net.couplings[self.at[0]]
            group, receptor = layer.sides[0].target, layer.receptor
        else:
            group, receptor = self.at[0], net.groups[self.at[0]].stimuli[self.at[1]].receptor
        return "nS" if receptor is None else net.groups[group].receptors[receptor].weight_unit


def settable(net: "Network", name: str) -> Settable:
    """What can be set of a name, or `InvalidValueError` for a name that there is not."""
    found = named(net, name)
    known = tuple(_paths(reference.model(net)) for reference in found.references)
    if name in net.projections:
        return Settable(found, known, "projection", projection(net, name), ("gain", "weight"))
    if name in net.coupled:
        return Settable(found, known, "coupling", (net.coupled.index(name),), ("gain", "weight"))
    where = stimulation(net, name)
    if where is None or net.groups[where[0]].stimuli[where[1]].weight is None:
        return Settable(found, known)
    return Settable(found, known, "stimulation", where, ("weight",))


def _paths(model: Any) -> dict[str, Path]:
    own = {name: path for name, (path, _) in named_parameters(model).items()}
    return own | {name: (name,) for name in inner(model)}


def get_value(net: "Network", name: str, parameter: str) -> Any:
    """What a parameter is set to; see `Network.get`."""
    found = settable(net, name)
    number = found.holder(parameter)
    if number is None:
        return value_of_own(net, found, name, parameter)
    return _of_model(net, found.found.references[number], found.known[number][parameter])


def _of_model(net: "Network", reference: ModelReference, path: Path) -> Any:
    value = inside(reference.model(net), path)
    return of_member(value, reference.sizes, reference.member)


def of_member(value: Any, sizes: Sequence[int], index: int) -> Any:
    """A number of one member of a merged model, or a model inside it."""
    if hasattr(value, "dtype"):
        value = value if is_traced(value) else np.asarray(value)
        return plain(member(value, sizes, index), merged=len(sizes) > 1)
    if len(sizes) == 1:
        return value
    known = jax.tree.map(lambda x: x if is_traced(x) else np.asarray(x), value)
    return jax.tree.map(as_array, member(known, sizes, index))


def plain(x: Any, merged: bool = False) -> Any:
    """A number as Python's, an array as NumPy's; what is traced as it is.

    A member of a merged array (`merged`) has one number if its entries are equal: whoever set it
    so, one number gives the same array.
    """
    if is_traced(x):
        return x
    x = np.asarray(x)
    if merged and x.size and (x == x.flat[0]).all():
        x = x.flat[0]
    return x.item() if np.ndim(x) == 0 else x


def value_of_own(net: "Network", found: Settable, name: str, key: str) -> Any:
    """The gain or the weight of a projection or a coupling, or the weight of a stimulation."""
    if found.kind == "stimulation":
        group, layer, index = found.at
        stimulus = net.groups[group].stimuli[layer]
        return of_member(stimulus.weight, stimulus.sizes, index)
    if found.kind == "coupling":
        layer = net.couplings[found.at[0]]
        individual, value = layer.individual, getattr(layer, key)
    else:
        pathway, index = net.pathways[found.at[0]], found.at[1]
        if key == "weight" and pathway.plastic is not None:
            must = f"read from a state: net.weights(state, {name!r})"
            raise InvalidValueError(found.found.label, key, must, "that of plastic synapses")
        individual, vector = pathway.members[index].individual, getattr(pathway, key)
        value = (vector if is_traced(vector) else np.asarray(vector))[index]
    return _individual(net, found, name) if key == "weight" and individual else plain(value)


def _individual(net: "Network", found: Settable, name: str) -> Any:
    """One weight per synapse, in the order of `connections`."""
    projected = found.kind == "projection"
    of: Any = net.pathways[found.at[0]] if projected else net.couplings[found.at[0]].sides[0]
    traced = is_traced(of.weights)
    if any(map(is_traced, jax.tree.leaves(of.table))) or (traced and not projected):
        must = "read where connections are known: close over the network"
        got = "one of a network that is an argument of jit, vmap or grad"
        raise InvalidValueError(found.found.label, "weight", must, got)
    if traced:
        return jnp.asarray(of.weights)[places(net, of, found.at[1])]
    return read_connections(net, name).weight


class Row(NamedTuple):
    """A parameter as it is set.

    Attributes:
        name: what `net.set` calls it.
        value: as `net.get` gives it.
        unit: "" for none.
        of: whose it is: population, receptor, release, ...
        words: what it is.
    """

    name: str
    value: Any
    unit: str
    of: str
    words: str


class Parameters(Mapping):
    """What is set of a name: a mapping from parameters to values, shown as a table.

    Attributes:
        label: whose they are.
        rows: the lines of the table.
    """

    def __init__(self, label: str, rows: Sequence[Row]) -> None:
        self.label, self.rows = label, tuple(rows)
        self._values = {row.name: row.value for row in rows}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise NoSuchNameError(str(unknown(f"parameter of {self.label}", name, self._values)))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _lines(self) -> list[tuple[str, ...]]:
        return [(r.name, text_of(r.value), r.unit, r.of, r.words) for r in self.rows]

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines)]
        texts = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n".join([f"Parameters of {self.label}:", *(f"  {text}" for text in texts)])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        head = ("parameter", "value", "unit", "of", "what it is")
        return page(f"Parameters of {self.label}", [table(head, self._lines(), len(self))])


def text_of(value: Any) -> str:
    """A value that is set, as short text."""
    if isinstance(value, int):
        return f"{value:,}"
    return plainly(value) if isinstance(value, float) else shown(value)


def parameters_of(net: "Network", name: str) -> Parameters:
    """All that is set of a name; see `Network.parameters`."""
    found = settable(net, name)
    rows = [row for k in range(len(found.known)) for row in rows_of(net, found, k)]
    plastic = found.kind == "projection" and net.pathways[found.at[0]].plastic is not None
    for key in found.own:
        if key != "weight" or not plastic:
            unit = found.weight_unit(net) if key == "weight" else ""
            gap = key == "weight" and found.kind == "coupling"
            gap = gap and net.couplings[found.at[0]].receptor is None
            value = value_of_own(net, found, name, key)
            rows.append(Row(key, value, unit, found.kind, _GAP if gap else _WORDS[key]))
    # What two models call alike can be neither set nor read by this name.
    names = [row.name for row in rows]
    return Parameters(found.found.label, [row for row in rows if names.count(row.name) == 1])


def rows_of(net: "Network", found: Settable, number: int) -> Iterator[Row]:
    """The parameters of one of the models that a name refers to."""
    reference = found.found.references[number]
    shared = f" {reference.shared.name!r}" if reference.shared else ""
    for key, (path, field) in named_parameters(reference.model(net)).items():
        unit = getattr(field.metadata.get("kind"), "unit", "1")
        value, words = _of_model(net, reference, path), field.metadata.get("doc", "")
        yield Row(key, value, "" if unit == "1" else unit, reference.kind + shared, words)
