"""The assembly calculus with every synapse listed, in plain NumPy and exact integers.

A fibre is a table of edges (bool, sources x targets) given by the caller and a table of counts,
how often each edge was potentiated.  An edge that was potentiated c times weighs w_c, in float32

    w_0 = 1,  w_{c+1} = min(w_c * float32(1 + beta), w_max),

and W[c] = w_c 2^20, rounded half to even, in the integers that all sums are made of.

One round, everything from the caps before it, then all areas at once:

    input_j = sum over driving fibres, over i that fire, of W[c_ij] for the edges i -> j.
    Refraction:   input_j -= rint(float32(refraction) 2^20) * wins_j.
    Homeostasis:  x_j = sum of float32(s_j) / float32(t_j) over the driving fibres in their order,
                  in float32, with s_j the fibre's part of input_j and t_j the sum of all W[c_ij]
                  over the edges into j in that fibre, whether or not i fires; 0 where t_j = 0.
                  Refraction then subtracts float32(refraction) * float32(wins_j).
    Cap:          the k largest, of equal ones the lower index.

A fibre drives if it is active and its source fires: a stimulus, or an area with a cap.  Areas that
nothing drives, and fixed ones, keep their cap.  wins_j counts the plastic rounds in which
j was among the k largest of an area that was not fixed.  In a plastic round c_ij grows by one for
the edges of driving fibres from i that fired to j in the target's cap after the round, fixed or
not.

Papadimitriou, Vempala, Mitropolsky, Collins and Maass (2020), PNAS 117, 14464.
"""

import numpy as np

UNIT = 2**20


def weights(beta, w_max, most):
    """W[0 .. most]: the weights of edges potentiated so often, int64 in units of 2^-20."""
    growth, top = np.float32(1.0 + beta), np.float32(w_max)
    w = [np.float32(1.0)]
    for _ in range(most):
        w.append(min(np.float32(w[-1] * growth), top))
    return np.rint(np.asarray(w, np.float64) * UNIT).astype(np.int64)


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

    def __init__(self, source, target, edges, beta, w_max=2.0**24):
        self.source, self.target = source, target
        self.edges = np.asarray(edges, bool)
        self.beta, self.w_max = beta, w_max
        self.counts = np.zeros(self.edges.shape, np.int64)

    def weights(self):
        """Every weight in integer units, 0 where there is no edge."""
        table = weights(self.beta, self.w_max, int(self.counts.max(initial=0)))
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
            return total - area.refraction * area.wins.astype(np.float32)
        total = np.zeros(area.n, np.int64)
        for fibre, fired in driving:
            total += fibre.weights()[fired].sum(0)
        return total - int(np.rint(float(area.refraction) * UNIT)) * area.wins

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
