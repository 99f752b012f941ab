"""Several receptors that one arrival reaches."""

import collections
import functools
from typing import Any

import jax
import numpy as np

from .._fields import ParameterKind, part_names
from .._model import Drive, Synapse, add_drives, state_variables
from ..spec import Items, Of, Rule, Unfit, field
from ._ports import Into


class _PartKind(Of):
    """A synapse without ports that is not `Several`."""

    def convert(self, value: Any) -> Synapse:
        part = super().convert(value)
        if part.ports or isinstance(part, Into | Several):
            raise Unfit("a synapse without ports that is not `Several` itself")
        return part


class _Share(ParameterKind):
    """The share of a part: a leaf of its own, so that it can be set, scaled and differentiated."""

    def convert(self, value: Any) -> jax.Array:
        x = super().convert(value)
        if np.ndim(x):
            raise Unfit("one number")
        return x

    def read(self, entry: Any) -> Any:
        return entry.scalar(float)


def _opening(parts: tuple[Synapse, ...], shares: tuple[Any, ...]) -> bool:
    """Whether the share is at least 0 of each part whose channels arrivals open."""
    return all(np.asarray(x) * part.weight_sign >= 0 for part, x in zip(parts, shares))


class Several(Synapse):
    """Several receptors at one synapse: each gets its share of what arrives.

    A spike that reaches AMPA and NMDA receptors, `Several((AMPA(), NMDA()), (1.0, 0.4))`, is
    delivered once: an arrival w is `share w` for each part, in the part's own unit. The drives of
    the parts add. The state has the variables of all parts, by the lower-case name of the class:
    `ampa_g`, `nmda_g`, `nmda_v`; of a class that occurs more than once with a number, `nmda1_g`.

    `Network.set` and modulators know the numbers of the parts by the same names: `nmda_share`, and
    parameters of the parts, `nmda_mg`.

    Reference:
        Brunel and Wang (2001), Effects of neuromodulation in a cortical network model of object
        working memory dominated by recurrent inhibition, doi:10.1023/A:1011204814320, where one
        spike opens both AMPA and NMDA receptors.
    """

    parts: tuple[Synapse, ...] = field(
        Items(_PartKind(Synapse), at_least=1), doc="synapses without ports, none of them `Several`"
    )
    shares: tuple[float, ...] = field(
        Items(_Share()),
        doc="one number per part",
        metadata={"each_of": ("parts", "share")},
    )
    rules = (
        Rule("shares", "one number per part", lambda parts, shares: len(parts) == len(shares)),
        Rule("shares", "at least 0 for parts whose channels arrivals open", _opening),
    )

    @property
    def weight_sign(self) -> int:  # type: ignore[override]
        """That of the parts whose weights have one."""
        return next((part.weight_sign for part in self.parts if part.weight_sign), 0)

    def time_constants(self) -> dict[str, Any]:
        return {
            f"{name}_{variable}": tau
            for name, part in zip(part_names(self.parts), self.parts)
            for variable, tau in part.time_constants().items()
        }

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
