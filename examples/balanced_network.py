# %% [markdown]
# A balanced network: 80 % excitatory and 20 % inhibitory neurons with conductance-based
# synapses and a constant drive (Brette et al. 2007, benchmark 1, doi:10.1007/s10827-007-0038-6).
# Run it: `python examples/balanced_network.py [--neurons 4000] [--seconds 1] [--out demo.png]`

# %%
import argparse
import time

import jaxneuro as jn

jn.configure_cpu()

parser = argparse.ArgumentParser()
parser.add_argument("--neurons", type=int, default=4000)
parser.add_argument("--seconds", type=float, default=1.0)
parser.add_argument("--out", default="demo.png", help="the figure")
args = parser.parse_args()

# %% The neurons: 200 pF, 10 nS (so 20 ms), start voltages between reset and threshold
neuron = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
n_exc = round(0.8 * args.neurons)
sizes = {"E": n_exc, "I": args.neurons - n_exc}
populations = [
    jn.Population(name, n, neuron, initial={"v": jn.Uniform(-60.0, -50.0)})
    for name, n in sizes.items()
]

# %% The synapses: every neuron gets about 80 inputs; weights in nS, delays in ms
rule = jn.connectivity.FixedProbability(min(1.0, 80 / args.neurons))
excitatory = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)
inhibitory = jn.synapses.ExponentialConductance(tau_syn=10.0, e_rev=-80.0)
projections = [
    jn.Projection(source, target, rule, weight=weight, delay=0.1, synapse=synapse)
    for source, weight, synapse in (("E", 6.0, excitatory), ("I", 67.0, inhibitory))
    for target in sizes
]

# %% The drive: 200 pA into every neuron
stimuli = [jn.Stimulation(name, jn.stimuli.Current(200.0)) for name in sizes]

# %% Build, run, look
description = jn.Description(populations, projections, stimuli)
start = time.perf_counter()
net = jn.build(description, key=1, dt=0.1)
build_s = time.perf_counter() - start
result = jn.simulate(net, 1000.0 * args.seconds, key=2, progress=True)
print(jn.analysis.summary(result, build_s))
jn.plot.raster(result).savefig(args.out, dpi=200)
print(f"wrote {args.out}")
