"""Random brains, rounds and events: every cap and every support is that of the oracle."""

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.assemblies.brains import ROUNDS, events_of, followed, followed_by_hand

S, T = ac.Stimulus("S", 12), ac.Stimulus("T", 1)


def brain(a, b, fibres, **how):
    return ac.Brain([ac.Area("A", **a), ac.Area("B", **b)], [S, T], fibres, **how)


ALL = [
    ac.Fibre("S", "A", p=0.3),
    ac.Fibre("A", "A", p=0.25, w_max=3.0),
    ac.Fibre("A", "B", p=0.4),
    ac.Fibre("T", "B", p=0.6),
    ac.Fibre("B", "A", p=0.15),
    ac.Fibre("B", "B", p=1.0),
]
BRAINS = {
    # Both ways, unequal p, all forms of synapses, a history of two words.
    "recurrent": brain(
        {"n": 40, "k": 6}, {"n": 33, "k": 5, "connectome": "explicit"}, ALL, rounds=ROUNDS
    ),
    "refracted": brain(
        {"n": 40, "k": 6, "refraction": 0.3, "connectome": "explicit"},
        {"n": 33, "k": 5, "refraction": 2.5},
        ALL,
        rounds=ROUNDS,
    ),
    "balanced": brain(
        {"n": 40, "k": 6, "homeostasis": True},
        {"n": 33, "k": 5, "homeostasis": True, "connectome": "explicit", "refraction": 0.25},
        ALL,
        rounds=ROUNDS,
    ),
    # One neuron, and an area in which all fire.
    "small": brain({"n": 1, "k": 1}, {"n": 4, "k": 4}, ALL, rounds=ROUNDS),
}
BETAS = st.one_of(st.sampled_from([0.0, 0.05, 0.1, 1.0]), st.floats(0.0, 3.0, width=32))


@jax.jit
def run(brain, seed, beta, events):
    state, seen = followed(brain.with_beta(beta), seed, events)
    return state.remembered, state.forgotten, seen


@pytest.mark.slow(but=["recurrent"])
@pytest.mark.parametrize("name", BRAINS)
@hypothesis.given(
    seed=st.integers(0, 2**32 - 1),
    beta=st.lists(BETAS, min_size=len(ALL), max_size=len(ALL)),
    draws=st.integers(0, 2**32 - 1),
)
@hypothesis.settings(max_examples=8)
def test_every_round_equals_the_oracle(name, seed, beta, draws):
    brain, beta = BRAINS[name], np.array(beta, np.float32)
    events = events_of(brain, np.random.default_rng(draws))
    remembered, forgotten, seen = run(brain, np.uint32(seed), beta, events)
    _, wanted = followed_by_hand(brain, seed, events, beta)
    assert forgotten == 0
    assert 0 < remembered <= np.sum(events.plastic)
    for got, want, area in zip(seen, wanted, brain.areas):
        for x, y in zip(got, want):
            np.testing.assert_array_equal(x, y, err_msg=area.name)


def test_the_events_are_all_there():
    """Each of them, and weights and refraction that change a cap."""
    brain = BRAINS["refracted"]
    events = events_of(brain, np.random.default_rng(0))
    for flags in jax.tree.leaves(events._replace(neurons=())):
        assert flags.any()
        assert not flags.all()
    exact, want = followed_by_hand(brain, 0, events)
    assert max(f.counts.max() for f in exact.fibres) > 3
    plain = followed_by_hand(brain, 0, events._replace(plastic=np.zeros(ROUNDS, bool)))[1]
    assert not np.array_equal(want[0][0], plain[0][0])
