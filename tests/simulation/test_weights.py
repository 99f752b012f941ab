"""Recorded weights of plastic projections, and their histograms."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._run import chunks as _plan
from jaxneuro._run.weight_recorders import _counted

NAME = "in->out"
SYNAPSE = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)
CELLS = [
    jn.Population("in", 60, jn.neurons.PoissonSource(40.0)),
    jn.Population("out", 8, jn.neurons.LIF(tau_m=10.0, c_m=100.0)),
]


def built(rule, **more):
    given = {
        "weight": jn.Uniform(0.1, 0.9),
        "delay": jn.Uniform(0.6, 3.0),
        "synapse": SYNAPSE,
        "gain": 8.0,
    }
    return jn.Projection(
        *("in", "out", jn.connectivity.FixedIndegree(20)), **given, plasticity=rule, **more
    )


STILL = jn.Projection(
    *("in", "out", jn.connectivity.FixedIndegree(1)),
    weight=0.0,
    delay=1.0,
    synapse=SYNAPSE,
    name="still",
)
RULE = jn.plasticity.TraceSTDP(a_plus=0.05, a_minus=0.06)
NET = jn.build(jn.Description(CELLS, [built(RULE, axonal=0.5), STILL]), key=1, dt=0.1)
SYNAPSES = 160
equal = np.testing.assert_array_equal
RECORD = jn.Record(
    weights={NAME: ...}, weight_histograms={NAME: 7}, variables={"out": "v"}, interval=2.0
)


@pytest.fixture(scope="module")
def run():
    return jn.simulate(NET, 100.0, record=RECORD)


def same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        equal(x, y)


def test_samples_are_the_weights_of_that_time(run):
    recorded = run.weights[NAME]
    assert recorded.shape == (50, SYNAPSES)
    assert len(np.unique(recorded[:, :20], axis=0)) > 10, "weights should have changed"
    same(recorded[-1], NET.weights(run.state, NAME))
    same(recorded[-1], NET.connections(NAME, run.state).weight)
    assert (run.synapses, run.history(NAME)["weights"] is recorded) == ({}, True)


def test_histograms_count_the_weights(run):
    counts, edges = run.weight_histograms[NAME], run.weight_edges[NAME]
    assert (counts.shape, counts.dtype) == ((50, 7), np.int32)
    np.testing.assert_allclose(edges, np.linspace(0.0, 1.0, 8), rtol=1e-6)
    for weights, count in zip(run.weights[NAME], counts):
        same(count, np.histogram(weights, edges)[0])
    same(run.history(NAME)["weight histogram"], counts)


def test_weights_on_edges_and_outside():
    edges = np.linspace(0.1, 0.7, 51, dtype=np.float32)
    near = (np.nextafter(edges, np.float32(x)) for x in (-1.0, 2.0))
    w = np.concatenate([edges, *near, np.array([-1e38, 0.0, 0.7, 3.0, 1e38], np.float32)])
    inner = np.concatenate([[-np.inf], edges[1:-1], [np.inf]])
    equal(jax.jit(_counted)(w, edges), np.histogram(w, inner)[0])


def test_parts_give_what_the_whole_gives(run, monkeypatch):
    half = jn.simulate(NET, 50.0, record=RECORD)
    rest = jn.simulate(NET, 50.0, record=RECORD, state=half.state)
    monkeypatch.setattr(_plan, "_SAMPLE_BYTES", 25 * 4 * (SYNAPSES + 7 + 8) + 25)
    chunked = jn.simulate(NET, 100.0, record=RECORD)
    same(chunked.state, run.state)
    for kept in ("weights", "weight_histograms", "traces"):
        a, b, c, d = (getattr(x, kept) for x in (half, rest, chunked, run))
        same(c, d)
        same(jax.tree.map(lambda *x: np.concatenate(x), a, b), d)


def test_recording_does_not_change_the_run(run):
    bare = jn.simulate(NET, 100.0)
    same(bare.state, run.state)
    same(bare.spikes, run.spikes)
    assert bare.events("out")[0].size > 20


@pytest.mark.slow
def test_chosen_synapses_and_given_bins(run):
    record = jn.Record(
        weights={NAME: [7, 159, 3]}, weight_histograms={NAME: (4, 0.25, 0.5)}, interval=2.0
    )
    assert hash(record) == hash(jn.Record(**{k: getattr(record, k) for k in vars(record)}))
    some = jn.simulate(NET, 50.0, record=record)
    equal(some.synapses[NAME], [7, 159, 3])
    same(some.weights[NAME], run.weights[NAME][:25, [7, 159, 3]])
    same(some.weight_edges[NAME], np.linspace(0.25, 0.5, 5, dtype=np.float32))
    inner = [np.histogram(w, [-9, 0.3125, 0.375, 0.4375, 9])[0] for w in run.weights[NAME][:25]]
    equal(some.weight_histograms[NAME], inner)
    short = jn.simulate(NET, 1.0, record=record)
    assert short.weights[NAME].shape == (0, 3)
    assert short.weight_histograms[NAME].shape == (0, 4)


@pytest.mark.slow
def test_a_limit_that_is_traced():
    record = jn.Record(spikes=False, weight_histograms={NAME: 7}, interval=2.0)
    state = NET.init(0)

    @jax.jit
    @jax.vmap
    def counts(w_max):
        net = NET.set(NAME, w_max=w_max)
        return jn.scan(net, state, 20, record=record)[1].weight_histograms[NAME]

    tops = np.array([0.5, 1.0, 2.0], np.float32)
    weights = NET.connections(NAME).weight  # within 20 steps hardly one has changed
    for top, got in zip(tops, counts(tops)):
        want = np.histogram(np.minimum(weights, top), np.linspace(0.0, top, 8))[0]
        assert np.abs(got[0] - want).sum() <= 10


CHOICES = {
    "slice": (slice(150, None, 4), [150, 154, 158]),
    "mask": (np.arange(SYNAPSES) % 100 == 9, [9, 109]),
    "one": (5, [5]),
}


@pytest.mark.parametrize(("given", "numbers"), CHOICES.values(), ids=CHOICES.keys())
def test_which_synapses(given, numbers):
    record = jn.Record(weights={NAME: given}, interval=10.0)
    equal(jn.simulate(NET, 0.0, record=record).synapses[NAME], numbers)
    state = NET.init(0)
    assert record.sample_bytes(NET, state) == 4 * len(numbers)
    both = jn.Record(weights={NAME: ...}, weight_histograms={NAME: 50})
    assert both.sample_bytes(NET, state) == 4 * (SYNAPSES + 50)


@pytest.mark.slow
def test_a_sample_visits_the_synapses_once(monkeypatch):
    """For chosen weights and a histogram of one projection."""
    visits, weights = [], jn.Network.weights
    counting = lambda net, *given: visits.append(1) or weights(net, *given)  # noqa: E731
    monkeypatch.setattr(jn.Network, "weights", counting)
    record = jn.Record(weights={NAME: [0]}, weight_histograms={NAME: 5})
    record.sample(NET, NET.init(0), None)
    assert len(visits) == 1


def test_files(run, tmp_path):
    path = tmp_path / "run.npz"
    run.save(path)
    loaded = jn.Result.load(path)
    for kept in ("weights", "synapses", "weight_histograms", "weight_edges"):
        same(getattr(loaded, kept), getattr(run, kept))


def test_tables(run):
    table = run.weights_to_pandas(NAME)
    assert (table.index.name, table.columns.name, table.shape) == ("time_ms", "synapse", (50, 160))
    same(table[17], run.weights[NAME][:, 17])
    with pytest.raises(ValueError, match="no projection with recorded weights named 'in'"):
        run.weights_to_pandas("in")
    (signal,) = [x for x in run.to_neo().analogsignals if x.name == f"{NAME} weight"]
    same(signal.magnitude, run.weights[NAME])
    same(signal.array_annotations["synapse"], np.arange(SYNAPSES))


WRONG_BINS = {
    "zero bins": 0,
    "half a bin": 1.5,
    "two": (5, 1.0),
    "reversed": (5, 1, 0),
    "infinite": (5, 0, np.inf),
    "text": (5, "a", 1),
}


@pytest.mark.parametrize("given", WRONG_BINS.values(), ids=WRONG_BINS)
def test_what_are_no_bins(given):
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.Record(weight_histograms={NAME: given})
    assert (caught.value.owner, caught.value.field) == ("Record", "weight_histograms")


@pytest.mark.parametrize("given", [[2, 2], []])
def test_what_are_no_synapses(given):
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.Record(weights={NAME: given})
    assert caught.value.field == "weights"


UNFIT = {
    "unknown": ({"weights": {"in->ut": ...}}, "no projection named 'in->ut'; did you mean"),
    "not plastic": ({"weights": {"still": ...}}, "projection 'still': plasticity must"),
    "population": ({"weight_histograms": {"in": 3}}, "no projection named 'in'"),
    "beyond": ({"weights": {NAME: [160]}}, "must be below 160, its size; got 160"),
    "mask": ({"weights": {NAME: [True, False]}}, "one boolean per synapse, 160 of them; got 2"),
    "empty": ({"weights": {NAME: slice(200, 300)}}, r"give \.\.\. to record all"),
}


@pytest.mark.parametrize(("values", "said"), UNFIT.values(), ids=UNFIT.keys())
@pytest.mark.parametrize("ms", [0.1, 1.0])
def test_what_does_not_fit_the_network(values, said, ms):
    with pytest.raises(ValueError, match=said):
        jn.simulate(NET, ms, record=jn.Record(interval=0.5, **values))


def test_start_weights_of_a_rule_that_clips_by_itself():
    low = jn.plasticity.Normalized(jn.plasticity.TraceSTDP(w_max=0.5), total=3.0)
    with pytest.raises(ValueError, match=r"the bounds of Normalized, 0 to 0\.5; got 0\.1"):
        jn.build(jn.Description(CELLS, [built(low)]), key=1, dt=0.1)


class Dividing(jn.Plasticity):
    """A rule that divides by the weight."""

    def on_pre(self, synapse, pre, post):
        return {"weight": synapse.weight * synapse.weight / synapse.weight}


@pytest.mark.slow
def test_weights_that_turn_to_nan_are_named():
    weights = np.full((60, 8), 0.5)
    weights[2, 1] = weights[2, 7] = weights[40, 0] = 0.0
    given = {"weight": weights, "delay": 1.0, "synapse": SYNAPSE, "plasticity": Dividing()}
    wire = jn.Projection("in", "out", jn.connectivity.AllToAll(), **given)
    often = jn.Population("in", 60, jn.neurons.PoissonSource(2000.0))
    net = jn.build(jn.Description([often, CELLS[1]], [wire]), key=1, dt=0.1)
    said = "weight of projection 'in->out' is nan in 3 synapses, the first is synapse 17: it turned"
    with pytest.raises(jn.NonFiniteError, match="^" + said) as caught:
        jn.simulate(net, 20.0)
    assert caught.value.result.events("in")[0].size > 100


def test_a_rule_without_a_limit():
    net = jn.build(jn.Description(CELLS, [built(jn.plasticity.PowerLawSTDP())]), key=1, dt=0.1)
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.simulate(net, 1.0, record=jn.Record(weight_histograms={NAME: 9}))
    assert caught.value.field == f"weight_histograms of {NAME!r}"
    given = jn.Record(weight_histograms={NAME: (9, 0.0, 2.0)})
    given.check(net, net.init(0))
