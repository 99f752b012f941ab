"""Every receptor whose arrivals open channels refuses negative weights."""

import jax
import jax.numpy as jnp
import pytest

import jaxneuro as jn
from tests.zoo import CASES

RECEPTORS = {name: c.model for name, c in CASES.items() if isinstance(c.model, jn.Synapse)}


@pytest.mark.parametrize("name", RECEPTORS)
def test_a_conductance_takes_no_negative_weight(name):
    model = RECEPTORS[name]
    arrivals = jnp.zeros((len(model.ports), 1) if model.ports else 1)
    _, drive = jax.eval_shape(
        lambda model: model.step(model.init(1), arrivals, jnp.zeros(1), 0.1), model
    )
    assert (model.weight_sign == 1) == (drive.conductance is not None)
