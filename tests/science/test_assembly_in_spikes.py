"""An assembly in a spiking network: it becomes stable, and half recalls it, as in the calculus."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

with warnings.catch_warnings():  # it sets up a process of its own; this one has begun
    warnings.simplefilter("ignore", RuntimeWarning)
    from examples import assembly_compared

pytestmark = pytest.mark.science


@pytest.fixture(scope="module")
def parts():
    """By part: overlaps (seeds, volleys - 1), recall (seeds, cues), and that by chance."""
    found = assembly_compared.run(seeds=2, first=21)
    overlaps = [np.array([run[-2] for run in part]) for part in found]
    recall = [np.array([run[-1] for run in part]) for part in found]
    sizes = [[np.isfinite(run[0][:-2]).sum(1) for run in part] for part in found[:2]]
    return overlaps, recall, np.array(sizes)


def test_inhibition_is_the_cap(parts):
    """About k = 200 of 5,000 neurons fire in every volley, with learned weights or without."""
    sizes = parts[2][:, :, -10:].mean(-1)
    print("neurons in the last ten volleys, learning and not:", *sizes.round(0))
    assert (np.abs(sizes / 200 - 1.0) < 0.4).all()


def test_what_fires_becomes_stable(parts):
    learned, control, calculus, same = (x[:, -5:].mean(1) for x in parts[0])
    print(f"shared: {learned}, without plasticity {control}; calculus {calculus}, beta = 0 {same}")
    assert learned.min() > 0.97
    assert calculus.min() > 0.97
    assert control.max() < 0.7
    assert same.max() < 0.7


def test_half_recalls_the_rest(parts):
    learned, control, calculus, same = parts[1]
    print(f"recall: {learned[..., 0]}, without plasticity {control[..., 0]}")
    print(f"in the calculus {calculus[..., 0]}, with beta = 0 {same[..., 0]}")
    assert learned[:, 0, 0].min() > 0.9  # half of the stimulus
    assert learned[:, 1, 0].min() > 0.5  # half of the assembly
    assert (learned[..., 0] > 10 * learned[..., 1]).all()  # chance
    assert control[..., 0].max() < 0.1
    assert calculus[..., 0].min() > 0.9
    assert same[..., 0].max() < 0.4
