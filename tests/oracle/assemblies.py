"""The assembly calculus with every synapse listed, in plain NumPy and exact integers.

A fibre is a table of edges (bool, sources x targets) given by the caller and a table of counts,
how often each edge was potentiated.  An edge that was potentiated c times weighs
w_c = min((1 + beta)^c, w_max), in fractions and with beta to six decimals, and W[c] = w_c 2^24,
rounded half up, in the integers that all sums are made of.

One round, everything from the caps before it, then all areas at once:

    input_j = sum over driving fibres, over i that fire, of W[c_ij] for the edges i -> j.
    Refraction:   input_j -= rint(float32(refraction) 2^24) * wins_j.
    Grid:         input_j to the nearest multiple of 2^12, half up: of 2^-12 of a weight of 1.
    Homeostasis:  x_j = sum of float32(s_j) / float32(t_j) over the driving fibres in their order,
                  in float32, with s_j the fibre's part of input_j and t_j the sum of all W[c_ij]
                  over the edges into j in that fibre, whether or not i fires; 0 where t_j = 0.
                  Refraction then subtracts float32(refraction) * float32(wins_j), and what is
                  left is rounded to 16 significant bits, half away from 0.
    Cap:          the k largest, of equal ones the lower index.

A fibre drives if it is active and its source fires: a stimulus, or an area with a cap.  Areas that
nothing drives, and fixed ones, keep their cap.  wins_j counts the plastic rounds in which
j was among the k largest of an area that was not fixed.  In a plastic round c_ij grows by one for
the edges of driving fibres from i that fired to j in the target's cap after the round, fixed or
not.

Papadimitriou, Vempala, Mitropolsky, Collins and Maass (2020), PNAS 117, 14464.
"""

from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np

UNIT = 2**24
GRID = 2**12


def decimal(beta):
    """The fraction that a beta in float32 stands for: its six decimals."""
    whole = np.floor(np.float32(beta))
    millionths = np.rint((np.float32(beta) - whole) * np.float32(10**6))
    return int(whole) + Fraction(int(millionths), 10**6)


@lru_cache
def weights(beta, w_max, most):
    """W[0 .. most]: the weights of edges potentiated so often, int64 in units of 2^-24."""
    growth, top = 1 + decimal(beta), Fraction(float(np.float32(w_max)))
    w = [Fraction(1)]
    for _ in range(most):
        w.append(min(w[-1] * growth, top))
    return np.array([floor(x * UNIT + Fraction(1, 2)) for x in w], np.int64)


def significant(x):
    """float32 to 16 significant bits."""
    part, power = np.frexp(np.asarray(x, np.float64))
    whole = np.floor(np.abs(part) * 2**16 + 0.5)
    return (np.sign(part) * np.ldexp(whole, power - 16)).astype(np.float32)


def largest(x, k):
    """The k largest of x, of equal ones the lower index; ascending indices."""
    order = sorted(range(len(x)), key=lambda j: (-x[j], j))
    return np.sort(np.asarray(order[:k], np.int64))


class Area:
    """What an area has and remembers; `cap` is None until it fires."""

    def __init__(self, n, k, refraction=0.0, homeostasis=False):
        self.n, self.k = n, k
        self.refraction, self.homeostasis = np.float32(refraction), homeostasis
        self.cap, self.fixed = None, False
        self.wins = np.zeros(n, np.int64)
        self.ever = np.zeros(n, bool)

    @property
    def support(self):
        return int(self.ever.sum())


class Fibre:
    """Edges from all neurons of a source to all of a target, and how often each grew."""

    def __init__(self, source, target, edges, beta, w_max=2.0**20):
        self.source, self.target = source, target
        self.edges = np.asarray(edges, bool)
        self.beta, self.w_max = beta, w_max
        self.counts = np.zeros(self.edges.shape, np.int64)

    def weights(self):
        """Every weight in integer units, 0 where there is no edge."""
        table = weights(float(self.beta), self.w_max, int(self.counts.max(initial=0)))
        return np.where(self.edges, table[self.counts], 0)


class Brain:
    """Areas and stimuli (sizes) by name, and fibres in their order."""

    def __init__(self, areas, stimuli, fibres):
        self.areas, self.stimuli, self.fibres = areas, stimuli, fibres

    def firing(self, source):
        """Which neurons of a stimulus or area fire in the next round; None for silence."""
        if source in self.stimuli:
            return np.arange(self.stimuli[source])
        return self.areas[source].cap

    def driving(self, active):
        """The fibres of a round that drive, each with the neurons that fire into it."""
        pairs = [(f, self.firing(f.source)) for f, on in zip(self.fibres, active) if on]
        return [(f, fired) for f, fired in pairs if fired is not None]

    def input(self, name, active):
        """What the area compares: int64 units, or float32 with homeostasis; None if undriven."""
        area = self.areas[name]
        driving = [(f, fired) for f, fired in self.driving(active) if f.target == name]
        if not driving:
            return None
        if area.homeostasis:
            total = np.zeros(area.n, np.float32)
            for fibre, fired in driving:
                w = fibre.weights()
                part, whole = w[fired].sum(0).astype(np.float32), w.sum(0).astype(np.float32)
                total = total + np.where(whole > 0, part / np.maximum(whole, 1), np.float32(0))
            return significant(total - area.refraction * area.wins.astype(np.float32))
        total = np.zeros(area.n, np.int64)
        for fibre, fired in driving:
            total += fibre.weights()[fired].sum(0)
        total -= int(np.rint(float(area.refraction) * UNIT)) * area.wins
        return (total + GRID // 2) // GRID * GRID

    def step(self, active, plastic=True):
        """One round."""
        driving = self.driving(active)
        after = {name: area.cap for name, area in self.areas.items()}
        for name, area in self.areas.items():
            x = self.input(name, active)
            if x is not None and not area.fixed:
                after[name] = largest(x, area.k)
        for fibre, fired in driving:
            if plastic and after[fibre.target] is not None:
                block = np.ix_(fired, after[fibre.target])
                fibre.counts[block] += fibre.edges[block]
        for name, area in self.areas.items():
            if not area.fixed and any(f.target == name for f, _ in driving):
                area.wins[after[name]] += plastic
                area.ever[after[name]] = True
            area.cap = after[name]
