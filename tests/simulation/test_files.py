"""Results in files: exact round trips, and files that are none."""

import dataclasses
import json
import math
import zipfile

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._disk import values
from tests.network.networks import balanced

NET = jn.build(balanced(delay=jn.Uniform(0.5, 8.0)), 1, 0.1)
ODD = ["a/b", "../up", "ε spaced", "array 0", "header", "file.npy", 'q"uo\\te']


def sampled(state, output):
    return {"step": state.step, "pair": (output.spikes["E"].sum(), [state.groups[0].neurons.v[:3]])}


RECORD = jn.Record(
    variables={"E": ("v", "refractory"), "E->I": "g"},
    neurons={"E": [3, 100]},
    interval=0.7,
    rates=True,
    means={"I": "v"},
    lfp=("E", "I"),
    function=sampled,
)


@pytest.fixture(scope="module")
def result():
    first = jn.simulate(NET, 0.5)
    return jn.simulate(NET, 29.6, record=RECORD, state=first.state)


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        assert type(x) is type(y)
        assert getattr(x, "dtype", None) == getattr(y, "dtype", None)
        np.testing.assert_array_equal(x, y)


def kept(result):
    names = [f.name for f in dataclasses.fields(result) if f.name not in ("network", "state")]
    return {name: getattr(result, name) for name in names} | {"spikes": result.spikes.by_population}


def test_a_round_trip_is_exact(result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    loaded = jn.Result.load(str(path))
    same(kept(loaded), kept(result))
    assert loaded.network is None
    loaded.save(path)  # a loaded result is one as well
    loaded = jn.Result.load(path)
    same(loaded.state.on(NET), result.state)
    on, more = (jn.simulate(NET, 3.0, state=x) for x in (result, loaded))
    same(kept(more)["spikes"], on.spikes.by_population)
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]
    for name in "EI":
        same(loaded.events(name), result.events(name))
        assert loaded.rate(name) == result.rate(name)
    assert loaded.start == result.start
    assert loaded.populations == NET.populations
    same(loaded.neurons_at("E", 100), result.neurons_at("E", 100))
    assert (
        repr(loaded)
        == "Result: 29.6 ms (296 steps) from 0.5 ms on of 2 populations, 200 neurons, key 0"
    )
    assert result.events("E")[0].size > 100
    assert result.function["step"].size == 43


def test_it_is_an_npz_of_plain_arrays(result, tmp_path):
    result.save(tmp_path / "run")  # under the very name that was given
    with np.load(tmp_path / "run", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


@pytest.mark.parametrize("record", [jn.Record(spikes=False), jn.Record(), RECORD])
def test_short_runs(record, tmp_path):
    made = jn.simulate(NET, 0.5, record=record)
    made.save(tmp_path / "run.npz")
    same(kept(jn.Result.load(tmp_path / "run.npz")), kept(made))


def test_names_of_any_characters(tmp_path):
    cells = [jn.Population(name, 2, jn.neurons.LIF(), initial={"v": -40.0}) for name in ODD]
    net = jn.build(jn.Description(cells), 0, 0.1)
    made = jn.simulate(net, 2.0, record=jn.Record(variables=dict.fromkeys(ODD, "v"), lfp=ODD))
    made.save(tmp_path / "run.npz")
    loaded = jn.Result.load(tmp_path / "run.npz")
    same(kept(loaded), kept(made))
    assert list(loaded.populations) == ODD
    assert all(loaded.events(name)[1].size == 2 for name in ODD)


def test_numbers_of_other_kinds(tmp_path):
    values = (
        np.arange(3, dtype=ml_dtypes.bfloat16),
        np.array([], np.complex64),
        np.array("text"),
        np.array([[True], [False]]),
        np.array([(1, 2.5)], [("a", np.int8), ("b", np.float64)]),
        None,
    )
    made = dataclasses.replace(jn.simulate(NET, 0.5), samples={"function": values}, run_s=math.nan)
    made.save(tmp_path / "run.npz")
    loaded = jn.Result.load(tmp_path / "run.npz")
    same(kept(loaded), kept(made))


class Pair(tuple):
    """A tuple that would not come back as one."""


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (Pair((np.ones(2),)), r"function must be an array.*got a Pair"),
        ({"a": {1: np.ones(2)}}, r"function/a must be .*got a dict"),
        ((np.ones(2), {"b": np.array([None])}), r"function/1/b must be .*got a ndarray"),
        (Pair, "got a type"),
    ],
)
def test_what_no_file_can_hold(function, message, tmp_path):
    made = dataclasses.replace(jn.simulate(NET, 0.5), samples={"function": function})
    with pytest.raises(ValueError, match=message):
        made.save(tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_crash_while_writing_loses_nothing(result, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    result.save(path)
    before = path.read_bytes()

    def crash(file, arrays):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(values, "write_npz", crash)
    with pytest.raises(OSError, match="disk is full"):
        jn.simulate(NET, 0.5).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("part", [0.0, 0.01, 0.3, 0.7, 0.99, 0.9999])
def test_a_file_that_is_cut_off(part, result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(ValueError, match=r"run\.npz' must be a whole file that Result.save wrote"):
        jn.Result.load(path)


def test_a_flipped_byte_is_seen(result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(ValueError, match="must be a whole file"):
        jn.Result.load(path)


def rewritten(path, **changed):
    """The file with other entries in its header."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = {**json.loads(arrays["header"].tobytes()), **changed}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)


def one_array(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))


OTHER = r"must be one that Result\.save wrote"
FOREIGN = {
    "text": (lambda p: p.write_text("spikes"), "must be a whole file"),
    "npy": (one_array, "must be a whole file"),
    "zip": (lambda p: zipfile.ZipFile(p, "w").close(), OTHER),
    "npz": (lambda p: np.savez(p, x=np.ones(3)), OTHER),
    "npz with a header": (
        lambda p: np.savez(p, header=np.ones(3)),
        OTHER,
    ),
    "pickle": (lambda p: np.savez(p, header=np.array([None])), "cannot be read"),
    "kind": (lambda p: rewritten(p, kind="something else"), OTHER),
    "newer": (lambda p: rewritten(p, version=9), "version 1; got 9.*jaxneuro that wrote it"),
    "damaged": (lambda p: rewritten(p, values={}), "must be whole; got"),
    "other values": (lambda p: rewritten(p, values={"dt": {"what": 1}}), "must be whole; got"),
}


@pytest.mark.parametrize(("write", "message"), FOREIGN.values(), ids=FOREIGN.keys())
def test_foreign_files(write, message, result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    write(path)
    with pytest.raises(ValueError, match=message):
        jn.Result.load(path)


def test_what_unpacks_to_much_more_is_not_unpacked(result, tmp_path):
    """A file of 17 kB with 16 MB of zeros; the limit is for files that are smaller than it."""
    path, packed = tmp_path / "run.npz", tmp_path / "packed.npz"
    result.save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    same(kept(jn.Result.load(path, max_mb=1e-6)), kept(result))
    np.savez_compressed(packed, **arrays, zeros=np.zeros(2_000_000))
    assert packed.stat().st_size < 1_000_000
    same(kept(jn.Result.load(packed)), kept(result))
    with pytest.raises(jn.InvalidValueError, match="max_mb"):
        jn.Result.load(packed, max_mb=10)


def shape_beyond_the_file(path):
    """An array whose shape, in its header, needs 8 TB."""
    with zipfile.ZipFile(path, "w") as archive, archive.open("x.npy", "w") as file:
        about = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(file, about)


def nested(path):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["header"] = np.frombuffer(b"[" * 100_000, np.uint8)
    np.savez(path, **arrays)


def no_array(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header", "text")


@pytest.mark.parametrize("write", [shape_beyond_the_file, nested, no_array])
def test_files_that_nobody_wrote_by_accident(write, result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    write(path)
    with pytest.raises(ValueError, match="must be"):
        jn.Result.load(path)


@pytest.mark.parametrize("field", ["layout", "samples", "spikes"])
def test_names_that_cannot_be_printed(field, result, tmp_path):
    """They would be commands for a terminal."""
    path = tmp_path / "run.npz"
    result.save(path)
    with np.load(path) as file:
        header = file["header"].tobytes().decode()
    values = json.loads(header)["values"]
    text = json.dumps(values[field]).replace('"E', '"E\\u001b[2J').replace('"v"', '"v\\r"')
    rewritten(path, values={**values, field: json.loads(text)})
    with pytest.raises(jn.InvalidValueError, match="cannot be printed"):
        jn.Result.load(path)


def test_no_file_at_all(tmp_path):
    with pytest.raises(FileNotFoundError):
        jn.Result.load(tmp_path / "run.npz")


@pytest.mark.parametrize("path", [3, None, b""])
def test_what_is_no_path(path, result):
    for use in (result.save, jn.Result.load):
        with pytest.raises(ValueError, match="path must be the path of a file; got"):
            use(path)


def test_a_path_of_another_format(result, tmp_path):
    with pytest.raises(ValueError, match=r"path must be an \.npz file.*to_pandas"):
        result.save(tmp_path / "run.csv")
    assert not list(tmp_path.iterdir())


def test_a_state_goes_on_only_with_its_network(result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    loaded = jn.Result.load(path)
    made = balanced(delay=jn.Uniform(0.5, 8.0))
    other = [
        jn.build(made, 2, 0.1),
        jn.build(made, 1, 0.1, weights=jnp.bfloat16),
        jn.build(balanced(delay=jn.Uniform(0.5, 8.0), weight=8.5), 1, 0.1),
    ]
    for net in other:
        for state in (result, result.state, loaded, loaded.state):
            with pytest.raises(ValueError, match="another description, key, dt, dtype or part"):
                jn.simulate(net, 1.0, state=state)
    again = jn.build(made, 1, 0.1).set("E->E", gain=0.5)
    assert jn.simulate(again, 1.0, state=loaded).first_step == result.first_step + result.n_steps
    with pytest.raises(ValueError, match="state must"):
        jn.simulate(NET, 1.0, state=dataclasses.replace(result, state=None))
    with pytest.raises(ValueError, match="state must be a result of simulate"):
        jn.simulate(NET, 1.0, state="run.npz")
