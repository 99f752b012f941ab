"""Several receptors that one arrival reaches."""

import collections
import functools
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._arrays import as_array
from .._checks import check_bounds, is_traced
from .._fields import part_names
from .._types import Drive, Synapse, add_drives, state_variables
from ._ports import Into


def _as_shares(values: Any) -> tuple:
    """Each share as a leaf of its own, so that it can be set, scaled and differentiated."""
    try:
        known = (x if isinstance(x, jax.Array) else float(x) for x in tuple(values))
        return tuple(x if isinstance(x, jax.Array) else as_array(x, np.float64) for x in known)
    except (TypeError, ValueError):
        raise ValueError(
            f"Several: shares must be one number per part, such as (1.0, 0.3); got {values!r}"
        ) from None


class Several(Synapse):
    """Several receptors at one synapse: each gets its share of what arrives.

    A spike that reaches AMPA and NMDA receptors, `Several((AMPA(), NMDA()), (1.0, 0.4))`, is
    delivered once: an arrival w is `share w` for each part, in the part's own unit. The drives of
    the parts add. The state has the variables of all parts, by the lower-case name of the class:
    `ampa_g`, `nmda_g`, `nmda_v`; of a class that occurs more than once with a number, `nmda1_g`.

    **Fields** `parts`: a tuple of synapses without ports, none of them `Several`; `shares`: a tuple
    of numbers, one per part. `Network.set` and modulators know them by the same names:
    `nmda_share`, and parameters of the parts, `nmda_mg`.

    **Step** `arrivals` (n,) times its share are the arrivals of each part.

    **Raises** `ValueError` for no parts, for a part that is no synapse, has ports or is `Several`
    itself, for shares that are not one finite number per part, and for a negative share of a
    conductance.

    **Source** Brunel and Wang (2001), doi:10.1023/A:1011204814320, where one spike opens both AMPA
    and NMDA receptors.
    """

    parts: tuple[Synapse, ...]
    shares: tuple[float, ...] = eqx.field(
        converter=_as_shares, metadata={"each_of": ("parts", "share")}
    )

    def __check_init__(self) -> None:
        if not isinstance(self.parts, tuple) or not self.parts:
            raise ValueError(f"Several: parts must be a tuple of synapses; got {self.parts!r}")
        for part in self.parts:
            if not isinstance(part, Synapse):
                hint = " (a class was given: call it)" if isinstance(part, type) else ""
                raise ValueError(f"Several: each part must be a synapse; got {part!r}{hint}")
            if isinstance(part, Several):
                raise ValueError("Several: a part must not be Several; list its parts instead")
            if part.ports or isinstance(part, Into):
                raise ValueError(
                    f"Several: {type(part).__name__} has ports and cannot be a part; give it a "
                    f"projection of its own"
                )
        if len(self.shares) != len(self.parts):
            raise ValueError(
                f"Several: shares must be one number per part, {len(self.parts)}; got "
                f"{len(self.shares)}"
            )
        for name, part, share in zip(part_names(self.parts), self.parts, self.shares):
            if np.ndim(share):
                raise ValueError(f"Several: {name}_share must be one number; got {share!r}")
            check_bounds(f"Several: shares: {name}_share", share)
            if not is_traced(share) and np.asarray(share) * part.weight_sign < 0:
                raise ValueError(
                    f"Several: the share of {type(part).__name__}, whose channels arrivals open, "
                    f"must be at least 0; got {share:g}"
                )

    @property
    def weight_sign(self) -> int:  # type: ignore[override]
        """That of the parts whose weights have one."""
        return next((part.weight_sign for part in self.parts if part.weight_sign), 0)

    def init(self, n: int) -> Any:
        return self._joined([part.init(n) for part in self.parts])

    def step(self, state: Any, arrivals: jax.Array, v: jax.Array, dt: float) -> tuple[Any, Drive]:
        values, new, total = list(state), [], Drive()
        for part, share in zip(self.parts, self.shares):
            kind = jax.tree.structure(jax.eval_shape(lambda p: p.init(1), part))
            own, values = values[: kind.num_leaves], values[kind.num_leaves :]
            own, drive = part.step(jax.tree.unflatten(kind, own), share * arrivals, v, dt)
            new.append(own)
            total = add_drives(total, drive)
        return self._joined(new), total

    def _joined(self, states: list) -> Any:
        """One flat state of the states of the parts."""
        names = [
            f"{part}_{variable}"
            for part, state in zip(part_names(self.parts), states)
            for variable in state_variables(state)
        ]
        return state_class(tuple(names))(*jax.tree.leaves(states))


@functools.cache
def state_class(names: tuple[str, ...]) -> Any:
    """The type of a state with these variables: one for equal names, which can be pickled."""
    base = collections.namedtuple("SeveralState", names)
    made = type("SeveralState", (base,), {"__slots__": (), "__reduce__": _reduced})
    made.__module__ = __name__
    return made


def _reduced(state: Any) -> tuple:
    return _state_of, (state._fields, tuple(state))


def _state_of(names: tuple[str, ...], values: tuple) -> Any:
    return state_class(names)(*values)
