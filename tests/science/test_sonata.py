"""A network of 300 neurons in SONATA files against NEST, which gets their numbers one by one."""

import csv
import json
import subprocess
from pathlib import Path

import h5py
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from benchmarks._environments import environment
from tests.sonata_layout import three_hundred

pytestmark = pytest.mark.science
SCRIPT = Path(__file__).with_name("nest_network_runs.py")


def edges(folder: Path, name: str) -> dict[str, np.ndarray]:
    """The connections of a file of the layout: those of inputs have NEST's delay of 1 ms."""
    with h5py.File(folder / f"network/{name}_internal_edges.h5") as file:
        inside = file[f"edges/{name}_to_internal"]
        pre, post = (inside[f"{side}_node_id"][:].astype(int) for side in ("source", "target"))
        weight = inside["0/syn_weight"][:]
    return {
        "pre": pre,
        "post": post,
        "weight": weight,
        "delay": np.full(pre.size, 2.0 if name == "internal" else 1.0),
    }


def nest_spikes(folder: Path, dt: float, ms: float) -> np.ndarray:
    """Steps and neurons of all spikes, of the files as they are."""
    table = (folder / "network/internal_node_types.csv").read_text().splitlines()
    files = {
        int(row["node_type_id"]): row["dynamics_params"]
        for row in csv.DictReader(table, delimiter=" ")
    }
    with h5py.File(folder / "network/internal_nodes.h5") as file:
        types = file["nodes/internal/node_type_id"][:]
    groups = []
    for kind in np.unique(types):
        given = json.loads((folder / "cells" / files[int(kind)]).read_text())
        groups.append(["iaf_psc_alpha", int((types == kind).sum()), given])
    with h5py.File(folder / "inputs/external_spike_trains.h5") as file:
        # To the end of the step, where spike generators put them too.
        steps = np.ceil(file["spikes/timestamps"][:] / dt)
        ids = file["spikes/gids"][:]
    once = np.unique(np.stack((ids, steps.astype(int))), axis=1)
    job = {
        **edges(folder, "internal"),
        **{f"in_{k}": x for k, x in edges(folder, "external").items()},
        **{"ids": once[0], "times": once[1] * dt, "generators": 100},
        **{"models": json.dumps(groups), "dt": dt, "ms": ms},
    }
    np.savez(folder / "job.npz", **job)
    done = subprocess.run(
        [environment("nest"), SCRIPT, folder / "job.npz"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return np.array((found["steps"], found["neurons"]))


def test_three_hundred_neurons_spike_as_in_nest(tmp_path, x64):
    folder, dt, ms = three_hundred(tmp_path / "net", times=10), 0.1, 1000.0
    given = jn.io.read_sonata(folder)
    net = jn.build(given.description, 0, given.dt, jnp.float64)
    result = jn.simulate(net, ms, progress=False)
    times, neurons = result.events("internal")
    ours = np.stack((np.rint(times / dt).astype(int), neurons))
    theirs = nest_spikes(folder, dt, ms)
    print(f"{ours.shape[1]} spikes of 300 neurons, NEST {theirs.shape[1]}")
    assert theirs.shape[1] > 3000
    in_order = [x[:, np.lexsort(x[::-1])] for x in (ours, theirs)]
    np.testing.assert_array_equal(*in_order)
