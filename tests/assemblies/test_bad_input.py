"""What brains, their states and their rounds refuse."""

import pickle
import re

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from jaxneuro.assemblies._state import check_room_of_run
from tests.refusing import assert_refused

A, B, S = ac.Area("A", 50, 5), ac.Area("B", 60, 6, "sampled", capacity=20), ac.Stimulus("S", 9)
FIBRES = [ac.Fibre("S", "A"), ac.Fibre("A", "B"), ac.Fibre("S", "B")]
BRAIN = ac.Brain([A, B], [S], FIBRES, p=0.1, rounds=8)
STATE = BRAIN.init(0)
ACTIVE = BRAIN.active("S->A")


def brain(areas=(A,), stimuli=(S,), fibres=(), **how):
    return ac.Brain(areas, stimuli, fibres, **how)


def cap(neurons, name="A"):
    return BRAIN.with_cap(STATE, name, neurons)


# Kinds are tested in tests/house/test_spec.py: here which field has which.
DESCRIPTIONS = {
    "k above n": (lambda: ac.Area("A", 5, 6), "area 'A'", "k"),
    "too many": (lambda: ac.Area("A", 2**30 + 1, 1), "area 'A'", "n"),
    "connectome": (lambda: ac.Area("A", 5, 2, "hash"), "area 'A'", "connectome"),
    "small capacity": (lambda: ac.Area("A", 9, 3, "sampled", capacity=2), "area 'A'", "capacity"),
    "capacity of a listed area": (lambda: ac.Area("A", 9, 3, capacity=5), "area 'A'", "capacity"),
    "homeostasis of a sampled area": (
        lambda: ac.Area("A", 9, 3, "sampled", homeostasis=True),
        "area 'A'",
        "homeostasis",
    ),
    "name with an arrow": (lambda: ac.Area("A->B", 9, 3), "area 'A->B'", "name"),
    "stimulus with an arrow": (lambda: ac.Stimulus("->", 3), "stimulus '->'", "name"),
    "stimulus too large": (lambda: ac.Stimulus("S", 65_536), "stimulus 'S'", "size"),
    "p above 1": (lambda: ac.Fibre("S", "A", p=1.1), "fibre S->A", "p"),
    "beta above 1000": (lambda: ac.Fibre("S", "A", beta=1001.0), "fibre S->A", "beta"),
    "w_max below 1": (lambda: ac.Fibre("S", "A", w_max=0.5), "fibre S->A", "w_max"),
    "w_max above 2^20": (lambda: ac.Fibre("S", "A", w_max=2**21), "fibre S->A", "w_max"),
}
BRAINS = {
    "no area": (lambda: brain([]), "Brain", "a brain", "none"),
    "a stimulus as an area": (
        lambda: brain([S]),
        *("Brain", "areas", "Stimulus(name='S', size=9) at [0]"),
    ),
    "unknown source": (
        lambda: brain(fibres=[ac.Fibre("X", "A")], p=0.1),
        *("Brain", "area or stimulus", "'X'"),
    ),
    "unknown target": (lambda: brain(fibres=[ac.Fibre("A", "X")], p=0.1), "Brain", "area", "'X'"),
    "onto a stimulus": (lambda: brain(fibres=[ac.Fibre("A", "S")], p=0.1), "Brain", "area", "'S'"),
    "beta of all": (lambda: brain(beta=-1.0), "Brain", "beta", "-1.0"),
    "sums beyond 64 bits": (
        lambda: ac.Brain([ac.Area("A", 2**20, 2**19)], [], [ac.Fibre("A", "A")], p=0.1),
        *("area 'A'", "the neurons that fire into it times their w_max", "5.5e+11"),
    ),
    "with_beta": (lambda: BRAIN.with_beta(-1.0), "with_beta", "beta", "-1.0"),
    "with_beta of another shape": (lambda: BRAIN.with_beta([0.1] * 2), "with_beta", "beta", "(2,)"),
    "a key below 0": (lambda: BRAIN.init(-1), "", "key", "-1"),
}
STATES = {
    "unknown area": (lambda: BRAIN.cap(STATE, "C"), "", "area", "'C'"),
    "unknown fibre": (lambda: BRAIN.active("S->"), "", "fibre", "'S->'"),
    "of a run, with what was seen": (
        lambda: BRAIN.cap((STATE, 0), "A"),
        *("cap", "state", "a tuple with one"),
    ),
    "swapped": (lambda: BRAIN.cap("A", STATE), "cap", "state", "'A'"),
    "a state for a name": (lambda: BRAIN.active(STATE), "", "the name of a fibre", "BrainState"),
    "report, swapped": (lambda: ac.report(STATE, BRAIN), "report", "brain", "BrainState"),
    "a brain for a state": (lambda: ac.report(BRAIN, BRAIN), "report", "state", "Brain: 2 areas"),
    "names of caps": (lambda: ac.overlap("A", "B"), "overlap", "both caps", "'A' and 'B'"),
    "overlaps beyond n": (
        lambda: ac.overlaps([[1, 5]], [[0, 1]], 5),
        *("overlaps", "overlaps: caps", "1 to 5"),
    ),
    "overlaps of one": (
        lambda: ac.overlaps([1], [0], 5),
        *("overlaps", "overlaps: assemblies", "int64 (1,)"),
    ),
    "overlaps of a text": (lambda: ac.overlaps([1], [[0]], "5"), "overlaps", "n", "'5'"),
    "more than n in common": (lambda: ac.common_neurons([[1]], 6, 5), "common_neurons", "k", "6"),
    "density of a stimulus": (lambda: ac.density(BRAIN, STATE, "S"), "density", "area", "'S'"),
    "letters": (lambda: ac.merge(BRAIN, STATE, "AB", "B", 1), "merge", "areas", "'AB'"),
    "too many": (lambda: cap(np.arange(6)), "area 'A'", "a cap", "shape (6,)"),
    "a table": (lambda: cap(np.zeros((1, 2), int)), "area 'A'", "a cap", "shape (1, 2)"),
    "beyond n": (lambda: cap([3, 50]), "area 'A'", "a cap", "3 to 50"),
    "below -1": (lambda: cap([3, -2]), "area 'A'", "a cap", "-2 to 3"),
    "twice": (lambda: cap([3, 4, 3]), "area 'A'", "a cap", "2 different of 3"),
    "not whole": (lambda: cap([3.0]), "area 'A'", "a cap", "float64"),
    "flags": (lambda: cap(np.ones(5, bool)), "area 'A'", "a cap", "bool"),
    "traced, not whole": (
        lambda: jax.jit(cap)(np.ones(2, np.float32)),
        *("area 'A'", "a cap", "float32"),
    ),
    "never fired": (lambda: cap([0], "B"), "area 'B'", "a cap", "0 to 0"),
}
ROUNDS = {
    "short": (lambda: BRAIN.step(STATE, ACTIVE[:2]), "a round", "active", "bool (2,)"),
    "short, traced": (
        lambda: jax.jit(lambda m: BRAIN.step(STATE, m))(ACTIVE[:2]),
        *("a round", "active", "bool (2,)"),
    ),
    "long": (lambda: BRAIN.input(STATE, np.ones(4, bool), "A"), "a round", "active", "bool (4,)"),
    "numbers": (lambda: BRAIN.step(STATE, np.ones(3, int)), "a round", "active", "int64 (3,)"),
    "names": (lambda: BRAIN.step(STATE, ["S->A"]), "a round", "active", "<U4 (1,)"),
    "two axes": (
        lambda: BRAIN.step(STATE, np.ones((2, 3), bool)),
        *("a round", "active", "bool (2, 3)"),
    ),
    "plastic": (lambda: BRAIN.step(STATE, ACTIVE, 0.5), "a round", "plastic", "float64 ()"),
    "plastic of a run": (lambda: ac.run(BRAIN, STATE, ACTIVE, 3, 1), "run", "plastic", "int64 ()"),
    "run, short": (lambda: ac.run(BRAIN, STATE, ACTIVE[:2], 3), "run", "active", "bool (2,)"),
    "run, numbers": (
        lambda: ac.run(BRAIN, STATE, np.ones((4, 3)), 4),
        *("run", "active", "float64 (4, 3)"),
    ),
    "run, no rounds": (lambda: ac.run(BRAIN, STATE, ACTIVE), "run", "rounds", "none"),
    "run, rounds twice": (
        lambda: ac.run(BRAIN, STATE, np.ones((4, 3), bool), 5),
        *("run", "rounds", "[4, 5]"),
    ),
    "run, learning of others": (
        lambda: ac.run(BRAIN, STATE, np.ones((4, 3), bool), plastic=np.ones(3, bool)),
        *("run", "rounds", "[3, 4]"),
    ),
    "a schedule without rounds": (
        lambda: ac.schedule(BRAIN, (["S->A"],)),
        *("schedule", "each part", "(['S->A'],)"),
    ),
}
REFUSED = {
    f"{kind}: {name}": case
    for kind, cases in (
        ("description", DESCRIPTIONS),
        ("brain", BRAINS),
        ("state", STATES),
        ("round", ROUNDS),
    )
    for name, case in cases.items()
}
# What concerns several fields, or how far a run has come, has no owner and field.
TOGETHER = {
    "a name twice": (lambda: brain([A, A]), "unique; twice: ['A']"),
    "a name of both": (lambda: brain([A], [ac.Stimulus("A", 3)]), "unique; twice: ['A']"),
    "a fibre twice": (
        lambda: brain(fibres=[ac.Fibre("S", "A"), ac.Fibre("S", "A", p=0.5)], p=0.1),
        "twice: ['S->A']",
    ),
    "a run of more": (lambda: ac.run(BRAIN, STATE, ACTIVE, 9), "run takes 9 rounds"),
    "a run of more, traced": (
        lambda: jax.jit(lambda s: ac.run(BRAIN, s, ACTIVE, 9))(STATE),
        "run takes 9 rounds",
    ),
    "more after some": (
        lambda: ac.run(BRAIN, STATE._replace(remembered=np.int32(6)), ACTIVE, 3),
        "Brain(..., rounds=9)",
    ),
    "a round more": (
        lambda: BRAIN.step(STATE._replace(remembered=np.int32(8)), ACTIVE),
        "a round takes 1 round",
    ),
    "a project of more": (lambda: ac.project(BRAIN, STATE, "S", "A", 9), "takes 9 rounds"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused(case):
    assert_refused(*REFUSED[case])


@pytest.mark.parametrize("case", TOGETHER)
def test_what_does_not_go_together_is_refused(case):
    make, words = TOGETHER[case]
    with pytest.raises(ValueError, match=re.escape(words)):
        make()


OTHERS = {
    "p": ac.Brain([A, B], [S], FIBRES, p=0.3, rounds=8),
    "a size": ac.Brain([ac.Area("A", 51, 5), B], [S], FIBRES, p=0.1, rounds=8),
    "a fibre more": ac.Brain([A, B], [S], [*FIBRES, ac.Fibre("B", "A")], p=0.1, rounds=8),
}


@pytest.mark.parametrize("what", OTHERS)
def test_the_state_of_another_brain(what):
    """Known under jit and vmap, too: it is no leaf."""
    other = OTHERS[what].init(1)
    batch = jax.tree.map(lambda x: np.stack([x, x]), other)
    for use in (
        lambda: BRAIN.cap(other, "A"),
        lambda: BRAIN.support(batch, "A"),
        lambda: BRAIN.clear(other, "A"),
        lambda: jax.jit(lambda s: BRAIN.fired(s, "A"))(other),
        lambda: jax.vmap(lambda s: BRAIN.fired(s, "A"))(batch),
        lambda: ac.report(BRAIN, other),
        lambda: ac.density(BRAIN, other, "A"),
    ):
        with pytest.raises(ValueError, match="one of this brain"):
            use()


def test_a_state_stays_that_of_its_brain():
    assert all(hasattr(x, "shape") for x in jax.tree.leaves(STATE))
    BRAIN.with_beta(0.3).cap(STATE, "A")
    again = ac.Brain([A, B], [S], FIBRES, p=0.1, rounds=8, beta=0.5)
    again.cap(pickle.loads(pickle.dumps(jax.tree.map(np.asarray, STATE))), "A")
    again.cap(STATE._replace(origin=None), "A")  # of a file from before
    assert jax.tree.structure(again.init(2)) == jax.tree.structure(STATE)
    assert len(repr(BRAIN)) < 200


def test_rounds_that_are_not_remembered_are_as_many_as_one_likes():
    """Nothing learns, nobody fires, or a cap keeps the fibre silent; a brain of listed areas."""
    listed = ac.Brain([A, ac.Area("B", 60, 6)], [S], FIBRES, p=0.1, rounds=8)
    state, many = listed.init(0), np.tile(listed.active("S->A"), (30, 1))
    silent = np.tile(listed.active("A->B"), (30, 1))
    last = np.arange(30) >= 22
    for active, plastic in ((many, False), (silent, True), (many, last)):
        check_room_of_run("run", listed, state, active, plastic)
    with pytest.raises(ValueError, match="takes 30 rounds"):
        check_room_of_run("run", listed, state, many, True)
    # From the second round on A fires B; a fixed area that never fired does not.
    both = np.concatenate([many[:1], silent])
    with pytest.raises(ValueError, match="takes 31 rounds"):
        check_room_of_run("run", listed, state, both, True)
    check_room_of_run("run", listed, listed.fix(state, "A"), both, True)


def test_a_method_may_be_compiled():
    assert jax.eval_shape(jax.jit(BRAIN.step), STATE, ACTIVE).round.shape == ()
    assert BRAIN.step == BRAIN.step


def test_one_name_is_a_part_of_a_schedule():
    assert ac.schedule(BRAIN, ("S->A", 2)).tolist() == ac.schedule(BRAIN, (["S->A"], 2)).tolist()


@pytest.mark.slow
def test_what_is_at_the_bounds_is_taken():
    areas = [ac.Area("A", 3, 3), ac.Area("B", 9, 3, "sampled", capacity=3)]
    fibres = [ac.Fibre("A", "A", p=0, beta=0, w_max=1), ac.Fibre("A", "B", p=1.0, w_max=2**20)]
    assert ac.Brain(areas, [ac.Stimulus("S", 65_535)], fibres, rounds=1).fibre_names == (
        "A->A",
        "A->B",
    )
    assert ac.Area("A", 9, 3, "sampled", capacity=40).capacity == 9
    given = jax.device_get(cap(np.array([49, -1, 0])).areas[0])
    assert given.cap.tolist() == [0, 49, 50, 50, 50]
    assert (int(given.support), bool(given.fired)) == (2, True)
