"""The support of a projection by round, against exact arithmetic: ties fall as they must.

n = 100,000, k = 317, p = 0.01, a stimulus of 317; 100 seeds.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.oracle.assembly_rows import Rows
from tests.oracle.assembly_ties import supports

pytestmark = pytest.mark.science
N, K, P, ROUNDS, SEEDS = 100_000, 317, 0.01, 30, 100
BETAS = ("0.05", "0.075", "0.1", "0.15", "0.2")
SHOWN = np.array([2, 3, 4, 5, 8, ROUNDS]) - 1


def plain(beta, seed):
    """The same with weights and sums in float64, of other synapses."""
    fibres = [("S", "A"), ("A", "A")]
    rows, support = Rows({"A": (N, K)}, {"S": K}, fibres, P, float(beta), seed), []
    for _ in range(ROUNDS):
        rows.step(fibres)
        support.append(rows.support("A"))
    return support


@cache
def by_hand(one, beta):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        return np.array(list(pool.map(partial(one, beta), range(SEEDS))))


def exact(beta, seed):
    return supports(N, K, P, K, beta, ROUNDS, seed)


@cache
def runner(form):
    capacity = 3000 if form == "sampled" else None
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    brain = ac.Brain([ac.Area("A", N, K, form, capacity)], [ac.Stimulus("S", K)], fibres, p=P)

    def one(seed, beta):
        state = brain.with_beta(beta).init(seed)
        return ac.run(brain.with_beta(beta), state, np.ones(2, bool), ROUNDS)[1].support[:, 0]

    return jax.jit(one)


@pytest.mark.parametrize("form", ["hashed", "explicit", "sampled"])
@pytest.mark.parametrize("beta", BETAS)
def test_supports_are_those_of_exact_sums(beta, form):
    seeds = range(SEEDS if form != "explicit" else 10)  # the synapses are those of the hashed form
    ours = np.array([runner(form)(np.uint32(seed), np.float32(beta)) for seed in seeds])
    if form == "explicit":
        hashed = [runner("hashed")(np.uint32(seed), np.float32(beta)) for seed in seeds]
        np.testing.assert_array_equal(ours, hashed)
        return
    want, other = by_hand(exact, beta), by_hand(plain, beta)
    error = np.sqrt((ours.var(0, ddof=1) + want.var(0, ddof=1)) / SEEDS)
    away = np.abs(ours.mean(0) - want.mean(0))[1:] / error[1:]
    rows = {"ours": ours, "exact": want, "float64": other}
    for name, x in rows.items():
        means, errors = x.mean(0)[SHOWN], x.std(0, ddof=1)[SHOWN] / np.sqrt(SEEDS)
        print(f"beta {beta} {form} {name}:", *(f"{m:.0f} ({e:.1f})" for m, e in zip(means, errors)))
    assert away.max() < 3, away
