"""Means of populations and the LFP proxy, and that no record changes the dynamics."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._run.recorders import lattice_mean
from tests.network.networks import balanced
from tests.refusing import assert_refused

NET = jn.build(balanced(delay=jn.Uniform(0.5, 8.0)), 1, 0.1)
run = jax.jit(jn.scan, static_argnums=(2, 4))
MEAN = jax.jit(lattice_mean)


@pytest.mark.slow(but=["near-1"])
@pytest.mark.parametrize("n", [1, 2, 3, 31, 1000, 4097, 200_000])
@pytest.mark.parametrize("law", ["near", "wide", "constant", "large"])
def test_the_mean_is_exact_to_float32(n, law):
    rng = np.random.default_rng(n)
    x = {
        "near": lambda: rng.normal(-60.0, 3.0, n),
        "wide": lambda: rng.normal(0.0, 1.0, n) * 10.0 ** rng.integers(-20, 6, n),
        "constant": lambda: np.full(n, -61.7),
        "large": lambda: rng.uniform(-1.0, 3.0, n) * 1e38,
    }[law]().astype(np.float32)
    exact = x.astype(np.float64).mean()
    # half a unit of the lattice, and the roundings of the sum and of the quotient
    bound = np.abs(x).max() * 2.0**-24 + abs(exact) * 2.0**-22
    got = MEAN(x)
    assert abs(float(got) - exact) <= bound
    if n in (3, 1000):  # each operation of an eager one is a program of each size
        assert lattice_mean(jnp.asarray(x)) == got


def test_no_order_changes_a_bit_of_the_mean():
    rng = np.random.default_rng(0)
    x = rng.normal(-60.0, 5.0, 3001).astype(np.float32)
    want = np.asarray(MEAN(x))
    many = np.stack([rng.permutation(x) for _ in range(20)])
    assert len({np.float32(np.cumsum(row)[-1]) for row in many}) > 1  # a plain sum's bits change
    for row in many:
        assert np.asarray(MEAN(row)) == want
    assert (np.asarray(jax.jit(jax.vmap(lattice_mean))(many)) == want).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_mean_of_what_is_not_finite_is_nan(bad):
    assert np.isnan(MEAN(np.float32([1.0, bad, 2.0])))
    assert np.isnan(MEAN(np.zeros(0, np.float32)))
    assert MEAN(np.zeros(3, np.float32)) == 0.0


def test_the_mean_in_float64_and_its_gradient(x64):
    x = np.random.default_rng(1).normal(-60.0, 5.0, 999)
    np.testing.assert_allclose(MEAN(x), x.mean(), rtol=1e-15)
    np.testing.assert_allclose(jax.jit(jax.grad(lattice_mean))(x), 1 / 999, rtol=1e-15)


@pytest.mark.slow
def test_means_are_the_means_of_the_traces():
    names = {"E": ("v", "refractory"), "E->I": "g"}
    record = jn.Record(variables=names, means=names, interval=0.7)
    _, recording = run(NET, NET.init(0), 210, None, record)
    for name, variables in recording.means.items():
        for variable, x in variables.items():
            assert x.shape == (30,)
            assert x.dtype == np.float32
            traces = np.asarray(recording.traces[name][variable], np.float64)
            np.testing.assert_allclose(x, traces.mean(axis=1), rtol=1e-6, atol=1e-8)
    assert set(recording.means["E"]) == {"v", "refractory"}


@pytest.mark.slow
def test_the_lfp_is_that_of_the_conductances():
    """From the recorded g and v: mean g over the step, times the distance from e_rev."""
    variables = {"E": ("v", "spikes"), "E->E": "g", "I->E": "g"}
    record = jn.Record(variables=variables, lfp=("I", "E"), interval=0.5, spikes=False)
    _, recording = run(NET, NET.init(0), 500, None, record)
    v = np.asarray(recording.traces["E"]["v"], np.float64)
    spikes = np.asarray(recording.traces["E"]["spikes"])
    assert spikes.any()
    v = np.where(spikes, -60.0, v)  # the next step starts with the reset
    expected = np.zeros(100)
    for name, tau, e_rev in (("E->E", 5.0, 0.0), ("I->E", 10.0, -80.0)):
        g = np.asarray(recording.traces[name]["g"], np.float64)
        mean = g * tau / 0.1 * (1 - np.exp(-0.1 / tau))
        expected += np.abs(mean * (e_rev - v)).mean(axis=1)
    np.testing.assert_allclose(recording.lfp["E"], expected, rtol=1e-5)
    assert expected[-1] > 1.0
    assert set(recording.lfp) == {"E", "I"}


@pytest.mark.slow
def test_the_lfp_of_currents_jumps_and_nothing():
    lif, syn = jn.neurons.LIF(), jn.synapses
    populations = [jn.Population(k, 4, lif, initial={"v": -50.0}) for k in "AB"]
    populations += [jn.Population("far", 3, jn.neurons.LIF(tau_m=15.0))]
    rule = jn.connectivity.AllToAll()
    made = [
        jn.Projection("A", "B", rule, weight=30.0, delay=0.1, synapse=syn.Exponential(2.0)),
        jn.Projection(
            "A", "B", rule, weight=-70.0, delay=0.1, synapse=syn.Exponential(3.0), name="inh"
        ),
        jn.Projection("A", "B", rule, weight=0.1, delay=0.1, synapse=syn.Delta(), name="jump"),
    ]
    net = jn.build(jn.Description(populations, made), 0, 0.1)
    record = jn.Record(variables={"A->B": "current", "inh": "current"}, lfp=("A", "B", "far"))
    _, recording = run(net, net.init(0), 20, None, record)
    expected = np.zeros(20)
    for name, tau in (("A->B", 2.0), ("inh", 3.0)):
        current = np.asarray(recording.traces[name]["current"], np.float64)
        expected += np.abs(current).mean(axis=1) * tau / 0.1 * (1 - np.exp(-0.1 / tau))
    np.testing.assert_allclose(recording.lfp["B"], expected, rtol=1e-5)
    assert expected.max() > 100.0
    np.testing.assert_array_equal(recording.lfp["A"], np.zeros(20))
    np.testing.assert_array_equal(recording.lfp["far"], np.zeros(20))


def summed(state, output):
    return output.spikes["E"].sum(), state.groups[0].neurons.v.max()


PARTS = {
    "spikes": True,
    "variables": {"E": ("v", "refractory"), "E->I": "g"},
    "rates": True,
    "means": {"E": "v", "I->E": "g"},
    "lfp": ("E", "I"),
    "function": summed,
}


# Eight runs in which any two of the seven factors meet in all their combinations.
DESIGN = [[bool(bin(run & mask).count("1") % 2) for mask in range(1, 8)] for run in range(8)]


@pytest.mark.slow
def test_no_record_changes_a_bit_of_the_dynamics():
    """Whether this or that is recorded, in every step or not."""
    want = run(NET, NET.init(0), 120, None, jn.Record(spikes=False))[0]
    for *chosen, often in DESIGN:
        parts = {k: x for (k, x), on in zip(PARTS.items(), chosen, strict=True) if on}
        record = jn.Record(**{"spikes": False, **parts})
        if record.has_samples:
            record = dataclasses.replace(record, interval=0.1 if often else 0.5)
        state, _ = run(NET, NET.init(0), 120, None, record)
        for x, y in zip(jax.tree.leaves(state), jax.tree.leaves(want), strict=True):
            np.testing.assert_array_equal(x, y, err_msg=f"{list(parts)}, {record.interval}")


@pytest.mark.slow
def test_a_gradient_goes_through_a_mean_and_the_lfp():
    def loss(gain):
        net = NET.set("E->E", gain=gain)
        record = jn.Record(spikes=False, means={"E": "v"}, lfp="E", interval=5.0)
        _, recording = jn.scan(net, net.init(0), 100, None, record)
        return recording.means["E"]["v"][-1], recording.lfp["E"][-1]

    for slope in jax.jit(jax.jacrev(loss))(1.0):
        assert np.isfinite(slope)
        assert slope > 0


ANY_NAME, LFP = (
    "population, projection, stimulation or receptor to record",
    "population to record the LFP of",
)
BAD = {
    "means": ({"means": {"X": "v"}}, ANY_NAME, "'X'"),
    "variable": ({"means": {"E": "u"}}, "state variable of population 'E'", "'u'"),
    "lfp": ({"lfp": "X"}, LFP, "'X'"),
    "lfp of a projection": ({"lfp": ("E", "E->E")}, LFP, "'E->E'"),
}


@pytest.mark.parametrize("case", BAD)
def test_unknown_names(case):
    values, *error = BAD[case]
    short, long = jn.Record(**values), jn.Record(**values, interval=1.0)
    assert_refused(lambda: jn.scan(NET, NET.init(0), 10, None, short), "scan", *error)
    assert_refused(lambda: jn.simulate(NET, 0.3, record=long), "simulate", *error)


def test_a_name_or_several():
    assert jn.Record(lfp="E") == jn.Record(lfp=("E",))
    assert hash(jn.Record(means={"E": "v"})) == hash(jn.Record(means={"E": ("v",)}))
