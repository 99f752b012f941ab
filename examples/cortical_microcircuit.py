# %% [markdown]
# The cortical microcircuit: the neurons and synapses under a square millimetre of early sensory
# cortex, or a part of them (Potjans and Diesmann 2014, doi:10.1093/cercor/bhs358). Run it:
# `python examples/cortical_microcircuit.py [--scale 1] [--seconds 2] [--drive dc] [--thalamus]`

# %% The numbers of the paper; the last source are relay cells of the thalamus
import argparse

import numpy as np

import jaxneuro as jn

NAMES = ["23E", "23I", "4E", "4I", "5E", "5I", "6E", "6I", "TC"]
N = np.array([20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948, 902])
C = [  # probability that a neuron of the column has a synapse on one of the row
    [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0000, 0.0076, 0.0000, 0.0000],
    [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0000, 0.0042, 0.0000, 0.0000],
    [0.0077, 0.0059, 0.0497, 0.1350, 0.0067, 0.0003, 0.0453, 0.0000, 0.0983],
    [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0000, 0.1057, 0.0000, 0.0619],
    [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0000, 0.0000],
    [0.0548, 0.0269, 0.0257, 0.0022, 0.0600, 0.3158, 0.0086, 0.0000, 0.0000],
    [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252, 0.0512],
    [0.0364, 0.0010, 0.0034, 0.0005, 0.0277, 0.0080, 0.0658, 0.1443, 0.0196],
]
K = np.rint(np.log1p(-np.array(C)) / np.log1p(-1.0 / np.outer(N[:8], N))) / N[:8, None]  # inputs
W, TAU, DELAYS = 87.80849, 0.5, (1.5, 0.75)  # pA, ms, ms from excitatory and inhibitory neurons
WEIGHTS = W * np.tile([1.0, -4.0], (8, 5))[:, :9]
WEIGHTS[0, 2] *= 2  # 4E to 23E
OUTSIDE = 8.0 * np.array([1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100])  # Hz
V0 = [-68.28, -63.16, -63.33, -63.45, -63.11, -61.66, -66.72, -61.43]  # mV, mean and sd
SD0 = [5.36, 4.57, 4.74, 4.94, 4.94, 4.55, 5.46, 4.48]
RATES = np.array([0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829])  # Hz, NEST, full scale


# %% A smaller network has fewer neurons, with fewer and stronger inputs; a current gives back the
# mean input lost at the full network's rates (van Albada et al. 2015, 10.1371/journal.pcbi.1004490)
def description(scale=1.0, drive="poisson", thalamus=False) -> jn.Description:
    if drive not in ("poisson", "dc") or not scale > 0:
        raise ValueError(f"drive must be poisson or dc, scale above 0; got {drive!r}, {scale}")
    neuron = jn.neurons.LIF(tau_m=10.0, c_m=250.0, e_l=-65.0, v_th=-50.0, v_reset=-65.0, t_ref=2.0)
    synapse, delta = jn.synapses.Exponential(TAU), jn.synapses.Delta()
    n, root = [round(scale * x) for x in N], np.sqrt(scale)
    missing = [1.0 - root, 1.0 - root if drive == "poisson" else 1.0]
    current = 1e-3 * TAU * np.dot(missing, [(WEIGHTS * K)[:, :8] @ RATES, W * OUTSIDE])
    cells, wires, stimuli = [], [], []
    for i, name in enumerate(NAMES[:8]):
        cells.append(jn.Population(name, n[i], neuron, {"v": jn.Normal(V0[i], SD0[i])}))
        if current[i]:
            stimuli.append(jn.Stimulation(name, jn.stimuli.Current(current[i])))
        if drive == "poisson":
            noise = jn.stimuli.Poisson(scale * OUTSIDE[i])
            stimuli.append(jn.Stimulation(name, noise, weight=W / root, synapse=synapse))
    if thalamus:  # a relay cell fires at every spike of its Poisson train, from 700 to 710 ms
        relay = jn.neurons.LIF(e_l=-65.0, v_th=-50.0, v_reset=-65.0, t_ref=0.0)
        cells.append(jn.Population("TC", n[8], relay))
        volley = {"weight": 20.0, "synapse": delta, "start": 700.0, "stop": 710.0}
        stimuli.append(jn.Stimulation("TC", jn.stimuli.Poisson(120.0), **volley))
    for i, j in np.argwhere(K[:, : 9 if thalamus else 8]):
        w, d = WEIGHTS[i, j] / root, DELAYS[j % 2]
        rule = jn.connectivity.FixedTotal(round(scale * K[i, j] * n[i]))
        weight = jn.Normal(w, 0.1 * abs(w), *((0.0, np.inf) if w > 0 else (-np.inf, 0.0)))
        values = {"weight": weight, "delay": jn.Normal(d, 0.5 * d, low=0.05), "synapse": synapse}
        wires.append(jn.Projection(NAMES[j], NAMES[i], rule, **values))
    return jn.Description(cells, wires, stimuli)


# %% Run it, and print and draw what a paper would, without the first 500 ms
if __name__ == "__main__":
    jn.configure_cpu()
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0, help="part of the full network")
    parser.add_argument("--seconds", type=float, default=2.0, help="after the first 500 ms")
    parser.add_argument(
        "--drive", choices=["poisson", "dc"], default="poisson", help="dc is silent below scale 0.2"
    )
    parser.add_argument("--thalamus", action="store_true", help="a volley at 700 ms")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="cortical_microcircuit.png", help="the figure")
    args = parser.parse_args()
    net = jn.build(description(args.scale, args.drive, args.thalamus), args.seed, dt=0.1)
    result = jn.simulate(net, 500.0 + 1e3 * args.seconds, key=args.seed, progress=True)
    print(jn.analysis.summary(result))
    print("after the first 500 ms:" + (" Hz (reference)" if args.scale == 1 else " Hz"))
    for name, rate in zip(NAMES, RATES):
        late = (result.events(name)[0] > 500.0).sum() / net.populations[name] / args.seconds
        print(f"  {name:3} {late:6.3f}" + (f" ({rate:.3f})" if args.scale == 1 else ""))
    if args.scale != 1:
        print("These are not the rates of the full network: scaling keeps the mean input only")
    known = dict(zip(NAMES, RATES)) if args.scale == 1 else None
    figure = jn.plot.activity(result, NAMES[:8], reference=known, start=500.0)
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
