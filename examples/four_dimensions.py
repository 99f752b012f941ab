# %% [markdown]
# A lattice in four dimensions (x, y, z, w), read from a file: 160,000 excitatory and 10,000
# inhibitory leaky integrate-and-fire neurons with local connections, delays by distance and two
# named areas, one of which projects to the other and is stimulated after 200 ms.
# Run it: `python examples/four_dimensions.py [--network FILE] [--ms 500] [--out four.png]`

# %%
import argparse
import time
from pathlib import Path

import jaxneuro as jn

jn.configure_cpu()

HERE = Path(__file__).parent if "__file__" in globals() else Path("examples")
parser = argparse.ArgumentParser()
parser.add_argument("--network", default=HERE / "four_dimensions.json", help="a file of jn.io")
parser.add_argument("--ms", type=float, default=500.0)
parser.add_argument("--out", default="four_dimensions.png", help="the figure")
args = parser.parse_args()

# %% Read, estimate, build
description = jn.io.read_description(args.network)
print(description.estimate())
start = time.perf_counter()
net = jn.build(description, key=1, dt=0.5)
build_s = time.perf_counter() - start

# %% Run
result = jn.simulate(net, args.ms, key=2, progress=True)
print(jn.analysis.summary(result, build_s))

# %% Rates by area, before and after the stimulus (light) begins
times, neurons = result.events("E")
points, light = net.positions("E"), min(200.0, args.ms / 2)
for name, area in description.areas.items():
    inside = area.contains(points)
    mine = times[inside[neurons]]
    before, after = (mine <= light).sum() / light, (mine > light).sum() / (args.ms - light)
    print(f"{name}: {inside.sum():,} neurons, {1e3 * before / inside.sum():.1f} Hz, ", end="")
    print(f"with light on V1 {1e3 * after / inside.sum():.1f} Hz")

# %% Delays grow with distance
local = net.connections("E->E")
grid = description.population("E").positions
distance = jn.space.distance(points[local.pre], points[local.post], grid.period)
print(f"{len(local):,} local synapses of {distance.min():.0f} to {distance.max():.1f} um, ", end="")
print(f"delays {local.delay.min():g} to {local.delay.max():g} ms")

# %% The rate of every neuron: slices of the lattice over x and y, for all z and w
rates = jn.analysis.neuron_rates(result, "E", start=light)
figure = jn.plot.lattice(rates, grid.shape, label="rate (Hz)", size=(7.0, 6.0))
figure.savefig(args.out, dpi=200)
print(f"wrote {args.out}")
