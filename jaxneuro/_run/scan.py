"""`scan`: the pure loop over time steps."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import jaxpr_as_fun
from jaxtyping import Array, Int32

from .. import spec
from .._arrays import ArrayLike, as_arguments
from .._kernels.clock import Clock
from .._network.ahead import Ahead
from .._network.network import Network
from .._network.runtime import RuntimeNetwork, steps_together
from .._network.sharded import ShardedNetwork
from .._network.state import NetworkState, Output, SavedState, check_arrays, state_of
from ..spec import InvalidValueError
from .gradient import KeptStates, differentiable
from .info import RunInfo
from .inputs import inputs_of_scan
from .one_launch import one_launch_or_loop
from .record import Record
from .recorded import named_samples
from .recorded import recorded as recorded_as
from .recording import Recording
from .result import Result
from .spikes import SpikeBits
from .statistics import RunningSums

# --- `scan`: the pure loop over time steps.


@spec.arguments(
    net=spec.Of(Network),
    n_steps=spec.Whole(0, 2**31 - 1),
    record=spec.Maybe(spec.Of(Record)),
    remat=KeptStates(),
)
def scan(
    net: Network,
    state: NetworkState | Result | SavedState,
    n_steps: int,
    inputs: Mapping[str, ArrayLike] | None = None,
    record: Record | None = None,
    remat: bool | int = False,
) -> tuple[NetworkState, Recording]:
    """Advances a network by `n_steps` steps: one `lax.scan`.

    Pure: use it inside `jit`, `vmap` and `grad`, with the network as an argument. Two scans of n
    steps give the same bits as one of 2n. A variable that is recorded by the name of one
    projection, and is that of several, is warned of (`net.shared`).

    Args:
        net: the network.
        state: its state, from `net.init` or an earlier run.
        n_steps: how many time steps; a multiple of those in `record.interval`.
        inputs: currents [pA] by population, one number, (n_steps,) or (n_steps, n); the spikes of
            a population of `Relay`, booleans (n_steps, n), packed bits or a `SpikeBits`; signals
            of plasticity rules and modulators by their names, one number or (n_steps,).
        record: what to record (default: spikes); samples count from the first step here.
        remat: for a gradient in less memory: it keeps the states of about the root of `n_steps`,
            or of as many steps as are given, and runs all others a second time.

    Returns:
        The state after the last step, and the `Recording`.

    Raises:
        ValueError: for an unknown name, an input of the wrong shape, or a state of another network.
    """
    out = scan_turns(net, state, n_steps, inputs, record, remat=remat)
    if record is not None:  # not in `scan_turns`, which `simulate` calls far from the user's line
        record.warn_of_unfed(net)
        start = state_of(net, state)
        record.named(net, start).warn_of_shared(net, start)
    return out


def scan_turns(
    net: Network,
    state: Any,
    n_steps: int,
    inputs: Any,
    record: Record | None,
    done: Int32[Array, ""] | None = None,
    remat: bool | int = False,
) -> tuple[NetworkState, Recording]:
    """See `scan`.

    Of its `n_steps`, `done` int32 () are made if given, a multiple of those between two samples.
    """
    state, inputs, record = _checked(net, state, n_steps, inputs, record)
    every = record.steps_between(net.dt) if record.has_samples else 1
    net = as_arguments(net)
    runtime, together = net.expand(), 1
    if isinstance(runtime, ShardedNetwork):
        together = runtime.steps_together(every if record.has_samples else n_steps)
        every = max(every, together)
    turns = None if done is None else done // every

    def loop(
        net: Network, runtime: RuntimeNetwork, held: Any, read: Any, steps: int, taps: Any = None
    ) -> Any:
        (state, sums), (inputs, known), wanted = held, read, taps is not None
        lengths = every, together
        window = functools.partial(_window, net, runtime, record, lengths, wanted, state.step - 1)
        xs = inputs, known if taps is None else _added(known, taps)
        if every > 1:
            xs = jax.tree.map(lambda x: x.reshape(-1, every, *x.shape[1:]), xs)
        start = jnp.int32(0), state, sums
        (_, *held), (per_step, sampled) = repeat(window, start, xs, steps // every, turns)
        if every > 1:
            per_step = jax.tree.map(lambda x: x.reshape(steps, *x.shape[2:]), per_step)
        *per_step, waiting = per_step
        out = tuple(held), (tuple(per_step), sampled)
        return (*out, waiting) if wanted else out

    def run(net: Network, runtime: RuntimeNetwork, state: NetworkState, inputs: Any) -> Any:
        sums = {name: RunningSums.none(net.populations[name]) for name in record.statistics}
        made = None if turns is None else turns * every
        ahead, runtime = Ahead.of(runtime, state, inputs, n_steps, made)
        moved = functools.partial(loop, steps=n_steps)
        if done is None:
            # What a user records may close over what is differentiated.
            own = record.function is not None or bool(record.recorders)
            after = bool(runtime.pathways) and not own
            moved = differentiable(loop, n_steps, every, remat, after)
        read = inputs, ahead.in_steps(n_steps)
        (state, sums), out = moved(net, runtime, (state, sums), read)
        state = ahead.after(runtime, state, n_steps if made is None else made)
        return state, (*out, {name: x.sums() for name, x in sums.items()})

    start = state
    if isinstance(runtime, ShardedNetwork):
        out = runtime.on_devices(run, state, inputs)
    elif done is not None:
        out = run(net, runtime, state, inputs)
    else:
        out = one_launch_or_loop(run, net, runtime, state, inputs, record, n_steps)
    state, recorded = out
    return state, _recording(net, start, record, n_steps, recorded)


def _added(a: tuple | None, b: tuple) -> tuple:
    """The sums of two arrays per group, each of which may be None."""
    if a is None:
        return b
    return tuple(y if x is None else x if y is None else x + y for x, y in zip(a, b))


def _checked(
    net: Network, state: Any, n_steps: int, inputs: Any, record: Any
) -> tuple[NetworkState, dict[str, Any], Record]:
    """State, inputs and record of a scan, or `ValueError`."""
    record = Record() if record is None else record
    state = state_of(net, state)
    inputs = inputs_of_scan(net, state, inputs, n_steps)
    check_arrays(net, state)
    record = record.named(net, state)
    record.check(net, state)
    every = record.steps_between(net.dt) if record.has_samples else 1
    if n_steps % every:
        must = f"a multiple of the {every} steps of the record's interval, {record.interval:g} ms"
        raise InvalidValueError("scan", "n_steps", must, str(n_steps))
    return state, inputs, record


def _recording(
    net: Network, start: NetworkState, record: Record, n_steps: int, recorded: Any
) -> Recording:
    """What a loop of `n_steps` recorded from a state on, by name."""
    (bits, counts), sampled, sums = recorded
    info = RunInfo.of(net, start, record, n_steps)
    spikes = SpikeBits(bits, start.step, net.dt, info.layout) if record.spikes else None
    return Recording(
        spikes=spikes,
        samples=named_samples(sampled),
        counts=recorded_as("counts", counts),
        constants=jax.tree.map(jnp.asarray, record.constants(net)),
        statistics=recorded_as("statistics", sums),
        first_step=start.step,
        key=start.seed,
        info=info,
    )


def _window(
    net: Network,
    runtime: RuntimeNetwork,
    record: Record,
    lengths: tuple[int, int],
    wanted: bool,
    first: Int32[Array, ""],
    carry: tuple[Int32[Array, ""], NetworkState, dict],
    now: Any,
) -> tuple[tuple[Int32[Array, ""], NetworkState, dict], tuple]:
    """The steps up to the next sample; `lengths` how many, and how many are taken together.

    `now` are their inputs and taps; what each pathway delivered is a result if it is `wanted`.
    `first` is a step before a loop of windows of one step, whose carry begins with those since.
    """
    every, together = lengths

    def step(first: Int32[Array, ""], carry: tuple, now: Any) -> Any:
        (since, state, sums), (inputs, taps) = carry, now
        number = state.step
        if together == 1:
            waiting = runtime.waiting(state)
            state, output = runtime.step(state, inputs, Clock(first, since), taps)
            last, sums = output, _summed(sums, output, number)
        else:
            state, output, waiting = steps_together(runtime, state, inputs, together, taps)
            last = jax.tree.map(lambda x: x[-1], output)
            for k in range(together) if sums else ():
                sums = _summed(sums, jax.tree.map(lambda x: x[k], output), number + k)  # noqa: B023
        bits = output.bits if record.spikes else ()
        return ((since + 1, state, sums), last), (
            bits,
            record.counts(net, output),
            waiting if wanted else None,
        )

    if every == together:
        (carry, output), per_step = step(first, carry, now)
    else:  # a loop of its own, which counts from 0
        windows, state, sums = carry
        first, carry = state.step - 1, (jnp.int32(0), state, sums)
        units = every // together
        if together > 1:
            now = jax.tree.map(lambda x: x.reshape(units, together, *x.shape[1:]), now)
        one = jax.tree.map(lambda x: x[0], now)
        empty = jax.eval_shape(lambda: step(first, carry, one)[0][1])
        empty = jax.tree.map(jnp.zeros_like, empty)
        ((_, state, sums), output), per_step = _scanned(
            lambda held, x: step(first, held[0], x), (carry, empty), now, units
        )
        carry = windows + 1, state, sums
        if together > 1:
            per_step = jax.tree.map(lambda x: x.reshape(every, *x.shape[2:]), per_step)
    return carry, (per_step, record.sample(net, carry[1], output))


def _summed(sums: dict[str, RunningSums], output: Output, step: Int32[Array, ""]) -> dict:
    """The running sums after a step."""
    fired = {name: output.spikes[name] for name in sums}  # floats, if a surrogate made them
    fired = {name: x if x.dtype == jnp.bool_ else x != 0.0 for name, x in fired.items()}
    return {name: x.after(fired[name], step) for name, x in sums.items()}


# Turns of a loop that a GPU gets as one launch of a command buffer; see docs/gpu.md.
TOGETHER_ON_GPU = 4


def _scanned(body: Callable, carry: Any, xs: Any, length: int) -> tuple[Any, Any]:
    """`lax.scan`, of which a GPU gets several turns at once: it would wait for the host's next."""
    turns = 1 if jax.default_backend() == "cpu" else max(min(TOGETHER_ON_GPU, length), 1)
    return lax.scan(body, carry, xs, length=length, unroll=turns)


# --- A scan whose number of turns may be data, so that one program runs for any duration.


def repeat(
    body: Callable, carry: Any, xs: Any, length: int, turns: Int32[Array, ""] | None = None
) -> tuple[Any, Any]:
    """`lax.scan(body, carry, xs, length)`, or the first `turns` int32 () of it.

    What is beyond them in the second result is 0. Each turn has the same bits as in the scan.
    """
    if turns is None:
        return _scanned(body, carry, xs, length)
    at = lambda k: jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, k, 0, False), xs)  # noqa: E731
    # Traced once, for its shapes and for the loop: tracing takes longer than building.
    traced, (_, one) = jax.make_jaxpr(body, return_shape=True)(carry, at(0))
    run, tree = jaxpr_as_fun(traced), jax.tree.structure((carry, one))
    empty = jax.tree.map(lambda y: jnp.zeros((length, *y.shape), y.dtype), one)

    def turn(k: Int32[Array, ""], held: tuple) -> tuple:
        carry, out = held
        carry, y = jax.tree.unflatten(tree, run(*jax.tree.leaves((carry, at(k)))))
        put = lambda x, y: lax.dynamic_update_index_in_dim(x, y, k, 0)  # noqa: E731
        return carry, jax.tree.map(put, out, y)

    return lax.fori_loop(0, turns, turn, (carry, empty))
