"""Every model with parameters that are not its defaults: the laws run on each of them.

Adding a model is one line in `CASES`: its name, a value of it and its oracle, a function
`(parameters, inputs, n, dt) -> outputs`, where `parameters` is a dict of float64 numbers and
the outputs are arrays (steps, n) by name, as `outputs` makes them from the model's own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro.numerics import FastSigmoid, Stream, stream_key
from tests.oracle import lif, synapses

DT = 0.1
N = 128
LIF = {"tau_m": 12.0, "c_m": 180.0, "e_l": -64.0, "v_th": -51.5, "v_reset": -62.0, "t_ref": 1.3}


class Case(NamedTuple):
    """A model and its oracle."""

    model: Any
    oracle: Callable


def lif_oracle(params, drives, n, dt):
    v, left, spikes = np.full(n, params["e_l"]), np.zeros(n, np.int64), np.zeros(n, bool)
    out = {"spikes": [], "v": []}
    for current, conductance, jump in zip(*map(np.asarray, drives)):
        v, left, spikes = lif.lif_step(v, left, spikes, current, conductance, jump, params, dt)
        out["spikes"].append(spikes)
        out["v"].append(v)
    return out


def synapse_oracle(function):
    def oracle(params, inputs, n, dt):
        state, out = np.zeros(n), {"current": [], "conductance": [], "jump": []}
        for arrivals in np.asarray(inputs[0]):
            state, *parts = function(state, arrivals, params, dt)
            for values, part in zip(out.values(), parts):
                values.append(part)
        return {name: values for name, values in out.items() if values[0] is not None}

    return oracle


def current_oracle(params, steps, n, dt):
    return {"current": [np.broadcast_to(params["amplitude"], n) for _ in np.asarray(steps)]}


def spikes_oracle(params, inputs, n, dt):
    return {"values": list(np.asarray(inputs[0]))}


CASES = {
    "LIF": Case(jn.neurons.LIF(**LIF), lif_oracle),
    "LIF, surrogate": Case(jn.neurons.LIF(**LIF, surrogate=FastSigmoid(0.7)), lif_oracle),
    "Delta": Case(jn.synapses.Delta(), synapse_oracle(synapses.delta)),
    "Exponential": Case(jn.synapses.Exponential(3.7), synapse_oracle(synapses.exponential)),
    "ExponentialConductance": Case(
        jn.synapses.ExponentialConductance(4.1, -71.0),
        synapse_oracle(synapses.exponential_conductance),
    ),
    "Current": Case(jn.stimuli.Current(123.0), current_oracle),
    "Spikes": Case(jn.release.Spikes(), spikes_oracle),
}
NEURONS = {name: case for name, case in CASES.items() if isinstance(case.model, jn.Neuron)}


def inputs(model: Any, n_steps: int, n: int = N, seed: int = 0, scale: float = 1.0) -> Any:
    """Random inputs of a model, (n_steps, n) each; of the size of real ones at scale 1."""
    rng = np.random.default_rng(seed)
    dtype = jnp.result_type(float)
    shape = (n_steps, n)
    v = jnp.asarray(rng.uniform(-80.0, -40.0, shape), dtype)
    few = rng.random(shape) < 0.05
    if isinstance(model, jn.Neuron):
        current = rng.normal(250.0, 400.0, shape) * scale
        conductance = rng.uniform(0.0, 8.0, shape) * scale
        jump = few * rng.normal(0.0, 5.0, shape) * scale
        return jn.Drive(*(jnp.asarray(x, dtype) for x in (current, conductance, jump)))
    if isinstance(model, jn.Synapse):
        return jnp.asarray(few * rng.normal(0.0, 50.0, shape) * scale, dtype), v
    if isinstance(model, jn.Release):
        return jnp.asarray(few), v
    return jnp.arange(n_steps, dtype=jnp.int32)


def stream(n: int, name: str = "zoo") -> Stream:
    """Where n neurons draw."""
    high, low = stream_key(np.uint32(3), name, "stimulus")
    return Stream(jnp.asarray(high), jnp.asarray(low), jnp.arange(n, dtype=jnp.uint32))


def init(model: Any, n: int) -> Any:
    """The state of a model of any role for n units."""
    return model.init(n, stream(n)) if isinstance(model, jn.Stimulus) else model.init(n)


def step(model: Any, state: Any, now: Any, dt: float = DT) -> tuple[Any, Any]:
    """One step of a model of any role under one row of `inputs`."""
    if isinstance(model, jn.Synapse | jn.Release):
        return model.step(state, *now, dt)
    return model.step(state, now, dt)


def outputs(model: Any, state: Any, output: Any) -> dict[str, jax.Array]:
    """What an oracle gives: by name, without the parts that are not there."""
    if isinstance(model, jn.Neuron):
        return {"spikes": output, "v": state.v}
    if isinstance(model, jn.Release):
        return {"values": output}
    return {k: x for k, x in output._asdict().items() if x is not None}


def run(model: Any, state: Any, xs: Any, dt: float = DT) -> tuple[Any, dict[str, jax.Array]]:
    """The model over all its inputs: the last state, and the outputs (steps, ...)."""

    def body(state, now):
        state, output = step(model, state, now, dt)
        return state, outputs(model, state, output)

    return jax.lax.scan(body, state, xs)


def cast(model: Any, dtype: Any) -> Any:
    """The model with parameters of another dtype."""
    return jax.tree.map(lambda x: x.astype(dtype), model)
