"""Every parameter is set by a traced value, the network closed over or an argument."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.zoo import CASES, REPRESENTATIVES, setting

PAIR = jn.connectivity.OneToOne()
LIF = jn.neurons.LIF()
DELTA, OPENS = jn.synapses.Delta(), jn.synapses.ExponentialConductance(5.0, 0.0)
GIVEN = {
    "BCM": {"eta": 0.1, "target": 5.0},
    "Hebb": {"eta": 0.1},
    "Oja": {"eta": 0.1},
    "Normalized": {"rule": jn.plasticity.PairSTDP(w_max=2.0), "total": 1.0},
    "HomeostaticScaling": {"rule": jn.plasticity.PairSTDP(w_max=2.0), "target_rate": 5.0},
}
FEW_RULES = ("PairSTDP", "Normalized", "Hebb")
CELLS = ", cells"  # what a model needs around it
DTS = sorted({setting(case.model).dt for case in CASES.values()})


def parts_of(k, model):
    """Populations, projections, couplings and stimulations that hold one model."""
    cell, like = jn.Population(f"{k}{CELLS}", 3, LIF), {"weight": 1.0, "name": k}
    ends, delayed = (cell.name, cell.name, PAIR), {"delay": 1.0} | like
    if isinstance(model, jn.Neuron):
        return [jn.Population(k, 2, model)], [], [], []
    if isinstance(model, jn.SpikeStimulus):
        return [cell], [], [], [jn.Stimulation(cell.name, model, synapse=DELTA, **like)]
    if isinstance(model, jn.Stimulus):
        return [cell], [], [], [jn.Stimulation(cell.name, model, name=k)]
    if isinstance(model, jn.Plasticity):
        return [cell], [jn.Projection(*ends, synapse=OPENS, plasticity=model, **delayed)], [], []
    if isinstance(model, jn.Release):
        # So small that v stays finite where it is released itself.
        delayed = delayed | {"weight": 1e-3}
        return [cell], [jn.Projection(*ends, synapse=DELTA, release=model, **delayed)], [], []
    if isinstance(model, jn.synapses.Direct):
        cell = jn.Population(cell.name, 3, jn.neurons.IafPscExp())
    into = jn.synapses.Into(model, model.ports[0]) if model.ports else model
    if setting(model).concentrations:
        cleared = jn.release.ClearedTransmitter()
        return [cell], [], [jn.Coupling(*ends, synapse=into, release=cleared, **like)], []
    return [cell], [jn.Projection(*ends, synapse=into, **delayed)], [], []


def described(dt, names=CASES, rules=jn.plasticity.__all__):
    """The models of the zoo that are run with this time step; at 0.1 ms also what it lacks."""
    models = {k: CASES[k].model for k in names if setting(CASES[k].model).dt == dt}
    if dt == 0.1:
        rules = {k: getattr(jn.plasticity, k) for k in rules}
        models |= {k: cls(**GIVEN.get(k, {})) for k, cls in rules.items()}
    found = [parts_of(k, model) for k, model in models.items()]
    populations, projections, couplings, stimuli = (list(itertools.chain(*x)) for x in zip(*found))
    modulators = []
    if dt == 0.1:
        ends = ("LIF", "LIF", jn.connectivity.AllToAll())
        couplings += [jn.Coupling(*ends, weight=0.1, name="gap junctions")]
        scaled = {"LIF": {"tau_m": 0.1}}
        modulators = [
            jn.Modulator("dopamine", 4.0, scaled, signal="reward", lowest=0.5, highest=2.0)
        ]
    return jn.Description(
        populations, projections, stimuli, couplings=couplings, modulators=modulators
    )


def scalars(net):
    """What `set` takes as one number, with the number that it is: {name: {parameter: value}}."""
    found = {}
    for name in net.names:
        if name.endswith(CELLS):
            continue
        # No signal, no table, and no weight that is in the state.
        mine = {k: x for k, x in net.parameters(name).items() if isinstance(x, float)}
        found[name] = mine
    return {name: mine for name, mine in found.items() if mine}


@pytest.fixture(scope="module", params=[*DTS, "few"])
def case(request):
    if request.param == "few":
        net = jn.build(described(0.1, REPRESENTATIVES, FEW_RULES), 0, 0.1)
    else:
        net = jn.build(described(request.param), 0, request.param)
    return net, scalars(net)


def changed(net, new):
    """One number that depends on each number that `set` gave to a network."""
    pairs = zip(jax.tree.leaves(net), jax.tree.leaves(new), strict=True)
    return sum(jnp.sum(y) for x, y in pairs if y is not x and jnp.isdtype(y.dtype, "real floating"))


def set_each(net, name, values):
    """A number that depends on the network with each of the values, set one at a time."""
    found = 0.0
    for key, value in values.items():
        try:
            found += changed(net, net.set(name, **{key: value}))
        except Exception as error:
            error.add_note(f"set: {name}, {key}")
            raise
    return found


@pytest.mark.slow(but=["few-argument"])
@pytest.mark.parametrize("way", ["closed over", "argument"])
def test_every_parameter_can_be_traced(case, way):
    """Under jit, vmap and grad at once, so that all is traced once."""
    net, values = case
    rows = jax.tree.map(lambda x: np.float32([x, x]), values)

    def every(values, given):
        used = net if way == "closed over" else given
        return sum(set_each(used, name, mine) for name, mine in values.items())

    slopes = jax.eval_shape(jax.vmap(jax.grad(every), in_axes=(0, None)), rows, net)
    assert all(x.shape == (2,) for x in jax.tree.leaves(slopes))


@pytest.mark.slow(but=["0.005", "0.01", "few"])
def test_every_parameter_can_be_swept(case):
    """One program sets all of them."""
    net, values = case
    flat = {
        f"p{k}": (name, key)
        for k, (name, key) in enumerate(
            (name, key) for name, mine in values.items() for key in mine
        )
    }

    def moved(**given):
        return sum(
            changed(net, net.set(name, **{key: given[k]})) for k, (name, key) in flat.items()
        )

    point = {k: values[name][key] for k, (name, key) in flat.items()}
    result = jn.sweep(moved, [point, point], progress=False)
    assert np.isfinite(np.asarray(result.values)).all()
