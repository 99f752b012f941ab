"""Statistics of spike trains, by loops from their definitions.

Spikes are arrays of whole time steps and of neurons; a spike of step s belongs to the bin
(first + b width, first + (b + 1) width] of steps.
"""

import itertools

import numpy as np


def trains(steps, neurons, n):
    """The sorted spikes of each neuron."""
    out = [[] for _ in range(n)]
    for s, i in zip(steps, neurons):
        out[i].append(s)
    return [sorted(train) for train in out]


def gaps(train):
    return [b - a for a, b in itertools.pairwise(train)]


def cv(train):
    own = gaps(train)
    return float(np.std(own) / np.mean(own))


def cv2(train):
    own = gaps(train)
    return float(np.mean([2 * abs(b - a) / (b + a) for a, b in itertools.pairwise(own)]))


def local_variation(train, t_ref=0.0):
    """LvR of Shinomoto et al. (2009), as it is written there; t_ref in steps."""
    own = gaps(train)
    terms = []
    for a, b in itertools.pairwise(own):
        terms.append((1 - 4 * a * b / (a + b) ** 2) * (1 + 4 * t_ref / (a + b)))
    return 3 * sum(terms) / (len(own) - 1)


def counts(steps, neurons, n, first, width, bins):
    out = np.zeros((n, bins), int)
    for s, i in zip(steps, neurons):
        for b in range(bins):
            if first + b * width < s <= first + (b + 1) * width:
                out[i, b] += 1
    return out


def correlogram(x, y, m):
    """Sum over b of x[b] y[b + k], k = -m ... m."""
    out = []
    for k in range(-m, m + 1):
        out.append(sum(x[b] * y[b + k] for b in range(len(x)) if 0 <= b + k < len(y)))
    return out


def bursts(train, max_begin, max_end, min_gap, min_duration, min_spikes):
    """The max-interval method, spike by spike: (first, last, number) of each burst."""
    found, inside, begin = [], False, 0
    for k in range(1, len(train)):
        gap = train[k] - train[k - 1]
        if not inside and gap <= max_begin:
            inside, begin = True, k - 1
        elif inside and gap > max_end:
            found.append([begin, k - 1])
            inside = False
            if gap <= max_begin:
                inside, begin = True, k - 1
    if inside:
        found.append([begin, len(train) - 1])
    merged = []
    for begin, end in found:
        if merged and train[begin] - train[merged[-1][1]] < min_gap:
            merged[-1][1] = end
        else:
            merged.append([begin, end])
    return [
        (train[b], train[e], e - b + 1)
        for b, e in merged
        if train[e] - train[b] >= min_duration and e - b + 1 >= min_spikes
    ]


def avalanches(activity):
    """(size, duration) of what stands between two empty bins."""
    out, size, duration, opened = [], 0, 0, False
    for a in activity:
        if a > 0:
            size, duration = size + a, duration + 1
            continue
        if opened and duration:
            out.append((size, duration))
        size, duration, opened = 0, 0, True
    return out


def branching_process(rng, m, drive, steps):
    """Activity of a branching process with immigration, from its stationary mean."""
    a, out = drive / (1 - m), []
    for _ in range(steps):
        a = rng.poisson(m * a + drive)
        out.append(a)
    return np.array(out)
