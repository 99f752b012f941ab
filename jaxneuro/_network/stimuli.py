"""Stimuli of a group: those of one kind stepped as one."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int32, Num

from .._arrays import AnyArray
from .._kernels.native import native_available
from .._model import Drive, Stimulus
from .._numerics.streams import Stream, stream_keys
from .members import Seed, expand

_LONG = 64  # neurons: a shorter run costs more to start than to draw
_MANY, _FEW = 8192, 8  # a group of so many neurons, of which at most one in so many is driven
_NONE = {"is_leaf": lambda x: x is None}


class Window(NamedTuple):
    """When a stimulation is on, in steps: from `start` to `stop` (None: always), `delay` later."""

    delay: int = 0
    start: int = 0
    stop: int | None = None

    def on(self, now: Int32[Array, ""]) -> Bool[Array, ""] | None:
        """Whether a stimulus is on in its own step `now`; None if it always is."""
        if (self.delay, self.start) == (0, 0) and self.stop is None:
            return None
        on = now >= self.start
        return on if self.stop is None else on & (now < self.stop)


class StimulationMember(NamedTuple):
    """The neurons that one stimulation drives.

    Attributes:
        name: of the stimulation.
        population: its number in the group.
        n: how many.
        span: first and last + 1 neuron in the group, None if they are not consecutive.
        first: the number in the population of the span's first neuron, or without a span the number
            in the group of the population's first.
    """

    name: str
    population: int
    n: int
    span: tuple[int, int] | None
    first: int


class StimulusGroup(eqx.Module):
    """Stimuli of one kind onto neurons of one group.

    Attributes:
        model: the merged stimulus.
        weight: of the spikes it sends, () or (targets,) or (n,); None for one that gives a current.
        index: the neurons in the group if they are not consecutive, else None.
        targets: whom each stimulation drives.
        receptor: number of the receptor that the spikes reach, None without spikes.
        input: the row of their arrivals, None without spikes.
        window: when it is on.
        here: which of the neurons that the model computes are on this device of a mesh, None if it
            computes those that are.
    """

    model: Stimulus
    weight: Float[AnyArray, "..."] | None
    index: Int[AnyArray, "..."] | None
    targets: tuple[StimulationMember, ...] = eqx.field(static=True)
    receptor: int | None = eqx.field(static=True)
    input: int | None = eqx.field(static=True)
    window: Window = eqx.field(static=True)
    here: Int32[Array, "..."] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the stimulations."""
        return tuple(target.name for target in self.targets)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of neurons that the stimulations drive."""
        return tuple(target.n for target in self.targets)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The slices of the group that are driven, ascending; none if `index` lists the neurons."""
        return tuple(target.span for target in self.targets if target.span is not None)

    @property
    def n(self) -> int:
        return sum(self.sizes)

    def onto_all(self, n: int) -> bool:
        """Whether all n neurons of the group are driven, and are here."""
        return self.index is None and self.here is None and self.n == n

    def cut(self, n: int) -> "StimulusGroup":
        """A block of n neurons of one that is onto all."""
        return dataclasses.replace(self, targets=(self.targets[0]._replace(n=n, span=(0, n)),))

    def neurons(self, number: int) -> slice:
        """The neurons of target `number` in what is driven: a slice."""
        start = sum(self.sizes[:number])
        return slice(start, start + self.sizes[number])

    def expand(self) -> "StimulusGroup":
        """Merged parameters expanded to one number per neuron, if the model needs it."""
        if self.per_run:
            return eqx.tree_at(lambda s: s.weight, self, expand(self.weight, self.sizes), **_NONE)
        pair = expand((self.model, self.weight), self.sizes)
        return eqx.tree_at(lambda s: (s.model, s.weight), self, pair, **_NONE)

    def _keeps_runs(self) -> bool:
        """Whether the model may get one number per run: if that is faster."""
        long = self.n >= _LONG * len(self.targets)
        return self.model.takes_runs and long and native_available()

    @property
    def per_run(self) -> bool:
        """Whether the model gets one number per run: every parameter is one for all or per run."""
        shapes = (), (len(self.targets),)
        return self._keeps_runs() and all(
            jnp.shape(x) in shapes for x in jax.tree.leaves(self.model)
        )

    def init(self, seed: Seed) -> Any:
        """The state, with the random stream of every neuron for a stimulus that draws."""
        high, low = (jnp.asarray(k) for k in stream_keys(seed, self.names, "stimulus"))
        first = jnp.asarray([target.first for target in self.targets], jnp.uint32)
        if self.index is not None:
            first = (self.index - self.targets[0].first).astype(jnp.uint32)
        stream = Stream(high, low, first, self.sizes)
        return self.model.init(self.n, stream if self._keeps_runs() else stream.expand())

    def step(self, state: Any, step: Int32[Array, ""], dt: float, n: int) -> tuple[Any, Any]:
        """The new state, and the drive (or the weighted spikes) for all n neurons of the group."""
        now = step if self.window.delay == 0 else step - self.window.delay
        state, out = self.model.step(state, now, dt)
        if self.here is not None:
            out = jax.tree.map(lambda x: x[self.here] if x.ndim else x, out)
        if self.weight is not None:
            out = out * self.weight
        on = self.window.on(now)
        if on is not None:
            out = jax.tree.map(lambda x: jnp.where(on, x, jnp.zeros_like(x)), out)
        if isinstance(out, Drive):
            return state, jax.tree.map(lambda x: self._place(x, n), out)
        return state, self._place(out, n)

    def _place(self, x: Num[Array, "..."], n: int) -> Num[Array, "..."]:
        if self.index is None:
            return place(x, self.spans, n)
        return jnp.zeros(n, x.dtype).at[self.index].set(x, unique_indices=True)


def _computed_once(x: Num[Array, " driven"]) -> Num[Array, " driven"]:
    """`x` in memory, for XLA on a CPU, which fuses nothing into a condition.

    Else it would compute x within the loop over all neurons, in a branch that is not vectorized:
    20 Poisson trains made a step of 138,639 neurons more than twice as long.
    """
    return jax.lax.cond(jnp.any(x != 0), lambda x: x, jnp.zeros_like, x)


def place(x: Num[Array, "..."], spans: Sequence[tuple[int, int]], n: int) -> Num[Array, "..."]:
    """`x`, given for the neurons of `spans` (ascending), as an array of all n; 0 elsewhere."""
    covered = sum(stop - start for start, stop in spans)
    if covered == n:
        return x
    x = jnp.broadcast_to(x, (covered,))
    if n >= _MANY and _FEW * covered <= n:
        x = jax.lax.platform_dependent(x, cpu=_computed_once, default=lambda x: x)
    pieces, end, taken = [], 0, 0
    for start, stop in spans:
        size = stop - start
        pieces += [jnp.zeros(start - end, x.dtype), x[taken : taken + size]]
        end, taken = stop, taken + size
    return jnp.concatenate([*pieces, jnp.zeros(n - end, x.dtype)])
