"""Stimulations: spikes and currents from outside, in the right step and onto the right neurons."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import (
    LIF,
    RECEPTORS,
    RUN,
    SIZES,
    Hum,
    Noise,
    Sum,
    Train,
    description,
    events,
    oracle_events,
    projection,
    random_connections,
    voltages,
)

DT, DELTA = 0.1, jn.synapses.Delta()
STEPS = 40


def spikes(target, stimulus, weight=1.0, synapse=DELTA, **options):
    return jn.Stimulation(target, stimulus, weight=weight, synapse=synapse, **options)


def build(sizes, *stimuli, key=0, model=None, projections=(), dtype=jnp.float32):
    populations = [jn.Population(k, n, model or Sum()) for k, n in sizes.items()]
    return jn.build(jn.Description(populations, projections, stimuli), key, DT, dtype)


@pytest.mark.thorough(but=["fast-0.1"])
@pytest.mark.parametrize(("name", "delay"), [("fast", 0.1), ("open", 0.7), ("jump", 0.3)])
def test_a_spike_arrives_as_that_of_a_projection(name, delay):
    """The same voltages, bit for bit, as with a source that spikes the delay before."""
    synapse, lag = RECEPTORS[name][0], round(delay / DT)
    weights = np.linspace(1.0, 4.0, 5) * {"fast": 60.0, "open": 3.0, "jump": 1.5}[name]
    given = Train(1.0, steps=frozenset([10, 11, 25]))
    populations = [
        jn.Population("S", 1, Sum(v_th=0.5)),
        jn.Population("T", 5, jn.neurons.LIF(**LIF)),
    ]
    s = spikes("T", given, weights, synapse)
    p = jn.Projection(
        "S", "T", jn.connectivity.AllToAll(), weight=weights[None], delay=delay, synapse=synapse
    )
    kicks = np.zeros((60, 1))
    kicks[np.array(sorted(given.steps)) - lag] = 1.0
    outside = jn.build(jn.Description(populations, (), [s]), 0, DT)
    inside = jn.build(jn.Description(populations, [p]), 0, DT)
    v = [voltages(net, 60, inputs={"S": kicks})["T"] for net in (outside, inside)]
    np.testing.assert_array_equal(*v)
    assert (v[0][10] != v[0][9]).all() == (name == "jump")  # a jump is there at once
    assert (v[0][11] != v[0][9]).all()
    assert (v[0][30] != LIF["e_l"]).all()
    np.testing.assert_array_equal(v[0][9], v[0][0])


@pytest.mark.slow
def test_a_recurrent_network_of_the_oracle(x64):
    """Random projections, spikes from outside with delays and windows, on parts: all equal."""
    rng = np.random.default_rng(1)
    kinds = list(RECEPTORS)
    made = [random_connections(rng, SIZES, k, kind, 9) for k, kind in enumerate(kinds)]
    first = dict(zip(SIZES, (0, 13, 33)))
    who = {
        "s1": ("B", np.arange(4, 17)),
        "s2": ("A", np.array([0, 2, 3, 9])),
        "s3": ("C", np.arange(7)),
    }
    noise = build(
        SIZES, *(spikes(k, Noise(), name=n) for n, (k, _) in who.items()), dtype=jnp.float64
    )
    counts = {k: np.diff(v, axis=0, prepend=0) for k, v in voltages(noise, 300).items()}
    scale = {"fast": 20.0, "open": 0.5, "jump": 0.4}
    where = {"s1": slice(4, 17), "s2": who["s2"][1], "s3": None}
    stimuli, outside = [], []
    for name, kind, delay, window in (
        ("s1", "fast", 0, (0, 300)),
        ("s2", "open", 7, (20, 150)),
        ("s3", "jump", 1, (5, 6)),
    ):
        population, chosen = who[name]
        w = scale[kind] * rng.uniform(0.5, 2.0, chosen.size)
        options = {
            "delay": delay * DT,
            "start": window[0] * DT,
            "stop": window[1] * DT,
            "name": name,
        }
        part = jn.Part(population, where[name])
        stimuli.append(spikes(part, Noise(), w, RECEPTORS[kind][0], **options))
        arrivals = np.zeros((300, 40))
        for step in range(300):
            if window[0] <= step - delay < window[1]:
                arrivals[step, first[population] + chosen] = (
                    w * counts[population][step - delay, chosen]
                )
        outside.append({"receptor": kinds.index(kind), "arrivals": arrivals})
    d = description(projections=[projection(c) for c in made])
    net = jn.build(
        jn.Description(d.populations, d.projections, [*d.stimuli, *stimuli]), 0, DT, jnp.float64
    )
    assert len(net.groups[0].receptors) == len(kinds)
    expected = oracle_events(made, 300, outside=outside)
    assert events(net, 300) == expected
    assert expected != oracle_events(made, 300)
    assert sum(map(len, expected.values())) > 100


WINDOWS = {
    "always": (0, 0, None),
    "late": (0, 7, None),
    "until": (0, 0, 12),
    "window": (0, 7, 12),
    "one step": (0, 7, 8),
    "never": (0, 7, 7),
    "delayed": (5, 0, None),
    "delayed window": (5, 7, 12),
    "long delay": (30, 3, 9),
    "at 0": (0, 0, 0),
}
EVERY = frozenset(range(STEPS))


@pytest.mark.slow(but=["spikes"])
@pytest.mark.parametrize("kind", ["spikes", "current", "spike times"])
def test_windows_and_delays_are_exact(kind):
    """start <= step - delay < stop, a train of one spike (or 1 pA) in every step."""
    stimuli = []
    for name, (delay, begin, end) in WINDOWS.items():
        times = {
            "delay": DT * delay,
            "start": DT * begin,
            "stop": np.inf if end is None else DT * end,
        }
        if kind == "current":
            stimuli.append(jn.Stimulation(name, jn.stimuli.Current(1.0), **times))
        elif kind == "spikes":
            stimuli.append(spikes(name, Train(steps=EVERY), **times))
        else:  # the spike of step k has the time of its end
            stimuli.append(
                spikes(name, jn.stimuli.SpikeTimes(DT * (1 + np.arange(STEPS))), **times)
            )
    v = voltages(build(dict.fromkeys(WINDOWS, 2), *stimuli), STEPS)
    for name, (delay, begin, end) in WINDOWS.items():
        came = [begin <= k - delay < (STEPS if end is None else end) for k in range(STEPS)]
        np.testing.assert_array_equal(v[name], np.cumsum(came)[:, None] + np.zeros((1, 2)), name)


def test_the_time_of_a_spike_is_the_end_of_its_step():
    """A spike at 0.5 ms arrives at the end of step 4, and start = 0.4 still lets it in."""
    times = jn.stimuli.SpikeTimes([0.5, 0.6])
    stimuli = [
        spikes("A", times),
        spikes("B", times, start=0.4),
        spikes("C", times, start=0.5),
        spikes("D", times, stop=0.5),
    ]
    v = voltages(build(dict.fromkeys("ABCD", 1), *stimuli), 8)
    got = {k: np.flatnonzero(np.diff(x[:, 0], prepend=0)).tolist() for k, x in v.items()}
    assert got == {"A": [4, 5], "B": [4, 5], "C": [5], "D": [4]}


PARTS = {
    "slice": (slice(2, 6), [2, 3, 4, 5]),
    "tail": (range(5, 9), [5, 6, 7, 8]),
    "indices": ([0, 3, 8], [0, 3, 8]),
    "one": ([4], [4]),
}


@pytest.mark.parametrize("where", PARTS)
def test_a_part_leaves_the_others_alone(where):
    """Between two other populations, with one number per neuron of the part."""
    chosen = PARTS[where][1]
    weight = 10.0 + np.arange(len(chosen))
    part = jn.Part("B", PARTS[where][0])
    net = build(
        {"A": 3, "B": 9, "C": 4},
        spikes(part, Train(steps=EVERY), weight),
        jn.Stimulation(part, jn.stimuli.Current(100.0 * weight)),
        spikes("A", Train(steps=EVERY), 7.0),
    )
    v = voltages(net, 3)
    expected = np.zeros(9)
    expected[chosen] = 101.0 * weight
    np.testing.assert_array_equal(v["B"], np.outer([1, 2, 3], expected))
    np.testing.assert_array_equal(v["C"], 0)
    np.testing.assert_array_equal(v["A"], np.outer([1, 2, 3], [7, 7, 7]))


@pytest.mark.slow(but=["spikes"])
@pytest.mark.parametrize("kind", ["spikes", "current"])
def test_a_part_draws_as_the_whole_does(kind):
    """A neuron's draws belong to its number in the population."""

    def driven(target):
        current = jn.Stimulation(target, Hum(), name="s")
        s = current if kind == "current" else spikes(target, Noise(), name="s")
        return voltages(build({"A": 3, "B": 9}, s), STEPS)["B"]

    whole = driven("B")
    assert len(np.unique(whole[-1])) > 5
    for where in (slice(2, 6), [0, 3, 8]):
        part = driven(jn.Part("B", where))
        np.testing.assert_array_equal(part[:, where], whole[:, where])
        assert (np.delete(part, np.arange(9)[where], axis=1) == 0).all()


def test_receptors_are_shared_with_equal_synapses():
    fast, slow = jn.synapses.Exponential(2.0), jn.synapses.Exponential(5.0)
    rule = jn.connectivity.AllToAll()
    p = jn.Projection("A", "B", rule, weight=1.0, delay=0.1, synapse=fast)
    equal = spikes("B", Train(), 3.0, jn.synapses.Exponential(2.0), name="equal")
    other = spikes("A", Train(), -3.0, jn.synapses.Exponential(2.0), name="other")
    net = build({"A": 2, "B": 3}, equal, other, projections=[p], model=jn.neurons.LIF())
    assert len(net.groups[0].receptors) == 1
    (stimulus,) = net.groups[0].stimuli
    assert stimulus.receptor == net.pathways[0].inputs[0] == 0
    record = jn.Record(variables={"B.Exponential": "current"})
    current = RUN(net, net.init(0), 1, None, record)[1].traces["B.Exponential"]["current"]
    np.testing.assert_array_equal(current, np.full((1, 3), 3.0))
    more = spikes("B", Train(), 3.0, slow, name="more")
    net = build({"A": 2, "B": 3}, equal, more, projections=[p], model=jn.neurons.LIF())
    assert len(net.groups[0].receptors) == 2


@pytest.mark.parametrize(
    ("counts", "weights", "shapes"),
    [
        ((2.0, 2.0, 2.0), (3.0, 3.0, 3.0), ((), ())),
        ((1.0, 2.0, 3.0), (3.0, 3.0, 3.0), ((3,), ())),
        ((2.0, 2.0, 2.0), (3.0, -4.0, 5.0), ((), (3,))),
        ((np.arange(1.0, 5.0), 2.0, 3.0), (1.0, np.arange(3.0), 2.0), ((12,), (12,))),
    ],
    ids=["equal", "counts", "weights", "arrays"],
)
def test_stimuli_of_one_kind_are_merged(counts, weights, shapes):
    sizes = {"A": 4, "B": 3, "C": 5}
    stimuli = [
        spikes(k, Train(c, steps=frozenset([1, 3])), w) for k, c, w in zip(sizes, counts, weights)
    ]
    net = build(sizes, *stimuli)
    (merged,) = net.groups[0].stimuli
    assert merged.names == ("Train->A", "Train->B", "Train->C")
    assert (merged.model.count.shape, merged.weight.shape) == shapes
    v = voltages(net, 5)
    for (name, n), c, w in zip(sizes.items(), counts, weights):
        expected = np.outer([0, 1, 1, 2, 2], np.broadcast_to(c * np.asarray(w), n))
        np.testing.assert_array_equal(v[name], expected)


def test_kinds_that_differ_are_not_merged():
    stimuli = [
        spikes("A", Train(steps=frozenset([1]))),
        spikes("B", Train(steps=frozenset([2]))),
        spikes("C", Train(steps=frozenset([1])), delay=0.1),
        spikes("D", Train(steps=frozenset([1])), synapse=jn.synapses.Exponential()),
        spikes(jn.Part("E", [0, 2]), Train(steps=frozenset([1]))),
        spikes(jn.Part("F", slice(1, 3)), Train(steps=frozenset([1]))),
    ]
    net = build(dict.fromkeys("ABCDEF", 3), *stimuli)
    names = sorted(s.names for s in net.groups[0].stimuli)
    assert names == [("Train->A", "Train->F"), *((f"Train->{k}",) for k in "BCDE")]
