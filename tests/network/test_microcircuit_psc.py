"""The cortical microcircuit of neurons that keep their synaptic currents (`IafPscExp`).

It is the network of the example with `Direct` synapses in place of `Exponential` ones: the same
draws of connections, start voltages and background, so that it makes nearly the same spikes.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from examples.cortical_microcircuit import NAMES, TAU, description

SHARED = ("tau_m", "c_m", "e_l", "v_th", "v_reset", "t_ref")
SCALE, MS = 0.02, 200.0


def with_kept_currents(given):
    """The same description, of `IafPscExp` neurons: what excites goes to `ex`, the rest to `in`."""

    def neuron(lif):
        return jn.neurons.IafPscExp(
            **{name: getattr(lif, name) for name in SHARED}, tau_syn_ex=TAU, tau_syn_in=TAU
        )

    excites, inhibits = jn.synapses.Direct("ex"), jn.synapses.Direct("in")
    return jn.Description(
        [dataclasses.replace(p, model=neuron(p.model)) for p in given.populations],
        [
            dataclasses.replace(p, synapse=excites if p.weight.mean > 0 else inhibits)
            for p in given.projections
        ],
        [
            s if s.synapse is None else dataclasses.replace(s, synapse=excites)
            for s in given.stimuli
        ],
    )


@pytest.mark.slow
def test_it_makes_nearly_the_spikes_of_the_other_form(x64):
    """The same connections; the same spikes but for the few that a mean current shifts by a step.

    `LIF` gets the mean of a current over the step, `IafPscExp` its exact effect: 1 part in 6,000
    apart. The network amplifies that, so the first 50 ms are compared spike by spike, then counts.
    """
    given = description(SCALE)
    # More than its own 2 Hz, so that there are spikes to compare.
    more = [jn.Stimulation(k, jn.stimuli.Current(150.0), name=f"more {k}") for k in NAMES[:8]]
    given = dataclasses.replace(given, stimuli=[*given.stimuli, *more])
    nets = [jn.build(d, 1, 0.1, jnp.float64) for d in (given, with_kept_currents(given))]
    for name in ("23E->23E", "4I->4E"):
        a, b = (net.connections(name) for net in nets)
        for key in ("pre", "post", "weight", "delay"):
            np.testing.assert_array_equal(getattr(a, key), getattr(b, key))
    results = [jn.simulate(net, MS, key=1, progress=False) for net in nets]
    early, counts = [], []
    for result in results:
        events = {name: result.events(name) for name in NAMES[:8]}
        early.append(
            {
                (name, round(t / 0.1), k)
                for name, (times, neurons) in events.items()
                for t, k in zip(times, neurons)
                if t < 50.0
            }
        )
        counts.append(np.array([times.size for times, _ in events.values()]))
    same = len(early[0] & early[1]) / max(map(len, early))
    print(f"{len(early[0])} early spikes, {same:.3f} the same; counts {counts}")
    assert len(early[0]) > 200
    assert same > 0.98
    total = counts[0].sum()
    assert abs(counts[1].sum() - total) < 0.05 * total
    assert (np.abs(counts[1] - counts[0]) < 5.0 * np.sqrt(counts[0] + 1.0)).all()


@pytest.mark.slow
def test_nothing_inhibits_at_the_exciting_port(x64):
    """Every projection goes to the port of its sign; without background nothing else enters."""
    made = with_kept_currents(description(SCALE))
    for p in made.projections:
        assert p.synapse.port == ("in" if p.source.endswith("I") else "ex")
    net = jn.build(made, 1, 0.1, jnp.float64)
    state = jn.simulate(net, 20.0, key=1, progress=False).state
    neurons = state.groups[0].neurons
    assert (neurons.i_ex > 0).mean() > 0.9
    assert (neurons.i_ex >= 0).all()
    assert (neurons.i_in <= 0).all()
    assert (neurons.i_in < 0).any()
