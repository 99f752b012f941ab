"""Stimulations that draw, and runs: what changes a result, what does not, new values, slopes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import LIF, RUN, Hum, Noise, Sum, Train, voltages

DT, DELTA = 0.1, jn.synapses.Delta()


def spikes(target, stimulus, weight=1.0, synapse=DELTA, **options):
    return jn.Stimulation(target, stimulus, weight=weight, synapse=synapse, **options)


def build(sizes, *stimuli, key=0, model=None, projections=(), dtype=jnp.float32):
    populations = [jn.Population(k, n, model or Sum()) for k, n in sizes.items()]
    return jn.build(jn.Description(populations, projections, stimuli), key, DT, dtype)


@pytest.mark.slow
def test_two_of_one_kind_are_independent_and_add_up():
    """Each in a digit of its own: what is drawn can be read from the sum."""
    stimuli = [
        *(spikes("A", Noise(), w, name=k) for k, w in (("one", 1.0), ("two", 10.0))),
        *(jn.Stimulation("A", Hum(x), name=k) for k, x in (("h1", 100.0), ("h2", 1000.0))),
    ]
    together, alone = (
        np.diff(voltages(build({"A": 50}, *chosen), 200)["A"], axis=0, prepend=0).astype(int)
        for chosen in (stimuli, stimuli[:1])
    )
    digits = [together // 10**k % 10 for k in range(4)]
    np.testing.assert_array_equal(digits[0], alone)
    r = np.corrcoef([x.ravel() for x in digits])[np.triu_indices(4, 1)]
    assert (abs(r) < 4.5 / np.sqrt(10_000)).all()
    for x in digits:  # 0, 1, 2 and 3 are equally likely, for every neuron and step
        assert abs(x.mean() - 1.5) < 4.5 * np.sqrt(1.25 / 10_000)
        assert x.max() == 3
        assert (abs(np.corrcoef(x.T)[np.triu_indices(50, 1)]) < 5.5 / np.sqrt(200)).all()


def everything(names, model=None):
    """Random and plain stimuli onto every population, random start values, and a projection."""
    sizes = {"M": 12, "A": 5, "K": 3, "Z": 9}
    populations = [
        jn.Population(k, sizes[k], (model or {}).get(k, Sum(v_th=40.0)), {"v": np.arange(sizes[k])})
        for k in names
    ]
    stimuli = [
        s
        for k in names
        for s in (
            spikes(k, Noise(2.0 if k == "K" else 1.0), name=f"first {k}"),
            spikes(k, Noise(), name=f"second {k}", weight=3.0, start=1.0),
            jn.Stimulation(jn.Part(k, slice(1, 3)), Hum(), name=f"hum {k}", delay=0.5),
        )
    ]
    rule, law = jn.connectivity.FixedProbability(0.5), jn.Uniform(0.1, 2.0)
    p = jn.Projection("M", "M", rule, weight=2.0, delay=law, synapse=DELTA)
    return jn.Description(populations, [p], stimuli)


@pytest.mark.slow
def test_results_do_not_depend_on_others_or_on_the_order():
    """Bit for bit, with draws of every kind; other populations around it, in its group or not."""
    alone = voltages(jn.build(everything("M"), 1, DT), 100, key=3)["M"]
    assert len(np.unique(alone)) > 30
    for names, model in (("AMZ", {}), ("ZKMA", {"K": Sum(v_th=9.0), "A": jn.neurons.LIF()})):
        made = everything(names, model)
        net = jn.build(made, 1, DT)
        assert len(net.groups) == 1 + ("A" in model)
        v = voltages(net, 100, key=3)
        np.testing.assert_array_equal(v["M"], alone, names)
    back = jn.Description(made.populations[::-1], made.projections, made.stimuli[::-1])
    again = voltages(jn.build(back, 1, DT), 100, key=3)
    for name in v:
        np.testing.assert_array_equal(again[name], v[name])


@pytest.mark.thorough(but=["receptors"])
@pytest.mark.parametrize("kind", ["receptors", "layers"])
def test_sums_do_not_depend_on_others(kind):
    """Three floats are added in an order that another population must not change."""
    model = jn.neurons.LIF(e_l=0.0, v_reset=-1.0, v_th=1e6)

    def one(target, k, name):
        w = [700.1, 300.3, 900.7][k] * (1.0 if kind == "receptors" else 0.001)
        if kind == "receptors":
            return spikes(target, Noise(), w, jn.synapses.Exponential(1.0 + k), name=name)
        return spikes(target, Noise(), w, start=DT * k, name=name)

    stimuli = [one("A", k, f"s{k}") for k in range(3)]
    alone = voltages(build({"A": 50}, *stimuli, model=model), 100)["A"]
    others = build({"A": 50, "Z": 4}, *stimuli, one("Z", 2, "a"), model=model)
    np.testing.assert_array_equal(voltages(others, 100)["A"], alone)


NET = build(
    {"A": 20, "B": 30},
    spikes("A", jn.stimuli.Poisson(900.0), 2.0),
    spikes("B", jn.stimuli.Poisson(2000.0)),
)
HUM = jn.Stimulation("A", Hum(np.ones(20)), name="hum")
QUIET = build({"A": 20, "B": 30}, *(spikes(k, Noise()) for k in "AB"), HUM)


def final(net, seed):
    """v of all neurons after a run."""
    return jn.scan(net, net.init(seed), 50, None, jn.Record(spikes=False))[0].groups[0].neurons.v


FINAL = jax.jit(final)


def test_new_values_by_name():
    """Under jit, as if built so; the other population keeps its own."""
    run = jax.jit(lambda net, r, w: final(net.set("Poisson->A", rate=r, weight=w), 0))
    got, before = np.asarray(run(NET, 500.0, -3.0)), np.asarray(FINAL(NET, 0))
    values = (("A", 500.0, -3.0), ("B", 2000.0, 1.0))
    built = build({"A": 20, "B": 30}, *(spikes(k, jn.stimuli.Poisson(r), w) for k, r, w in values))
    np.testing.assert_array_equal(got, FINAL(built, 0))
    np.testing.assert_array_equal(got[20:], before[20:])
    assert got[:20].max() <= 0 > got[:20].sum()


def test_new_arrays_by_name():
    before = np.asarray(FINAL(QUIET, 0))
    silent = np.asarray(FINAL(QUIET.set("hum", scale=np.zeros(20)), 0))
    assert (silent[:20] < before[:20]).all()
    np.testing.assert_array_equal(silent[20:], before[20:])
    v = np.asarray(FINAL(QUIET.set("Noise->B", weight=np.arange(30.0), scale=2.0), 0))
    np.testing.assert_array_equal(v[20:], 2 * np.arange(30) * before[20:])
    np.testing.assert_array_equal(v[:20], before[:20])


def test_batches_of_values_and_of_seeds_are_loops():
    values = np.float32([100.0, 1000.0, 4000.0])
    change = lambda r: NET.set("Poisson->A", rate=r, weight=r / 100.0)  # noqa: E731
    batch = np.asarray(jax.jit(jax.vmap(lambda r: final(change(r), 0)))(values))
    for r, v in zip(values, batch):
        np.testing.assert_array_equal(v, FINAL(change(r), 0))
    seeds = np.arange(4, dtype=np.int32)
    batch = np.asarray(jax.jit(jax.vmap(lambda seed: final(QUIET, seed)))(seeds))
    for seed, v in zip(range(4), batch):
        np.testing.assert_array_equal(v, FINAL(QUIET, seed))
    assert len(np.unique(batch[:, 0])) > 1


@pytest.mark.slow
def test_the_gradient_of_a_weight():
    """v of `Sum` is the weight times the counts; so is its slope, for one weight or for each."""
    counts = np.asarray(FINAL(QUIET, 0))[20:]
    loss = lambda w: jnp.sum(final(QUIET.set("Noise->B", weight=w), 0))  # noqa: E731
    assert jax.jit(jax.grad(loss))(2.0) == counts.sum() > 0
    np.testing.assert_array_equal(jax.jit(jax.grad(loss))(np.full(30, 2.0, np.float32)), counts)


@pytest.mark.slow
def test_the_gradient_through_spikes():
    """Stimulus -> A -> B: a surrogate carries the slope of the weight to v of B."""
    surrogate = jn.neurons.LIF(**LIF, surrogate=jn.surrogates.FastSigmoid())
    synapse = jn.synapses.Exponential(3.0)
    p = jn.Projection("A", "B", jn.connectivity.AllToAll(), weight=9.0, delay=0.3, synapse=synapse)
    s = spikes("A", Noise(), 6.0, synapse, name="s")
    net = build({"A": 15, "B": 4}, s, projections=[p], model=surrogate)

    def loss(weight):
        changed = net.set("s", weight=weight)
        state, _ = jn.scan(changed, changed.init(0), 300)
        return jnp.mean(changed.read(state, "B", "v"))

    assert float(jax.jit(loss)(6.0)) > LIF["e_l"] + 0.1
    slope = jax.jit(jax.grad(loss))(6.0)
    assert np.isfinite(slope)
    assert slope > 0


def test_the_key_of_the_run_draws_and_the_key_of_build_does_not():
    stimuli = [
        spikes("A", Noise()),
        jn.Stimulation("A", Hum()),
    ]
    nets = [build({"A": 40}, *stimuli, key=key) for key in (0, 1)]
    v = [
        voltages(net, 30, key=key)["A"] for net, key in zip([*nets, nets[0], nets[0]], (5, 5, 5, 6))
    ]
    np.testing.assert_array_equal(v[0], v[1])
    np.testing.assert_array_equal(v[0], v[2])
    assert (v[0][-1] != v[3][-1]).mean() > 0.7


@pytest.mark.slow
def test_two_runs_are_one_and_recording_does_not_matter():
    """Also where delays, windows and lists of spike times go on into the second run."""
    times = jn.stimuli.SpikeTimes(DT * np.array([1, 14, 15, 16, 40]))
    net = build(
        {"A": 20},
        spikes("A", Noise(), delay=1.2),
        spikes("A", times, 100.0, start=1.4, delay=0.3),
        jn.Stimulation("A", Hum(), start=0.5, stop=2.5),
    )
    whole = voltages(net, 60)["A"]
    half, _ = RUN(net, net.init(0), 17)
    state, recording = RUN(net, half, 43, None, jn.Record(variables={"A": "v"}))
    np.testing.assert_array_equal(recording.traces["A"]["v"], whole[17:])
    unseen, _ = RUN(net, half, 43, None, jn.Record(spikes=False))
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(unseen)):
        np.testing.assert_array_equal(a, b)
    jumps = np.flatnonzero((np.diff(whole, axis=0) > 90).all(axis=1)) + 1
    np.testing.assert_array_equal(jumps, [17, 18, 42])


class N2(jn.neurons.LIF):
    """Another kind of neuron, so that it is in a group of its own."""


class N3(jn.neurons.LIF):
    """And another one."""


@pytest.mark.slow
def test_sums_over_pathways_do_not_depend_on_others():
    """Three groups project to one population; a fourth population puts none of them first."""
    law = jn.Normal(0.3, 0.1)
    populations = [
        jn.Population(k, 40, m(e_l=-60.0), {"v": jn.Uniform(-70.0, -50.0)})
        for k, m in (("X", jn.neurons.LIF), ("Y", N2), ("Z", N3))
    ]
    populations.append(jn.Population("T", 50, jn.neurons.LIF(e_l=-65.0)))
    rule, half = jn.connectivity.FixedProbability(0.5), jn.connectivity.FixedProbability(0.0)
    wires = [
        jn.Projection(k, "T", rule, weight=law, delay=0.1, synapse=DELTA, name=f"p{k}")
        for k in "XYZ"
    ]
    drive = [jn.Stimulation(k, jn.stimuli.Current(900.0)) for k in "XYZ"]
    alone = voltages(jn.build(jn.Description(populations, wires, drive), 0, DT), 300)["T"]
    other = jn.Population("A", 5, N3())
    empty = jn.Projection("A", "T", half, weight=law, delay=0.1, synapse=DELTA, name="a")
    more = jn.Description([*populations, other], [*wires, empty], drive)
    np.testing.assert_array_equal(voltages(jn.build(more, 0, DT), 300)["T"], alone)
    assert len(np.unique(alone)) > 1000


def test_a_receptor_that_only_a_stimulation_uses_is_read_by_its_name():
    slow = jn.synapses.Exponential(5.0)
    net = build({"A": 3}, spikes("A", Train(2.0), 10.0, slow), model=jn.neurons.LIF())
    record = jn.Record(variables={"Train->A": "current"})
    trace = jn.simulate(net, 1.0, record=record).traces["Train->A"]["current"]
    assert trace.shape == (10, 3)
    assert (trace[-1] > 0).all()


def test_weights_from_a_distribution_are_drawn_once_per_neuron():
    """The same for every run; the law of the distribution; another build key draws others."""
    law = jn.Uniform(1.0, 3.0)
    nets = [build({"A": 400}, spikes("A", Train(), law), key=k) for k in (0, 0, 1)]
    weights = [np.asarray(net.groups[0].stimuli[0].weight) for net in nets]
    np.testing.assert_array_equal(*weights[:2])
    assert (weights[0] != weights[2]).mean() > 0.99
    assert 1.0 < weights[0].min() < 1.05
    assert 2.95 < weights[0].max() < 3.0
    np.testing.assert_array_equal(np.asarray(voltages(nets[0], 1)["A"])[-1], weights[0])
