"""The law of the explicit network at sizes at which its synapses cannot all be listed.

The edges of a source neuron are drawn when it first fires, each with probability p, and kept.  What
never fires needs none.  Weights are kept for the pairs of neurons that have both fired; every other
weight is 1.  A stimulus always fires as a whole, so that only the number of its edges into each
neuron matters.  So this is a network in which all edges were there from the start, up to the
rounding of weights (float64 here) and hence of ties between potentiated neurons.
"""

import numpy as np


class Rows:
    """`areas`: name -> (n, k); `stimuli`: name -> size; `fibres`: (source, target)."""

    def __init__(self, areas, stimuli, fibres, p, beta, seed):
        self.areas, self.stimuli, self.p, self.beta = areas, stimuli, p, beta
        self.rng = np.random.default_rng(seed)
        self.caps = dict.fromkeys(areas)
        self.fired = {a: np.zeros(0, np.int64) for a in areas}  # in the order of their first time
        self.place = {a: np.full(n, -1) for a, (n, _) in areas.items()}
        self.fibres, self.rows, self.w = list(fibres), {}, {}
        for source, target in fibres:
            n = areas[target][0]
            if source in stimuli:
                self.w[source, target] = self.rng.binomial(stimuli[source], p, n).astype(float)
            else:
                self.rows[source, target] = []
                self.w[source, target] = np.zeros((0, 0), np.float32)

    def support(self, area):
        return len(self.fired[area])

    def _row(self, n):
        return self.rng.choice(n, self.rng.binomial(n, self.p), replace=False, shuffle=False)

    def _enter(self, area, new):
        """Rows of new winners, and the weights of their pairs with all that fired before."""
        start = len(self.fired[area])
        self.place[area][new] = start + np.arange(len(new))
        self.fired[area] = np.append(self.fired[area], new)
        for fibre in [f for f in self.rows if f[1] == area]:
            block = np.zeros((len(self.rows[fibre]), len(new)), np.float32)
            for i, row in enumerate(self.rows[fibre]):
                at = self.place[area][row]
                block[i, at[at >= start] - start] = 1
            self.w[fibre] = np.hstack([self.w[fibre], block])
        for fibre in [f for f in self.rows if f[0] == area]:
            rows = [self._row(self.areas[fibre[1]][0]) for _ in new]
            block = np.zeros((len(new), self.w[fibre].shape[1]), np.float32)
            for i, row in enumerate(rows):
                at = self.place[fibre[1]][row]
                block[i, at[at >= 0]] = 1
            self.rows[fibre] += rows
            self.w[fibre] = np.vstack([self.w[fibre], block])

    def _driving(self, active, area):
        into = [f for f in self.fibres if f in active and f[1] == area]
        return [f for f in into if f[0] in self.stimuli or self.caps[f[0]] is not None]

    def _input(self, driving, area):
        x = np.zeros(self.areas[area][0])
        for fibre in driving:
            source = fibre[0]
            if source in self.stimuli:
                x += self.w[fibre]
                continue
            sources = self.place[source][self.caps[source]]
            part = np.bincount(
                np.concatenate([self.rows[fibre][i] for i in sources]), minlength=len(x)
            ).astype(float)
            part[self.fired[area]] = self.w[fibre][sources].sum(0, dtype=float)
            x += part
        return x

    def step(self, active, plastic=True, fixed=()):
        """One round with these fibres; `fixed` areas keep their caps."""
        after = dict(self.caps)
        driven = {a: d for a in self.areas if (d := self._driving(active, a))}
        for area, driving in driven.items():
            if area in fixed:
                continue
            x = self._input(driving, area)
            k = self.areas[area][1]
            edge = np.partition(x, -k)[-k]
            above, ties = np.flatnonzero(x > edge), np.flatnonzero(x == edge)
            after[area] = np.sort(np.append(above, ties[: k - len(above)]))
        for area in driven:
            cap = after[area]
            self._enter(area, cap[self.place[area][cap] < 0])
        for area, driving in driven.items() if plastic else []:
            for fibre in driving:
                if fibre[0] in self.stimuli:
                    self.w[fibre][after[area]] *= 1 + self.beta
                else:
                    sources = self.place[fibre[0]][self.caps[fibre[0]]]
                    targets = self.place[area][after[area]]
                    self.w[fibre][np.ix_(sources, targets)] *= 1 + self.beta
        self.caps = after
