"""Parameters of a network as named arrays without bounds, for optimisers."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Integer

from .. import spec
from .._arrays import ArrayLike, as_array, is_traced
from .._fields import ParameterKind, named_parameters
from .._model import Plasticity
from .._text import counted
from ..connectivity._given import Indices
from ..spec import InvalidValueError
from .bounds import sign_of
from .get import Settable, get_value, settable
from .network import Network
from .weights import places

Params = dict[str, dict[str, jax.Array]]


@dataclasses.dataclass(frozen=True)
class Each:
    """A parameter that has one number for each neuron when it is trained."""

    parameter: str


def each(parameter: str) -> Each:
    """In `jn.trainable`: one number for each neuron of a population, though it has one for all.

    Args:
        parameter: its name, such as "tau_m".
    """
    return Each(spec.check("each", "parameter", spec.Name(), parameter))


@dataclasses.dataclass(frozen=True, eq=False)
class Shared:
    """A parameter that synapses of one group have in common when it is trained."""

    parameter: str
    groups: Integer[np.ndarray, " synapses"]
    shape: tuple[int, ...]


@spec.arguments(
    parameter=spec.OneOf("weight"),
    groups=Indices(),
    shape=spec.Maybe(spec.Items(spec.Whole(1))),
)
def shared(parameter: str, groups: ArrayLike, shape: tuple[int, ...] | None = None) -> Shared:
    """In `jn.trainable`: one weight for all synapses of a group, such as a kernel's element.

        rule = jn.connectivity.Convolution((28, 28), kernel=3, channels=(1, 8))
        kernel = jn.shared("weight", rule.element, shape=(3, 3, 1, 8))
        params, rebuild = jn.trainable(net, {"in->hid": kernel})

    Args:
        parameter: "weight".
        groups: the group of each synapse, (synapses,), in the order of `net.connections(name)`:
            whole numbers from 0, each at least once.
        shape: of the parameter; None is (groups,).

    Raises:
        InvalidValueError: for a negative number, a group without synapses, and a shape of another
            size. `jn.trainable` raises it for another number of synapses, and for weights that
            differ within a group.
    """
    sizes = np.bincount(groups)
    if not sizes.all() or not sizes.size:
        must = "whole numbers from 0, each of at least one synapse"
        got = f"no {sizes.argmin()} below {sizes.size - 1}" if sizes.size else "no synapses"
        raise InvalidValueError("shared", "groups", must, got)
    if shape is not None and math.prod(shape) != sizes.size:
        must = f"of {counted(sizes.size, 'number')}, one for each group"
        raise InvalidValueError("shared", "shape", must, str(shape))
    return Shared(parameter, np.asarray(groups), shape or (sizes.size,))


Named: TypeAlias = str | Each | Shared


class Bounds(NamedTuple):
    """The range of a parameter, and the size of its numbers above a bound.

    Attributes:
        low, high: its ends, None for none.
        strict: whether it is above `low`, and never that.
        size: the mean distance from the bound where one is given and not strict.
    """

    low: float | None = None
    high: float | None = None
    strict: bool = False
    size: float = 1.0

    @classmethod
    def of(cls, kind: spec.Ranged, value: np.ndarray) -> "Bounds":
        """The range that a parameter declares, with the size of its numbers at the start."""
        low = kind.at_least if kind.above is None else kind.above
        high = kind.at_most if kind.below is None else kind.below
        return cls(low, high, kind.above is not None).around(value)

    def around(self, value: np.ndarray) -> "Bounds":
        """With the size of these numbers."""
        bound = self.low if self.high is None else self.high
        size = 0.0 if bound is None or not value.size else float(np.mean(np.abs(value - bound)))
        return self._replace(size=size or 1.0)

    def value(self, u: jax.Array) -> jax.Array:
        """The parameter for a number without bounds."""
        low, high = self.low, self.high
        if low is not None and high is not None:
            return low + (high - low) * jax.nn.sigmoid(u)
        if low is not None and self.strict:
            return low + jnp.exp(u)
        away = self.size * jax.nn.softplus(u / self.size)
        if low is not None:
            return low + away
        return u if high is None else high - away

    def free(self, x: np.ndarray) -> np.ndarray:
        """The number without bounds that stands for a parameter: what `value` takes.

        On a bound there is none: it starts a thousandth of the size, or of the range, inside.
        """
        low, high = self.low, self.high
        if low is not None and high is not None:
            share = np.clip((x - low) / (high - low), 1e-3, 1 - 1e-3)
            return np.log(share / (1 - share))
        if low is not None and self.strict:
            return np.log(x - low)
        if low is None and high is None:
            return x
        away = np.maximum(np.abs(x - (high if low is None else low)) / self.size, 1e-3)
        # The inverse of the softplus, which is exact for large numbers too.
        return self.size * (away + np.log(-np.expm1(-away)))


class _Weights(NamedTuple):
    """Where the weights of a projection's synapses are, in the order of its connections.

    Attributes:
        pathway: the number of the pathway.
        index: of each synapse, among the weights of the pathway.
        groups: of each synapse, the number of its weight; None if each has its own.
    """

    pathway: int
    index: np.ndarray
    groups: np.ndarray | None = None

    def put(self, net: Network, values: jax.Array) -> Network:
        if self.groups is not None:
            values = values.reshape(-1)[self.groups]
        weights = jnp.asarray(net.pathways[self.pathway].weights)
        flat, values = weights.reshape(-1), values.astype(weights.dtype)
        first, n = int(self.index[0]) if self.index.size else 0, self.index.size
        if np.array_equal(self.index, np.arange(first, first + n)):  # without a table of indices
            flat = values if n == flat.size else flat.at[first : first + n].set(values)
        else:
            flat = flat.at[self.index].set(values, unique_indices=True)
        new = flat.reshape(weights.shape)
        return eqx.tree_at(lambda n: n.pathways[self.pathway].weights, net, new)


class _Trained(NamedTuple):
    """A parameter that is trained: its bounds, its start, and how a network gets it."""

    bounds: Bounds
    start: np.ndarray
    put: Callable[[Network, jax.Array], Network]


class Rebuild:
    """Makes networks of trained parameters; see `trainable`."""

    def __init__(self, trained: dict[str, dict[str, _Trained]]) -> None:
        self._trained = trained

    def __call__(self, params: Params, net: Network) -> Network:
        """The network with these parameters; works under `jit`, `vmap` and `grad`.

        Args:
            params: as `trainable` gave them, or an optimiser changed them.
            net: the network that `trainable` got, or one with other values.
        """
        for name, values in self.values(params).items():
            for key, value in values.items():
                net = self._trained[name][key].put(net, value)
        return net

    def values(self, params: Params) -> Params:
        """The parameters in their units."""
        self._check(params)
        return {
            name: {key: self._trained[name][key].bounds.value(u) for key, u in values.items()}
            for name, values in params.items()
        }

    def _check(self, params: Params) -> None:
        shapes = lambda tree: jax.tree.map(np.shape, tree)  # noqa: E731
        want = {n: {k: x.start.shape for k, x in v.items()} for n, v in self._trained.items()}
        if not isinstance(params, Mapping) or shapes(params) != want:
            got = shapes(params) if isinstance(params, Mapping) else type(params).__name__
            raise InvalidValueError("rebuild", "params", f"arrays of shapes {want}", str(got))

    def __repr__(self) -> str:
        rows = (
            f"{name}: {key} {list(x.start.shape)}"
            for name, values in self._trained.items()
            for key, x in values.items()
        )
        return "Rebuild: " + ", ".join(rows)


@spec.arguments(net=spec.Of(Network))
def trainable(
    net: Network, what: Mapping[str, Named | tuple[Named, ...] | list[Named]]
) -> tuple[Params, Rebuild]:
    """Parameters of a network as named arrays, for `optax` and `jax.grad`.

        params, rebuild = jn.trainable(net, {"in->hid": "weight", "hid": "tau_m"})

        def loss(params, net, trial):
            trained = rebuild(params, net)
            state, recording = jn.scan(trained, trained.init(0), steps, {"in": trial})
            ...

    Pass the network as an argument of what is compiled, so that its tables are no constants of the
    program. Any change of `params` is a network: a parameter with a declared range, and a weight
    whose sign its receptor decides, has a transform that keeps it there. A parameter above a bound
    (a time constant) is that bound and an exponential, one that may reach it (a conductance) a
    softplus of its own size, one between two a sigmoid; a value on a bound starts a
    thousandth inside. Others are themselves.

    Args:
        net: the network; its values are where training starts. It may be over a mesh.
        what: by name, as of `Network.set`, a parameter, several, `jn.each(...)`, or
            `jn.shared(...)`. The weight of a plastic projection is that with which it starts.

    Returns:
        The parameters, `{name: {parameter: array}}` of the shapes that `Network.get` gives, and
        `rebuild`: `rebuild(params, net)` is a network, `rebuild.values(params)` the parameters in
        their units.

    Raises:
        InvalidValueError: for a name that there is not, a parameter that cannot be trained (whole
            time steps, what several share), weight and gain of one projection together, a
            network that counts arrivals (`deterministic=True`), and one that is traced.
    """
    if not isinstance(what, Mapping) or not what:
        must = 'names with their parameters: {"E->I": "weight", "I": ["tau_m", "v_th"]}'
        raise InvalidValueError("trainable", "what", must, repr(what))
    if net.fixed_point is not None:
        raise InvalidValueError("trainable", "net", "built without deterministic=True", repr(net))
    if any(map(is_traced, jax.tree.leaves(net))):
        must = "made outside jit, vmap and grad; there, pass the network and call rebuild"
        raise InvalidValueError("trainable", "net", must, "a network that is traced")
    trained = {name: _of_name(net, name, keys) for name, keys in what.items()}
    params = {
        name: {k: as_array(x.bounds.free(x.start), net.dtype) for k, x in values.items()}
        for name, values in trained.items()
    }
    return params, Rebuild(trained)


def _of_name(net: Network, name: str, keys: Any) -> dict[str, _Trained]:
    found, out = settable(net, name), {}
    for key in keys if isinstance(keys, list | tuple) else [keys]:
        wide, group = isinstance(key, Each), key if isinstance(key, Shared) else None
        key = key.parameter if isinstance(key, Each | Shared) else key
        if not isinstance(key, str):
            must = "names of parameters, jn.each(name), or jn.shared(name, groups)"
            raise InvalidValueError("trainable", f"what[{name!r}]", must, repr(key))
        if key in out:
            raise InvalidValueError(found.found.label, key, "named once", "named twice")
        out[key] = (
            _of_own(net, found, name, key, group)
            if key in found.own
            else _of_model(net, found, name, key, wide)
        )
        if wide and key in found.own:
            must = "one per synapse as described (weight=lambda i, j: 1.0 + 0.0 * i makes it)"
            raise InvalidValueError(found.found.label, key, must, f"jn.each({key!r})")
    if found.kind == "projection" and {"gain", "weight"} <= out.keys():
        must = "trained alone, or the weight: only their product matters"
        raise InvalidValueError(found.found.label, "gain", must, "both gain and weight")
    return out


def _by_set(name: str, key: str) -> Callable[[Network, jax.Array], Network]:
    return lambda net, value: net.set(name, **{key: value})


def _of_model(net: Network, found: Settable, name: str, key: str, wide: bool) -> _Trained:
    number = found.holder(key)
    assert number is not None
    label, reference = found.found.label, found.found.references[number]
    reference.check_own(label, key)
    model = reference.model(net)
    field = named_parameters(model).get(key, (None, None))[1]
    kind = None if field is None else field.metadata.get("kind")
    value = get_value(net, name, key)
    if not isinstance(kind, ParameterKind) or not isinstance(value, float | np.ndarray):
        must, got = "a parameter that is a number, or one per neuron", type(value).__name__
        raise InvalidValueError(label, key, must, got)
    if kind.on_grid:
        must, got = "a real number", "whole time steps, which have no derivative"
        raise InvalidValueError(label, key, must, got)
    value = np.asarray(value, np.float64)
    if wide and not isinstance(model, Plasticity):
        value = np.broadcast_to(value, (reference.sizes[reference.member],))
    return _Trained(Bounds.of(kind, value), value, _by_set(name, key))


def _of_own(net: Network, found: Settable, name: str, key: str, group: Shared | None) -> _Trained:
    """A weight or a gain."""
    label = found.found.label
    is_individual = (
        key == "weight"
        and found.kind == "projection"
        and net.pathways[found.at[0]].members[found.at[1]].individual
    )
    if group is not None and not is_individual:
        must = "one per synapse as described, such as weight=rule.weights(kernel), to be shared"
        raise InvalidValueError(label, key, must, "one for all synapses")
    if found.kind != "projection":
        if found.kind == "coupling" and key == "weight" and net.couplings[found.at[0]].individual:
            raise InvalidValueError(label, key, "the gain (its weights are individual)", "weight")
        value = np.asarray(get_value(net, name, key), np.float64)
        return _Trained(_signed(net, found, key, value), value, _by_set(name, key))
    number, index = found.at
    pathway = net.pathways[number]
    if not is_individual:
        value = np.asarray(getattr(pathway, key), np.float64)[index]
        return _Trained(_signed(net, found, key, value), value, _by_set(name, key))
    at = places(net, pathway, index)
    if np.unique(at).size < at.size:
        must = "that of stored synapses (train the gain, or store the connections)"
        raise InvalidValueError(label, key, must, "stored=False")
    value = np.asarray(pathway.weights).reshape(-1)[at].astype(np.float64)
    if group is not None:
        value = _common(label, group, value)
    bounds = _signed(net, found, key, value)
    if pathway.plastic is not None:
        low, high = (None if b is None else float(b) for b in pathway.plastic.rule.bounds())
        bounds = Bounds(low, high).around(value)
    weights = _Weights(number, at, None if group is None else group.groups)
    return _Trained(bounds, value, weights.put)


def _common(label: str, group: Shared, weights: np.ndarray) -> np.ndarray:
    """The weight of each group, in the shape of the parameter."""
    groups = group.groups
    if groups.size != weights.size:
        must = f"shared with one group for each of {counted(weights.size, 'synapse')}"
        raise InvalidValueError(label, "weight", must, counted(groups.size, "number"))
    common = np.empty(group.shape).reshape(-1)
    common[groups] = weights
    if (differs := weights != common[groups]).any():
        k = int(differs.argmax())
        got = f"{common[groups[k]]:g} and {weights[k]:g} in group {groups[k]}"
        raise InvalidValueError(label, "weight", "the same for all synapses of a group", got)
    return common.reshape(group.shape)


def _signed(net: Network, found: Settable, key: str, value: np.ndarray) -> Bounds:
    """At least 0 or at most 0 where the receptor says so; a gain then has the sign it has."""
    if found.kind == "projection":
        pathway = net.pathways[found.at[0]]
        group, receptor = net.groups[pathway.target], pathway.members[found.at[1]].receptor
        other = 1.0 if key == "gain" else float(np.asarray(pathway.gain)[found.at[1]])
    elif found.kind == "coupling":
        layer = net.couplings[found.at[0]]
        group, receptor = net.groups[layer.sides[0].target], layer.receptor
        other = 1.0
    else:
        group = net.groups[found.at[0]]
        receptor, other = group.stimuli[found.at[1]].receptor, 1.0
    if receptor is None:  # a gap junction
        return Bounds(low=0.0).around(value)
    sign = sign_of(group.model, group.receptors[receptor])[0] * np.sign(other or 1.0)
    if sign and key == "gain":
        sign = np.sign(value) or 1.0
    if not sign:
        return Bounds()
    return (Bounds(low=0.0) if sign > 0 else Bounds(high=0.0)).around(value)
