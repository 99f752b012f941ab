# %% [markdown]
# One network over the devices of many processes, on one machine or many. Every process runs this
# program. Try it here: `python examples/many_processes.py --local 2 [--neurons 4000]
# [--seconds 1] [--out raster.png]`; docs/clusters.md says how SLURM and Kubernetes start it.

# %%
import argparse
import os
import socket
import subprocess
import sys

import jax
import numpy as np
from jax.sharding import Mesh

import jaxneuro as jn

parser = argparse.ArgumentParser()
parser.add_argument("--neurons", type=int, default=4000)
parser.add_argument("--seconds", type=float, default=1.0)
parser.add_argument("--out", default="raster.png", help="the figure, drawn by process 0")
parser.add_argument("--local", type=int, help="start so many processes on this machine")
parser.add_argument("--join", nargs=3, metavar=("ADDRESS", "PROCESSES", "PROCESS"))
args = parser.parse_args()

# %% On one machine: the same command for each process, with an address that all know
if args.local:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    join = [sys.executable, *sys.argv, "--local", "0", "--join", address, str(args.local)]
    threads = os.environ | {"JAXNEURO_THREADS": "1"}
    started = [subprocess.Popen([*join, str(k)], env=threads) for k in range(args.local)]
    sys.exit(max(abs(p.wait()) for p in started))

# %% Join the others: the mesh has the devices of all
if args.join:
    mesh = jn.parallel.connect(args.join[0], *map(int, args.join[1:]))
elif "JOB_COMPLETION_INDEX" in os.environ:  # a job of Kubernetes, see docs/clusters.md
    processes, process = (int(os.environ[k]) for k in ("PROCESSES", "JOB_COMPLETION_INDEX"))
    mesh = jn.parallel.connect(os.environ["COORDINATOR"], processes, process)
elif "SLURM_NTASKS" in os.environ:
    mesh = jn.parallel.connect()
else:
    mesh = Mesh(np.array(jax.devices()), ("devices",))
first = jax.process_index() == 0

# %% A balanced network (Brette et al. 2007, benchmark 1) with delays of 1.5 ms
neuron = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
sizes = {"E": round(0.8 * args.neurons), "I": args.neurons - round(0.8 * args.neurons)}
rule = jn.connectivity.FixedProbability(min(1.0, 80 / args.neurons))
excitatory = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)
inhibitory = jn.synapses.ExponentialConductance(tau_syn=10.0, e_rev=-80.0)
description = jn.Description(
    [
        jn.Population(k, n, neuron, initial={"v": jn.Uniform(-60.0, -50.0)})
        for k, n in sizes.items()
    ],
    [
        jn.Projection(source, target, rule, weight=weight, delay=1.5, synapse=synapse)
        for source, weight, synapse in (("E", 6.0, excitatory), ("I", 67.0, inhibitory))
        for target in sizes
    ],
    [jn.Stimulation(name, jn.stimuli.Current(200.0)) for name in sizes],
)

# %% Each process has the neurons of its devices, and the connections onto them; all run it
net = jn.build(description, key=1, dt=0.1, mesh=mesh)
try:
    result = jn.simulate(net, 1000.0 * args.seconds, key=2, progress=None if first else False)
except jn.LostProcessError as error:
    result = error.result
    print(f"process {jax.process_index()}: {error}")

# %% Every process has the spikes; one draws them
if first:
    print(f"{jax.process_count()} processes, {mesh.size} devices")
    print(jn.analysis.summary(result))
    jn.plot.raster(result).savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
