"""Bad input gets a `ValueError` that says what must hold and what was got."""

import pickle

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import assemblies as ac
from jaxneuro.assemblies._state import check_room_of_run

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
    "k of 0": (lambda: ac.Area("A", 5, 0), "area 'A'", "k"),
    "connectome": (lambda: ac.Area("A", 5, 2, "hash"), "area 'A'", "connectome"),
    "small capacity": (lambda: ac.Area("A", 9, 3, "sampled", capacity=2), "area 'A'", "capacity"),
    "capacity of a listed area": (lambda: ac.Area("A", 9, 3, capacity=5), "area 'A'", "capacity"),
    "homeostasis of a sampled area": (
        lambda: ac.Area("A", 9, 3, "sampled", homeostasis=True),
        "area 'A'",
        "homeostasis",
    ),
    "refraction below 0": (lambda: ac.Area("A", 9, 3, refraction=-1), "area 'A'", "refraction"),
    "name with an arrow": (lambda: ac.Area("A->B", 9, 3), "area 'A->B'", "name"),
    "stimulus with an arrow": (lambda: ac.Stimulus("->", 3), "stimulus '->'", "name"),
    "stimulus of nobody": (lambda: ac.Stimulus("S", 0), "stimulus 'S'", "size"),
    "stimulus too large": (lambda: ac.Stimulus("S", 65_536), "stimulus 'S'", "size"),
    "p above 1": (lambda: ac.Fibre("S", "A", p=1.1), "fibre S->A", "p"),
    "beta below 0": (lambda: ac.Fibre("S", "A", beta=-0.1), "fibre S->A", "beta"),
    "beta above 1000": (lambda: ac.Fibre("S", "A", beta=1001.0), "fibre S->A", "beta"),
    "betas": (lambda: ac.Fibre("S", "A", beta=[0.1, 0.2]), "fibre S->A", "beta"),
    "w_max below 1": (lambda: ac.Fibre("S", "A", w_max=0.5), "fibre S->A", "w_max"),
    "w_max above 2^20": (lambda: ac.Fibre("S", "A", w_max=2**21), "fibre S->A", "w_max"),
}


@pytest.mark.parametrize(("make", "owner", "field"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_bad_descriptions_are_refused(make, owner, field):
    with pytest.raises(jn.InvalidValueError) as caught:
        make()
    assert (caught.value.owner, caught.value.field) == (owner, field)


BRAINS = {
    "no area": (lambda: brain([]), "at least one area; got none"),
    "a stimulus as an area": (lambda: brain([S]), "Brain: areas must be an Area"),
    "a name twice": (lambda: brain([A, A]), "must be unique; twice: \\['A'\\]"),
    "a name of both": (lambda: brain([A], [ac.Stimulus("A", 3)]), "unique; twice: \\['A'\\]"),
    "unknown source": (lambda: brain(fibres=[ac.Fibre("X", "A")], p=0.1), "'X'.*known.*'A', 'S'"),
    "unknown target": (lambda: brain(fibres=[ac.Fibre("A", "X")], p=0.1), "area named 'X'.*'A'"),
    "onto a stimulus": (lambda: brain(fibres=[ac.Fibre("A", "S")], p=0.1), "area named 'S'"),
    "a fibre twice": (
        lambda: brain(fibres=[ac.Fibre("S", "A"), ac.Fibre("S", "A", p=0.5)], p=0.1),
        "twice: \\['S->A'\\]",
    ),
    "a fibre without p": (lambda: brain(fibres=FIBRES[:1]), "S->A: p must be given.*Brain\\("),
    "p of all": (lambda: brain(p=2), "Brain: p must be"),
    "beta of all": (lambda: brain(beta=-1.0), "Brain: beta must be"),
    "sums beyond 64 bits": (
        lambda: ac.Brain([ac.Area("A", 2**20, 2**19)], [], [ac.Fibre("A", "A")], p=0.1),
        "area 'A': the neurons that fire into it times their w_max must",
    ),
    "betas": (lambda: brain(beta=[0.1]), "Brain: beta must be"),
    "no rounds": (lambda: brain(rounds=0), "rounds must be a whole number of at least 1; got 0"),
    "with_beta": (lambda: BRAIN.with_beta(-1.0), "beta must be.*at most 1000.0; got -1.0"),
    "with_beta of another shape": (lambda: BRAIN.with_beta([0.1] * 2), "\\(3,\\); got \\(2,\\)"),
    "a key below 0": (lambda: BRAIN.init(-1), "key must be .*; got -1"),
}
STATES = {
    "unknown area": (lambda: BRAIN.cap(STATE, "C"), "area named 'C'. The known ones: 'A', 'B'"),
    "unknown area of fix": (lambda: BRAIN.fix(STATE, "C"), "no area named 'C'"),
    "unknown fibre": (lambda: BRAIN.active("S->"), "fibre named 'S->'.*'S->A', 'A->B', 'S->B'"),
    "a fibre that is missing": (
        lambda: ac.project(BRAIN, STATE, "A", "A", 3),
        "no fibre from 'A' onto 'A'; the brain needs one, .*ac.Fibre\\('A', 'A'\\)",
    ),
    "of a run, with what was seen": (
        lambda: BRAIN.cap((STATE, 0), "A"),
        "returns \\(state, seen\\)",
    ),
    "swapped": (lambda: BRAIN.cap("A", STATE), "cap: state must be a BrainState.*got 'A'"),
    "a state for a name": (lambda: BRAIN.active(STATE), "got BrainState: after 0 rounds, 2 areas"),
    "report, swapped": (lambda: ac.report(STATE, BRAIN), "brain must be a Brain.*got BrainState"),
    "a brain for a state": (lambda: ac.report(BRAIN, BRAIN), "got Brain: 2 areas: A 50"),
    "names of caps": (lambda: ac.overlap("A", "B"), "from brain.cap.*got 'A' and 'B'"),
    "overlaps beyond n": (
        lambda: ac.overlaps([[1, 5]], [[0, 1]], 5),
        "overlaps: caps .*got 1 to 5",
    ),
    "overlaps of one": (lambda: ac.overlaps([1], [0], 5), "overlaps: assemblies must be .*2 axes"),
    "overlaps of a text": (lambda: ac.overlaps([1], [[0]], "5"), "overlaps: n must"),
    "more than n in common": (lambda: ac.common_neurons([[1]], 6, 5), "common_neurons: k must"),
    "density of a stimulus": (lambda: ac.density(BRAIN, STATE, "S"), "no area named 'S'"),
    "letters": (lambda: ac.merge(BRAIN, STATE, "AB", "B", 1), "merge: areas must be a list"),
    "balance": (lambda: BRAIN.balance(STATE, "A"), "homeostasis=True"),
    "too many": (lambda: cap(np.arange(6)), "'A': a cap must be at most k = 5.*got shape \\(6,\\)"),
    "a table": (lambda: cap(np.zeros((1, 2), int)), "at most k = 5.*got shape \\(1, 2\\)"),
    "beyond n": (lambda: cap([3, 50]), "from 0 to 49, one below n.*got 3 to 50"),
    "below -1": (lambda: cap([3, -2]), "different neurons from 0.*-1 is nobody.*got -2 to 3"),
    "twice": (lambda: cap([3, 4, 3]), "got 3 to 4, 2 different of 3"),
    "not whole": (lambda: cap([3.0]), "'A': a cap must be whole numbers; got float64"),
    "flags": (lambda: cap(np.ones(5, bool)), "must be whole numbers; got bool"),
    "traced, not whole": (lambda: jax.jit(cap)(np.ones(2, np.float32)), "whole.*got float32"),
    "never fired": (lambda: cap([0], "B"), "one below the number of those that ever fired"),
}
ROUNDS = {
    "short": (lambda: BRAIN.step(STATE, ACTIVE[:2]), "must be bool \\(3,\\).*got bool \\(2,\\)"),
    "short, traced": (
        lambda: jax.jit(lambda m: BRAIN.step(STATE, m))(ACTIVE[:2]),
        "must be bool \\(3,\\).*got bool \\(2,\\)",
    ),
    "long": (lambda: BRAIN.input(STATE, np.ones(4, bool), "A"), "got bool \\(4,\\)"),
    "numbers": (lambda: BRAIN.step(STATE, np.ones(3, int)), "from brain.active.*got int64"),
    "names": (lambda: BRAIN.step(STATE, ["S->A"]), "from brain.active.*got <U4 \\(1,\\)"),
    "two axes": (lambda: BRAIN.step(STATE, np.ones((2, 3), bool)), "got bool \\(2, 3\\)"),
    "plastic": (lambda: BRAIN.step(STATE, ACTIVE, 0.5), "plastic must be one bool; got float64"),
    "plastic of a run": (lambda: ac.run(BRAIN, STATE, ACTIVE, 3, 1), "bool or bool \\(rounds,\\)"),
    "run, short": (
        lambda: ac.run(BRAIN, STATE, ACTIVE[:2], 3),
        "run: active must be bool \\(3,\\) or \\(rounds, 3\\).*got bool \\(2,\\)",
    ),
    "run, numbers": (lambda: ac.run(BRAIN, STATE, np.ones((4, 3)), 4), "got float64 \\(4, 3\\)"),
    "run, no rounds": (lambda: ac.run(BRAIN, STATE, ACTIVE), "must be given once.*got none"),
    "run, rounds twice": (
        lambda: ac.run(BRAIN, STATE, np.ones((4, 3), bool), 5),
        "agree with the first axis.*got \\[4, 5\\]",
    ),
    "run, learning of others": (
        lambda: ac.run(BRAIN, STATE, np.ones((4, 3), bool), plastic=np.ones(3, bool)),
        "agree with the first axis.*got \\[3, 4\\]",
    ),
    "run, rounds below 0": (lambda: ac.run(BRAIN, STATE, ACTIVE, -1), "at least 0; got -1"),
    "run, more than it remembers": (
        lambda: ac.run(BRAIN, STATE, ACTIVE, 9),
        "run takes 9 rounds with learning.*after 0 .* rounds=8: ask for Brain\\(..., rounds=9\\)",
    ),
    "run, more than it remembers, traced": (
        lambda: jax.jit(lambda s: ac.run(BRAIN, s, ACTIVE, 9))(STATE),
        "run takes 9 rounds with learning.*after 0 .* rounds=8",
    ),
    "run, more after some": (
        lambda: ac.run(BRAIN, STATE._replace(remembered=np.int32(6)), ACTIVE, 3),
        "takes 3 rounds .* after 6 .* rounds=9",
    ),
    "a round more than it remembers": (
        lambda: BRAIN.step(STATE._replace(remembered=np.int32(8)), ACTIVE),
        "a round takes 1 round with learning.*after 8 .* rounds=9",
    ),
    "a project of more": (lambda: ac.project(BRAIN, STATE, "S", "A", 9), "takes 9 rounds"),
    "a schedule without pairs": (
        lambda: ac.schedule(BRAIN, "S->A", 5),
        "part must be a pair of fibres and rounds, such as .*got 'S->A'",
    ),
    "a schedule without rounds": (lambda: ac.schedule(BRAIN, (["S->A"],)), "must be a pair"),
}
CASES = {
    f"{kind}: {name}": case
    for kind, cases in (
        ("brain", BRAINS),
        ("state", STATES),
        ("round", ROUNDS),
    )
    for name, case in cases.items()
}


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
        with pytest.raises(ValueError, match="the state must be one of this brain, which has the"):
            use()


def test_a_state_stays_that_of_its_brain():
    assert all(hasattr(x, "shape") for x in jax.tree.leaves(STATE))
    BRAIN.with_beta(0.3).cap(STATE, "A")
    again = ac.Brain([A, B], [S], FIBRES, p=0.1, rounds=8, beta=0.5)
    again.cap(pickle.loads(pickle.dumps(jax.tree.map(np.asarray, STATE))), "A")
    again.cap(STATE._replace(origin=None), "A")  # of a file from before
    assert jax.tree.structure(again.init(2)) == jax.tree.structure(STATE)
    assert len(repr(BRAIN)) < 200


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused(case):
    bad, message = CASES[case]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        bad()


def test_rounds_that_are_not_remembered_are_as_many_as_one_likes():
    """Nothing learns, nobody fires, or a cap keeps the fibre silent; a brain of listed areas."""
    listed = ac.Brain([A, ac.Area("B", 60, 6)], [S], FIBRES, p=0.1, rounds=8)
    state, many = listed.init(0), np.tile(listed.active("S->A"), (30, 1))
    silent = np.tile(listed.active("A->B"), (30, 1))
    last = np.arange(30) >= 22
    for active, plastic in ((many, False), (silent, True), (many, last)):
        check_room_of_run("run", listed, state, active, plastic)
    with pytest.raises(ValueError, match=r"takes 30 rounds with .* after 0.*plastic=False"):
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
