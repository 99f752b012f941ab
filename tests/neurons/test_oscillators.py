"""FitzHugh-Nagumo and Hindmarsh-Rose: fixed points, bifurcations, bursts, order."""

import numpy as np
import pytest

from jaxneuro.integrators import exponential_euler
from jaxneuro.neurons import FitzHughNagumo, HindmarshRose
from tests.neurons.driving import exact, orders, run
from tests.oracle.biophysical import fitzhugh_nagumo, hindmarsh_rose

EQUATIONS = {"fitzhugh_nagumo": (FitzHughNagumo, fitzhugh_nagumo, 20.0, 0.7, 200)}
EQUATIONS["hindmarsh_rose"] = (HindmarshRose, hindmarsh_rose, 12.0, 2.5, 600)


def hopf_currents(a=0.7, b=0.8, tau=12.5):
    """Where the trace 1 - v^2 - b/tau of the linearisation at the fixed point is 0."""
    v = np.array([-1.0, 1.0]) * np.sqrt(1 - b / tau)
    return (v + a) / b - v + v**3 / 3


@pytest.mark.slow
def test_fitzhugh_nagumo_oscillates_between_the_hopf_currents(x64):
    low, high = hopf_currents()
    np.testing.assert_allclose([low, high], [0.3313, 1.4187], atol=1e-4)
    currents = np.array([low - 0.02, low + 0.02, high - 0.02, high + 0.02])
    states, spikes = run(FitzHughNagumo(), 10_000, 0.1, 4, current=currents)
    late = states.v[8000:]
    assert (spikes[5000:].sum(0) > 5).tolist() == [False, True, True, False]
    assert (np.ptp(late, axis=0) > 1).tolist() == [False, True, True, False]
    # Where it does not oscillate it rests at the root of the cubic.
    v = late[-1, 0]
    assert v - v**3 / 3 - (v + 0.7) / 0.8 + currents[0] == pytest.approx(0, abs=1e-3)


@pytest.mark.slow
def test_hindmarsh_rose_rests_without_a_current(x64):
    states, spikes = run(HindmarshRose(), 40_000, 0.05)
    v = float(states.v[-1, 0])
    assert not spikes.any()
    assert 1.0 - 5.0 * v**2 - v**3 + 3.0 * v**2 - 4.0 * (v + 1.6) == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_hindmarsh_rose_bursts(x64):
    """At I = 2: groups of spikes with silence between them, in the steps of the exact solution."""
    dt, n_steps = 0.05, 12_500
    _, spikes = run(HindmarshRose(), n_steps, dt, current=2.0)
    steps = np.flatnonzero(spikes[:, 0])
    times = dt * np.arange(1, n_steps + 1)
    v = exact(HindmarshRose(), hindmarsh_rose, [-1.6, -11.8, 0.0], times[-1], 2.0, times)[0]
    expected = 1 + np.flatnonzero((v[:-1] < 1.0) & (v[1:] >= 1.0))
    np.testing.assert_allclose(steps, expected, atol=1)
    gaps = np.diff(steps) * dt
    pauses = np.flatnonzero(gaps > 50)
    assert pauses.size >= 3
    sizes = np.diff(pauses)[1:]
    assert (sizes == sizes[0]).all()
    assert sizes[0] == 2
    assert gaps[pauses].min() > 4 * np.delete(gaps, pauses).max()


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("method", [None, exponential_euler])
def test_order(name, method, x64):
    cls, equations, stop, current, n = EQUATIONS[name]
    model = cls() if method is None else cls(method=method)
    n = n if method is None else 10 * n
    found, errors = orders(model, equations, stop, [n, 2 * n, 4 * n], current)
    assert np.abs(found - model.method.order).max() < 0.25, errors


@pytest.mark.parametrize("cls", [FitzHughNagumo, HindmarshRose])
def test_it_comes_back_from_far_away(cls, x64):
    """An explicit method does not blow up on the cubic."""
    start = cls().init(2)
    start = start._replace(v=np.array([1e4, -1e4]))
    states, _ = run(cls(), 100_000, 0.05, 2, start)
    assert np.isfinite(states.v).all()
    assert np.abs(states.v[-1]).max() < 3


def test_largest_steps():
    assert float(FitzHughNagumo().largest_step()) == pytest.approx(2.785 * 12.5 / 0.8)
    assert HindmarshRose().largest_step() == 2.785
    assert HindmarshRose(method=exponential_euler).largest_step() is None
