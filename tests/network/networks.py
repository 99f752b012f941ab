"""Small networks for the tests, and the same for the oracle."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from tests.oracle import network as oracle
from tests.oracle import synapses

DT = 0.1
LIF = {"tau_m": 12.0, "c_m": 180.0, "e_l": -64.0, "v_th": -51.5, "v_reset": -62.0, "t_ref": 1.3}
SIZES = {"A": 13, "B": 20, "C": 7}
CURRENTS = {"A": 300.0, "B": 260.0, "C": 340.0}
RECEPTORS = {
    "fast": (jn.synapses.Exponential(1.7), synapses.exponential, {"tau_syn": 1.7}),
    "open": (
        jn.synapses.ExponentialConductance(4.1, 0.0),
        synapses.exponential_conductance,
        {"tau_syn": 4.1, "e_rev": 0.0},
    ),
    "shut": (
        jn.synapses.ExponentialConductance(8.0, -80.0),
        synapses.exponential_conductance,
        {"tau_syn": 8.0, "e_rev": -80.0},
    ),
    "jump": (jn.synapses.Delta(), synapses.delta, {}),
}
RUN = jax.jit(jn.scan, static_argnums=(2, 4))
SCAN = jax.jit(jn.scan, static_argnums=2)
SCALE = {"fast": 60.0, "open": 3.0, "shut": 5.0, "jump": 2.0}


def start(sizes):
    """Start voltages by population [mV], all different."""
    return {k: -62.0 + 10.0 * np.modf(0.618 * np.arange(1, n + 1))[0] for k, n in sizes.items()}


def description(populations=None, projections=(), sizes=None, currents=None, models=None, **lif):
    """A `Description` of LIF populations with constant currents."""
    sizes, currents = sizes or SIZES, currents or CURRENTS
    model, v0 = jn.neurons.LIF(**{**LIF, **lif}), start(sizes)
    made = [
        jn.Population(name, sizes[name], (models or {}).get(name, model), initial={"v": v0[name]})
        for name in populations or sizes
    ]
    stimuli = [
        jn.Stimulation(p.name, jn.stimuli.Current(currents[p.name]))
        for p in made
        if p.name in currents
    ]
    return jn.Description(made, projections, stimuli)


def random_connections(rng, sizes, number, receptor, longest):
    """A dict of drawn connections between two populations, as plain arrays."""
    source, target = rng.choice(list(sizes), 2)
    count = int(0.3 * sizes[source] * sizes[target])
    weight = SCALE[receptor] * rng.normal(0.6, 0.6, count)
    return {
        "name": f"p{number}",
        "source": str(source),
        "target": str(target),
        "receptor": receptor,
        "pre": rng.integers(0, sizes[source], count),
        "post": rng.integers(0, sizes[target], count),
        "weight": np.abs(weight) if receptor in ("open", "shut") else weight,
        "delay_steps": rng.integers(1, longest + 1, count),
        "gain": float(rng.uniform(0.5, 1.5)),
    }


def one_number(connections, key, value):
    """The same connections with one weight or delay for all."""
    return {**connections, key: np.full(connections["pre"].size, value)}


def _plain(values):
    """One number where all are equal: another storage of the same connections."""
    return float(values[0]) if values.size and (values == values[0]).all() else values


def projection(c, name=None, **changed):
    """A `Projection` with the connections of a dict of `random_connections`."""
    values = {
        "weight": _plain(c["weight"]),
        "delay": _plain(c["delay_steps"] * DT),
        "synapse": RECEPTORS[c["receptor"]][0],
        "gain": c["gain"],
        "name": name or c["name"],
    }
    rule = jn.connectivity.Explicit(c["pre"], c["post"])
    return jn.Projection(c["source"], c["target"], rule, **{**values, **changed})


def oracle_events(connections, n_steps, sizes=None, currents=None, outside=(), **lif):
    """Spikes of the oracle by population: pairs (step, neuron), ascending."""
    sizes, currents = sizes or SIZES, currents or CURRENTS
    first = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist()))
    v0 = np.concatenate(list(start(sizes).values()))
    populations = [{"n": n, "current": currents[k], **LIF, **lif} for k, n in sizes.items()]
    names = list(RECEPTORS)
    receptors = [{"kind": kind, "params": params} for _, kind, params in RECEPTORS.values()]
    projections = [
        {
            **{k: c[k] for k in ("weight", "delay_steps", "gain")},
            "pre": c["pre"] + first[c["source"]],
            "post": c["post"] + first[c["target"]],
            "receptor": names.index(c["receptor"]),
        }
        for c in connections
    ]
    spikes, _ = oracle.run(populations, projections, n_steps, DT, v0, receptors, (), outside)
    return {
        k: [(step, i - first[k]) for step, i in spikes if first[k] <= i < first[k] + n]
        for k, n in sizes.items()
    }


def events(net, n_steps, key=0, state=None):
    """Spikes of a network by population: pairs (step, neuron), ascending."""
    state = net.init(key) if state is None else state
    spikes, out = SCAN(net, state, n_steps)[1].spikes, {}
    for name in net.populations:
        times, neurons = spikes.events(name)
        steps = np.rint(times / net.dt).astype(int) - 1 - int(spikes.first_step)
        out[name] = list(zip(steps.tolist(), neurons.tolist()))
    return out


def balanced(n=200, p=0.1, weight=6.0, gain=1.0, delay=0.1, **lif):
    """A small balanced network of conductance neurons that fires by itself."""
    neuron = jn.neurons.LIF(
        **{"tau_m": 20.0, "c_m": 200.0, "e_l": -60.0, "v_th": -50.0, "v_reset": -60.0, **lif}
    )
    sizes = {"E": (4 * n) // 5, "I": n // 5}
    rule = jn.connectivity.FixedProbability(p)
    kinds = {
        "E": (weight, jn.synapses.ExponentialConductance(5.0, 0.0)),
        "I": (40.0, jn.synapses.ExponentialConductance(10.0, -80.0)),
    }
    return jn.Description(
        [
            jn.Population(k, m, neuron, initial={"v": jn.Uniform(-60.0, -50.0)})
            for k, m in sizes.items()
        ],
        [
            jn.Projection(
                a, b, rule, weight=kinds[a][0], delay=delay, synapse=kinds[a][1], gain=gain
            )
            for a in sizes
            for b in sizes
        ],
        [jn.Stimulation(k, jn.stimuli.Current(250.0)) for k in sizes],
    )


class SumState(NamedTuple):
    v: jax.Array


class Sum(jn.Neuron):
    """v adds up what comes, from 0, and is 0 again after a spike: exact for whole numbers."""

    v_th: jax.Array = jn.param(1e6)

    def init(self, n):
        return SumState(jnp.zeros(n, self.v_th.dtype))

    def step(self, state, drive, dt):
        v = jnp.where(state.v >= self.v_th, jnp.zeros_like(state.v), state.v)
        v = drive.jumped(v + drive.current_at(v))
        return SumState(v), v >= self.v_th


class NothingState(NamedTuple):
    pass


class Train(jn.SpikeStimulus):
    """`count` spikes to each neuron in every one of the given time steps."""

    count: jax.Array = jn.param(1.0)
    steps: frozenset[int] = jn.static(frozenset([0]))

    def init(self, n, stream):
        return NothingState(), jnp.zeros(n, self.count.dtype)

    def step(self, state, step, dt):
        now = jnp.isin(step, jnp.asarray(sorted(self.steps), jnp.int32)).astype(self.count.dtype)
        return state, state[1] + self.count * now


class NoiseState(NamedTuple):
    stream: jn.Stream


class Noise(jn.SpikeStimulus):
    """0 to 3 spikes in every step, times `scale`: random whole numbers."""

    scale: jax.Array = jn.param(1.0)

    def init(self, n, stream):
        return NoiseState(stream)

    def step(self, state, step, dt):
        word = state.stream.bits(step)[0]
        return state, self.scale * (word >> np.uint32(30)).astype(self.scale.dtype)


class Hum(jn.Stimulus):
    """A current of 0 to 3 in every step, times `scale`."""

    scale: jax.Array = jn.param(1.0)

    def init(self, n, stream):
        return NoiseState(stream)

    def step(self, state, step, dt):
        word = state.stream.bits(step)[0]
        return state, jn.Drive(
            current=self.scale * (word >> np.uint32(30)).astype(self.scale.dtype)
        )


def voltages(net, n_steps, key=0, inputs=None):
    """v of every population in every step, (n_steps, n) by name."""
    record = jn.Record(spikes=False, variables=dict.fromkeys(net.populations, "v"))
    traces = RUN(net, net.init(key), n_steps, inputs, record)[1].traces
    return {name: np.asarray(traces[name]["v"]) for name in net.populations}
