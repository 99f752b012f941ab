"""The chunks of a run, and that durations and rebuilt networks share their compiled programs."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxneuro as jn
from jaxneuro._kernels.native import native_available
from jaxneuro._run import chunks as _plan
from tests.network.networks import balanced


@pytest.mark.slow
def test_chunks_are_bounded():
    for n, every, sample, inputs in ((4000, 1, 0, 0), (77_169, 10, 1e6, 0), (10**7, 1, 0, 4e7)):
        for gpu in (False, True):
            sizes = _plan.ChunkSizes(n, sample, inputs, gpu=gpu)
            size = _plan.chunk_steps(sizes, every)
            assert size % every == 0
            assert size == every or size * n / 8 <= 64e6
            assert size == every or size / every * sample <= 4e6
            assert size == every or size * inputs <= 16e6


@given(
    st.integers(0, 400), st.integers(0, 50), st.integers(1, 9), st.integers(1, 60), st.booleans()
)
@settings(max_examples=200, deadline=None)
def test_chunks_make_up_the_run(n_steps, first, every, full, known):
    record = jn.Record(variables={"E": "v"}, interval=every * 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_plan, "chunk_steps", lambda sizes, every: full * every)
        parts = _plan.plan(n_steps, first, record, _plan.ChunkSizes(1), 0.1, 1, known)
    assert sum(part.steps for part in parts) == n_steps
    assert all(part.steps <= part.room for part in parts)
    assert not known or all(part.steps == part.room for part in parts if n_steps)
    between = functools.partial(jn.Record.steps_between, dt=0.1)
    at, samples = first, []
    for part in parts:
        if part.record.has_samples:
            assert part.steps % between(part.record) == part.room % between(part.record) == 0
            samples += range(at + between(part.record), at + part.steps + 1, between(part.record))
        at += part.steps
    assert samples == [k for k in range(first + 1, first + n_steps + 1) if k % every == 0]


def test_every_duration_has_one_program():
    net = jn.build(balanced(), 3, 0.1).set("E->E", gain=0.7)
    first = jn.simulate(net, 3.1)
    assert all(jn.simulate(net, ms, state=first).compile_s == 0.0 for ms in (0.1, 17.0, 400.0))


def test_a_second_run_compiles_nothing():
    made = balanced(weight=5.0)
    jn.simulate(jn.build(made, 1, 0.1), 12.3)
    again = jn.simulate(jn.build(made, 1, 0.1).set("E->E", gain=2.0), 12.3, key=9)
    assert again.compile_s == 0.0


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="kernels in jnp know the lengths")
def test_a_rebuilt_network_finds_its_program():
    delay = jn.Uniform(0.5, 8.0)
    first = jn.simulate(jn.build(balanced(400, 0.11, delay=delay), 1, 0.1), 5.0)
    for p, key in ((0.11, 2), (0.15, 1), (0.2, 3)):
        net = jn.build(balanced(400, p, delay=delay), key, 0.1)
        assert net.n_synapses != first.network.n_synapses
        assert jn.simulate(net, 5.0).compile_s == 0.0


def test_a_function_is_known_by_identity():
    """One function compiles once; one that is written anew compiles each time, and is told of."""
    net = jn.build(jn.Description([jn.Population("E", 3, jn.neurons.LIF())]), 0, 0.1)
    functions = [lambda state, output: state.step for _ in range(3)]
    records = [jn.Record(function=f) for f in functions]
    assert jn.simulate(net, 1.0, record=records[0]).compile_s > 0
    assert jn.simulate(net, 1.0, record=jn.Record(function=functions[0])).compile_s == 0
    assert jn.simulate(net, 1.0, record=records[1]).compile_s > 0
    with pytest.warns(UserWarning, match="written anew 3 times"):
        jn.simulate(net, 1.0, record=records[2])
