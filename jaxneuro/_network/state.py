"""The state of a network, what a step returns, and the state in a file."""

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int32, Shaped, UInt8, UInt32

from .._arrays import as_array, is_traced
from .._text import listed, megabytes
from ..spec import InvalidValueError
from .coupling import CouplingState
from .group import GroupState
from .html import html_of_state, remembered
from .modulator import ModulatorState
from .pathway import PathwayState

if TYPE_CHECKING:
    from .network import Network

_READ = 10_000_000  # synapses that are read to name a difference
_SHOWN = 3  # differences in a message
# .groups[0].neurons.v
_PART = re.compile(r"\.(groups|pathways|couplings|modulators)\[(\d+)\].*?(\w+)[^.]*$")
# .groups[0].low[0]['theta']
_SLOW = re.compile(r"\.low(?:\[\d+\])?\['(\w+)'\]$")


class NetworkState(NamedTuple):
    """Everything that changes from step to step.

    Attributes:
        step: int32 (), steps done.
        seed: uint32 (), the seed of the run.
        groups, pathways, couplings, modulators: the states of those of the network, in their order.
        fingerprint: uint32 (2,), that of the network.
    """

    step: Int32[Array, ""]
    seed: UInt32[Array, ""]
    groups: tuple[GroupState, ...]
    pathways: tuple[PathwayState, ...]
    couplings: tuple[CouplingState, ...]
    modulators: tuple[ModulatorState, ...]
    fingerprint: UInt32[Array, "2"]

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_state(self)

    def __repr__(self) -> str:
        step = "traced" if is_traced(self.step) else np.asarray(self.step).tolist()
        size = sum(x.nbytes for x in jax.tree.leaves(tuple(self)) if hasattr(x, "nbytes"))
        return f"NetworkState: after step {step}, {megabytes(size)}"


class Output(NamedTuple):
    """What one step returns.

    Attributes:
        spikes: (n,) by population name.
        bits: packed spikes per group.
    """

    spikes: dict[str, Shaped[Array, " _"]]
    bits: tuple[UInt8[Array, " _"], ...]


def state_of(net: "Network", given: Any) -> NetworkState:
    """The state of a network from one, from a result of `simulate`, or from that of a file.

    Raises:
        InvalidValueError: for another value, for the state of another network, and for a result
            without one.
    """
    state = given.state if hasattr(given, "network") and hasattr(given, "state") else given
    if state is None and given is not None:
        # It was written by an older jaxneuro, or on devices of several processes.
        must = "a result with a state, or net.init(key)"
        raise InvalidValueError("", "state", must, "a result without one")
    network = getattr(given, "network", None)
    if isinstance(state, SavedState):
        return state.on(net, network)
    if not isinstance(state, NetworkState):
        pair = isinstance(state, tuple) and any(isinstance(x, NetworkState) for x in state)
        got = "the pair that jn.scan returns: take its first item" if pair else repr(state)
        must = "a result of simulate, its .state, or net.init(key)"
        raise InvalidValueError("", "state", must, got)
    if _of_one_device(net, state):
        return net.laid(state)
    check_same(net, state, network)
    return state


def _of_one_device(net: "Network", state: Any) -> bool:
    """Whether a state is that of a network over a mesh, as it is on one device."""
    layout: Any = net.layout
    if layout is None or is_traced(state.fingerprint) or np.ndim(state.step):
        return False
    return np.array_equal(np.asarray(state.fingerprint), getattr(layout, "described", ()))


def check_same(net: "Network", state: Any, network: "Network | None" = None) -> None:
    """Raises `InvalidValueError` for a state of another network, which may be known."""
    both = net.fingerprint, state.fingerprint
    if any(is_traced(x) or not hasattr(x, "__array__") for x in both) or both[1].shape != (2,):
        return  # not known yet; or of a batch of states
    if not np.array_equal(np.asarray(both[0]), np.asarray(both[1])):
        must = "one of this network, or net.init(key)"
        got = "that of one with another description, key, dt, dtype or partition"
        raise InvalidValueError("", "state", must, f"{got} ({_reason(net, state, network)})")


def check_arrays(net: "Network", state: NetworkState) -> None:
    """Raises `InvalidValueError` for a state whose arrays are not those of a network."""
    expected = jax.eval_shape(lambda n: n.init(0), net)
    apart = _apart(net, _by_path(expected), _by_path(state))
    must = "one of this network, or net.init(key)"
    if apart and np.ndim(state.step):
        raise InvalidValueError("", "state", must, "a batch of states, which goes through vmap")
    if apart or jax.tree.structure(expected) != jax.tree.structure(state):
        got = f"that of another ({_first(apart) or 'with other models'})"
        raise InvalidValueError("", "state", must, got)


def _reason(net: "Network", state: Any, network: "Network | None") -> str:
    """In what the network of a state differs, as far as it is known."""
    laid = network is None or network.layout is not None or net.layout is not None
    if network is not None and not laid and max(net.n_synapses, network.n_synapses) <= _READ:
        words = "here", "only there", "only here"
        found = [change.text(*words) for change in network.changes(net)]
    else:
        arrays = state.arrays if isinstance(state, SavedState) else _by_path(state)
        found = _apart(net, _by_path(jax.eval_shape(lambda n: n.init(0), net)), arrays)
        names = [name for populations, _ in remembered(state.fingerprint) for name in populations]
        if names and {*names} != {*net.order}:
            found = [f"populations {listed(names)}, here {listed(net.order)}", *found]
    same = (
        "its arrays have the shapes of this network's; all that is described counts but start "
        "values and stored=, while net.set makes no other network"
    )
    return _first(found) or same


def _first(found: list[str]) -> str:
    more = len(found) - _SHOWN
    return "; ".join(found[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _apart(net: "Network", expected: dict[str, Any], arrays: Mapping[str, Any]) -> list[str]:
    """The arrays of a state that are not those of a network: of each part of it the first."""
    found: dict[str, str] = {}
    for path in dict.fromkeys((*expected, *arrays)):
        part, what = _part(net, path)
        want, got = expected.get(path), arrays.get(path)
        if got is None:
            found.setdefault(part, f"no {what}")
        elif want is None:
            found.setdefault(part, f"{what}, which is not here")
        elif np.shape(got) != want.shape:
            found.setdefault(part, f"{what} of shape {np.shape(got)}, here {want.shape}")
        elif got.dtype != want.dtype:
            found.setdefault("dtype", f"{got.dtype} numbers, here {want.dtype}")
    return [*found.values()]


def _part(net: "Network", path: str) -> tuple[str, str]:
    """The part of a network that an array of a state belongs to, and what it is there."""
    found = _PART.match(path)
    if found is None:
        return path, path[1:]
    parts, number, variable = getattr(net, found[1]), int(found[2]), found[3]
    if slow := _SLOW.search(path):  # one network was built for longer time constants
        variable = f"further digits of {slow[1]}"
    if number >= len(parts):
        return f"{found[1]}{number}", f"{variable} of {found[1]} {number + 1}"
    names = {"groups": "populations", "pathways": "projections"}.get(found[1], "name")
    of = getattr(parts[number], names)
    what = listed((of,) if isinstance(of, str) else of)
    return f"{found[1]}{number}", f"{variable} of {what}"


@dataclasses.dataclass(frozen=True, eq=False)
class SavedState:
    """The state in a file of a result; `simulate(net, ms, state=...)` goes on from it.

    Attributes:
        arrays: those of the state by their path in it.
        fingerprint: uint32 (2,) of its network.
        step: how many steps were done.
    """

    arrays: Mapping[str, Any]
    fingerprint: UInt32[np.ndarray, "2"]
    step: int

    @classmethod
    def of(cls, state: NetworkState) -> "SavedState | None":
        """What a file keeps; None of a state on devices of several processes."""
        leaves = _by_path(state)
        if not all(getattr(x, "is_fully_addressable", True) for x in leaves.values()):
            return None
        arrays = {path: np.asarray(x) for path, x in leaves.items()}
        return cls(arrays, np.asarray(state.fingerprint), int(state.step))

    def on(self, net: "Network", network: "Network | None" = None) -> NetworkState:
        """The state of the network that it belongs to, which is `network` if that is known.

        Raises:
            InvalidValueError: for another network.
        """
        whole = _of_one_device(net, self)
        # Structures differ too: the runs of a stream are shorter on each device of a mesh.
        seed = as_array(0, np.uint32)
        like = jax.eval_shape(lambda n: n._init(seed) if whole else n.init(0), net)
        expected = _by_path(like)
        if whole and expected.keys() == self.arrays.keys():
            leaves = [as_array(self.arrays[path]) for path in expected]
            return net.laid(jax.tree.unflatten(jax.tree.structure(like), leaves))
        check_same(net, self, network)
        if apart := _apart(net, expected, self.arrays):
            must = "of the arrays that this version of jaxneuro gives the network"
            got = f"other arrays ({_first(apart)}): run the first part again"
            raise InvalidValueError("", "state", must, got)
        leaves = [as_array(self.arrays[path]) for path in expected]
        state: NetworkState = jax.tree.unflatten(jax.tree.structure(like), leaves)
        layout: Any = net.layout
        return state if layout is None else jax.jit(lambda x: layout.placed(x))(state)


def _by_path(state: Any) -> dict[str, Any]:
    """The arrays of a state, by where they are in it: `.groups[0].neurons.v`."""
    return {jax.tree_util.keystr(k): x for k, x in jax.tree_util.tree_leaves_with_path(state)}
