"""Relays that hand on what a stimulus sends, and Poisson sources."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

DT = 0.1
DELTA = jn.synapses.Delta()
ALL = jn.connectivity.AllToAll()
Relay, Source = jn.neurons.Relay, jn.neurons.PoissonSource


@jax.jit(static_argnames=("n_steps", "record"))
def _scan(net, state, n_steps, record=None):
    return jn.scan(net, state, n_steps, record=record)[1]


def played(net, duration):
    """The spikes of a run, as `simulate` starts it."""
    return _scan(net, net.init(0), round(duration / DT)).spikes


def relayed(stimulus, n, targets=(), seed=0, **more):
    """A network in which a stimulus drives relays, which project one to one onto relays."""
    populations = [jn.Population("in", n, Relay())]
    populations += [jn.Population(name, n, Relay()) for name in targets]
    one = jn.connectivity.OneToOne()
    projections = [
        jn.Projection("in", name, one, weight=1.0, delay=1.3, synapse=DELTA) for name in targets
    ]
    sent = jn.Stimulation("in", stimulus, weight=1.0, synapse=DELTA, name="sent", **more)
    return jn.build(jn.Description(populations, projections, [sent]), seed, DT)


@pytest.mark.slow
def test_replay():
    """The recorded spikes are the given ones; a relay further on spikes a delay later."""
    times = [[0.1, 7.0, 7.1, 30.4], [], [12.3], [5.5, 29.9]]
    spikes = played(relayed(jn.stimuli.SpikeTimes(times), 4, ("out",)), 40.0)
    for neuron, given in enumerate(times):
        for name, expected in (("in", given), ("out", np.add(given, 1.3))):
            got, who = spikes.events(name)
            np.testing.assert_allclose(got[who == neuron], expected, rtol=1e-12)


@pytest.mark.slow
def test_replay_of_a_recording():
    """What one run gave, a second one hands on: the targets do as before."""
    lif = jn.neurons.LIF()
    projection = jn.Projection("E", "I", ALL, weight=2.0, delay=1.5, synapse=DELTA)
    populations = [jn.Population("E", 40, Source(30.0)), jn.Population("I", 5, lif)]
    first = played(jn.build(jn.Description(populations, [projection]), 0, DT), 200.0)
    times, neurons = first.events("E")
    populations[0] = jn.Population("E", 40, Relay())
    stimulus = jn.stimuli.SpikeTimes(times, neurons)
    sent = jn.Stimulation("E", stimulus, weight=1.0, synapse=DELTA)
    net = jn.build(jn.Description(populations, [projection], [sent]), 0, DT)
    second = played(net, 200.0)
    assert first.events("I")[0].size > 20
    for name in ("E", "I"):
        np.testing.assert_array_equal(first.events(name), second.events(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "stimulus", [jn.stimuli.Poisson(400.0), jn.stimuli.Gamma(200.0, 4)], ids=["Poisson", "Gamma"]
)
def test_a_relay_makes_any_stimulus_a_source(stimulus):
    """It spikes where the stimulus sends one spike or more: seen in v of a perfect integrator."""
    lif = jn.neurons.LIF(tau_m=1e6, v_th=1e6)
    sent = jn.Stimulation("n", stimulus, weight=1.0, synapse=DELTA, name="sent")
    net = jn.build(jn.Description([jn.Population("n", 50, lif)], [], [sent]), 0, DT)
    record = jn.Record(variables={"n": "v"})
    v = np.asarray(_scan(net, net.init(0), 500, record=record).traces["n"]["v"])
    steps, neurons = np.nonzero(np.diff(v, axis=0, prepend=-70.0) > 0.5)
    result = played(relayed(stimulus, 50), 50.0)
    times, who = result.events("in")
    assert times.size > 300
    np.testing.assert_array_equal(np.rint(times / DT) - 1, steps)
    np.testing.assert_array_equal(who, neurons)


def test_half_a_spike_is_one():
    for weight, count in ((0.49, 0), (0.5, 1), (3.0, 1), (-1.0, 0)):
        sent = jn.Stimulation("r", jn.stimuli.SpikeTimes([2.0]), weight=weight, synapse=DELTA)
        net = jn.build(jn.Description([jn.Population("r", 3, Relay())], [], [sent]), 0, DT)
        assert played(net, 5.0).events("r")[0].size == 3 * count


def test_without_a_drive():
    """A relay that nothing drives is built and silent."""
    populations = [jn.Population("r", 3, Relay()), jn.Population("p", 4, Source(100.0))]
    net = jn.build(jn.Description(populations), 0, DT)
    result = jn.simulate(net, 200.0)
    assert result.events("r")[0].size == 0
    assert result.events("p")[0].size > 20
    assert jn.simulate(Relay(), 5.0, dt=DT).events("neurons")[0].size == 0


def test_what_can_not_drive_them():
    current = jn.Stimulation("x", jn.stimuli.Current(1.0))
    assert_refused(
        lambda: jn.build(jn.Description([jn.Population("x", 2, Relay())], [], [current]), 0, DT),
        "Relay (population 'x')",
        "step",
        "one that ignores it",
    )
    kick = jn.Stimulation("x", jn.stimuli.Poisson(9.0), weight=1.0, synapse=DELTA)
    assert_refused(
        lambda: jn.build(jn.Description([jn.Population("x", 2, Source(1.0))], [], [kick]), 0, DT),
        "PoissonSource (population 'x')",
        "step",
        "one that ignores it",
    )


def sources(rate, n, seed=0, n_steps=5000):
    net = jn.build(jn.Description([jn.Population("p", n, Source(rate))]), 0, DT)
    return np.asarray(_scan(net, net.init(seed), n_steps).spikes.dense("p"))


def test_rate_and_independence():
    """A Bernoulli process of chance rate dt, independent over neurons and steps."""
    rates = np.repeat([0.0, 20.0, 300.0, 8000.0], 100)
    spikes = sources(rates, 400)
    p = rates * DT * 1e-3
    for k, chance in enumerate(p[::100]):
        count, of = spikes[:, 100 * k : 100 * (k + 1)].sum(), 500_000
        assert abs(count - chance * of) <= 4 * np.sqrt(chance * (1 - chance) * of)
    x = (spikes[:, 200:] - p[200:]) / np.sqrt(p[200:] * (1 - p[200:]))
    between = np.corrcoef(x.T)[np.triu_indices(200, 1)]
    assert abs(between.mean()) < 4 / np.sqrt(5000 * between.size)
    assert between.std() * np.sqrt(5000) == pytest.approx(1.0, abs=0.05)
    after = (x[1:] * x[:-1]).mean()
    assert abs(after) < 4 / np.sqrt(x.size)


def test_one_spike_per_step_is_the_most():
    assert sources(10_000.0, 5, n_steps=50).all()
    net = jn.build(jn.Description([jn.Population("p", 5, Source(9000.0))]), 0, DT)
    traced = jax.jit(lambda rate: jn.scan(net.set("p", rate=rate), net.init(0), 50)[1].spikes)
    assert traced(20_000.0).dense("p").all()
    with pytest.raises(jn.InvalidValueError, match=r"at most 0\.05 ms.* PoissonSource") as caught:
        net.set("p", rate=20_000.0)
    assert (caught.value.field, caught.value.got) == ("dt", "0.1 ms")


@pytest.mark.slow
def test_draws():
    spikes = sources(200.0, 20)
    np.testing.assert_array_equal(sources(200.0, 20), spikes)
    assert (sources(200.0, 20, seed=1) != spikes).any()
    # More neurons: the first ones draw as before.
    np.testing.assert_array_equal(sources(200.0, 50)[:, :20], spikes)


def test_all_targets_get_the_same_spikes():
    populations = [jn.Population("p", 8, Source(100.0))]
    populations += [jn.Population(k, 8, Relay()) for k in "AB"]
    one = jn.connectivity.OneToOne()
    projections = [
        jn.Projection("p", k, one, weight=1.0, delay=d, synapse=DELTA)
        for k, d in (("A", 0.1), ("B", 2.0))
    ]
    result = played(jn.build(jn.Description(populations, projections), 0, DT), 100.0)
    times, neurons = result.events("p")
    assert times.size > 50
    for name, delay in (("A", 0.1), ("B", 2.0)):
        got, who = result.events(name)
        assert got.size >= times.size - 10
        np.testing.assert_allclose(got, times[: got.size] + delay, rtol=1e-12)
        np.testing.assert_array_equal(who, neurons[: got.size])


def test_a_rate_can_be_set():
    net = jn.build(jn.Description([jn.Population("p", 200, Source(10.0))]), 0, DT)
    slow, fast = (jn.simulate(x, 200.0).rate("p") for x in (net, net.set("p", rate=100.0)))
    assert slow == pytest.approx(10.0, rel=0.2)
    assert fast == pytest.approx(100.0, rel=0.1)
