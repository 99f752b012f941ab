"""Sampled brains beside listed ones: one experiment with many seeds, and comparisons of laws."""

import jax
import numpy as np
from scipy import stats

from jaxneuro import assemblies as ac


def two_areas(n, k, p, beta, size, kinds, rounds, capacity=None):
    """A and B, heard by a stimulus each, by each other and by themselves, with unequal p."""
    room = [capacity if kind == "sampled" else None for kind in kinds]
    return ac.Brain(
        [ac.Area(name, n, k, kind, room[i]) for i, (name, kind) in enumerate(zip("AB", kinds))],
        [ac.Stimulus("S", size), ac.Stimulus("T", size)],
        [
            ac.Fibre("S", "A"),
            ac.Fibre("A", "A", p=1.5 * p),
            ac.Fibre("A", "B"),
            ac.Fibre("T", "B", p=0.5 * p),
            ac.Fibre("B", "A", p=0.7 * p),
            ac.Fibre("B", "B"),
        ],
        p=p,
        beta=beta,
        rounds=rounds,
    )


def protocol(rounds):
    """Masks: a round of S onto A alone, then recurrence, B, both ways, a round without learning."""
    names = ("S->A", "A->A", "A->B", "T->B", "B->A", "B->B")
    stages = [
        (1, ("S->A",)),
        (4, ("S->A", "A->A")),
        (5, ("S->A", "A->A", "A->B", "T->B")),
        (8, names),
        (9, ("A->A", "A->B", "B->B")),
        (rounds, names),
    ]
    masks = [next(on for stop, on in stages if number < stop) for number in range(rounds)]
    plastic = np.arange(rounds) != 6
    return np.array([[name in on for name in names] for on in masks]), plastic


def many(brain, seeds, jit=jax.jit):
    """A function of masks and of when synapses learn: the runs of all seeds, as NumPy."""

    def one(seed, active, plastic):
        return ac.run(brain, brain.init(seed), active, plastic=plastic)

    run = jit(jax.vmap(one, (0, None, None)))
    return lambda active, plastic: jax.device_get(run(seeds, active, plastic))


def first_winners(brain, state):
    """Synapses from S of the neurons of A that fired in round 1 for the first time, all seeds."""
    after = state.areas[0].after[..., 0]
    new = (after & 3) == 2
    return state.fibres[0].synapses[new]


def p_values(a, b):
    """How likely supports (seeds, rounds, areas) as different as these are, under one law."""
    out = []
    for number in np.ndindex(a.shape[1:]):
        x, y = a[(slice(None), *number)], b[(slice(None), *number)]
        if np.ptp(np.append(x, y)):
            out.append(stats.mannwhitneyu(x, y).pvalue)
            out.append(stats.ks_2samp(x, y).pvalue)
    return np.array(out)


def counts_p_value(x, y):
    """Whether two samples of small numbers are of one law: chi-squared, rare numbers together."""
    most = int(max(x.max(), y.max())) + 1
    table = np.stack([np.bincount(z, minlength=most) for z in (x, y)])
    common = table.sum(axis=0) >= 20
    table = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue
