"""The change of a weight by pairs of spikes, against their distance in time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from .._checks import check_bounds, check_count, check_kind, names_checked, unknown
from .._network import check_within
from .._types import Plasticity
from ._pair_changes import Pairs, pair_changes
from ._style import COLUMN, LINE, colour, finish, legend, new_figure, open_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 100  # on each side


@names_checked()
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

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for something that is no rule, a parameter that is an array, a weight
    outside the limits, `span`, `frequency` or `dt` not above 0, `span` below `dt`, `pairs` below 1,
    a `v` of other than 3 numbers, or a signal that the rule has not; `ImportError` without
    matplotlib.

    **Source** Bi and Poo (1998), doi:10.1523/JNEUROSCI.18-24-10464.1998: the experiment.
    """
    named = dict(rules) if isinstance(rules, Mapping) else {"_": rules}
    longest = _longest(span, frequency, dt, pairs, v)
    lags = _lags(longest)
    every = max(round(1e3 / (frequency * dt)), 1)
    figure = new_figure(size)
    axis = figure.subplots()
    axis.axhline(0.0, color="black", lw=LINE)
    axis.axvline(0.0, color="black", lw=LINE, ls=(0, (1, 2)))
    for number, (name, rule) in enumerate(named.items()):
        _check_rule(rule)
        protocol = Pairs(
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
    return finish(figure)


def _longest(span: float, frequency: float, dt: float, pairs: int, v: Sequence[float]) -> int:
    """The longest distance in steps; raises `ValueError` for what makes no pairs."""
    for name, x in (("span", span), ("frequency", frequency), ("dt", dt)):
        check_bounds(f"stdp_window: {name}", x, above=0.0)
    check_count("stdp_window: pairs", pairs, at_least=1)
    if np.shape(v) != (3,):
        raise ValueError(f"stdp_window: v must be (rest, peak, ms of the peak); got {v!r}")
    check_bounds("stdp_window: v", np.asarray(v))
    longest = round(span / dt)
    if longest < 1:
        raise ValueError(f"stdp_window: span must be at least dt, {dt:g} ms; got {span:g} ms")
    return longest


def _lags(longest: int) -> np.ndarray:
    """The distances shown, in steps: 0 and as many on each side."""
    side = np.unique(np.round(np.linspace(1, longest, min(_POINTS, longest))).astype(int))
    return np.concatenate([-side[::-1], [0], side])


def _check_rule(rule: Any) -> None:
    check_kind("stdp_window: a rule", rule, Plasticity)
    for x in jax.tree.leaves(rule):
        if np.ndim(x):
            raise ValueError(
                "stdp_window: every parameter of a rule must be one number; got an array of shape "
                f"{np.shape(x)}. Give several rules by name"
            )


def _start(rule: Plasticity, weight: float | None) -> float:
    """The weight at the start, within the limits of the rule."""
    if weight is None:
        limits = rule.limits()
        known = [float(x) for x in limits if x is not None]
        return sum(known) / 2 if len(known) == 2 else max([1.0, *known])
    check_bounds("stdp_window: weight", weight)
    check_within("stdp_window: weight", rule, weight)
    return float(weight)


def _inputs(rule: Plasticity, signals: Mapping[str, float] | None) -> dict[str, float]:
    """The value of each input of a rule."""
    if signals is not None and not isinstance(signals, Mapping):
        raise ValueError(f"stdp_window: signals must be values by name; got {signals!r}")
    for name, x in (signals or {}).items():
        if name not in rule.signals:
            raise unknown(f"input of {type(rule).__name__}", name, rule.signals)
        check_bounds(f"stdp_window: signal {name!r}", x)
    return dict.fromkeys(rule.signals, 0.0) | dict(signals or {})


def _draw(axis: "Axes", t: np.ndarray, change: np.ndarray, name: str, tint: str) -> None:
    """A line on each side of 0, which is a point."""
    for side, label in ((t < 0, "_"), (t > 0, name)):
        axis.plot(t[side], change[side], color=tint, lw=1.0, label=label)
    axis.plot(0.0, change[t == 0][0], "o", ms=2.5, mew=0.0, color=tint)
