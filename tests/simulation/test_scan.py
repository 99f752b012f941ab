"""`scan`: split runs, batches, recordings, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._run import scan as scan_file
from jaxneuro._run.spikes import SpikeBits
from tests.network.networks import balanced
from tests.refusing import assert_refused

MADE = balanced(delay=jn.Uniform(0.5, 8.0), weight=jn.Uniform(3.0, 9.0))
NET = jn.build(MADE, 1, 0.1)
RECORD = jn.Record(variables={"E": "v", "E->I": "g"}, rates=True)
run = jax.jit(jn.scan, static_argnums=(2, 4))


def same_bits(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def over_time(recording):
    """The arrays of a recording whose first axis are steps or samples."""
    names = ("traces", "counts", "function", "means", "lfp", "weights", "weight_histograms")
    return recording.spikes.bits, {name: getattr(recording, name) for name in names}


def join(first, second):
    """The arrays of two recordings as those of one."""
    return jax.tree.map(lambda *x: np.concatenate(x), over_time(first), over_time(second))


@pytest.mark.slow
def test_two_scans_of_500_are_one_of_1000():
    state = NET.init(0)
    end, whole = run(NET, state, 1000, None, RECORD)
    middle, first = run(NET, state, 500, None, RECORD)
    in_flight = sum(int((np.asarray(r) != 0).sum()) for r in (g.ring for g in middle.groups))
    assert in_flight > 100
    last, second = run(NET, middle, 500, None, RECORD)
    same_bits(last, end)
    same_bits(join(first, second), over_time(whole))
    assert int(second.spikes.first_step) == 500
    assert np.asarray(whole.spikes.dense("E")).sum() > 500


@pytest.mark.parametrize("parts", [(1, *[100] * 4, *[1] * 99), (63, 100, 137, 100, 100)])
def test_any_split(parts):
    assert sum(parts) == 500
    end, _ = run(NET, NET.init(0), 500, None, RECORD)
    state = NET.init(0)
    for n_steps in parts:
        state, _ = run(NET, state, n_steps, None, RECORD)
    same_bits(state, end)


@pytest.mark.slow(but=["steps"])
@pytest.mark.parametrize("record", [jn.Record(), RECORD], ids=["steps", "samples"])
def test_several_steps_in_one_launch(record, monkeypatch):
    """What a GPU gets: 50 steps in fours, and the 10 of a sample; the program of a CPU stays."""
    want = run(NET, NET.init(0), 50, None, record)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    made, scan = [], scan_file.lax.scan

    def watched(*args, unroll, **how):
        made.append(unroll)
        return scan(*args, unroll=unroll, **how)

    monkeypatch.setattr(scan_file.lax, "scan", watched)
    got = jax.jit(lambda net, state: jn.scan(net, state, 50, None, record))(NET, NET.init(0))
    assert 4 in made
    same_bits(got[1].spikes, want[1].spikes)
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-5)


def test_step_by_hand():
    """`Network.step` is the body of the scan, to a few ulp outside of one program."""
    state, spikes = NET.init(0), []
    step = jax.jit(lambda net, state: net.step(state))
    for _ in range(120):
        state, output = step(NET, state)
        spikes.append(np.asarray(output.spikes["E"]))
    _, recording = run(NET, NET.init(0), 300, None, jn.Record())
    np.testing.assert_array_equal(np.stack(spikes), recording.spikes.dense("E")[:120])


@pytest.mark.slow
def test_16_copies_over_gain():
    gains = np.linspace(0.2, 2.0, 16, dtype=np.float32)

    def spikes(gain):
        net = NET.set("E->E", gain=gain).set("E->I", gain=gain)
        return jn.scan(net, net.init(0), 300)[1].spikes.bits

    many, alone = jax.tree.map(np.asarray, jax.jit(jax.vmap(spikes))(gains)), jax.jit(spikes)
    for k in range(16):
        same_bits(jax.tree.map(lambda x, k=k: x[k], many), alone(gains[k]))
    assert len({np.asarray(x).tobytes() for x in many[0]}) == 16


def test_16_copies_over_seeds():
    words = np.random.default_rng(1).integers(0, 2**32, (16, 2), dtype=np.uint32)
    keys = jax.random.wrap_key_data(words)
    spikes = lambda key: jn.scan(NET, NET.init(key), 300)[1].spikes.bits  # noqa: E731
    many = jax.tree.map(np.asarray, jax.jit(jax.vmap(spikes))(keys))
    for k in range(16):
        key = jax.random.wrap_key_data(words[k])
        _, one = run(NET, NET.init(key), 300, None, jn.Record())
        same_bits(jax.tree.map(lambda x, k=k: x[k], many), one.spikes.bits)
    assert len({np.asarray(x).tobytes() for x in many[0]}) == 16


RECEPTORS = {"E": (30.0, jn.synapses.Exponential(5.0)), "I": (-90.0, jn.synapses.Exponential(10.0))}
RULE = jn.connectivity.FixedProbability(0.1)
CURRENTS = [
    jn.Projection(a, b, RULE, weight=RECEPTORS[a][0], synapse=RECEPTORS[a][1], delay=0.1)
    for a in "EI"
    for b in "EI"
]
KINDS = {
    "conductances": MADE,
    "currents": jn.Description(MADE.populations, CURRENTS, MADE.stimuli),
}


@pytest.mark.slow
@pytest.mark.parametrize("slope", [False, True])
@pytest.mark.parametrize("made", KINDS.values(), ids=KINDS.keys())
def test_a_network_closed_over_has_the_bits_of_an_argument(made, slope):
    """XLA folds constants with another rounding; a network has none."""
    net = jn.build(made, 1, 0.1)
    gains = np.stack(np.meshgrid([0.4, 1.0, 1.9], [0.5, 1.7]), -1).reshape(6, 2)

    def voltages(net, gains):
        swept = net.set("E->E", gain=gains[0]).set("I->E", gain=gains[1])
        return net.read(jn.scan(swept, net.init(0), 200)[0], "E", "v")

    run = jax.grad(lambda net, gains: voltages(net, gains).sum(), 1) if slope else voltages
    given = jax.jit(jax.vmap(run, (None, 0)))(net, gains)
    same_bits(jax.jit(jax.vmap(lambda gains: run(net, gains)))(gains), given)
    assert len(np.unique(np.asarray(given), axis=0)) == 6


@pytest.mark.slow
def test_one_program_for_new_values():
    traces = []

    @jax.jit
    def program(net, state):
        traces.append(1)
        return jn.scan(net, state, 30)[1].spikes.bits

    other = jn.build(balanced(weight=4.0, tau_m=15.0), 1, 0.1)
    one = jn.build(balanced(weight=7.0, tau_m=18.0), 1, 0.1)
    program(one, one.init(0))
    program(other, other.init(3))
    assert len(traces) == 1


@pytest.mark.slow
def test_recorded_variables():
    record = jn.Record(
        variables={"E": ("v", "refractory"), "E->I": "g"},
        neurons={"E": [5, 0, 159], "E->I": [3]},
        interval=1.0,
        rates=True,
        function=lambda state, output: (state.step, output.spikes["I"].sum()),
    )
    state, some = run(NET, NET.init(0), 300, None, record)
    _, each = run(NET, NET.init(0), 300, None, jn.Record(variables={"E": "v", "E->I": "g"}))
    traces = jax.tree.map(np.asarray, each.traces)
    assert some.traces["E"]["refractory"].shape == (30, 3)
    np.testing.assert_array_equal(some.traces["E"]["v"], traces["E"]["v"][9::10, [5, 0, 159]])
    np.testing.assert_array_equal(some.traces["E->I"]["g"], traces["E->I"]["g"][9::10, [3]])
    np.testing.assert_array_equal(some.function[0], np.arange(10, 301, 10))
    np.testing.assert_array_equal(some.function[1], np.asarray(each.spikes.counts("I"))[9::10])
    for name in "EI":
        np.testing.assert_array_equal(some.counts[name], each.spikes.counts(name))
        assert some.counts[name].dtype == np.int32  # floats with a surrogate: test_gradients.py
    last = np.asarray(some.traces["E"]["v"])[-1, 1]
    np.testing.assert_array_equal(last, np.asarray(NET.read(state, "E", "v"))[0])


def test_spikes_need_not_be_recorded():
    _, recording = run(NET, NET.init(0), 10, None, jn.Record(spikes=False))
    assert recording.spikes is None
    assert recording.traces == {}


def test_views_of_the_spikes_agree():
    _, recording = run(NET, NET.init(0), 300, None, jn.Record())
    for name, n in NET.populations.items():
        dense = np.asarray(recording.spikes.dense(name))
        assert dense.shape == (300, n)
        times, who = recording.spikes.events(name)
        steps, neurons = np.nonzero(dense)
        np.testing.assert_array_equal(who, neurons)
        np.testing.assert_allclose(times, (steps + 1) * 0.1)
        np.testing.assert_array_equal(recording.spikes.counts(name), dense.sum(axis=1))
    assert_refused(lambda: recording.spikes.events("X"), "", "population", "'X'")


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (3, 21), (8, 16), (9, 15), (16, 40)])
def test_counts_of_neurons_that_share_bytes_with_others(start, stop):
    spikes = np.random.default_rng(0).random((30, 40)) < 0.3
    bits = jnp.asarray(np.packbits(spikes, axis=1, bitorder="little"))
    found = SpikeBits((bits,), jnp.int32(0), 0.1, (("E", 0, start, stop),)).counts("E")
    np.testing.assert_array_equal(found, spikes[:, start:stop].sum(axis=1))


@pytest.mark.parametrize("shape", ["steps", "steps and neurons"])
def test_inputs_by_name(shape):
    current = np.linspace(0.0, 300.0, 100)
    x = current if shape == "steps" else np.tile(current[:, None], 40)
    driven, _ = run(NET, NET.init(0), 100, {"I": x}, RECORD)
    free, _ = run(NET, NET.init(0), 100, None, RECORD)
    by_hand = NET.init(0)
    for k in range(100):
        by_hand, _ = run(NET, by_hand, 1, {"I": x[k : k + 1]}, RECORD)
    v, without = (np.asarray(NET.read(s, "I", "v")) for s in (driven, free))
    assert (v != without).any()
    np.testing.assert_allclose(NET.read(driven, "I", "v"), NET.read(by_hand, "I", "v"), rtol=1e-5)


def test_an_input_of_one_neuron_reaches_no_other():
    made = jn.Description([jn.Population(k, 3, jn.neurons.LIF()) for k in "AB"])
    net = jn.build(made, 0, 0.1)
    x = np.zeros((200, 3))
    x[:, 1] = 800.0
    _, recording = run(net, net.init(0), 200, {"B": x}, jn.Record())
    assert set(recording.spikes.events("B")[1].tolist()) == {1}
    assert recording.spikes.events("A")[1].size == 0


BAD = {
    "negative": (-1, {}, {}, "scan", "n_steps", "-1"),
    "half": (1.5, {}, {}, "scan", "n_steps", "1.5"),
    "every": (15, {}, {"variables": {"E": "v"}, "interval": 1.0}, "scan", "n_steps", "15"),
    "population": (
        10,
        {},
        {"variables": {"X": "v"}},
        *("scan", "population, projection, stimulation or receptor to record", "'X'"),
    ),
    "variable": (
        10,
        {},
        {"variables": {"E": "u"}},
        *("scan", "state variable of population 'E'", "'u'"),
    ),
    "receptor": (
        10,
        {},
        {"variables": {"E->I": "v"}},
        *("scan", "state variable of projection 'E->I'", "'v'"),
    ),
    "neuron": (
        10,
        {},
        {"variables": {"I": "v"}, "neurons": {"I": [40]}},
        *("Record", "neurons of 'I'", "40"),
    ),
    "input name": (10, {"X": np.ones(10)}, {}, "scan", "population to drive", "'X'"),
    "input length": (10, {"E": np.ones(9)}, {}, "scan", "the input of 'E'", "(9,)"),
    "input width": (10, {"I": np.ones((10, 41))}, {}, "scan", "the input of 'I'", "(10, 41)"),
}


@pytest.mark.parametrize(
    ("n", "inputs", "record", "owner", "field", "got"), BAD.values(), ids=BAD.keys()
)
def test_bad_input(n, inputs, record, owner, field, got):
    assert_refused(
        lambda: jn.scan(NET, NET.init(0), n, inputs, jn.Record(**record)), owner, field, got
    )


def test_a_state_of_another_network():
    other = jn.build(balanced(n=100), 1, 0.1)
    assert_refused(
        lambda: jn.scan(NET, other.init(0), 10),
        "scan",
        "state",
        "that of one with another description",
    )
