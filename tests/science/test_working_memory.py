"""The network of Compte et al. (2000) holds an angle, drifts, and resists a distractor.

Six trials of each set with a delay of 6 s. The paper reports spontaneous rates of a few Hz,
persistent rates of 20 to 40 Hz in the bump, a drift whose variance grows with time, and less drift
and a smaller pull of a distractor with modulation.
"""

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():  # it sets up a process of its own; this one has begun
    warnings.simplefilter("ignore", RuntimeWarning)
    from examples import working_memory as example

pytestmark = pytest.mark.science
SEEDS, SECONDS = range(1, 7), 6.0
DELAY = slice(example.BEFORE + 3, -example.AFTER - 1)  # from 0.5 s after the cue


@pytest.fixture(scope="module", params=example.SETS)
def trials(request):
    """The set, vectors (trials, windows) and rates (trials, windows, neurons)."""
    return request.param, *_vectors_and_rates(request.param)


def _vectors_and_rates(kind, **how):
    net = example.network(kind)
    found = [example.trial(net, seed, SECONDS, **how)[2:] for seed in SEEDS]
    return [np.array(part) for part in zip(*found)]


def _by_distance(vectors, rates):
    """Rates with the bump in the middle (..., neurons), and degrees from there (neurons,)."""
    n = rates.shape[-1]
    first = np.round(n * (np.angle(vectors) + np.radians(example.CUE)) / (2 * np.pi)).astype(int)
    away = np.arange(n) - n // 2
    return np.take_along_axis(rates, (first[..., None] + away) % n, -1), 360.0 / n * away


def test_a_bump_persists(trials):
    """Through the delay, with few spikes far from it; and there was none before the cue."""
    kind, vectors, rates = trials
    before = slice(2, example.BEFORE)  # the first half second is the start
    spontaneous = rates[:, before].mean()
    centred, away = _by_distance(vectors[:, DELAY], rates[:, DELAY])
    inside = centred[..., np.abs(away) < 15.0].mean(-1)
    outside = centred[..., np.abs(away) > 90.0].mean()
    strength = np.abs(vectors[:, DELAY])
    print(
        f"{kind}: {spontaneous:.2f} Hz before, {inside.mean():.1f} Hz inside "
        f"(a window: {inside.min():.1f} to {inside.max():.1f}), {outside:.2f} outside; "
        f"vector {strength.mean():.2f}, at least {strength.min():.2f}"
    )
    low, high = {"control": (1.5, 4.0), "modulated": (0.4, 1.2)}[kind]
    assert low < spontaneous < high
    assert np.abs(vectors[:, before]).max() < 0.3
    low, high = {"control": (17.0, 25.0), "modulated": (28.0, 37.0)}[kind]
    assert low < inside.mean() < high
    assert inside.min() > 0.7 * inside.mean()
    assert outside < 0.2 * inside.mean()
    assert strength.min() > 0.4


def test_it_starts_where_the_cue_was(trials):
    _, vectors, _ = trials
    start = np.degrees(np.angle(vectors[:, example.BEFORE + 1]))
    assert np.abs(start).max() < 20.0


def test_drift_is_diffusive(trials):
    """The mean squared displacement grows with the lag: to the power 1, not 0 (held) or 2 (moving).

    From six trials the power is known to about 0.3.
    """
    kind, vectors, _ = trials
    _, _, squares, slope = example.drift(vectors)
    lags = np.arange(1, squares.size + 1)
    power = np.polyfit(np.log(lags[1:]), np.log(squares[1:]), 1)[0]
    print(f"{kind}: {slope:.1f} deg2/s, power {power:.2f}")
    low, high = {"control": (10.0, 110.0), "modulated": (7.0, 25.0)}[kind]
    assert low < slope < high
    assert 0.5 < power < 1.75


def test_a_distractor(trials):
    """As strong as the cue and 140 degrees away. Modulated, the bump hardly moves."""
    kind, vectors, _ = trials
    _, late, _, _ = example.drift(vectors)
    moved = np.abs(late[:, -1])
    print(f"{kind}: moved by {np.round(late[:, -1])} degrees, {moved.mean():.1f} on average")
    if kind == "modulated":
        assert moved.max() < 25.0
        assert moved.mean() < 12.0
    else:
        assert moved.mean() > 12.0


def test_without_a_cue_there_is_no_bump():
    """Modulated: the state without a bump is stable, until a stimulus comes."""
    vectors, rates = _vectors_and_rates("modulated", cue=0.0)
    quiet = slice(2, -example.AFTER - 1)
    print(f"{rates[:, quiet].mean():.2f} Hz, vector {np.abs(vectors[:, quiet]).max():.2f}")
    assert np.abs(vectors[:, quiet]).max() < 0.3
    assert rates[:, quiet].mean() < 1.5
    assert np.abs(vectors[:, -1]).min() > 0.6
