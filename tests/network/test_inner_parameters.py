"""Parameters of models inside models: named, set, scaled and differentiated like any other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.io import format_description, parse_description

DT, STEPS = 0.1, 100
syn, PAIR = jn.synapses, jn.connectivity.AllToAll()
RUN = jax.jit(jn.scan, static_argnums=(2, 4))


def described(mg=1.0, share=0.4, alpha=1.1, g=120.0, **keywords):
    """Two receptors of one arrival, a ligand gate, and channels of a neuron."""
    both = syn.Several((syn.AMPA(), syn.NMDA(mg=mg)), (1.0, share))
    gate = syn.LigandGated.ampa(syn.DestexheKinetics(alpha, 0.19))
    sodium = jn.channels.SquidSodium(g=g)
    squid = jn.neurons.HodgkinHuxley(channels=(sodium, *jn.neurons.HodgkinHuxley().channels[1:]))
    cells = [
        jn.Population("A", 3, jn.neurons.LIF()),
        jn.Population("B", 2, jn.neurons.LIF(tau_m=20.0)),
        jn.Population("H", 2, squid),
    ]
    graded = {"release": jn.release.VoltageRelease(v_half=-60.0), "delay": DT}
    projections = [
        jn.Projection("A", "B", PAIR, weight=0.5, synapse=both, name="both", **graded),
        jn.Projection("A", "H", PAIR, weight=0.01, synapse=gate, name="gate", **graded),
    ]
    drive = [jn.Stimulation("A", jn.stimuli.Current(400.0))]
    return jn.Description(cells, projections, drive, **keywords)


def built(*args, **keywords):
    return jn.build(described(*args, **keywords), 1, DT, jnp.float64)


def voltages(net):
    record = jn.Record(spikes=False, variables={"B": "v", "H": "v"})
    traces = RUN(net, net.init(0), STEPS, None, record)[1].traces
    return np.concatenate([np.asarray(traces[name]["v"]) for name in "BH"], axis=1)


@pytest.mark.slow
def test_what_is_set_is_as_if_it_were_described(x64):
    usual = built()
    changed = usual.set("both", nmda_mg=0.2, nmda_share=0.9).set("gate", kinetics_alpha=2.0)
    changed = changed.set("H", squidsodium_g=110.0)
    v = voltages(changed)
    np.testing.assert_array_equal(v, voltages(built(0.2, 0.9, 2.0, 110.0)))
    assert (np.abs(v - voltages(usual)).max(axis=0) > 1e-3).all()
    for name, values in (
        ("both", {"nmda_mg": -1.0}),
        ("both", {"nmda_share": -1.0}),
        ("gate", {"kinetics_beta": -1.0}),
    ):
        with pytest.raises(jn.InvalidValueError) as raised:
            usual.set(name, **values)
        assert (raised.value.owner, raised.value.field) == (f"projection {name!r}", *values)
    with pytest.raises(ValueError, match="'nmda_e_rev'"):
        usual.set("both", nmda_e=1.0)


@pytest.mark.slow
def test_a_gradient_reaches_a_share(x64):
    net, state = built(), built().init(0)

    def last(share):
        after, _ = jn.scan(net.set("both", nmda_share=share), state, STEPS)
        return jnp.sum(net.read(after, "B", "v"))

    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(last)))(np.array([0.4 - 1e-5, 0.4 + 1e-5]))
    assert float(slopes[0]) == pytest.approx(float(values[1] - values[0]) / 2e-5, rel=1e-4)


@pytest.mark.slow
def test_modulators_scale_them(x64):
    """A level that does not move is the network with other parameters; a range is a range."""
    scales = {
        "both": {"nmda_mg": -0.8, "nmda_share": 1.25},
        "gate": {"kinetics_alpha": 0.5},
        "H": {"squidsodium_g": -0.1},
    }
    m = jn.Modulator("m", 1e12, scales, start=1.0, lowest=0.1, highest=3.0)
    text = format_description(described(modulators=[m]))
    assert '"shares": [1.0, 0.4]' in text
    again = jn.build(parse_description(text), 1, DT, jnp.float64)
    expected = voltages(built(0.2, 0.9, 1.65, 108.0))
    np.testing.assert_allclose(voltages(again), expected, rtol=1e-9)
    bad = jn.Modulator("m", 1.0, {"both": {"ampa_tau_syn": -1.0}}, start=0.0)
    with pytest.raises(jn.InvalidValueError, match="ampa_tau_syn of 'both' times 0") as raised:
        built(modulators=[bad])
    assert (raised.value.owner, raised.value.field) == ("modulator 'm'", "lowest")
