"""Spikes by population, by step and by neuron."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Values in rows, one after the other: row k is `values[starts[k] : starts[k + 1]]`."""

    starts: np.ndarray
    values: np.ndarray

    def row(self, k: int) -> np.ndarray:
        return self.values[self.starts[k] : self.starts[k + 1]]


class Lookup(NamedTuple):
    """The spikes of a population in two orders, so that a look-up does not search."""

    by_step: Rows
    by_neuron: Rows

    @classmethod
    def of(cls, steps: np.ndarray, neurons: np.ndarray, n_steps: int, n: int) -> "Lookup":
        """From events in the order of steps, and of neurons within a step."""
        order = np.argsort(neurons, kind="stable")
        return cls(Rows(_starts(steps, n_steps), neurons), Rows(_starts(neurons, n), steps[order]))

    def neurons_at(self, step: int) -> np.ndarray:
        return self.by_step.row(step)

    def steps_of(self, neuron: int) -> np.ndarray:
        return self.by_neuron.row(neuron)


def _starts(numbers: np.ndarray, rows: int) -> np.ndarray:
    """Where each row begins among sorted `numbers` of rows, and the end."""
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=rows))])


def split_events(
    layout: Sequence[tuple[str, int, int, int]], groups: Sequence[tuple[np.ndarray, np.ndarray]]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Events of groups as events by population name, neurons counted from its first."""
    out = {}
    for number, (steps, neurons) in enumerate(groups):
        members = sorted((start, stop, name) for name, g, start, stop in layout if g == number)
        owner = np.searchsorted([stop for _, stop, _ in members], neurons, side="right")
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=len(members)))
        for (start, _, name), end, count in zip(members, ends, np.diff(ends, prepend=0)):
            mine = order[end - count : end]
            out[name] = steps[mine], neurons[mine] - np.int32(start)
    return out
