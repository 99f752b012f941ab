"""The two balanced networks of Brette et al. (2007), doi:10.1007/s10827-007-0038-6.

COBA with a constant drive and CUBA, in their common Brian2 form; 80 inputs per neuron at every
size. Populations may be split into parts of equal size, which describes the same statistics.
"""

import jaxneuro as jn

INPUTS = 80


def coba(neurons: int, parts: int = 1, inputs: int = INPUTS) -> jn.Description:
    """Conductance-based: 6 and 67 nS, 5 and 10 ms, 200 pA into every neuron."""
    return _description(
        neurons,
        parts,
        inputs,
        jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0),
        (6.0, jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)),
        (67.0, jn.synapses.ExponentialConductance(tau_syn=10.0, e_rev=-80.0)),
        jn.stimuli.Current(200.0),
    )


def cuba(neurons: int, parts: int = 1, inputs: int = INPUTS) -> jn.Description:
    """Current-based: 16.2 and -90 pA, 5 and 10 ms, driven by e_l above threshold."""
    return _description(
        neurons,
        parts,
        inputs,
        jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-49.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0),
        (16.2, jn.synapses.Exponential(tau_syn=5.0)),
        (-90.0, jn.synapses.Exponential(tau_syn=10.0)),
        None,
    )


def _description(neurons, parts, inputs, model, excitatory, inhibitory, stimulus) -> jn.Description:
    rule = jn.connectivity.FixedProbability(min(1.0, inputs / neurons))
    n_exc = round(0.8 * neurons)
    sizes: dict[str, int] = {}
    for kind, n in (("E", n_exc), ("I", neurons - n_exc)):
        for part in range(parts):
            sizes[f"{kind}{part}"] = n * (part + 1) // parts - n * part // parts
    start = {"v": jn.Uniform(-60.0, -50.0)}
    populations = [jn.Population(name, n, model, start) for name, n in sizes.items()]
    projections = []
    for source in sizes:
        weight, synapse = excitatory if source[0] == "E" else inhibitory
        projections += [
            jn.Projection(source, target, rule, weight=weight, delay=0.1, synapse=synapse)
            for target in sizes
        ]
    stimuli = [] if stimulus is None else [jn.Stimulation(name, stimulus) for name in sizes]
    return jn.Description(populations, projections, stimuli)
