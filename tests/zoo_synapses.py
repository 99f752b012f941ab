"""Receptors: their cases and settings for the laws."""

import numpy as np

import jaxneuro as jn
from tests.oracle import receptors
from tests.zoo_case import Case, Setting


def oracle(step):
    """The drives of one receptor function over all steps."""

    def run(params, inputs, n, dt):
        state, out = {}, []
        for arrivals, v in zip(*map(np.asarray, inputs)):
            state, drive = step(state, arrivals, v, params, dt)
            out.append({name: np.broadcast_to(x, (n,)) for name, x in drive.items()})
        return {name: [drive[name] for drive in out] for name in out[0]}

    return run


SETTINGS: dict[str, Setting] = {
    "GABA_B": Setting(arriving=3.0),
    "TwoStateConductance": Setting(arriving=0.7),
}
CASES: dict[str, Case] = {
    "Alpha": Case(jn.synapses.Alpha(1.7), oracle(receptors.alpha)),
    "AlphaConductance": Case(
        jn.synapses.AlphaConductance(2.3, -68.0), oracle(receptors.alpha_conductance)
    ),
    "DoubleExponential": Case(
        jn.synapses.DoubleExponential(0.7, 4.2), oracle(receptors.double_exponential)
    ),
    "DoubleExponentialConductance": Case(
        jn.synapses.DoubleExponentialConductance(1.1, 3.6, -73.0),
        oracle(receptors.double_exponential_conductance),
    ),
    "AMPA": Case(jn.synapses.AMPA(2.2, 3.0), oracle(receptors.exponential_conductance)),
    "GABA_A": Case(jn.synapses.GABA_A(5.5, -72.0), oracle(receptors.exponential_conductance)),
    "NMDA": Case(jn.synapses.NMDA(60.0, 4.0, 1.3), oracle(receptors.nmda)),
    "DoubleExponentialNMDA": Case(
        jn.synapses.DoubleExponentialNMDA(2.5, 70.0, 3.0, 0.8),
        oracle(receptors.double_exponential_nmda),
    ),
    "GABA_B": Case(
        jn.synapses.GABA_B(0.08, 0.0014, 0.2, 0.03, 90.0, 2.0, -91.0), oracle(receptors.gaba_b)
    ),
    "TwoStateConductance": Case(
        jn.synapses.TwoStateConductance(0.9, 0.21, 3.0, 2.0), oracle(receptors.two_state)
    ),
    "Several": Case(
        jn.synapses.Several(
            (
                jn.synapses.AMPA(2.2, 3.0),
                jn.synapses.NMDA(60.0, 4.0, 1.3),
                jn.synapses.Alpha(1.7),
            ),
            (1.0, 0.4, 2.0),
        ),
        oracle(receptors.several),
    ),
}
