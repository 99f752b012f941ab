"""A sweep gives what a loop of single calls gives: names, order, chunks, saved ones."""

import re
import threading
import time
from typing import NamedTuple

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import jaxneuro as jn
from jaxneuro._kernels.threads import threads
from jaxneuro.parallel._sweep_program import SweepProgram

LIF = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-40.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
STEPS = 100


@pytest.fixture(scope="module")
def net():
    description = jn.Description(
        [jn.Population("E", 60, LIF, {"v": jn.Uniform(-60.0, -50.0)})],
        [
            jn.Projection(
                *("E", "E", jn.connectivity.FixedIndegree(10)),
                weight=jn.Normal(30.0, 3.0),
                delay=0.3,
                synapse=jn.synapses.Exponential(5.0),
            )
        ],
    )
    return jn.build(description, key=1, dt=0.1)


@pytest.fixture(scope="module")
def spiking(net):
    record = jn.Record(spikes=False, rates=True)

    def fn(gain, seed):
        swept = net.set("E->E", gain=gain)
        state, recorded = jn.scan(swept, swept.init(seed), STEPS, record=record)
        return {"counts": recorded.counts["E"], "v": swept.read(state, "E", "v")}

    return fn


GRID = {"gain": np.linspace(0.5, 4.0, 3), "seed": np.arange(5)}


@pytest.fixture(scope="module")
def swept(spiking):
    return jn.sweep(spiking, GRID, chunk=5)


def test_a_grid_is_the_product_of_its_axes(spiking, swept):
    assert swept.shape == (3, 5)
    assert swept["counts"].shape == (3, 5, STEPS)
    single = jax.jit(spiking)
    for i, gain in enumerate(GRID["gain"]):
        for j in (0, 4):
            one = single(np.float32(gain), np.int32(j))
            np.testing.assert_array_equal(swept["counts"][i, j], one["counts"])
            np.testing.assert_allclose(swept["v"][i, j], one["v"], rtol=1e-5)
    assert swept["counts"].sum() > 100
    assert len(np.unique(swept["v"].reshape(15, -1), axis=0)) == 15


def test_a_seed_is_that_of_a_single_run(net, swept):
    result = jn.simulate(net.set("E->E", gain=4.0), 0.1 * STEPS, key=3, progress=False)
    steps = np.rint(result.events("E")[0] / 0.1).astype(int)
    expected = np.bincount(steps, minlength=STEPS + 1)
    assert abs(expected.sum() - swept["counts"][2, 3].sum()) <= 0
    assert np.abs(result.state.groups[0].neurons.v - swept["v"][2, 3]).max() < 1e-4


@pytest.mark.slow
def test_what_is_recorded_is_a_batch_with_the_axes_of_the_grid(net, swept, tmp_path):
    def fn(gain, seed):
        own = net.set("E->E", gain=gain)
        recording = jn.scan(own, own.init(seed), STEPS, record=jn.Record(statistics="E"))[1]
        return {"recorded": recording, "twice": 2.0 * gain}

    first = jn.sweep(fn, GRID, chunk=5, save=tmp_path / "kept")
    again = jn.sweep(fn, GRID, chunk=5, save=tmp_path / "kept")
    assert again.found == 15
    for result in (first, again):
        assert result.recording.batch == (3, 5)
        np.testing.assert_array_equal(result.recording.spikes.counts("E"), swept["counts"])
        one = result.recording[2, 3].result()
        np.testing.assert_array_equal(one.statistics["E"].count.sum(), swept["counts"][2, 3].sum())
        assert (one.key, one.n_steps, len(one.spikes["E"])) == (
            3,
            STEPS,
            swept["counts"][2, 3].sum(),
        )
    assert "Recording of 3 x 5 runs" in repr(first)
    assert first["twice"].shape == (3, 5)
    assert list(first._named()) == ["twice"]
    with pytest.raises(ValueError, match="one recording"):
        _ = swept.recording


@pytest.mark.parametrize("chunk", [None, 1, 4])
def test_the_size_of_chunks_keeps_the_bits_of_a_network(spiking, swept, chunk):
    again = jn.sweep(spiking, GRID, chunk=chunk)
    np.testing.assert_array_equal(again["counts"], swept["counts"])
    np.testing.assert_array_equal(again["v"], swept["v"])


def test_arrays_of_the_network_are_arguments_without_a_batch(net, spiking):
    program = SweepProgram(spiking, {"gain": np.float32(1), "seed": np.int32(1)})
    text = program._lower(7).as_text()
    entries = net.n_synapses
    main = next(line for line in text.splitlines() if "func.func public @main" in line)
    assert f"tensor<{entries}xf32>" in main
    assert f"tensor<7x{entries}x" not in text
    assert all(len(line) < 2000 for line in text.splitlines() if "stablehlo.constant" in line)


class Pair(NamedTuple):
    total: jax.Array
    parts: dict


def test_a_list_of_points_has_one_axis():
    def fn(a, b):
        return Pair(a.sum() + b, {"b": b, "a": a})

    points = [{"a": np.array([k, 2.0 * k]), "b": 10.0 * k} for k in range(5)]
    result = jn.sweep(fn, points, chunk=2)
    assert isinstance(result.values, Pair)
    np.testing.assert_array_equal(result["total"], 13.0 * np.arange(5))
    np.testing.assert_array_equal(result["parts"]["a"][:, 1], 2.0 * np.arange(5))
    assert result["parts"]["b"].dtype == np.float32
    table = result.to_pandas()
    assert list(table) == ["a", "b", "parts.a", "parts.b", "total"] or "total" in table
    assert "5 points (list" in repr(result)


def test_a_table_has_a_row_per_point():
    result = jn.sweep(
        lambda x, y: {"sum": x + y, "x": x}, {"x": [1.0, 2.0], "y": [10.0, 20.0, 30.0]}
    )
    table = result.to_pandas()
    assert list(table) == ["x", "y", "sum", "result x"]
    np.testing.assert_array_equal(table["sum"], (table["x"] + table["y"]).to_numpy())
    np.testing.assert_array_equal(table["sum"], result["sum"].ravel())
    assert "chunks of" in repr(result)
    assert result.shape == (2, 3)


def test_an_unknown_result_is_named():
    result = jn.sweep(lambda x: {"rate": x}, {"x": [1.0]})
    with pytest.raises(ValueError, match="did you mean 'rate'"):
        result["rates"]
    with pytest.raises(ValueError, match=r"not one array; take one of .*'rate'"):
        np.asarray(result)


def test_one_array_without_a_name(caplog):
    result = jn.sweep(lambda x: jnp.log(x), [{"x": 2.0}, {"x": -1.0}])
    np.testing.assert_array_equal(np.asarray(result), result.values)
    assert "results of 1 of 2 points are NaN, first at x=-1." in caplog.text
    with pytest.raises(ValueError, match=r"returned one array, .* result\.values, shape \(2,\)"):
        result["rate"]


def test_a_long_sweep_says_how_long(monkeypatch, caplog):
    monkeypatch.setattr("jaxneuro.parallel._sweep._LONG_S", 0.0)
    jn.sweep(lambda x: x, {"x": np.arange(2000.0)}, progress=False)
    assert re.search(r"\d points take about 0 minutes more", caplog.text)


def test_a_dataset_has_the_axes_as_dimensions():
    pytest.importorskip("xarray")
    result = jn.sweep(
        lambda x, y: {"s": x + y, "t": jnp.arange(3.0) * x}, {"x": [1.0, 2.0], "y": [1.0]}
    )
    data = result.to_xarray()
    assert data["t"].dims == ("x", "y", "t_0")
    assert float(data["s"].sel(x=2.0, y=1.0)) == 3.0
    points = jn.sweep(lambda x: x, [{"x": 1.0}, {"x": 4.0}]).to_xarray()
    assert points["value"].dims == ("point",)


LENGTHS = st.sampled_from([(1,), (7,), (2, 3), (3, 1, 5)])


@given(LENGTHS, st.sampled_from([None, 1, 3, 4]), st.integers(0, 10**6))
@settings(max_examples=15)
def test_every_point_runs_once_in_its_place(lengths, chunk, seed):
    draw = np.random.default_rng(seed)
    names = "abc"[: len(lengths)]
    grid = {k: draw.normal(size=n).astype(np.float32) for k, n in zip(names, lengths)}
    functions = {1: lambda a: a, 2: lambda a, b: a - b, 3: lambda a, b, c: a - b * c}
    fn = functions[len(lengths)]
    result = jn.sweep(fn, grid, chunk=chunk)
    expected = fn(*np.meshgrid(*grid.values(), indexing="ij"))
    np.testing.assert_allclose(result.values, expected, rtol=1e-6, atol=1e-6)


def test_chunks_run_at_once_in_as_many_threads_as_kernels(monkeypatch):
    barrier, names = threading.Barrier(2, timeout=20), set()
    original = SweepProgram.run

    def run(self, size, batch):
        names.add(threading.get_ident())
        barrier.wait()  # both are here at the same time, or this breaks
        return original(self, size, batch)

    monkeypatch.setattr(SweepProgram, "run", run)
    monkeypatch.setattr("jaxneuro.parallel._sweep.cores", lambda: 2)
    monkeypatch.setattr("jaxneuro.parallel._sweep.pool_threads", lambda: 2)
    before = threads(2)
    try:
        result = jn.sweep(lambda x: 2 * x, {"x": np.arange(8.0)}, chunk=1)
        assert threads() == before
    finally:
        threads(1)
    np.testing.assert_array_equal(result.values, 2 * np.arange(8.0))
    assert len(names) == 2


def test_a_small_pool_of_xla_is_reported(monkeypatch, caplog):
    monkeypatch.setattr("jaxneuro.parallel._sweep.cores", lambda: 4)
    monkeypatch.setenv("NPROC", "1")
    before = threads()
    try:
        threads(4)
        jn.sweep(lambda x: 2 * x, {"x": np.arange(8.0)})
    finally:
        threads(before)
    assert "1 of 4 cores are used" in caplog.text
    assert "configure_cpu(xla_threads=4)" in caplog.text


def test_sizes_that_were_measured_are_results(monkeypatch):
    """A program whose seconds per point fall up to chunks of 64."""
    original = SweepProgram.run

    def run(self, size, batch):
        time.sleep(size * {16: 4e-4, 64: 1e-4, 256: 8e-4}[size])
        return original(self, size, batch)

    monkeypatch.setattr(SweepProgram, "run", run)
    monkeypatch.setattr("jaxneuro.parallel._sweep._WORTH", 0.0)
    result = jn.sweep(lambda x: 3 * x, {"x": np.arange(1100)})
    np.testing.assert_array_equal(result.values, 3 * np.arange(1100))
    assert set(result.tried) == {16, 64, 256}
    assert result.chunk == 64


def test_no_size_is_tried_where_compiling_takes_longer(spiking):
    assert set(jn.sweep(spiking, GRID).tried) == {15}


def test_progress_counts_points(capsys):
    jn.sweep(lambda x: x, {"x": np.arange(40.0)}, chunk=10, progress=True)
    assert "40" in capsys.readouterr().err


@pytest.mark.usefixtures("x64")
def test_in_64_bits():
    result = jn.sweep(lambda x: x * x, {"x": np.array([0.1, 0.2])}, chunk=1)
    np.testing.assert_array_equal(result.values, np.array([0.1, 0.2]) ** 2)
    assert result.values.dtype == np.float64
