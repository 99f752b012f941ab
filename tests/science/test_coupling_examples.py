"""The examples of couplings and of short-term plasticity do what they say, at full size."""

import warnings

import numpy as np
import pytest

import jaxneuro as jn

with warnings.catch_warnings():  # they set up a process of their own; this one has begun
    warnings.simplefilter("ignore", RuntimeWarning)
    from examples import neurotransmitters, short_term_plasticity

pytestmark = pytest.mark.science


@pytest.mark.parametrize("key", [1, 2, 3])
def test_correlations_on_the_sheet(key):
    net = neurotransmitters.network(key=key)
    found = {}
    for variant in neurotransmitters.VARIANTS:
        v, rate = neurotransmitters.run(net, variant, 600.0)
        found[variant] = neurotransmitters.correlation(v[300:])
        print(f"{variant}: {rate:.1f} Hz, {np.round(found[variant][[1, 5, 10, 19]], 3)}")
    assert np.abs(found["not coupled"][1:]).max() < 0.02
    assert found["electrical"][1] > 0.6
    assert found["both"][1] > 0.6
    assert 0.2 < found["chemical"][1] < 0.5
    assert np.abs(found["chemical"][15:]).max() < 0.05  # its waves are small
    assert found["electrical"][10] > 0.1


def population_spikes(result: jn.Result, item: int, last: float) -> int:
    """How often the neurons of an item (from 0) fire together after the cue: 30 Hz for 10 ms."""
    size = result.populations["E"] // 10
    late = result.spikes["E"].between(short_term_plasticity.CUE[1] + 50.0, last)
    mine = late.neurons // size == item
    neurons = late.neurons[mine] - item * size
    trains = jn.SpikeTrains(late.times[mine], neurons, size, late.start, late.stop)
    return len(jn.analysis.population_bursts(trains, threshold=30.0)[0])


@pytest.fixture(scope="module")
def network():
    return short_term_plasticity.network()


@pytest.mark.parametrize("key", [1, 2, 3])
def test_a_silent_memory_is_read_out(network, key):
    """By the same weak input to all neurons, and only with facilitation."""
    low, read = short_term_plasticity.LOW, short_term_plasticity.READ
    after = short_term_plasticity.CUE[1] + 100.0
    answers = []
    for facilitates in (True, False):
        result = short_term_plasticity.trial(network, low, facilitates, key)
        hz = [short_term_plasticity.rates(result, *span) for span in ((after, read[0]), read)]
        print(f"{facilitates}: delay {np.round(hz[0], 2)} Hz, read-out {np.round(hz[1], 2)} Hz")
        assert all(population_spikes(result, item, read[0]) == 0 for item in range(5))
        assert hz[0].max() < 1.0
        answers.append(hz[1])
    assert answers[0][0] > 5.0 * answers[0][1:].max()
    assert answers[1][0] < 1.5 * answers[1][1:].max()


@pytest.mark.parametrize("key", [1, 2, 3])
def test_population_spikes_hold_a_memory(network, key):
    """Of the item of the cue alone, and only with facilitation."""
    found = []
    for facilitates in (True, False):
        result = short_term_plasticity.trial(network, short_term_plasticity.HIGH, facilitates, key)
        found.append([population_spikes(result, k, short_term_plasticity.END) for k in range(5)])
        size = result.populations["E"] // 10
        u = result.traces["E.stp"]["u"][-1]
        print(f"{facilitates}: {found[-1]}, u at the end {u[:size].mean():.2f}")
    assert found[0][0] >= 3
    assert found[0][1:] == [0] * 4
    assert found[1] == [0] * 5
