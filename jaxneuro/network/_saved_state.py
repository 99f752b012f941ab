"""The state of a network, from what a user gives for one: a state, a result, a file."""

import dataclasses
from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._checks import is_traced
from ._layout import Layout
from ._network_state import NetworkState


def state_of(net: Any, given: Any) -> NetworkState:
    """The state of a network from one, from a result of `simulate`, or from that of a file.

    **Raises** `ValueError` for another value, for the state of another network, and for a result
    without one.
    """
    state = given.state if hasattr(given, "network") and hasattr(given, "state") else given
    if state is None and given is not None:
        raise ValueError(
            "this result has no state: it was written by an older jaxneuro, or on devices of "
            "several processes. Start anew with net.init(key)"
        )
    if isinstance(state, SavedState):
        return state.on(net)
    if not isinstance(state, NetworkState):
        pair = isinstance(state, tuple) and any(isinstance(x, NetworkState) for x in state)
        got = "the pair that jn.scan returns: take its first item" if pair else repr(state)
        raise ValueError(
            f"state must be a result of simulate, its .state, or net.init(key); got {got}"
        )
    check_same(net, state.fingerprint)
    return state


def check_same(net: Any, fingerprint: Any) -> None:
    """Raises `ValueError` for the fingerprint of a state of another network."""
    both = net.fingerprint, fingerprint
    if any(is_traced(x) or not hasattr(x, "__array__") for x in both) or fingerprint.shape != (2,):
        return  # not known yet; or of a batch of states
    if not np.array_equal(np.asarray(net.fingerprint), np.asarray(fingerprint)):
        raise ValueError(
            "the state must be one of this network; it is of a network with another description, "
            "key, dt, dtype or partition. Build the network as it was, or start with net.init(key)"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class SavedState:
    """The state in a file of a result; `simulate(net, ms, state=...)` goes on from it.

    **Fields** `arrays` those of the state, without their names; `fingerprint` uint32 (2,) of its
    network; `step` how many steps were done.
    """

    arrays: tuple[np.ndarray, ...]
    fingerprint: np.ndarray
    step: int

    @classmethod
    def of(cls, state: NetworkState) -> "SavedState | None":
        """What a file keeps; None of a state on devices of several processes."""
        leaves = jax.tree.leaves(state)
        if not all(getattr(x, "is_fully_addressable", True) for x in leaves):
            return None
        arrays = tuple(map(np.asarray, leaves))
        return cls(arrays, np.asarray(state.fingerprint), int(state.step))

    def on(self, net: Any) -> NetworkState:
        """The state of the network that it belongs to.

        **Raises** `ValueError` for another network.
        """
        check_same(net, self.fingerprint)
        expected, tree = jax.tree.flatten(jax.eval_shape(lambda n: n.init(0), net))
        shapes = [(x.shape, x.dtype) for x in expected]
        if shapes != [(x.shape, x.dtype) for x in self.arrays]:
            raise ValueError(
                "the state in this file has other arrays than this version of jaxneuro gives the "
                "network; run the first part again"
            )
        state: NetworkState = jax.tree.unflatten(tree, map(as_array, self.arrays))
        layout = net.layout
        return jax.jit(lambda x: layout.placed(x))(state) if isinstance(layout, Layout) else state
