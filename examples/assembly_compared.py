# %% [markdown]
# An assembly in spikes (`assembly_in_spikes.py`) beside the assembly calculus (Papadimitriou et al.
# 2020, doi:10.1073/pnas.2001893117) with the same n, k, p, rounds, beta and ceilings of weights:
# which neurons fire becomes stable, and half recalls the rest. Run it:
# `python examples/assembly_compared.py [--neurons 5000] [--volleys 30] [--seeds 5] [--out x.png]`

# %%
import argparse

import assembly_in_spikes as spikes
import numpy as np
from matplotlib import pyplot as plt

import jaxneuro as jn
from jaxneuro import assemblies as ac

COLORS = {"spikes": "#0072B2", "spikes, no plasticity": "#8CC4E8"}
COLORS |= {"calculus": "#D55E00", "calculus, beta = 0": "#F2B98F"}
SHOWN = {"first volley": (0, 0), "last, no plasticity": (1, -3), "last volley": (0, -3)}
CUES = {"half of the stimulus": (0, -2), "half of the assembly": (0, -1)}


# %% The calculus
def calculus(n: int, k: int, rounds: int, seed: int, beta: float):
    fibres = [ac.Fibre(x, "E", w_max=spikes.CEILING[x[0]]) for x in ("S1", "S2", "E")]
    stimuli, rng = [ac.Stimulus(x, k // 2) for x in ("S1", "S2")], np.random.default_rng(seed)
    brain = ac.Brain([ac.Area("E", n, k)], stimuli, fibres, p=20 / k, beta=beta, rounds=rounds)
    state, seen = ac.run(brain, brain.init(seed), np.ones(3, bool), rounds)
    order = rng.permutation(np.asarray(brain.cap(state, "E")))
    half, rest = np.split(order, [k // 2])
    cue, recall = brain.with_cap(state, "E", half), []
    for start, fibre, wanted in ((brain.clear(state, "E"), "S1->E", order), (cue, "E->E", rest)):
        after, _ = ac.run(brain, start, brain.active(fibre), 1, False)
        recall.append((np.isin(wanted, np.asarray(brain.cap(after, "E"))).mean(), k / n))
    return np.asarray(seen.kept)[1:, 0] / k, np.array(recall)


# %% Of all seeds: in spikes with plasticity and without, in the calculus with and without. Last of
# each are overlaps (volleys - 1,), and what both cues recalled of the rest, and by chance (2, 2)
def run(n: int = 5000, volleys: int = 30, seeds: int = 5, first: int = 11):
    parts = [[], [], [], []]
    for seed in range(first, first + seeds):
        net = jn.build(spikes.description(n, n // 25), key=seed, dt=spikes.DT)
        for part, (plastic, beta) in enumerate(((True, spikes.BETA), (False, 0.0))):
            parts[part].append(spikes.spiking(net, volleys, seed, plastic))
            parts[part + 2].append(calculus(n, n // 25, volleys, seed, beta))
    return parts


# %% First spikes of the assembly, below the half that is a cue, and of the others that fired most
def draw_spikes(axes, parts):
    times, half, *_ = parts[0][0]
    fired = np.isfinite([times, parts[1][0][0]]).sum((0, 1))
    assembly, others = np.split(np.argsort(times[-3]), [np.isfinite(times[-3]).sum()])
    others = others[np.argsort(-fired[others], kind="stable")][: assembly.size]
    cue, colors = np.isin(assembly, half), ("#004C78", COLORS["spikes"], "#8C8C8C")
    rows = np.concatenate((assembly[cue], assembly[~cue], others))
    ends = np.array((0, half.size, assembly.size, rows.size))
    for axis, (title, (part, volley)) in zip(axes, {**SHOWN, **CUES}.items()):
        for low, high, color in zip(ends, ends[1:], colors):
            at = parts[part][0][0][volley][rows[low:high]]
            axis.plot(at, range(low, high), ".", ms=3.0, mew=0.0, color=color)
            axis.axhline(high, lw=0.4, color="black")
        axis.set(title=title, xlabel="time (ms)", xlim=(0, 20), ylim=(0, rows.size + 1))
        axis.tick_params(axis="y", length=0)
    axes[0].set_yticks((ends[:-1] + ends[1:]) / 2, ("one half", "other half", "others"))


# %% Mean and range of the overlaps, means and dots of the recall; black lines are chance
def draw_numbers(parts, left, right):
    for x, ((name, color), part) in enumerate(zip(COLORS.items(), parts)):
        overlaps, recall = (np.array([found[at] for found in part]) for at in (-2, -1))
        at, place = np.arange(overlaps.shape[1]) + 2, np.arange(2) + 0.2 * x - 0.3
        left.plot(at, overlaps.mean(0), color=color, label=name)
        left.fill_between(at, overlaps.min(0), overlaps.max(0), color=color, alpha=0.2, lw=0)
        right.bar(place, recall[..., 0].mean(0), 0.18, color=color)
        right.plot(place, recall[..., 0].T, ".", ms=3.0, color="black")
        right.hlines(recall[..., 1].mean(0), place - 0.09, place + 0.09, color="black", lw=1.0)
        print(f"{name}: {overlaps[:, -1].mean():.3f} +- {overlaps[:, -1].std():.3f} shared; recall")
        print(recall.mean(0).round(3).tolist(), "+-", recall.std(0).round(3).tolist())
    left.set(xlabel="volley, or round", ylabel="shared with the one before", ylim=(0, 1.04))
    left.legend(frameon=False, loc=(0.52, 0.53))
    right.set(ylabel="fraction of the rest that fires", ylim=(0, 1.04))
    right.set_xticks((0, 1), list(CUES))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 5000), ("volleys", 30), ("seeds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly_in_spikes.png")
    args = parser.parse_args()
    parts = run(args.neurons, args.volleys, args.seeds)
    top, bottom = plt.figure(figsize=(10, 6), layout="constrained").subfigures(2)  # type: ignore
    draw_spikes(top.subplots(1, 5, sharey=True), parts)
    draw_numbers(parts, *bottom.subplots(1, 2))
    plt.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
