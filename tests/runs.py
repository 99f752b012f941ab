"""Results and recordings made by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._run.recording import Recording, RunInfo
from jaxneuro._run.spikes import SpikeBits
from jaxneuro._run.statistics import sums_of

# Keywords of `result` that are samples of a recorder, and other fields that are by recorder.
SAMPLES = ("traces", "means", "lfp", "function", "weights", "weight_histograms")
OTHERS = {
    "weight_edges": ("constants", "weight_histograms"),
    "neurons": ("columns", "traces"),
    "synapses": ("columns", "weights"),
}


def result(spikes, sizes, duration=100.0, start=0.0, dt=0.1, **recorded):
    """A `Result`: `spikes[name]` pairs (time [ms], neuron), each at the end of a step, or None."""
    recorded["samples"] = {key: recorded.pop(key) for key in SAMPLES if key in recorded}
    for key, (field, recorder) in OTHERS.items():
        if key in recorded:
            recorded.setdefault(field, {})[recorder] = recorded.pop(key)
    layout: list = []
    events: dict = {}
    first = round(start / dt)
    for number, (name, n) in enumerate(sizes.items()):
        layout.append((name, number, 0, n))
        held = np.array(sorted((spikes or {}).get(name, ())), float).reshape(-1, 2)
        steps = np.rint(held[:, 0] / dt).astype(np.int64) - 1 - first
        events[name] = steps, held[:, 1].astype(np.int32)
    given = {
        "network": None,
        "state": None,
        "sample_times": np.zeros(0),
        "interval": dt,
        "compile_s": 0.0,
        "run_s": 0.0,
        **recorded,
    }
    return jn.Result(
        dt=dt,
        layout=tuple(layout),
        first_step=first,
        n_steps=round(duration / dt),
        spikes=None if spikes is None else events,
        **given,
    )


DT, STEPS, N = 0.5, 400, 5
LAYOUT = (("E", 0, 0, N), ("I", 0, N, N + 3))
SIZES = {name: slice(a, b) for name, _, a, b in LAYOUT}


@functools.cache
def batch():
    """Two by three runs of 200 ms that began at 30 ms, with all that analysis asks for."""
    dense = np.random.default_rng(0).random((2, 3, STEPS, N + 3)) < 0.04
    dense[..., 3] = False  # a silent neuron
    v = np.random.default_rng(1).normal(-60.0, 5.0, (2, 3, STEPS // 2, N)).astype("f4")
    seeds = np.arange(6, dtype=np.uint32).reshape(2, 3)
    one = jax.vmap(jax.vmap(_recording, (0, 0, 0, None)), (0, 0, 0, None))
    return jax.jit(one)(dense, v, seeds, np.int32(60))


def _recording(dense, v, seed, first):
    bits = jnp.packbits(jnp.pad(dense, ((0, 0), (0, 64 - N - 3))), axis=-1, bitorder="little")
    return Recording(
        spikes=SpikeBits((bits,), first, DT, LAYOUT),
        samples={"traces": {"E": {"v": v}, "E->E": {"current": v + 90.0}, "I->E": {"current": v}}},
        counts={k: dense[:, at].sum(axis=-1, dtype=jnp.int32) for k, at in SIZES.items()},
        constants={},
        statistics={k: sums_of(dense[:, at], first) for k, at in SIZES.items()},
        first_step=first,
        key=seed,
        info=RunInfo(DT, STEPS, LAYOUT, 2, (), ()),
    )
