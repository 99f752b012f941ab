"""Figures of spikes and traces draw what was recorded."""

import dataclasses
import itertools

import equinox as eqx
import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import analysis, plot
from tests import runs
from tests.plot.results import bar, random_result, steps
from tests.refusing import assert_refused
from tests.runs import result

SPIKES = {
    "E": [(0.1, 0), (2.0, 0), (2.0, 1), (5.0, 2), (9.9, 3), (10.0, 3)],
    "I": [(1.0, 1), (4.0, 1), (9.0, 1)],
}
SIZES = {"E": 4, "I": 2}


def small(**more):
    return result(SPIKES, SIZES, duration=10.0, **more)


@pytest.fixture(scope="module")
def simulated():
    """The README's network at a tenth of its size."""
    neuron = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-49.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    start = {"v": jn.Uniform(-60.0, -50.0)}
    cells = [jn.Population(name, n, neuron, start) for name, n in (("E", 80), ("I", 20))]
    rule, exp = jn.connectivity.FixedProbability(0.2), jn.synapses.Exponential
    wires = [jn.Projection("E", k, rule, weight=16.2, delay=1.5, synapse=exp(5.0)) for k in "EI"]
    wires += [jn.Projection("I", k, rule, weight=-90.0, delay=0.8, synapse=exp(10.0)) for k in "EI"]
    net = jn.build(jn.Description(cells, wires), key=1, dt=0.1)
    record = jn.Record(variables={"E": "v", "I->E": "current"}, neurons={"E": [9, 5]})
    return jn.simulate(net, 200.0, record=record)


def dots(line):
    return sorted(zip(line.get_xdata().tolist(), line.get_ydata().tolist()))


def test_raster_shows_every_spike():
    top, bottom = plot.raster(small()).axes
    e, i = top.lines
    assert dots(e) == sorted((t, n + 0.5) for t, n in SPIKES["E"])
    assert dots(i) == sorted((t, n + 4.5) for t, n in SPIKES["I"])
    assert [t.get_text() for t in top.get_yticklabels()] == ["E", "I"]
    assert (bottom.get_xlabel(), bottom.get_ylabel()) == ("time (ms)", "rate (Hz)")
    assert top.get_ylabel() == "neurons"


def test_raster_shows_the_first_neurons_of_each():
    top = plot.raster(small(), neurons=3).axes[0]
    assert [len(line.get_xdata()) for line in top.lines] == [3, 0]
    assert "2 of 4" in top.get_yticklabels()[0].get_text()
    many = random_result(sizes={"E": 900, "I": 100})
    for neurons, rows in ((50, 50), (None, 1000), (10**6, 1000)):
        top = plot.raster(many, neurons=neurons).axes[0]
        assert top.get_ylim() == (rows, 0.0)  # the first on top
        assert sum(len(line.get_xdata()) for line in top.lines) == sum(
            (many.events(name)[1] < n * rows / 1000).sum() for name, n in (("E", 900), ("I", 100))
        )


def test_an_empty_raster_says_so():
    assert [t.get_text() for t in plot.raster(result({}, SIZES)).axes[0].texts] == ["no spikes"]
    assert not plot.raster(small()).axes[0].texts
    (text,) = plot.raster(small(), start=5.5, stop=6.0).axes[0].texts
    assert text.get_text() == "no spikes"


def test_raster_of_a_stretch():
    top, bottom = plot.raster(small(), "E", start=2.0, stop=9.9).axes
    # The stretch is (start, stop].
    assert dots(top.lines[0]) == [(5.0, 2.5), (9.9, 3.5)]
    assert bottom.get_xlim() == (2.0, 9.9)


@pytest.mark.parametrize("size", [(7.0, 4.6), (3.3, 3.0)])
def test_names_of_rows_do_not_overlap(size):
    sizes = {"big": 2000, **{f"small {k}": 5 for k in range(6)}}
    figure = plot.raster(random_result(sizes=sizes, rate=5.0), size=size)
    figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in figure.axes[0].get_yticklabels()]
    assert all(low.y1 <= high.y0 + 1.0 for high, low in itertools.pairwise(boxes))


def test_raster_refuses():
    for neurons in (0, -1, 2.5):
        with pytest.raises(ValueError, match="neurons must be a whole number of at least 1"):
            plot.raster(small(), neurons=neurons)


def test_rates_are_spikes_per_bin():
    (axis,) = plot.rates(small(), bin_ms=2.0).axes
    e, i = axis.lines
    assert e.get_xdata().tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]
    # (t, t + 2]: 3, 0, 1, 0 and 2 spikes of 4 neurons in 2 ms.
    np.testing.assert_allclose(e.get_ydata(), np.array([3, 0, 1, 0, 2]) / 4 / 2e-3)
    np.testing.assert_allclose(i.get_ydata(), np.array([1, 1, 0, 0, 1]) / 2 / 2e-3)
    assert [t.get_text() for t in axis.get_legend().get_texts()] == ["E, 150 Hz", "I, 150 Hz"]
    assert_refused(lambda: plot.rates(small(), bin_ms=0), "rates", "bin_ms", "0.0")


def test_rate_histogram():
    (axis,) = plot.rate_histogram(small()).axes
    drawn = steps(axis)
    # Whole numbers of spikes in 10 ms: 0 ... 3 spikes, 100 Hz apart. E: 2, 1, 1, 2; I: 0, 3.
    share, edges, _ = drawn["E, mean 150 Hz"]
    np.testing.assert_allclose(edges, [0.0, 50.0, 150.0, 250.0, 350.0])
    np.testing.assert_allclose(share, [0.0, 50.0, 50.0, 0.0])
    np.testing.assert_allclose(drawn["I, mean 150 Hz"][0], [50.0, 0.0, 0.0, 50.0])
    assert [line.get_xdata()[0] for line in axis.lines] == [150.0, 150.0]
    two = steps(plot.rate_histogram(small(), "I", bins=2).axes[0])["I, mean 150 Hz"]
    np.testing.assert_allclose(two.edges, [0.0, 150.0, 350.0])
    np.testing.assert_allclose(two.values, [50.0, 50.0])


def test_rates_of_a_silent_network_start_at_0():
    for bins, want in ((30, [0.0, 50.0, 150.0]), (1, [0.0, 150.0])):
        (axis,) = plot.rate_histogram(result({}, SIZES, duration=10.0), "E", bins=bins).axes
        ((_, (share, edges, _)),) = steps(axis).items()
        np.testing.assert_allclose(edges, want)
        np.testing.assert_allclose(share, [100.0, 0.0][: share.size])
        assert axis.get_xlim() == (0.0, 150.0)


def test_cv_histogram():
    r = random_result(4, rate=60.0)
    (axis,) = plot.cv_histogram(r, "E", bins=7).axes
    times, neurons = r.events("E")
    gaps = [np.diff(np.sort(times[neurons == k])) for k in range(40)]
    cvs = np.array([np.std(g) / np.mean(g) for g in gaps if g.size >= 2])
    ((label, (share, edges, _)),) = steps(axis).items()
    np.testing.assert_allclose(edges, np.linspace(0.0, cvs.max(), 8))
    np.testing.assert_allclose(share, np.histogram(cvs, edges)[0] / cvs.size * 100.0)
    assert label == f"E, mean {cvs.mean():.3f}"
    assert axis.lines[0].get_xdata()[0] == pytest.approx(cvs.mean())


def test_interval_histogram():
    (axis,) = plot.interval_histogram(small(), bins=5, longest=5.0).axes
    drawn = steps(axis)
    # E: 1.9 and 0.1 ms; I: 3 and 5 ms. Half of E's are in each bin.
    np.testing.assert_allclose(drawn["E, mean 1.00 ms"].values, [50.0, 50.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(drawn["I, mean 4.00 ms"].values, [0.0, 0.0, 0.0, 50.0, 50.0])
    assert axis.get_yscale() == "log"
    # Longer ones than shown count in the whole.
    cut = steps(plot.interval_histogram(small(), "I", bins=4, longest=4.0).axes[0])
    np.testing.assert_allclose(cut["I, mean 4.00 ms"].values, [0.0, 0.0, 0.0, 50.0])
    assert_refused(
        lambda: plot.interval_histogram(small(), longest=0.0),
        "interval_histogram",
        "longest",
        "0.0",
    )


def recorded(values, **more):
    times = 0.5 * np.arange(1, len(values) + 1)
    return small(traces={"E": {"v": np.array(values, float)}}, sample_times=times, **more)


def test_traces_draw_values_and_spikes():
    values = np.random.default_rng(0).normal(-60.0, 1.0, (20, 4))
    figure = plot.traces(recorded(values), "E", neurons=[3, 0], peak=0.0)
    assert figure._supylabel.get_text() == "membrane potential (mV)"
    assert figure.axes[-1].get_xlabel() == "time (ms)"
    for axis, neuron in zip(figure.axes, (3, 0)):
        assert axis._right_title.get_text() == f"E, neuron {neuron}"
        assert axis.lines[0].get_xdata().tolist() == (0.5 * np.arange(1, 21)).tolist()
        np.testing.assert_array_equal(axis.lines[0].get_ydata(), values[:, neuron])
    # Neuron 3 spikes at 9.9 ms, between two samples, and at 10 ms, at the last.
    first, last = figure.axes[0].collections[0].get_segments()
    np.testing.assert_allclose(last, [[10.0, values[19, 3]], [10.0, 0.0]])
    between = 0.2 * values[18, 3] + 0.8 * values[19, 3]
    np.testing.assert_allclose(first, [[9.9, between], [9.9, 0.0]])
    assert len(figure.axes[1].collections[0].get_segments()) == 2


def test_ticks_of_spikes_stand_above_v():
    figure = plot.traces(recorded(np.full((20, 4), -60.0)), "E", overlay=True)
    (axis,) = figure.axes
    assert len(axis.lines) == 4
    tops = [seg[1][1] for c in axis.collections for seg in c.get_segments()]
    assert len(tops) == len(SPIKES["E"])
    assert min(tops) > -60.0
    # Never downwards, where v is over the peak itself.
    figure = plot.traces(recorded(np.full((20, 4), 30.0)), "E", peak=0.0)
    for axis in figure.axes:
        for (_, low), (_, high) in axis.collections[0].get_segments():
            assert high >= low == 30.0
    assert not plot.traces(recorded(np.zeros((20, 4))), "E", spikes=False).axes[0].collections


def test_traces_of_some_recorded_neurons(simulated):
    figure = plot.traces(simulated, "E", neurons=2)
    assert [a._right_title.get_text() for a in figure.axes] == ["E, neuron 9", "E, neuron 5"]
    held = simulated.traces["E"]["v"]
    for axis, column, neuron in zip(figure.axes, (0, 1), (9, 5)):
        np.testing.assert_array_equal(axis.lines[0].get_ydata(), held[:, column])
        times, who = simulated.events("E")
        own = times[who == neuron]
        assert own.size > 0
        segments = axis.collections[0].get_segments()
        np.testing.assert_allclose([seg[0][0] for seg in segments], own)
        # v was recorded before the reset: where it spikes it is over the threshold.
        assert min(seg[0][1] for seg in segments) >= -50.0
    figure = plot.traces(simulated, "I->E", "current", neurons=[12], stop=50.0)
    assert figure._supylabel.get_text() == "current (pA)"
    (line,) = figure.axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), simulated.traces["I->E"]["current"][:500, 12])


def test_traces_of_a_model_of_ones_own():
    r = small(traces={"E": {"b": np.zeros((3, 4))}}, sample_times=np.arange(3.0))
    assert plot.traces(r, "E", "b")._supylabel.get_text() == "b (unit of the model)"
    assert plot.traces(r, "E", "b", label="b (mV)")._supylabel.get_text() == "b (mV)"


def test_traces_refuse():
    r = recorded(np.full((20, 4), -60.0))
    with pytest.raises(ValueError, match="no recorded population or projection named 'I'"):
        plot.traces(r, "I")
    with pytest.raises(ValueError, match="no recorded variable of 'E' named 'u'"):
        plot.traces(r, "E", "u")
    assert_refused(lambda: plot.traces(r, "E", neurons=[0, 9]), "traces", "neurons", "9")
    assert_refused(lambda: plot.traces(r, "E", neurons=[]), "traces", "neurons", "none")
    assert_refused(lambda: plot.traces(r, "E", neurons=0), "traces", "neurons", "0")
    assert_refused(lambda: plot.traces(r, "E", peak=float("nan")), "traces", "peak", "nan")


def test_spikes_that_were_not_recorded(simulated):
    run = jn.simulate(simulated.network, 1.0, record=jn.Record(spikes=False))
    with pytest.raises(ValueError, match="were not recorded"):
        plot.raster(run)


def test_correlogram_is_a_rate():
    r = random_result(5, {"E": 6, "I": 3}, duration=100.0, rate=100.0)
    for target in ("I", "E"):
        (axis,) = plot.correlogram(r, "E", target, bin_ms=2.0, max_lag=6.0).axes
        x, y = (np.ceil(r.events(k)[0] / 2.0 - 1e-6).astype(int) for k in ("E", target))
        lag = (y[None, :] - x[:, None]).ravel()
        pairs = np.array([(lag == k).sum() for k in range(-3, 4)])
        pairs[3] -= x.size if target == "E" else 0
        seen = 1 - np.abs(np.arange(-3, 4)) / 50
        want = pairs / (x.size * r.populations[target] * 2e-3 * seen)
        ((_, (got, edges, _)),) = steps(axis).items()
        np.testing.assert_allclose(edges, np.arange(-7.0, 8.0, 2.0))
        np.testing.assert_allclose(got, want)
        level = y.size / r.populations[target] / 0.1
        assert axis.lines[0].get_ydata()[0] == pytest.approx(level)


def test_correlogram_of_neurons_with_themselves():
    (axis,) = plot.correlogram(small(), "I", bin_ms=1.0, max_lag=6.0).axes
    # Spikes at 1, 4 and 9 ms: one pair each at 3, 5 (and 8) ms, both ways.
    ((_, (got, _, _)),) = steps(axis).items()
    want = np.zeros(13)
    for lag in (3, 5):
        want[[6 - lag, 6 + lag]] = 1 / (3 * 1e-3 * (1 - lag / 10))
    np.testing.assert_allclose(got, want)
    assert axis.lines[0].get_ydata()[0] == pytest.approx(3 * 2 / 3 / 10e-3)


def test_chance_is_where_poisson_neurons_lie():
    r = random_result(6, {"E": 50, "I": 50}, duration=5000.0, rate=40.0)
    for target, neurons in ((None, 1), ("E", 50), ("I", 50)):
        (axis,) = plot.correlogram(r, "E", target, bin_ms=5.0, max_lag=100.0).axes
        ((_, (rate, _, _)),) = steps(axis).items()
        level = axis.lines[0].get_ydata()[0]
        # Counts of pairs per bin are about Poisson: 10,000 spikes, 40 Hz, 5 ms, neurons.
        spread = level / np.sqrt(10_000 * 0.2 * neurons)
        # A pair of bins at lag 0 misses the pairs of a step with itself.
        off = np.delete(rate, rate.size // 2)
        assert np.abs(off - level).max() < 5 * spread + 0.02 * level


def test_correlogram_refuses():
    assert_refused(
        lambda: plot.correlogram(small(), "X", max_lag=5.0), "correlogram", "population", "'X'"
    )
    assert_refused(
        lambda: plot.correlogram(small(), "E", "X", max_lag=5.0), "correlogram", "population", "'X'"
    )
    assert_refused(
        lambda: plot.correlogram(small(), "E", max_lag=10.0), "correlogram", "max_lag", "10.0"
    )


@pytest.mark.slow
def test_correlation_matrix():
    r = random_result(7, {"E": 12, "I": 3}, rate=80.0)
    figure = plot.correlation_matrix(r, bin_ms=5.0)
    counts = np.zeros((15, 40))
    for name, first in (("E", 0), ("I", 12)):
        for t, neuron in zip(*r.events(name)):
            counts[first + neuron, int(np.ceil(t / 5.0 - 1e-6)) - 1] += 1
    want = np.corrcoef(counts)
    pairs = want[np.triu_indices(15, 1)]
    np.fill_diagonal(want, np.nan)
    axis = figure.axes[0]
    got = np.ma.filled(axis.images[0].get_array(), np.nan)
    np.testing.assert_allclose(got, want, atol=1e-12)
    assert f"mean {pairs.mean():.3g}"[:9] in axis.get_title()
    low, high = axis.images[0].get_clim()
    assert high == -low == pytest.approx(np.quantile(np.abs(pairs), 0.99), rel=0.1)
    assert bar(figure).get_ylabel() == "count correlation"
    few = plot.correlation_matrix(r, neurons=5, scale=(-1, 1)).axes[0].images[0]
    assert few.get_array().shape == (5, 5)
    assert few.get_clim() == (-1.0, 1.0)


@pytest.mark.slow
def test_neurons_that_hardly_spike_are_left_out():
    spikes = {
        "E": [(t, n) for n, many in enumerate((5, 0, 4, 9, 6)) for t in range(1, many + 1)],
        "I": [(t, 1) for t in range(3, 9)],
    }
    r = result(spikes, {"E": 5, "I": 2}, duration=10.0)

    def shown(names, left):
        figure = plot.correlation_matrix(r, names, bin_ms=1.0, **left)
        axis = figure.axes[0]
        counts = np.zeros((7, 10))
        for name, base in (("E", 0), ("I", 5)):
            for t, n in spikes[name]:
                counts[base + n, t - 1] += 1
        return np.ma.filled(axis.images[0].get_array(), np.nan), axis.get_title(), counts

    for left, kept in (({}, [0, 3, 4, 6]), ({"at_least": 1}, [0, 2, 3, 4, 6])):
        got, title, counts = shown(None, left)
        want = np.corrcoef(counts[kept])
        np.fill_diagonal(want, np.nan)
        np.testing.assert_allclose(got, want, atol=1e-12)
        below = left.get("at_least", 5)
        assert title.endswith(f"left out: {7 - len(kept)} of 7 neurons, below {below} spikes")
    assert shown("I", {"at_least": 7})[1].startswith("1 ms bins, no pair\nleft out: 2 of 2")
    everyone = random_result(7, {"E": 12, "I": 3}, rate=80.0)
    assert "left out" not in plot.correlation_matrix(everyone).axes[0].get_title()
    for wrong in (0, 2.5):
        with pytest.raises(ValueError, match="at_least must be a whole number of at least 1"):
            plot.correlation_matrix(r, at_least=wrong)


def test_correlation_matrix_refuses():
    assert_refused(
        lambda: plot.correlation_matrix(small(), neurons=1, bin_ms=1.0),
        "correlation_matrix",
        "neurons",
        "1",
    )
    assert_refused(
        lambda: plot.correlation_matrix(small(), scale=(1, 0), bin_ms=1.0),
        "correlation_matrix",
        "scale",
        "(1, 0)",
    )


def test_power_spectrum():
    from scipy.signal import welch

    r = random_result(8, {"E": 20, "I": 5}, duration=1000.0)
    (axis,) = plot.power_spectrum(r, bin_ms=2.0, segment_ms=100.0).axes
    for line, (name, n) in zip(axis.lines, r.populations.items()):
        bins = np.ceil(r.events(name)[0] / 2.0 - 1e-6).astype(int) - 1
        rate = np.bincount(bins, minlength=500) / n / 2e-3
        at, density = welch(rate, 500.0, nperseg=50)
        np.testing.assert_allclose(line.get_xdata(), at[1:])
        np.testing.assert_allclose(line.get_ydata(), density[1:])
    assert axis.get_xscale() == axis.get_yscale() == "log"
    plot.power_spectrum(r, bin_ms=25.0, segment_ms=100.0).draw_without_rendering()
    assert_refused(
        lambda: plot.power_spectrum(r, bin_ms=2.0, segment_ms=7.9),
        "power_spectrum",
        "segment_ms",
        "3 steps of 2 ms",
    )
    assert_refused(
        lambda: plot.power_spectrum(r, bin_ms=2.0, stop=7.0),
        "power_spectrum",
        "segment_ms",
        "3 steps of 2 ms",
    )


def test_a_simulated_network(simulated):
    assert sum(len(x.get_xdata()) for x in plot.raster(simulated).axes[0].lines) == sum(
        simulated.events(k)[0].size for k in "EI"
    )
    rate = plot.rates(simulated, bin_ms=10.0).axes[0].lines[0].get_ydata()
    assert rate.mean() == pytest.approx(simulated.rate("E"))


def test_a_batch_has_its_median_and_its_range():
    batch = runs.batch()
    (axis,) = plot.rates(batch, "E", start=50.0).axes
    rates = analysis.population_rate(batch, "E", bin_ms=5.0, start=50.0)[1].reshape(6, -1)
    np.testing.assert_allclose(axis.lines[0].get_ydata(), np.median(rates, axis=0))
    for shade, ends in zip(axis.collections, ((0.25, 0.75), (0.0, 1.0)), strict=True):
        drawn = shade.get_paths()[0].vertices[:, 1]
        for end in np.quantile(rates, ends, axis=0).ravel():
            assert np.isclose(drawn, end).any()
    mean = analysis.neuron_rates(batch, "E", start=50.0).mean()
    assert axis.get_legend().get_texts()[0].get_text() == f"E, {mean:.1f} Hz"


def test_rates_of_runs_of_different_times_are_refused():
    batch = jax.tree.map(np.asarray, runs.batch())
    later = batch.first_step + 10 * np.eye(2, 3, dtype=np.int32)
    moved = eqx.tree_at(lambda x: (x.first_step, x.spikes.first_step), batch, (later, later))
    assert_refused(lambda: plot.rates(moved), "rates", "the runs")
    assert plot.rates(moved, start=40.0, stop=200.0).axes


@pytest.mark.parametrize("name", ["raster", "traces", "rate_histogram", "correlogram"])
def test_other_figures_are_of_one_run(name):
    draw, batch = getattr(plot, name), runs.batch()
    with pytest.raises(jn.InvalidValueError, match=r"one run of the batch, recording\[k\]"):
        draw(batch, "E")
    assert draw(batch[1, 2], "E").axes
    if name != "traces":
        assert draw(batch[1, 2].result().spikes["E"]).axes


def test_rates_need_counts_alone():
    batch = runs.batch()
    few = dataclasses.replace(batch, spikes=None, statistics={})
    for kept, whole in ((few, batch), (few[1, 2], batch[1, 2])):
        lines, expected = (plot.rates(x, bin_ms=10.0).axes[0].lines for x in (kept, whole))
        for x, y in zip(lines, expected, strict=True):
            np.testing.assert_allclose(x.get_ydata(), y.get_ydata())
    assert_refused(lambda: plot.rates(few[:0]), "rates", "a batch")
