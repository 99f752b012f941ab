# %% [markdown]
# The operations of the assembly calculus (Papadimitriou et al. 2020,
# doi:10.1073/pnas.2001893117) on areas of 100,000 neurons, over several brains: how many neurons
# ever fire, and what is shared and recalled. Run it:
# `python examples/assembly_operations.py [--neurons 100000] [--k 317] [--seeds 10] [--out x.png]`

# %%
import argparse

import numpy as np
from matplotlib import pyplot as plt

from jaxneuro import assemblies as ac

FIBRES = [("SA", "A"), ("SB", "B"), *zip("AB", "CC"), *zip("CC", "AB"), *zip("ABC", "ABC")]


# %% Two areas with a stimulus each, and a third one that hears both
def brain(n: int, k: int) -> ac.Brain:
    areas = [ac.Area(x, n, k) for x in "ABC"]
    stimuli = [ac.Stimulus("SA", k), ac.Stimulus("SB", k)]
    fibres = [ac.Fibre(source, target) for source, target in FIBRES]
    return ac.Brain(areas, stimuli, fibres, p=0.01, beta=0.05, rounds=160)


# %% What one brain does. Operations of equally many rounds share a compiled program
def experiment(b: ac.Brain, key: int, rounds: int = 25):
    plan = ac.schedule(b, (["SA->A"], 1), (["SA->A", "A->A"], rounds - 1))
    pair, seen = ac.run(b, b.init(key), plan)
    pair = ac.project(b, pair, "SB", "B", rounds)  # an assembly in A, and one in B
    half = ac.pattern_complete(b, pair, "A", key, fraction=0.5, rounds=5)
    recalled = ac.overlap(b.cap(pair, "A"), b.cap(half, "A"))
    caps = {}
    for area in "AB":  # both have an assembly in C
        pair = ac.project(b, pair, area, "C", rounds)
        caps[f"of {area}"] = b.cap(pair, "C")
    together = ac.associate(b, pair, ["A", "B"], "C", rounds, ["SA", "SB"])
    for area in "AB":  # what each of them brings to C after they fired together
        alone = b.active(f"{area}->C")
        state, _ = ac.run(b, b.clear(together, "C"), alone, 1, plastic=False)
        caps[f"of {area},\nassociated"] = b.cap(state, "C")
    merged = ac.merge(b, pair, ["A", "B"], "C", rounds, ["SA", "SB"])
    caps["merged"] = b.cap(merged, "C")
    b.check(merged)
    share = [[ac.overlap(x, y) for y in caps.values()] for x in caps.values()]
    sizes = [b.support(merged, area) / b.areas[0].k for area in "ABC"]
    numbers = (np.asarray(x) for x in (share, recalled, sizes))
    return seen.support[:, 0], seen.kept[:, 0], *numbers, list(caps)


# %% All brains, one after the other
def run(n: int = 100_000, k: int = 317, seeds: int = 10):
    *found, names = zip(*(experiment(brain(n, k), seed) for seed in range(seeds)))
    support, kept, share, recalled, sizes = (np.stack(x) for x in found)
    print(f"projection: {support[:, -1].mean():.0f} +- {support[:, -1].std():.0f} neurons fired")
    print(f"half of A recalls {recalled.mean():.3f} +- {recalled.std():.3f} of it")
    print("support after merging, in k:", sizes.mean(0).round(2), "+-", sizes.std(0).round(2))
    print(
        f"A and B shared {share[:, 0, 1].mean():.3f} in C, {share[:, 2, 3].mean():.3f} associated"
    )
    return support, kept, share, names[0]


# %% Support and stability by round, and what the assemblies in C share
def draw(support, kept, share, names, k: int, out: str):
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    rounds = np.arange(1, support.shape[1] + 1)
    for axis, values, label in (
        (axes[0], support, "neurons of A that ever fired"),
        (axes[1], np.where(rounds > 1, kept / k, np.nan), "of the cap, in the cap before"),
    ):
        axis.plot(rounds, values.T, color="#8CC4E8", lw=0.7)
        axis.plot(rounds, values.mean(0), color="#0072B2", lw=1.6)
        axis.set(xlabel="round", ylabel=label, ylim=(0, None))
    mean = share.mean(0)
    axes[2].imshow(mean, vmin=0, vmax=1, cmap="Blues")
    for (y, x), value in np.ndenumerate(mean):
        axes[2].text(x, y, f"{value:.2f}", ha="center", va="center", color="kw"[int(value > 0.6)])
    axes[2].set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes[2].set_yticks(range(len(names)), names)
    axes[2].set_title("overlap of assemblies in C")
    figure.savefig(out, dpi=200)
    print(f"wrote {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 100_000), ("k", 317), ("seeds", 10)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly_operations.png")
    args = parser.parse_args()
    draw(*run(args.neurons, args.k, args.seeds), args.k, args.out)
