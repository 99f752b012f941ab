"""`scan`: the pure loop over time steps."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import jaxpr_as_fun
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int32, Num, Shaped

from .. import spec
from .._arrays import as_array, is_traced
from .._build.drives import check_neuron
from .._network.inputs import checked_inputs
from .._network.network import Network
from .._network.runtime import RuntimeNetwork, steps_together
from .._network.sharded import ShardedNetwork
from .._network.state import NetworkState, SavedState, state_of
from .._text import shown
from ..spec import InvalidValueError
from .one_launch import one_launch_or_loop
from .record import Record
from .result import Result
from .result import recorded as recorded_as
from .spikes import SpikeBits, layout

# --- `scan`: the pure loop over time steps.


class Recording(NamedTuple):
    """What a `scan` recorded.

    Attributes:
        spikes: a `SpikeBits`, or None.
        traces: by name and variable, (samples, n).
        counts: spikes per step by population, (steps,): int32, or floats with a gradient if its
            neurons have a surrogate.
        function: the samples of the record's function.
        means: by name and variable, (samples,).
        lfp: by population [pA], (samples,).
        weights: by projection, (samples, chosen).
        weight_histograms: by projection, int32 (samples, bins).
    """

    spikes: SpikeBits | None
    traces: dict[str, dict[str, Shaped[Array, "samples _"]]]
    counts: dict[str, Num[Array, " steps"]]
    function: Any
    means: dict[str, dict[str, Float[Array, " samples"]]]
    lfp: dict[str, Float[Array, " samples"]]
    weights: dict[str, Float[Array, "samples _"]]
    weight_histograms: dict[str, Int32[Array, "samples _"]]

    def __repr__(self) -> str:
        held = [f"{k} {shown(x)}" for k, x in self._asdict().items() if k != "spikes" and _some(x)]
        spikes = [] if self.spikes is None else ["spikes, see spikes.events(name)"]
        return f"Recording: {'; '.join(spikes + held) or 'nothing'}"


def _some(value: Any) -> bool:
    return value is not None and not (isinstance(value, Mapping) and not value)


@spec.arguments(
    net=spec.Of(Network), n_steps=spec.Whole(0, 2**31 - 1), record=spec.Maybe(spec.Of(Record))
)
def scan(
    net: Network,
    state: NetworkState | Result | SavedState,
    n_steps: int,
    inputs: Mapping[str, ArrayLike] | None = None,
    record: Record | None = None,
) -> tuple[NetworkState, Recording]:
    """Advances a network by `n_steps` steps: one `lax.scan`.

    Pure: use it inside `jit`, `vmap` and `grad`, with the network as an argument. Two scans of n
    steps give the same bits as one of 2n. A variable that is recorded by the name of one
    projection, and is that of several, is warned of (`net.shared`).

    Args:
        net: the network.
        state: its state, from `net.init` or an earlier run.
        n_steps: how many time steps; a multiple of `record.every`.
        inputs: currents [pA] by population, one number, (n_steps,) or (n_steps, n); signals of
            plasticity rules and modulators by their names, one number or (n_steps,).
        record: what to record (default: spikes); samples count from the first step here.

    Returns:
        The state after the last step, and the `Recording`.

    Raises:
        ValueError: for an unknown name, an input of the wrong shape, or a state of another network.
    """
    out = scan_turns(net, state, n_steps, inputs, record)
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
) -> tuple[NetworkState, Recording]:
    """See `scan`; of its `n_steps`, `done` int32 () are made if given, a multiple of `every`."""
    state, inputs, record = _checked(net, state, n_steps, inputs, record)
    every = record.every if record.samples else 1
    runtime, together = net.expand(), 1
    if isinstance(runtime, ShardedNetwork):
        together = runtime.steps_together(every if record.samples else n_steps)
        every = max(every, together)
    turns = None if done is None else done // every

    def loop(net: Network, runtime: RuntimeNetwork, state: NetworkState, inputs: Any) -> Any:
        window = functools.partial(_window, net, runtime, record, (every, together))
        xs = inputs
        if every > 1:
            xs = jax.tree.map(lambda x: x.reshape(-1, every, *x.shape[1:]), inputs)
        state, (per_step, sampled) = repeat(window, state, xs, n_steps // every, turns)
        if every > 1:
            per_step = jax.tree.map(lambda x: x.reshape(n_steps, *x.shape[2:]), per_step)
        return state, (per_step, sampled)

    first_step = state.step
    if isinstance(runtime, ShardedNetwork):
        out = runtime.on_devices(loop, state, inputs)
    elif done is not None:
        out = loop(net, runtime, state, inputs)
    else:
        out = one_launch_or_loop(loop, net, runtime, state, inputs, record, n_steps)
    state, recorded = out
    return state, _recording(net, first_step, record, recorded)


def _checked(
    net: Network, state: Any, n_steps: int, inputs: Any, record: Any
) -> tuple[NetworkState, dict[str, Any], Record]:
    """State, inputs and record of a scan, or `ValueError`."""
    record = Record() if record is None else record
    inputs = _over_time(checked_inputs("scan", inputs), n_steps)
    _check_inputs(net, inputs, n_steps)
    state = state_of(net, state)
    _check_state(net, state)
    record = record.named(net, state)
    record.check(net, state)
    if record.samples and n_steps % record.every:
        raise InvalidValueError(
            "scan", "n_steps", f"a multiple of record.every, {record.every}", str(n_steps)
        )
    return state, inputs, record


def _recording(
    net: Network, first_step: Int32[Array, ""], record: Record, recorded: Any
) -> Recording:
    """What a loop recorded, by name."""
    (bits, counts), sampled = recorded
    spikes = SpikeBits(bits, first_step, net.dt, layout(net)) if record.spikes else None
    return Recording(
        spikes=spikes,
        traces=recorded_as("traces", sampled.traces),
        counts=recorded_as("counts", counts),
        function=sampled.function,
        means=recorded_as("means", sampled.means),
        lfp=recorded_as("lfp", sampled.lfp),
        weights=recorded_as("weights", sampled.weights),
        weight_histograms=recorded_as("weight_histograms", sampled.weight_histograms),
    )


def _window(
    net: Network,
    runtime: RuntimeNetwork,
    record: Record,
    lengths: tuple[int, int],
    state: NetworkState,
    now: Any,
) -> tuple[NetworkState, tuple]:
    """The steps up to the next sample; `lengths` how many, and how many are taken together."""
    every, together = lengths

    def step(state: NetworkState, now: Any) -> Any:
        if together == 1:
            state, output = runtime.step(state, now)
            last = output
        else:
            state, output = steps_together(runtime, state, now, together)
            last = jax.tree.map(lambda x: x[-1], output)
        bits = output.bits if record.spikes else ()
        return (state, last), (bits, record.counts(net, output))

    if every == together:
        (state, output), per_step = step(state, now)
    else:
        units = every // together
        if together > 1:
            now = jax.tree.map(lambda x: x.reshape(units, together, *x.shape[1:]), now)
        first = jax.tree.map(lambda x: x[0], now)
        empty = jax.tree.map(jnp.zeros_like, jax.eval_shape(lambda: step(state, first)[0][1]))
        (state, output), per_step = lax.scan(
            lambda carry, x: step(carry[0], x), (state, empty), now, length=units
        )
        if together > 1:
            per_step = jax.tree.map(lambda x: x.reshape(every, *x.shape[2:]), per_step)
    return state, (per_step, record.sample(net, state, output))


def _check_inputs(net: Network, inputs: dict[str, Any], n_steps: int) -> None:
    check_input_shapes(net, inputs, n_steps)
    driven = {net.population(name)[0] for name in inputs if name in net.populations}
    for number in sorted(driven):
        check_neuron(net.groups[number], net.dt, net.dtype, inputs=True)
    for name, x in inputs.items():
        inputs[name] = as_array(x, net.dtype)


def check_input_shapes(net: Network, inputs: Mapping[str, Any], n_steps: int) -> None:
    """Raises `ValueError` for an unknown input, one of the wrong shape, or a missing signal."""
    for name in net.signals:
        if name not in inputs or np.shape(inputs[name]) != (n_steps,):
            got = f"shape {np.shape(inputs[name])}" if name in inputs else "none"
            must = (
                f"one number per time step, shape ({n_steps},), inputs={{{name!r}: ...}}: a signal "
                "of rules or modulators"
            )
            raise InvalidValueError("scan", f"the input of {name!r}", must, got)
    for name, x in inputs.items():
        if name in net.signals:
            continue
        if name not in net.populations:
            raise spec.unknown("population to drive", name, [*net.populations, *net.signals])
        n = net.populations[name]
        if np.shape(x) not in ((n_steps,), (n_steps, n)):
            turned = np.shape(x) == (n, n_steps)
            hint = ". A constant current per neuron is a jn.stimuli.Current"
            hint = ". The time steps come first: transpose it" if turned else hint
            hint = hint if turned or np.shape(x) == (n,) else ""
            must = f"one with shape ({n_steps},) or ({n_steps}, {n})"
            raise InvalidValueError("scan", f"the input of {name!r}", must, str(np.shape(x)), hint)


def _over_time(inputs: Mapping[str, Any], n_steps: int) -> dict[str, Any]:
    """Inputs with a value for each time step: one number is the same in all of them."""
    shape = (n_steps,)
    return {
        name: x
        if np.ndim(x)
        else (jnp.broadcast_to(x, shape) if is_traced(x) else np.broadcast_to(np.asarray(x), shape))
        for name, x in inputs.items()
    }


def check_given(net: Network, inputs: Mapping[str, Any], n_steps: int) -> dict[str, Any]:
    """Inputs of a run over its steps; `ValueError` for names, shapes or values not to be meant."""
    inputs = _over_time(inputs, n_steps)
    check_input_shapes(net, inputs, n_steps)
    for name, x in inputs.items():
        unit = "pA" if name in net.populations else "1"
        spec.check("", f"the input of {name!r}", spec.Numbers(unit=unit), np.asarray(x))
    _check_over_time(net, inputs, n_steps)
    return inputs


def _check_over_time(net: Network, inputs: Mapping[str, Any], n_steps: int) -> None:
    """Raises `ValueError` for an input over time that may as well be one number per neuron."""
    for name, given in inputs.items():
        n, x = net.populations.get(name, 0), np.asarray(given)
        if n_steps > 1 and x.shape == (n,) == (n_steps,) and (x != x[0]).any():
            raise ValueError(
                f"the input of {name!r} has {n} numbers for {n} neurons and {n} time steps: it may "
                f"be one per neuron or one per step. Give the shape ({n}, {n}), steps first: "
                f"np.tile(x[:, None], {n}) for one per step, np.tile(x, ({n}, 1)) for one per "
                "neuron; a current that does not change is a jn.Stimulation with a "
                "jn.stimuli.Current, or current= of a bare neuron"
            )


def _check_state(net: Network, state: NetworkState) -> None:
    expected = jax.eval_shape(lambda n: n.init(0), net)
    if jax.tree.structure(expected) != jax.tree.structure(state):
        raise ValueError("the state is not one of this network; make one with net.init(key)")
    for want, got in zip(jax.tree.leaves(expected), jax.tree.leaves(state)):
        if want.shape != np.shape(got) or want.dtype != got.dtype:
            raise ValueError(
                "the state is not one of this network (an array should be "
                f"{want.dtype}{list(want.shape)}, it is {got.dtype}{list(np.shape(got))}); make "
                "one with net.init(key). A batch of states goes through vmap"
            )


# --- A scan whose number of turns may be data, so that one program runs for any duration.


def repeat(
    body: Callable, carry: Any, xs: Any, length: int, turns: Int32[Array, ""] | None = None
) -> tuple[Any, Any]:
    """`lax.scan(body, carry, xs, length)`, or the first `turns` int32 () of it.

    What is beyond them in the second result is 0. Each turn has the same bits as in the scan.
    """
    if turns is None:
        return lax.scan(body, carry, xs, length=length)
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
