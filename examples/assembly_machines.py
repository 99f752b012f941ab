# %% [markdown]
# Computing with sequences of assemblies, after Dabagia, Papadimitriou and Vempala (2025), Neural
# Computation 37 (1): a sequence is memorised and recalled, a finite-state machine finds out which
# numbers three divides, and an automaton that flips a coin says sentences. Run it:
# `python examples/assembly_machines.py [--seeds 5] [--items 25] [--out assembly_machines.png]`

# %%
import argparse

import jax
import matplotlib.pyplot as plt
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
ac = jn.assemblies

N, K = 1000, 30
GRAMMAR = [  # state, word, next state: the first of a state is for heads, the second for tails
    *(("start", "the", "noun"), ("start", "a", "noun")),
    *(("noun", "boy", "throws"), ("noun", "dog", "chases")),
    *(("throws", "throws", "article"), ("chases", "chases", "article")),
    *(("article", "the", "thing"), ("article", "a", "thing")),
    *(("thing", "ball", "end"), ("thing", "stick", "end")),
]


# %% A sequence is presented ten times; after each, its first item is to bring back the rest.
def sequences(items: int, seeds: int, scaffold: bool, presentations: int = 10) -> np.ndarray:
    names, other = ("IN", "A", "B")[: 2 + scaffold], "B" if scaffold else None
    inner = [("A", "A"), ("A", "B"), ("B", "A"), ("B", "B")][: 4 if scaffold else 1]
    fibres = [ac.Fibre(*ends) for ends in [("IN", "A"), *inner]]
    areas = [ac.Area(name, max(N, items * K), K) for name in names]
    brain = ac.Brain(areas, fibres=fibres, p=0.4, beta=0.1, rounds=items * presentations)
    shown = np.arange(items * K).reshape(items, K)

    def present(state, _):
        state, caps = ac.memorise(brain, state, "IN", "A", shown, scaffold=other)
        _, recalled = ac.recall(brain, state, "IN", "A", shown[0], items, scaffold=other)
        return state, (caps[0], recalled)

    @jax.jit
    @jax.vmap
    def run(seed):
        _, (caps, recalled) = jax.lax.scan(present, brain.init(seed), length=presentations)
        return jax.vmap(jax.vmap(ac.overlap), (None, 0))(caps[0], recalled)

    return np.asarray(run(np.arange(seeds, dtype=np.uint32)))


# %% 33 transitions, each presented once, then words of any length
def divisible_by_three(seeds: int, words: int = 20, digits: int = 30) -> np.ndarray:
    table = [(m, str(d), (m + d) % 3) for m in range(3) for d in range(10)]
    table += [(0, "end", "accept"), (1, "end", "reject"), (2, "end", "reject")]
    machine = ac.StateMachine(table, start=0, accepting=["accept"])
    numbers = np.random.default_rng(1).integers(0, 10, (words, digits))
    given = machine.encode([[*map(str, row), "end"] for row in numbers])
    across = jax.vmap(machine.run, (None, 0))
    passed = jax.jit(jax.vmap(lambda seed: across(machine.train(seed), given)))
    accepted = np.asarray(passed(np.arange(seeds, dtype=np.uint32)).accepted)
    return (accepted == (numbers.sum(1) % 3 == 0)).mean(1)


# %% Sentences: one connectome, a key for each
def sentences(count: int) -> list[str]:
    automaton = ac.ProbabilisticAutomaton(GRAMMAR, start="start")
    state = automaton.train(0)
    say = jax.jit(jax.vmap(lambda key: automaton.generate(state, key, 5).words))
    return [" ".join(x) for x in automaton.decode(say(np.arange(count, dtype=np.uint32)))]


def figure(simple: np.ndarray, scaffold: np.ndarray):
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained", sharey=True)
    for name, shares in (("one area", simple), ("with a scaffold", scaffold)):
        last, times = shares[:, :, -1], np.arange(1, shares.shape[1] + 1)
        axes[0].errorbar(times, last.mean(0), last.std(0), marker="o", label=name)
    axes[0].set(xlabel="presentations", ylabel="last item recalled", ylim=(0, 1.05))
    axes[0].legend(frameon=False)
    for time in (0, 2, 3, 5, 9):
        axes[1].plot(simple[:, time].mean(0), label=f"after {time + 1}")
    axes[1].set(xlabel="item", ylabel="recalled, one area")
    axes[1].legend(frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("seeds", 5), ("items", 25)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly_machines.png", help="the figure")
    args = parser.parse_args()
    simple, scaffold = (sequences(args.items, args.seeds, yes) for yes in (False, True))
    print("last item recalled, by presentations:  ", simple[:, :, -1].mean(0).round(2))
    print("  with a scaffold:                     ", scaffold[:, :, -1].mean(0).round(2))
    print("divisible by 3, share of right answers:", divisible_by_three(args.seeds))
    print(*sentences(8), sep="\n")
    figure(simple, scaffold).savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
