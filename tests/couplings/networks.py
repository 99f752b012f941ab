"""Small networks of coupled LIF neurons, and their runs."""

import jax
import numpy as np

import jaxneuro as jn

DT = 0.1
LIF = {"tau_m": 12.0, "c_m": 180.0, "e_l": -64.0, "v_th": -51.5, "v_reset": -62.0, "t_ref": 1.3}
RUN = jax.jit(jn.scan, static_argnums=(2, 4))  # what a program computes
USUAL = jax.jit(jn.scan, static_argnums=(2, 4))  # its bits, as users get them


def explicit(pre, post):
    return jn.connectivity.Explicit(pre, post)


def lif(name="E", n=8, v0=None, **fields):
    """LIF neurons that start at different voltages."""
    v0 = -63.0 + 9.0 * np.modf(0.618 * np.arange(1, n + 1))[0] if v0 is None else v0
    return jn.Population(name, n, jn.neurons.LIF(**{**LIF, **fields}), initial={"v": v0})


def current(name, amplitude):
    return jn.Stimulation(name, jn.stimuli.Current(amplitude))


def build(populations, couplings=(), stimuli=(), projections=(), dtype=np.float32, seed=0, dt=DT):
    made = jn.Description(populations, projections, stimuli, couplings=couplings)
    return jn.build(made, seed, dt, dtype)


def voltages(net, n_steps, key=0, state=None, run=RUN):
    """v by population, (n_steps, n) each."""
    record = jn.Record(spikes=False, variables=dict.fromkeys(net.populations, "v"))
    state = net.init(key) if state is None else state
    traces = run(net, state, n_steps, None, record)[1].traces
    return {name: np.asarray(traces[name]["v"]) for name in net.populations}
