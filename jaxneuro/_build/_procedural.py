"""Projections that are not stored: kernels draw their rows again with every spike."""

from typing import Any

import numpy as np

from ..connectivity import RowLaw
from .._describe import ResolvedProjection, is_individual
from .._kernels import GAPS, UNIFORM, Draw
from .._numerics import Distribution, quantile_table, stream_key
from .._tables import DrawTables, RedrawnBundle
from ._delays import delay_steps, longest_delay, round_delays

_LONGEST_ROW = 2**28  # 1 GB of targets while it is drawn


class ProceduralBundle(RedrawnBundle):
    """The connections of a projection that is not stored, between two whole populations."""

    def __init__(
        self,
        resolved: ResolvedProjection,
        law: RowLaw,
        seed: Any,
        sizes: tuple[int, int],
        dt: float,
    ):
        p = resolved.projection
        self._resolved, self._law, self._dt = resolved, law, dt
        self._values_key = stream_key(seed, p.name, "values")
        self.n_sources, self.n_targets = sizes
        self.size = law.size
        self.own_weights, self.own_delays = is_individual(p.weight), is_individual(p.delay)
        self.delay = 0 if self.own_delays else int(delay_steps(p.name, p.delay, dt))
        self.longest_delay = longest_delay(resolved, dt)

    def weights(self) -> np.ndarray:
        return quantile_table(self._resolved.projection.weight)

    def delays(self) -> np.ndarray:
        p = self._resolved.projection
        return round_delays(p.name, quantile_table(p.delay), self._dt)

    def draw(self, tables: DrawTables, weights: int, delays: int) -> Draw:
        law, pre, post = self._law, self._resolved.pre, self._resolved.post
        assert isinstance(pre, slice)
        assert isinstance(post, slice)
        gaps = {"gaps": 0, "gap_size": 0, "gap_shift": 0, "hint": 0}
        own_counts = 0
        if law.p is not None:
            gaps = tables.gaps(law.p, law.n)
        elif law.counts is not None:
            own_counts = 1 + tables.keep(law.counts)
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
            values_high=self._values_key[0],
            values_low=self._values_key[1],
            weights=weights,
            delays=delays,
        )


def row_law(resolved: ResolvedProjection, seed: Any) -> RowLaw | None:
    """How the rows of a projection are drawn again; None if they are stored."""
    key = stream_key(seed, resolved.projection.name, "targets")
    return None if 0 in resolved.sizes else resolved.rule.law(key, *resolved.sizes, resolved.same)


def check_unstored(resolved: ResolvedProjection) -> None:
    """Raises `ValueError` for values that only a stored projection can have."""
    p = resolved.projection
    if p.rule.stored:
        return
    label = f"projection {p.name!r}: stored=False"
    per_row = resolved.expected / max(resolved.sizes[0], 1)
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
        if not p.rule.redraws_in_order:
            raise ValueError(
                f"{label} with {type(p.rule).__name__} draws targets in no order: {what} must be "
                f"a number; got {value!r}. Store it, or take FixedProbability, whose weights and "
                "delays may be drawn"
            )
    for side, neurons in (("source", resolved.pre), ("target", resolved.post)):
        if not isinstance(neurons, slice):
            raise ValueError(
                f"{label} needs consecutive neurons as {side}: a whole population or a slice; "
                "got indices that are not consecutive. Store the projection"
            )


def _kind(value: Any) -> str:
    return f"an array {np.shape(value)}" if isinstance(value, np.ndarray) else repr(value)
