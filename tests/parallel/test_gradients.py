"""The gradient of a network over a mesh is that of the network on one device."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import parallel
from jaxneuro.surrogates import FastSigmoid

from .networks import LIF, mesh

STEPS, SIZES = 100, {"A": 13, "B": 7}
# Device 0 has no neuron of B, device 2 has nobody, and tables differ in sections and length.
OWNERS = parallel.Given({"A": np.arange(13) % 5 % 2, "B": np.repeat([1, 3], [4, 3])})


def network(gaps):
    """Surrogates, depression, weights of each synapse and one for all; and gap junctions."""
    lif = dataclasses.replace(LIF, surrogate=FastSigmoid(2.0))
    start = {"v": jn.Uniform(-60.0, -50.0)}
    rule = jn.connectivity.FixedProbability(0.4)
    given = {"delay": 0.5, "synapse": jn.synapses.ExponentialConductance(5.0)}
    depressing = jn.release.TsodyksMarkram()
    return jn.build(
        jn.Description(
            [jn.Population(name, n, lif, initial=start) for name, n in SIZES.items()],
            [
                jn.Projection("A", "B", rule, weight=8.0, release=depressing, **given),
                jn.Projection("A", "A", rule, weight=jn.Uniform(1.0, 3.0), **given),
                jn.Projection("B", "A", rule, weight=2.0, **given),
            ],
            [jn.Stimulation("A", jn.stimuli.Current(300.0))],
            couplings=[jn.Coupling("B", "B", rule, weight=jn.Uniform(0.5, 1.0))] if gaps else [],
        ),
        *(0, 0.1, jnp.float64),
    )


VALUES = {
    ("A->A", "gain"): 1.0,
    ("A->B", "gain"): 1.0,
    ("A->B", "weight"): 8.0,
    ("A->B", "tau_rec"): 800.0,
    ("B", "tau_m"): 20.0,
    ("Current->A", "amplitude"): 300.0,
}


def loss(values, net):
    """Of spikes in every step and of the voltages at the end."""
    for (name, key), x in values.items():
        net = net.set(name, **{key: x})
    record = jn.Record(
        spikes=False,
        rates=True,
        function=lambda _, output: (output.spikes["B"] * jnp.arange(7.0)).sum(),
    )
    state, recording = jn.scan(net, net.init(0), STEPS, None, record)
    v = net.read(state, "A", "v") * jnp.arange(13.0) + net.read(state, "B", "v").sum()
    return recording.function.sum() + recording.counts["B"].sum() + 0.01 * v.sum()


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, pytest.param(True, marks=pytest.mark.science)])
def test_through_spikes_releases_and_gap_junctions(x64, gaps):
    net = network(gaps)
    values = dict(VALUES)
    if gaps:
        values["B~B", "gain"] = 1.0
    slopes = jax.jit(jax.grad(loss))
    one = slopes(values, net)
    many = slopes(values, parallel.shard(net, mesh(4), OWNERS))
    for name, slope in one.items():
        assert np.isfinite(slope), name
        assert slope != 0, name
        np.testing.assert_allclose(many[name], slope, rtol=1e-9, err_msg=str(name))
