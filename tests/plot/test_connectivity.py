"""Figures of connections draw the connections."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import jaxneuro as jn
from jaxneuro import plot
from jaxneuro._html import COLOURS
from tests.plot.results import bar, connections, random_connections, steps
from tests.refusing import assert_refused


def dense(c, values=None):
    out = np.zeros(c.shape)
    np.add.at(out, (c.pre, c.post), 1.0 if values is None else values)
    return out


def cells(figure):
    """Colours of a map as (rows, columns), nan where there is none, and its scale."""
    (mesh,) = figure.axes[0].collections
    return np.ma.filled(mesh.get_array().astype(float), np.nan), mesh.get_clim()


def test_one_synapse_per_pair_is_dots():
    c = connections([0, 0, 3, 4], [1, 2, 0, 2], (5, 3))
    figure = plot.connectivity(c)
    (axis,) = figure.axes
    (line,) = axis.lines
    assert list(zip(line.get_ydata(), line.get_xdata())) == [(0, 1), (0, 2), (3, 0), (4, 2)]
    assert axis.get_xlabel() == "target neuron (I)"
    assert axis.get_ylabel() == "source neuron (E)"
    # Sources from top to bottom.
    assert (axis.get_xlim(), axis.get_ylim()) == ((-0.5, 2.5), (4.5, -0.5))
    assert not axis.child_axes


def test_pairs_in_colours():
    c = random_connections()
    count, weight = dense(c), dense(c, c.weight)
    figure = plot.connectivity(c)
    np.testing.assert_array_equal(cells(figure)[0], np.where(count, count, np.nan))
    assert bar(figure).get_ylabel() == "synapses per pair"
    figure = plot.connectivity(c, "weight", unit="nS")
    got, (low, high) = cells(figure)
    np.testing.assert_allclose(got, np.where(count, weight, np.nan))
    assert -low == high == np.abs(weight).max()
    assert bar(figure).get_ylabel() == "weight (nS)"
    figure = plot.connectivity(c, "delay")
    np.testing.assert_allclose(
        cells(figure)[0], np.where(count, dense(c, c.delay) / np.maximum(count, 1), np.nan)
    )
    assert bar(figure).get_ylabel() == "delay (ms)"


@pytest.mark.parametrize("shape", [(40, 20), (37, 11), (5, 40)])
def test_bins_of_many_neurons(shape):
    c = random_connections(1, shape)
    count, weight, delay = dense(c), dense(c, c.weight), dense(c, c.delay)
    rows, columns = (-(-n // 8) for n in shape)

    def mean(x, over=None):
        blocks = [
            [(slice(i, i + rows), slice(j, j + columns)) for j in range(0, shape[1], columns)]
            for i in range(0, shape[0], rows)
        ]
        with np.errstate(invalid="ignore"):
            return np.array(
                [
                    [x[b].mean() if over is None else x[b].sum() / over[b].sum() for b in line]
                    for line in blocks
                ]
            )

    for values, want in (
        ("synapses", mean(count)),
        ("weight", mean(weight, count)),
        ("delay", mean(delay, count)),
    ):
        figure = plot.connectivity(c, values, dots=10, bins=8)
        np.testing.assert_allclose(cells(figure)[0], want)
        low, high = cells(figure)[1]
        if values == "weight":
            assert -low == high
            assert bar(figure).get_ylabel() == "mean weight (unit of the synapse)"
        if values == "synapses":
            assert low == 0.0
        axis = figure.axes[0]
        assert axis.get_xlim() == (-0.5, shape[1] - 0.5)


def test_bins_without_a_synapse_are_blank():
    c = connections([0, 1, 1, 5], [0, 1, 1, 3], (6, 4), weight=[1.0, 2.0, 6.0, -4.0], delay=0.5)
    want = [[3.0, np.nan], [np.nan, np.nan], [np.nan, -4.0]]
    figure = plot.connectivity(c, "weight", unit="pA", dots=1, bins=3)
    np.testing.assert_allclose(cells(figure)[0], want)
    assert bar(figure).get_ylabel() == "mean weight (pA)"
    figure = plot.connectivity(c, "delay", dots=1, bins=3)
    assert bar(figure).get_ylabel() == "mean delay (ms)"
    # As many bins as neurons: weights of a pair add up as they do without bins.
    figure = plot.connectivity(c, "weight", unit="pA", dots=1, bins=6)
    assert cells(figure)[0][1, 1] == 8.0
    assert bar(figure).get_ylabel() == "weight (pA)"


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (4, 7), (30, 20), (300, 150)])
def test_ticks_are_neurons(shape):
    axis = plot.connectivity(connections([0], [0], shape)).axes[0]
    for ticks in (axis.get_xticks(), axis.get_yticks()):
        assert ticks.size
        np.testing.assert_array_equal(ticks, np.round(ticks))


def test_degrees_in_one_column_are_one_over_the_other():
    first, second = (
        axis.get_position() for axis in plot.degrees(random_connections(2), size=(3.3, 4.0)).axes
    )
    assert first.y0 > second.y1


def test_degrees_have_the_colours_of_the_populations():
    for source, target in ("EI", "IE", "EE"):
        made = {"weight": 1.0, "delay": 1.0, "synapse": jn.synapses.Delta()}
        link = jn.Projection(source, target, jn.connectivity.AllToAll(), **made)
        two = [jn.Population(name, 3, jn.neurons.LIF()) for name in "EI"]
        net = jn.build(jn.Description(two, [link]), key=0, dt=0.1)
        axes = plot.degrees(net.connections(f"{source}->{target}")).axes
        drawn = [to_hex(axis.lines[0].get_color()).upper() for axis in axes]
        assert drawn == [COLOURS["EI".index(name)] for name in (target, source)]


def test_degrees():
    c = random_connections(2)
    left, right = plot.degrees(c).axes
    for axis, who, n, name in ((left, c.post, 20, "I"), (right, c.pre, 30, "E")):
        degree = np.array([(who == k).sum() for k in range(n)])
        ((label, (share, edges, _)),) = steps(axis).items()
        np.testing.assert_allclose(edges, np.arange(degree.min(), degree.max() + 2) - 0.5)
        np.testing.assert_allclose(share, np.histogram(degree, edges)[0] / n * 100)
        assert label.startswith(f"{name}, mean {degree.mean():.2f}")
        assert axis.lines[0].get_xdata()[0] == pytest.approx(degree.mean())
    assert left.get_xlabel() == "in-degree (synapses per target)"
    assert right.get_xlabel() == "out-degree (synapses per source)"


def test_weights():
    c = random_connections(3)
    (axis,) = plot.weight_histogram(c, unit="mV", bins=9).axes
    ((label, (share, edges, _)),) = steps(axis).items()
    np.testing.assert_allclose(edges, np.linspace(c.weight.min(), c.weight.max(), 10))
    np.testing.assert_allclose(share, np.histogram(c.weight, 9)[0] / c.weight.size * 100)
    assert label.startswith("E to I, mean ")
    assert label.endswith(" mV")
    assert axis.get_xlabel() == "weight (mV)"
    assert plot.weight_histogram(c).axes[0].get_xlabel() == "weight (unit of the synapse)"


@pytest.mark.parametrize("value", [100.0, 0.0, -0.002])
def test_equal_weights_are_one_bar_in_the_middle(value):
    (axis,) = plot.weight_histogram(connections([0, 1, 2], [0, 1, 2], (3, 3), value)).axes
    ((_, (share, edges, _)),) = steps(axis).items()
    (at,) = np.flatnonzero(share)
    assert share[at] == 100.0
    assert edges[at : at + 2].mean() == pytest.approx(value, abs=1e-12)
    assert axis.get_xlim() == pytest.approx((edges[0], edges[-1]))


def test_delays_fall_between_the_edges():
    # 1 ... 30 steps equally often: equal bins, wherever the edges lie.
    c = connections(np.zeros(300), np.zeros(300), (1, 1), delay=0.1 * (np.arange(300) % 30 + 1))
    for bins, number in ((40, 30), (30, 30), (15, 15), (10, 10)):
        (axis,) = plot.delay_histogram(c, bins=bins).axes
        ((_, (share, _, _)),) = steps(axis).items()
        np.testing.assert_allclose(share, np.full(number, 100.0 / number))
    ((_, (share, edges, _)),) = steps(plot.delay_histogram(random_connections()).axes[0]).items()
    assert share.sum() == pytest.approx(100.0)
    assert np.diff(edges) == pytest.approx(0.1)


def test_unknown_values_are_refused():
    assert_refused(
        lambda: plot.connectivity(random_connections(), "weights"),
        "connectivity",
        "value of connections",
        "'weights'",
    )
    for name in ("dots", "bins"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1"):
            plot.connectivity(random_connections(), **{name: 0})


def test_connections_of_a_network():
    neuron, exp = jn.neurons.LIF(), jn.synapses.Exponential(5.0)
    cells_ = [jn.Population("e", 20, neuron), jn.Population("i", 10, neuron)]
    rule = jn.connectivity.FixedProbability(0.3)
    wire = jn.Projection("e", "i", rule, weight=jn.Normal(2.0, 0.5), delay=1.5, synapse=exp)
    c = jn.build(jn.Description(cells_, [wire]), key=1, dt=0.1).connections("e->i")
    got, _ = cells(plot.connectivity(c, "weight", unit="pA"))
    want = c.sparse().toarray()
    np.testing.assert_allclose(got, np.where(want, want, np.nan))
