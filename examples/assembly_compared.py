# %% [markdown]
# An assembly in spikes (`assembly_in_spikes.py`) beside the assembly calculus (Papadimitriou et al.
# 2020, doi:10.1073/pnas.2001893117) with the same n, k, p, rounds, beta and ceilings of weights:
# which neurons fire becomes stable, and half recalls the rest. The numbers of the spiking network
# were chosen on seeds 1 and 2; these are others. Run it:
# `python examples/assembly_compared.py [--neurons 5000] [--volleys 30] [--seeds 5] [--out x.png]`

# %%
import argparse

import assembly_in_spikes as spikes
import numpy as np
from matplotlib import pyplot as plt

import jaxneuro as jn
from jaxneuro import assemblies as ac

BLUE, ORANGE, GREY, LIGHT = "#0072B2", "#D55E00", "#8C8C8C", "#C8C8C8"
SHOWN = {0: "first volley", -3: "last volley", -2: "half of the stimulus", -1: "half the assembly"}


# %% The calculus. A cap has k neurons, so others fill up half of an assembly
def calculus(n: int, k: int, rounds: int, seed: int, beta: float):
    fibres = [ac.Fibre(x, "E", w_max=spikes.CEILING[x[0]]) for x in ("S1", "S2", "E")]
    stimuli, rng = [ac.Stimulus(x, k // 2) for x in ("S1", "S2")], np.random.default_rng(seed)
    brain = ac.Brain([ac.Area("E", n, k)], stimuli, fibres, p=20 / k, beta=beta, rounds=rounds)
    state, seen = ac.run(brain, brain.init(seed), np.ones(3, bool), rounds)
    order = rng.permutation(np.asarray(brain.cap(state, "E")))
    half, rest = np.split(order, [k // 2])
    others = rng.choice(np.setdiff1d(np.arange(n), order), k - k // 2, replace=False)
    cue, recall = brain.with_cap(state, "E", np.r_[half, others]), []
    for start, fibre, wanted in ((brain.clear(state, "E"), "S1->E", order), (cue, "E->E", rest)):
        after, _ = ac.run(brain, start, brain.active(fibre), 1, False)
        recall.append((np.isin(wanted, np.asarray(brain.cap(after, "E"))).mean(), k / n))
    return np.asarray(seen.kept)[1:, 0] / k, np.array(recall)


# %% Both, with plasticity and without, of all seeds: overlaps (seeds, volleys - 1), what was
# recalled of the rest by both cues, and by chance (seeds, 2, 2); and spike times of the first seed
def run(n: int = 5000, volleys: int = 30, seeds: int = 5, first: int = 11):
    k, times, parts = n // 25, None, [[], [], [], []]
    for seed in range(first, first + seeds):
        net = jn.build(spikes.description(n, k), key=seed, dt=spikes.DT)
        for part, plastic in zip(parts[:2], (True, False)):
            shown, *found = spikes.spiking(net, volleys, seed, plastic)
            times = shown if times is None else times
            part.append(found)
        for part, beta in zip(parts[2:], (spikes.BETA, 0.0)):
            part.append(calculus(n, k, volleys, seed, beta))
    return times, [[np.array(x) for x in zip(*part)] for part in parts]


# %% First spikes of the assembly, in the order of the last volley, and of as many other neurons
def draw_spikes(axes, times):
    order = np.argsort(times[-3], kind="stable")
    m, rng = np.isfinite(times[-3]).sum(), np.random.default_rng(0)
    shown = np.r_[order[:m], rng.choice(order[m:], min(m, order.size - m), replace=False)]
    for axis, (row, title) in zip(axes, SHOWN.items()):
        axis.scatter(
            times[row][shown],
            np.arange(shown.size),
            s=3.0,
            lw=0.0,
            c=np.where(np.arange(shown.size) < m, BLUE, GREY),
        )
        axis.axhline(m, lw=0.5, color="black")
        axis.set(title=title, xlabel="time (ms)", xlim=(0, 25), ylim=(0, shown.size), yticks=[])
    axes[0].set_yticks([m / 2, 1.5 * m], ["assembly", "others"], rotation=90, va="center")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 5000), ("volleys", 30), ("seeds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly_in_spikes.png", help="the figure")
    args = parser.parse_args()
    times, parts = run(args.neurons, args.volleys, args.seeds)
    figure = plt.figure(figsize=(9, 5.5), layout="constrained")
    grid = figure.add_gridspec(2, 4)
    draw_spikes([figure.add_subplot(grid[0, x]) for x in range(4)], times)
    left, right = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2:])
    looks = (
        (BLUE, "spikes"),
        (GREY, "without plasticity"),
        (ORANGE, "calculus"),
        (LIGHT, "beta = 0"),
    )
    for x, ((color, name), (overlaps, recall)) in enumerate(zip(looks, parts)):
        at, place = np.arange(overlaps.shape[1]) + 2, np.arange(2) + 0.2 * x - 0.3
        left.plot(at, overlaps.mean(0), color=color, label=name)
        left.fill_between(at, overlaps.min(0), overlaps.max(0), color=color, alpha=0.2, lw=0)
        right.bar(place, recall[..., 0].mean(0), 0.18, color=color)
        right.plot(place, recall[..., 0].T, ".", ms=3.0, color="black")
        right.hlines(recall[..., 1].mean(0), place - 0.09, place + 0.09, color="black", lw=1.0)
        last = f"{overlaps[:, -1].mean():.2f} +- {overlaps[:, -1].std():.2f}"
        print(
            f"{name:18}: shared {last}, recalled",
            *recall[..., 0].mean(0).round(2),
            "of chance",
            *recall[..., 1].mean(0).round(3),
            recall[..., 0].std(0).round(3),
        )
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
