"""Recordings of batches: indexing, iteration, and each run as `simulate` makes it."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn

SYNAPSE = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)
CELLS = [
    jn.Population("in", 12, jn.neurons.PoissonSource(200.0)),
    jn.Population("out", 5, jn.neurons.LIF(tau_m=10.0, c_m=100.0)),
]
WIRES = [
    jn.Projection(
        *("in", "out", jn.connectivity.FixedIndegree(6)),
        weight=jn.Uniform(0.1, 0.9),
        delay=0.5,
        synapse=SYNAPSE,
        gain=20.0,
        plasticity=jn.plasticity.TraceSTDP(a_plus=0.05, a_minus=0.06),
    ),
    jn.Projection(
        *("in", "out", jn.connectivity.FixedIndegree(2)),
        weight=1.0,
        delay=0.5,
        synapse=SYNAPSE,
        name="more",
    ),
]
NET = jn.build(jn.Description(CELLS, WIRES), 1, 0.1)
NAME = "in->out"


def sampled(state, output):
    return {"active": output.spikes["in"].sum(), "pair": (state.step, jnp.float32(0.5))}


RECORD = jn.Record(
    variables={"out": "v", "more": "g"},
    neurons={"out": [3, 1]},
    interval=0.5,
    rates=True,
    function=sampled,
    means={"out": "v"},
    lfp="out",
    statistics=...,
    weights={NAME: [5, 2, 7]},
    weight_histograms={NAME: 4},
)
STEPS = 200
KEYS = np.arange(6, dtype=np.uint32).reshape(2, 3)
FIELDS = (
    *("traces", "means", "lfp", "weights", "weight_histograms", "weight_edges", "function"),
    *("counts", "statistics", "sample_times", "neurons", "synapses", "shared"),
    *("dt", "layout", "first_step", "n_steps", "interval", "key", "interrupted", "until_held"),
)


@jax.jit
def scanned(net, keys):
    one = lambda key: jn.scan(net, net.init(key), STEPS, None, RECORD)[1]  # noqa: E731
    return jax.vmap(jax.vmap(one))(keys)


@pytest.fixture(scope="module")
def nested():
    with pytest.warns(match="more"):  # the receptor of both projections
        return scanned(NET, KEYS)


@pytest.fixture(scope="module")
def batch(nested):
    return nested[1]


@pytest.fixture(scope="module")
def alone():
    """What `simulate` makes of the keys of `batch`: with the network as an argument, all bits."""
    return [jn.simulate(NET, STEPS / 10, key=int(k), record=RECORD) for k in KEYS[1]]


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert getattr(x, "dtype", type(x)) == getattr(y, "dtype", type(y))
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def same_result(a, b):
    for field in FIELDS:
        same(plain(getattr(a, field)), plain(getattr(b, field)))
    assert a.spikes.keys() == b.spikes.keys()
    for name in a.spikes:
        x, y = a.spikes[name], b.spikes[name]
        same((x.times, x.neurons), (y.times, y.neurons))
        assert (x.n, x.start, x.stop) == (y.n, y.start, y.stop)


def plain(x):
    """Dictionaries of any kind as dictionaries, which JAX compares by their class."""
    return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else x


def seeds(recording):
    return np.asarray(recording.key).tolist()


@pytest.mark.slow
def test_shapes(nested, batch):
    assert (nested.batch, batch.batch, batch[0].batch) == ((2, 3), (3,), ())
    assert (len(nested), len(batch)) == (2, 3)
    assert nested.traces["out"]["v"].shape == (2, 3, 40, 2)
    assert nested.counts["in"].shape == (2, 3, STEPS)
    assert batch.spikes.dense("out").shape == (3, STEPS, 5)
    assert "2 x 3 runs" in repr(nested)


MASK = np.array([True, False, True])


@pytest.mark.slow(but=["0-3"])
@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, 3),
        (-1, 5),
        (np.int64(1), 4),
        (jnp.int32(1), 4),
        (slice(1, None), [4, 5]),
        (slice(None, None, -1), [5, 4, 3]),
        ([2, 0], [5, 3]),
        (np.array([-1]), [5]),
        (MASK, [3, 5]),
        (~MASK, [4]),
        (MASK & False, []),
        (..., [3, 4, 5]),
    ],
    ids=str,
)
def test_indices(batch, index, expected):
    assert seeds(batch[index]) == expected
    counts = np.asarray(batch.counts["in"])[np.asarray(expected, int) - 3]
    np.testing.assert_array_equal(batch[index].counts["in"], counts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((0, 1), 1),
        ((-1, -3), 3),
        ((1, slice(None, 2)), [3, 4]),
        ((slice(None), 2), [2, 5]),
        ((..., 0), [0, 3]),
        (np.array([[False, True, False], [True, False, True]]), [1, 3, 5]),
        (([1, 0], [2, 1]), [5, 1]),
    ],
    ids=str,
)
def test_indices_of_two_axes(nested, index, expected):
    part = nested[index]
    assert seeds(part) == expected
    assert part.traces["out"]["v"].shape == (*np.shape(expected), 40, 2)


@pytest.mark.parametrize("index", [3, -4, (0, 0), [0, 3], np.ones(4, bool)], ids=str)
def test_runs_that_there_are_not(batch, index):
    with pytest.raises(IndexError):
        batch[index]


def test_a_traced_index(batch):
    found = jax.jit(lambda r, k: r[k])(batch, 2)
    same(found.counts, batch[2].counts)


def test_iteration(nested, batch):
    assert [seeds(run) for run in batch] == [3, 4, 5]
    assert [seeds(run) for part in nested for run in part] == list(range(6))


def test_each_run_is_that_of_simulate(batch, alone):
    for run, expected in zip(batch, alone, strict=True):
        found = run.result(NET)
        same_result(found, expected)
        assert found.events("out")[0].size > 3
        assert (found.network, run.result().network) == (NET, None)


@pytest.mark.parametrize("field", ["statistics", "traces", "counts", "lfp", "weights", "means"])
def test_a_name_that_was_not_recorded(field, batch):
    """The error says what was, also of what came out of a program."""
    for run in (batch, batch[0]):
        with pytest.raises(ValueError, match=r"nobody.*jn\.Record"):
            getattr(run, field)["nobody"]
        with pytest.raises(ValueError, match=r"'out'.*jn\.Record"):
            run.traces["out"]["u"]


def test_files_and_copies(batch, alone, tmp_path):
    found = batch[1].result()
    found.save(tmp_path / "run.npz")
    loaded = jn.Result.load(tmp_path / "run.npz")
    assert loaded.state is None
    same_result(loaded, alone[1])
    with pytest.raises(jn.InvalidValueError):
        jn.simulate(NET, 1.0, state=loaded)
    for kept in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        same_result(kept, alone[1])
    for kept in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
        same_result(kept[1].result(), alone[1])
    again = pickle.loads(pickle.dumps(alone[1]))
    same_result(again, alone[1])
    same(again.state, alone[1].state)
    with pytest.raises(KeyError):
        again.traces["in"]


def test_one_run_is_no_batch(nested, batch):
    for recording, use in (
        (batch[0], lambda r: r[0]),
        (batch[0], len),
        (batch[0], list),
        (batch, lambda r: r.result()),
        (nested, lambda r: r.result()),
        (batch, lambda r: r.spikes.events("out")),
        (batch, lambda r: r.spikes["out"]),
    ):
        with pytest.raises(jn.InvalidValueError):
            use(recording)


@pytest.mark.parametrize(
    "use", [lambda r: r.result(), lambda r: r.spikes.events("out"), lambda r: r.spikes["out"]]
)
def test_a_traced_one(use, batch):
    with pytest.raises(ValueError, match="traced"):
        jax.eval_shape(lambda run: use(run) and None, batch[0])


@pytest.mark.slow
def test_a_gradient_through_counts():
    """Of a batch whose recording is indexed inside: that of the runs one by one."""
    soft = jn.neurons.LIF(tau_m=10.0, c_m=100.0, surrogate=jn.surrogates.FastSigmoid())
    drive = jn.Stimulation("E", jn.stimuli.Current(400.0))
    net = jn.build(jn.Description([jn.Population("E", 3, soft)], [], [drive]), 0, 0.1)
    record = jn.Record(rates=True, statistics="E")

    def one(gain):
        changed = net.set("E", tau_m=10.0 * gain)
        return jn.scan(changed, changed.init(0), STEPS, None, record)[1]

    gains = np.array([0.9, 1.0, 1.2], np.float32)
    loss = lambda gains: jax.vmap(one)(gains)[1:].counts["E"].sum()  # noqa: E731
    slopes = jax.jit(jax.grad(loss))(gains)
    assert slopes[0] == 0.0
    each = jax.jit(jax.grad(lambda gain: one(gain).counts["E"].sum()))
    np.testing.assert_allclose(slopes[1:], [each(g) for g in gains[1:]], rtol=1e-5)
    assert (slopes[1:] != 0.0).all()
