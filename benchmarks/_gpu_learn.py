"""Plastic pathways on this card: `learn` checked against its reference, and timed."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels.bits import packed_bytes
from jaxneuro._kernels.clock import Clock
from jaxneuro._kernels.learn import learn
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._network import plastic as plastic_file
from jaxneuro._network.targets import Fired

from ._gpu_kernels import seconds
from ._run import DT

STEPS = 300
PAIR = jn.plasticity.PairSTDP(rate=0.05, w_max=1.0)
CENTRED = jn.plasticity.PairSTDP(rate=0.05, w_max=1.0, pairing="presynaptic_centred")
# Far from its bounds: the reference brings a weight within them in every step, `learn` only where
# it visits it.
REWARD = jn.plasticity.RewardModulatedSTDP(a_plus=0.1, a_minus=0.1, w_min=-1e4, w_max=1e4)
POWER = jn.plasticity.PowerLawSTDP(rate=0.01)


def version_of(interpret: bool, **how: Any) -> Callable:
    """`learn` as the network calls it; with options, or interpreted on a CPU, its kernel."""
    if not (interpret or how):
        return learn
    from jaxneuro._kernels.gpu_learn import learn_pallas

    return lambda *args: learn_pallas(*args, interpret=interpret, **how)


@contextlib.contextmanager
def _learning_by(version: Callable) -> Iterator[None]:
    before, plastic_file.learn = plastic_file.learn, version
    try:
        yield
    finally:
        plastic_file.learn = before


def plastic_network(
    sources: int, targets: int, rule: Any, plasticity: Any, delay: Any = 1.5, others: int = 0
) -> jn.Network:
    """One plastic projection; within one population if no targets are given.

    `others`: neurons of the same group that it does not reach.
    """
    lif = jn.neurons.LIF()
    populations = [jn.Population("E", sources, lif)]
    populations += [jn.Population("I", others, lif)] if others else []
    if targets:
        populations.append(jn.Population("T", targets, jn.neurons.LIF(tau_m=7.0)))
    wire = jn.Projection(
        "E",
        "T" if targets else "E",
        rule,
        weight=lambda i, j: 0.2 + 0.1 * ((3 * i + 7 * j) % 7),
        delay=delay,
        synapse=jn.synapses.Exponential(),
        plasticity=plasticity,
    )
    return jn.build(jn.Description(populations, [wire]), key=1, dt=DT)


def spikes_of(net: jn.Network, steps: int, part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Packed random spikes of the source and of the target group in every step."""
    rng, (p,) = np.random.default_rng(3), net.pathways

    def packed(number: int) -> np.ndarray:
        n = net.groups[number].n
        fired = np.zeros((steps, 8 * packed_bytes(n)), np.uint8)
        fired[:, :n] = rng.random((steps, n)) < part
        return np.packbits(fired, axis=1, bitorder="little")

    source = packed(p.source)
    return source, source if p.source == p.target else packed(p.target)


def looped(version: Callable, keep: bool, flush: bool = False) -> Callable:
    """`(net, state, spikes) -> (arrivals of every step if kept, weights)`, compiled.

    Delivery in a loop as in a network; after the last step, or with `flush` after each, all rows
    are visited.
    """

    @jax.jit
    def run(net, state, spikes):
        p = net.expand().pathways[0]
        group = net.groups[p.target]
        shape = (group.slots, len(group.receptors) * group.n)
        v = jnp.zeros(group.n)

        def flushed(state, k):
            return state._replace(plastic=p.plastic.flush(state.plastic, k, p.table))

        def body(carry, now):
            ring, state, k = carry
            arrived = ring[k % shape[0]]
            fired = Fired(now[1], v)
            ring, state = p.deliver(ring, SpikeOutput(now[0]), fired, state, Clock.of(k), True)
            state = flushed(state, k) if flush else state
            return (ring, state, k + 1), arrived if keep else None

        carry = jnp.zeros(shape), state, jnp.int32(0)
        with _learning_by(version):
            (_, state, k), arrived = jax.lax.scan(body, carry, spikes)
            state = flushed(state, k - 1)
        return arrived, state.plastic.synapses.weights

    return run


def checks(interpret: bool) -> Iterator[tuple[str, bool]]:
    """Name and success: rules, own and common delays, and many synapses onto few targets."""
    from jaxneuro._kernels.learn_reference import learn_reference

    rules, steps = jn.connectivity, 60 if interpret else STEPS
    size, crowd = (30, 40) if interpret else (300, 4000)
    often = 0.1 if interpret else 0.02  # so that a short rehearsal moves all weights
    own = lambda i, j: DT * (1 + (i + 5 * j) % 23)  # noqa: E731
    some = rules.FixedProbability(0.2)
    settings = {
        "pairs": ((size, size // 2, some, PAIR), often),
        "pairs, own delays": ((size, size // 2, some, PAIR, own), often),
        "a variable, own delays": ((size, 0, some, CENTRED, own), often),
        "reward": ((size, size // 2, some, REWARD), often),
        "powers": ((size, 0, some, POWER), often),
        "everyone at once onto few": ((crowd, 16, rules.AllToAll(), PAIR, DT), 1.0),
    }
    for name, (given, part) in settings.items():
        net = plastic_network(*given)
        (state,) = net.init(1).pathways
        assert state.plastic is not None
        signals = {key: jnp.asarray(0.01) for key in state.plastic.signals}
        state = state._replace(plastic=state.plastic._replace(signals=signals))
        spikes = spikes_of(net, steps, part)
        got = looped(version_of(interpret), keep=True)(net, state, spikes)
        plain = looped(learn_reference, keep=True)(net, state, spikes)
        with jax.enable_x64(True):
            args = jax.tree.map(_as_double, (net, state))
            want = looped(learn_reference, keep=True)(*args, spikes)
        near = [_near(*map(np.asarray, x)) for x in zip(got, plain, want)]
        moved = np.std(np.asarray(got[1]) - np.asarray(net.pathways[0].weights)) > 1e-4
        yield name, bool(all(near) and moved)


def _as_double(x: Any) -> Any:
    return x.astype(jnp.float64) if getattr(x, "dtype", None) == jnp.float32 else x


def _near(got: np.ndarray, plain: np.ndarray, want: np.ndarray) -> bool:
    """Whether `got` is as near to `want`, of 64 bits, as 32 bits are: `plain`, within a factor.

    Triton's exp and pow are approximate, and sums of floats have no order there.
    """
    lost = 4 * np.abs(plain - want).max()
    return bool((np.abs(got - want) <= lost + 1e-5 + 1e-4 * np.abs(want)).all())


def hpc_network(scale: float) -> jn.Network:
    """The plastic pathway of the HPC benchmark: 9000 onto 9000 neurons, 9000 inputs each.

    11,250 neurons at a scale of 1, and 81 million synapses.
    """
    excitatory, others = round(9000 * scale), round(2250 * scale)
    rule = jn.connectivity.FixedIndegree(excitatory)
    return plastic_network(excitatory, 0, rule, POWER, others=others)


def learning_us(
    net: jn.Network, per_ms: float, steps: int, version: Callable, flush: bool = False
) -> float:
    """Microseconds of a step of the plastic pathway alone, at so many spikes per ms."""
    n = net.groups[0].n
    spikes = tuple(jnp.asarray(x) for x in spikes_of(net, steps, per_ms * DT / n))
    (state,) = net.init(1).pathways
    run = looped(version, keep=False, flush=flush)
    return seconds(lambda: run(net, state, spikes)) / steps * 1e6
