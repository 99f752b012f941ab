"""Windows of plasticity rules, and weights over time."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import spec
from .._model import NamedNumbers, Plasticity
from .._network.bounds import check_within
from .._network.plastic import interval_steps
from .._numerics.grid import on_grid
from .._numerics.windows import NEAR_MS, run_window
from .._run.result import Result
from ..analysis._source import only
from ..spec import InvalidValueError, unknown
from ._style import (
    COLUMN,
    LINE,
    SEQUENTIAL,
    axes_for,
    colour,
    colour_bar,
    empty_figure,
    finish,
    legend,
    limits,
    one_run,
    open_box,
    say,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_POINTS = 100  # on each side


@spec.arguments()
def stdp_window(
    rules: Plasticity | Mapping[str, Plasticity],
    *,
    weight: float | None = None,
    span: float = 100.0,
    pairs: int = 1,
    frequency: float = 1.0,
    dt: float = 0.1,
    v: Sequence[float] = (-70.6, 33.0, 2.0),
    signals: Mapping[str, float] | None = None,
    unit: str = "",
    size: Sequence[float] = COLUMN,
    ax: "Axes | None" = None,
) -> "Figure":
    """The change of one weight by pairs of spikes, against t_post - t_pre at the synapse.

    `rules` a rule of `jn.plasticity` or one of your own, or several by name; `weight` at the start
    (default: the middle between the limits of the rule, 1 where it has none); `span` [ms] the
    longest distance; `pairs` how many pairs, `frequency` [Hz] of them; `dt` [ms] the time step,
    on which spikes lie; `v` voltage of the target [mV] at rest and for so many ms from each of
    its spikes on, for rules that depend on it; `signals` the value of each named input in every
    step (default 0); `unit` of the weight ("pA", "nS", "mV"); `size` (width, height) [inches].

    The methods of the rule make the change, step by step as in a network but in float64. It is read
    one interval after the last pair. What a rule does to all weights of a neuron (`factors`) is
    left out. Spikes in one step make a point of their own.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for something that is no rule, a parameter that is an array, a weight
            outside the limits, `span`, `frequency` or `dt` not above 0, `span` below `dt`, `pairs`
            below 1, a `v` of other than 3 numbers, a signal that the rule has not, or a duration
            of the rule that is no whole number of steps of `dt`; `ImportError`
            without matplotlib.

    Reference:
        Bi and Poo (1998), doi:10.1523/JNEUROSCI.18-24-10464.1998: the experiment.
    """
    named = dict(rules) if isinstance(rules, Mapping) else {"_": rules}
    longest = _longest(span, frequency, dt, pairs, v)
    lags = _lags(longest)
    every = max(round(1e3 / (frequency * dt)), 1)
    axis = axes_for(ax, size)
    axis.axhline(0.0, color="black", lw=LINE)
    axis.axvline(0.0, color="black", lw=LINE, ls=(0, (1, 2)))
    for number, (name, rule) in enumerate(named.items()):
        _check_rule(rule)
        protocol = SpikePairs(
            weight=_start(rule, weight),
            dt=dt,
            first=longest,
            every=every,
            count=pairs,
            rest=v[0],
            peak=v[1],
            wide=max(round(v[2] / dt), 1),
            signals=_inputs(rule, signals),
        )
        change = pair_changes(rule, lags, protocol, 2 * longest + pairs * every)
        _draw(axis, dt * lags, change, name, colour(number))
    by = f"change by {pairs} pairs\n" if pairs > 1 else "change "
    axis.set(xlim=(-longest * dt, longest * dt), xlabel="spike time, post \N{MINUS SIGN} pre (ms)")
    axis.set_ylabel(f"{by}({unit or 'unit of the synapse'})")
    open_box(axis)
    legend(axis)
    return finish(axis.figure, ax)


def _longest(span: float, frequency: float, dt: float, pairs: int, v: Sequence[float]) -> int:
    """The longest distance in steps; raises `ValueError` for what makes no pairs."""
    for name, x in (("span", span), ("frequency", frequency), ("dt", dt)):
        spec.check("stdp_window", name, spec.Number(above=0.0), x)
    spec.check("stdp_window", "pairs", spec.Whole(at_least=1), pairs)
    if spec.array_of(v).shape != (3,):
        raise InvalidValueError("stdp_window", "v", "(rest, peak, ms of the peak)", repr(v))
    spec.check("stdp_window", "v", spec.Numbers(), np.asarray(v))
    longest = round(span / dt)
    if longest < 1:
        raise InvalidValueError("stdp_window", "span", f"at least dt, {dt:g} ms", f"{span:g} ms")
    return longest


def _lags(longest: int) -> np.ndarray:
    """The distances shown, in steps: 0 and as many on each side."""
    side = np.unique(np.round(np.linspace(1, longest, min(_POINTS, longest))).astype(int))
    return np.concatenate([-side[::-1], [0], side])


def _check_rule(rule: Any) -> None:
    spec.check("stdp_window", "a rule", spec.Of(Plasticity), rule)
    for x in jax.tree.leaves(rule):
        if np.ndim(x):
            raise InvalidValueError(
                "stdp_window",
                "every parameter of a rule",
                "one number (give several rules by name)",
                f"an array of shape {np.shape(x)}",
            )


def _start(rule: Plasticity, weight: float | None) -> float:
    """The weight at the start, within the limits of the rule."""
    if weight is None:
        limits = rule.limits()
        known = [float(x) for x in limits if x is not None]
        return sum(known) / 2 if len(known) == 2 else max([1.0, *known])
    start = spec.check("stdp_window", "weight", spec.Number(), weight)
    check_within("stdp_window", "weight", rule, start)
    return start


def _inputs(rule: Plasticity, signals: Mapping[str, float] | None) -> dict[str, float]:
    """The value of each input of a rule."""
    if signals is not None and not isinstance(signals, Mapping):
        raise InvalidValueError("stdp_window", "signals", "values by name", repr(signals))
    for name, x in (signals or {}).items():
        if name not in rule.signals:
            raise unknown(f"input of {type(rule).__name__}", name, rule.signals)
        spec.check("stdp_window", f"signal {name!r}", spec.Numbers(), x)
    return dict.fromkeys(rule.signals, 0.0) | dict(signals or {})


def _draw(axis: "Axes", t: np.ndarray, change: np.ndarray, name: str, tint: str) -> None:
    """A line on each side of 0, which is a point."""
    for side, label in ((t < 0, "_"), (t > 0, name)):
        axis.plot(t[side], change[side], color=tint, lw=1.0, label=label)
    axis.plot(0.0, change[t == 0][0], "o", ms=2.5, mew=0.0, color=tint)


class SpikePairs(NamedTuple):
    """Pairs of spikes at a synapse, step by step.

    Attributes:
        weight: at the start.
        dt: [ms].
        first: step of the first presynaptic spike.
        every: steps from one to the next.
        count: how many there are.
        rest, peak: [mV] the voltage of the target.
        wide: steps for which it is at its peak, from each of its spikes on.
        signals: by name, the value in every step.
    """

    weight: Any
    dt: Any
    first: Any
    every: Any
    count: Any
    rest: Any
    peak: Any
    wide: Any
    signals: dict[str, Any]

    def spiked(self, k: Any, late: Any, wide: Any) -> Any:
        """Whether step k is one of `wide` steps from a spike on, `late` steps after the first."""
        since = k - self.first - late
        return (since >= 0) & (since < self.count * self.every) & (since % self.every < wide)


class _Synapse(NamedTuple):
    """A synapse with its neurons: its own numbers, those of both, and shared ones now and then."""

    own: dict[str, Any]
    traces: dict[str, Any]
    target: Any
    shared: dict[str, Any]
    then: dict[str, Any]
    touched: Any


def pair_changes(rule: Plasticity, lags: np.ndarray, pairs: SpikePairs, steps: int) -> np.ndarray:
    """The change of the weight after `steps` steps, for each lag [steps] of the target: (lags,).

    In float64. `factors`, which multiply all weights of a target, are left out.

    Raises:
        InvalidValueError: for a duration of the rule off the grid of dt.
    """
    owner = type(rule).__name__
    rule = on_grid(owner, rule, pairs.dt)
    ticks, _ = interval_steps(rule, owner, pairs.dt)
    with jax.enable_x64(True):
        rule, given = jax.tree.map(lambda x: np.asarray(x, np.float64), (rule, pairs))
        whole = ("first", "every", "count", "wide")
        given = given._replace(**{name: np.int64(getattr(pairs, name)) for name in whole})
        return np.asarray(_changes(rule, np.asarray(lags, np.int64), given, steps, ticks))


@functools.partial(jax.jit, static_argnums=(3, 4))
def _changes(
    rule: Plasticity, lags: jax.Array, pairs: SpikePairs, steps: int, ticks: int
) -> jax.Array:
    def one(lag: jax.Array) -> jax.Array:
        step = functools.partial(_step, rule, ticks, pairs, lag)
        synapse, _ = lax.scan(step, _started(rule, pairs), jnp.arange(steps))
        return _up_to_date(rule, pairs, synapse, steps)["weight"] - pairs.weight

    return jax.vmap(one)(lags)


def _started(rule: Plasticity, pairs: SpikePairs) -> _Synapse:
    def floating(values: Any) -> Any:
        return jax.tree.map(lambda x: jnp.asarray(x, jnp.float64), values)

    shared = floating(rule.init_shared())
    return _Synapse(
        own=floating({"weight": pairs.weight, **rule.variables()}),
        traces=floating(dict.fromkeys(rule.pre_traces(), 0.0)),
        target=floating(rule.init_post(1)),
        shared=shared,
        then=shared,
        touched=jnp.asarray(0, jnp.int64),
    )


def _step(
    rule: Plasticity, ticks: int, pairs: SpikePairs, lag: Any, s: _Synapse, k: Any
) -> tuple[_Synapse, None]:
    """A time step as the role of a rule has it: what happens sees the numbers before the step."""
    dt = pairs.dt
    arriving, spiked = pairs.spiked(k, 0, 1), pairs.spiked(k, lag, 1)
    v = jnp.where(pairs.spiked(k, lag, pairs.wide), pairs.peak, pairs.rest)
    before = {name: x.decayed(s.traces[name], dt) for name, x in rule.pre_traces().items()}
    numbers, events, target = rule.step_post(s.target, spiked[None], v[None], dt)
    s = s._replace(target=target, shared=rule.step_shared(s.shared, pairs.signals, dt))
    released = arriving.astype(dt.dtype)
    pre = {**before, "arriving": released, "released": released}
    silent = NamedNumbers({**pre, "released": jnp.zeros_like(released)})
    post = NamedNumbers({name: x[0] for name, x in numbers.items()})
    tick = (k + 1) % ticks == 0 if ticks else jnp.bool_(False)

    due = arriving | events[0] | tick
    own = _where(due, _up_to_date(rule, pairs, s, k + 1), s.own)
    for happens, does, source in (
        (events[0], rule.on_post, silent),
        (tick, rule.on_tick, NamedNumbers(pre)),
        (arriving, rule.on_pre, NamedNumbers(pre)),
    ):
        own = _where(happens, _changed(rule, own, does(NamedNumbers(own), source, post)), own)
    after = {name: x.jumped(before[name]) for name, x in rule.pre_traces().items()}
    return s._replace(
        own=own,
        traces=_where(arriving, after, before),
        then=_where(due, s.shared, s.then),
        touched=jnp.where(due, k + 1, s.touched),
    ), None


def _up_to_date(rule: Plasticity, pairs: SpikePairs, s: _Synapse, k: Any) -> dict[str, Any]:
    """The numbers of a synapse after what happens between events, up to the start of step k."""
    elapsed = jnp.asarray(k - s.touched, jnp.float64) * pairs.dt
    start, stop = NamedNumbers(s.then), NamedNumbers(s.shared)
    return _changed(rule, s.own, rule.between(NamedNumbers(s.own), elapsed, start, stop))


def _changed(rule: Plasticity, own: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a synapse after some changes, the weight within its bounds."""
    if "weight" in changes:
        low, high = rule.bounds()
        changes = {**changes, "weight": jnp.clip(changes["weight"], low, high)}
    return {**own, **changes}


def _where(condition: Any, x: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), x, other)


@spec.arguments()
def weight_history(
    source: Any,
    name: str | None = None,
    *,
    times: Sequence[float] | None = None,
    start: float | None = None,
    stop: float | None = None,
    scale: Sequence[float] | None = None,
    unit: str = "",
    size: Sequence[float] = COLUMN,
    ax: "Axes | None" = None,
) -> "Figure":
    """Distribution of the weights of a plastic projection: over time, or at some times.

    `source` a run with `record=Record(weight_histograms={name: ...})`; `times` [ms] None
    for an image, time from left to right and weights upwards, or the times of which the nearest
    samples are shown as lines; `start`, `stop` [ms] the part shown; `scale` (low, high) share [%]
    at the ends of the colours, by default from 0 to the highest; `unit` of the weight ("pA", "nS",
    "mV"); `size` (width, height) [inches]. Shares are of all synapses, per bin; bins that never
    hold a thousandth of them are left out at both ends. A column of the image reaches halfway to
    the samples before and after it. The outermost bins hold what is outside too; a figure in which
    one of them has all weights says so.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for a projection without histograms, no sample between `start` and
            `stop`, `times` that are none or not finite, a scale that is not (low, high), or a part
            empty or outside the run; `ImportError` without matplotlib.
    """
    result = spec.check("weight_history", "the source", spec.Of(Result), one_run(source))
    name = only("projection with recorded histograms", name, result.weight_histograms)
    first, last = run_window(result.start, result.stop, start, stop)
    if not last > first:
        return empty_figure("no time steps were run", size, ax)
    at = np.asarray(result.sample_times)
    inside = (at >= first - NEAR_MS) & (at <= last + NEAR_MS)
    if not inside.any():
        must = f"taken between {first:g} and {last:g} ms"
        hint = ". Record more often (interval=) or run for longer"
        raise InvalidValueError("weight_history", f"a sample of {name!r}", must, "none", hint)
    counts = np.asarray(result.weight_histograms[name])[inside]
    # Projections without a synapse have shares of 0.
    share = 100.0 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    edges = np.asarray(result.weight_edges[name], np.float64)
    axis = axes_for(ax, size)
    label = f"weight ({unit or 'unit of the synapse'})"
    if times is None:
        ends = limits(np.array([0.0, share.max()]), scale)
        _draw_image(axis, at[inside], edges, share, ends)
        axis.set(xlim=(first, last), ylim=_used(edges, share), xlabel="time (ms)", ylabel=label)
    else:
        _draw_lines(axis, at[inside], edges, share, times)
        axis.set(xlim=_used(edges, share), xlabel=label, ylabel="share of synapses (%)")
    if not counts.any():
        say(axis, "no synapses")
    elif counts.shape[1] > 2 and not counts[:, 1:-1].any():
        ends = [end for end, x in (("lowest", counts[:, 0]), ("highest", counts[:, -1])) if x.any()]
        if len(ends) == 1:
            beyond = f"below {edges[1]:g}" if ends[0] == "lowest" else f"from {edges[-2]:g} on"
            say(axis, f"all weights are in the {ends[0]} bin: {beyond}")
    return finish(axis.figure, ax)


_FEW = 0.1  # % of the synapses


def _used(edges: np.ndarray, share: np.ndarray) -> tuple[float, float]:
    """What the axis of weights shows: the bins that ever hold some, and one more on each side.

    The limits of a rule may lie far from where the weights are.
    """
    held = np.flatnonzero((share >= _FEW).any(axis=0))
    first, last = (held[0] - 1, held[-1] + 2) if held.size else (0, edges.size)
    return float(edges[max(first, 0)]), float(edges[min(last, edges.size - 1)])


def _draw_image(
    axis: "Axes", at: np.ndarray, edges: np.ndarray, share: np.ndarray, ends: tuple[float, float]
) -> None:
    middles = (at[1:] + at[:-1]) / 2
    half = (at[1] - at[0]) / 2 if at.size > 1 else 0.5
    columns = np.concatenate([[at[0] - half], middles, [at[-1] + half]])
    look = {"cmap": SEQUENTIAL, "vmin": ends[0], "vmax": ends[1]}
    mesh = axis.pcolormesh(columns, edges, share.T, **look)
    mesh.set_rasterized(True)  # a vector of each cell would show gaps
    beyond = bool(share.max() > ends[1] or share.min() < ends[0])
    colour_bar(mesh, axis, "share of synapses (%)", beyond)


def _draw_lines(
    axis: "Axes", at: np.ndarray, edges: np.ndarray, share: np.ndarray, times: Sequence[float]
) -> None:
    kind = spec.Numbers("ms", ndim=(0, 1))
    wanted = spec.check("weight_history", "times", kind, times)
    if wanted.size == 0:
        must = "at least one, or None for an image"
        raise InvalidValueError("weight_history", "times", must, "none")
    for number, time in enumerate(np.atleast_1d(wanted)):
        row = int(np.abs(at - time).argmin())
        axis.stairs(share[row], edges, color=colour(number), lw=1.0, label=f"{at[row]:g} ms")
    axis.set_ylim(bottom=0)
    open_box(axis)
    legend(axis)
