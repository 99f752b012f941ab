"""Gap junctions against an oracle and the circuit equations; which pairs they join."""

import numpy as np
import pytest

import jaxneuro as jn
from tests.couplings.networks import DT, LIF, RUN, build, current, explicit, lif, voltages
from tests.oracle import coupling as oracle
from tests.refusing import assert_refused

STEPS = 400
RNG = np.random.default_rng(7)
PAIRS = np.array([(i, j) for i in range(8) for j in range(i) if RNG.random() < 0.5]).T
WEIGHTS = RNG.uniform(0.2, 3.0, PAIRS.shape[1])
INJECTED = np.linspace(100.0, 320.0, 8)


def both_ways(pre, post, weight):
    weight = np.broadcast_to(weight, np.shape(pre))
    return np.r_[pre, post], np.r_[post, pre], np.r_[weight, weight]


def expected(pairs, v0, injected=INJECTED, **options):
    return oracle.run(LIF, v0, injected, pairs, STEPS, DT, **options)


def of_pairs(**options):
    return jn.Coupling("E", "E", explicit(*PAIRS), **{"weight": WEIGHTS, **options})


ONE_WAY = (*PAIRS, WEIGHTS)
TWO_WAYS = both_ways(*PAIRS, WEIGHTS)
INSIDE = {
    "pairs": ([of_pairs(gain=0.7)], both_ways(*PAIRS, 0.7 * WEIGHTS), {}),
    "average": (
        [of_pairs(average=True, gain=5.0)],
        both_ways(*PAIRS, 5.0 * WEIGHTS),
        {"average": 1},
    ),
    "one way": ([of_pairs(symmetric=False)], ONE_WAY, {}),
    "several": (
        [
            of_pairs(name="a"),
            of_pairs(name="b", weight=0.5, symmetric=False),
            jn.Coupling(
                jn.Part("E", slice(0, 3)),
                jn.Part("E", [4, 6]),
                jn.connectivity.AllToAll(),
                weight=0.8,
                name="parts",
            ),
        ],
        tuple(
            np.concatenate(three)
            for three in zip(
                TWO_WAYS,
                (*PAIRS, np.full(len(WEIGHTS), 0.5)),
                both_ways(np.repeat(np.arange(3), 2), np.tile([4, 6], 3), 0.8),
            )
        ),
        {},
    ),
}


@pytest.mark.slow(but=["average"])
@pytest.mark.parametrize("case", INSIDE)
def test_within_a_population(case, x64):
    """Spikes and resets included; individual weights, one weight, parts, several couplings."""
    couplings, pairs, options = INSIDE[case]
    net = build([lif()], couplings, [current("E", INJECTED)], dtype=np.float64)
    v = voltages(net, STEPS)["E"]
    want = expected(pairs, lif().initial["v"], **options)
    assert (want >= LIF["v_th"]).sum() > 5
    np.testing.assert_allclose(v, want, rtol=1e-11)


@pytest.mark.slow(but=["True"])
@pytest.mark.parametrize("same_model", [True, False])
def test_between_two_populations(same_model, x64):
    """Both sides see each other, in one group and in two; so they do if each is drawn one way."""
    other = {} if same_model else {"surrogate": jn.surrogates.FastSigmoid()}
    a, b = lif("A", 5), lif("B", 3, **other)
    pre, post = np.array([0, 0, 4, 2, 2]), np.array([2, 0, 1, 1, 2])
    weight = np.array([1.0, 2.0, 3.0, 0.5, 0.25])
    pairs = both_ways(pre, 5 + post, weight)
    v0 = np.r_[a.initial["v"], b.initial["v"]]
    want = expected(pairs, v0, INJECTED)
    stimuli = [current("A", INJECTED[:5]), current("B", INJECTED[5:])]
    join = lambda s, t, i, j, **o: jn.Coupling(s, t, explicit(i, j), weight=weight, **o)  # noqa: E731
    ways = [[join("A", "B", pre, post)]]
    if same_model:
        one_way = {"symmetric": False}
        ways.append([join("A", "B", pre, post, **one_way), join("B", "A", post, pre, **one_way)])
    for couplings in ways:
        net = build([a, b], couplings, stimuli, dtype=np.float64)
        v = voltages(net, STEPS)
        np.testing.assert_allclose(np.hstack([v["A"], v["B"]]), want, rtol=1e-11)


def test_two_neurons_settle_as_the_circuit_equations_say(x64):
    """`(g_l + g) v_1 - g v_2 = g_l e_l + I`, `(g_l + g) v_2 - g v_1 = g_l e_l`."""
    g, g_l, injected = 7.0, LIF["c_m"] / LIF["tau_m"], 150.0
    couplings = [jn.Coupling("E", "E", explicit([0], [1]), weight=g)]
    net = build([lif(n=2, v_th=1e3)], couplings, [current("E", [injected, 0.0])], dtype=np.float64)
    v = voltages(net, 3000)["E"][-1]
    matrix = [[g_l + g, -g], [-g, g_l + g]]
    settled = np.linalg.solve(matrix, g_l * LIF["e_l"] + np.array([injected, 0.0]))
    np.testing.assert_allclose(v, settled, rtol=1e-10)
    coupling_ratio = (v[1] - LIF["e_l"]) / (v[0] - LIF["e_l"])
    np.testing.assert_allclose(coupling_ratio, g / (g_l + g), rtol=1e-9)


@pytest.mark.slow
def test_a_spike_with_an_upstroke_gives_a_depolarising_spikelet():
    """Of a neighbour that does not fire; in proportion to g, then down with the after-potential."""
    cells = jn.Population("E", 2, jn.neurons.TraubMiles())
    kick = jn.Stimulation("E", jn.stimuli.Current([2000.0, 0.0]), stop=2.0)
    couplings = [jn.Coupling("E", "E", explicit([0], [1]), weight=1.0)]
    net = build([cells], couplings, [kick], dt=0.05)
    alone, weak, strong = (voltages(net.set("E~E", gain=g), 160)["E"] for g in (0.0, 0.2, 0.4))
    assert alone[:, 0].max() > 0
    assert alone[:, 1].max() < -50
    (peak, trough), (peak_2, trough_2) = (
        ((v - alone)[:, 1].max(), (v - alone)[:, 1].min()) for v in (weak, strong)
    )
    assert 0.05 < peak < 1.0
    assert -1.0 < trough < -0.05
    np.testing.assert_allclose([peak_2 / peak, trough_2 / trough], 2.0, rtol=0.1)
    spikelet = (weak - alone)[:, 1]
    assert weak[:, 0].argmax() < spikelet.argmax() < spikelet.argmin()


def test_a_ring_of_a_thousand_settles_to_the_mean():
    """Without a leak: each of 1,000 neurons sees 40 on both sides."""
    n, near = 1000, np.arange(1, 41)
    pre = np.repeat(np.arange(n), 40)
    post = (pre + np.tile(near, n)) % n
    v0 = np.random.default_rng(1).uniform(-64.0, -54.0, n)
    cells = lif(n=n, v0=v0, tau_m=1e12, v_th=1e3)
    net = build([cells], [jn.Coupling("E", "E", explicit(pre, post), weight=20.0)])
    v = np.asarray(RUN(net, net.init(0), 4000, None, None)[0].groups[0].neurons.v, np.float64)
    assert np.ptp(v) < 1e-3
    np.testing.assert_allclose(v.mean(), v0.mean(), atol=1e-3)


@pytest.mark.parametrize(
    "rule",
    [
        jn.connectivity.FixedProbability(0.3),
        jn.connectivity.DistanceProbability(jn.space.Gaussian(50.0, 0.8)),
        jn.connectivity.AllToAll(),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_each_pair_is_drawn_once(rule):
    """g_ij = g_ji, no neuron with itself, and as many pairs as the rule says."""
    n = 64
    cells = jn.Population("E", n, jn.neurons.LIF(), positions=jn.space.Grid((8, 8), 20.0))
    c = jn.Coupling("E", "E", rule, weight=jn.Uniform(0.5, 1.5))
    made = jn.Description([cells], couplings=[c])
    g = jn.build(made, 0, DT).connections("E~E").sparse().toarray()
    np.testing.assert_array_equal(g, g.T)
    assert not g.diagonal().any()
    assert ((g == 0) | ((g >= 0.5) & (g <= 1.5))).all()
    pairs = (g > 0).sum() / 2
    p = made.estimate().neighbours / n**2
    assert abs(pairs - p * n * (n - 1) / 2) < 4 * np.sqrt(n * n / 2 * p * (1 - p)) + p * n
    assert np.unique(g[g > 0]).size > 0.9 * pairs  # as many as a table of quantiles has
    np.testing.assert_allclose(g[g > 0].mean(), 1.0, atol=4 * np.sqrt(1 / 12 / pairs))


def test_one_way_pairs_are_drawn_each_by_itself():
    rule = jn.connectivity.FixedProbability(0.5)
    c = jn.Coupling("E", "E", rule, weight=jn.Uniform(0.5, 1.5), symmetric=False)
    g = build([lif(n=40)], [c]).connections("E~E").sparse().toarray()
    assert (g > 0).sum() > 600
    assert ((g > 0) != (g.T > 0)).any()
    assert not g.diagonal().any()


def test_a_graded_coupling_is_one_way_unless_told_and_keeps_autapses():
    how = {"release": jn.release.VoltageRelease(), "synapse": jn.synapses.Exponential()}
    rule = jn.connectivity.FixedProbability(0.5)
    law = jn.Uniform(0.5, 1.5)
    for symmetric in (None, True):
        c = jn.Coupling("E", "E", rule, weight=law, symmetric=symmetric, **how)
        g = build([lif(n=40)], [c]).connections("E~E").sparse().toarray()
        assert 8 < np.count_nonzero(g.diagonal()) < 32
        assert np.array_equal(g, g.T) == bool(symmetric)


def test_listed_pairs_count_once():
    """Both orders are one pair; one of two weights, or one listed again, is an error."""
    pre, post = [0, 1, 2, 3], [1, 0, 3, 2]
    net = build([lif()], [jn.Coupling("E", "E", explicit(pre, post), weight=[2.0, 2.0, 3.0, 3.0])])
    read = net.connections("E~E")
    assert repr(read) == f"Connections: E to E, {len(read)} coupled neighbours"
    assert list(zip(read.pre, read.post, read.weight)) == [
        (0, 1, 2),
        (1, 0, 2),
        (2, 3, 3),
        (3, 2, 3),
    ]
    assert not read.delay.any()
    assert_refused(
        lambda: build(
            [lif()], [jn.Coupling("E", "E", explicit(pre, post), weight=[2.0, 2.0, 3.0, 4.0])]
        ),
        "coupling 'E~E'",
        "weight",
        "two for neurons 2 and 3",
    )
    assert_refused(
        lambda: build([lif()], [jn.Coupling("E", "E", explicit([0, 0], [1, 1]), weight=1.0)]),
        "coupling 'E~E'",
        "rule",
        "neurons 0 and 1 more than once",
    )


def test_parts_without_a_common_neuron_see_each_other():
    """Whichever is named first."""
    low, high = jn.Part("E", slice(0, 3)), jn.Part("E", slice(5, 8))
    for source, target in ((low, high), (high, low)):
        rule = jn.connectivity.FixedIndegree(2, multapses=False)
        net = build([lif()], [jn.Coupling(source, target, rule, weight=1.0)])
        g = net.connections("E~E").sparse().toarray()
        np.testing.assert_array_equal(g, g.T)
        assert g.sum() == 12
        assert not g[:5, :5].any()


def test_nobody_and_nothing():
    """Empty populations, no connection, one neuron."""
    all_to_all = jn.connectivity.AllToAll()
    net = build(
        [lif("A", 0), lif("B", 1), lif("C", 3)],
        [
            jn.Coupling("A", "C", all_to_all, weight=1.0),
            jn.Coupling("B", "B", all_to_all, weight=jn.Uniform(0.0, 1.0)),
            jn.Coupling("C", "C", explicit([], []), weight=1.0),
        ],
    )
    v = voltages(net, 20)
    assert v["A"].shape == (20, 0)
    assert all(np.isfinite(x).all() for x in v.values())
    assert [len(net.connections(name)) for name in net.coupled] == [0, 0, 0]


def test_a_source_that_no_current_reaches_need_not_take_conductances():
    """One way, a neuron whose equations know no conductance is seen, and sees nothing."""
    source = jn.Population("S", 8, jn.neurons.IafPscExp(v_th=-40.0), initial={"v": -50.0})
    pairs = explicit(np.arange(8), np.arange(8))
    join = lambda a, b, **how: jn.Coupling(a, b, pairs, weight=2.0, **how)  # noqa: E731
    traces = voltages(build([lif(), source], [join("S", "E", symmetric=False)]), 10)
    alone = voltages(build([lif(), source]), 10)
    np.testing.assert_array_equal(traces["S"], alone["S"])
    away = np.sign(alone["S"][0] - alone["E"][0])
    assert (away * (traces["E"][9] - alone["E"][9]) > 0).all()
    for back in (join("E", "S", symmetric=False), join("S", "E")):
        with pytest.raises(ValueError, match=r"IafPscExp \(population 'S'\): step must"):
            build([lif(), source], [back])
