"""The largest stable gap conductances: stated, just below bounded, just above not."""

import re

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.neurons import _gap_stability, largest_conductance
from scripts.zoo_gap_limits import LIMITS
from tests.couplings.networks import build, explicit, voltages
from tests.refusing import assert_refused
from tests.zoo import NEURONS

neurons, integrators = jn.neurons, jn.integrators
N = 10
RING = explicit(np.arange(N), (np.arange(N) + 1) % N)  # each neuron has two neighbours
EULER = neurons.LIF(v_th=1e3, method=integrators.forward_euler)
# By name: the model, its limit by hand, and how near to it neighbours settle within 300 steps.
FINITE = {
    # 1 - 2 g dt / c_m - dt / tau_m >= -1
    "LIF, Euler": (EULER, 2500.0 * (1 - 0.5 * 0.1 / 10.0), 0.99),
    # 1 + dt (0.08 v + 5) - 2 g dt >= -1 at rest, v = -70; it starts at -65, where more is stable
    "Izhikevich": (neurons.Izhikevich(), (2 + 0.1 * (5 - 0.08 * 70)) / 0.2, 0.99),
    # Runge and Kutta, of fourth order: R - C is never below -1, but R grows beyond g dt / c_m = 2.8
    "HodgkinHuxley": (neurons.HodgkinHuxley(), None, 0.99),
}
FREE = {
    "LIF": neurons.LIF(v_th=1e3),
    "HodgkinHuxley": neurons.HodgkinHuxley(method=integrators.exponential_euler),
}


def ring(model, total, gain=1.0):
    """Neurons whose gap conductances add up to `total`; neighbours start apart."""
    v0 = -66.0 + 2.0 * (np.arange(N) % 2)
    cells = jn.Population("E", N, model, initial={"v": v0})
    return build([cells], [jn.Coupling("E", "E", RING, weight=0.5 * total, gain=gain)])


@pytest.mark.slow
@pytest.mark.parametrize("name", FINITE)
def test_the_largest_is_stated_and_is_the_largest(name, monkeypatch):
    model, derived, near = FINITE[name]
    with pytest.raises(ValueError, match=r"coupling 'E~E': .* is stable") as e:
        ring(model, 1e7)
    stated = float(re.search(r"at most ([\d.e+]+) at dt = 0.1 ms", str(e.value))[1])
    if derived is not None:
        np.testing.assert_allclose(stated, derived, rtol=2e-3)
    kept = voltages(ring(model, near * stated), 300)["E"]
    apart = np.abs(np.diff(kept, axis=1)).max(axis=1)
    assert np.isfinite(kept).all()
    assert apart[-1] < 0.5 * apart[0]
    with pytest.raises(ValueError, match="is stable"):
        ring(model, 1.01 * stated)
    monkeypatch.setattr(_gap_stability, "_SLACK", 1e9)
    gone = voltages(ring(model, 1.1 * stated), 300)["E"]
    assert not np.abs(np.diff(gone, axis=1)).max() < 10 * apart[0]


@pytest.mark.slow(but=["LIF"])
@pytest.mark.parametrize("name", FREE)
def test_an_exact_membrane_takes_any(name):
    """Its neighbours pull it at most to where they are."""
    assert largest_conductance(FREE[name], 0.1) == np.inf
    v = voltages(ring(FREE[name], 1e6), 100)["E"]
    assert np.isfinite(v).all()
    assert np.abs(v).max() < 150


@pytest.mark.parametrize(
    ("given", "field", "got"),
    [
        ((EULER, -0.1), "dt", "-0.1"),
        ((EULER, "0.1"), "dt", "'0.1'"),
        ((neurons.LIF, 0.1), "model", "LIF"),
        ((neurons.LinearRate(), 0.1), "model", "LinearRate"),
    ],
)
def test_what_has_no_largest_conductance(given, field, got):
    assert_refused(lambda: largest_conductance(*given), "largest_conductance", field, got)


def test_neurons_with_parameters_of_their_own():
    """The smallest capacitance decides, wherever it stands; and what it sees, not the others."""
    c_m = np.full(N, 250.0)
    c_m[7] = 25.0
    model = neurons.LIF(c_m=c_m, v_th=1e3, method=integrators.forward_euler)
    ring(model, 240.0)
    with pytest.raises(ValueError, match=r"at most 24\d\.?\d* at dt = 0.1 ms.*got 260"):
        ring(model, 260.0)


def test_what_is_set_is_checked_again():
    """The gain, the weight, and parameters of the neurons."""
    net = ring(EULER, 1000.0)
    for name, values in (
        ("E~E", {"gain": 3.0}),
        ("E~E", {"weight": 2000.0}),
        ("E", {"c_m": 90.0}),
        ("E", {"c_m": np.linspace(300.0, 90.0, N)}),
    ):
        with pytest.raises(ValueError, match="'E~E': weight must"):
            net.set(name, **values)
    net.set("E~E", gain=2.0).set("E", c_m=240.0)


def test_the_average_counts():
    """With it the sum is the mean of the weights."""
    cells = jn.Population("E", N, EULER)
    mean = jn.Coupling("E", "E", RING, weight=2000.0, average=True)
    build([cells], [mean])
    with pytest.raises(ValueError, match="got 4000"):
        build([cells], [jn.Coupling("E", "E", RING, weight=2000.0)])


def test_neurons_that_grow_alone_have_a_largest():
    """Above 0: a neuron that grows alone, on its way to a spike, may have neighbours."""
    for name, model in (
        ("QIF", neurons.QIF()),
        ("FitzHughNagumo", NEURONS["FitzHughNagumo"].model),
    ):
        assert largest_conductance(model, 0.1) > 1e-3, name


def test_the_page_has_the_limits():
    """Those of three models, as the table was measured."""
    for name in ("LIF", "QIF", "Izhikevich"):
        limit = largest_conductance(getattr(neurons, name)(), 0.1)
        assert limit == pytest.approx(LIMITS[name], rel=1e-3)


def test_couplings_count_together():
    """Two couplings, each of which alone would be stable."""
    cells = [jn.Population("E", N, neurons.Izhikevich())]
    pair = [jn.Coupling("E", "E", RING, weight=3.0, name=name) for name in "ab"]
    net = build(cells, [pair[0]])
    with pytest.raises(ValueError, match=r"coupling 'a' and 'b'.*at most 9\.7.*got 12"):
        build(cells, pair)
    with pytest.raises(ValueError, match=r"coupling 'a': .*at most 9\.7.*got 12"):
        net.set("a", gain=2.0)
