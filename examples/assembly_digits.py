# %% [markdown]
# Handwritten digits in one area of 2000 neurons: an assembly forms for each after 20 images, as in
# Dabagia, Papadimitriou and Vempala (2022), arXiv:2110.03171, on the images of 8 x 8 pixels of
# scikit-learn. How many new images are told apart, by the number of digits that were learned. Run
# it: `python examples/assembly_digits.py [--seeds 10] [--images 40] [--out assembly_digits.png]`

# %%
import argparse

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import jaxneuro as jn

jn.configure_cpu()
ac = jn.assemblies

N, K, SHOWN = 2000, 100, 20  # neurons, how many fire, images of each digit that are shown


# %% Weights are divided by their sums when they are read, not while they are learned. A neuron of
# the assembly of one digit does not fire while others are learned: that is the refraction.
def brain(inputs: int, fire: int, beta: float):
    how = {"connectome": "explicit", "homeostasis": True, "refraction": 1000.0}
    areas = [ac.Area("IN", inputs, fire), ac.Area("A", N, K, **how)]
    fibres = [ac.Fibre("IN", "A"), ac.Fibre("A", "A")]
    return ac.Brain(areas, [], fibres, p=0.1, beta=beta, rounds=10 * SHOWN)


# %% Four neurons for each pixel, by brightness. One digit after the other is learned, in random
# order; after each, new images of all that are known are read.
# The share of right answers: (seeds, 10)
def digits(seeds: int, tested: int, beta: float) -> np.ndarray:
    images, labels = load_digits(return_X_y=True)
    truth = np.repeat(np.arange(10), tested)
    fires = np.concatenate([images > bright for bright in (0, 4, 8, 12)], axis=1)
    size, rng = int(fires.sum(1).max()), np.random.default_rng(0)
    net = brain(256, size, beta)

    def one(carry, digit):
        (state, known, test), (number, train) = carry, digit
        state, caps = ac.learn_classes(net, state, "IN", "A", train[None])
        known = known.at[number].set(caps[0, -1])
        right = ac.classify(net, state, "IN", "A", test, known) == truth
        there = truth <= number
        return (state, known, test), jnp.sum(right & there) / jnp.sum(there)

    @jax.jit
    def accuracies(seed, train, test):
        start = net.init(seed), jnp.full((10, K), N, jnp.int32), test.reshape(-1, size)
        return jax.lax.scan(one, start, (jnp.arange(10), train))[1]

    found = []
    for seed in range(seeds):
        drawn = [rng.permutation(np.flatnonzero(labels == d)) for d in rng.permutation(10)]
        given = ac.patterns(fires[np.array([d[: SHOWN + tested] for d in drawn])], size)
        found.append(accuracies(np.uint32(seed), given[:, :SHOWN], given[:, SHOWN:]))
    return np.array(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("seeds", 10), ("images", 40)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly_digits.png", help="the figure")
    args, at = parser.parse_args(), np.arange(1, 11)
    figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
    print("digits learned:   ", at)
    for name, beta in (("learned", 0.1), ("without learning", 0.0)):
        found = digits(args.seeds, args.images, beta)
        print(f"{name:18}", found.mean(0).round(2), "+-", found.std(0).round(2))
        axes.errorbar(at, found.mean(0), found.std(0), marker="o", capsize=2, label=name)
    axes.plot(at, 1 / at, ":", color="black", label="chance")
    axes.set(xlabel="digits learned", ylabel="correct", xticks=at, ylim=(0, 1.05))
    axes.legend(frameon=False)
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
