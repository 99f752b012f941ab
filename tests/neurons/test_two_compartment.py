"""Two compartments against the closed form of their linear equations."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import jaxneuro as jn
from jaxneuro.integrators import exponential_euler, forward_euler
from jaxneuro.neurons import TwoCompartment
from tests.neurons.driving import orders, run
from tests.oracle.biophysical import two_compartment
from tests.zoo import cast

C_S, C_D, G_LS, G_LD, G_C, E_L, TAU_D = 200.0, 100.0, 10.0, 5.0, 10.0, -70.0, 5.0
SILENT = TwoCompartment(v_th=1e3)
MATRIX = np.array(
    [
        [-(G_LS + G_C) / C_S, G_C / C_S, 0.0],
        [G_C / C_D, -(G_LD + G_C) / C_D, 1 / C_D],
        [0.0, 0.0, -1 / TAU_D],
    ]
)


def test_steady_state_and_attenuation(x64):
    """A current into the soma: the input conductance, and what is left of it in the dendrite."""
    states, _ = run(SILENT, 5000, 0.1, current=150.0)
    soma = 150.0 / (G_LS + G_C * G_LD / (G_C + G_LD))
    np.testing.assert_allclose(states.v[-1] - E_L, soma, rtol=1e-10)
    np.testing.assert_allclose(states.v_d[-1] - E_L, soma * G_C / (G_C + G_LD), rtol=1e-10)


def test_a_charge_into_the_dendrite_reaches_the_soma_in_proportion(x64):
    """The areas of both answers: current times transfer resistance."""
    state = cast(SILENT, jnp.float64).init(1)._replace(i_d=np.full(1, 80.0))
    states, _ = run(SILENT, 4000, 0.1, state=state)
    together = G_LS * G_LD + G_C * (G_LS + G_LD)
    np.testing.assert_allclose(0.1 * (states.v - E_L).sum(), 400.0 * G_C / together, rtol=1e-3)
    expected = 400.0 * (G_LS + G_C) / together
    np.testing.assert_allclose(0.1 * (states.v_d - E_L).sum(), expected, rtol=5e-3)


def test_the_exact_solution(x64):
    state = (
        cast(SILENT, jnp.float64)
        .init(1)
        ._replace(v=np.full(1, -60.0), v_d=np.full(1, -80.0), i_d=np.full(1, 90.0))
    )
    states, _ = run(SILENT, 200, 0.1, state=state)
    start = np.array([-60.0 - E_L, -80.0 - E_L, 90.0])
    for k in (0, 9, 199):
        v, v_d, i_d = expm(MATRIX * 0.1 * (k + 1)) @ start
        got = [states.v[k, 0] - E_L, states.v_d[k, 0] - E_L, states.i_d[k, 0]]
        np.testing.assert_allclose(got, [v, v_d, i_d], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("method", [None, forward_euler, exponential_euler])
def test_order(method, x64):
    model = SILENT if method is None else dataclasses.replace(SILENT, method=method)
    steps = [20, 40, 80] if method is None else [800, 1600, 3200]
    equations = lambda y, p, i, g: two_compartment(y, p, i, g, False)  # noqa: E731
    found, errors = orders(model, equations, 20.0, steps, 250.0, i_d=60.0)
    assert np.abs(found - model.method.order).max() < 0.25, errors


def test_the_dendrite_goes_on_while_the_soma_is_held(x64):
    """It sees a soma that stands at the reset, not one that moves within the step."""
    model = TwoCompartment(t_ref=4.0)
    states, spikes = run(model, 2000, 0.1, current=700.0)
    first = int(np.flatnonzero(spikes[:, 0])[0])
    assert states.v[first, 0] >= -50.0
    held = slice(first + 1, first + 41)
    np.testing.assert_array_equal(states.v[held], -60.0)
    assert states.v[first + 41, 0] > -60.0
    rate = (G_LD + G_C) / C_D
    end = (G_LD * E_L + G_C * -60.0) / (G_LD + G_C)
    expected = end + (states.v_d[first, 0] - end) * np.exp(-rate * 0.1 * np.arange(1, 41))
    np.testing.assert_allclose(states.v_d[held, 0], expected, rtol=1e-9)


def test_without_coupling_it_is_the_lif(x64):
    lif = jn.neurons.LIF(20.0, 200.0, -70.0, -50.0, -60.0, 2.0)
    two = TwoCompartment(g_c=0.0)
    currents = np.array([190.0, 250.0, 400.0])
    ours = run(two, 5000, 0.1, 3, current=currents)
    theirs = run(lif, 5000, 0.1, 3, current=currents)
    assert ours[1].sum() > 50
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_allclose(ours[0].v, theirs[0].v, rtol=1e-8)


def test_arrivals_reach_the_dendrite_of_a_network():
    """A spike adds its weight to i_d at the end of the step in which it arrives."""
    populations = [
        jn.Population("source", 1, jn.neurons.LIF(t_ref=0.0)),
        jn.Population("target", 2, TwoCompartment()),
    ]
    projections = [
        jn.Projection(
            *("source", "target", jn.connectivity.AllToAll()),
            weight=300.0,
            delay=0.5,
            synapse=jn.synapses.Direct("dendrite"),
        )
    ]
    net = jn.build(jn.Description(populations, projections), 0, 0.1)
    kick = np.zeros((100, 1))
    kick[9] = 1e6
    record = jn.Record(variables={"target": ("i_d", "v", "v_d")})
    traces = jn.scan(net, net.init(0), 100, {"source": kick}, record)[1].traces["target"]
    i_d = np.asarray(traces["i_d"])[:, 0]
    first = int(np.flatnonzero(i_d)[0])
    assert i_d[first] == 300.0
    np.testing.assert_allclose(i_d[first:], 300.0 * np.exp(-0.02 * np.arange(100 - first)), 1e-4)
    rise = np.asarray(traces["v_d"])[:, 0] + 70.0
    assert (np.abs(rise[: first + 1]) < 1e-4).all()
    assert rise.max() > np.asarray(traces["v"])[:, 0].max() + 70.0 > 0.5


def test_largest_step_is_that_of_the_fastest_mode():
    fastest = np.abs(np.linalg.eigvals(MATRIX)).max()
    assert float(TwoCompartment().largest_step()) == pytest.approx(2.785 / fastest)
    quick = TwoCompartment(tau_d=0.1, method=forward_euler)
    assert float(quick.largest_step()) == pytest.approx(0.2)
    with pytest.raises(ValueError, match=r"0\.2"):
        jn.simulate(quick, 5.0, n=1, dt=0.5)
    assert TwoCompartment(method=exponential_euler).largest_step() is None
