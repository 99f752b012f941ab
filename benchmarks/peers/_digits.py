"""The task of the benchmark `digits`: its images, start weights, training and JSON line.

1,797 images of 8 x 8 pixels, three quarters of which are for training. A pixel above 0.05 spikes
once, the earlier the brighter it is. 128 LIF neurons follow, and ten leaky integrators, the largest
voltage of which is the answer. All implementations get the same images in the same order, and start
with the same weights.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from statistics import mean, median, pstdev
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

STEPS = 50  # of 1 ms
LATEST = 30  # step in which the darkest pixel spikes
TAU = 20.0  # ms, of all membranes
DECAY = float(np.exp(-1.0 / TAU))  # of a voltage in a step
STEEPNESS = 25.0  # of the surrogate, 1 / (1 + STEEPNESS |v - 1|)^2
SIZES = (64, 128, 10)
LEARNING_RATE = 2e-3


class Examples(NamedTuple):
    """Images as spikes, and their labels.

    Attributes:
        spikes: (images, STEPS, 64).
        labels: (images,).
    """

    spikes: NDArray
    labels: NDArray[np.int64]

    def batch(self, index: NDArray) -> Examples:
        """These examples."""
        return Examples(self.spikes[index], self.labels[index])


class Learner(Protocol):
    """An implementation of the task: its weights, optimiser and programs."""

    def start(self, seed: int) -> None:
        """Takes the start weights of this seed, and a new optimiser."""

    def update(self, examples: Examples) -> None:
        """Changes the weights once, and ends when they are there."""

    def accuracy(self, examples: Examples) -> float:
        """Share of right answers."""
        ...


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """The options of the training, which ours and the peers share."""
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64, help="images of an update")
    parser.add_argument("--seeds", type=int, default=5, help="trainings, with seeds 0, 1, ...")


def load_examples(dtype: Any) -> tuple[Examples, Examples]:
    """The examples for training and for testing, with spikes of this type."""
    try:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split
    except ImportError:
        raise SystemExit("The images are in scikit-learn: pip install scikit-learn") from None
    images, labels = load_digits(return_X_y=True)
    spikes = latency_coded(images / 16.0, dtype)
    split = train_test_split(spikes, labels, test_size=0.25, random_state=0, stratify=labels)
    return Examples(split[0], split[2]), Examples(split[1], split[3])


def latency_coded(images: NDArray, dtype: Any) -> NDArray:
    """One spike of each pixel above 0.05: (images, STEPS, pixels) from (images, pixels)."""
    spikes = np.zeros((len(images), STEPS, images.shape[1]), dtype)
    image, pixel = np.nonzero(images > 0.05)
    spikes[image, np.rint((1.0 - images[image, pixel]) * LATEST).astype(int), pixel] = 1
    return spikes


def start_weights(seed: int) -> list[NDArray[np.float32]]:
    """The weights of both layers at the start, (sources, targets).

    These are normal, without the tails beyond two standard deviations, and have the variance
    1/sources: the default of `flax.nnx.Linear`.
    """
    rng, weights = np.random.default_rng(seed), []
    for shape in pairwise(SIZES):
        numbers = rng.standard_normal(shape)
        while (beyond := np.abs(numbers) > 2.0).any():
            numbers[beyond] = rng.standard_normal(beyond.sum())
        # 0.8796 is the standard deviation of what is left.
        weights.append(np.float32(numbers / (0.87962566103423978 * shape[0] ** 0.5)))
    return weights


def train(
    learner: Learner, training: Examples, testing: Examples, options: argparse.Namespace
) -> dict[str, Any]:
    """Trains with each seed; returns times and accuracies as fields of a JSON line."""
    learner.start(0)
    start = time.perf_counter()
    learner.update(training.batch(np.arange(options.batch)))
    first_s = time.perf_counter() - start
    update_s, accuracies = [], []
    for seed in range(options.seeds):
        learner.start(seed)
        rng = np.random.default_rng(seed)
        for _ in range(options.epochs):
            order = rng.permutation(len(training.labels))
            for k in range(len(order) // options.batch):
                examples = training.batch(order[options.batch * k : options.batch * (k + 1)])
                start = time.perf_counter()
                learner.update(examples)
                update_s.append(time.perf_counter() - start)
        accuracies.append(round(learner.accuracy(testing), 4))
    return {
        "epochs": options.epochs,
        "batch": options.batch,
        "seeds": options.seeds,
        "wall_s": median(update_s),
        "first_s": first_s,
        "accuracy": mean(accuracies),
        "accuracy_sd": pstdev(accuracies),
        "accuracies": accuracies,
    }


def parse_peer_options() -> argparse.Namespace:
    """The options of a peer's script."""
    parser = argparse.ArgumentParser(description="prints one JSON line")
    add_task_options(parser)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def run_peer_script(
    peer: str, packages: list[str], learner: Learner, options: argparse.Namespace
) -> None:
    """Trains a peer and prints its JSON line, with the versions of these packages."""
    from _common import emit_fields, peak_rss_mb

    fields = train(learner, *load_examples(np.float32), options)
    line = {"bench": "digits", "impl": peer, **fields}
    emit_fields(packages, line | {"peak_rss_mb": peak_rss_mb(), "threads": options.threads})
