"""Sums over the spikes of each neuron, by loops with the whole numbers of Python."""

import fractions
import itertools
import math


def sums(spikes, first_step):
    """Count, first and last step, and sum of squared intervals, of each column of (steps, n)."""
    out = []
    for column in zip(*spikes):
        steps = [first_step + k for k, fired in enumerate(column) if fired]
        squares = sum((b - a) ** 2 for a, b in itertools.pairwise(steps))
        ends = (steps[0], steps[-1]) if steps else (0, 0)
        out.append((len(steps), *ends, squares))
    return out


def cv(count, first, last, squares):
    """Standard deviation of the intervals over their mean: exact up to the root."""
    m = count - 1
    mean = fractions.Fraction(last - first, m)
    return math.sqrt((fractions.Fraction(squares, m) - mean**2) / mean**2)
