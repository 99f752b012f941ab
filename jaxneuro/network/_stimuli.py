"""Stimuli of a group: those of one kind stepped as one."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._types import Drive, Stimulus
from ..kernels import native_available
from ..numerics import Stream, stream_keys
from ._merge import spread

_LONG = 64  # neurons: a shorter run takes longer to begin than to draw
_NONE = {"is_leaf": lambda x: x is None}


class StimulusGroup(eqx.Module):
    """Stimuli of one kind onto neurons of one group.

    **Fields** `model` merged; `weight` of the spikes it sends, () or (members,) or (n,), None for
    one that gives a current; `index` the neurons in the group where they are not stretches of
    it; static `names`; `members` the populations' numbers; `spans` stretches of the group (start,
    stop); `locals` number of the first neuron of each stretch in its population; `receptor` of
    the spikes; `window` delay, start and stop in steps.

    **Source** the house's own: design section 3.
    """

    model: Stimulus
    weight: jax.Array | None
    index: jax.Array | None
    names: tuple[str, ...] = eqx.field(static=True)
    members: tuple[int, ...] = eqx.field(static=True)
    sizes: tuple[int, ...] = eqx.field(static=True)
    spans: tuple[tuple[int, int], ...] = eqx.field(static=True)
    locals: tuple[int, ...] = eqx.field(static=True)
    receptor: int | None = eqx.field(static=True)
    window: tuple[int, int, int | None] = eqx.field(static=True)

    @property
    def n(self) -> int:
        return sum(self.sizes)

    def spread(self) -> "StimulusGroup":
        """Merged parameters spread over the neurons, if the model needs it."""
        if self._keeps_runs() and self._per_run(self.model):
            return eqx.tree_at(lambda s: s.weight, self, spread(self.weight, self.sizes), **_NONE)
        pair = spread((self.model, self.weight), self.sizes)
        return eqx.tree_at(lambda s: (s.model, s.weight), self, pair, **_NONE)

    def _keeps_runs(self) -> bool:
        """Whether the model gets one number per run: where that is faster."""
        long = self.n >= _LONG * len(self.sizes)
        return self.model.takes_runs and long and native_available()

    def _per_run(self, model: Stimulus) -> bool:
        """Whether every parameter is one number, for all or for each member."""
        return all(jnp.shape(x) in ((), (len(self.sizes),)) for x in jax.tree.leaves(model))

    def init(self, seed: Any) -> Any:
        """The state, with the identity of every neuron for what the stimulus draws."""
        high, low = (jnp.asarray(k) for k in stream_keys(seed, self.names, "stimulus"))
        first = jnp.asarray(self.locals, jnp.uint32)
        if self.index is not None:
            first = (self.index - self.locals[0]).astype(jnp.uint32)
        stream = Stream(high, low, first, self.sizes)
        return self.model.init(self.n, stream if self._keeps_runs() else stream.spread())

    def step(self, state: Any, step: jax.Array, dt: float, n: int) -> tuple[Any, Any]:
        """The new state, and the drive (or the weighted spikes) for all n neurons of the group."""
        delay, start, stop = self.window
        now = step if delay == 0 else step - delay
        state, out = self.model.step(state, now, dt)
        if self.weight is not None:
            out = out * self.weight
        if (delay, start) != (0, 0) or stop is not None:
            on = now >= start
            on = on if stop is None else on & (now < stop)
            out = jax.tree.map(lambda x: jnp.where(on, x, jnp.zeros_like(x)), out)
        if isinstance(out, Drive):
            return state, jax.tree.map(lambda x: self._place(x, n), out)
        return state, self._place(out, n)

    def _place(self, x: jax.Array, n: int) -> jax.Array:
        if self.index is None:
            return place(x, self.spans, n)
        return jnp.zeros(n, x.dtype).at[self.index].set(x, unique_indices=True)


def place(x: jax.Array, spans: Sequence[tuple[int, int]], n: int) -> jax.Array:
    """`x`, given for the neurons of `spans` (ascending), as an array of all n; 0 elsewhere."""
    covered = sum(stop - start for start, stop in spans)
    if covered == n:
        return x
    x = jnp.broadcast_to(x, (covered,))
    pieces, end, taken = [], 0, 0
    for start, stop in spans:
        size = stop - start
        pieces += [jnp.zeros(start - end, x.dtype), x[taken : taken + size]]
        end, taken = stop, taken + size
    return jnp.concatenate([*pieces, jnp.zeros(n - end, x.dtype)])
