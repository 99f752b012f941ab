"""SONATA networks: what is written is read again, the layout of the Allen Institute, refusals."""

import re
from pathlib import Path

import h5py
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.io import _sonata_write
from jaxneuro.io._sonata_models import table
from tests.sonata_layout import three_hundred

N, S, C = jn.neurons, jn.synapses, jn.connectivity
PAGE = (Path(__file__).parents[2] / "docs" / "from_sonata.md").read_text()
CONDUCTANCES = S.AlphaConductance(1.0, 0.0), S.AlphaConductance(2.0, -80.0)


@pytest.fixture
def layout(tmp_path):
    return three_hundred(tmp_path / "net")


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# --- round trip


MODELS = {
    "exp": (N.IafPscExp(tau_m=np.linspace(8, 12, 10)), S.Direct("ex"), S.Direct("in"), 900.0, -300),
    "jumps": (N.LIF(), S.Delta(), S.Delta(), 8.0, -2.0),
    "conductances": (N.LIF(tau_m=np.linspace(8, 12, 10)), S.AMPA(), S.GABA_A(), 40.0, 20.0),
    "alpha conductances": (N.LIF(tau_m=7.0), *CONDUCTANCES, 40.0, 20.0),
    "adex": (N.AdEx(b=40.0), S.ExponentialConductance(1.0, 0.0), S.GABA_A(), 40.0, 20.0),
    "izhikevich": (N.Izhikevich(d=np.linspace(2, 8, 10)), S.Delta(), S.Delta(), 9.0, -2.0),
}


def network(model, ex, inh, w_ex, w_in):
    times = np.arange(1, 1000) * 0.2
    spikes = jn.stimuli.SpikeTimes(times, np.arange(999) * 7 % 10)
    rule, drawn = C.FixedProbability(0.5), jn.Normal(w_ex, 1.0)
    current = jn.stimuli.Current(3.0 if isinstance(model, N.Izhikevich) else 100.0)
    return jn.Description(
        [
            jn.Population("in", 10, N.Relay()),
            jn.Population("E", 10, model, {"v": jn.Uniform(-70.0, -60.0)}),
            jn.Population("I", 6, type(model)()),
        ],
        [
            jn.Projection("in", "E", rule, weight=w_ex, delay=jn.Uniform(0.5, 3.0), synapse=ex),
            jn.Projection("E", "I", rule, weight=drawn, delay=1.5, synapse=ex, name="to I"),
            jn.Projection("I", "E", rule, weight=w_in, delay=0.5, synapse=inh),
        ],
        [
            jn.Stimulation("in", spikes, weight=1.0, synapse=S.Delta(), delay=0.3),
            jn.Stimulation(jn.Part("I", slice(0, 3)), current),
        ],
    )


@pytest.mark.slow(but=["conductances"])
@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS.keys())
def test_what_is_written_is_read_again(tmp_path, case):
    net = jn.build(network(*case), key=3, dt=0.1)
    jn.io.write_sonata(net, tmp_path, duration=100.0, key=5)
    given = jn.io.read_sonata(tmp_path)
    new = jn.build(given.description, key=0, dt=given.dt)
    assert (new.populations, given.dt, given.duration) == (net.populations, 0.1, 100.0)
    assert list(new.populations) == ["in", "E", "I"]
    names = [p.name for p in given.description.projections]
    assert names == [*net.projections]
    for name in net.projections:
        a, b = net.connections(name), new.connections(name)
        for field in ("pre", "post", "weight", "delay"):
            assert np.array_equal(getattr(a, field), getattr(b, field))
    a = jn.simulate(net, 100.0, key=5, progress=False)
    b = jn.simulate(new, 100.0, progress=False)
    for name in net.populations:
        assert a.events(name)[0].size > 5
        assert np.array_equal(a.events(name), b.events(name))


def test_positions_are_written_and_read(tmp_path):
    box, line = jn.space.UniformBox((0.0, 5.0), (1.0, 9.0)), np.arange(4.0)
    four = np.arange(12.0).reshape(3, 4)
    cells = [
        jn.Population("plane", 5, N.IafPscExp(), positions=box),
        jn.Population("line", 4, N.Relay(), positions=line),
        jn.Population("nowhere", 2, N.IafPscExp()),
        jn.Population("four", 3, N.IafPscExp(), positions=four),
        jn.Population("empty", 0, N.IafPscAlpha()),
        jn.Population("no inputs", 0, N.Relay()),
    ]
    net = jn.build(jn.Description(cells), key=3, dt=0.1)
    jn.io.write_sonata(net, tmp_path)
    new = jn.build(jn.io.read_sonata(tmp_path).description, key=0, dt=0.1)
    for name in ("plane", "line"):
        assert np.array_equal(new.positions(name), net.positions(name))
    assert np.array_equal(new.positions("four"), four[:, :3])
    assert "nowhere" not in new.points
    assert new.populations == net.populations
    assert isinstance(jn.io.read_sonata(tmp_path).description.populations[4].model, N.IafPscAlpha)


def test_nodes_of_which_some_have_no_position(layout):
    with h5py.File(layout / "network/internal_nodes.h5", "a") as file:
        file["nodes/internal/0/x"] = np.arange(30.0)
        file["nodes/internal/1/x"] = np.full(30, np.nan)
        file["nodes/internal/0/y"] = np.arange(30.0)
        file["nodes/internal/1/y"] = np.arange(30.0)
        file["nodes/internal/node_group_id"][:] = np.repeat([0, 1], [29, 1])
        file["nodes/internal/node_id"][:] = np.arange(30)[::-1]
    with h5py.File(layout / "network/external_nodes.h5", "a") as file:
        file["nodes/external/0/z"] = np.arange(10.0)
        file["nodes/external/node_id"][:] = np.arange(10)[::-1]
    internal, external = jn.io.read_sonata(layout).description.populations
    assert internal.positions.points[:, 0].tolist() == [*range(29, -1, -1)]
    assert external.positions.points[:, 0].tolist() == [*range(9, -1, -1)]
    with h5py.File(layout / "network/external_nodes.h5", "a") as file:
        file["nodes/external/0/x"] = np.full(10, 1e20)
    with pytest.raises(jn.InvalidValueError, match=r"population 'external'.*below"):
        jn.io.read_sonata(layout)


def test_gains_and_multapses(tmp_path):
    rule = C.Explicit([0, 0, 1], [1, 1, 0])
    one = jn.Projection("A", "A", rule, weight=2.0, delay=1.0, synapse=S.Delta(), gain=-1.5)
    net = jn.build(jn.Description([jn.Population("A", 2, N.IafPscDelta())], [one]), key=0, dt=0.1)
    jn.io.write_sonata(net, tmp_path)
    (p,) = jn.io.read_sonata(tmp_path).description.projections
    assert (p.name, p.weight, p.rule.pre.tolist()) == ("A->A", -3.0, [0, 0, 1])


@pytest.mark.parametrize("tau", np.linspace(5, 30, 40))
def test_a_leak_gives_its_time_constant(tmp_path, tau):
    from jaxneuro.io._sonata_write import _leak

    model = N.LIF(tau_m=np.full(1, tau))
    assert np.float32(250.0 / _leak(model)[0]) == np.float32(tau)


# --- the layout of the Allen Institute


@pytest.mark.slow
def test_the_layout_of_300_pointneurons(layout):
    given = jn.io.read_sonata(layout)
    d = given.description
    internal, external = d.populations
    assert (internal.name, internal.n, external.name, external.n) == (
        "internal",
        30,
        "external",
        10,
    )
    assert np.array_equal(
        internal.model.tau_m,
        np.repeat([44.9, 11.5, 22.1, 22.2, 12.5], [8] * 3 + [3] * 2).astype(np.float32),
    )
    assert (internal.model.t_ref, internal.initial["v"]) == (3.0, -70.0)
    assert [p.delay for p in d.projections] == [2.0, 2.0, 1.0]
    assert given.nodes["internal"].types.tolist()[-3:] == [104] * 3
    result = jn.simulate(jn.build(d, key=0, dt=given.dt), given.duration, progress=False)
    assert 5.0 < result.rate("internal") < 200.0
    assert result.events("external")[0].size > 140


def test_the_layout_of_intfire(tmp_path):
    given = jn.io.read_sonata(three_hundred(tmp_path / "net", "nrn:IntFire1"))
    model = given.description.populations[0].model
    assert (float(model.tau_m), float(model.t_ref), float(model.v_th)) == (24.0, 3.0, 1.0)
    result = jn.simulate(jn.build(given.description, 0, given.dt), 300.0, progress=False)
    assert 5.0 < result.rate("internal") < 200.0


@pytest.mark.parametrize("in_config", [True, False])
def test_a_network_of_the_least_time_step(layout, in_config):
    """As `point_120cells` of bmtk: dt is 0.001 ms."""
    if in_config:
        change(layout / "simulation_config.json", '"dt": 0.1', '"dt": 0.001')
    change(layout / "network/internal_internal_edge_types.csv", "2.0", "0.002")
    given = jn.io.read_sonata(layout, dt=None if in_config else 0.001)
    assert given.dt == 0.001
    net = jn.build(given.description, key=0, dt=given.dt)
    delays = [net.connections(name).delay for name in net.projections]
    assert [set(x.tolist()) for x in delays] == [{0.002}, {0.002}, {1.0}]


def test_values_one_by_one_replace_those_of_types(layout):
    with h5py.File(layout / "network/internal_nodes.h5", "a") as file:
        file["nodes/internal/0/dynamics_params/V_th"] = np.full(30, -40.0)
        file["nodes/internal/0/dynamics_params/I_e"] = np.arange(30.0)
        file["nodes/internal/node_id"][:] = np.arange(30)[::-1]
    with h5py.File(layout / "network/internal_internal_edges.h5", "a") as file:
        n = file["edges/internal_to_internal/edge_type_id"].size
        file["edges/internal_to_internal/0/delay"] = np.full(n, 1.26)
        file["edges/internal_to_internal/0/nsyns"] = np.full(n, 3)
    given = jn.io.read_sonata(layout)
    d = given.description
    assert (float(d.populations[0].model.v_th), d.projections[0].weight) == (-40.0, 60.0)
    assert d.projections[0].delay == pytest.approx(1.3)
    assert np.array_equal(d.stimuli[0].stimulus.amplitude, np.arange(30.0)[::-1])
    assert given.nodes["internal"].types[:3].tolist() == [104] * 3


def test_several_models_are_several_populations(layout):
    types = layout / "network/internal_node_types.csv"
    change(types, "104 i nest:iaf_psc_alpha", "104 i nest:iaf_psc_exp")
    given = jn.io.read_sonata(layout, dt=0.05)
    names = [p.name for p in given.description.populations]
    assert names == ["internal:iaf_psc_alpha", "internal:iaf_psc_exp", "external"]
    assert given.nodes["internal:iaf_psc_exp"].ids.tolist() == [27, 28, 29]
    edges = sum(p.rule.pre.size for p in given.description.projections)
    assert edges == sum(
        h5py.File(layout / f"network/{x}_internal_edges.h5")[
            f"edges/{x}_to_internal/edge_type_id"
        ].size
        for x in ("internal", "external")
    )


# --- refusals: what is changed in which file, and what the error says


REFUSED = {
    "model": (
        "network/internal_node_types.csv",
        "iaf_psc_alpha",
        "hh_psc_alpha",
        "node type 10.*model_template must be one of nest:iaf_psc_alpha.*hh_psc",
    ),
    "type": (
        "network/internal_node_types.csv",
        "point_process",
        "biophysical",
        "model_type must be",
    ),
    "no type": ("network/internal_node_types.csv", "104 i", "105 i", "given for type 104"),
    "parameter": ("cells/104_point.json", "I_e", "V_min", "104_point.json, node type 104.*V_min"),
    "value": ("cells/104_point.json", "78.0", "-1.0", "population 'internal'.*c_m must be"),
    "not a number": ("cells/104_point.json", "78.0", "[1]", "C_m must be a finite number"),
    "not JSON": ("cells/104_point.json", "{", "{{", "104_point.json must be JSON"),
    "synapse": (
        "network/internal_internal_edge_types.csv",
        "nest:static",
        "nest:stdp",
        "edge type 101: model_template",
    ),
    "synapse parameter": ("synapses/a.json", "{", '{"tau": 1', "a.json.*tau must be"),
    "delay": (
        "network/internal_internal_edge_types.csv",
        " 2.0 ",
        " 0.01 ",
        "at least the time step",
    ),
    "rows": ("network/internal_node_types.csv", "cell104", "cell 104", "row 6 must be 6 columns"),
    "columns": ("network/internal_node_types.csv", "node_type_id", "id", "one node_type_id"),
    "clamp": (
        "simulation_config.json",
        '"spikes"',
        '"current_clamp"',
        "input_type must be 'spikes'",
    ),
    "node set": ("simulation_config.json", "EXT", "other", "node_set must be"),
    "part of a set": ("node_sets.json", '"external"', '"external", "x": 1', "node_set must be"),
    "variable": (
        "circuit_config.json",
        "$COMPONENT_DIR/cells",
        "$OTHER/cells",
        "one of the manifest",
    ),
    "loop": ("simulation_config.json", '"."', '"$INPUT_DIR"', "without variables of themselves"),
    "no list": (
        "circuit_config.json",
        '"nodes": [',
        '"nodes": 1, "old": [',
        "networks.nodes must be a list",
    ),
    "no time step": ("simulation_config.json", '"dt"', '"step"', "run.dt must be given"),
    **{
        f"{key} {bad}": (
            "simulation_config.json",
            f'"{key}": {was}',
            f'"{key}": {bad}',
            rf"simulation_config\.json: run\.{key} must be .*ms.*; got ",
        )
        for key, was in (("dt", 0.1), ("tstop", 1000.0))
        for bad in (-0.1, "true", '"x"', *((0, 1e-9) if key == "dt" else ()))
    },
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_map_is_named(layout, case):
    file, old, new, says = case
    change(layout / file, old, new)
    with pytest.raises(jn.InvalidValueError, match=re.compile(says, re.DOTALL)):
        jn.io.read_sonata(layout)


def link(file):
    del file["edges/internal_to_internal/0"]
    file["edges/internal_to_internal/0"] = h5py.ExternalLink("other.h5", "/x")


def soft_link(file):
    del file["edges/internal_to_internal/0/syn_weight"]
    file["edges/internal_to_internal/0/syn_weight"] = h5py.SoftLink("/edges")


def huge(file):
    del file["edges/internal_to_internal/edge_type_id"]
    at = file["edges/internal_to_internal"]
    at.create_dataset("edge_type_id", (2**40,), "u1", chunks=(2**16,))


def tiny_chunks(file):
    del file["edges/internal_to_internal/edge_type_id"]
    at = file["edges/internal_to_internal"]
    at.create_dataset("edge_type_id", (10**8,), "u1", chunks=(10,))


def replaced(name, x):
    def replace(file):
        del file[f"edges/internal_to_internal/{name}"]
        file[f"edges/internal_to_internal/{name}"] = x

    return replace


def renamed(file):
    at = file["edges/internal_to_internal/source_node_id"]
    at.attrs["node_population"] = "nobody"


BAD_ARRAYS = {
    "link": (link, "in the file"),
    "soft link": (soft_link, "in the file"),
    "huge": (huge, "max_mb"),
    "tiny chunks": (tiny_chunks, "chunks are in the file"),
    "short": (replaced("target_node_id", np.zeros(3, int)), "an array of"),
    "negative": (replaced("edge_type_id", np.array([-1])), "whole numbers from 0"),
    "floats": (replaced("edge_type_id", np.zeros(3)), "an array of numbers"),
    "two axes": (replaced("edge_type_id", np.zeros((3, 3), int)), "an array of numbers"),
    "values": (replaced("0/syn_weight", np.ones(2)), "more than"),
    "population": (renamed, "node_population one of internal, external"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS.values(), ids=BAD_ARRAYS.keys())
def test_arrays_of_strangers(layout, case):
    spoil, says = case
    with h5py.File(layout / "network/internal_internal_edges.h5", "a") as file:
        spoil(file)
    with pytest.raises(jn.InvalidValueError, match=says):
        jn.io.read_sonata(layout)


def test_ids_that_there_are_not(layout):
    with h5py.File(layout / "network/internal_internal_edges.h5", "a") as file:
        file["edges/internal_to_internal/target_node_id"][5] = 30
    with pytest.raises(jn.InvalidValueError, match="ids of the 30 nodes; got 30 at index 5"):
        jn.io.read_sonata(layout)


def test_spikes_before_the_begin(layout):
    with h5py.File(layout / "inputs/external_spike_trains.h5", "a") as file:
        file["spikes/timestamps"][3] = -2.0
    with pytest.raises(jn.InvalidValueError, match="at least 0 ms; got -2 at index 3"):
        jn.io.read_sonata(layout)


def test_spikes_in_float32_come_in_the_steps_of_float64(layout):
    file = layout / "inputs/external_spike_trains.h5"

    def times_as(dtype, shift=0.0):
        with h5py.File(file, "a") as spikes:
            exact = 0.1 * np.arange(5000, 5000 + len(spikes["spikes/timestamps"])) + shift
            del spikes["spikes/timestamps"]
            spikes["spikes/timestamps"] = exact.astype(dtype)
        return jn.io.read_sonata(layout).description.stimuli[0].stimulus.times

    np.testing.assert_array_equal(times_as(np.float32), times_as(np.float64))
    with pytest.raises(jn.InvalidValueError, match=r"timestamps must be in float64.*0\.0625 ms"):
        times_as(np.float32, 700_000.0)


def test_files_that_are_missing_or_are_no_hdf5(layout, tmp_path):
    (layout / "inputs/external_spike_trains.h5").write_bytes(b"no HDF5")
    with pytest.raises(jn.InvalidValueError, match=r"external_spike_trains\.h5' must be an HDF5"):
        jn.io.read_sonata(layout)
    (layout / "cells/101_point.json").unlink()
    with pytest.raises(FileNotFoundError, match="101_point"):
        jn.io.read_sonata(layout / "config.json")
    with pytest.raises(FileNotFoundError, match="simulation_config"):
        jn.io.read_sonata(tmp_path)


def test_without_h5py(layout, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"jaxneuro\[hdf5\]"):
        jn.io.read_sonata(layout)


def described(model=None, stimulus=None, start=None, **projection):
    given = {"rule": C.AllToAll(), "weight": 1.0, "delay": 1.0, "synapse": S.Direct("ex")}
    parts = [jn.Projection("A", "A", **(given | projection))] if projection else []
    stimuli = [jn.Stimulation("A", stimulus)] if stimulus else []
    return jn.Description(
        [jn.Population("A", 2, model or N.IafPscExp(), start or {})], parts, stimuli
    )


UNWRITTEN = {
    "start": (described(start={"i_ex": 1.0}), "initial must be a start value of v; got i_ex"),
    "neuron": (described(N.QIF()), "population 'A' must be of a model .*IafPscAlpha.*QIF"),
    "receptor": (described(N.LIF(), synapse=S.Exponential()), "synapses must be .*got Exponential"),
    "noise": (described(stimulus=jn.stimuli.WhiteNoise(0.0, 1.0)), "constant Current.*WhiteNoise"),
    "plasticity": (
        described(plasticity=jn.plasticity.PairSTDP(w_max=2.0)),
        "must be None.*PairSTDP",
    ),
    "release": (described(release=jn.release.TsodyksMarkram()), "release must be Spikes"),
    "name": (described(name="a/b"), "without '/'"),
    "relay": (described(N.Relay(), synapse=S.Delta()), "as virtual nodes"),
    "method": (described(N.LIF(method=jn.integrators.forward_euler)), "method must be None"),
}


@pytest.mark.parametrize("case", UNWRITTEN.values(), ids=UNWRITTEN.keys())
def test_what_cannot_be_written_is_named(tmp_path, case):
    description, says = case
    net = jn.build(description, key=0, dt=0.1)
    with pytest.raises(jn.InvalidValueError, match=says):
        jn.io.write_sonata(net, tmp_path / "net")
    assert not (tmp_path / "net").exists()


def test_a_file_is_no_folder(tmp_path):
    net = jn.build(described(), key=0, dt=0.1)
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file/net"):
        with pytest.raises(jn.InvalidValueError, match=r"folder must be a folder; got .*file"):
            jn.io.write_sonata(net, folder)
    assert [x.read_text() for x in tmp_path.iterdir()] == ["mine"]


def test_files_of_a_larger_network_are_deleted_and_others_stay(tmp_path):
    large = jn.build(network(N.LIF(), S.Delta(), S.Delta(), 8.0, -2.0), key=0, dt=0.1)
    small = jn.build(described(), key=0, dt=0.1)
    files = []
    for net, folder in ((small, "new"), (large, "old"), (small, "old")):
        jn.io.write_sonata(net, tmp_path / folder)
        (tmp_path / folder / "network/nodes_mine.h5").touch()
        found = (tmp_path / folder).rglob("*.*")
        files.append({str(x.relative_to(tmp_path / folder)) for x in found})
    assert files[0] == files[2] != files[1]


def test_a_full_disk_leaves_the_older_network(tmp_path, monkeypatch):
    net = jn.build(described(), key=0, dt=0.1)
    jn.io.write_sonata(net, tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}

    def full(path, data):
        raise OSError("no space left on device")

    monkeypatch.setattr(_sonata_write, "_json", full)
    with pytest.raises(OSError, match="no space left"):
        jn.io.write_sonata(net, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == files


# --- the page


@pytest.mark.slow
def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(code, names)
    assert names["result"].rate("E") > 1.0
    assert jnp.size(names["fast"]) == 80


def test_the_table_is_that_of_the_code():
    assert table() in PAGE
