"""A projection in exact arithmetic, at sizes at which its synapses cannot all be listed.

A stimulus of `size` neurons fires into an area of n neurons in every round, and what fired of the
area in the round before into the area itself.  Each synapse is there with probability p and weighs
(1 + beta)^c after c rounds in which both its neurons fired.  The k largest sums win, of equal ones
the lower index.  Sums are integers: of g^c h^(C - c) for 1 + beta = g / h and C rounds so far.

The synapses of a neuron are drawn when it first fires, and kept; nobody has used them before.

Papadimitriou, Vempala, Mitropolsky, Collins and Maass (2020), PNAS 117, 14464.
"""

from fractions import Fraction

import numpy as np


def supports(n, k, p, size, beta, rounds, seed):
    """How many neurons ever fired after each round; `beta` is a decimal in a string."""
    rng, growth = np.random.default_rng(seed), 1 + Fraction(beta)
    from_stimulus, presented = rng.binomial(size, p, n), np.zeros(n, int)
    place, fired, rows = np.full(n, -1), [], []  # of those that fired, in the order of their first
    times = np.zeros((0, 0), int)  # rounds in which both of a pair fired, one after the other
    cap, support = np.zeros(0, int), []
    for number in range(rounds):
        targets = np.concatenate([rows[i] for i in place[cap]]) if cap.size else np.zeros(0, int)
        sources = np.repeat(place[cap], [rows[i].size for i in place[cap]])
        plain = from_stimulus + np.bincount(targets, minlength=n)
        weight = [
            growth.numerator**c * growth.denominator ** (number - c) for c in range(number + 1)
        ]
        known = place[targets] >= 0
        sources, targets = sources[known], place[targets[known]]
        synapses = np.zeros((len(fired), number + 1), int)
        np.add.at(synapses, (targets, times[sources, targets]), 1)
        np.add.at(synapses, (np.arange(len(fired)), presented[fired]), from_stimulus[fired])
        sums = synapses.astype(object) @ np.array(weight, object)
        never = np.flatnonzero(place < 0)
        best = never[np.argsort(-plain[never], kind="stable")[:k]]
        unit = growth.denominator**number
        all_of_them = [(-x, j) for x, j in zip(sums, fired)]
        all_of_them += [(-int(plain[j]) * unit, int(j)) for j in best]
        after = np.sort([j for _, j in sorted(all_of_them)[:k]])
        for j in after[place[after] < 0]:
            place[j] = len(fired)
            fired.append(int(j))
            rows.append(rng.choice(n, rng.binomial(n, p), replace=False, shuffle=False))
        more = len(fired) - len(times)
        times = np.pad(times, ((0, more), (0, more)))
        if cap.size:
            times[np.ix_(place[cap], place[after])] += 1
        presented[after] += 1
        cap = after
        support.append(len(fired))
    return support
