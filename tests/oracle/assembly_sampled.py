"""The memoryless sampled simulator of assemblies: only neurons that ever fired are kept.

A round of an area of n neurons, k winners, s of them kept so far, that M sources fire into:

1. kept neurons get the sum of their weights from the firing sources;
2. the n - s others are k *fresh* candidates, the largest of n - s numbers of Binomial(M, p);
3. the k largest of both win, of equal ones kept neurons first;
4. a candidate of input x that wins is kept from now on.  It has edges from a uniform subset of x
   of the M firing sources, and with every other kept neuron, either way, with probability p;
5. edges from firing sources to winners grow by 1 + beta.

This is not the law of the network: a neuron that has lost all rounds so far received little in
each of them, from the same edges, but step 2 gives it new ones.  Its supports are too large
(`scripts/assembly_law.py` measures by how much).  The published numbers were made this way.

The published program (`brain.py` of github.com/dmitropolsky/assemblies) takes for step 2, with
`normal=True` here: alpha = the smallest number with P(Binomial(M, p) <= alpha) >= 1 - k/(n - s),
then k draws of a normal of mean M p and variance M p (1 - p) that is cut below alpha, rounded to
integers, and at most M.  It refuses n - s <= k.

It has a gap that `gaps=True` repeats: where two areas get new winners in one round, edges between
them are absent if the area of the sources was worked on first, and drawn if it was not; the order
is that of a Python set of names, so that it varies from run to run.  Here it is that of `areas`.

Stimuli always fire as a whole, so that only the sum of their edges into a neuron is kept.
"""

import numpy as np
from scipy.stats import binom, truncnorm


def _exact(rng, m, p, others, k):
    """The k largest of `others` numbers of Binomial(m, p), counted from the largest value down."""
    value = np.arange(m, -1, -1)
    share = binom.pmf(value, m, p) / np.maximum(binom.cdf(value, m, p), 1e-300)
    found = []
    for x, chance in zip(value, np.minimum(share, 1.0)):
        here = min(rng.binomial(others - len(found), chance), k - len(found))
        found += [x] * here
        if len(found) == k:
            break
    return np.asarray(found, float)


def _normal(rng, m, p, others, k):
    """The published approximation of the same."""
    alpha = binom.ppf((others - k) / others, m, p)
    mean, sd = m * p, np.sqrt(m * p * (1.0 - p))
    z = truncnorm.rvs((alpha - mean) / sd, np.inf, size=k, random_state=rng)
    return np.minimum(np.round(mean + sd * z), m)


class Sampled:
    """`areas`: name -> (n, k); `stimuli`: name -> size; `fibres`: (source, target)."""

    def __init__(self, areas, stimuli, fibres, p, beta, seed, normal=False, gaps=False):
        self.areas, self.stimuli, self.p, self.beta = areas, stimuli, p, beta
        self.rng = np.random.default_rng(seed)
        self.draw, self.gaps = _normal if normal else _exact, gaps
        self.kept = dict.fromkeys(areas, 0)
        self.caps = dict.fromkeys(areas)
        shape = {True: (0,), False: (0, 0)}
        self.w = {f: np.zeros(shape[f[0] in stimuli], np.float32) for f in fibres}

    def support(self, area):
        return self.kept[area]

    def _firing(self, active, area):
        """The fibres that drive an area, each with the number of sources that fire."""
        into = [f for f in self.w if f in active and f[1] == area]
        sizes = [(f, self.stimuli.get(f[0])) for f in into]
        sizes = [(f, len(self.caps[f[0]]) if s is None else s) for f, s in sizes if self._fires(f)]
        return sizes

    def _fires(self, fibre):
        return fibre[0] in self.stimuli or self.caps[fibre[0]] is not None

    def _edges(self, *shape):
        return (self.rng.random(shape, np.float32) < self.p).astype(np.float32)

    def _add(self, area, inputs, driving, before):
        """Keep new winners with these inputs."""
        total, new = sum(s for _, s in driving), len(inputs)
        order = self.rng.random((new, total)).argsort(1).argsort(1)
        chosen = (order < np.asarray(inputs)[:, None]).T.astype(np.float32)
        first = dict(zip((f for f, _ in driving), np.cumsum([0] + [s for _, s in driving])))
        for fibre, w in self.w.items():
            source, target = fibre
            if target == area and source in self.stimuli:
                size = self.stimuli[source]
                if fibre in first:
                    column = chosen[first[fibre] : first[fibre] + size].sum(0)
                else:
                    column = self.rng.binomial(size, self.p, new)
                self.w[fibre] = np.append(w, column.astype(np.float32))
            elif target == area:
                column = self._edges(len(w), new)
                if fibre in first:
                    cap = self.caps[source]
                    if self.gaps:
                        column[before[source] :] = 0
                    column[cap] = chosen[first[fibre] : first[fibre] + len(cap)]
                self.w[fibre] = np.hstack([w, column])
        for fibre in [f for f in self.w if f[0] == area]:
            w = self.w[fibre]
            self.w[fibre] = np.vstack([w, self._edges(new, w.shape[1])])
        self.kept[area] += new

    def _compete(self, area, driving, before):
        n, k = self.areas[area]
        x = np.zeros(self.kept[area], np.float32)
        for fibre, _ in driving:
            w = self.w[fibre]
            x += w if w.ndim == 1 else w[self.caps[fibre[0]]].sum(0)
        total = sum(s for _, s in driving)
        fresh = self.draw(self.rng, total, self.p, n - len(x), k)
        best = np.argsort(-np.append(x, fresh), kind="stable")[:k]
        new = best[best >= len(x)]
        if len(new):
            self._add(area, fresh[new - len(x)], driving, before)
        return np.append(best[best < len(x)], len(x) + np.arange(len(new)))

    def step(self, active, plastic=True, fixed=()):
        """One round with these fibres; `fixed` areas keep their caps."""
        before, after = dict(self.kept), dict(self.caps)
        for area in self.areas:
            driving = self._firing(active, area)
            if not driving:
                continue
            if area not in fixed:
                after[area] = self._compete(area, driving, before)
            for fibre, _ in driving if plastic else []:
                if fibre[0] in self.stimuli:
                    self.w[fibre][after[area]] *= 1 + self.beta
                else:
                    self.w[fibre][np.ix_(self.caps[fibre[0]], after[area])] *= 1 + self.beta
        self.caps = after
