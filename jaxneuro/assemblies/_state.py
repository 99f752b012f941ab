"""The state of a brain: caps, and the history from which all weights follow."""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from .._checks import is_traced
from .._text import counted, megabytes

# The limit of a round in which no neuron could have won: see `_candidates.py`.
NEVER = np.array([[0xFFFFFFFF, 0x7FFFFFFF, 0]], np.uint32)


class AreaState(NamedTuple):
    """What an area holds. N are its neurons, or the places of a sampled area.

    **Fields** `cap` int32 (k,) the neurons that fired last, ascending; `fired` whether there is a
    cap; `fixed` whether it stays; `balanced` whether homeostasis divides what it receives;
    `support` int32 how many neurons ever fired; `ever` bool (N,) which (listed areas); `wins` int32
    (N,) how often, since the last rest (refracted areas);
    `before`, `after` uint32 (N, words): a bit for each remembered round in which the neuron was in
    the cap before or after it; `key` uint32 (2,) of its draws, `rank` uint32 (N,), `limits` uint32
    (rounds, 3) and `lost` int32: see `_candidates.py`. What an area does not need has length 0.
    """

    cap: Any
    fired: Any
    fixed: Any
    balanced: Any
    support: Any
    ever: Any
    wins: Any
    before: Any
    after: Any
    key: Any
    rank: Any
    limits: Any
    lost: Any


class FibreState(NamedTuple):
    """What a fibre holds.

    **Fields** `key` uint32 (2,) of its draws; `synapses` what is stored of them: see
    `_connectome.py`; `sums` uint32 (n, 2) of all weights of a neuron (homeostasis), or (0, 2).
    """

    key: Any
    synapses: Any
    sums: Any


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Origin:
    """Which brain a state is of: no leaf, so it is known under `jit` and `vmap`, too.

    **Fields** `names` those of the areas; `bits` a digest of all that shapes and synapses follow
    from.
    """

    names: tuple[str, ...]
    bits: str


class BrainState(NamedTuple):
    """The state of a brain.

    **Fields** `seed` uint32; `round` int32 rounds so far; `remembered` int32 rounds in the
    history; `forgotten` int32 rounds that had no room in it; `active`, `learned` uint32 (F, words)
    a bit for each remembered round in which a fibre was active, and in which it learned; `areas`
    a tuple of `AreaState`, `fibres` one of `FibreState`; `origin` the brain that it is of, no leaf.
    """

    seed: Any
    round: Any
    remembered: Any
    forgotten: Any
    active: Any
    learned: Any
    areas: Any
    fibres: Any
    origin: Origin | None = None

    def __repr__(self) -> str:
        rounds = "traced rounds" if is_traced(self.round) else counted(_number(self.round), "round")
        size = sum(x.nbytes for x in jax.tree.leaves(tuple(self)) if hasattr(x, "nbytes"))
        areas = counted(len(self.areas or ()), "area")
        return f"BrainState: after {rounds}, {areas}{self._silent()}, {megabytes(size)}"

    def _silent(self) -> str:
        """Which areas never fired, in brackets, once there were rounds."""
        known = [*(a.support for a in self.areas or ()), self.round]
        if self.origin is None or any(map(is_traced, known)) or not _number(self.round):
            return ""
        pairs = zip(self.origin.names, known)
        names = [name for name, x in pairs if np.size(x) and not np.any(np.asarray(x))]
        return f" (never fired: {', '.join(names)})" if names else ""


def _number(value: Any) -> Any:
    """One number, or the last of many: a state under `vmap` has a round per seed."""
    found = np.asarray(value)
    return int(found.ravel()[-1]) if found.size and found.dtype.kind in "iu" else 0
