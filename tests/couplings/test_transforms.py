"""Couplings under jit, vmap, grad, in chunks, on threads, in both precisions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.threads import threads
from tests.couplings.networks import LIF, USUAL, build, current, explicit, lif, voltages

rl, syn = jn.release, jn.synapses
N, STEPS = 24, 120
RULE = jn.connectivity.FixedProbability(0.4)
BOTH = [
    jn.Coupling("E", "E", RULE, weight=0.5, name="gap"),
    jn.Coupling(
        *("E", "E", RULE),
        weight=jn.Uniform(0.5, 2.0),
        release=rl.QuantalRelease(0.4, 50.0, sites=3),
        synapse=syn.AMPA(),
        initial={"g": jn.Uniform(0.0, 1.0), "u": 0.7},
        name="quantal",
    ),
]
DRIVE = [current("E", np.linspace(150.0, 400.0, N))]
NET = build([lif(n=N)], BOTH, DRIVE)
RECORD = jn.Record(variables={"E": "v", "quantal": ("g", "u")})


def traces(net, state, n_steps):
    state, recording = USUAL(net, state, n_steps, None, RECORD)
    found = recording.traces
    return state, [
        np.asarray(found[a][b]) for a, b in (("E", "v"), ("quantal", "g"), ("quantal", "u"))
    ]


@functools.cache
def whole():
    return traces(NET, NET.init(3), STEPS)


def same_states(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_parts_of_a_run_are_the_run():
    """From the state in between, through `simulate` in chunks, and from a state read back."""
    last, all_of_it = whole()
    state, parts = NET.init(3), []
    for _ in range(2):
        state, part = traces(NET, state, STEPS // 2)
        state = jax.tree.map(lambda x: jax.device_put(np.asarray(x)), state)
        parts.append(part)
    same_states(state, last)
    for piece, want in zip(zip(*parts), all_of_it):
        np.testing.assert_array_equal(np.concatenate(piece), want)
    result = jn.simulate(NET, STEPS * 0.1, record=RECORD, key=3, progress=False)
    np.testing.assert_array_equal(result.traces["E"]["v"], all_of_it[0])
    np.testing.assert_array_equal(result.traces["quantal"]["g"], all_of_it[1])
    v = all_of_it[0]
    assert (v >= LIF["v_th"]).sum() > 10
    assert len(np.unique(all_of_it[1][0])) == N


@pytest.mark.slow
def test_one_state_reads_as_it_is_recorded():
    last, (v, g, u) = whole()
    for name, variable, trace in (("E", "v", v), ("quantal", "g", g), ("quantal", "u", u)):
        np.testing.assert_array_equal(NET.read(last, name, variable), trace[-1])
    assert NET.variables(last, "gap") == ()
    assert set(NET.variables(last, "quantal")) == {"g", "empty", "waiting", "u", "u_low"}
    assert NET.coupled == ("gap", "quantal")


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@pytest.mark.parametrize("number", [2, 3])
def test_threads_change_no_bit(number):
    before = threads()
    threads(number)
    try:
        _, again = traces(NET, NET.init(3), STEPS)
    finally:
        threads(before)
    for x, want in zip(again, whole()[1]):
        np.testing.assert_array_equal(x, want)


def test_seeds_change_what_is_drawn_in_a_run():
    other = traces(NET, NET.init(4), STEPS)[1]
    assert (other[1][0] != whole()[1][1][0]).all()
    assert (other[0] != whole()[1][0]).any()


def counts(net, key):
    record = jn.Record(variables={"E": "v"})
    return jn.scan(net, net.init(key), STEPS, None, record)[1].traces["E"]["v"]


@pytest.mark.slow
def test_under_vmap():
    """Over gains, weights and seeds: what each of them gives alone."""
    gains, weights = np.float32([0.0, 1.0, 3.0]), np.float32([0.25, 0.5, 1.0])
    seeds = np.uint32([3, 4, 5])

    def one(gain, weight, seed):
        return counts(NET.set("quantal", gain=gain).set("gap", weight=weight), seed)

    many = jax.jit(jax.vmap(one))(gains, weights, seeds)
    alone = jax.jit(one)
    for k in range(3):
        np.testing.assert_allclose(many[k], alone(gains[k], weights[k], seeds[k]), rtol=1e-5)
    mixed = jax.vmap(lambda tau: NET.set("E", tau_m=tau).set("gap", gain=0.5).couplings[0].gain)
    np.testing.assert_array_equal(mixed(np.float32([9.0, 10.0])), 0.5)


def passive(dtype):
    """Gap junctions and graded coupling of neurons that do not spike."""
    graded = jn.Coupling(
        *("E", "E", explicit([0, 1, 2], [1, 2, 0])),
        weight=np.array([2.0, 1.0, 3.0]),
        release=rl.VoltageRelease(v_half=-55.0),
        synapse=syn.ExponentialConductance(3.0, 0.0),
        name="graded",
    )
    gap = jn.Coupling("E", "E", explicit([0, 1], [1, 2]), weight=4.0, average=True, name="gap")
    return build(
        [lif(n=3, v_th=1e3)], [gap, graded], [current("E", [300.0, 0.0, 90.0])], dtype=dtype
    )


def test_gradients_are_those_of_differences(x64):
    """Of v by gain, weight, a parameter of the release, and one of a neuron."""
    net = passive(jnp.float64)

    def voltage(p):
        changed = net.set("gap", gain=p[0], weight=p[1]).set("graded", gain=p[2], v_half=p[3])
        changed = changed.set("E", tau_m=p[4])
        state, _ = jn.scan(changed, changed.init(0), 60)
        return (changed.read(state, "E", "v") * np.array([1.0, -0.5, 2.0])).sum()

    point = np.array([0.8, 4.0, 1.3, -54.0, 12.0])
    slopes = np.asarray(jax.jit(jax.grad(voltage))(point))
    voltage = jax.jit(voltage)
    for k in range(5):
        by = 1e-4 * np.eye(5)[k]
        central = (voltage(point + by) - voltage(point - by)) / 2e-4
        np.testing.assert_allclose(slopes[k], central, rtol=1e-6)
        assert abs(slopes[k]) > 1e-3


@pytest.mark.slow
def test_float32_is_near_float64(x64):
    near, exact = (voltages(passive(d), 300)["E"] for d in (np.float32, np.float64))
    assert near.dtype == np.float32
    assert exact.dtype == np.float64
    np.testing.assert_allclose(near, exact, rtol=3e-6)


@pytest.mark.slow
def test_one_number_is_as_good_as_an_array():
    """0.5 for all, 0.5 each, and 1 with a gain of 0.5; of a release likewise."""
    pre, post = np.array([0, 1, 2, 5]), np.array([3, 2, 6, 7])
    how = {"synapse": syn.Exponential(), "name": "graded", "gain": 4.0}

    def run(weight, gain, v_half):
        gap = jn.Coupling("E", "E", explicit(pre, post), weight=weight, gain=gain, name="gap")
        release = rl.VoltageRelease(v_half=v_half)
        graded = jn.Coupling("E", "E", explicit(pre, post), weight=weight, release=release, **how)
        return voltages(build([lif()], [gap, graded]), 100)["E"]

    want = run(0.5, 1.0, -60.0)
    np.testing.assert_array_equal(run(np.full(4, 0.5), 1.0, -60.0), want)
    np.testing.assert_array_equal(run(0.5, 1.0, np.full(8, -60.0)), want)
    assert (run(0.5, 3.0, -60.0) != want).any()


@pytest.mark.slow
def test_other_populations_and_the_order_change_no_bit():
    """Others of the same model, before and after it by name, with couplings of their own."""
    more = jn.Coupling("A", "Z", RULE, weight=1.0, name="before")
    net = build([lif("Z", 3), lif(n=N), lif("A", 5)], [*BOTH[::-1], more], DRIVE)
    _, found = traces(net, net.init(3), STEPS)
    for x, want in zip(found, whole()[1]):
        np.testing.assert_array_equal(x, want)


@pytest.mark.slow
def test_what_is_set_is_what_is_described():
    described = jn.Coupling("E", "E", RULE, weight=0.25, gain=1.5, name="gap")
    other = build([lif(n=N)], [described, BOTH[1]], DRIVE)
    v = voltages(NET.set("gap", gain=1.5, weight=0.25), 60, 3)["E"]
    np.testing.assert_array_equal(v, voltages(other, 60, 3)["E"])
    changed = NET.set("quantal", U=0.1, tau_syn=4.0)
    assert float(changed.couplings[1].release.U) == np.float32(0.1)
    assert float(changed.groups[0].receptors[0].tau_syn) == 4.0
