"""Machines go where their table says; automata say only what their grammar allows."""

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.assemblies.by_hand import listed
from tests.refusing import assert_refused

DIGITS = "0123456789"
SEEDS = np.array([1, 2], np.uint32)
THIRDS = [(m, d, (m + int(d)) % 3) for m in range(3) for d in DIGITS]
THIRDS += [(0, "end", "yes"), (1, "end", "no"), (2, "end", "no")]
# The first of a state is for heads.
SENTENCES = [
    ("start", "the", "noun"),
    ("start", "a", "noun"),
    ("noun", "boy", "throws"),
    ("noun", "dog", "chases"),
    ("throws", "throws", "article"),
    ("chases", "chases", "article"),
    ("article", "the", "thing"),
    ("article", "a", "thing"),
    ("thing", "ball", "end"),
    ("thing", "stick", "end"),
]


@pytest.fixture(scope="module")
def divisible():
    """The machine, words as text, and what it did with them under two seeds."""
    rng = np.random.default_rng(5)
    texts = ["", "0", "30471", "673", *("".join(rng.choice(list(DIGITS), 12)) for _ in range(12))]
    machine = ac.StateMachine(THIRDS, 0, ["yes"])
    words = machine.encode([[*text, "end"] for text in texts])

    @jax.jit
    @jax.vmap
    def run(seed):
        state = machine.train(seed)
        return jax.vmap(machine.run, (None, 0))(state, words), state.forgotten

    passed, forgotten = run(SEEDS)
    assert not np.asarray(forgotten).any()
    return machine, texts, words, jax.tree.map(np.asarray, passed)


@pytest.mark.slow
def test_it_accepts_what_three_divides(divisible):
    _, texts, _, passed = divisible
    wanted = [sum(map(int, text)) % 3 == 0 for text in texts]
    assert {True, False} == set(wanted)
    np.testing.assert_array_equal(passed.accepted, [wanted] * len(SEEDS))


@pytest.mark.slow
def test_every_state_on_the_way(divisible):
    machine, texts, words, passed = divisible
    for row, text in enumerate(texts):
        way = np.cumsum([int(x) for x in text]) % 3
        for states in passed.states[:, row]:
            assert [machine.states[i] for i in states[: len(text)]] == list(way)
    assert passed.share[:, words >= 0].min() > 0.8


def test_padding_leaves_the_state(divisible):
    """After the end of a word, the state stays what it was."""
    _, _, words, passed = divisible
    assert (words[1] == -1).sum() == words.shape[1] - 2
    assert (passed.states[:, 1, 1:] == passed.states[:, 1, 1:2]).all()


@pytest.mark.slow
def test_training_is_that_of_the_oracle():
    """Parity: the caps of ARC, transition by transition, and where a run ends."""
    table = [("even", 0, "even"), ("even", 1, "odd"), ("odd", 0, "odd"), ("odd", 1, "even")]
    machine = ac.StateMachine(table, "even", ["even"], k=10, n=200)
    k, net = 10, listed(machine.brain, 7)
    symbol, state, arc = (net.areas[name] for name in ("SYMBOL", "STATE", "ARC"))
    arcs = []
    for q, a, new in machine.transitions:
        symbol.cap, state.cap = (np.arange(k) + i * k for i in (a, q))
        net.step([True, True, False])
        arcs.append(arc.cap)
        state.cap, state.fixed = np.arange(k) + new * k, True
        net.step([False, False, True])
        state.fixed = False
    assert np.unique(arcs).size == 4 * k

    @jax.jit
    def run(seed):
        state = machine.train(seed)
        after = state.areas[2].after
        return after, state.areas[2].wins, machine.run(state, np.array([0, 1, 1, 1], np.int32))

    after, wins, passed = run(np.uint32(7))
    after = np.asarray(after)[:, 0]
    for number, cap in enumerate(arcs):
        np.testing.assert_array_equal(np.flatnonzero(after >> (2 * number) & 1), cap)
    assert not np.asarray(wins).any()
    assert [machine.states[i] for i in np.asarray(passed.states)] == ["even", "odd", "even", "odd"]
    assert not passed.accepted


@pytest.fixture(scope="module")
def generated():
    """The automaton, sentences, and flips of its coin."""
    automaton = ac.ProbabilisticAutomaton(SENTENCES, "start", k=20)

    @jax.jit
    def run(seed):
        state = automaton.train(seed)
        keys = np.arange(16, dtype=np.uint32)
        sentences = jax.vmap(lambda key: automaton.generate(state, key, 5))(keys)
        return sentences, automaton.flips(state, np.uint32(3), 40)

    return automaton, *jax.tree.map(np.asarray, run(SEEDS[0]))


@pytest.mark.slow
def test_sentences_are_of_the_grammar(generated):
    automaton, sentences, _ = generated
    after = {(state, word): new for state, word, new in SENTENCES}
    for words in sentences.words.reshape(-1, 5):
        state = "start"
        for word in automaton.decode(words):
            state = after[state, word]  # KeyError: the grammar does not allow this word
        assert state == "end"
    assert sentences.share.min() > 0.6


@pytest.mark.slow
def test_the_coin_decides(generated):
    """Heads is the first transition of a state; both sides of every branch occur."""
    automaton, sentences, _ = generated
    words = np.array(automaton.decode(sentences.words))
    for place, first in ((0, "the"), (1, "boy"), (3, "the"), (4, "ball")):
        np.testing.assert_array_equal(words[..., place] == first, sentences.heads[..., place])
        assert len(np.unique(words[..., place])) == 2


def test_flips_end_on_a_side(generated):
    _, _, (heads, share) = generated
    assert share.min() > 0.99
    assert 0.15 < heads.mean() < 0.85


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"transitions": []}, "at least one; got none"),
        ({"transitions": [("q", "a")]}, r"\(state, symbol, next state\)"),
        ({"transitions": [("q", "a", "r"), ("q", "a", "q")]}, "one transition for a state"),
        ({"start": "mod"}, "no state"),
        ({"accepting": ["yess"]}, "did you mean 'yes'"),
        ({"accepting": "yes"}, "accepting must be a list"),
        ({"n": 300, "k": 10}, "33 transitions of k = 10 neurons need 330 neurons"),
        ({"k": 0}, "at least 1"),
        ({"presentations": 0}, "at least 1"),
        ({"p": 1.5}, "p must be"),
    ],
)
def test_a_bad_machine(change, says):
    with pytest.raises(ValueError, match=says):
        ac.StateMachine(**{"transitions": THIRDS, "start": 0, **change})


def test_a_bad_word():
    machine = ac.StateMachine(THIRDS, 0, ["yes"])
    state = machine.brain.init(0)
    assert_refused(lambda: machine.run(state, "12x"), "", "symbol", "'x'")
    assert_refused(lambda: machine.run(state, 5), "StateMachine.run", "word", "5")
    assert_refused(lambda: machine.run(state, np.array([0, 11])), "", "a word", "0 to 11")
    assert_refused(lambda: machine.run(state, np.zeros((2, 3), int)), "", "a word", "int64 (2, 3)")
    assert_refused(
        lambda: machine.run(state, np.zeros(3, np.float32)), "", "a word", "float32 (3,)"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"transitions": ()}, "at least one; got none"),
        ({"transitions": [("q", "a")]}, r"\(state, word, next state\)"),
        ({"transitions": [("q", w, "q") for w in "abc"]}, "two sides"),
        ({"transitions": [("q", "a", 0.5)]}, "Probabilities are not given"),
        ({"start": "stop"}, "no state"),
        ({"n": 100}, "12 transitions of k = 30"),
    ],
)
def test_a_bad_automaton(change, says):
    with pytest.raises(ValueError, match=says):
        ac.ProbabilisticAutomaton(**{"transitions": SENTENCES, "start": "start", **change})


def test_a_bad_length():
    automaton = ac.ProbabilisticAutomaton(SENTENCES, "start")
    assert_refused(
        lambda: automaton.generate(automaton.brain.init(0), 1, 0), "generate", "length", "0"
    )
