# %% [markdown]
# A thousand brains in one `vmap`: how much of an assembly half of it brings back, for each of
# several beta, with error bars over brains. Run it:
# `python examples/thousand_brains.py [--brains 1000] [--neurons 100000] [--k 100] [--out x.png]`

# %%
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt

from jaxneuro import assemblies as ac

BETAS = (0.03, 0.05, 0.07, 0.1, 0.2)


# %% One area that keeps only the neurons that fire, and a stimulus
def brain(n: int, k: int) -> ac.Brain:
    area = ac.Area("A", n, k, connectome="sampled", capacity=15 * k)
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    return ac.Brain([area], [ac.Stimulus("S", k)], fibres, p=0.05, rounds=32)


# %% What one brain does: its key and its beta are arguments, so both can be batched
def recalled(b: ac.Brain, key, beta):
    b = b.with_beta(beta)
    state = ac.project(b, b.init(key), "S", "A", rounds=20)
    after = ac.pattern_complete(b, state, "A", key, fraction=0.5, rounds=5)
    lost = state.areas[0].lost + after.areas[0].lost + after.forgotten
    return b.support(state, "A"), ac.overlap(b.cap(state, "A"), b.cap(after, "A")), lost


def run(brains: int = 1000, n: int = 100_000, k: int = 100):
    keys = jnp.arange(brains, dtype=jnp.uint32)
    many = jax.jit(jax.vmap(lambda key, beta: recalled(brain(n, k), key, beta), (0, None)))
    support, overlap = [], []
    for beta in np.array(BETAS, np.float32):  # the same program for each beta
        start = time.perf_counter()
        fired, shared, lost = jax.block_until_ready(many(keys, beta))
        assert not lost.any(), "the capacity was too small"
        support.append(np.asarray(fired))
        overlap.append(np.asarray(shared))
        seconds = time.perf_counter() - start
        print(
            f"beta {beta:.2f}: {fired.mean():.0f} +- {fired.std():.0f} neurons fired, "
            f"{shared.mean():.3f} +- {shared.std():.3f} recalled; {seconds:.1f} s"
        )
    return np.array(support), np.array(overlap)


# %% Both against beta: mean and standard deviation, and the middle 90 % of the brains
def draw(support, overlap, k: int, out: str):
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for axis, values, label in (
        (axes[0], support / k, "neurons that ever fired (k)"),
        (axes[1], overlap, "recalled by half of the assembly"),
    ):
        low, high = np.quantile(values, (0.05, 0.95), axis=1)
        axis.fill_between(BETAS, low, high, color="#0072B2", alpha=0.2, lw=0)
        axis.errorbar(BETAS, values.mean(1), values.std(1), color="#0072B2", marker="o", capsize=3)
        axis.set(xlabel="beta", ylabel=label, xscale="log", ylim=(0, None))
        axis.set_xticks(BETAS, [f"{beta:g}" for beta in BETAS])
        axis.minorticks_off()
    axes[1].axhline(0.5, color="black", lw=0.8, ls=":")
    figure.savefig(out, dpi=200)
    print(f"wrote {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("brains", 1000), ("neurons", 100_000), ("k", 100)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="thousand_brains.png")
    args = parser.parse_args()
    draw(*run(args.brains, args.neurons, args.k), args.k, args.out)
