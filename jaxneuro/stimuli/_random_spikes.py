"""Random spike trains: Poisson, with a dead time, gamma, and with common spikes."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._fields import Parameter, param
from .._kernels.poisson import poisson
from .._model import SpikeStimulus
from .._numerics.draws import chance
from .._numerics.grid import per_step, steps_on_grid
from .._numerics.streams import Stream
from ..spec import InvalidValueError, Whole, field
from ._signal_field import check_rate, prepare_signals, signal, value_at
from ._time_grid import all_known, check_shapes

_SLACK = 1e-6  # allows for rounding in rate dt
_START = 99  # purpose of the bits that draw the start of a process


class PoissonState(NamedTuple):
    """State of Poisson trains.

    Attributes:
        stream: stream of the random bits of n neurons.
    """

    stream: Stream


class Poisson(SpikeStimulus):
    """Poisson spike trains: each neuron gets its own, with the rate `rate(t)`.

    Update: the counts of a time step are Poisson numbers of mean `rate dt`, drawn by inversion
    and exact to the digits of the dtype. The superposition of K trains is one train with K times
    the rate.

    The counts are drawn, so their gradient with respect to the rate is 0; the gradient with
    respect to the weight of the spikes is exact. A function of time gets t as float32: from step
    2^23 on, neighbouring steps get the same time. For longer runs use a signal, which is exact at
    any step.

    Counts are nan where a function gives a rate below 0 or nan. There may be at most 16383 spikes
    per time step.

    Reference:
        Amit and Brunel (1997), Model of global spontaneous activity and local structured activity
        during delay periods in the cerebral cortex, doi:10.1093/cercor/7.3.237.
    """

    takes_runs: ClassVar[bool] = True

    rate: Any = signal(unit="Hz", at_least=0.0, doc="a number, a function of t [ms], or a signal")

    def init(self, n: int, stream: Stream) -> PoissonState:
        return PoissonState(stream)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_rate(label, self.rate, dt)
        return prepare_signals(label, self, n, dt, key)

    def step(self, state: PoissonState, step: jax.Array, dt: float) -> tuple[Any, jax.Array]:
        mean = per_step(value_at(self.rate, step, dt), dt)
        return state, poisson(state.stream, step, mean)


class DeadTimePoissonState(NamedTuple):
    """State of n processes.

    Attributes:
        stream: stream of the random bits of n neurons.
        left: steps of dead time left, int32 (n,); -1 before the first step.
    """

    stream: Stream
    left: jax.Array


class DeadTimePoisson(SpikeStimulus):
    """Poisson process with dead time: no spike for `dead_time` after a spike.

    Update: a spike is followed by D = dead_time / dt steps without a spike. After these, each step
    has a spike with probability `p = 1 / (1 / (rate dt) - D)`, so that the mean rate is `rate`.
    There is at most one spike per step. The processes start in equilibrium.

    Counts are 0 or 1, and nan where the rate is negative or too high for the dead time.

    Reference:
        Deger, Helias, Boucsein, Rotter (2012), Statistical properties of superimposed stationary
        spike trains, doi:10.1007/s10827-011-0362-8.

    Note:
        The rate is constant here; the process is exact in discrete time.
    """

    rate: Parameter = param(unit="Hz", at_least=0.0, doc="mean rate")
    dead_time: Parameter = param(
        unit="ms", at_least=0.0, on_grid=True, doc="time without a spike after each"
    )

    def init(self, n: int, stream: Stream) -> DeadTimePoissonState:
        return DeadTimePoissonState(stream, jnp.full(n, -1, jnp.int32))

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_shapes(label, self, n)
        if all_known(self.rate, self.dead_time):
            self._check_rate(label, dt)
        return self

    def _check_rate(self, label: str, dt: float) -> None:
        rate = np.asarray(self.rate)
        steps = steps_on_grid(f"{label}: dead_time", self.dead_time, dt)
        fastest = 1e3 / ((steps + 1) * dt)
        high = rate > fastest * (1 + _SLACK)
        if high.any():
            got, limit = (np.broadcast_to(x, high.shape)[high].flat[0] for x in (rate, fastest))
            must = f"at most 1 / (dead_time + dt), {limit:g} Hz"
            raise InvalidValueError(label, "rate", must, f"{got:g} Hz")

    def step(
        self, state: DeadTimePoissonState, step: jax.Array, dt: float
    ) -> tuple[DeadTimePoissonState, jax.Array]:
        dead = jnp.rint(self.dead_time / dt).astype(jnp.int32)
        mean, steps = per_step(self.rate, dt), dead.astype(self.rate.dtype)
        words = state.stream.bits(step)
        left = jnp.where(state.left < 0, _start(words[1], mean, dead), state.left)
        p = mean / jnp.maximum(1 - mean * steps, mean)
        spikes = (left == 0) & chance(words[0], p)
        left = jnp.where(spikes, dead, jnp.maximum(left - 1, 0))
        valid = (mean >= 0) & (mean * (steps + 1) <= 1 + _SLACK)
        return state._replace(left=left), jnp.where(valid, spikes.astype(mean.dtype), jnp.nan)


class GammaState(NamedTuple):
    """State of n gamma processes.

    Attributes:
        stream: stream of the random bits of n neurons.
        stage: stages since the last spike, int32 (n,).
    """

    stream: Stream
    stage: jax.Array


class Gamma(SpikeStimulus):
    """Gamma process of whole order: every `order`-th event of a Poisson process of `order rate`.

    At a constant rate the intervals have a gamma distribution with a coefficient of variation of
    `1 / sqrt(order)`. The process follows a rate that changes with time exactly. The processes
    start in equilibrium.

    Counts are nan where a function gives a rate below 0 or nan. There may be at most 16383 events
    per time step.

    Reference:
        Cox (1962), Renewal Theory, chapter 2; Kuffler, Fitzhugh, Barlow (1957), Maintained
        activity in the cat's retina in light and darkness, Journal of General Physiology 40, 683.
    """

    takes_runs: ClassVar[bool] = True

    rate: Any = signal(unit="Hz", at_least=0.0, doc="a number, a function of t [ms], or a signal")
    order: int = field(Whole(1), static=True, doc="events per spike")

    def init(self, n: int, stream: Stream) -> GammaState:
        word = jnp.broadcast_to(stream.bits(0, purpose=_START)[0], (n,))
        return GammaState(stream, (word % np.uint32(self.order)).astype(jnp.int32))

    def events_per_spike(self) -> int:
        return self.order

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_rate(label, self.rate, dt, factor=self.events_per_spike())
        return prepare_signals(label, self, n, dt, key)

    def step(self, state: GammaState, step: jax.Array, dt: float) -> tuple[Any, jax.Array]:
        mean = self.order * per_step(value_at(self.rate, step, dt), dt)
        events = poisson(state.stream, step, mean)
        known = jnp.isfinite(events)
        passed = state.stage + jnp.where(known, events, 0).astype(jnp.int32)
        spikes = passed // self.order
        counts = jnp.where(known, spikes.astype(events.dtype), jnp.nan)
        return GammaState(state.stream, passed - spikes * self.order), counts


class MultipleInteractionState(NamedTuple):
    """State of the process.

    Attributes:
        stream: stream of the random bits of n neurons.
    """

    stream: Stream


class MultipleInteraction(SpikeStimulus):
    """Multiple interaction process: each neuron gets a random subset of common spikes.

    The neurons share a mother process of the rate `rate / correlation`. Each neuron gets each of
    its spikes with the probability `correlation`. Every spike train is a Poisson process of the
    rate `rate`; the counts of two neurons have the correlation coefficient `correlation`.

    Rate and correlation should be the same for all neurons: if `rate / correlation` differs between
    neurons, so does the mother process.

    Counts are nan where a function gives a rate below 0 or nan. The time of a step is proportional
    to the spikes of the mother process in it, of which there may be at most 16383.

    Reference:
        Kuhn, Aertsen, Rotter (2003), Higher-order statistics of input ensembles and the response of
        simple model neurons, doi:10.1162/089976603321043702.
    """

    rate: Any = signal(
        unit="Hz",
        at_least=0.0,
        doc="rate of each neuron: a number, a function of t [ms], or a signal",
    )
    correlation: Parameter = param(
        above=0.0, at_most=1.0, doc="probability with which a neuron gets a common spike"
    )

    def init(self, n: int, stream: Stream) -> MultipleInteractionState:
        return MultipleInteractionState(stream)

    def events_per_spike(self) -> Any:
        return 1 / self.correlation

    def prepare(self, label: str, n: int, dt: float, key: Any) -> SpikeStimulus:
        check_rate(label, self.rate, dt, factor=self.events_per_spike())
        return prepare_signals(label, self, n, dt, key)

    def step(
        self, state: MultipleInteractionState, step: jax.Array, dt: float
    ) -> tuple[MultipleInteractionState, jax.Array]:
        mean = per_step(value_at(self.rate, step, dt), dt) / self.correlation
        spikes = poisson(state.stream.common(), step, mean)
        known = jnp.isfinite(spikes)
        copies = _copies(state.stream, step, jnp.where(known, spikes, 0), self.correlation)
        return state, jnp.where(known, copies, jnp.nan)


def _start(word: Any, mean: jax.Array, dead: jax.Array) -> jax.Array:
    """Steps of dead time left in equilibrium: each of 1 ... D with probability `rate dt`."""
    left = jnp.floor(word.astype(mean.dtype) * np.asarray(2.0**-32, mean.dtype) / mean)
    return jnp.where(left < dead.astype(mean.dtype), left.astype(jnp.int32) + 1, 0)


def _copies(stream: Stream, step: Any, spikes: jax.Array, p: jax.Array) -> jax.Array:
    """How many of the spikes each neuron gets, each with probability p; draws two at a time."""
    most = jnp.max(spikes, initial=0).astype(jnp.int32)

    def pair(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        k, count = carry
        for number, word in enumerate(stream.bits(step, purpose=k)):
            there = (k + number).astype(spikes.dtype) < spikes
            count = count + (there & chance(word, p)).astype(spikes.dtype)
        return k + 2, count

    return lax.while_loop(
        lambda carry: carry[0] < most, pair, (jnp.int32(0), jnp.zeros_like(spikes))
    )[1]
