"""A function to record that is written anew finds its compiled program, if it does the same."""

import functools
import math

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._run._same_function import meaning
from tests.network.networks import balanced

FACTOR, LIST = 2.0, [1.0]


def scaled(factor):
    return lambda state, output: factor * jnp.mean(state.t) + math.pi


def with_default(factor):
    def function(state, output, *, by=factor):
        return by * state.t

    return function


def calling(factor):
    inner = scaled(factor)
    return lambda state, output: inner(state, output)


def recurring(factor):
    def function(x):
        return factor if x < 1 else function(x - 1)

    return function


MAKERS = (
    scaled,
    with_default,
    calling,
    recurring,
    lambda factor: functools.partial(scaled, factor),
    lambda factor: scaled(np.full(3, factor)),
    lambda factor: scaled((1, factor)),
)


@pytest.mark.parametrize("make", MAKERS, ids=range(len(MAKERS)))
def test_written_anew_it_is_the_same_with_the_same_numbers_alone(make):
    assert make(2.0) is not make(2.0)
    assert meaning(make(2.0)) == meaning(make(2.0))
    assert hash(meaning(make(2.0))) == hash(meaning(make(2.0)))
    different = [meaning(make(x)) for x in (2.0, 3.0, 2, -0.0, 0.0)]
    assert len(set(different)) == 5


def test_other_code_and_other_globals_differ():
    lambdas = [lambda s, o: s.t, lambda s, o: s.v, lambda s, o: 2.0, lambda s, o: FACTOR]
    assert len({meaning(f) for f in lambdas}) == 4

    def again():
        return lambda s, o: FACTOR

    before = meaning(again())
    assert meaning(again()) == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "FACTOR", 3.0)
        assert meaning(again()) != before


def test_what_may_change_unseen_is_the_same_only_as_itself():
    def of_list():
        return lambda s, o: LIST[0]

    def of_object(thing):
        return lambda s, o: thing.x

    for make in (of_list, lambda: of_object(object()), lambda: scaled(np.array([None]))):
        one = make()
        assert meaning(one) == meaning(one)
        assert meaning(one) != meaning(make())


def test_a_lambda_in_a_loop_compiles_once():
    net = jn.build(balanced(), 1, 0.1)
    runs = []
    for k in (4.0, 4.0, 5.0):
        record = jn.Record(function=lambda s, o, k=k: k * jnp.sum(s.groups[0].neurons.v))
        runs.append(jn.simulate(net, 1.0, record=record))
    assert [run.compile_s > 0.0 for run in runs] == [True, False, True]
    last = [float(np.asarray(run.function)[-1]) for run in runs]
    assert last[0] == last[1] == 4.0 / 5.0 * last[2] != 0.0
