"""Distances of spike trains, by loops from their definitions; times are lists [ms]."""

import bisect
import itertools
import math
from fractions import Fraction

import numpy as np


def victor_purpura(a, b, cost):
    """The whole table of least costs."""
    g = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                g[i][j] = float(i + j)
            else:
                moved = g[i - 1][j - 1] + cost * abs(a[i - 1] - b[j - 1])
                g[i][j] = min(g[i - 1][j] + 1, g[i][j - 1] + 1, moved)
    return g[-1][-1]


def van_rossum(a, b, tau):
    """The double sums of the closed form, with exact addition."""
    terms = [math.exp(-abs(s - t) / tau) for x in (a, b) for s in x for t in x]
    terms += [-2 * math.exp(-abs(s - t) / tau) for s in a for t in b]
    return math.sqrt(max(math.fsum(terms), 0.0) / 2)


def van_rossum_integral(a, b, tau, dt):
    """The integral of the squared difference of the filtered trains, by the midpoint rule."""
    end = max([*a, *b, 0.0]) + 20 * tau
    t = np.arange(dt / 2, end, dt)
    f = sum(((t > s) * np.exp(-np.maximum(t - s, 0) / tau) for s in a), np.zeros(t.size))
    g = sum(((t > s) * np.exp(-np.maximum(t - s, 0) / tau) for s in b), np.zeros(t.size))
    return math.sqrt(((f - g) ** 2).sum() * dt / tau)


def most_pairs(a, b, delta):
    """The most pairs within delta, each spike in one: by trying, spike by spike of a."""
    if not a:
        return 0
    best = most_pairs(a[1:], b, delta)
    for k, t in enumerate(b):
        if abs(a[0] - t) <= delta:
            best = max(best, 1 + most_pairs(a[1:], b[:k] + b[k + 1 :], delta))
    return best


def coincidence_factor(data, model, delta, duration, coincidences):
    """Kistler et al. (1997), as it is written there."""
    rate = len(model) / duration
    if not (data or model) or 2 * rate * delta >= 1:
        return math.nan
    expected = 2 * rate * delta * len(data)
    norm = 1 - 2 * rate * delta
    return (coincidences - expected) / (0.5 * (len(data) + len(model))) / norm


def psth(steps, n, onsets, begin, width, bins, first, last):
    """Rates per step and neuron around the events whose bins are between two steps."""
    counts, events = [0] * bins, 0
    for onset in onsets:
        if first <= onset + begin and onset + begin + width * bins <= last:
            events += 1
            for s in steps:
                for k in range(bins):
                    if begin + k * width < s - onset <= begin + (k + 1) * width:
                        counts[k] += 1
    return [c / (events * n * width) for c in counts], events


def ks_distance(a, b):
    """The largest difference of two cumulative distributions, a fraction."""
    a, b = sorted(a), sorted(b)
    below = lambda x, v: Fraction(bisect.bisect_right(x, v), len(x))  # noqa: E731
    return max(abs(below(a, v) - below(b, v)) for v in {*a, *b})


def squared_cvs(trains):
    """Of each train of steps with three spikes or more the square of its CV, a fraction."""
    gaps = [[t - s for s, t in itertools.pairwise(train)] for train in trains if len(train) > 2]
    return [Fraction(len(x) * sum(g * g for g in x), sum(x) ** 2) - 1 for x in gaps]


def signed_squared_correlations(trains, width, bins):
    """Of the counts of each pair of trains of steps r |r|, a fraction.

    A bin has `width` steps. Pairs of a count that never changes are left out.
    """
    counts = [[sum((s - 1) // width == k for s in train) for k in range(bins)] for train in trains]
    found = []
    for x, y in itertools.combinations(counts, 2):
        products = [(u * v, u * u, v * v) for u, v in zip(x, y)]
        sums = [bins * sum(column) for column in zip(*products)]
        both, first, second = (
            sums[0] - sum(x) * sum(y),
            sums[1] - sum(x) ** 2,
            sums[2] - sum(y) ** 2,
        )
        if first and second:
            found.append(Fraction(both * abs(both), first * second))
    return found
