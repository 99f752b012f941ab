"""Plastic synapses of the package equal those of NEST: the weight at every presynaptic spike.

NEST changes a weight only when a presynaptic spike arrives, so weights are compared there, in
float64, over 10 s of random spikes with coincidences (`plasticity_cases.py`). What NEST does
otherwise, and why, is said in `test_plasticity_nest.py`, where the oracle is compared with it.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.plasticity.scheduled import Wiring, network, run
from tests.science.plasticity_cases import names, nest_cases

pytestmark = pytest.mark.science
P = jn.plasticity
RULES = {
    "pair": P.PairSTDP,
    "power_law": P.PowerLawSTDP,
    "triplet": P.TripletSTDP,
    "vogels": P.VogelsSTDP,
    "reward_modulated": P.RewardModulatedSTDP,
}


def weights_of(case):
    """What the synapse of a case sends for each presynaptic spike."""
    steps = case.last + 1
    pre, post = np.zeros((steps, 1), bool), np.zeros((steps, 1), bool)
    pre[case.pre], post[case.post] = True, True
    signals = {}
    if case.rewards:
        signals["reward"] = np.zeros(steps)
        for step, amount in case.rewards:
            signals["reward"][step] += amount
    wiring = Wiring(np.array([0]), np.array([0]), case.delay, 0, np.array([case.weight]))
    net = network(RULES[case.rule](**case.parameters), 1, 1, wiring, case.dt, jnp.float64)
    arrived, _, _ = run(net, pre, post, signals=signals)
    sent = np.array(case.pre)
    return arrived[sent[sent + case.delay < steps] + case.delay, 0]


@pytest.mark.parametrize("name", names())
def test_the_same_weights_as_nest(name, x64):
    case = nest_cases()[name]
    got = weights_of(case)
    np.testing.assert_allclose(got, case.weights[: got.size], rtol=1e-6, atol=1e-6 * case.weight)
