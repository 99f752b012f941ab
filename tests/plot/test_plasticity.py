"""Windows of rules are what the rules do, and histories of weights what was recorded."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import plot
from tests.plasticity.replay import replay
from tests.plot.results import bar, random_result
from tests.refusing import assert_refused

P = jn.plasticity
SPAN, EVERY, PAIRS = 20, 40, 3
STEPS = 2 * SPAN + PAIRS * EVERY
FIRST = SPAN + EVERY * np.arange(PAIRS)
# By name: the rule, and what else it gets.
WINDOWS = {
    "triplet": (P.TripletSTDP(), {}),
    "nearest": (P.PairSTDP(pairing="nearest_restricted", w_max=1.0), {}),
    "own trace": (P.PairSTDP(pairing="presynaptic_centred", w_max=1.0), {}),
    "ticks": (P.BCM(eta=1e-6, target=5.0, interval=7.0), {}),
    "voltage": (P.ClopathSTDP(), {"v": (-60.0, 10.0, 3.0)}),
    "reward": (P.RewardModulatedSTDP(tau_c=50.0), {"signals": {"reward": 0.001}}),
    "around": (P.Normalized(P.TraceSTDP(a_plus=0.3), total=9.0, interval=5.0), {}),
}


def drawn(figure):
    """Distances and changes of each rule, in their order; the lines through 0 come first."""
    lines = [line.get_xydata() for line in figure.axes[0].lines[2:]]
    rules = [np.concatenate(lines[k : k + 3]) for k in range(0, len(lines), 3)]
    return [rows[np.argsort(rows[:, 0])].T for rows in rules]


@pytest.mark.slow
def test_a_window_in_closed_form():
    rule = P.TraceSTDP(a_plus=0.02, a_minus=0.03, tau_plus=15.0, tau_minus=30.0)
    other = P.VogelsSTDP()
    first, second = drawn(plot.stdp_window({"song": rule, "vogels": other}, span=50.0, dt=0.5))
    np.testing.assert_allclose(first[0], 0.5 * np.arange(-100, 101))
    t = np.abs(first[0])
    a_plus, a_minus = float(rule.a_plus), float(rule.a_minus)
    want = np.where(first[0] > 0, a_plus * np.exp(-t / 15.0), -a_minus * np.exp(-t / 30.0))
    np.testing.assert_allclose(first[1], np.where(t, want, 0.0), atol=1e-12)
    near = np.where(t, np.exp(-t / 20.0), 0.0)
    want = float(other.eta) * (near - float(other.alpha))
    np.testing.assert_allclose(second[1], want, atol=1e-12)


@pytest.mark.slow(but=["triplet"])
@pytest.mark.parametrize("name", WINDOWS)
def test_pairs_are_replayed(name, x64):
    rule, more = WINDOWS[name]
    figure = plot.stdp_window(
        rule, weight=0.4, span=SPAN, pairs=PAIRS, frequency=1e3 / EVERY, dt=1.0, **more
    )
    ((lags, change),) = drawn(figure)
    np.testing.assert_array_equal(lags, np.arange(-SPAN, SPAN + 1))
    assert figure.axes[0].get_ylabel() == "change by 3 pairs\n(unit of the synapse)"
    inner = getattr(rule, "rule", rule)  # what multiplies all weights is no part of a window
    inner = jax.tree.map(lambda x: np.asarray(x, np.float64), inner)
    for lag in (-20, -3, 0, 1, 14):
        post = FIRST + lag
        given = {"signals": {k: np.full(STEPS, x) for k, x in more.get("signals", {}).items()}}
        if "v" in more:
            rest, peak, wide = more["v"]
            given["v"] = np.full(STEPS, rest)
            given["v"][np.add.outer(post, np.arange(int(wide)))] = peak
        made = replay(inner, FIRST, post, STEPS, weight=0.4, eager=True, **given)
        assert change[lags == lag] == pytest.approx(made.weight[-1] - 0.4, rel=1e-9, abs=1e-12)
    assert np.ptp(change) > 1e-6


def test_a_window_starts_in_the_middle_and_stops_at_the_bounds():
    ((_, change),) = drawn(plot.stdp_window(P.TraceSTDP(a_plus=0.9, a_minus=0.9), dt=1.0))
    assert (change.min(), change.max()) == (-0.5, 0.5)


BAD = {
    "class": ({"rules": P.Oja}, "a rule", "<class"),
    "array": (
        {"rules": P.VogelsSTDP(tau=np.ones(3))},
        *("every parameter of a rule", "an array of shape (3,)"),
    ),
    "weight": ({"weight": 2.0}, "weight", "2 to 2"),
    "span": ({"span": 0.0}, "span", "0.0"),
    "short": ({"span": 0.01}, "span", "0.01 ms"),
    "pairs": ({"pairs": 0}, "pairs", "0"),
    "v": ({"v": (1.0, 2.0)}, "v", "(1.0, 2.0)"),
    "signal": ({"signals": {"reward": 1.0}}, "input of TraceSTDP", "'reward'"),
}


@pytest.mark.parametrize(("values", "field", "got"), BAD.values(), ids=BAD.keys())
def test_what_a_window_refuses(values, field, got):
    assert_refused(
        lambda: plot.stdp_window(**{"rules": P.TraceSTDP(), **values}), "stdp_window", field, got
    )


def test_the_image_is_what_was_recorded():
    run = random_result(duration=20.0, start=100.0)
    counts = run.weight_histograms["E->I"]
    figure = plot.weight_history(run, "E->I", unit="nS", stop=110.0)
    (mesh,) = figure.axes[0].collections
    share = 100.0 * counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mesh.get_array(), share[:100].T)
    assert mesh.get_clim() == pytest.approx((0.0, share[:100].max()))
    columns = mesh.get_coordinates()[0, :, 0]
    np.testing.assert_allclose(columns, 100.05 + 0.1 * np.arange(101))
    np.testing.assert_allclose(mesh.get_coordinates()[:, 0, 1], run.weight_edges["E->I"])
    assert figure.axes[0].get_ylabel() == "weight (nS)"
    assert bar(figure).get_ylabel() == "share of synapses (%)"
    (mesh,) = plot.weight_history(run, "E->I", scale=(0, 5)).axes[0].collections
    assert mesh.get_clim() == (0.0, 5.0)


def test_weights_beyond_the_bins_are_told():
    run = random_result(duration=20.0)
    counts, edges = run.weight_histograms["E->I"], run.weight_edges["E->I"]
    for end, bin in (("lowest", 0), ("highest", -1)):
        one = np.zeros_like(counts)
        one[:, bin] = 7
        samples = {**run.samples, "weight_histograms": {"E->I": one}}
        outside = dataclasses.replace(run, samples=samples)
        for how in ({}, {"times": [10.0]}):
            (text,) = plot.weight_history(outside, "E->I", **how).axes[0].texts
            edge = f"below {edges[1]:g}" if bin == 0 else f"from {edges[-2]:g} on"
            assert text.get_text() == f"all weights are in the {end} bin: {edge}"
    assert not plot.weight_history(run, "E->I").axes[0].texts


def test_bins_that_never_hold_a_weight_are_left_out():
    run = random_result(duration=20.0)
    counts, edges = np.zeros((200, 50), np.int32), np.linspace(0.0, 100.0, 51)
    counts[:, 3], counts[50:, 6] = 5, 2
    samples = {**run.samples, "weight_histograms": {"E->I": counts}}
    few = {"samples": samples, "constants": {"weight_histograms": {"E->I": edges}}}
    for how, end in (({}, "y"), ({"times": [10.0]}, "x")):
        axis = plot.weight_history(dataclasses.replace(run, **few), **how).axes[0]
        assert getattr(axis, f"get_{end}lim")() == (4.0, 16.0)


def test_lines_are_the_nearest_samples():
    run = random_result(duration=20.0)
    counts = run.weight_histograms["E->I"]
    (axis,) = plot.weight_history(run, "E->I", times=[-3.0, 7.52]).axes
    for patch, row in zip(axis.patches, (0, 74), strict=True):
        share, edges, _ = patch.get_data()
        np.testing.assert_allclose(share, 100.0 * counts[row] / counts[row].sum())
        np.testing.assert_allclose(edges, run.weight_edges["E->I"])
    assert [p.get_label() for p in axis.patches] == ["0.1 ms", "7.5 ms"]


def test_what_a_history_refuses():
    run = random_result(duration=20.0)
    for values, said in (
        ({"name": "E->E"}, "no recorded histogram of weights named 'E->E'; did you mean"),
        ({"stop": 0.05}, "between 0 and 0.05 ms; got none. Record more often"),
        ({"times": []}, "times must be at least one"),
        ({"times": [np.nan]}, "weight_history: times must"),
        ({"scale": (1, 0)}, "scale must be two numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            plot.weight_history(run, **{"name": "E->I", **values})
