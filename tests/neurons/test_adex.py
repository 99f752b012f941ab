"""The AdEx neuron against an adaptive ODE solver, and its presets against their names."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._fields import parameters
from jaxneuro.integrators import exponential_euler, forward_euler, heun, rk4
from jaxneuro.neurons import AdEx
from tests.neurons.constant import order_of_error, run, steps_of
from tests.oracle.spike_times import adex_spike_times, driven_adex_spike_times

NUMBERS = [f.name for f in parameters(AdEx)]


def exact(model, current, duration):
    return adex_spike_times({k: float(getattr(model, k)) for k in NUMBERS}, current, duration)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "current"),
    [(AdEx(), 800.0), (AdEx(), 1000.0), (AdEx.adapting(), 500.0), (AdEx.regular_bursting(), 210.0)],
    ids=["800 pA", "1000 pA", "adapting", "bursting"],
)
def test_spikes_of_a_second_equal_the_solver(model, current, x64):
    """At 0.1 ms as many and none off by more than a step; at 0.01 ms in the same steps."""
    times = exact(model, current, 1000.0)
    assert times.size > 15
    for dt, off in ((0.1, 1), (0.01, 0)):
        steps = steps_of(run(model, current, round(1000 / dt), dt)[0])
        assert steps.size == times.size
        assert np.abs(steps - (np.ceil(times / dt) - 1)).max() <= off


@pytest.mark.slow
def test_spikes_under_conductances_equal_the_solver(x64):
    """Volleys that decay within a step or two: as at a constant current.

    v reaches the peak where the drive is far from its mean over the step, and goes on from its
    reset under what is left of it.
    """
    rng, synapses, arrivals, stimuli = np.random.default_rng(2), ((0.2, 0.0), (2.0, -85.0)), [], []
    for (tau, e_rev), (weight, mean) in zip(synapses, ((60.0, 0.5), (10.0, 2.0))):
        steps = np.unique(rng.integers(20, 3900, round(400.0 / mean)))
        arrivals.append([(0.1 * k, weight) for k in steps])
        model = jn.synapses.ExponentialConductance(tau, e_rev)
        train = jn.stimuli.SpikeTimes([0.1 * steps])
        stimuli.append(jn.Stimulation("n", train, weight=weight, synapse=model, name=str(tau)))
    params = {k: float(getattr(AdEx(), k)) for k in NUMBERS}
    times = driven_adex_spike_times(params, synapses, arrivals, 400.0)
    assert times.size > 12
    described = jn.Description([jn.Population("n", 1, AdEx())], [], stimuli)
    for dt, off in ((0.1, 1), (0.01, 0)):
        net = jn.build(described, 0, dt, jnp.float64)
        steps = np.rint(jn.simulate(net, 400.0, progress=False).spikes["n"].of(0) / dt)
        assert steps.size == times.size
        away = np.abs(steps - np.ceil(times / dt))
        assert away.max() <= off
        assert np.count_nonzero(away) <= 1


@pytest.mark.slow(but=["0.1"])
@pytest.mark.parametrize("dt", [0.1, 0.02])
def test_the_reset_is_where_the_spike_is(dt, x64):
    """After 300 ms the neuron stands where the solver puts it, to a hundredth of a step's move."""
    model, current = AdEx(b=0.0, a=0.0, tau_w=50.0), 1000.0
    times = exact(model, current, 300.0)
    spikes = steps_of(run(model, current, round(300 / dt), dt)[0])
    assert spikes.size == times.size > 25
    interval = np.diff(times)[1:]
    assert np.ptp(interval) < 1e-6
    # The mean interval is off the grid, and known to a small part of a step.
    mean = (spikes[-1] - spikes[1]) * dt / (spikes.size - 2)
    assert abs(mean - interval[0]) < 1.5 * dt / (spikes.size - 2)


@pytest.mark.slow
def test_float32_counts_the_same(x64):
    spikes, _ = run(AdEx(), [600.0, 1000.0, 2500.0], 10_000, 0.1)
    single, _ = run(AdEx(), [600.0, 1000.0, 2500.0], 10_000, 0.1, jnp.float32)
    np.testing.assert_array_equal(spikes.sum(0), single.sum(0))
    assert abs(steps_of(spikes, 1) - steps_of(single, 1)).max() <= 1


@pytest.mark.parametrize(
    ("method", "order"), [(forward_euler, 1), (exponential_euler, 1), (heun, 2), (rk4, 4)]
)
@pytest.mark.parametrize("top", [False, True], ids=["in v", "in z"])
def test_order_between_spikes(method, order, top, x64):
    """On the way to the peak as well, above v_th."""
    start, current, time = ({"v": -49.8}, 700.0, 1.6) if top else ({"v": -62.0}, 500.0, 8.0)
    dts = (0.4, 0.2, 0.1)
    got = order_of_error(AdEx(), "vw", start, current, method, dts, time)
    np.testing.assert_allclose(got, order, atol=0.45)


def test_held_at_the_reset_while_w_goes_on(x64):
    """v = v_reset through t_ref; w relaxes to a (v_reset - e_l) exactly."""
    model, dt = AdEx(t_ref=3.0, a=7.0), 0.1
    spikes, states = run(model, 1500.0, 500, dt)
    first = steps_of(spikes)[0]
    held = slice(first, first + 31)
    np.testing.assert_array_equal(states.v[held, 0], -60.0)
    assert states.v[first + 31, 0] > -60.0
    w, end = states.w[held, 0], 7.0 * (-60.0 + 70.6)
    np.testing.assert_allclose(w[1:] - end, (w[:-1] - end) * np.exp(-dt / 144.0), rtol=1e-12)
    assert w[0] - states.w[first - 1, 0] == pytest.approx(80.5, abs=0.5)


def test_the_presets_fire_as_they_are_named(x64):
    def intervals(model, current):
        return np.diff(steps_of(run(model, current, 5000, 0.1)[0])) * 0.1

    tonic = intervals(AdEx.tonic(), 500.0)
    assert tonic.size > 30
    assert np.ptp(tonic[10:]) < 0.25
    adapting = intervals(AdEx.adapting(), 500.0)
    assert adapting[-1] > 3 * adapting[0]
    assert (np.diff(adapting[:5]) > 0).all()
    burst = intervals(AdEx.initial_burst(), 400.0)
    assert burst[0] < 10.0
    assert (burst[2:] > 3 * burst[0]).all()
    bursting = intervals(AdEx.regular_bursting(), 210.0)
    assert (bursting < 15.0).sum() >= 4
    assert (bursting > 60.0).sum() >= 2
    assert (bursting[4:] < 15.0).any()


def test_no_drive_too_large_is_lost(x64):
    """A current that moves v by more than delta_t in a step still makes it fire at once."""
    spikes, states = run(AdEx(), [2e4, 1e5, 4e6], 20, 0.1)
    assert (spikes.argmax(0) <= [4, 1, 0]).all()
    assert np.isfinite(states.v).all()
    assert np.isfinite(states.w).all()


def test_the_largest_step():
    assert AdEx().largest_step() == pytest.approx(2.785 * 281 / 30)
    assert AdEx(method=forward_euler, tau_w=3.0).largest_step() == pytest.approx(6.0)
    assert AdEx(method=exponential_euler).largest_step() is None
