"""Every state variable of every model moves when it is recorded in a driven network.

What does not move is what `Record` warns of, because nothing leads to the port that fills it, or
stands in `CONSTANT` with the reason.
"""

import dataclasses
import itertools
import re
import warnings

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network.names import shared_by
from tests.laws.test_traced import DELTA, DTS, described, parts_of
from tests.zoo import CASES, setting

STEPS = 500
FED = ", each port fed"  # after the name of a model that is there a second time
POISSON = jn.stimuli.Poisson(500.0)
CONSTANT = {  # by time step: name and variable, with the reason
    0.1: {
        ("TsodyksMarkram, no facilitation", "u_low"): "u starts from one value at every spike",
    }
}


def driven(population):
    """A current for a membrane, spikes for a relay; a source draws its own."""
    model, like = population.model, {"name": f"{population.name}, driven"}
    if isinstance(model, jn.neurons.PoissonSource):
        return []
    if isinstance(model, jn.neurons.Relay):
        return [jn.Stimulation(population.name, POISSON, weight=1.0, synapse=DELTA, **like)]
    size = setting(model).size
    current = jn.stimuli.Current(jn.stimuli.Sinusoid(450.0 * size, 400.0 * size, 60.0))
    return [jn.Stimulation(population.name, current, **like)]


def fed(name, model):
    """The parts that hold a model, with something that leads to each of its ports."""
    populations, projections, couplings, stimuli = parts_of(name, model)
    if isinstance(model, jn.Neuron):
        signed = {p: setting(model).arriving * model.port_signs.get(p, 1) for p in model.ports}
        stimuli += [
            jn.Stimulation(
                name, POISSON, weight=w, synapse=jn.synapses.Direct(p), name=f"{name}: {p}"
            )
            for p, w in signed.items()
        ]
    for parts in (projections, couplings):  # there is one, into the first port
        parts += [
            dataclasses.replace(x, synapse=jn.synapses.Into(model, p), name=f"{name}: {p}")
            for x in parts
            for p in model.ports[1:]
        ]
    return populations, projections, couplings, stimuli


def network(dt):
    """All models, driven, and those with ports once more; see `described`."""
    made, models = described(dt), {k: case.model for k, case in CASES.items()}
    ports = {k: x for k, x in models.items() if getattr(x, "ports", ()) and setting(x).dt == dt}
    whole = [(made.populations, made.projections, made.couplings, made.stimuli)]
    whole += [fed(k + FED, model) for k, model in ports.items()]
    populations, projections, couplings, stimuli = ([*itertools.chain(*x)] for x in zip(*whole))
    stimuli += [x for population in populations for x in driven(population)]
    new = dataclasses.replace(made, populations=populations, projections=projections)
    return jn.build(dataclasses.replace(new, couplings=couplings, stimuli=stimuli), 0, dt)


def owned(net, state, name):
    """The variables of a name, without those of what it shares: that has a name of its own."""
    return [x for x in net.variables(state, name) if shared_by(net, state, name, x) is None]


@jax.jit
def traces_of(net, signals):
    """All that can be recorded, (STEPS, n) by name and variable."""
    state = net.init(0)
    names = {name: owned(net, state, name) for name in net.names}
    record = jn.Record(variables={name: x for name, x in names.items() if x})
    return jn.scan(net, state, STEPS, signals, record)[1].traces


@pytest.mark.slow(but=["0.005"])
@pytest.mark.parametrize("dt", DTS)
def test_every_variable_moves(dt):
    net = network(dt)
    signal = np.sin(np.arange(STEPS, dtype=np.float32))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        traces = jax.device_get(traces_of(net, dict.fromkeys(net.signals, signal)))
    found = {(name, k): x for name, mine in traces.items() for k, x in mine.items()}
    assert [key for key, x in found.items() if not np.isfinite(x).all()] == []
    said = (re.search(r"feeds '(\w+)' of '(.+?)'", str(w.message)) for w in caught)
    unfed = [(match[2], match[1]) for match in said if match]
    assert len(unfed) == len(caught) == len(set(unfed))
    assert not [name for name, _ in unfed if FED in name]
    stay = {key for key, x in found.items() if (x == x[0]).all()}
    assert stay == set(unfed) | CONSTANT.get(dt, {}).keys()
