"""What was published of learning and computing with assemblies, over ten connectomes and more.

Dabagia, Papadimitriou and Vempala (2022), COLT, https://github.com/mdabagia/learning-with-assemblies;
Dabagia, Papadimitriou and Vempala (2025), Neural Computation 37 (1), and Dabagia, Mitropolsky,
Papadimitriou and Vempala (2024), arXiv:2406.07715, https://github.com/mdabagia/nemo.
"""

import warnings

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.assemblies.test_machine import DIGITS, SENTENCES, THIRDS

with warnings.catch_warnings():  # they set up a process of their own; this one has begun
    warnings.simplefilter("ignore", RuntimeWarning)
    from examples import assembly_digits, assembly_learning, assembly_machines

pytestmark = pytest.mark.science

SEEDS = 10


def test_half_spaces():
    """Published, margin 0 to 6: 0.50 0.50 0.50 0.66 0.99 1 1."""
    found = assembly_learning.half_spaces(SEEDS, 1000)
    mean, spread = found.mean(0), found.std(0, ddof=1)
    print("half-spaces", mean.round(3), "+-", spread.round(3))
    # Where the curve is steep, three standard errors; elsewhere one percent.
    error = 0.01 + 3 * spread / np.sqrt(SEEDS)
    assert (np.abs(mean - assembly_learning.PUBLISHED) < error).all()
    assert (np.delete(spread, 3) < 0.02).all()


def test_three_classes_after_ten_samples_each():
    """As demonstrated: cores that fire with 0.75, others with k / 2 n; all samples right."""
    n, k, classes = 1000, 30, 3
    areas = [ac.Area("IN", n, 80), ac.Area("A", n, k)]
    fibres = [ac.Fibre("IN", "A"), ac.Fibre("A", "A")]
    brain = ac.Brain(areas, [], fibres, p=0.25, beta=0.1, rounds=32)
    chance = np.full((classes, 1, n), 0.5 * k / n)
    for c in range(classes):
        chance[c, :, c * k : (c + 1) * k] = 0.75

    @jax.jit
    def answers(seed, train, test):
        state, caps = ac.learn_classes(brain, brain.init(seed), "IN", "A", train)
        return ac.classify(brain, state, "IN", "A", test, caps[:, -1])

    right = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        train, test = (ac.patterns(rng.random((classes, m, n)) < chance, 80) for m in (10, 200))
        found = np.asarray(answers(np.uint32(seed), train, test.reshape(-1, 80)))
        right.append((found == np.repeat(np.arange(classes), 200)).mean())
    print("classes", np.round(right, 4), np.mean(right), np.std(right))
    assert np.mean(right) > 0.99


def test_digits():
    """No published number: ours, with the same network that does not learn as a control."""
    learned, control = (assembly_digits.digits(SEEDS, 40, beta) for beta in (0.1, 0.0))
    for name, x in (("learned", learned), ("control", control)):
        print(name, x.mean(0).round(3), "+-", x.std(0, ddof=1).round(3))
    assert (learned[:, 1] > 0.85).all()
    assert learned[:, -1].mean() > 0.75
    assert (learned[:, 1:] > control[:, 1:]).mean() > 0.95
    assert (np.diff(learned.mean(0)) < 0.01).all()  # more digits are harder


@pytest.mark.parametrize(("scaffold", "enough"), [(False, 6), (True, 3)])
def test_sequences(scaffold, enough):
    """25 items: the last one comes back after 6 presentations, with a scaffold after 3."""
    last = assembly_machines.sequences(25, SEEDS, scaffold)[:, :, -1]
    print("scaffold" if scaffold else "simple", last.mean(0).round(2), last.std(0, ddof=1).round(2))
    assert last[:, enough - 1 :].mean(0).min() > 0.95
    assert last[:, 0].mean() < 0.1
    # Half as many are not enough: of the published means, 0.02 after 3, and 0.03 after 1.
    assert last[:, enough // 2 - 1].mean() < 0.2


@pytest.mark.parametrize("form", ["once", "published"])
def test_divisible_by_three(form):
    """Words of 5, 10 and 20 digits; also with 15 presentations at beta 0.1."""
    how, seeds = {}, 10
    if form == "published":
        how = {"k": 70, "n": 5000, "p": 0.2, "beta": 0.1, "presentations": 15}
        how |= {"refraction": 8.0, "rested": False}
    machine = ac.StateMachine(THIRDS, 0, ["yes"], **how)
    rng = np.random.default_rng(1)
    texts = ["30471", "673", *("".join(rng.choice(list(DIGITS), m)) for m in [5, 10, 20] * 7)]
    words = machine.encode([[*text, "end"] for text in texts])

    @jax.jit
    def passes(seed):
        state = machine.train(seed)
        return jax.vmap(machine.run, (None, 0))(state, words)

    wanted = [sum(map(int, text)) % 3 == 0 for text in texts]
    found = [jax.tree.map(np.asarray, passes(np.uint32(seed))) for seed in range(seeds)]
    right = np.mean([x.accepted == wanted for x in found], axis=1)
    share = np.array([x.share[words >= 0].mean() for x in found])
    print(form, "right", right, "share", share.mean().round(3), "+-", share.std(ddof=1).round(3))
    assert right.mean() > 0.99
    assert share.min() > 0.85


def test_sentences_and_the_coin():
    """All sentences are of the grammar; a coin is fair in the mean of many connectomes only."""
    automaton, seeds = ac.ProbabilisticAutomaton(SENTENCES, "start"), 48

    @jax.jit
    def say(seed):
        state = automaton.train(seed)
        keys = np.arange(20, dtype=np.uint32)
        said = jax.vmap(lambda key: automaton.generate(state, key, 5).words)(keys)
        return said, *automaton.flips(state, seed, 100)

    after = {(state, word): new for state, word, new in SENTENCES}
    heads = []
    for seed in range(seeds):
        said, sides, share = map(np.asarray, say(np.uint32(seed)))
        heads.append(sides.mean())
        assert share.min() > 0.9
        for words in automaton.decode(said):
            state = "start"
            for word in words:
                state = after[state, word]
            assert state == "end"
    print(
        f"heads {np.mean(heads):.3f} +- {np.std(heads, ddof=1):.3f}, {min(heads)} to {max(heads)}"
    )
    assert abs(np.mean(heads) - 0.5) < 0.05
    assert min(heads) > 0.15
    assert max(heads) < 0.85
