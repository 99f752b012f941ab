"""Several receptors of one arrival: they do what receptors of their own would do."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.synapses import AMPA, GABA_B, NMDA, Delta, Direct, Into, Several
from tests.synapses.driving import alone
from tests.synapses.test_closed_forms import DT, LIF, run

BOTH = Several((AMPA(), NMDA()), (1.0, 0.25))


def fired_at_once(projections):
    """v of a neuron under the spikes of four sources that fire at different times."""
    sources = jn.neurons.LIF(**{**LIF, "t_ref": 1e3})
    populations = [
        jn.Population("A", 4, sources),
        jn.Population("B", 1, jn.neurons.LIF(**LIF)),
    ]
    net = jn.build(jn.Description(populations, projections), 0, DT, jnp.float64)
    kicks = np.zeros((300, 4))
    kicks[[10, 30, 31, 200], range(4)] = 1e6
    record = jn.Record(variables={"B": "v"})
    _, recording = run(net, net.init(0), 300, {"A": kicks}, record)
    return np.asarray(recording.traces["B"]["v"])[:, 0]


def projection(synapse, weight, name):
    rule = jn.connectivity.AllToAll()
    return jn.Projection("A", "B", rule, weight=weight, delay=0.5, synapse=synapse, name=name)


def test_one_projection_does_what_two_would(x64):
    one = fired_at_once([projection(BOTH, 3.0, "both")])
    two = fired_at_once([projection(AMPA(), 3.0, "fast"), projection(NMDA(), 0.75, "slow")])
    assert np.ptp(one) > 1.0
    np.testing.assert_allclose(one, two, rtol=1e-13)


def test_the_state_is_flat_and_named(x64):
    several = Several((AMPA(), NMDA(), Delta(), NMDA(50.0)), [1, 2.0, 0.0, 0.5])
    state = several.init(3)
    assert state._fields == (
        *("ampa_g", "nmda1_g", "nmda1_v"),
        *("nmda2_g", "nmda2_v"),
    )
    assert BOTH.init(3)._fields == ("ampa_g", "nmda_g", "nmda_v")
    again = Several((AMPA(3.0), NMDA()), (0.1, 0.2)).init(1)
    assert type(again) is type(BOTH.init(2)) is not type(state)
    copy = pickle.loads(pickle.dumps(jax.tree.map(np.asarray, state)))
    assert type(copy) is type(state)


def test_shares_and_sums(x64):
    """Each part gets its share, in its own unit; jumps, currents and slopes add."""
    parts = (AMPA(), Delta(), GABA_B())
    arrivals = np.zeros((30, 2))
    arrivals[[0, 4]] = 2.0, 3.0
    states, drives = alone(Several(parts, (0.5, 1.5, 0.1)), arrivals)
    own = [alone(m, arrivals * x) for m, x in zip(parts, (0.5, 1.5, 0.1))]
    np.testing.assert_allclose(drives.jump, 1.5 * arrivals)
    np.testing.assert_array_equal(states.ampa_g, own[0][0].g)
    np.testing.assert_array_equal(states.gaba_b_s, own[2][0].s)
    total = own[0][1].conductance + own[2][1].conductance
    np.testing.assert_allclose(drives.conductance, total, rtol=1e-14)
    np.testing.assert_array_equal(drives.conductance_slope, own[0][1].conductance_slope)


class Ported(jn.Synapse):
    """A receptor with ports."""

    ports = ("a", "b")

    def init(self, n):
        return ()

    def step(self, state, arrivals, v, dt):
        return state, jn.Drive()


BAD = {
    "no parts": (((), ()), "parts", "()"),
    "a class": (((AMPA,), (1.0,)), "parts", "[0]"),
    "a neuron": (((jn.neurons.LIF(),), (1.0,)), "parts", "LIF"),
    "nested": (((AMPA(), BOTH), (1.0, 1.0)), "parts", "[1]"),
    "ports": (((Ported(),), (1.0,)), "parts", "Ported"),
    "into": (((Into(Ported(), "a"),), (1.0,)), "parts", "Into"),
    "too few": (((AMPA(), NMDA()), (1.0,)), "shares", "(1,)"),
    "a number": (((AMPA(),), 1.0), "shares", "1.0"),
    "not finite": (((AMPA(),), (np.nan,)), "shares", "nan at [0]"),
    "an array": (((AMPA(),), (jnp.ones(2),)), "shares", "[0]"),
    "negative": (((AMPA(),), (-1.0,)), "shares", "(-1,)"),
}


@pytest.mark.parametrize(("given", "field", "got"), BAD.values(), ids=BAD)
def test_bad_input(given, field, got):
    with pytest.raises(jn.InvalidValueError) as error:
        Several(*given)
    assert (error.value.owner, error.value.field) == ("Several", field)
    assert got in error.value.got


def test_into_a_port_that_is_not_there():
    assert Into(Ported(), "b").port == "b"
    with pytest.raises(jn.InvalidValueError, match="'c'") as error:
        Into(Ported(), "c")
    assert error.value.field == "port of Ported"


def test_arrivals_for_a_port_of_the_neuron(x64):
    """`Direct` may be a part: what arrives is also passed on."""
    _, drives = alone(Several((AMPA(), Direct("ex")), (1.0, 3.0)), np.ones((3, 1)))
    np.testing.assert_array_equal(drives.arrivals["ex"], np.full((3, 1), 3.0))
