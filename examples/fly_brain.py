# %% [markdown]
# The brain of a fly: integrate-and-fire neurons on its connectome, of which a few are driven (Shiu
# et al. 2024, doi:10.1038/s41586-024-07763-9). With the two files of the paper's repository
# (github.com/philshiu/Drosophila_brain_model):
# `python examples/fly_brain.py --edges Connectivity_783.parquet --neurons Completeness_783.csv`
# without them on a generated connectome of that size: 138,639 neurons, 15.1 million edges.

# %%
import argparse

import matplotlib.pyplot as plt
import numpy as np

import jaxneuro as jn

WEIGHT, DELAY = 0.275, 1.8  # mV for each synapse of an edge, ms
DRIVE = 250 * WEIGHT  # mV, of each spike of the Poisson input: it always makes its neuron fire


# %% The counts are those of FlyWire 783: half of the edges have one synapse, 2.7 of 15.1 million
# five or more (Lin et al. 2024, doi:10.1038/s41586-024-07968-y). Assumed are log-normal numbers of
# partners (sigma 1, before and after a neuron independent) and 70 % excitatory neurons. A brain is
# no random network: its rates differ.
def generated(n: int, edges: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        share = rng.lognormal(0.0, 1.0, n)
        sides.append(np.repeat(np.arange(n), rng.multinomial(edges, share / share.sum())))
    (pre, post), sign = sides, np.where(rng.random(n) < 0.7, 1, -1)
    synapses = np.maximum(rng.lognormal(np.log(2.0), 1.0, edges).astype(int), 1)
    return {"pre": pre, "post": rng.permutation(post), "weight": synapses * sign[pre]}


def brain(edges: jn.connectivity.Edges, driven: np.ndarray, rate: float) -> jn.Description:
    """As in the paper the driven neurons have no refractory time."""
    t_ref, driven = np.full(edges.n, 2.2), np.sort(driven)
    t_ref[driven] = 0.0
    cells = jn.Population("brain", edges.n, jn.neurons.FlyLIF(t_ref=t_ref))
    wires = jn.Projection(
        "brain",
        "brain",
        edges.rule,
        weight=WEIGHT * edges.weight,
        delay=DELAY,
        synapse=jn.synapses.Direct("g"),
    )
    drive = jn.Stimulation(
        jn.Part("brain", driven),
        jn.stimuli.Poisson(rate),
        weight=DRIVE,
        synapse=jn.synapses.Delta(),
    )
    return jn.Description([cells], [wires], [drive])


# %% Run it, name the neurons that fire most, and draw their rates
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--edges", help="the connectome, parquet or CSV")
    parser.add_argument("--neurons", help="the ids of its neurons, the first column of a file")
    parser.add_argument("--driven", type=int, nargs="*", help="ids; without: the first 20")
    parser.add_argument("--hz", type=float, default=200.0, help="rate of the drive")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--trials", type=int, default=8, help="runs with other Poisson input")
    parser.add_argument("--small", action="store_true", help="1,000 neurons, 20,000 edges")
    parser.add_argument("--out", default="fly_brain.png", help="the figure")
    args = parser.parse_args()
    jn.configure_cpu()
    if args.edges:
        edges = jn.connectivity.Explicit.from_edges(args.edges, neurons=args.neurons)
    else:
        n, m = (1_000, 20_000) if args.small else (138_639, 15_091_983)
        edges = jn.connectivity.Explicit.from_edges(
            generated(n, m, seed=0), neurons=np.arange(n), duplicates="sum"
        )
    driven = edges.find(args.driven) if args.driven else np.arange(20)
    net = jn.build(brain(edges, driven, args.hz), key=0, dt=0.1)
    print(f"{net.n_neurons:,} neurons, {net.n_synapses:,} edges, {driven.size} driven")
    rates = np.zeros((args.trials, edges.n))
    for trial in range(args.trials):
        result = jn.simulate(net, 1e3 * args.seconds, key=trial, progress=False)
        rates[trial] = np.bincount(result.events("brain")[1], minlength=edges.n) / args.seconds
        print(f"trial {trial}: {(rates[trial] > 0).sum():,} neurons fire; {result.run_s:.2f} s")
    mean, sd = rates.mean(0), rates.std(0)
    most = [i for i in np.argsort(-mean, kind="stable") if i not in driven][:30]
    for i in most[:10]:
        print(f"  {edges.neurons[i]}: {mean[i]:6.1f} +- {sd[i]:.1f} Hz")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    left.errorbar(np.arange(len(most)), mean[most], sd[most], fmt="o", ms=3, lw=1)
    left.set(xlabel="neuron, by rate", ylabel="rate (Hz)", title="most active, driven ones apart")
    times, neurons = result.events("brain")
    right.plot(times, neurons, ",k")
    right.set(xlabel="time (ms)", ylabel="neuron", title=f"spikes of trial {args.trials - 1}")
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
