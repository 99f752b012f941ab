"""Weights and delays as a function of both positions."""

import math
from collections.abc import Callable

import equinox as eqx
import numpy as np

from ._distance import Place, placed
from ._profile import Profile
from ._values import Bound, SpatialValue


class ByPositions(SpatialValue):
    """A function of the positions of both neurons, which may be in two spaces.

    **Fields** `function` of positions x of sources and y of targets [um], both (m, dims), that
    returns m values (weights in the unit of the synapse, delays in ms). The function itself
    must handle periodic axes.

    **Raises** `ValueError` for a value that is not a function; when values are drawn, for a result
    of another shape or one that is not finite.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    function: Callable = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, Profile):
            raise ValueError(
                "ByPositions: function must be a function of both positions (a Profile, of their "
                f"distance, goes into ByDistance); got {self.function!r}"
            )

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `ValueError`, naming `label`, if positions do not fit."""
        placed(label, pre, post)
        assert pre is not None
        assert post is not None
        x, y = (np.asarray(p.points, np.float64) for p in (pre, post))

        def values(i: np.ndarray, j: np.ndarray) -> np.ndarray:
            out = np.asarray(self.function(x[i], y[j]))
            if out.shape != i.shape or out.dtype.kind not in "fiu":
                raise ValueError(
                    f"{label}: a function of both positions must return one number per pair, shape "
                    f"{i.shape}; got shape {out.shape}, {out.dtype}"
                )
            bad = np.flatnonzero(~np.isfinite(out))
            if bad.size:
                k = bad[0]
                raise ValueError(
                    f"{label}: a value by positions must be finite; got {out[k]} for {i[k]} -> "
                    f"{j[k]}"
                )
            return out.astype(np.float64)

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """inf: no bound is known of a function."""
        return math.inf
