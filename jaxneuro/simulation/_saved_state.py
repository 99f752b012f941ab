"""The state of a run in a file, and the check that a state is one of a network."""

import dataclasses
from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._checks import is_traced
from ..network import Layout, Network, NetworkState


def check_same(net: Network, fingerprint: Any) -> None:
    """Raises `ValueError` for the fingerprint of a state of another network."""
    if is_traced(net.fingerprint) or is_traced(fingerprint) or np.shape(fingerprint) != (2,):
        return
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

    def on(self, net: Network) -> NetworkState:
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
