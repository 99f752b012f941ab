"""Inhibitory STDP holds a neuron at its target rate."""

import numpy as np
import pytest

import jaxneuro as jn

pytestmark = pytest.mark.science


@pytest.mark.parametrize("target", [5.0, 10.0])
def test_the_rate_settles_at_the_target(target):
    """Vogels et al. (2011), eq. 2: the mean change is 0 where the rate is alpha / (2 tau).

    That holds where spikes of the inputs do not make the neuron's own spikes less likely, so the
    inputs are many and each is weak. In the recurrent network of the example they do, and its rate
    is above the target by as much (`test_plasticity_examples.py`).
    """
    rule = jn.plasticity.VogelsSTDP.with_target(target, eta=0.002, w_max=2.0)
    model = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    excitatory = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)
    inhibitory = jn.synapses.ExponentialConductance(tau_syn=10.0, e_rev=-80.0)
    everyone = jn.connectivity.AllToAll()
    description = jn.Description(
        [
            jn.Population("inhibitory", 3200, jn.neurons.PoissonSource(10.0)),
            jn.Population("neurons", 50, model),
        ],
        [
            jn.Projection(
                *("inhibitory", "neurons", everyone),
                weight=0.01,
                delay=0.5,
                synapse=inhibitory,
                plasticity=rule,
            )
        ],
        [jn.Stimulation("neurons", jn.stimuli.Poisson(8000.0), weight=0.3, synapse=excitatory)],
    )
    net = jn.build(description, key=1, dt=0.5)
    settled = jn.simulate(net, 60_000.0, progress=False)
    later = jn.simulate(net, 60_000.0, state=settled.state, progress=False)
    assert later.rate("neurons") == pytest.approx(target, rel=0.05)
    assert np.asarray(net.weights(later.state, "inhibitory->neurons")).max() < 2.0
