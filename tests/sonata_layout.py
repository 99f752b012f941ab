"""Files in the layout of the Allen Institute's `300_pointneurons`."""

import json

import h5py
import numpy as np

# The cells of `300_pointneurons`: population type, neurons of 30, C_m, tau_m, E_L, V_th, V_reset.
CELLS = {
    100: ("e", 8, 239.0, 44.9, -78.0, -43.0, -55.0),
    101: ("e", 8, 53.0, 11.5, -72.0, -25.0, -50.0),
    102: ("e", 8, 117.0, 22.1, -78.0, -47.0, -50.0),
    103: ("i", 3, 180.0, 22.2, -82.0, -35.0, -50.0),
    104: ("i", 3, 78.0, 12.5, -73.0, -37.0, -55.0),
}


def put(file, at, **arrays):
    for name, x in arrays.items():
        file[f"{at}/{name}"] = x


def population(file, at, kind, types):
    n = len(types)
    given = {"type_id": types, "group_id": np.zeros(n, np.uint32)}
    given["group_index"] = np.arange(n, dtype=np.uint64)
    put(file, at, **{f"{kind}_{k}": x for k, x in given.items()})
    file.require_group(f"{at}/0")


def three_hundred(folder, template="nest:iaf_psc_alpha", times=1):
    """The layout of `300_pointneurons`, with a tenth of its cells, `times` that."""
    rng = np.random.default_rng(0)
    cells, inputs = 30 * times, 10 * times
    network = folder / "network"
    for name in ("network", "inputs", "cells", "synapses"):
        (folder / name).mkdir(parents=True)
    rows = ["node_type_id ei model_template model_type dynamics_params model_name"]
    names = ("C_m", "tau_m", "E_L", "V_th", "V_reset")
    for k, (ei, _, *numbers) in CELLS.items():
        rows.append(f"{k} {ei} {template} point_process {k}_point.json cell{k}")
        cell = {"I_e": 0.0, "t_ref": 3.0} | dict(zip(names, numbers))
        if template == "nrn:IntFire1":
            cell = {"tau": 0.024, "refrac": 0.003, "type": "NEURON_IntFire1"}
        (folder / f"cells/{k}_point.json").write_text(json.dumps(cell))
    (network / "internal_node_types.csv").write_text("\n".join(rows) + "\n")
    (network / "external_node_types.csv").write_text("node_type_id model_type ei\n100 virtual e\n")
    types = np.repeat([*CELLS], [times * x[1] for x in CELLS.values()])
    for name, x in (("internal", types), ("external", np.full(inputs, 100))):
        with h5py.File(network / f"{name}_nodes.h5", "w") as file:
            population(file, f"nodes/{name}", "node", x)
            put(file, f"nodes/{name}", node_id=np.arange(len(x), dtype=np.uint64))
    head = "edge_type_id target_query source_query delay dynamics_params model_template\n"
    (network / "internal_internal_edge_types.csv").write_text(
        head
        + "100 ei=='e' ei=='e' 2.0 a.json static_synapse\n"
        + "101 ei=='e' ei=='i' 2.0 a.json nest:static_synapse\n"
    )
    (network / "external_internal_edge_types.csv").write_text(
        "edge_type_id target_query dynamics_params model_template\n100 * a.json static_synapse\n"
    )
    (folder / "synapses/a.json").write_text("{\n}\n")
    scale = (0.02 if template == "nrn:IntFire1" else 8.0) / times
    for source, n in (("internal", cells), ("external", inputs)):
        pre, post = np.nonzero(rng.random((n, cells)) < 0.7)
        inhibitory = (source == "internal") & (pre >= 24 * times)
        weight = scale * np.where(inhibitory, -7.5, 2.5 if source == "internal" else 50.0)
        at = f"edges/{source}_to_internal"
        with h5py.File(network / f"{source}_internal_edges.h5", "w") as file:
            population(file, at, "edge", np.where(inhibitory, 101, 100))
            put(file, at, source_node_id=pre, target_node_id=post)
            file[f"{at}/source_node_id"].attrs["node_population"] = source
            file[f"{at}/target_node_id"].attrs["node_population"] = np.bytes_("internal")
            put(file, f"{at}/0", syn_weight=weight)
    with h5py.File(folder / "inputs/external_spike_trains.h5", "w") as file:
        times_ms = 1000 * rng.random(150 * times)
        put(file, "spikes", gids=rng.integers(0, inputs, times_ms.size), timestamps=times_ms)
    files = {
        f"{kind}s": [
            {
                f"{kind}s_file": f"$NETWORK_DIR/{name}_{kind}s.h5",
                f"{kind}_types_file": f"$NETWORK_DIR/{name}_{kind}_types.csv",
            }
            for name in names
        ]
        for kind, names in (
            ("node", ("internal", "external")),
            ("edge", ("internal_internal", "external_internal")),
        )
    }
    components = {
        "point_neuron_models_dir": "$COMPONENT_DIR/cells",
        "synaptic_models_dir": "$COMPONENT_DIR/synapses",
    }
    manifest = {"$NETWORK_DIR": "./network", "$COMPONENT_DIR": "."}
    circuit = {"manifest": manifest, "components": components, "networks": files}
    spikes = {
        "input_type": "spikes",
        "module": "h5",
        "input_file": "$INPUT_DIR/external_spike_trains.h5",
        "node_set": "EXT",
    }
    simulation = {
        "manifest": {"$BASE_DIR": ".", "$INPUT_DIR": "$BASE_DIR/inputs"},
        "run": {"tstop": 1000.0, "dt": 0.1},
        "network": "$BASE_DIR/circuit_config.json",
        "node_sets_file": "$BASE_DIR/node_sets.json",
        "inputs": {"external_spike_trains": spikes},
    }
    both = {"network": "./circuit_config.json", "simulation": "./simulation_config.json"}
    sets = {"EXT": {"population": "external"}}
    for name, data in (
        ("circuit_config", circuit),
        ("simulation_config", simulation),
        ("config", both),
        ("node_sets", sets),
    ):
        (folder / f"{name}.json").write_text(json.dumps(data))
    return folder
