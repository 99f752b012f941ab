"""What may be called inside `jit`, with arrays that are closed over and as arguments."""

import functools
import inspect
import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import assemblies as ac
from tests.compiling import AS_WRITTEN

K, ROUNDS = 5, 3
BRAIN = ac.Brain(
    [
        ac.Area("IN", 60, K),
        ac.Area("A", 60, K, homeostasis=True),
        ac.Area("B", 60, K, refraction=0.5),
        ac.Area("C", 300, K, connectome="sampled", capacity=60),
    ],
    [ac.Stimulus("S", 20)],
    [
        *(ac.Fibre("IN", x) for x in "AB"),
        *(ac.Fibre(*ends) for ends in ("SA", "SB", "SC", "AA", "BB", "CC", "AB", "BA")),
    ],
    p=0.3,
    rounds=40,
)
MACHINE = ac.StateMachine([("x", "0", "y"), ("y", "0", "x")], "x", ["x"], k=K, n=100)
COIN = ac.ProbabilisticAutomaton([("x", "a", "y"), ("x", "b", "y")], "x", k=K, n=100)
PATTERNS = np.arange(2 * K, dtype=np.int32).reshape(2, K)


@functools.cache
def trees():
    """What the functions are called with, by name."""
    return {
        "brain": BRAIN,
        "state": ac.project(BRAIN, BRAIN.init(1), "S", "A", ROUNDS),
        "machine": (MACHINE, MACHINE.train(1)),
        "coin": (COIN, COIN.train(1)),
        "key": jnp.uint32(3),
        "active": jnp.asarray(BRAIN.active("S->A", "A->A")),
        "yes": jnp.asarray(True),
        "beta": jnp.float32(0.2),
        "word": jnp.zeros(2, jnp.int32),
        "cap": jnp.asarray(PATTERNS[0]),
        "patterns": jnp.asarray(PATTERNS),
        "samples": jnp.asarray(PATTERNS[:, None]),
        "x": jnp.arange(8.0),
    }


# Those of jn.assemblies by name, those of its classes with the class.
TRACED = {
    "run": lambda t: ac.run(t["brain"], t["state"], t["active"], ROUNDS, t["yes"]),
    "project": lambda t: ac.project(t["brain"], t["state"], "A", "B", ROUNDS, t["yes"]),
    "reciprocal_project": lambda t: ac.reciprocal_project(t["brain"], t["state"], "A", "B", ROUNDS),
    "associate": lambda t: ac.associate(t["brain"], t["state"], ["A"], "B", ROUNDS, ["S"]),
    "merge": lambda t: ac.merge(t["brain"], t["state"], ["A"], "B", ROUNDS, ["S"]),
    "pattern_complete": lambda t: ac.pattern_complete(
        t["brain"], t["state"], "A", t["key"], plastic=t["yes"]
    ),
    "part_of": lambda t: ac.part_of(t["brain"], t["state"], "A", t["key"], 0.5),
    "separate": lambda t: ac.separate(t["brain"], t["state"], "IN", "A", t["patterns"], ROUNDS),
    "memorise": lambda t: ac.memorise(t["brain"], t["state"], "IN", "A", t["patterns"]),
    "recall": lambda t: ac.recall(t["brain"], t["state"], "IN", "A", t["cap"], 2),
    "learn_classes": lambda t: ac.learn_classes(t["brain"], t["state"], "IN", "B", t["samples"]),
    "responses": lambda t: ac.responses(t["brain"], t["state"], "IN", "A", t["patterns"]),
    "classify": lambda t: ac.classify(
        t["brain"], t["state"], "IN", "A", t["patterns"], t["patterns"]
    ),
    "class_assemblies": lambda t: ac.class_assemblies(t["brain"], "A", t["samples"]),
    "common_neurons": lambda t: ac.common_neurons(t["patterns"], K, 60),
    "overlap": lambda t: ac.overlap(t["cap"], t["cap"]),
    "overlaps": lambda t: ac.overlaps(t["patterns"], t["patterns"], 60),
    "density": lambda t: ac.density(t["brain"], t["state"], "A"),
    "statistics": lambda t: ac.statistics(t["brain"], t["state"], "S->A"),
    "soft_cap": lambda t: ac.soft_cap(t["x"], 2, t["beta"]),
    "straight_through_cap": lambda t: ac.straight_through_cap(t["x"], 2, t["beta"]),
    "assembly_loss": lambda t: ac.assembly_loss(t["x"], t["cap"]),
    "Brain.init": lambda t: t["brain"].init(t["key"]),
    "Brain.step": lambda t: t["brain"].step(t["state"], t["active"], t["yes"]),
    "Brain.cap": lambda t: t["brain"].cap(t["state"], "A"),
    "Brain.fired": lambda t: t["brain"].fired(t["state"], "A"),
    "Brain.support": lambda t: t["brain"].support(t["state"], "A"),
    "Brain.input": lambda t: t["brain"].input(t["state"], t["active"], "A"),
    "Brain.with_cap": lambda t: t["brain"].with_cap(t["state"], "A", t["cap"]),
    "Brain.with_beta": lambda t: t["brain"].with_beta(t["beta"]),
    "Brain.inhibit": lambda t: t["brain"].inhibit(t["active"], "A"),
    "Brain.fix": lambda t: t["brain"].fix(t["state"], "A", t["yes"]),
    "Brain.release": lambda t: t["brain"].release(t["state"], "A"),
    "Brain.balance": lambda t: t["brain"].balance(t["state"], "A", t["yes"]),
    "Brain.clear": lambda t: t["brain"].clear(t["state"], "A"),
    "Brain.rest": lambda t: t["brain"].rest(t["state"], "B"),
    "StateMachine.train": lambda t: t["machine"][0].train(t["key"]),
    "StateMachine.run": lambda t: t["machine"][0].run(t["machine"][1], t["word"]),
    "ProbabilisticAutomaton.train": lambda t: t["coin"][0].train(t["key"]),
    "ProbabilisticAutomaton.generate": lambda t: t["coin"][0].generate(t["coin"][1], t["key"], 2),
    "ProbabilisticAutomaton.flips": lambda t: t["coin"][0].flips(t["coin"][1], t["key"], 2),
}
HOST = {
    "report": lambda t: ac.report(t["brain"], t["state"]),
    "patterns": lambda t: ac.patterns(t["active"]),
    "parser.parse": lambda t: ac.parser.parse(
        ac.parser.english.grammar(), "dogs run", key=t["key"], n=200, k=20, p=0.5, rounds=5
    ),
    "Brain.check": lambda t: t["brain"].check(t["state"]),
    "ProbabilisticAutomaton.decode": lambda t: t["coin"][0].decode(t["word"]),
}
NO_ARRAYS = "schedule", "memory", "Brain.active", "Brain.number", "StateMachine.encode"


def ids(table):
    return pytest.mark.parametrize("name", table)


def as_numbers(tree):
    """Leaves as NumPy arrays."""
    return [np.asarray(x) for x in jax.tree.leaves(tree)]


@pytest.mark.slow
@ids(TRACED)
def test_traced_with_its_arrays_closed_over_and_as_arguments(name):
    given = trees()
    closed = jax.eval_shape(lambda: TRACED[name](given))
    as_argument = jax.eval_shape(TRACED[name], given)
    assert jax.tree.leaves(closed) == jax.tree.leaves(as_argument) != []


@pytest.mark.slow(but=["StateMachine.run"])
@ids(TRACED)
def test_as_outside_of_jit(name):
    given = trees()
    known = as_numbers(TRACED[name](given))
    closed = as_numbers(jax.jit(lambda: TRACED[name](given), compiler_options=AS_WRITTEN)())
    as_argument = jax.jit(TRACED[name], compiler_options=AS_WRITTEN)(given)
    for x, y, z in zip(known, closed, as_numbers(as_argument), strict=True):
        np.testing.assert_allclose(y, x, rtol=1e-6)
        np.testing.assert_array_equal(y, z)


# The parser compiles a large program.
@pytest.mark.slow
@ids(HOST)
def test_on_the_host_known_arrays_are_read_and_traced_ones_refused(name):
    given, seen = trees(), []
    jax.eval_shape(lambda: seen.append(HOST[name](given)))
    assert repr(seen[0]) == repr(HOST[name](given))
    with pytest.raises(jn.InvalidValueError, match="outside of jit") as caught:
        jax.eval_shape(HOST[name], given)
    assert caught.value.got == "a traced one"


def test_every_function_stands_in_one_table_and_on_the_page():
    classes = ac.Brain, ac.StateMachine, ac.ProbabilisticAutomaton
    public = {x for x in ac.__all__ if inspect.isfunction(getattr(ac, x))} | {"parser.parse"}
    for cls in classes:
        names = [x for x, f in vars(cls).items() if inspect.isfunction(f) and x[0] != "_"]
        public |= {f"{cls.__name__}.{x}" for x in names}
    assert sorted(public) == sorted([*TRACED, *HOST, *NO_ARRAYS])
    page = Path("docs/assemblies.md").read_text()
    section = page.partition("## What can be traced")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    found = {}
    for names, kind in rows:
        found.setdefault(kind.strip(), []).extend(re.findall(r"`([\w.]+)`", names))
    assert {k: sorted(v) for k, v in found.items()} == {
        "yes": sorted(TRACED),
        "known arrays only": sorted(HOST),
        "takes no arrays": sorted(NO_ARRAYS),
    }


def recalled(beta, brain=BRAIN):
    state = ac.project(brain.with_beta(beta), trees()["state"], "A", "B", ROUNDS)
    return jnp.sum(brain.cap(state, "B").astype(jnp.float32))


def received(beta):
    return jnp.sum(BRAIN.with_beta(beta).input(trees()["state"], trees()["active"], "A"))


def mean_weight(beta):
    return ac.statistics(BRAIN.with_beta(beta), trees()["state"], "S->A").weight


def by_brain(x):
    """Through a leaf of a brain."""
    brain = eqx.tree_at(lambda brain: brain.refraction, BRAIN, x * BRAIN.refraction)
    return recalled(0.1, brain)


@pytest.mark.slow(but=["grad-recalled"])
@pytest.mark.parametrize("function", [recalled, received, mean_weight, by_brain])
@pytest.mark.parametrize("way", [jax.grad, lambda f: jax.jit(jax.grad(jax.jit(f)))])
def test_a_derivative_is_refused_and_the_soft_cap_named(function, way):
    trees()
    with pytest.raises(ValueError, match="soft_cap"):
        way(function)(0.1)


@pytest.mark.slow
def test_a_batch_of_betas_in_a_function_with_a_derivative():
    """What does not depend on beta has a derivative; betas may be a batch in it."""
    trees()

    def loss(x, beta):
        return x * recalled(beta)

    betas = np.float32([0.05, 0.2])
    slopes = jax.vmap(jax.grad(loss), (None, 0))(np.float32(2.0), betas)
    np.testing.assert_array_equal(slopes, jax.vmap(recalled)(betas))
