"""A modulator: one level, and what it scales."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Shaped

from .._arrays import AnyArray
from .._fields import Model, Parameter, param
from .._numerics.compensated import Low, no_low, step_compensated
from .._numerics.streams import expand_rows
from .members import inside

if TYPE_CHECKING:
    from .runtime import RuntimeNetwork


class LevelKinetics(Model):
    """How the level of a modulator moves."""

    tau: Parameter = param(
        unit="ms", above=0.0, doc="time constant with which it returns to its baseline"
    )
    per_spike: Parameter = param(1.0, doc="what a spike of a source neuron sets free")
    baseline: Parameter = param(0.0, doc="the level without spikes and signal")

    def time_constants(self) -> dict[str, Any]:
        return {"level": self.tau}


class ModulationTarget(NamedTuple):
    """One parameter that a modulator scales.

    Attributes:
        path: attributes and numbers that lead to the array in a `RuntimeNetwork`.
        sizes: of the members of its model.
        member: the number of the scaled one.
        blocks: whether the array has an entry per block of a pathway; the member is a projection.
    """

    path: tuple[Any, ...]
    sizes: tuple[int, ...]
    member: int
    blocks: bool = False


class ModulatorState(NamedTuple):
    """The state of a modulator.

    Attributes:
        level: (1,).
        low: the digits below those of a slow level.
    """

    level: Float[Array, "1"]
    low: Low


class ModulatorLayer(eqx.Module):
    """A modulator of a network.

    Attributes:
        model: its kinetics.
        amounts: (targets,) by which the level scales each target.
        bounds: (2,) of the factors.
        start: () level at t = 0.
        index: source neurons among `neurons` if those are not all.
        name: its name.
        targets: what is scaled.
        scales: name and parameter of each target, as described.
        source: number of the group of its source neurons; None where no spikes set it free.
        neurons: which neurons of that group, first and last + 1.
        signal: name of an input of the run that sets it free, or None.
        slow: `("level",)` if the level is a slow variable (see `slow.py`), else empty.
    """

    model: LevelKinetics
    amounts: Float[AnyArray, " targets"]
    bounds: Float[AnyArray, "2"]
    start: Float[AnyArray, ""]
    index: Int[AnyArray, " sources"] | None
    name: str = eqx.field(static=True)
    targets: tuple[ModulationTarget, ...] = eqx.field(static=True)
    scales: tuple[tuple[str, str], ...] = eqx.field(static=True)
    source: int | None = eqx.field(static=True)
    neurons: tuple[int, int] | None = eqx.field(static=True)
    signal: str | None = eqx.field(static=True)
    slow: tuple[str, ...] = eqx.field(static=True)

    def init(self, dtype: np.dtype) -> ModulatorState:
        """The state at t = 0."""
        level = jnp.reshape(self.start, (1,)).astype(dtype)
        return ModulatorState(level, no_low({"level": level}, self.slow))

    def scaled(self, net: "RuntimeNetwork", state: ModulatorState) -> "RuntimeNetwork":
        """A `RuntimeNetwork` in which the factors of this level have been multiplied in."""
        factors = jnp.clip(1 + self.amounts * state.level, *self.bounds)
        for number, target in enumerate(self.targets):
            new = inside(net, target.path) * _expanded(net, target, factors[number])
            net = eqx.tree_at(lambda n: inside(n, target.path), net, new)  # noqa: B023
        return net

    def set_free(
        self,
        spikes: Sequence[Shaped[Array, " _"]],
        inputs: Mapping[str, Float[Array, "..."]],
        dtype: np.dtype,
    ) -> Float[Array, ""]:
        """What spikes and the signal set free in a step: ()."""
        out = jnp.zeros((), dtype)
        if self.source is not None and self.neurons is not None:
            fired = spikes[self.source][slice(*self.neurons)]
            fired = fired if self.index is None else fired[self.index]
            out = self.model.per_spike * jnp.sum(fired, dtype=dtype)
        return out if self.signal is None else out + inputs[self.signal]

    def step(self, state: ModulatorState, free: Float[Array, ""], dt: float) -> ModulatorState:
        """The state after a step in which `free` was set free."""

        def move(state: dict, free: Float[Array, ""]) -> tuple[dict, None]:
            baseline = self.model.baseline
            kept = jnp.exp(-dt / self.model.tau)
            return {"level": baseline + (state["level"] - baseline) * kept + free}, None

        new, low, _ = step_compensated(move, {"level": state.level}, state.low, free)
        return ModulatorState(new["level"].astype(state.level.dtype), low)


def needed_signals(
    of_rules: Iterable[str], modulators: Sequence[ModulatorLayer]
) -> tuple[str, ...]:
    """The signals that a run must give: those of rules that no modulator feeds, and its own."""
    fed = {m.name for m in modulators}
    own = (m.signal for m in modulators if m.signal is not None)
    return tuple(dict.fromkeys([*(name for name in of_rules if name not in fed), *own]))


def _expanded(
    net: "RuntimeNetwork", target: ModulationTarget, factor: Float[Array, ""]
) -> Float[Array, "*entries"]:
    """The factor of one member, and 1 of all others, for every entry of an array."""
    x = inside(net, target.path)
    if target.blocks:
        owner = inside(net, (*target.path[:-1], "table")).block_projection
        return jnp.where(owner == target.member, factor, jnp.ones_like(factor))
    if len(target.sizes) == 1:
        return factor
    each = jnp.ones(len(target.sizes), x.dtype).at[target.member].set(factor)
    runs = "stimuli" in target.path and inside(net, target.path[:4]).per_run
    return each if runs and target.path[-1] != "weight" else expand_rows(each, target.sizes)
