"""Every model with parameters that are not its defaults: the laws run on each of them.

Adding a model is one line in `CASES` (a stimulus: in `tests/zoo_stimuli.py`): its name, a value
of it and its oracle, a function `(parameters, inputs, n, dt) -> outputs`, where `parameters` is
what `numbers` gives and the outputs are arrays (steps, n) by name, as `outputs` makes them from
the model's own.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._fields import ParameterKind
from jaxneuro._model import state_variables
from jaxneuro._numerics.streams import Stream, stream_key
from jaxneuro.surrogates import FastSigmoid
from tests import zoo_adaptive as adaptive
from tests import zoo_biophysical as biophysical
from tests import zoo_channels as channels
from tests import zoo_psc as psc
from tests import zoo_release as release
from tests import zoo_stochastic as stochastic
from tests import zoo_synapses as receptors
from tests.oracle import lif, synapses
from tests.zoo_case import DT, SILENT, Case, Setting
from tests.zoo_stimuli import NAME, SEED, STIMULI

N, STEPS = 128, 500
LIF = {"tau_m": 12.0, "c_m": 180.0, "e_l": -64.0, "v_th": -51.5, "v_reset": -62.0, "t_ref": 1.3}
# Of a drive, in the order of an oracle.
PARTS = ("current", "conductance", "jump", "current_slope", "conductance_slope")


def lif_oracle(params, drives, n, dt):
    v, left, spikes = np.full(n, params["e_l"]), np.zeros(n, np.int64), np.zeros(n, bool)
    out = {"spikes": [], "v": []}
    for current, conductance, jump in zip(*map(np.asarray, drives[:3])):
        v, left, spikes = lif.lif_step(v, left, spikes, current, conductance, jump, params, dt)
        out["spikes"].append(spikes)
        out["v"].append(v)
    return out


def synapse_oracle(function):
    def oracle(params, inputs, n, dt):
        state, out = np.zeros(n), {name: [] for name in PARTS}
        for arrivals in np.asarray(inputs[0]):
            state, *parts = function(state, arrivals, params, dt)
            for values, part in zip(out.values(), parts):
                values.append(part)
        return {name: values for name, values in out.items() if values[0] is not None}

    return oracle


def spikes_oracle(params, inputs, n, dt):
    return {"values": list(np.asarray(inputs[0]))}


def graded_oracle(params, inputs, n, dt):
    return {"values": list(np.asarray(inputs[1]))}


def direct_oracle(params, inputs, n, dt):
    return {"ex": list(np.asarray(inputs[0]))}


# By class; all other neurons are driven as LIF is, in pA, nS and mV.
SETTINGS = {
    **psc.SETTINGS,
    **adaptive.SETTINGS,
    **stochastic.SETTINGS,
    **biophysical.SETTINGS,
    **channels.SETTINGS,
    **receptors.SETTINGS,
    **release.SETTINGS,
}
CASES = {
    "LIF": Case(jn.neurons.LIF(**LIF), lif_oracle, silent=SILENT),
    "LIF, surrogate": Case(
        jn.neurons.LIF(**LIF, surrogate=FastSigmoid(0.7)), lif_oracle, silent=SILENT
    ),
    "Delta": Case(jn.synapses.Delta(), synapse_oracle(synapses.delta)),
    "Exponential": Case(jn.synapses.Exponential(3.7), synapse_oracle(synapses.exponential)),
    "ExponentialConductance": Case(
        jn.synapses.ExponentialConductance(4.1, -71.0),
        synapse_oracle(synapses.exponential_conductance),
    ),
    "Direct": Case(jn.synapses.Direct("ex"), direct_oracle),
    "Spikes": Case(jn.release.Spikes(), spikes_oracle),
    "Graded": Case(jn.release.Graded(), graded_oracle),
    **psc.CASES,
    **adaptive.CASES,
    **stochastic.CASES,
    **biophysical.CASES,
    **channels.CASES,
    **receptors.CASES,
    **release.CASES,
    **{name: Case(*parts) for name, parts in STIMULI.items()},
}
NEURONS = {name: case for name, case in CASES.items() if isinstance(case.model, jn.Neuron)}
# Some of each kind. The laws that cost most run on these in `make test`, on all in `make test-all`.
REPRESENTATIVES = (
    *("LIF", "LIF, surrogate", "EscapeRateLIF", "NMDA", "TsodyksMarkram"),
    *("Gamma", "OrnsteinUhlenbeck"),
)
costly = pytest.mark.slow(but=REPRESENTATIVES)


def numbers(model: Any, factors: Any = 1.0) -> dict[str, Any]:
    """All fields of a model by name, and its `kind`; parameters times the factors in float64.

    With factors (n,) every parameter has one number per neuron; each field takes them from
    another neuron on. A duration on the time grid moves by whole steps; a model inside becomes
    a dict; what belongs to the model as a whole stays.
    """
    out: dict[str, Any] = {"kind": type(model).__name__}
    for field in dataclasses.fields(model):
        x, factors = getattr(model, field.name), np.roll(factors, 1)
        if dataclasses.is_dataclass(x):
            x = numbers(x, factors)
        elif isinstance(x, tuple) and all(map(dataclasses.is_dataclass, x)):
            x = tuple(numbers(part, factors) for part in x)
        elif "each_of" in field.metadata:
            x = tuple(np.asarray(part, np.float64) for part in x)
        elif getattr(field.metadata.get("kind"), "on_grid", False):
            x = np.asarray(x, np.float64) + setting(model).dt * np.rint(100 * (factors - 1))
            x = np.maximum(x, 0.0)
        elif isinstance(field.metadata.get("kind"), ParameterKind):
            x = np.asarray(x, np.float64) * factors
        elif isinstance(model, jn.stimuli.Steps) and field.name == "values":
            x = np.multiply.outer(np.asarray(x, np.float64), factors)  # the table (m, n)
        elif is_number(x):
            x = np.asarray(x, np.float64)
        out[field.name] = x
    return out


def is_number(x: Any) -> bool:
    """Whether a leaf of a model is a number, and not a step or a neuron."""
    return isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.floating)


def of_numbers(model: Any, values: dict[str, Any], dtype: Any = jnp.float32) -> Any:
    """The model with the parameters that `numbers` gave."""
    new = {}
    for field in dataclasses.fields(model):
        x, value = getattr(model, field.name), values[field.name]
        if dataclasses.is_dataclass(x):
            new[field.name] = of_numbers(x, value, dtype)
        elif isinstance(x, tuple) and all(map(dataclasses.is_dataclass, x)):
            new[field.name] = tuple(of_numbers(*pair, dtype) for pair in zip(x, value))
        elif "each_of" in field.metadata:
            new[field.name] = tuple(jax.device_put(np.asarray(part, dtype)) for part in value)
        elif is_number(x):
            new[field.name] = jax.device_put(np.asarray(value, dtype))
    return dataclasses.replace(model, **new)


def cast(model: Any, dtype: Any) -> Any:
    """The model with parameters of another dtype."""
    return jax.tree.map(
        lambda x: jax.device_put(np.asarray(x, dtype)) if is_number(x) else x, model
    )


def setting(model: Any) -> Setting:
    """How the laws drive a model."""
    return SETTINGS.get(type(model).__name__, Setting())


def ready(model: Any, n: int) -> Any:
    """The model as it runs: a stimulus is prepared, as `build` does."""
    if not isinstance(model, jn.Stimulus):
        return model
    return model.prepare("zoo", n, DT, stream_key(np.uint32(SEED), NAME, "stimulus"))


def permuted(model: Any, order: np.ndarray) -> Any:
    """A model that is ready, with neuron `order[i]` in place i."""
    if isinstance(model, jn.stimuli.ScheduledSpikes):
        if model.neurons is None:
            return model
        place = np.argsort(order).astype(np.int32)
        return dataclasses.replace(model, neurons=jax.device_put(place[np.asarray(model.neurons)]))
    # A parameter is (n,), the table of `Steps` is (m, n), any other table (m,) is of no neuron.
    return jax.tree.map(
        lambda x: (
            jax.device_put(np.asarray(x)[..., order])
            if is_number(x) and x.shape[-1:] == order.shape
            else x
        ),
        model,
    )


def inputs(model: Any, n_steps: int, n: int = N, seed: int = 0, scale: float = 1.0) -> Any:
    """Random inputs of a model, (n_steps, n) each; of the size of real ones at scale 1.

    Of a stimulus the numbers of the steps, the first `37 seed`.
    """
    return jax.device_put(_inputs(model, (n_steps, n), seed, scale))


def _inputs(model: Any, shape: tuple[int, int], seed: int, scale: float) -> Any:
    rng = np.random.default_rng(seed)
    asarray = functools.partial(np.asarray, dtype=jnp.result_type(float))
    v = asarray(rng.uniform(-80.0, -40.0, shape))
    few = rng.random(shape) < 0.05
    if isinstance(model, jn.Neuron):
        how = setting(model)
        current = rng.normal(250.0, 400.0, shape) * scale * how.size
        conductance = rng.uniform(0.0, 8.0, shape) * scale * how.size
        jump = few * rng.normal(0.0, 5.0, shape) * scale
        parts = map(asarray, (current, conductance, jump))
        if not model.ports:
            return jn.Drive(*parts)
        few = rng.random((len(model.ports), *shape)) < 0.05
        arriving = few * rng.normal(0.0, how.arriving, few.shape) * scale
        return jn.Drive(*parts, dict(zip(model.ports, map(asarray, arriving))))
    if isinstance(model, jn.Synapse):
        how = setting(model)
        several = (*([len(model.ports)] if model.ports else []), *shape)
        if how.concentrations:
            arrivals = rng.uniform(0.0, scale, several)
        else:
            few = few if not model.ports else rng.random(several) < 0.05
            arrivals = few * rng.normal(0.0, how.arriving, several) * scale
            arrivals = np.abs(arrivals) if model.weight_sign > 0 else arrivals
        # By port, so that the steps come first.
        return (tuple(asarray(arrivals)) if model.ports else asarray(arrivals)), v
    if isinstance(model, jn.Release):
        return few, v
    return np.arange(shape[0], dtype=np.int32) + np.int32(37 * seed)


def stream(index: Any, seed: int = SEED) -> Stream:
    """Where the neurons with these numbers draw."""
    high, low = stream_key(np.uint32(seed), NAME, "stimulus")
    return jax.device_put(Stream(high, low, np.asarray(index, np.uint32)))


def init(model: Any, n: int, order: Any = None, seed: int = SEED) -> Any:
    """The state of a model of any role for n units, which draw as the neurons `order`."""
    if not isinstance(model, jn.Stimulus | jn.StochasticNeuron | jn.StochasticRelease):
        return model.init(n)
    return model.init(n, stream(np.arange(n) if order is None else order, seed))


def step(model: Any, state: Any, now: Any) -> tuple[Any, Any]:
    """One step of a model of any role under one row of `inputs`."""
    dt = setting(model).dt
    if isinstance(model, jn.Synapse) and model.ports:
        return model.step(state, jnp.stack(now[0]), now[1], dt)
    if isinstance(model, jn.Synapse | jn.Release):
        return model.step(state, *now, dt)
    return model.step(state, now, dt)


def outputs(model: Any, state: Any, output: Any) -> dict[str, jax.Array]:
    """What an oracle gives: by name, without the parts that are not there."""
    if isinstance(model, jn.Neuron):
        return {"spikes": output, **floats(state)}
    if isinstance(model, jn.Release):
        return {"values": output}
    if isinstance(model, jn.SpikeStimulus):
        return {"counts": output}
    parts = {k: getattr(output, k) for k in PARTS if getattr(output, k) is not None}
    return parts | (output.arrivals or {})


def floats(state: Any) -> dict[str, jax.Array]:
    """The state variables that are numbers."""
    variables = {name: getattr(state, name) for name in state_variables(state)}
    return {name: x for name, x in variables.items() if is_number(x)}


def run(model: Any, state: Any, xs: Any) -> tuple[Any, dict[str, jax.Array]]:
    """The model over all its inputs: the last state, and the outputs (steps, ...)."""

    def body(state, now):
        state, output = step(model, state, now)
        return state, outputs(model, state, output)

    return jax.lax.scan(body, state, xs)


def walk(
    model: Any, state: Any, xs: Any, first: Any, last: Any
) -> tuple[Any, dict[str, jax.Array]]:
    """`run` through the steps from `first` to `last`; the outputs of the others are 0.

    Both are numbers and not shapes: a part is run by the program that runs the whole.
    """
    now = lambda k: jax.tree.map(lambda x: x[k], xs)  # noqa: E731
    row = jax.eval_shape(lambda state: outputs(model, *step(model, state, now(0))), state)
    n_steps = jax.tree.leaves(xs)[0].shape[0]
    out = {name: jnp.zeros((n_steps, *x.shape), x.dtype) for name, x in row.items()}

    def body(k, carry):
        state, out = carry
        state, output = step(model, state, now(k))
        new = outputs(model, state, output)
        return state, {name: out[name].at[k].set(x) for name, x in new.items()}

    return jax.lax.fori_loop(first, last, body, (state, out))


TRACES: list[int] = []


def counted(model: Any, state: Any, xs: Any, first: Any, last: Any) -> Any:
    """`walk`, and its traces."""
    TRACES.append(1)
    return walk(model, state, xs, first, last)


_compiled = jax.jit(counted)


def fast_run(
    model: Any, state: Any, xs: Any, part: slice = slice(0, None)
) -> tuple[Any, dict[str, np.ndarray]]:
    """`run` compiled, one function for all laws: what one compiled, the others need not.

    `part`: the steps to run.
    """
    first, last, _ = part.indices(jax.tree.leaves(xs)[0].shape[0])
    state, out = _compiled(model, state, xs, np.int32(first), np.int32(last))
    return state, {name: np.asarray(x)[part] for name, x in out.items()}
