"""The state of a network, what a step returns, and the state in a file."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int32, Shaped, UInt8, UInt32

from .._arrays import as_array, is_traced
from .._text import megabytes
from ..spec import InvalidValueError
from .coupling import CouplingState
from .group import GroupState
from .html import html_of_state
from .modulator import ModulatorState
from .pathway import PathwayState

if TYPE_CHECKING:
    from .network import Network


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
    if isinstance(state, SavedState):
        return state.on(net)
    if not isinstance(state, NetworkState):
        pair = isinstance(state, tuple) and any(isinstance(x, NetworkState) for x in state)
        got = "the pair that jn.scan returns: take its first item" if pair else repr(state)
        must = "a result of simulate, its .state, or net.init(key)"
        raise InvalidValueError("", "state", must, got)
    check_same(net, state.fingerprint)
    return state


def check_same(net: "Network", fingerprint: Any) -> None:
    """Raises `InvalidValueError` for the fingerprint of a state of another network."""
    both = net.fingerprint, fingerprint
    if any(is_traced(x) or not hasattr(x, "__array__") for x in both) or fingerprint.shape != (2,):
        return  # not known yet; or of a batch of states
    if not np.array_equal(np.asarray(net.fingerprint), np.asarray(fingerprint)):
        must = "one of this network, or net.init(key)"
        got = "that of one with another description, key, dt, dtype or partition"
        raise InvalidValueError("", "state", must, got)


@dataclasses.dataclass(frozen=True, eq=False)
class SavedState:
    """The state in a file of a result; `simulate(net, ms, state=...)` goes on from it.

    Attributes:
        arrays: those of the state by their path in it; of a file of 0.1 something else.
        fingerprint: uint32 (2,) of its network.
        step: how many steps were done.
    """

    arrays: Any
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

    def on(self, net: "Network") -> NetworkState:
        """The state of the network that it belongs to.

        Raises:
            InvalidValueError: for another network, and for a state of version 0.1.
        """
        if not isinstance(self.arrays, dict):
            # What was recorded is there.
            must, got = "written by jaxneuro 0.2 or later", "one of 0.1: run the first part again"
            raise InvalidValueError("", "state", must, got)
        check_same(net, self.fingerprint)
        like = jax.eval_shape(lambda n: n.init(0), net)
        expected = _by_path(like)
        if _shapes(expected) != _shapes(self.arrays):
            must = "of the arrays that this version of jaxneuro gives the network"
            raise InvalidValueError("", "state", must, "other arrays: run the first part again")
        leaves = [as_array(self.arrays[path]) for path in expected]
        state: NetworkState = jax.tree.unflatten(jax.tree.structure(like), leaves)
        layout: Any = net.layout
        return state if layout is None else jax.jit(lambda x: layout.placed(x))(state)


def _by_path(state: Any) -> dict[str, Any]:
    """The arrays of a state, by where they are in it: `.groups[0].neurons.v`."""
    return {jax.tree_util.keystr(k): x for k, x in jax.tree_util.tree_leaves_with_path(state)}


def _shapes(arrays: dict[str, Any]) -> dict[str, tuple]:
    return {path: (x.shape, x.dtype) for path, x in arrays.items()}
