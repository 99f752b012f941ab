# %% [markdown]
# Waves on a sheet: a 100 x 100 lattice of leaky integrate-and-fire neurons with local excitatory
# connections, whose strength falls with distance and whose delay grows with it. A corner is kicked
# every 60 ms; each kick sends a front across the sheet, behind which neurons are refractory.
# Run it: `python examples/lattice.py [--side 100] [--ms 400] [--out lattice.gif]`
# It writes the movie and, beside it, a figure (lattice.png).

# %%
import argparse
from pathlib import Path

import numpy as np

import jaxneuro as jn

jn.configure_cpu()

parser = argparse.ArgumentParser()
parser.add_argument("--side", type=int, default=100, help="neurons along an edge")
parser.add_argument("--ms", type=float, default=400.0)
parser.add_argument("--out", default="lattice.gif", help="the movie, .gif or .mp4")
args = parser.parse_args()

# %% The sheet: a neuron every 10 um, each connected to its neighbours within 30 um
grid = jn.space.Grid((args.side, args.side), spacing=10.0)
neuron = jn.neurons.LIF(tau_m=10.0, c_m=100.0, e_l=-65.0, v_th=-50.0, v_reset=-70.0, t_ref=20.0)
sheet = jn.Population("sheet", args.side**2, neuron, positions=grid)
synapse = jn.synapses.Exponential(tau_syn=2.0)
neighbours = jn.Projection(
    "sheet",
    "sheet",
    jn.connectivity.DistanceProbability(jn.space.Disc(30.0)),
    weight=jn.space.ByDistance(jn.space.Gaussian(sigma=20.0, peak=300.0)),
    delay=jn.space.ConductionDelay(speed=30.0, offset=0.5),
    synapse=synapse,
)

# %% The drive: a corner is kicked for 5 of every 60 ms; a few neurons spike by themselves
corner = jn.Part("sheet", jn.space.Area(low=(0.0, 0.0), high=(60.0, 60.0)))
kicks = jn.stimuli.Pulses(amplitude=600.0, width=5.0, period=60.0)
stimuli = [
    jn.Stimulation(corner, jn.stimuli.Current(kicks)),
    jn.Stimulation("sheet", jn.stimuli.Poisson(0.2), weight=1500.0, synapse=synapse),
]

# %% Build, run, and sample v every 2 milliseconds
net = jn.build(jn.Description([sheet], [neighbours], stimuli), key=0, dt=0.1)
record = jn.Record(variables={"sheet": "v"}, interval=2.0)
result = jn.simulate(net, args.ms, key=1, record=record)
print(jn.analysis.summary(result))

# %% How fast a front travels: when neurons along the edge spike first
times, neurons = result.events("sheet")
first = np.full(net.n_neurons, np.nan)
first[neurons[::-1]] = times[::-1]
edge = first[grid.index(np.arange(10, args.side), 0)]
reached = np.isfinite(edge) & (edge < 60.0)
if reached.sum() > 1:
    slope = np.polyfit(np.arange(10, args.side)[reached] * 10.0, edge[reached], 1)[0]
    print(f"the first front travels at {1 / slope:.1f} um/ms")

# %% Four moments as a figure, and the movie
v, out = result.traces["sheet"]["v"], Path(args.out)
moments = np.linspace(0.1, 0.4, 4) * v.shape[0]
figure = jn.plot.lattice(
    v[moments.astype(int)].ravel(),
    (4, args.side, args.side),
    label="membrane potential (mV)",
    scale=(-70.0, -50.0),
    title=", ".join(f"{t:.0f}" for t in result.sample_times[moments.astype(int)]) + " ms",
)
figure.axes[0].set(xlabel="axis 1 to the right, axis 0 up", ylabel="one moment after the other")
figure.axes[0].set_yticks([])
figure.savefig(out.with_suffix(".png"), dpi=200)
shape = (args.side, args.side)
jn.plot.lattice_movie(result, "sheet", "v", shape=shape, path=out, scale=(-70.0, -50.0))
print(f"wrote {out.with_suffix('.png')} and {out}")
