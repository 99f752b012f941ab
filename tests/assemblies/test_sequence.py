"""Sequences: cap for cap as in NumPy, recalled after few presentations, sooner with a scaffold."""

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.assemblies.by_hand import listed
from tests.refusing import assert_refused

N, K, LENGTH, TIMES = 400, 20, 8, 6
ITEMS = np.arange(LENGTH * K, dtype=np.int32).reshape(LENGTH, K)
HOW = {"p": 0.4, "beta": 0.1, "rounds": 64}
SEEDS = np.array([3, 4], np.uint32)
INNER = {None: [("A", "A")], "B": [("A", "A"), ("A", "B"), ("B", "A"), ("B", "B")]}


def brain_of(scaffold):
    areas = [ac.Area(name, N, K) for name in ("IN", "A", "B")[: 3 if scaffold else 2]]
    fibres = [ac.Fibre(*ends) for ends in [("IN", "A"), *INNER[scaffold]]]
    return ac.Brain(areas, [], fibres, **HOW)


def silence(net):
    for name in net.areas:
        net.areas[name].cap = None


def shared(a, b):
    """The share of neurons that two lists of caps have in common, cap by cap."""
    return np.array([np.isin(x, y).mean() for x, y in zip(a, b)])


@pytest.fixture(scope="module", params=[None, "B"], ids=["simple", "scaffold"])
def learned(request):
    """Caps of all presentations, and what was recalled after 2 and after all of them."""
    scaffold = request.param
    brain, how = brain_of(scaffold), {"scaffold": scaffold}

    @jax.jit
    @jax.vmap
    def run(seed):
        def part(state, _):
            state, caps = ac.memorise(brain, state, "IN", "A", ITEMS, 2, **how)
            return state, (caps, ac.recall(brain, state, "IN", "A", ITEMS[0], LENGTH, **how)[1])

        state, (caps, recalled) = jax.lax.scan(part, brain.init(seed), length=TIMES // 2)
        return caps.reshape(TIMES, LENGTH, K), recalled, state.forgotten

    return scaffold, [np.asarray(x) for x in run(SEEDS)]


@pytest.mark.slow(but=["simple"])
def test_cap_for_cap_as_in_numpy(learned):
    scaffold, (caps, recalled, _) = learned
    for number, seed in enumerate(SEEDS):
        net = listed(brain_of(scaffold), int(seed))
        both = np.array([True, *[True] * len(INNER[scaffold])])
        inner = np.array([False, *both[1:]])
        cap = net.areas["A"]
        for time in range(TIMES):
            silence(net)
            for i, item in enumerate(ITEMS):
                net.areas["IN"].cap = item
                net.step(both)
                np.testing.assert_array_equal(caps[number, time, i], cap.cap)
            if time % 2 == 0:
                continue
            silence(net)
            net.areas["IN"].cap = ITEMS[0]
            for i in range(LENGTH):
                net.step(both if i == 0 else inner, plastic=False)
                np.testing.assert_array_equal(recalled[number, time // 2, i], cap.cap)


def test_it_is_recalled(learned):
    _, (caps, recalled, forgotten) = learned
    assert not forgotten.any()
    # Of the items after the first, by presentations: 2, 4, 6.
    later = [[shared(x, c[0])[1:].mean() for x in r] for c, r in zip(caps, recalled)]
    first, *_, last = np.mean(later, axis=0)
    assert last > 0.9
    assert first < last - 0.1


def test_items_of_varying_size_and_later_items():
    """-1 is nobody; the middle of a sequence leads to its end."""
    brain = brain_of(None)
    items = np.where(np.arange(K) < np.arange(K - LENGTH, K)[:, None], ITEMS, -1).astype(np.int32)

    @jax.jit
    def run(seed, items):
        state, caps = ac.memorise(brain, brain.init(seed), "IN", "A", items, TIMES)
        return caps[0], ac.recall(brain, state, "IN", "A", items[4], LENGTH - 4)[1]

    caps, recalled = run(SEEDS[0], items)
    assert shared(np.asarray(recalled), np.asarray(caps)[4:]).min() > 0.8


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"items": ITEMS.astype(float)}, "whole numbers"),
        ({"items": ITEMS[0]}, r"\(length, m\)"),
        ({"items": np.arange(2 * (K + 1)).reshape(2, -1)}, "at most its k = 20"),
        ({"items": ITEMS + N}, "neurons from 0 to 399"),
        ({"items": ITEMS[:0]}, "memorise: items must"),
        ({"items": np.zeros_like(ITEMS)}, "twice"),
        ({"presentations": 0}, "at least 1"),
        ({"presentations": 9}, r"rounds=72"),
        ({"target": "IN"}, "must be different"),
        ({"target": "C"}, "no area"),
        ({"source": "A"}, "must be different"),
        ({"scaffold": "B"}, "no area named 'B'"),
    ],
)
def test_bad_input(change, says):
    brain = brain_of(None)
    given = {"source": "IN", "target": "A", "items": ITEMS, "presentations": 1, **change}
    with pytest.raises(ValueError, match=says):
        ac.memorise(brain, brain.init(1), **given)


def test_a_bad_cue():
    brain = brain_of(None)
    assert_refused(
        lambda: ac.recall(brain, brain.init(1), "IN", "A", ITEMS, 3),
        "recall",
        "recall: first",
        "int32 (8, 20)",
    )
    assert_refused(
        lambda: ac.recall(brain, brain.init(1), "IN", "A", ITEMS[0], 0), "recall", "length", "0"
    )
