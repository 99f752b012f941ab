"""The magnesium block: what it is, where a step reads it, and what it refuses."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.synapses import AMPA, NMDA, DoubleExponentialNMDA
from tests.synapses.driving import alone, coupled
from tests.synapses.test_closed_forms import one_step
from tests.zoo import cast

V = np.array([-80.0, -60.0, -20.0, 0.0, 40.0])
MODELS = {"NMDA": NMDA(), "DoubleExponentialNMDA": DoubleExponentialNMDA()}


def block(v, mg=1.0):
    return 1.0 / (1.0 + mg / 3.57 * np.exp(-0.062 * np.asarray(v)))


def shares(model, v):
    """Conductance over that of a receptor without a block, in the steps after an arrival."""
    arrivals = np.zeros((len(v), np.shape(v)[1]))
    arrivals[0] = 3.0
    blocked, free = (alone(m, arrivals, v)[1] for m in (model, without_block(model)))
    for part in ("current", "conductance_slope", "current_slope"):
        ratio = getattr(blocked, part)[1:] * free.conductance[1:]
        expected = getattr(free, part)[1:] * blocked.conductance[1:]
        np.testing.assert_allclose(ratio, expected, rtol=1e-12)
    return blocked.conductance[1:] / free.conductance[1:]


def without_block(model):
    return type(model)(mg=0.0)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_block_at_a_voltage_that_stands(model, x64):
    """At -60 mV 1 mM leaves 8 % open, at 0 mV 78 %."""
    found = shares(model, np.broadcast_to(V, (4, V.size)))
    np.testing.assert_allclose(found, np.broadcast_to(block(V), (3, V.size)), rtol=1e-12)
    assert block(-60.0) == pytest.approx(0.080, abs=1e-3)
    assert block(0.0) == pytest.approx(0.781, abs=1e-3)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_block_is_that_of_the_middle_of_the_step(model, x64):
    """On a line of v this is exact; the step after a reset carries it on by half."""
    slope = np.array([3.0, -8.0])
    v = -55.0 + slope * np.arange(4)[:, None]
    np.testing.assert_allclose(shares(model, v), block(v[1:] + 0.5 * slope), rtol=1e-12)
    reset = np.array([[-52.0], [-50.0], [-70.0], [-70.0]])
    np.testing.assert_allclose(shares(model, reset)[:, 0], block([-49.0, -80.0, -70.0]), rtol=1e-12)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_first_step_has_no_step_before(model, x64):
    v = np.array([-40.0, 10.0])
    drives = []
    for m in (model, without_block(model)):
        m = cast(m, np.float64)
        state = jax.tree.map(np.asarray, m.init(2)._replace(g=np.full(2, 5.0)))
        drives.append(one_step(m, state, np.zeros(2), v)[1])
    drive, free = drives
    np.testing.assert_allclose(drive.conductance / free.conductance, block(v), rtol=1e-12)


def test_without_magnesium_it_is_a_conductance(x64):
    events = [(0.5, 2.0), (7.0, 4.0)]
    v = coupled(NMDA(tau_syn=30.0, e_rev=-10.0, mg=0.0), events, 40.0)
    np.testing.assert_allclose(
        v, coupled(AMPA(tau_syn=30.0, e_rev=-10.0), events, 40.0), rtol=1e-13
    )


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_target_without_a_voltage(model):
    with pytest.raises(jn.InvalidValueError) as error:
        jax.eval_shape(lambda: model.step(model.init(2), np.zeros(2, np.float32), None, 0.1))
    assert (error.value.owner, error.value.field) == (type(model).__name__, "target")
