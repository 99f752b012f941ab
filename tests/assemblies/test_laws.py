"""Laws of every brain: of its caps, of chunks, batches, threads, masks and forms of synapses."""

import dataclasses
import functools

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.threads import threads

ROUNDS, K = 8, 6
S = ac.Stimulus("S", 30)
BRAINS = {
    "listed": ac.Brain(
        [ac.Area("A", 50, K, refraction=0.5), ac.Area("E", 40, K, connectome="explicit")],
        [S],
        [ac.Fibre(*ends) for ends in ("SA", "AE", "EE", "EA")],
        p=0.2,
        beta=0.05,
        rounds=2 * ROUNDS,
    ),
    # A listed area that hears a sampled one, and is heard by it.
    "sampled": ac.Brain(
        [ac.Area("A", 300, K, connectome="sampled", capacity=70), ac.Area("E", 40, K)],
        [S],
        [ac.Fibre("S", "A"), ac.Fibre("A", "E", p=0.1), ac.Fibre("A", "A"), ac.Fibre("E", "A")],
        p=0.2,
        beta=0.05,
        rounds=2 * ROUNDS,
    ),
}
F, SEED = 4, np.uint32(3)
ALL, LEARN = np.ones((ROUNDS, F), bool), np.ones(ROUNDS, bool)
both = pytest.mark.parametrize("name", BRAINS)


@jax.jit
def onward(brain, state, active, plastic):
    return ac.run(brain, state, active, plastic=plastic)


@functools.cache
def started(name, seed=SEED):
    return BRAINS[name].init(int(seed))


def masks(draws=0, rounds=ROUNDS):
    rng = np.random.default_rng(draws)
    active = rng.random((rounds, F)) < 0.7
    active[0, 0] = active[1, 1] = True
    return active, rng.random(rounds) < 0.8


def whole(name, seed=SEED, draws=0):
    return onward(BRAINS[name], started(name, seed), *masks(draws))


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    jax.tree.map(np.testing.assert_array_equal, a, b)


def check_caps(brain, state):
    """Each area that has a cap has k different neurons in it, ascending."""
    for area in brain.areas:
        cap = np.asarray(brain.cap(state, area.name))
        support = int(brain.support(state, area.name))
        assert cap.shape == (area.k,)
        assert np.all(np.diff(cap) > 0)
        assert cap[0] >= 0
        assert cap[-1] < (support if area.sampled else area.n)
        assert area.k <= support <= area.places


@pytest.mark.slow(but=["listed"])
@both
@hypothesis.given(seed=st.integers(0, 2**32 - 1), draws=st.integers(0, 2**20))
def test_a_cap_is_k_neurons_and_support_never_falls(name, seed, draws):
    brain = BRAINS[name]
    state, seen = onward(brain, brain.init(seed), *masks(draws))
    check_caps(brain, state)
    support, kept = np.asarray(seen.support), np.asarray(seen.kept)
    assert np.all((kept >= 0) & (kept <= K))
    # A neuron that is new in the support is new in the cap.
    assert np.all(np.diff(support, axis=0) >= 0)
    assert np.all(np.diff(support, axis=0) <= K - kept[1:])
    assert (int(state.round), int(state.forgotten)) == (ROUNDS, 0)
    brain.check(state)


@pytest.mark.slow
@both
def test_one_seed_is_one_brain_and_two_are_two(name):
    same(whole(name), whole(name))
    assert not np.array_equal(whole(name, np.uint32(4))[1].support, whole(name)[1].support)


@pytest.mark.slow(but=["listed"])
@both
def test_pieces_are_the_whole(name):
    brain, (active, plastic) = BRAINS[name], masks(1, 2 * ROUNDS)
    want, seen = onward(brain, started(name), active, plastic)
    state, first = onward(brain, started(name), active[:ROUNDS], plastic[:ROUNDS])
    state, second = onward(brain, state, active[ROUNDS:], plastic[ROUNDS:])
    same(state, want)
    same(jax.tree.map(lambda *x: np.concatenate(x), first, second), seen)


@pytest.mark.slow
@both
def test_a_batch_is_its_members(name):
    seeds, draws = np.arange(5, 8, dtype=np.uint32), range(3)
    active, plastic = map(np.stack, zip(*map(masks, draws)))

    def life(seed, active, plastic):
        return ac.run(BRAINS[name], BRAINS[name].init(seed), active, plastic=plastic)

    many = jax.jit(jax.vmap(life))(seeds, active, plastic)
    for number, seed in enumerate(seeds):
        same(jax.tree.map(lambda x, at=number: x[at], many), whole(name, seed, number))


@pytest.mark.slow(but=["listed"])
@both
def test_masks_known_or_not_are_the_same(name):
    brain, (first, _) = BRAINS[name], whole(name)
    active = brain.active("S->A", "A->E")
    known = jax.jit(lambda s: ac.run(brain, s, active, rounds=ROUNDS))(first)
    each = np.tile(active, (ROUNDS, 1)), np.ones(ROUNDS, bool)
    same(known, onward(brain, first, *each))


def test_one_mask_for_all_rounds_may_be_traced():
    brain, (first, _) = BRAINS["listed"], whole("listed")
    traced = jax.jit(lambda s, active, plastic: ac.run(brain, s, active, ROUNDS, plastic))
    active = np.array([True, False, True, True])
    each = np.tile(active, (ROUNDS, 1)), np.ones(ROUNDS, bool)
    same(traced(first, active, np.array(True)), onward(brain, first, *each))


def test_rounds_one_by_one_are_a_run():
    brain, state = BRAINS["listed"], started("listed")
    step = jax.jit(lambda state, *now: brain.step(state, *now))
    for active, plastic in zip(*masks(1, 2 * ROUNDS)):
        state = step(state, active, plastic)
    same(state, onward(brain, started("listed"), *masks(1, 2 * ROUNDS))[0])


@both
def test_an_area_that_nothing_drives_is_left_alone(name):
    brain, (before, _) = BRAINS[name], whole(name)
    after, seen = onward(brain, before, np.tile(brain.active("E->A", "S->A"), (ROUNDS, 1)), LEARN)
    old, new = (s.areas[1]._replace(before=0) for s in (before, after))
    same(old, new)  # but for the note that it fired
    np.testing.assert_array_equal(np.asarray(seen.kept)[:, 1], K)
    assert not np.array_equal(after.areas[0].after, before.areas[0].after)


@functools.cache
def heard(name):
    """What each area receives through all fibres."""
    brain, all_of_them = BRAINS[name], np.ones(F, bool)
    return jax.jit(lambda s: [brain.input(s, all_of_them, area) for area in brain.area_names])


@both
def test_a_fixed_area_stays_and_its_synapses_learn(name):
    brain, (before, _) = BRAINS[name], whole(name)
    for area in brain.area_names:
        before = brain.fix(before, area)
    after, _ = onward(brain, before, ALL, LEARN)
    for old, new in zip(before.areas, after.areas):
        same((old.cap, old.support, old.wins), (new.cap, new.support, new.wins))
    for area, old, new in zip(before.areas, heard(name)(before), heard(name)(after)):
        cap = np.asarray(area.cap)
        assert np.sum(np.asarray(new)[cap]) > np.sum(np.asarray(old)[cap]) * 1.1


@both
def test_nothing_is_learned_in_rounds_that_are_not_plastic(name):
    brain, (before, _) = BRAINS[name], whole(name)
    after, _ = onward(brain, before, ALL, ~LEARN)
    same(before.learned, after.learned)
    same([a.wins for a in before.areas], [a.wins for a in after.areas])
    # From the caps of before, each neuron that there was receives the same.
    caps = [a._replace(cap=b.cap) for a, b in zip(after.areas, before.areas)]
    after = after._replace(areas=tuple(caps))
    for number, (old, new) in enumerate(zip(heard(name)(before), heard(name)(after))):
        size = int(before.areas[number].support) if brain.areas[number].sampled else old.size
        np.testing.assert_array_equal(old[:size], new[:size])


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_threads_change_nothing():
    # A cap of 600 with 210 synapses each is worth threads.
    areas = [ac.Area("A", 700, 600), ac.Area("E", 700, 600, connectome="explicit")]
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A"), ac.Fibre("A", "E")]
    brain = ac.Brain(areas, [S], fibres, p=0.3, beta=0.5, rounds=5)
    active, state, before = np.ones((5, 3), bool), brain.init(0), threads()
    out = []
    try:
        for n in (1, 2, 3):
            assert threads(n) == n
            out.append(jax.device_get(onward(brain, state, active, LEARN[:5])))
    finally:
        threads(before)
    for other in out[1:]:
        same(other, out[0])


def explicit(brain, **fields):
    areas = [dataclasses.replace(a, connectome="explicit", **fields) for a in brain.areas]
    return ac.Brain(areas, brain.stimuli, brain.fibres, p=0.2, beta=0.05, rounds=brain.rounds)


@pytest.mark.slow
def test_hashed_and_explicit_are_one_brain():
    stored = explicit(BRAINS["listed"])
    assert stored.init(3).fibres[3].synapses.size > BRAINS["listed"].init(3).fibres[3].synapses.size
    got, seen = onward(stored, stored.init(3), *masks())
    want = whole("listed")
    same(seen, want[1])
    same(got.areas, want[0].areas)


def permuted(state, order):
    """The brain of `explicit` in which neuron i of the first area, A, is neuron order[i]."""
    n, back = order.size, np.argsort(order)
    rows = lambda x: np.asarray(x)[back]  # noqa: E731
    area = state.areas[0]
    area = area._replace(**{x: rows(getattr(area, x)) for x in ("ever", "wins", "before", "after")})
    fibres = list(state.fibres)
    fibres[0] = fibres[0]._replace(synapses=rows(fibres[0].synapses))
    fibres[1] = fibres[1]._replace(synapses=rows(fibres[1].synapses))  # A->E
    renamed = np.append(order, np.full(70_000 - n, n))[np.asarray(fibres[3].synapses)]
    renamed = np.sort(renamed, axis=1).astype(np.asarray(fibres[3].synapses).dtype)
    fibres[3] = fibres[3]._replace(synapses=renamed)
    return state._replace(areas=(area, *state.areas[1:]), fibres=tuple(fibres))


@pytest.mark.slow
def test_neurons_have_no_places():
    """With other numbers for its neurons, a brain without ties does the same."""
    brain = explicit(BRAINS["listed"], refraction=7.3)
    state = brain.init(1)
    # No two neurons of A receive the same from S; those that are tied in the sum do not decide.
    counts = np.random.default_rng(0).permutation(50) + 10
    stimulus = state.fibres[0]._replace(synapses=counts.astype(np.int32))
    state = state._replace(fibres=(stimulus, *state.fibres[1:]))
    order = np.random.default_rng(1).permutation(50)
    other = permuted(state, order)
    active = np.tile(brain.active("S->A", "A->E", "E->A"), (ROUNDS, 1))
    (a, seen), (b, seen_of_other) = (onward(brain, s, active, LEARN) for s in (state, other))
    same(seen, seen_of_other)
    np.testing.assert_array_equal(np.sort(order[np.asarray(a.areas[0].cap)]), b.areas[0].cap)
    same(np.asarray(a.areas[0].after), np.asarray(b.areas[0].after)[order])
    same(a.areas[1], b.areas[1])
    assert int(a.areas[0].support) > 2 * K


@pytest.mark.slow
def test_homeostasis_that_rests_is_none():
    plain = BRAINS["listed"]
    areas = [dataclasses.replace(a, homeostasis=True) for a in plain.areas]
    # Weights of whole numbers, so that float32 holds the sums.
    how = {"p": 0.2, "beta": 1.0, "rounds": plain.rounds}
    brain = ac.Brain(areas, plain.stimuli, plain.fibres, **how)
    resting = acting = brain.init(3)
    for name in "AE":
        resting = brain.balance(resting, name, False)
    _, seen = onward(plain.with_beta(1.0), started("listed"), *masks())
    same(onward(brain, resting, *masks())[1], seen)
    assert not np.array_equal(onward(brain, acting, *masks())[1].support, seen.support)


@pytest.mark.slow
def test_what_the_history_has_no_room_for_is_counted():
    small = explicit(BRAINS["listed"], refraction=0.0)
    brain = ac.Brain(small.areas, small.stimuli, small.fibres, p=0.2, beta=0.05, rounds=ROUNDS - 3)
    active = np.ones((ROUNDS, F), bool)
    state, _ = onward(brain, brain.init(0), active, LEARN)
    assert (int(state.remembered), int(state.forgotten)) == (ROUNDS - 3, 3)
    with pytest.raises(ValueError, match=rf"3 rounds had no room.*rounds={ROUNDS}\)"):
        brain.check(state)
    # Up to there it is the brain that has room; from there nothing is learned.
    wider = ac.Brain(small.areas, small.stimuli, small.fibres, p=0.2, beta=0.05, rounds=2 * ROUNDS)
    plastic = np.arange(ROUNDS) < ROUNDS - 3
    other, _ = onward(wider, wider.init(0), active, plastic)
    wider.check(other)
    same([a.cap for a in state.areas], [a.cap for a in other.areas])


@pytest.mark.slow
def test_what_a_sampled_area_has_no_room_for_is_counted():
    full = BRAINS["sampled"]
    few = dataclasses.replace(full.areas[0], capacity=K + 1)
    brain = ac.Brain((few, full.areas[1]), [S], full.fibres, p=0.2, beta=0.05, rounds=ROUNDS)
    state, _ = onward(brain, brain.init(0), ALL, LEARN)
    check_caps(brain, state)
    assert int(state.areas[0].support) == K + 1
    lost = int(state.areas[0].lost)
    assert lost > 0
    with pytest.raises(ValueError, match=rf"'A': {lost} neurons.*capacity={K + 1 + 2 * lost} or"):
        brain.check(state)
    full.check(onward(full, started("sampled"), ALL, LEARN)[0])
