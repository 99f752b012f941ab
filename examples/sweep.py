# %% [markdown]
# Sweeps: the f-I curve of a neuron as one population with a current of its own per neuron, and
# a network's rate over two parameters by `jn.sweep`, on all cores, where all networks share one
# table of connections.
# Run it: `python examples/sweep.py [--neurons 1000] [--points 8] [--out sweep.png]`

# %%
import argparse
import os
import time

import matplotlib
import numpy as np

import jaxneuro as jn

cores = os.cpu_count() or 1
jn.configure_cpu(threads=cores, xla_threads=cores)  # a chunk of the sweep on each
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--neurons", type=int, default=1000)
parser.add_argument("--points", type=int, default=8, help="values of each parameter")
parser.add_argument("--out", default="sweep.png", help="the figure")
args = parser.parse_args()

# %% f-I curves: three noise levels, 200 currents each; every neuron is one point
tau_m, c_m, e_l, v_th, v_reset, t_ref = 20.0, 200.0, -60.0, -50.0, -60.0, 2.0
neuron = jn.neurons.LIF(tau_m=tau_m, c_m=c_m, e_l=e_l, v_th=v_th, v_reset=v_reset, t_ref=t_ref)
currents = np.linspace(50.0, 250.0, 200)
noises = (0.0, 50.0, 100.0)  # pA, a new value every ms
names = [f"{sd:g} pA" for sd in noises]
populations = [jn.Population(name, currents.size, neuron) for name in names]
stimuli = [jn.Stimulation(name, jn.stimuli.Current(currents)) for name in names]
stimuli += [
    jn.Stimulation(name, jn.stimuli.WhiteNoise(0.0, sd, interval=1.0))
    for name, sd in zip(names, noises)
]
net = jn.build(jn.Description(populations, stimuli=stimuli), key=0, dt=0.1)
result = jn.simulate(net, 5000.0)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
for name in names:
    rates = jn.analysis.neuron_rates(result, name)
    left.plot(currents, rates, ".", ms=2, label=f"noise {name}")
theory = jn.analysis.siegert(e_l + currents * tau_m / c_m, 0.0, tau_m, v_th, v_reset, t_ref)
left.plot(currents, theory, lw=0.8, color="black", label="theory, no noise")
left.set(xlabel="current (pA)", ylabel="rate (Hz)")
left.legend(frameon=False, fontsize=8)

# %% A balanced network: rate over the strength of inhibition and the drive
sizes = {"E": round(0.8 * args.neurons), "I": args.neurons - round(0.8 * args.neurons)}
rule = jn.connectivity.FixedIndegree(round(0.08 * args.neurons))
populations = [jn.Population(k, n, neuron, {"v": jn.Uniform(-60, -50)}) for k, n in sizes.items()]
projections = [
    jn.Projection(s, t, rule, weight=w, delay=1.0, synapse=jn.synapses.Exponential(tau))
    for s, w, tau in (("E", 16.0, 5.0), ("I", -40.0, 10.0))
    for t in sizes
]
stimuli = [jn.Stimulation(k, jn.stimuli.Current(200.0), name=f"drive {k}") for k in sizes]
net = jn.build(jn.Description(populations, projections, stimuli), key=1, dt=0.1)
record, steps, settle = jn.Record(spikes=False, rates=True), 5000, 1000


def rate(gain, drive):
    swept = net
    for k in sizes:
        swept = swept.set(f"I->{k}", gain=gain).set(f"drive {k}", amplitude=drive)
    recorded = jn.scan(swept, swept.init(0), steps, record=record)[1]
    spikes = recorded.counts["E"][settle:].sum()
    return {"rate": spikes / (sizes["E"] * (steps - settle) * 1e-4)}


gains, drives = np.linspace(0.2, 2.0, args.points), np.linspace(120.0, 400.0, args.points)
start = time.perf_counter()
rates = jn.sweep(rate, {"gain": gains, "drive": drives})["rate"]
print(f"{rates.size} networks of {net.n_neurons:,} neurons, {steps * net.dt:g} ms each: ", end="")
print(f"{time.perf_counter() - start:.1f} s with the compilation")
scale = LogNorm(0.5, max(rates.max(), 1.0), clip=True)
image = right.pcolormesh(drives, gains, rates, shading="nearest", cmap="viridis", norm=scale)
right.set(xlabel="drive (pA)", ylabel="strength of inhibition (times)")
figure.colorbar(image, label="rate of E (Hz)")
figure.savefig(args.out, dpi=200)
print(f"wrote {args.out}")
