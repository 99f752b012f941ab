# %% [markdown]
# Waves on a sheet of 100 x 100 Izhikevich neurons, coupled by gap junctions, by transmitters or by
# both, in the way of the package lixirnet: neighbours within 2 spacings are joined with probability
# 0.8, and a neuron averages over its neighbours of a kind. Four fifths of the neurons release
# glutamate, the others GABA. Every neuron has a constant current of its own, so that neurons that
# are not coupled go their own ways: this is the control. Run it:
# `python examples/neurotransmitters.py [--side 100] [--ms 600] [--out neurotransmitters.png]`

# %%
import argparse

import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

VARIANTS = ("not coupled", "electrical", "chemical", "both")


# %% One network with all couplings. Currents are in the unit of the neuron, mV/ms
def network(side: int = 100, key: int = 1) -> jn.Network:
    rng = np.random.default_rng(key)
    cell = jn.neurons.Izhikevich.regular_spiking()
    grid, start = jn.space.Grid((side, side)), {"v": jn.Uniform(-65.0, 30.0)}
    sheet = jn.Population("sheet", side**2, cell, start, positions=grid)
    near = jn.connectivity.DistanceProbability(jn.space.Disc(2.0, 0.8))
    couplings = [jn.Coupling("sheet", "sheet", near, weight=2.0, average=True, name="gap")]
    inhibits = rng.permutation(side**2) < side**2 // 5
    parts = {"E": jn.Part("sheet", ~inhibits), "I": jn.Part("sheet", inhibits)}
    transmitter = jn.release.ClearedTransmitter(t_max=1.0, clearance=0.5)
    receptors = jn.synapses.Ionotropic()  # with Destexhe's kinetics
    for kind, port in (("E", "ampa"), ("I", "gaba")):
        chemical = {"release": transmitter, "synapse": jn.synapses.Into(receptors, port)}
        for other in parts:
            ends, how = (parts[kind], parts[other], near), {"average": True, **chemical}
            couplings.append(jn.Coupling(*ends, weight=1.0, name=f"{kind}~{other}", **how))
    drive = jn.Stimulation("sheet", jn.stimuli.Current(rng.uniform(0.0, 9.0, side**2)))
    return jn.build(jn.Description([sheet], [], [drive], couplings=couplings), key=key, dt=0.1)


# %% A variant of it runs: v every millisecond (samples, side, side), and the mean rate
def run(net: jn.Network, variant: str, ms: float) -> tuple[np.ndarray, float]:
    for name in ("gap", "E~E", "E~I", "I~E", "I~I"):
        kind = "electrical" if name == "gap" else "chemical"
        net = net.set(name, gain=1.0 if variant in (kind, "both") else 0.0)
    result = jn.simulate(net, ms, key=1, record=jn.Record(variables={"sheet": "v"}, interval=1.0))
    side = int(np.sqrt(net.n_neurons))
    return result.traces["sheet"]["v"].reshape(-1, side, side), result.rate("sheet")


# %% How v of two neurons agrees, by their distance along an axis, once what all share is taken away
def correlation(v: np.ndarray) -> np.ndarray:
    away, side = v - v.mean((1, 2), keepdims=True), v.shape[1]
    turned = away.swapaxes(1, 2)
    products = [
        np.mean([(x[:, d:] * x[:, : side - d]).mean() for x in (away, turned)])
        for d in range(min(side, 20))
    ]
    return np.array(products) / products[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=100, help="neurons along an edge")
    parser.add_argument("--ms", type=float, default=600.0)
    parser.add_argument("--out", default="neurotransmitters.png", help="the figure")
    args = parser.parse_args()
    net, middle = network(args.side), args.ms / 2
    widths = {"width_ratios": [1, 1, 1, 1.7, 1.2]}
    figure, axes = plt.subplots(4, 5, figsize=(9, 7), gridspec_kw=widths, layout="constrained")
    shades = {"vmin": -80.0, "vmax": -30.0, "origin": "lower"}
    for row, variant in zip(axes, VARIANTS):
        v, rate = run(net, variant, args.ms)
        late = v[v.shape[0] // 2 :]
        agree = correlation(late)
        print(f"{variant}: {rate:.1f} Hz, correlation of neighbours {agree[1]:.3f}")
        peak = 12 + int(np.argmax(late[12:].mean((1, 2))))
        for axis, k in zip(row, (peak - 12, peak - 6, peak)):
            image = axis.imshow(late[k], **shades)
            axis.set(title=f"{middle + k + 1:.0f} ms", xticks=[], yticks=[])
        row[0].set_ylabel(f"{variant}\n{rate:.0f} Hz")
        ends = (middle, args.ms, 0, args.side)
        row[3].imshow(late[:, args.side // 2].T, **shades, aspect="auto", extent=ends)
        row[3].set_ylabel("middle row")
        row[4].plot(agree, color="#0072B2")
        row[4].axhline(0.0, lw=0.6, color="black")
        row[4].set(title=f"neighbours: {agree[1]:.2f}", ylabel="correlation", ylim=(-0.1, 1.05))
    axes[3, 3].set_xlabel("time (ms)")
    axes[3, 4].set_xlabel("distance (neurons)")
    bar = figure.colorbar(image, ax=axes[3, :3], location="bottom", extend="both", aspect=40)
    bar.set_label("membrane potential (mV)")
    figure.savefig(args.out, dpi=110)
    print(f"wrote {args.out}")
