# %% [markdown]
# Learning to classify with assemblies, after Dabagia, Papadimitriou and Vempala (2022),
# arXiv:2110.03171: an assembly forms for each class after a few samples, and new ones are told
# apart by which assembly fires. Classes of stimuli, and half-spaces with a margin. Run it:
# `python examples/assembly_learning.py [--seeds 10] [--samples 1000] [--out assembly_learning.png]`

# %%
import argparse

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
ac = jn.assemblies

N, K = 1000, 100  # neurons, and how many of them fire
PUBLISHED = [0.50, 0.50, 0.50, 0.66, 0.99, 1.00, 1.00]  # half-spaces with margin 0 to 6


# %% Weights are divided by their sums when they are read, not while they are learned
def brain(inputs: int, fire: int, n: int, beta: float, rounds: int):
    a = ac.Area("A", n, K, connectome="explicit", homeostasis=True)
    fibres = [ac.Fibre("IN", "A"), ac.Fibre("A", "A")]
    return ac.Brain([ac.Area("IN", inputs, fire), a], [], fibres, p=0.1, beta=beta, rounds=rounds)


# %% Four classes, five samples of each: a core of k neurons fires with probability 0.9, all others
# with k / 10 n. The share of each assembly that new samples of each class make fire
def stimulus_classes(seeds: int, classes: int = 4) -> np.ndarray:
    net = brain(N, 200, N, 0.1, 5 * classes)

    @jax.jit
    def shares(seed, train, test):
        state, caps = ac.learn_classes(net, net.init(seed), "IN", "A", train)
        read = jax.vmap(lambda some: ac.responses(net, state, "IN", "A", some))(test)
        return ac.overlaps(read, caps[:, -1], N).mean(1)

    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        core = np.argsort(rng.random((classes, N))) < K
        chance = np.where(core, 0.9, 0.1 * K / N)[:, None]
        samples = (ac.patterns(rng.random((classes, m, N)) < chance, 200) for m in (5, 50))
        found.append(shares(np.uint32(seed), *samples))
    return np.array(found)


# %% Of the first k inputs exactly (1 + margin) sqrt(k) fire in positive samples, (1 - margin)
# sqrt(k) in negative ones; of the others each with k / n. Five positive samples are learned.
def half_space(rng: np.random.Generator, margin: float, samples: int) -> np.ndarray:
    fires = rng.random((2, samples, N)) < K / N
    on = np.array([np.ceil((1 + margin) * K**0.5), np.floor((1 - margin) * K**0.5)])
    fires[..., :K] = rng.random((2, samples, K)).argsort(2).argsort(2) < on[:, None, None]
    return ac.patterns(fires, 250)


def half_spaces(seeds: int, samples: int) -> np.ndarray:
    net = brain(N, 250, N, 1.0, 5)

    @jax.jit
    def accuracy(seed, samples):
        state, _ = ac.learn_classes(net, net.init(seed), "IN", "A", samples[:1, :5])
        read = jax.vmap(lambda some: ac.responses(net, state, "IN", "A", some))(samples)
        known = ac.class_assemblies(net, "A", read[:1])  # the most frequent winners
        yes, no = jnp.mean(ac.overlaps(read, known, N)[..., 0] > 0.5, axis=1)
        return (yes + 1 - no) / 2

    found = np.empty((seeds, len(PUBLISHED)))
    for seed, margin in np.ndindex(found.shape):
        given = half_space(np.random.default_rng((seed, margin)), margin, samples)
        found[seed, margin] = accuracy(np.uint32(seed), given)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("seeds", 10), ("samples", 1000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly_learning.png", help="the figure")
    args = parser.parse_args()
    shares = stimulus_classes(args.seeds).mean(0)
    spaces = half_spaces(args.seeds, args.samples)
    print("classes, share of each assembly:", shares.round(2), sep="\n")
    print("half-spaces:", spaces.mean(0).round(3), "+-", spaces.std(0).round(3))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    image = left.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    left.set(xlabel="assembly", ylabel="samples of class", xticks=range(4), yticks=range(4))
    figure.colorbar(image, ax=left, label="share that fires")
    at, mean = np.arange(len(PUBLISHED)), spaces.mean(0)
    right.errorbar(at, mean, spaces.std(0), marker="o", capsize=2, label="jaxneuro (SD)")
    right.plot(at, PUBLISHED, "x", color="black", zorder=3, label="published")
    right.set(xlabel="margin of the half-space", ylabel="correct", ylim=(0.45, 1.02))
    right.legend(frameon=False, loc="upper left")
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
