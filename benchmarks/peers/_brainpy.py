"""BrainPy (brainpy.state, brainstate, brainevent) on the CPU: the network and its timing.

Import only after `_common.pin`. The connections have a fixed out-degree of 80, because a fixed
probability is not offered in this form.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import brainpy
import brainstate
import braintools
import brainunit as u
import jax
import jax.numpy as jnp
from _common import DT_MS, Stopwatch, emit, peak_rss_mb

OUT_DEGREE = 80
PACKAGES = ["brainpy", "brainpy_state", "brainstate", "brainevent", "brainunit", "jax", "numba"]


class Network(brainstate.nn.Module):
    """LIF neurons, the first 80 % excitatory; `project(sources, post, exc)` makes a projection."""

    def __init__(
        self,
        n: int,
        v_rest: u.Quantity,
        drive: u.Quantity,
        project: Callable[[brainstate.nn.Module, brainstate.nn.Module, bool], object],
        weights: tuple[u.Quantity, u.Quantity],
    ) -> None:
        super().__init__()
        self.n_exc = int(0.8 * n)
        self.drive = drive
        self.neurons = brainpy.state.LIFRef(
            n,
            R=1.0 * u.kohm,
            V_rest=v_rest,
            V_th=-50.0 * u.mV,
            V_reset=-60.0 * u.mV,
            tau=20.0 * u.ms,
            tau_ref=5.0 * u.ms,
            spk_reset="hard",
            V_initializer=braintools.init.Uniform(-60.0 * u.mV, -50.0 * u.mV),
        )
        conn = brainstate.nn.EventFixedNumConn
        exc = conn(self.n_exc, n, OUT_DEGREE, weights[0])
        inh = conn(n - self.n_exc, n, OUT_DEGREE, weights[1])
        self.exc = project(exc, self.neurons, True)
        self.inh = project(inh, self.neurons, False)

    def step(self, i: jax.Array) -> jax.Array:
        """One time step; returns the number of spikes."""
        with brainstate.environ.context(t=i * brainstate.environ.get_dt(), i=i):
            spikes = self.neurons.get_spike() != 0.0
            self.exc(spikes[: self.n_exc])
            self.inh(spikes[self.n_exc :])
            self.neurons(self.drive)
            return jnp.sum(self.neurons.get_spike() != 0.0)


def set_up(args: argparse.Namespace) -> None:
    """Set the step, the precision (float32, its default) and the seed."""
    brainstate.environ.set(dt=DT_MS * u.ms, precision=32)
    brainstate.random.seed(args.seed)


def run(
    bench: str,
    args: argparse.Namespace,
    make: Callable[[], brainstate.nn.Module],
    out_degree: int = OUT_DEGREE,
) -> None:
    """Build, compile and time the network, and print the JSON line.

    The module's `step(i)` advances one time step and returns the number of spikes.

    The network runs once to compile; then its initial state is put back and the same call is
    timed. Timing a run that goes on from the final state instead would time a second
    compilation too: that state differs from the initial one in its (weak) types.
    """
    set_up(args)
    with Stopwatch() as building:
        network = make()
        brainstate.nn.init_all_states(network)
    initial = {path: state.value for path, state in network.states().items()}

    @brainstate.transform.jit
    def simulate(steps: jax.Array) -> jax.Array:
        return brainstate.transform.for_loop(network.step, steps)

    steps = jnp.arange(round(args.seconds * 1e3 / DT_MS))
    with Stopwatch() as first:
        jax.block_until_ready(simulate(steps))
    for path, state in network.states().items():
        state.value = initial[path]
    with Stopwatch() as running:
        counts = jax.block_until_ready(simulate(steps))
    emit(
        args,
        PACKAGES,
        float(counts.sum()),
        bench=bench,
        impl="brainpy",
        synapses=args.neurons * out_degree,
        build_s=building.wall,
        compile_s=first.wall - running.wall,
        wall_s=running.wall,
        cpu_s=running.cpu,
        peak_rss_mb=peak_rss_mb(),
        precision="float32",
    )
