"""Projections that are not stored: the words from which kernels draw their rows again."""

from typing import Any

import numpy as np

from ..connectivity import RowLaw
from ..kernels import DRAW_WORDS, GAPS, HAS_DELAYS, HAS_WEIGHTS, UNIFORM, Draw, gap_words
from ..numerics import QUANTILES, Distribution, gap_table, quantile_table, stream_key
from ._draw import Block, round_delays
from ._places import Wired

_LONGEST_ROW = 2**28  # 1 GB of targets while it is drawn


class Again:
    """A projection whose rows are drawn again: stands in for a `Drawing`, and draws nothing."""

    def __init__(self, wired: Wired, law: RowLaw, index: int, seed: Any, n_pre: int, n_post: int):
        self.wired, self.law, self.n_rows = wired, law, n_pre
        self.blocks = [Block(index, 0, n_post)]
        self.size = law.size
        self.values = stream_key(seed, wired.projection.name, "values")

    def weights(self) -> np.ndarray:
        """The table of quantiles of the weights."""
        return quantile_table(self.wired.projection.weight)

    def delays(self, dt: float) -> np.ndarray:
        """The table of quantiles of the delays [steps]."""
        p = self.wired.projection
        return round_delays(p.name, quantile_table(p.delay), dt)


def row_law(wired: Wired, seed: Any) -> RowLaw | None:
    """How the rows of a projection are drawn again; None where they are stored."""
    key = stream_key(seed, wired.projection.name, "targets")
    return None if 0 in wired.sizes else wired.rule.law(key, *wired.sizes, wired.same)


def check_again(wired: Wired) -> None:
    """Raises `ValueError` for what a projection that is not stored cannot have."""
    p = wired.projection
    if getattr(p.rule, "stored", True):
        return
    label = f"projection {p.name!r}: stored=False"
    per_row = wired.expected / max(wired.sizes[0], 1)
    if per_row > _LONGEST_ROW:
        raise ValueError(
            f"{label} draws a row again with every spike: a source must have at most "
            f"{_LONGEST_ROW:,} synapses; got {per_row:,.0f}"
        )
    for what in ("weight", "delay"):
        value = getattr(p, what)
        if isinstance(value, float):
            continue
        if not isinstance(value, Distribution):
            raise ValueError(
                f"{label} keeps nothing per synapse: {what} must be a number, or a distribution "
                f"where the rule is FixedProbability; got {_kind(value)}. Store the projection"
            )
        if not hasattr(p.rule, "p"):
            raise ValueError(
                f"{label} with {type(p.rule).__name__} draws targets in no order: {what} must be "
                f"a number; got {value!r}. Store it, or take FixedProbability, whose weights and "
                "delays may be drawn"
            )
    for side, neurons in (("source", wired.pre), ("target", wired.post)):
        if not isinstance(neurons, slice):
            raise ValueError(
                f"{label} needs a stretch of neurons as {side}: a whole population or a slice; "
                "got indices that are not consecutive. Store the projection"
            )


def _kind(value: Any) -> str:
    return f"an array {np.shape(value)}" if isinstance(value, np.ndarray) else repr(value)


class Words:
    """The words of all blocks of a pathway that are drawn again, and the tables they use."""

    def __init__(self) -> None:
        self._tables: list[np.ndarray] = []
        self._size = 0
        self._gaps: dict[float, int] = {}

    def _keep(self, words: np.ndarray) -> int:
        """Where some words stand among the tables; each starts at an even place."""
        start = self._size
        self._tables.append(np.concatenate([words, np.zeros(words.size % 2, np.uint32)]))
        self._size += self._tables[-1].size
        return start

    def block(self, again: Again, flags: int, number: int) -> np.ndarray:
        """The words of the projection with this number in its section."""
        law, pre, post = again.law, again.wired.pre, again.wired.post
        assert isinstance(pre, slice)
        assert isinstance(post, slice)
        gaps = {"gaps": 0, "gap_size": 0, "gap_shift": 0, "hint": 0}
        own_counts = 0
        if law.p is not None:
            gaps = self._gap_words(law.p, law.n)
        elif law.counts is not None:
            own_counts = 1 + self._keep(law.counts)
        return Draw(
            rule=UNIFORM if law.p is None else GAPS,
            key_high=law.key[0],
            key_low=law.key[1],
            n=law.n,
            skip_own=law.skip_own,
            first_row=pre.start,
            rows=pre.stop - pre.start,
            shift=post.start,
            mean=law.mean,
            own_counts=own_counts,
            **gaps,
            values_high=again.values[0],
            values_low=again.values[1],
            weights=number * QUANTILES if flags & HAS_WEIGHTS else 0,
            delays=number * QUANTILES if flags & HAS_DELAYS else 0,
        ).words()

    def _gap_words(self, p: float, n: int) -> dict[str, int]:
        table = gap_table(p)
        if p not in self._gaps:
            self._gaps[p] = self._keep(gap_words(table))
        words = n * p + n / table.size
        return {
            "gaps": self._gaps[p],
            "gap_size": table.size,
            "gap_shift": table.shift,
            "hint": int(words + np.sqrt(words)),
        }

    def tables(self) -> np.ndarray:
        """All tables, one after the other; never empty, so that `jnp` can look into them."""
        return np.concatenate([*self._tables, np.zeros(2, np.uint32)])


NO_WORDS = np.zeros(DRAW_WORDS, np.uint32)
