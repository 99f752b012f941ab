"""Classes: assemblies form as the oracle says, new samples are told apart, bad input refused."""

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.assemblies.by_hand import listed
from tests.refusing import assert_refused

N, K, CLASSES = 400, 20, 3
FIBRES = [ac.Fibre("IN", "A"), ac.Fibre("A", "A")]


def brain_of(rounds=32, beta=0.1, **area):
    areas = [ac.Area("IN", N, 40), ac.Area("A", N, K, **area)]
    return ac.Brain(areas, [], FIBRES, p=0.3, beta=beta, rounds=rounds)


def samples(seed, count):
    """Each class has a core of k neurons that fire with probability 0.9: (classes, count, 40).

    Any other neuron fires with probability k / 2 n.
    """
    rng = np.random.default_rng(seed)
    chance = np.full((CLASSES, N), 0.5 * K / N)
    for c in range(CLASSES):
        chance[c, c * K : (c + 1) * K] = 0.9
    return ac.patterns(rng.random((CLASSES, count, N)) < chance[:, None], 40)


@pytest.fixture(scope="module")
def learned():
    """Caps of the training, new samples, the classes they were taken for."""
    brain = brain_of()
    train, test = samples(1, 8), samples(2, 10)

    @jax.jit
    def run(seed, train, test):
        state, caps = ac.learn_classes(brain, brain.init(seed), "IN", "A", train)
        known, flat = caps[:, -1], test.reshape(-1, 40)
        answers = ac.classify(brain, state, "IN", "A", flat, known)
        read = ac.responses(brain, state, "IN", "A", flat, 3)
        return caps, answers.reshape(CLASSES, -1), read, ac.overlaps(read, known, N)

    return brain, train, test, *map(np.asarray, run(np.uint32(9), train, test))


def test_caps_are_those_of_the_oracle(learned):
    brain, train, test, caps, _, read, _ = learned
    net = listed(brain, 9)
    for c in range(CLASSES):
        net.areas["A"].cap = None
        for sample, cap in zip(train[c], caps[c]):
            net.areas["IN"].cap = sample[sample >= 0]
            net.step([True, True])
            np.testing.assert_array_equal(cap, net.areas["A"].cap)
    for sample, cap in list(zip(test.reshape(-1, 40), read))[::7]:
        net.areas["A"].cap, net.areas["IN"].cap = None, sample[sample >= 0]
        for _ in range(3):
            net.step([True, True], plastic=False)
        np.testing.assert_array_equal(cap, net.areas["A"].cap)


def test_new_samples_are_told_apart(learned):
    *_, answers, _, shares = learned
    assert (answers == np.arange(CLASSES)[:, None]).mean() >= 0.95
    own = shares.reshape(CLASSES, -1, CLASSES).mean(1)
    assert (np.diag(own) > 0.6).all()
    assert (own[~np.eye(CLASSES, dtype=bool)] < 0.3).all()


def test_classes_of_a_refracted_area_share_no_neuron():
    """Its weights are divided by their sums only when they are read."""
    brain = brain_of(refraction=1000.0, homeostasis=True)
    train, test = samples(1, 8), samples(2, 10)

    @jax.jit
    def run(seed):
        state, caps = ac.learn_classes(brain, brain.init(seed), "IN", "A", train)
        answers = ac.classify(brain, state, "IN", "A", test.reshape(-1, 40), caps[:, -1])
        return caps, answers.reshape(CLASSES, -1), state.areas[1].wins, state.areas[1].balanced

    caps, answers, wins, balanced = map(np.asarray, run(np.uint32(4)))
    assert np.unique(caps[:, -1]).size == CLASSES * K
    assert np.isin(caps[0, -2], caps[0, -1]).mean() > 0.5  # within a class neurons win again
    np.testing.assert_array_equal(np.flatnonzero(wins), np.unique(caps[:, -1]))
    assert wins.max() == 1
    assert balanced
    assert (answers == np.arange(CLASSES)[:, None]).mean() >= 0.95


def test_common_neurons_and_class_assemblies():
    caps = np.array([[[0, 2, 5], [0, 5, 6], [5, 6, 9]], [[1, 2, 3], [1, 2, 4], [1, 2, 5]]])
    brain = ac.Brain([ac.Area("A", 9, 3)], [], [])
    found = np.asarray(jax.jit(lambda x: ac.class_assemblies(brain, "A", x))(caps))
    np.testing.assert_array_equal(found, [[0, 5, 6], [1, 2, 3]])  # 9 is nobody; 3, 4 and 5 tie


def test_overlaps_do_not_count_nobody():
    caps = np.array([[0, 1, 6], [4, 6, 6]], np.int32)
    shares = jax.jit(lambda a, b: ac.overlaps(a, b, 6))(caps, np.array([[0, 1, 4], [6, -1, 4]]))
    np.testing.assert_allclose(shares, [[2 / 3, 0], [1 / 3, 1 / 3]], rtol=1e-6)


def test_patterns():
    fires = np.array([[[True, False, True]], [[False, False, False]]])
    np.testing.assert_array_equal(ac.patterns(fires), [[[0, 2]], [[-1, -1]]])
    np.testing.assert_array_equal(ac.patterns(fires, 4)[0, 0], [0, 2, -1, -1])
    assert_refused(lambda: ac.patterns(fires, 1), "patterns", "size", "1")
    assert_refused(lambda: ac.patterns(fires.astype(int)), "patterns", "fires", "int64 (2, 1, 3)")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"samples": np.zeros((2, 3, 1))}, "whole numbers"),
        ({"samples": np.zeros((2, 3), int)}, "classes, presentations, m"),
        ({"samples": np.zeros((2, 3, 50), int)}, "at most its k = 40"),
        ({"samples": np.full((2, 3, 1), N)}, "from 0 to 399"),
        ({"samples": np.full((2, 3, 1), -2)}, "from 0 to 399"),
        ({"samples": np.zeros((2, 3, 2), int)}, "twice"),
        ({"samples": np.zeros((11, 3, 1), int)}, "rounds=33"),
        ({"source": "A", "target": "IN"}, "no fibre"),
        ({"target": "B"}, "no area"),
    ],
)
def test_bad_input(change, says):
    brain = brain_of()
    given = {"source": "IN", "target": "A", "samples": np.zeros((2, 3, 1), int), **change}
    with pytest.raises(ValueError, match=says):
        ac.learn_classes(brain, brain.init(1), **given)


def test_bad_readings():
    brain = brain_of()
    state, one = brain.init(1), np.zeros((2, 1), int)
    assert_refused(
        lambda: ac.responses(brain, state, "IN", "A", one[0]),
        "responses",
        "responses: samples",
        "int64 (1,)",
    )
    assert_refused(
        lambda: ac.responses(brain, state, "IN", "A", one, 0), "responses", "rounds", "0"
    )
