"""A sweep that was cut off goes on: after SIGKILL, Ctrl-C, a broken file; no other sweep does."""

import os
import signal
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.parallel._sweep_program import SweepProgram
from jaxneuro.parallel._sweep_store import SweepStore
from tests.store import STRICT

GRID = {"a": np.linspace(0.0, 1.0, 5), "b": np.arange(8.0)}
EXPECTED = GRID["a"].astype(np.float32)[:, None] * GRID["b"].astype(np.float32)
# Slow enough to be killed: each chunk of two points waits.
SCRIPT = """
import signal, sys, time
import numpy as np
import jaxneuro as jn
from jaxneuro.parallel._sweep_program import SweepProgram
from jaxneuro.parallel._sweep_store import SweepStore

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
original = SweepProgram.run
def run(self, size, batch):
    time.sleep(float(sys.argv[2]))
    print("chunk", flush=True)
    return original(self, size, batch)
SweepProgram.run = run
grid = {"a": np.linspace(0.0, 1.0, 5), "b": np.arange(8.0)}
try:
    result = jn.sweep(lambda a, b: a * b, grid, save=sys.argv[1], chunk=2, progress=False)
    print("found", result.found, "sum", result.values.sum())
except KeyboardInterrupt as error:
    print("interrupted:", error)
"""


def fn(a, b):
    return a * b


@pytest.fixture
def ran(monkeypatch):
    """The numbers of points that programs were asked for, chunk by chunk."""
    asked, original = [], SweepProgram.run

    def run(self, size, batch):
        asked.append(len(batch[self.names[0]]))
        return original(self, size, batch)

    monkeypatch.setattr(SweepProgram, "run", run)
    return asked


def start(folder, seconds, threads=1):
    environment = {**os.environ, "JAXNEURO_THREADS": str(threads), "NPROC": str(threads)}
    return subprocess.Popen(
        [sys.executable, *STRICT, "-c", SCRIPT, str(folder), str(seconds)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def chunks_in(folder):
    return sorted(folder.glob("part-*.npz"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of a sweep that was killed while its eighth chunk ran or was written."""
    folder = tmp_path_factory.mktemp("killed") / "sweep"
    process = start(folder, 0.15)
    for _ in range(8):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return folder


@pytest.mark.slow
def test_what_was_finished_before_a_kill_is_not_run_again(killed, ran):
    saved = len(chunks_in(killed))
    assert saved >= 7  # one worker: at most the chunk in flight is lost
    result = jn.sweep(fn, GRID, save=killed, chunk=3)  # another size, another process
    np.testing.assert_array_equal(result.values, EXPECTED)
    assert result.found == 2 * saved
    assert sum(ran) == 40 - 2 * saved
    again = jn.sweep(fn, GRID, save=killed)
    np.testing.assert_array_equal(again.values, EXPECTED)
    assert (again.found, again.chunk) == (40, 0)
    assert repr(again).endswith("; all read from the folder")


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    process = start(tmp_path, 0.1)
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    printed = process.communicate(timeout=60)[0]
    kept = 2 * len(chunks_in(tmp_path))
    assert 6 <= kept < 40
    assert f"{kept} of 40 points are kept" in printed
    result = jn.sweep(fn, GRID, save=tmp_path)
    assert result.found == kept
    np.testing.assert_array_equal(result.values, EXPECTED)


class StopError(Exception):
    """What a handler of a signal raises."""


def test_a_signal_ends_a_sweep_when_its_threads_have_ended(tmp_path, monkeypatch):
    def run(self, size, batch):
        time.sleep(0.05)
        return [np.asarray(fn(batch["a"], batch["b"]), np.float32)]

    def stop(*_):
        raise StopError

    jn.sweep(fn, GRID)  # compiled before the clock runs
    monkeypatch.setattr(SweepProgram, "run", run)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(StopError):
            jn.sweep(fn, GRID, save=tmp_path, chunk=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert not [thread for thread in threading.enumerate() if thread.name == "sweep"]
    assert 0 < len(chunks_in(tmp_path)) < 40


def test_a_broken_chunk_is_named_and_runs_again(tmp_path, ran, caplog):
    jn.sweep(fn, GRID, save=tmp_path, chunk=10)
    first, second, *_ = chunks_in(tmp_path)
    first.write_bytes(first.read_bytes()[:100])
    second.unlink()
    ran.clear()
    result = jn.sweep(fn, GRID, save=tmp_path)
    np.testing.assert_array_equal(result.values, EXPECTED)
    assert sum(ran) == 20
    assert first.name in caplog.text


def test_half_written_chunks_are_not_read(tmp_path, ran):
    jn.sweep(fn, GRID, save=tmp_path, chunk=40)
    (whole,) = chunks_in(tmp_path)
    half = tmp_path / f".{whole.name}.1.part"
    half.write_bytes(whole.read_bytes()[:100])
    whole.unlink()
    ran.clear()
    jn.sweep(fn, GRID, save=tmp_path)
    assert sum(ran) == 40
    assert not half.exists()


def test_a_folder_that_another_sweep_writes_is_refused(tmp_path):
    with SweepStore(tmp_path), pytest.raises(RuntimeError, match="being written"):
        jn.sweep(fn, GRID, save=tmp_path)


def test_what_numpy_does_not_know_is_saved(tmp_path):
    def fn(x):
        return {"half": x.astype(jnp.bfloat16), "none": None, "bool": x > 1}

    for _ in range(2):
        result = jn.sweep(fn, {"x": np.arange(3.0)}, save=tmp_path)
        assert result["half"].dtype == jnp.bfloat16
        np.testing.assert_array_equal(result["half"].astype(float), [0.0, 1.0, 2.0])
        np.testing.assert_array_equal(result["bool"], [False, False, True])
    assert result.found == 3


def scaled(table):
    return lambda a, b: a * b * jnp.sum(table)


@pytest.mark.parametrize(
    ("what", "other", "grid"),
    [
        ("grid", scaled(jnp.arange(3.0)), {**GRID, "a": GRID["a"] + 1}),
        ("grid", scaled(jnp.arange(3.0)), {"b": GRID["b"], "a": GRID["a"]}),
        ("arrays in the function", scaled(jnp.arange(3.0) + 1), GRID),
        ("arrays in the function", scaled(np.arange(1, 4, dtype=np.float32)), GRID),
        ("function", lambda a, b: a + b * jnp.sum(jnp.arange(3.0)), GRID),
    ],
)
def test_the_folder_of_another_sweep_is_refused(tmp_path, what, other, grid):
    jn.sweep(scaled(jnp.arange(3.0)), GRID, save=tmp_path)
    with pytest.raises(ValueError, match=f"save must be .*that of another .*{what}"):
        jn.sweep(other, grid, save=tmp_path)


def test_an_array_in_a_jitted_function_counts(tmp_path):
    def inner(table):
        hidden = jax.jit(lambda a: a * jnp.sum(table))
        return lambda a: hidden(a)

    jn.sweep(inner(jnp.arange(3.0)), {"a": [1.0]}, save=tmp_path)
    with pytest.raises(ValueError, match="that of another"):
        jn.sweep(inner(jnp.arange(3.0) + 1), {"a": [1.0]}, save=tmp_path)


def test_a_folder_without_its_description_is_refused(tmp_path):
    jn.sweep(fn, GRID, save=tmp_path)
    about = tmp_path / "run.npz"
    about.write_text("{")
    with pytest.raises(ValueError, match=r"run\.npz' must be"):
        jn.sweep(fn, GRID, save=tmp_path)
    about.unlink()
    with pytest.raises(ValueError, match="save must be empty"):
        jn.sweep(fn, GRID, save=tmp_path)


def test_a_chunk_is_on_disk_when_a_later_one_fails(tmp_path, monkeypatch):
    original = SweepProgram.run

    def run(self, size, batch):
        if 6.0 in batch["b"]:
            raise FloatingPointError("overflow")
        time.sleep(0.01)
        return original(self, size, batch)

    monkeypatch.setattr(SweepProgram, "run", run)
    message = r"failed at a=0\.0?, b=6\.0?: overflow"
    with pytest.raises(RuntimeError, match=message):
        jn.sweep(fn, GRID, save=tmp_path, chunk=4)
    assert len(chunks_in(tmp_path)) == 1
