"""Methods of a network take a state of theirs, or a result, and nothing else."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network.state import SavedState, check_arrays
from jaxneuro._run import simulate as _simulate

from .networks import balanced, description

NET = jn.build(balanced(), 1, 0.1)
OTHER = jn.build(balanced(n=100), 1, 0.1)
USES = {
    "read": lambda net, state: net.read(state, "E", "v"),
    "variables": lambda net, state: net.variables(state, "E"),
    "with_values": lambda net, state: net.with_values(state, "E", v=-60.0),
    "connections": lambda net, state: net.connections("E->E", state),
    "scan": lambda net, state: jn.scan(net, state, 3),
    "simulate": lambda net, state: jn.simulate(net, 0.3, state=state),
}


@pytest.fixture(scope="module")
def result():
    return jn.simulate(NET, 0.3)


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_a_result_is_taken_and_another_network_refused(use, result):
    use(NET, result)
    use(NET, result.state)
    with pytest.raises(ValueError, match="state must be one of this network"):
        use(OTHER, result)
    for wrong, said in ((3, "got 3"), (jn.scan(NET, NET.init(0), 3), "take its first item")):
        with pytest.raises(ValueError, match=f"state must be a result of simulate.*{said}"):
            use(NET, wrong)


def test_the_state_of_another_is_refused_with_what_is_different(result):
    """By the networks if both are known, else by the arrays; else by what counts."""
    drawn = jn.build(balanced(), 2, 0.1)
    wide = jn.build(description(), 0, 0.1)
    for net, state, said in (
        (OTHER, result, "population 'E': neurons 160, here 80; .*and 5 more"),
        (wide, result, "population 'A': only here; population 'B': only here"),
        (OTHER, result.state, r"v of 'E', 'I' of shape \(200,\), here \(100,\)"),
        (OTHER, SavedState.of(result.state), r"v of 'E', 'I' of shape \(200,\)"),
        (wide, result.state, "v of 'A', 'B', 'C' of shape"),
        (drawn, result, "projection 'E->E': connections"),
        (drawn, result.state, "arrays have the shapes .* net.set makes no other network"),
    ):
        with pytest.raises(jn.InvalidValueError, match=said) as raised:
            net.read(state, "E" if net is not wide else "A", "v")
        assert raised.value.field == "state"


def test_arrays_that_are_not_those_of_a_network(result):
    check_arrays(NET, result.state)
    check_arrays(NET.set("E", tau_m=15.0), jax.eval_shape(NET.init, 0))
    for state, said in (
        (OTHER.init(0), r"v of 'E', 'I' of shape \(100,\), here \(200,\)"),
        (jax.vmap(NET.init)(np.arange(2)), "a batch of states"),
        (result.state._replace(groups=()), "no v of 'E', 'I'"),
        (jax.tree.map(lambda x: x.astype(np.int16), NET.init(0)), "int16 numbers, here"),
    ):
        with pytest.raises(jn.InvalidValueError, match=said):
            check_arrays(NET, state)


def test_what_is_read_is_that_of_the_state(result):
    np.testing.assert_array_equal(NET.read(result, "E", "v"), NET.read(result.state, "E", "v"))
    traced = jax.jit(lambda state: NET.read(state, "E", "v"))(result.state)
    np.testing.assert_array_equal(traced, NET.read(result, "E", "v"))


def test_arguments_of_a_scan():
    with pytest.raises(ValueError, match="scan: net must be a Network"):
        jn.scan(NET.init(0), NET, 10)
    with pytest.raises(ValueError, match="scan: record must be a Record"):
        jn.scan(NET, NET.init(0), 10, record={"E": "v"})
    with pytest.raises(ValueError, match="scan: inputs must"):
        jn.scan(NET, NET.init(0), 10, np.ones(10))
    with pytest.raises(ValueError, match="simulate: inputs must"):
        jn.simulate(NET, 1.0, inputs=np.ones(10))


def test_a_recording_that_does_not_fit_is_refused_before_it_is_compiled(monkeypatch):
    monkeypatch.setattr(_simulate, "available_memory", lambda: 100_000)
    monkeypatch.setattr(_simulate, "program", lambda *_: pytest.fail("compiled"))
    record = jn.Record(variables={"E": "v"})
    with pytest.raises(
        ValueError, match=r"10,000 samples of 640 B must fit .*interval 128 times longer"
    ):
        jn.simulate(NET, 1000.0, record=record)


def test_a_step_takes_a_result_and_refuses_the_state_of_another(result):
    NET.step(result)
    with pytest.raises(ValueError, match="state must be one of this network"):
        OTHER.step(result)


def test_whole_numbers_under_a_trace():
    tau = jax.jit(lambda tau: NET.set("E", tau_m=tau).groups[0].model.tau_m)(20)
    assert tau.dtype == np.float32
    assert 20.0 in tau


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (
            lambda net: jn.simulate(net, 0.3, state=jax.vmap(net.init)(np.arange(2))),
            "simulate runs one network; got a batch of states",
        ),
        (
            lambda net: jn.parallel.best_of(net, jn.parallel.Contiguous(), 2),
            "best_of: partitions must be a list",
        ),
        (
            lambda net: jn.parallel.best_of([], net, 2),
            "best_of: net must be a Network",
        ),
        (
            lambda net: jn.parallel.report("x", net, 2),
            "report: net must be a Network",
        ),
        (lambda net: jn.parallel.shard(3, net), "shard: net must be a Network"),
        (
            lambda net: jn.rewire(net.init(0), net, 1, "E->I", below=1.0, weight=1.0),
            "rewire: net must be a Network",
        ),
    ],
)
def test_wrong_arguments_are_named(use, said):
    with pytest.raises(ValueError, match=said):
        use(NET)
