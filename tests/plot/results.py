"""Small results and connections for the figures, made by hand, and what figures hold."""

import io
from types import SimpleNamespace

import numpy as np

from tests.runs import result

# What the figures see of a `Parse`.
PARSE = SimpleNamespace(
    words=("the", "dogs", "that", "chase", "cats", "run"),
    arcs=((1, 0, "DET"), (5, 1, "SUBJ"), (1, 3, "DEP_CLAUSE"), (3, 1, "SUBJ"), (3, 4, "OBJ")),
)


def random_result(seed=0, sizes=None, duration=200.0, rate=30.0, start=0.0):
    """Spikes at random steps of 0.1 ms, at most one per neuron and step."""
    rng = np.random.default_rng(seed)
    sizes = {"E": 40, "I": 10} if sizes is None else sizes
    spikes = {}
    for name, n in sizes.items():
        fired = np.argwhere(rng.random((round(duration * 10), n)) < rate * 1e-4)
        spikes[name] = [(start + 0.1 * (step + 1), neuron) for step, neuron in fired]
    times = start + 0.1 * np.arange(1, round(duration * 10) + 1)
    v = {name: {"v": rng.normal(-60.0, 3.0, (times.size, n))} for name, n in sizes.items()}
    learned = {
        "weight_histograms": {"E->I": rng.integers(0, 50, (times.size, 12)).astype(np.int32)},
        "weight_edges": {"E->I": np.linspace(0.0, 3.0, 13, dtype=np.float32)},
    }
    return result(spikes, sizes, duration, start, traces=v, sample_times=times, **learned)


def connections(pre, post, shape, weight=1.0, delay=1.0):
    """What the figures see of `Connections`."""
    pre, post = np.asarray(pre, np.int64), np.asarray(post, np.int64)
    weight, delay = (np.broadcast_to(np.asarray(x, float), pre.shape) for x in (weight, delay))
    return SimpleNamespace(
        source="E", target="I", shape=shape, pre=pre, post=post, weight=weight, delay=delay
    )


def random_connections(seed=0, shape=(30, 20), p=0.2):
    """Every pair with probability p, some of them twice; signed weights."""
    rng = np.random.default_rng(seed)
    pre, post = np.nonzero(rng.random(shape) < p)
    pre, post = np.append(pre, pre[:3]), np.append(post, post[:3])
    weight, delay = rng.normal(0.0, 2.0, pre.size), 0.1 * rng.integers(1, 30, pre.size)
    return connections(pre, post, shape, weight, delay)


def png(figure):
    """The figure as the bytes of a file at 80 dots per inch."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=80)
    return out.getvalue()


def steps(axis):
    """Height and edges of each outline of a histogram, by its label."""
    drawn = [p for p in axis.patches if hasattr(p, "get_data") and not p.get_fill()]
    return {p.get_label(): p.get_data() for p in drawn}


def bar(figure):
    """The colour bar's axis."""
    (found,) = [c for axis in figure.axes for c in axis.child_axes]
    return found
