"""Pytrees in files, and loops whose state is on the disk."""

import pickle
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxneuro as jn
from jaxneuro import assemblies as ac
from jaxneuro._disk.folder import RunFolder
from jaxneuro._disk.values import write_values
from jaxneuro.checkpoint import _files, _repeat
from tests.refusing import assert_refused
from tests.simulation.test_files import NET, same

TREE = {"w": jnp.arange(3.0), "half": jnp.ones((2, 2), jnp.bfloat16), "key": jax.random.key(7)}
HOST = {"counts": np.arange(4), "n": 3, "rate": 0.5, "on": True}


def plainly(tree):
    is_key = lambda x: isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)  # noqa: E731
    return jax.tree.map(lambda x: jax.random.key_data(x) if is_key(x) else x, tree)


@pytest.mark.slow
def test_a_round_trip_is_exact(tmp_path):
    state = jn.simulate(NET, 3.0).state
    adam = optax.adam(1e-3).init(TREE["w"])
    jn.checkpoint.save(tmp_path / "a.npz", state, file=TREE, host=HOST, adam=adam)
    found = jn.checkpoint.load(tmp_path / "a.npz", NET, file=TREE, host=HOST, adam=adam)
    same(plainly(found), plainly((state, TREE, HOST, adam)))
    same(jn.checkpoint.load(tmp_path / "a.npz", state), state)
    on, more = (jn.simulate(NET, 3.0, state=x) for x in (state, found[0]))
    same(on.state, more.state)
    assert [x.name for x in tmp_path.iterdir()] == ["a.npz"]


def test_arrays_lie_where_those_of_the_given_tree_do(tmp_path):
    devices = jax.devices()[:2]
    where = jax.sharding.NamedSharding(
        jax.sharding.Mesh(np.array(devices), ("x",)), jax.sharding.PartitionSpec("x")
    )
    x = jax.device_put(jnp.arange(8.0), where)
    jn.checkpoint.save(tmp_path / "a.npz", {"x": x})
    assert jn.checkpoint.load(tmp_path / "a.npz", {"x": x})["x"].sharding == where
    assert len(jn.checkpoint.load(tmp_path / "a.npz", {"x": jnp.zeros(8)})["x"].devices()) == 1


@pytest.mark.parametrize(
    ("like", "field", "got"),
    [
        ({"w": jnp.zeros(4)}, "state['w']", "float32 of shape (3,)"),
        ({"w": jnp.zeros(3, int)}, "state['w']", "float32 of shape (3,)"),
        ({"w": jnp.zeros(3), "v": 1}, "state['v']", "nothing"),
        ({}, "state['w']", "float32 of shape (3,)"),
        (NET, "state.step", "nothing"),
    ],
)
def test_another_tree_is_refused(like, tmp_path, field, got):
    jn.checkpoint.save(tmp_path / "a.npz", {"w": jnp.zeros(3)})
    assert_refused(lambda: jn.checkpoint.load(tmp_path / "a.npz", like), "load", field, got)


def test_what_no_file_holds_and_what_is_no_file(tmp_path):
    path = tmp_path / "a.npz"
    for bad in ("text", object(), {"x": np.array([None])}):
        with pytest.raises(jn.InvalidValueError, match="must be an array, a number or a JAX key"):
            jn.checkpoint.save(path, bad)
    with pytest.raises(FileNotFoundError):
        jn.checkpoint.load(path, 1)
    jn.checkpoint.save(path, {"w": 1.0})
    with pytest.raises(jn.InvalidValueError, match="no saved tree named 'v'"):
        jn.checkpoint.load(path, {"w": 1.0}, v=1.0)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(jn.InvalidValueError, match="must be a whole file"):
        jn.checkpoint.load(path, {"w": 1.0})
    jn.simulate(NET, 0.1).save(path)
    with pytest.raises(jn.InvalidValueError, match=r"must be one that jn\.checkpoint\.save wrote"):
        jn.checkpoint.load(path, {"w": 1.0})


@pytest.mark.parametrize(
    "arrays",
    [
        {"": 3},
        {".fingerprint": np.zeros(2, np.uint32), ".step": 3},
        {".step": np.zeros(2)},
        3,
    ],
    ids=["a number", "a step that is none", "several steps", "no tree"],
)
def test_what_a_forged_file_holds_is_no_state(arrays, tmp_path):
    write_values(tmp_path / "state.npz", _files._FILE, {"state": arrays})
    for like in (3, NET, NET.init(0)):
        with pytest.raises(jn.InvalidValueError, match="state"):
            jn.checkpoint.load(tmp_path / "state.npz", like)


def test_a_name_that_is_no_text_is_refused():
    forged = {".fingerprint": np.zeros(2, np.uint32), ".step": np.array(3), 4: np.zeros(2)}
    with pytest.raises(jn.InvalidValueError, match="state4 must be an array"):
        _files.tree_like("state", NET, forged)


@pytest.mark.slow
def test_a_batch_has_the_bits_of_one_run(tmp_path):
    states = jax.vmap(NET.init)(jnp.arange(3))
    record = jn.Record(variables={"E": "v"}, interval=0.5, rates=True, statistics="E")
    runs = jax.jit(jax.vmap(lambda s: jn.scan(NET, s, 50, record=record)))
    step = lambda s, k: runs(s)  # noqa: E731
    about = {"net": NET, "record": record}
    for times in (2, 6):
        state, seen = jn.checkpoint.repeat(
            step, states, times, save=tmp_path, every=4, about=about, progress=False
        )
    whole = jax.jit(jax.vmap(lambda s: jn.scan(NET, s, 300, record=record)))(states)
    same(jax.tree.map(np.asarray, state), jax.tree.map(np.asarray, whole[0]))
    host = lambda x: jax.tree.leaves(jax.tree.map(np.asarray, x))  # noqa: E731
    one = seen.in_time()
    same(host(one), host(whole[1]))
    same(host(seen[:, 1].in_time()), host(one[1]))
    np.testing.assert_array_equal(
        jn.analysis.neuron_rates(one, "E"), jn.analysis.neuron_rates(whole[1], "E")
    )
    again, _ = jn.checkpoint.repeat(
        step, states, 6, save=tmp_path, every=4, about=about, progress=False
    )
    same(jax.tree.map(np.asarray, again), jax.tree.map(np.asarray, state))
    others = {
        "population 'E': v_th": {**about, "net": NET.set("E", v_th=-49.0)},
        "record: it was given": {"net": NET},
        "rate: it is new": {**about, "rate": 1.0},
    }
    for message, other in others.items():
        with pytest.raises(jn.InvalidValueError, match=message):
            jn.checkpoint.repeat(step, states, 6, save=tmp_path, about=other, progress=False)
    with pytest.raises(jn.InvalidValueError, match="it starts from another one"):
        jn.checkpoint.repeat(
            step, jax.vmap(NET.init)(jnp.arange(1, 4)), 6, save=tmp_path, about=about
        )
    with pytest.raises(jn.InvalidValueError, match="times must be 6 or more"):
        jn.checkpoint.repeat(step, states, 5, save=tmp_path, about=about, progress=False)
    with pytest.raises(jn.InvalidValueError, match="of runs that follow each other"):
        whole[1].in_time()


def test_training_goes_on_after_an_error_where_it_was(tmp_path):
    rule, target = optax.sgd(0.1, momentum=0.9), jnp.array([1.0, -2.0])
    loss = lambda w: jnp.sum((w - target) ** 2)  # noqa: E731

    def step(state, k, broken=None):
        if k == broken:
            raise KeyboardInterrupt
        w, optimiser = state
        value, slope = jax.value_and_grad(loss)(w)
        change, optimiser = rule.update(slope, optimiser)
        return (optax.apply_updates(w, change), optimiser), {"loss": value, "k": int(k)}

    begin = jnp.zeros(2), rule.init(jnp.zeros(2))
    with pytest.raises(KeyboardInterrupt):
        jn.checkpoint.repeat(lambda s, k: step(s, k, 13), begin, 20, save=tmp_path, every=5)
    called = []
    state, seen = jn.checkpoint.repeat(
        lambda s, k: called.append(k) or step(s, k), begin, 20, save=tmp_path, every=5
    )
    assert called == list(range(13, 20))
    expected, losses = begin, []
    for k in range(20):
        expected, out = step(expected, k)
        losses.append(out["loss"])
    same(state, expected)
    np.testing.assert_array_equal(seen["loss"], losses)
    np.testing.assert_array_equal(seen["k"], np.arange(20))


@pytest.mark.slow
def test_the_state_of_a_brain_is_loaded_by_its_brain(tmp_path):
    brain = ac.Brain(
        [ac.Area("A", n=50, k=5)], [ac.Stimulus("S", size=20)], [ac.Fibre("S", "A")], p=0.2
    )
    state = ac.run(brain, brain.init(key=1), brain.active("S->A"), rounds=2)[0]
    jn.checkpoint.save(tmp_path / "a.npz", state, brain=brain, other=TREE)
    found, same_brain, other = jn.checkpoint.load(
        tmp_path / "a.npz", brain, brain=brain, other=TREE
    )
    same((found, same_brain), (state, brain))
    same(plainly(other), plainly(TREE))
    assert found.origin == brain.origin
    larger = ac.Brain(
        [ac.Area("A", n=60, k=5)], [ac.Stimulus("S", size=20)], [ac.Fibre("S", "A")], p=0.2
    )
    with pytest.raises(jn.InvalidValueError, match=r"state\.areas\[0\].*\(60,"):
        jn.checkpoint.load(tmp_path / "a.npz", larger)


def test_an_assembly_brain(tmp_path):
    areas = [ac.Area("A", n=400, k=20)]
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    brain = ac.Brain(areas, [ac.Stimulus("S", size=20)], fibres, p=0.1, beta=0.1)
    active = brain.active("S->A", "A->A")
    step = lambda state, k: ac.run(brain, state, active, rounds=4)  # noqa: E731
    for times in (2, 5):
        state, seen = jn.checkpoint.repeat(step, brain.init(key=1), times, save=tmp_path, every=2)
    one, whole = ac.run(brain, brain.init(key=1), active, rounds=20)
    same(jax.tree.map(np.asarray, state), jax.tree.map(np.asarray, one))
    np.testing.assert_array_equal(np.asarray(seen.support).reshape(20, -1), whole.support)


def test_names_of_any_characters_and_ctrl_c_while_handing_over(tmp_path, monkeypatch):
    calls, whole = [], RunFolder.write_meanwhile

    def stop(self, *given):
        whole(self, *given)
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    step = lambda x, k: (x + 1, {"a/b": x, "%": 2 * x})  # noqa: E731
    monkeypatch.setattr(RunFolder, "write_meanwhile", stop)
    with pytest.raises(KeyboardInterrupt):
        jn.checkpoint.repeat(step, np.int64(0), 9, save=tmp_path, every=2)
    state, seen = jn.checkpoint.repeat(step, np.int64(0), 9, save=tmp_path, every=2)
    assert state == 9
    np.testing.assert_array_equal(seen["a/b"], np.arange(9))
    np.testing.assert_array_equal(seen["%"], 2 * np.arange(9))


class Seen(NamedTuple):
    x: object
    more: object


@pytest.mark.parametrize(
    "out", [lambda s: s, lambda s: {"x": [s, None], "y": (2 * s,)}, lambda s: None], ids="xyn"
)
def test_a_finished_loop_is_read_without_a_call(tmp_path, out):
    def step(state, k):
        assert isinstance(state, np.ndarray)  # not traced
        called.append(k)
        return state + 1.0, out(state)

    called, begin = [], np.zeros(2)
    for times, calls in ((3, 3), (3, 3), (5, 5), (5, 5)):
        state, seen = jn.checkpoint.repeat(step, begin, times, save=tmp_path, every=2)
        assert called == list(range(calls))
        same(state, begin + times)
        expected = [out(begin + k) for k in range(times)]
        whole = jax.tree.map(lambda *x: np.stack(x), *expected)
        same(jax.tree.map(np.asarray, seen), whole)


def test_classes_of_a_finished_loop_are_traced_or_come_as_a_dict(tmp_path):
    free = lambda s, k: (s + 1.0, Seen(s, [s]))  # noqa: E731
    bound = lambda s, k: (s + 1.0, Seen(s, [float(s)]))  # noqa: E731
    for name, step in (("free", free), ("bound", bound)):
        for _ in range(2):
            _, seen = jn.checkpoint.repeat(step, np.float64(1), 3, save=tmp_path / name)
        x = seen.x if name == "free" else seen[".x"]
        np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("step", "field"),
    [
        (lambda s, k: (jnp.float32(s), s), "state"),
        (lambda s, k: ({"a": s}, s), "state"),
        (lambda s, k: (s, np.zeros(k)), "out"),
        (lambda s, k: (s, {f"a{k}": s}), "out['a0']"),
        (lambda s, k: (s, "text"), "out"),
        (lambda s, k: s, "what step returns"),
    ],
    ids=range(6),
)
def test_calls_that_return_something_else_are_refused(tmp_path, step, field):
    with pytest.raises(jn.InvalidValueError) as refused:
        jn.checkpoint.repeat(step, 0.5, 3, save=tmp_path, every=2)
    assert (refused.value.owner, refused.value.field) == ("repeat", field)


def test_a_state_may_be_donated(tmp_path):
    step = jax.jit(lambda s: (s + 1.0, s.sum()), donate_argnums=0)
    state, seen = jn.checkpoint.repeat(lambda s, k: step(s), jnp.ones(3), 6, save=tmp_path)
    np.testing.assert_array_equal(state, [7.0] * 3)
    np.testing.assert_array_equal(seen, 3.0 * np.arange(1, 7))
    both = jax.jit(lambda s: s + 1.0, donate_argnums=0)
    step = lambda s, k: 2 * (both(s),)  # noqa: E731 - the state is what is seen, too
    _, seen = jn.checkpoint.repeat(step, jnp.zeros(3), 6, save=tmp_path / "b", every=4)
    np.testing.assert_array_equal(seen[:, 1], np.arange(1, 7))


def test_a_step_may_work_in_place(tmp_path):
    out = np.zeros(2)

    def step(state, k):
        state += 1.0
        out[:] = k
        return state, out

    folder = RunFolder("repeat", tmp_path, _repeat._LOOP)
    state, seen = jn.checkpoint.repeat(step, np.zeros(50_000), 7, save=tmp_path, every=2)
    assert state[0] == 7.0
    np.testing.assert_array_equal(seen[:, 0], np.arange(7))
    assert list(seen)[3].tolist() == [3.0, 3.0]
    (tmp_path / "state-000004.npz").unlink()
    assert np.unique(folder.last()[1]["state"][""]).tolist() == [6.0]
    pickle.loads(pickle.dumps(seen))
