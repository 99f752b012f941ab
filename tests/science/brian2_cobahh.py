"""COBAHH in Brian2, as in its examples: run by Brian2's python, not by ours.

Reads a JSON list of jobs from its input. A job names an .npz file with the connections and start
values and one to write: v after each step, all variables at the end, and the spikes. Differs from
the example: a delay of one step; and, as a job says, the mean of the conductances over the step in
place of their values at its start, or another refractory condition.
"""

from __future__ import annotations

import json
import sys

import brian2 as b
import numpy as np

NEURON = """
dv/dt = (gl * (el - v) + mean_e * ge * (ee - v) + mean_i * gi * (ei - v)
    - g_na * (m * m * m) * h * (v - e_na) - g_kd * (n * n * n * n) * (v - e_k)) / c_m : volt
dm/dt = alpha_m * (1 - m) - beta_m * m : 1
dn/dt = alpha_n * (1 - n) - beta_n * n : 1
dh/dt = alpha_h * (1 - h) - beta_h * h : 1
dge/dt = -ge * (1. / tau_e) : siemens
dgi/dt = -gi * (1. / tau_i) : siemens
alpha_m = 0.32 * (mV**-1) * 4*mV / exprel((13*mV - v + vt) / (4*mV)) / ms : Hz
beta_m = 0.28 * (mV**-1) * 5*mV / exprel((v - vt - 40*mV) / (5*mV)) / ms : Hz
alpha_h = 0.128 * exp((17*mV - v + vt) / (18*mV)) / ms : Hz
beta_h = 4. / (1 + exp((40*mV - v + vt) / (5*mV))) / ms : Hz
alpha_n = 0.032 * (mV**-1) * 5*mV / exprel((15*mV - v + vt) / (5*mV)) / ms : Hz
beta_n = .5 * exp((10*mV - v + vt) / (40*mV)) / ms : Hz
"""
UNITS = {"v": b.mV, "m": 1.0, "h": 1.0, "n": 1.0, "ge": b.nS, "gi": b.nS}


def mean(tau: float, dt: float) -> float:
    """The mean of exp(-t / tau) over a step."""
    return -np.expm1(-dt / tau) * tau / dt


def run(network: str, out: str, steps: int, dt: float, means: bool, refractory: str) -> None:
    b.start_scope()
    b.defaultclock.dt = dt * b.ms
    given = np.load(network)
    constants = {
        **{"gl": 10 * b.nS, "g_na": 20 * b.usiemens, "g_kd": 6 * b.usiemens, "c_m": 200 * b.pF},
        **{"el": -60 * b.mV, "e_na": 50 * b.mV, "e_k": -90 * b.mV, "vt": -63 * b.mV},
        **{"ee": 0 * b.mV, "ei": -80 * b.mV, "tau_e": 5 * b.ms, "tau_i": 10 * b.ms},
        **{"we": 6 * b.nS, "wi": 67 * b.nS},
        **{"mean_e": mean(5.0, dt) if means else 1.0, "mean_i": mean(10.0, dt) if means else 1.0},
    }
    cells = b.NeuronGroup(
        given["v"].size,
        NEURON,
        threshold="v > -20*mV",
        refractory=3 * b.ms if refractory == "3*ms" else refractory,
        method="exponential_euler",
        namespace=constants,
    )
    for name in ("v", "ge", "gi"):
        setattr(cells, name, given[name] * UNITS[name])
    wires = []
    for kind in "ei":
        wire = b.Synapses(cells, cells, on_pre=f"g{kind} += w{kind}", namespace=constants)
        wire.connect(i=given[f"pre_{kind}"], j=given[f"post_{kind}"])
        wire.delay = dt * b.ms
        wires.append(wire)
    spikes = b.SpikeMonitor(cells)
    trace = b.StateMonitor(cells, "v", record=True, when="end")
    b.Network(cells, *wires, spikes, trace).run(steps * dt * b.ms)
    np.savez(
        out,
        trace=np.asarray(trace.v / b.mV).T,
        steps=np.rint(np.asarray(spikes.t / b.ms) / dt).astype(int),
        neurons=np.asarray(spikes.i),
        **{name: np.asarray(getattr(cells, name) / unit) for name, unit in UNITS.items()},
    )


if __name__ == "__main__":
    b.prefs.codegen.target = "numpy"
    for job in json.load(sys.stdin):
        run(**job)
    print(json.dumps(b.__version__))
