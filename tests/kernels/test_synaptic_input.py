"""`synaptic_input` in its four forms against sums of int64 over listed synapses."""

import unittest.mock

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

import jaxneuro._kernels.synaptic_input as module
from jaxneuro._kernels.edges import Hashed
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.synaptic_input import synaptic_input
from jaxneuro._kernels.threads import threads
from jaxneuro._kernels.wide import wide_integers, wide_words
from tests.kernels.firing import Layout, build, expected

LAYOUTS = [
    Layout(sources=30, targets=50, k=9, words=1, p=0.2),
    Layout(sources=12, targets=40, k=12, words=3, p=1.0),  # rows that are full, all fire
    Layout(sources=5, targets=1, k=1, words=2, p=0.5, narrow=False),
]
# Gaps that are longer than the table of gaps, and rows without any target.
FAR = Layout(sources=20, targets=200_000, k=20, words=1, p=1e-5, narrow=False)


def both(sums, firing, arrays, n, p):
    """Every form by the native kernels and by the reference: two lists of words (n, 2)."""
    key, *forms = arrays
    forms = [Hashed(key, n, p), *forms]
    got = [synaptic_input(sums, firing, form) for form in forms]
    # `jit` keeps what it has traced, so the reference is traced without it.
    unkept = unittest.mock.patch.object(module, "_received", module._received.__wrapped__)
    absent = unittest.mock.patch("jaxneuro._kernels.call.native_available", return_value=False)
    with unkept, absent:
        return got, [synaptic_input(sums, firing, form) for form in forms]


run = jax.jit(both, static_argnums=(3, 4))


def operands(case):
    return wide_words(case.sums), case.firing, (case.hashed.key, *case.forms[1:])


def check(got, case):
    for version in got:
        words = np.stack([np.asarray(x) for x in version])
        np.testing.assert_array_equal(wide_integers(words), expected(case)[: len(words)])


@hypothesis.given(
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**20),
    on=st.sampled_from([True, True, True, False]),
    empty=st.sampled_from([0.0, 0.3, 1.0]),
)
@hypothesis.settings(max_examples=24)
@hypothesis.example(layout=LAYOUTS[0], seed=0, on=True, empty=0.3)
@hypothesis.example(layout=LAYOUTS[1], seed=0, on=True, empty=0.0)
@hypothesis.example(layout=LAYOUTS[2], seed=1, on=True, empty=0.0)
def test_equals_the_sum_over_synapses(layout, seed, on, empty):
    case = build(layout, seed, on, int(empty * layout.k))
    check(run(*operands(case), layout.targets, layout.p), case)


def test_the_layouts_hold_what_they_say():
    assert build(LAYOUTS[1]).dense.all()
    case = build(LAYOUTS[0], 1)
    weighs = np.bitwise_count(case.firing.before[:, None] & case.firing.after & case.firing.mask)
    assert len(np.unique(weighs)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_rows_that_are_nearly_empty(seed):
    case = build(FAR, seed)
    first = case.stored.targets[:, 0]
    assert np.any((first > 2**16) & (first < FAR.targets))
    assert np.any(first == FAR.targets)
    sums, firing, (key, *_) = operands(case)
    check(run(sums, firing, (key,), FAR.targets, FAR.p), case)


def test_history_that_no_fibre_learned_weighs_nothing():
    case = build(LAYOUTS[0], 3)
    case = case._replace(firing=case.firing._replace(mask=np.zeros(1, np.uint32)))
    check(run(*operands(case), LAYOUTS[0].targets, LAYOUTS[0].p), case)
    fires = case.dense[case.firing.cap].sum(axis=0)
    np.testing.assert_array_equal(expected(case)[0] - case.sums, fires << 24)


def members(field):
    """Three cases that differ in some of their operands."""
    cases = [build(LAYOUTS[0], seed, seed != 2, seed) for seed in range(3)]
    one = cases[0]
    if field == "who fires":
        some = [{"on": c.firing.on, "cap": c.firing.cap} for c in cases]
        return [one._replace(firing=one.firing._replace(**x)) for x in some]
    if field == "synapses":
        return [c._replace(firing=one.firing, sums=one.sums, weights=one.weights) for c in cases]
    return cases


@pytest.mark.slow(but=["all"])
@pytest.mark.parametrize("field", ["all", "who fires", "synapses"])
def test_a_batch_is_its_members(field):
    cases = members(field)
    leaves, trees = zip(*(jax.tree.flatten(operands(c)) for c in cases))
    shared = [all(np.array_equal(x[0], y) for y in x) for x in zip(*leaves)]
    assert any(shared) == (field != "all")
    given = [x[0] if same else np.stack(x) for x, same in zip(zip(*leaves), shared)]

    def one(*leaves):
        return both(*trees[0].unflatten(leaves), LAYOUTS[0].targets, LAYOUTS[0].p)

    axes = tuple(None if same else 0 for same in shared)
    got = jax.jit(jax.vmap(one, axes))(*given)
    for number, case in enumerate(cases):
        check(jax.tree.map(lambda x, at=number: x[at], got), case)


@pytest.fixture
def several():
    """Sets how many threads a call may use; puts the number back."""
    before = threads()
    yield threads
    threads(before)


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_threads_change_nothing(several):
    # Enough synapses for threads: 200,000 of rows, 240,000 places of lists.
    layout = Layout(sources=450, targets=700, k=450, words=1, p=0.7)
    case = build(layout, 5, nobody=7)
    key, *others = operands(case)[2]

    @jax.jit
    def native(sums, firing, key, others):
        forms = [Hashed(key, layout.targets, layout.p), *others]
        return [synaptic_input(sums, firing, form) for form in forms]

    for n in (1, 2, 3, 8):
        assert several(n) == n
        for _ in range(3):  # what a call leaves behind must not be in the next
            check([native(*operands(case)[:2], key, others)], case)
