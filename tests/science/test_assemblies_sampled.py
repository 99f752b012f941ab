"""A sampled brain of 10,000 neurons has the law of the listed one (Papadimitriou et al., 2020).

The projection of the paper (n = 10,000, k = 100, p = 0.01, beta = 0.05), and two areas that hear
each other. Each test raises a false alarm for one choice of seeds in 1,000; the seeds are fixed.
"""

import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.assemblies.sampling import (
    counts_p_value,
    first_winners,
    many,
    p_values,
    protocol,
    two_areas,
)

pytestmark = pytest.mark.science
N, K, P, BETA, SEEDS, ALARM = 10_000, 100, 0.01, 0.05, 120, 1e-3
SAMPLED = {"n": N, "k": K, "p": P, "beta": BETA, "size": K}


def compared(brains, active, plastic, chosen):
    """p-values of the comparison of two brains, over seeds that are not shared."""
    results = [
        many(brain, np.arange(number * SEEDS, (number + 1) * SEEDS, dtype=np.uint32))(
            active, plastic
        )
        for number, brain in enumerate(brains)
    ]
    for state, _ in results:
        assert not state.forgotten.any()
        assert not any(area.lost.any() for area in state.areas)
    (_, a), (_, b) = results
    values = p_values(a.support[:, chosen], b.support[:, chosen])
    new = [first_winners(brain, state) for brain, (state, _) in zip(brains, results)]
    assert min(x.size for x in new) > 1000
    return np.append(values, counts_p_value(*new))


def test_the_projection_of_the_paper():
    rounds = 25
    brains = [
        ac.Brain(
            [ac.Area("A", N, K, kind, 2000 if kind == "sampled" else None)],
            [ac.Stimulus("S", K)],
            [ac.Fibre("S", "A"), ac.Fibre("A", "A")],
            p=P,
            beta=BETA,
            rounds=rounds,
        )
        for kind in ("hashed", "sampled")
    ]
    active, plastic = np.ones((rounds, 2), bool), np.ones(rounds, bool)
    values = compared(brains, active, plastic, [1, 2, 4, 9, 24])
    assert values.min() > ALARM / values.size


@pytest.mark.parametrize("kinds", [("sampled", "sampled"), ("sampled", "hashed")])
def test_two_areas(kinds):
    rounds = 16
    brains = [
        two_areas(kinds=kind, capacity=2500, rounds=rounds, **SAMPLED)
        for kind in (("hashed", "hashed"), kinds)
    ]
    values = compared(brains, *protocol(rounds), [1, 3, 5, 7, 8, 11, 15])
    assert values.min() > ALARM / values.size
