"""Results made by hand."""

import numpy as np

import jaxneuro as jn

EMPTY = (
    *("traces", "neurons", "shared", "means", "lfp", "weights", "synapses", "weight_histograms"),
    *("weight_edges", "counts", "statistics"),
)


def result(spikes, sizes, duration=100.0, start=0.0, dt=0.1, **recorded):
    """A `Result`: `spikes[name]` pairs (time [ms], neuron), each at the end of a step, or None."""
    layout, groups, first = [], [], round(start / dt)
    for number, (name, n) in enumerate(sizes.items()):
        layout.append((name, number, 0, n))
        held = np.array(sorted((spikes or {}).get(name, ())), float).reshape(-1, 2)
        steps = np.rint(held[:, 0] / dt).astype(np.int64) - 1 - first
        groups.append((steps, held[:, 1].astype(np.int32)))
    given = {
        "network": None,
        "state": None,
        "sample_times": np.zeros(0),
        "interval": dt,
        "function": None,
        "key": None,
        "compile_s": 0.0,
        "run_s": 0.0,
        "interrupted": False,
        **{name: {} for name in EMPTY},
        **recorded,
    }
    return jn.Result(
        dt=dt,
        layout=tuple(layout),
        first_step=first,
        n_steps=round(duration / dt),
        spikes=None if spikes is None else tuple(groups),
        **given,
    )
