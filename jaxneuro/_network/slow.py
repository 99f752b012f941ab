"""Slow variables: those that change by less in a step than a float32 holds.

A model says by `time_constants` how slowly its variables move. Where that is long against dt, and
the network is in float32, `build` keeps a slow variable with the digits below it, as
`_numerics/compensated.py` explains. The choice is part of the network and of the structure of its
state, and costs nothing where nothing is slow.

The membrane is chosen earlier than other variables. Near a threshold it moves by a thousandth of
what its time constant alone would give.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import is_traced
from .._fields import Model, Path, parameters
from .._model import Plasticity, state_variables
from .._numerics.compensated import Low
from .._text import brief
from .._warn import warn
from ..spec import InvalidValueError, unknown
from .members import member, replaced
from .names import ModelReference
from .state import NetworkState

if TYPE_CHECKING:
    from .network import Network

# dt over the time constant, below which a variable is slow: that of a membrane, and any other.
MEMBRANE, OTHER = 4.99e-3, 1e-4
# Below this, the error of another variable that is a single number may reach a percent.
LOST = 0.999e-5


def slow_variables(
    label: str, model: Model, state: Callable[[], Any], dt: float, dtype: Any
) -> tuple[str, ...]:
    """Return the names of the slow variables of a model, sorted.

    Args:
        label: its name in errors.
        model: a model with known numbers.
        state: returns its state; it is traced where a variable is slow.
        dt: time step [ms].
        dtype: that of the network.

    Raises:
        InvalidValueError: for time constants that are no numbers, or of what is no variable with a
            real number per unit.
    """
    if np.dtype(dtype) != np.float32:
        return ()
    constants = _constants(model)
    for name, tau in constants.items():
        if np.asarray(tau).dtype.kind not in "fiu" or np.ndim(tau) > 1:
            must = "numbers by the names of variables, () or (n,) each"
            raise InvalidValueError(label, "time_constants", must, brief({name: tau}))
    slow = {name for name, tau in constants.items() if dt < _longest(tau) * _line(name)}
    slow.difference_update(model.own_digits)
    if not slow:
        return ()
    variables = jax.eval_shape(state)
    if not isinstance(variables, dict):
        variables = {name: getattr(variables, name) for name in state_variables(variables)}
    if isinstance(model, Plasticity):
        slow.intersection_update(variables)  # others are of synapses, or shared
    for name in slow.difference(variables):
        raise unknown("state variable", name, variables, label, "time_constants")
    for name in slow:
        if not jnp.issubdtype(getattr(variables[name], "dtype", np.bool_), jnp.floating):
            must = "of variables with a real number per unit"
            raise InvalidValueError(label, "time_constants", must, repr(name))
    return tuple(sorted(slow))


def warn_of_slow(
    net: "Network", reference: ModelReference, before: "Network | None" = None
) -> None:
    """Warn of time constants too long for float32, of variables that are single numbers there.

    Of a network that came from `before` only those that differ. Traced numbers are skipped.
    """
    earlier = () if before is None else [*_single(before, reference)]
    for name, longest in _single(net, reference):
        if (name, longest) not in earlier:
            warn(
                f"{reference.what}: {name} = {longest:g} ms is too long for float32 at dt = "
                f"{net.dt:g} ms: what changes so slowly loses digits; build the network with this "
                "value, or with dtype=jnp.float64"
            )


def _single(net: "Network", reference: ModelReference) -> Iterator[tuple[str, float]]:
    """The names and largest values of time constants that need more digits than there are."""
    model = member(reference.model(net), reference.sizes, reference.member)
    if net.dtype != np.float32 or any(map(is_traced, jax.tree.leaves(model))):
        return
    kept = {*_kept(net, reference.path), *model.own_digits}
    for name, variable, tau in _single_constants(model, kept):
        if net.dt < _longest(tau) * (MEMBRANE if variable == "v" else LOST):
            yield name, _longest(tau)


def slow_names(net: "Network") -> list[str]:
    """Return "variable of name" for each slow variable of a network."""
    out = [
        f"{variable} of {population}"
        for group in net.groups
        for population in group.populations
        for variable in itertools.chain(*group.slow)
    ]
    rules = [p.plastic for p in net.pathways if p.plastic is not None]
    named = [*((r.name, r.slow) for r in rules), *((m.name, m.slow) for m in net.modulators)]
    return out + [f"{variable} of {name}" for name, slow in named for variable in slow]


def set_exactly(state: NetworkState, reference: ModelReference, variable: str) -> NetworkState:
    """Return the state with nothing below the digits of a variable that was set."""

    def low_of(state: NetworkState) -> Low:
        match reference.path:
            case "groups", number, "model":
                return state.groups[number].low[0]
            case "groups", number, "receptors", receptor:
                return state.groups[number].low[1 + receptor]
            case "modulators", number, _:
                return state.modulators[number].low
        return {}

    if variable not in low_of(state):
        return state
    exact = replaced(low_of(state)[variable], reference.neurons, np.zeros((), np.float32))
    return eqx.tree_at(lambda s: low_of(s)[variable], state, exact)


def _kept(net: "Network", path: Path) -> tuple[str, ...]:
    """The slow variables of the model at a path of a network."""
    part = getattr(net, path[0])[path[1]]
    match path:
        case "groups", _, "model":
            return part.slow[0]
        case "groups", _, "receptors", number:
            return part.slow[1 + number]
        case "pathways", _, "plastic", _:
            return part.plastic.slow
        case "modulators", *_:
            return part.slow
    return ()


def _line(variable: str) -> float:
    return MEMBRANE if variable == "v" else OTHER


def _constants(model: Model) -> dict[str, Any]:
    """The time constants of the variables of a model, those of postsynaptic traces among them."""
    model = jax.tree.map(np.asarray, model)  # so that nothing is compiled
    traces = {}
    if isinstance(model, Plasticity):
        traces = {name: trace.tau for name, trace in model.post_traces().items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        return traces | model.time_constants()


def _longest(tau: Any) -> float:
    return 0.0 if is_traced(tau) else float(np.max(tau, initial=0.0))


def _single_constants(model: Model, kept: set[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield name, variable and value of each time constant of a variable that is not `kept`.

    The name is that of the parameter, if the time constant is one. A parameter in ms that is no
    duration in steps counts as a time constant of an unknown variable, "".
    """
    constants = _constants(model)
    single = {name: tau for name, tau in constants.items() if name not in kept}
    if isinstance(model, Plasticity):  # in native code
        traces = jax.tree.map(np.asarray, model).pre_traces()
        single |= {f"presynaptic {name}": trace.tau for name, trace in traces.items()}
    for field in parameters(type(model)):
        value, kind = np.asarray(getattr(model, field.name)), field.metadata["kind"]
        if kind.unit != "ms" or kind.on_grid:
            continue
        same = [x for x, tau in (constants | single).items() if np.array_equal(tau, value)]
        slowed = [name for name in same if single.pop(name, None) is not None]
        if slowed or not same:
            yield field.name, slowed[0] if slowed else "", value
    for name, tau in single.items():
        yield f"the time constant of {name}", name, tau
