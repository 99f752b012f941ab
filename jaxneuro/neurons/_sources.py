"""Sources: neurons without a membrane that spike at random, or repeat what reaches them."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron, StochasticNeuron
from .._numerics.draws import chance
from .._numerics.grid import per_step
from .._numerics.streams import Stream


class RelayState(NamedTuple):
    """State of n relays.

    Attributes:
        spikes: which spiked in the last step, bool.
    """

    spikes: jax.Array


class Relay(Neuron):
    """Spikes in every step in which a spike reaches it: a source that any stimulus drives.

    It has no membrane: with `Delta` synapses of weight 1 it spikes if the summed weights of a
    step, `drive.jump`, are at least 1/2. It turns a stimulus that sends spikes into a population,
    which projects, can be recorded, and sends the same spikes to all its targets. With
    `SpikeTimes` it replays spikes, with `Poisson`, `Gamma`, ... it is a random source::

        jn.Population("input", 100, jn.neurons.Relay())
        given, delta = jn.stimuli.SpikeTimes(times), jn.synapses.Delta()
        jn.Stimulation("input", given, weight=1.0, synapse=delta)

    Spikes from elsewhere, one run or trial after the other, are its input of a run: a
    `SpikeTrains`, a `SpikeBits` that another run recorded, booleans (n_steps, n), or packed bits::

        jn.simulate(net, 500.0, inputs={"input": spikes})

    A spike given for time t is the relay's spike at t. Several in one step give one spike.

    Raises:
        InvalidValueError: from `build` for a drive that is not a jump.

    Reference:
        As parrot_neuron of Gewaltig and Diesmann (2007), NEST, doi:10.4249/scholarpedia.1430.

    Note:
        Differs from NEST: at most one spike per step.
    """

    input_part: ClassVar[str] = "jump"
    repeats_inputs: ClassVar[bool] = True

    def init(self, n: int) -> RelayState:
        return RelayState(jnp.zeros(n, bool))

    def step(self, state: RelayState, drive: Drive, dt: float) -> tuple[RelayState, jax.Array]:
        if drive.jump is None:
            spikes = jnp.zeros_like(state.spikes)
        else:
            spikes = jnp.broadcast_to(drive.jump >= 0.5, state.spikes.shape)
        return RelayState(spikes), spikes


class PoissonSourceState(NamedTuple):
    """State of n sources.

    Attributes:
        spikes: which spiked in the last step, bool.
        stream: the stream of their bits.
        step: steps done, int32 ().
    """

    spikes: jax.Array
    stream: Stream
    step: jax.Array


class PoissonSource(StochasticNeuron):
    """Independent Poisson processes as a population.

    Update: a spike with probability `rate dt` in each step, so that the mean rate is `rate`. A step
    holds one spike of a source at most: the count of a step has the variance
    `rate dt (1 - rate dt)`, that of a Poisson number is `rate dt`. For several spikes in a step, or
    a rate that changes, drive a `Relay` by the stimulus `Poisson`; if nothing projects from the
    processes, let `Poisson` drive the targets, which costs less. A traced rate of more than one
    spike per step gives one spike in every step.

    Raises:
        InvalidValueError: from `build` for a rate of more than one spike per time step, and for
            anything that drives it.

    Reference:
        As PoissonGroup of Brian 2: Stimberg, Brette, Goodman (2019), Brian 2, an intuitive and
        efficient neural simulator, doi:10.7554/eLife.47314.

    Note:
        Differs from poisson_generator of NEST: at most one spike per step, and the same spikes for
        all targets.
    """

    rate: Parameter = param(unit="Hz", at_least=0.0, doc="mean rate")

    def largest_step(self) -> jax.Array | float | None:
        # One spike per step, and the rounding of float32.
        return 1e3 * (1 + 1e-6) / self.rate

    def init(self, n: int, stream: Stream) -> PoissonSourceState:
        return PoissonSourceState(jnp.zeros(n, bool), stream, jnp.zeros((), jnp.int32))

    def step(
        self, state: PoissonSourceState, drive: Drive, dt: float
    ) -> tuple[PoissonSourceState, jax.Array]:
        spikes = chance(state.stream.word(state.step), per_step(self.rate, dt))
        return PoissonSourceState(spikes, state.stream, state.step + 1), spikes
