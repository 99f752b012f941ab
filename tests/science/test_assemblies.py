"""The published numbers of the assembly calculus, over ten seeds each, in all forms of synapses.

The published simulator keeps only neurons that ever fired and draws the others anew in each round,
with a normal approximation; `tests/oracle/assembly_sampled.py` repeats it. Its law is not that of
the network (`scripts/assembly_law.py`), so that a published number is compared with the spread of
the network where both agree, and with the network's own oracle (`assembly_rows.py`) everywhere.
"""

import functools

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac

pytestmark = pytest.mark.science
SEEDS = 10


def area(name, n, k, form):
    more = {"capacity": 30 * k} if form == "sampled" else {}
    return ac.Area(name, n, k, form, **more)


def single(n, k, p, form, rounds=32):
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    stimuli = [ac.Stimulus("S", k)]
    return ac.Brain([area("A", n, k, form)], stimuli, fibres, p=p, beta=0.05, rounds=rounds)


def over_seeds(one, seeds=SEEDS):
    """What a function of a seed returns, stacked; one program for all."""
    run = jax.jit(one)
    out = [jax.tree.map(np.asarray, run(np.uint32(seed))) for seed in range(seeds)]
    return jax.tree.map(lambda *x: np.stack(x), *out)


def shown(name, values):
    print(f"{name}: {values.mean(0)} +- {values.std(0, ddof=1)}")


def agree(ours, mean, sd, number):
    """Whether our mean is that of `number` values with a given mean and sd, within 4 errors."""
    error = np.sqrt(ours.var(ddof=1) / ours.size + sd**2 / number)
    assert abs(ours.mean() - mean) < 4 * error, (ours.mean(), ours.std(ddof=1), mean, sd)


PUBLISHED = np.array([1000, 1696, 2344, 2899, 3287, 3543, 3711, 3806, 3835, 3845, 3848, 3851])


@functools.cache
def projections(form, p):
    brain = single(1_000_000, 1000, p, form)

    def one(seed):
        active = brain.active("S->A", "A->A")
        state, seen = ac.run(brain, brain.init(seed), active, rounds=25)
        return seen.support[:, 0], seen.kept[:, 0], state.areas[0].lost

    support, kept, lost = over_seeds(one)
    assert not lost.any()
    shown(f"projection, {form}, p {p}", support[:, [0, 1, 2, 3, 4, 5, 6, 8, 11, 24]])
    return support, kept


@pytest.mark.parametrize("form", ["sampled", "hashed"])
def test_projection(form):
    """n 1e6, k 1000, p .01: the published run ends within the spread, and stays from round 12 on.

    Rounds 3 to 5 of the published run are above ours: its candidates forget that they lost.
    """
    support, kept = projections(form, 0.01)
    last = support[:, -1]
    assert abs(PUBLISHED[-1] - last.mean()) < 2 * last.std(ddof=1)
    assert (kept[:, 13:] >= 990).all()  # the cap stays
    # Of the network in plain NumPy (scripts/assembly_law.py, ten seeds).
    agree(last, 3776, 95, 10)
    for number, mean in ((1, 1680), (2, 2235), (3, 2732), (4, 3139)):
        agree(support[:, number], mean, 49, 10)


def test_the_normal_approximation_fails_where_few_neurons_are_reached():
    """p .001: the network has 6204 +- 364, the published simulator 5853 +- 133, memoryless 4377."""
    support, _ = projections("sampled", 0.001)
    agree(support[:, -1], 6204, 364, 10)


@pytest.mark.parametrize("form", ["sampled", "hashed"])
def test_pattern_completion(form):
    """n 1e5, k 317, p .05: 315 of 317 are published, 316 with another seed."""
    brain = single(100_000, 317, 0.05, form)

    def one(seed):
        state = ac.project(brain, brain.init(seed), "S", "A", 25)
        after = ac.pattern_complete(brain, state, "A", key=seed + 1000, fraction=0.5, rounds=5)
        return ac.overlap(brain.cap(state, "A"), brain.cap(after, "A"))

    found = over_seeds(one) * 317
    shown(f"completion, {form}", found)
    assert abs(315 - found.mean()) < 2 * found.std(ddof=1) + 0.5


@functools.cache
def merges(form):
    """The published protocol: A and B once each, all but what comes from C once, then all."""
    areas = [area(name, 100_000, 317, form) for name in "ABC"]
    names = ["SA->A", "SB->B", "A->A", "B->B", "A->C", "B->C", "C->C", "C->A", "C->B"]
    fibres = [ac.Fibre(*name.split("->")) for name in names]
    stimuli = [ac.Stimulus("SA", 317), ac.Stimulus("SB", 317)]
    brain = ac.Brain(areas, stimuli, fibres, p=0.01, beta=0.05, rounds=64)
    first = ac.schedule(brain, (["SA->A"], 1), (["SB->B"], 1))

    def one(seed):
        state = ac.run(brain, brain.init(seed), first)[0]
        state = ac.merge(brain, state, ["A", "B"], "C", 51, ["SA", "SB"])
        return jax.numpy.stack([brain.support(state, name) for name in "ABC"])

    return over_seeds(one)


@pytest.mark.parametrize("form", ["sampled", "hashed"])
def test_merge(form):
    """n 1e5, k 317, p .01, 50 rounds: published are A 2816 to 2993, B 3042 to 3050, C 5879 to 5956.

    A and B lie in our spread. C does not: in the published program edges between neurons that first
    fire in the same round in two areas are missing where the source area is worked on first. With
    that gap its equations give 5936 +- 225, without it 5537 (normal) and 5001 (exact); the network
    in plain NumPy has 5459 +- 211 (scripts/assembly_law.py merge).
    """
    support = merges(form)
    shown(f"merge, {form}", support)
    spread = support.std(axis=0, ddof=1)
    assert abs(2905 - support[:, 0].mean()) < 2 * spread[0]
    assert abs(3046 - support[:, 1].mean()) < 2 * spread[1]
    both = support[:, :2].ravel()
    agree(both, (3056 + 2952) / 2, 180, 10)
    agree(support[:, 2], 5459, 211, 5)
