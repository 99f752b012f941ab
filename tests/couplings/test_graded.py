"""Graded coupling against oracles; ports of one receptor; what projections do likewise."""

import numpy as np
import pytest

import jaxneuro as jn
from tests.couplings.networks import DT, LIF, RUN, build, current, explicit, lif, voltages
from tests.oracle import coupling as oracle
from tests.oracle import synapses
from tests.oracle.transmitters import moved

rl, syn = jn.release, jn.synapses
STEPS = 300
PRE, POST = np.array([0, 1, 1, 5, 7, 2]), np.array([3, 3, 4, 0, 7, 1])
WEIGHT = np.array([3.0, 1.0, 2.5, 4.0, 2.0, 0.5])
RECEPTORS = {
    "current": (syn.Exponential(3.0), synapses.exponential, {"tau_syn": 3.0}, 20.0),
    "conductance": (
        syn.ExponentialConductance(4.0, -20.0),
        synapses.exponential_conductance,
        {"tau_syn": 4.0, "e_rev": -20.0},
        0.2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", RECEPTORS)
def test_release_from_the_voltage(kind, average, x64):
    """v after a reset at the end of a step; it arrives at the end of the next."""
    synapse, receptor, fields, gain = RECEPTORS[kind]
    release = rl.VoltageRelease(0.8, -57.0, 2.0)
    how = {"release": release, "synapse": synapse, "gain": gain, "average": average}
    c = jn.Coupling("E", "E", explicit(PRE, POST), weight=WEIGHT, **how)
    injected = np.linspace(150.0, 400.0, 8)
    net = build([lif()], [c], [current("E", injected)], dtype=np.float64)
    count = np.bincount(POST, minlength=8)[POST] if average else 1.0
    pairs = PRE, POST, gain * WEIGHT / count
    graded = lambda v: 0.8 / (1.0 + np.exp(-(v + 57.0) / 2.0)), receptor, fields
    want = oracle.run(LIF, lif().initial["v"], injected, pairs, STEPS, DT, graded=graded)
    assert (want >= LIF["v_th"]).sum() > 10
    np.testing.assert_allclose(voltages(net, STEPS)["E"], want, rtol=1e-11)


@pytest.mark.slow
def test_a_coupling_is_a_projection_with_a_delay_of_one_step(x64):
    """Of every release: lixirnet's transmitters, a rate, depression, plain spikes."""
    kinds = {
        "cleared": (rl.ClearedTransmitter(1.0, 0.5), syn.LigandGated(syn.DestexheKinetics.ampa())),
        "rate": (rl.RateRelease(5.0), syn.Exponential(2.0)),
        "depressing": (rl.TsodyksMarkram(0.5, 80.0), syn.AMPA()),
        "plain": (rl.Spikes(), syn.Delta()),
    }
    weights = {"cleared": 4.0, "rate": 0.5, "depressing": 6.0, "plain": 2.0}
    rule, found = explicit(PRE, POST), []
    for coupled in (True, False):
        made: list = [[], []]
        for name, (release, synapse) in kinds.items():
            how = {"release": release, "synapse": synapse, "weight": weights[name], "name": name}
            if coupled:
                made[0].append(jn.Coupling("E", "E", rule, **how))
            else:
                made[1].append(jn.Projection("E", "E", rule, delay=DT, **how))
        stimuli = [current("E", np.linspace(200.0, 400.0, 8))]
        net = build([lif()], made[0], stimuli, made[1], dtype=np.float64)
        found.append(voltages(net, STEPS)["E"])
    assert (found[0] >= LIF["v_th"]).sum() > 20
    np.testing.assert_allclose(found[0], found[1], rtol=1e-11)


def test_rate_units(x64):
    """`r(t+dt) = g x + (r - g x) exp(-dt/tau)`, x what the units gave in the step before."""
    weight = np.random.default_rng(2).normal(0.0, 0.4, (6, 6))
    n, units = (
        6,
        jn.Population("R", 6, jn.neurons.LinearRate(8.0, 0.9), initial={"r": np.arange(6.0)}),
    )
    how = {"release": rl.Graded(), "synapse": syn.Direct("input"), "weight": weight}
    c = jn.Coupling("R", "R", jn.connectivity.AllToAll(), **how)
    net = build([units], [c], dtype=np.float64)
    record = jn.Record(spikes=False, variables={"R": "r"})
    got = np.asarray(RUN(net, net.init(0), 100, None, record)[1].traces["R"]["r"])
    r, given = np.arange(6.0), np.zeros(n)
    for k in range(100):
        x = 0.9 * (weight.T @ given)
        given = r = x + (r - x) * np.exp(-DT / 8.0)
        np.testing.assert_allclose(got[k], r, rtol=1e-10, atol=1e-12)


PORTS = {"glutamate": (0.5, 3), "gaba": (0.7, 1), "dopamine": (0.25, 2)}


def of_ports(coupled):
    """Three couplings, or projections, into the ports of one receptor of B."""
    receptor, made = syn.DopaGluGABA(), []
    for port, (weight, first) in PORTS.items():
        how = {
            "release": rl.PulsedTransmitter(1.0),
            "synapse": syn.Into(receptor, port),
            "weight": weight,
            "name": port,
        }
        ends = "A", "B", explicit([first, first + 1], [0, 2])
        more = {} if coupled else {"delay": DT}
        made.append((jn.Coupling if coupled else jn.Projection)(*ends, **how, **more))
    return made


@pytest.mark.parametrize("coupled", [True, False])
def test_each_port_gets_its_arrivals(coupled, x64):
    """All share one receptor; r is the concentration that arrived, by the kinetics of lixirnet."""
    parts = {"couplings" if coupled else "projections": of_ports(coupled)}
    times = jn.stimuli.SpikeTimes([0.4, 0.9, 1.4, 1.9, 2.4], [0, 1, 2, 3, 4])
    kicks = jn.Stimulation("A", times, weight=100.0, synapse=syn.Delta())
    net = build([lif("A", 5), lif("B", 3, v_th=1e3)], stimuli=[kicks], dtype=np.float64, **parts)
    assert [len(g.receptors) for g in net.groups] == [2]
    fractions = ("r_ampa", "r_nmda", "r_gaba", "r_d1", "r_d2")
    record = jn.Record(variables={"B.DopaGluGABA": fractions, "A": "v"})
    traces = RUN(net, net.init(0), 40, None, record)[1].traces
    spikes = np.asarray(traces["A"]["v"]) >= LIF["v_th"]
    assert (spikes.sum(0) == 1).all()
    arriving = np.zeros((3, 41, 3))
    for number, (weight, first) in enumerate(PORTS.values()):
        for source, target in ((first, 0), (first + 1, 2)):
            arriving[number, 1:, target] += weight * spikes[:, source]
    kinetics = {"kind": "ApproximateKinetics", "r_max": 1.0}
    for name, port in zip(fractions, (0, 0, 1, 2, 2)):
        r = np.zeros(3)
        for k in range(40):
            r = moved(kinetics, r, arriving[port, k], DT)
            np.testing.assert_allclose(np.asarray(traces["B.DopaGluGABA"][name])[k], r, rtol=1e-12)
    changed = net.set("B.DopaGluGABA", g_nmda=2.0).groups[0].receptors
    assert 2.0 in [float(np.max(r.g_nmda)) for r in changed if hasattr(r, "g_nmda")]
