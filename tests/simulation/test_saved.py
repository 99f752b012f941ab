"""Runs in folders: they go on after whatever stopped them, with the bits of one run."""

import dataclasses
import errno
import os
import pickle
import shutil
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._disk import values
from jaxneuro._disk.folder import FolderInUseError
from jaxneuro._run import saved as module
from jaxneuro._run import simulate as loop
from jaxneuro._run.part_files import RUN, NpzParts, SonataParts
from tests.network.networks import balanced
from tests.refusing import assert_refused
from tests.simulation.test_files import NET, RECORD, same

MS, EVERY = 30.0, 7.0
RULE = jn.plasticity.PairSTDP(w_max=12.0)


def plastic():
    made = balanced(delay=jn.Uniform(0.5, 8.0))
    learned = [
        dataclasses.replace(p, plasticity=RULE if p.name == "E->E" else None)
        for p in made.projections
    ]
    return jn.build(dataclasses.replace(made, projections=learned), 1, 0.1)


def run(folder, ms=MS, net=NET, record=RECORD, **more):
    return jn.simulate(net, ms, key=5, record=record, save=folder, every=EVERY, **more)


def all_of(result):
    """Everything that a result says, as arrays in memory."""
    fields = ("traces", "means", "lfp", "function", "weights", "weight_histograms", "counts")
    arrays = {k: jax.tree.map(np.asarray, getattr(result, k)) for k in (*fields, "statistics")}
    spikes = {k: result.events(k) for k in result.spikes}
    return arrays, spikes, result.sample_times, result.state, result.n_steps


def as_one(result, net=NET, record=RECORD, **more):
    """Compares with one run that is not saved."""
    one = jn.simulate(net, result.duration, key=5, record=record, **more)
    for mine, its in zip(all_of(result), all_of(one)):
        same(jax.tree.map(np.asarray, mine), jax.tree.map(np.asarray, its))


@pytest.fixture(params=[NpzParts, SonataParts])
def parts(request, monkeypatch):
    """Each kind of files in turn."""
    monkeypatch.setattr(module, "parts_here", request.param)
    return request.param


@pytest.mark.slow
def test_it_has_the_bits_of_one_run_and_goes_further(tmp_path, parts):
    result = run(tmp_path, 11.1)
    as_one(result)
    assert repr(result).startswith("Result: 11.1 ms")
    result = run(tmp_path)
    as_one(result)
    assert sorted(x.name for x in tmp_path.glob("state*")) == [
        "state-000005.npz",
        "state-000006.npz",
    ]
    for name in "EI":
        for window in ((3.0, 12.0), (7.0, 7.7), (0.0, 30.0), (29.0, 30.0)):
            one = jn.simulate(NET, MS, key=5).events(name, *window)
            same(one, result.events(name, *window))
        same(result.neurons_at("E", 100), jn.simulate(NET, MS, key=5).neurons_at("E", 100))
    result.save(tmp_path / "one.npz")
    for mine, its in zip(all_of(jn.Result.load(tmp_path / "one.npz"))[:3], all_of(result)[:3]):
        same(mine, its)


@pytest.mark.slow(but=["NpzParts-window0"])
@pytest.mark.parametrize("window", [(None, None), (3.0, 12.0), (7.0, None), (29.9, 30.0)])
def test_the_spikes_of_some_neurons(window, tmp_path, parts):
    saved, whole = run(tmp_path), jn.simulate(NET, MS, key=5)
    every = whole.spikes.between("E", *window)
    some = [NET.populations["E"] - 1, 0, 5]
    for which in (some, slice(None, None, 7), np.arange(NET.populations["E"]) % 3 == 0):
        numbers = np.arange(NET.populations["E"])[which]
        for result in (whole, saved):
            trains = result.spikes.between("E", *window, neurons=which)
            assert (trains.n, trains.start, trains.stop) == (
                numbers.size,
                every.start,
                every.stop,
            )
            same([trains.of(k) for k in range(trains.n)], [every.of(k) for k in numbers])
    assert len(whole.spikes["E"]) > 20
    for bad in ([NET.populations["E"]], [-1], [2, 2], [], "E", 0.5):
        with pytest.raises(jn.InvalidValueError, match="between: neurons"):
            saved.spikes.between("E", neurons=bad)


@pytest.mark.slow
def test_a_finished_run_is_read_and_not_run_again(tmp_path, monkeypatch):
    made = run(tmp_path)
    monkeypatch.setattr(loop, "program", None)
    again = run(tmp_path)
    for mine, its in zip(all_of(again), all_of(made)):
        same(jax.tree.map(np.asarray, mine), jax.tree.map(np.asarray, its))
    opened = jn.Recording.open(tmp_path)
    assert opened.network is None
    same(all_of(opened)[:3], all_of(made)[:3])
    same(opened.state.on(NET), made.state)
    with pytest.raises(jn.InvalidValueError, match="duration must be 30 ms or more"):
        run(tmp_path, 10.0)


@pytest.mark.slow(but=["NpzParts"])
def test_plastic_weights_and_statistics(tmp_path, parts):
    chosen = {"weights": {"E->E": ...}, "weight_histograms": {"E->E": 5}, "statistics": "E"}
    record = jn.Record(**chosen, interval=3.0, spikes=parts is NpzParts)
    net = plastic()
    for ms in (4.0, 9.0, 30.0):
        result = run(tmp_path, ms, net, record)
        as_one(result, net, record)
    x = np.asarray(result.weights["E->E"])
    assert np.ptp(x[-1]) > 0
    same(result.weights_to_pandas("E->E").to_numpy(), x)


def test_inputs_and_a_bare_neuron(tmp_path):
    current = np.linspace(0.0, 400.0, 300)
    for ms, n in ((10.0, 100), (30.0, 300)):
        result = run(tmp_path / "net", ms, inputs={"E": current[:n]})
    as_one(result, inputs={"E": current})
    current[50] += 1.0
    with pytest.raises(jn.InvalidValueError, match="input of 'E': others in the first 30 ms"):
        run(tmp_path / "net", inputs={"E": current})
    alone = {
        "current": current[:, None],
        "dt": 0.1,
        "record": jn.Record(variables={"neurons": "v"}),
    }
    saved = jn.simulate(jn.neurons.LIF(), save=tmp_path / "alone", every=4.0, **alone)
    one = jn.simulate(jn.neurons.LIF(), **alone)
    same(np.asarray(saved.traces["neurons"]["v"]), one.traces["neurons"]["v"])


@pytest.mark.slow
def test_a_run_that_goes_on_from_another(tmp_path):
    first = jn.simulate(NET, 3.3, key=5)
    for ms in (8.0, 16.7):
        saved = jn.simulate(NET, ms, state=first, record=RECORD, save=tmp_path, every=EVERY)
    one = jn.simulate(NET, 16.7, state=first, record=RECORD)
    for mine, its in zip(all_of(saved), all_of(one)):
        same(jax.tree.map(np.asarray, mine), jax.tree.map(np.asarray, its))
    other = jn.simulate(NET, 3.3, key=5, inputs={"E": 1.0})
    with pytest.raises(jn.InvalidValueError, match="state: it starts from another one"):
        jn.simulate(NET, 16.7, state=other, record=RECORD, save=tmp_path, every=EVERY)


OTHERS = {
    "key": (lambda: {"key": 6}, "key: 6, was 5"),
    "record": (lambda: {"record": jn.Record()}, "record: variables {}, was"),
    "parameter": (lambda: {"model": NET.set("E", v_th=-49.0)}, "population 'E': v_th -49"),
    "weight": (lambda: {"model": NET.set("E->E", weight=0.5)}, "projection 'E->E': weight 0.5"),
    "built with another key": (
        lambda: {"model": jn.build(DESCRIBED, 2, 0.1)},
        r"projection 'E->E'.*: synapses [\d,]+, was [\d,]+",
    ),
    "delays": (
        lambda: {"model": jn.build(balanced(delay=jn.Uniform(0.5, 7.0)), 1, 0.1)},
        r"projection 'E->E'.*: synapses [\d,]+, was [\d,]+, others",
    ),
    "dt": (lambda: {"model": jn.build(DESCRIBED, 1, 0.05)}, "network: dt 0.05 ms, was 0.1 ms"),
    "inputs": (lambda: {"inputs": {"E": 1.0}}, r"inputs: \['E'\], was \[\]"),
}
DESCRIBED = balanced(delay=jn.Uniform(0.5, 8.0))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    run(folder)
    return folder


@pytest.mark.slow(but=["key"])
@pytest.mark.parametrize(("changed", "message"), OTHERS.values(), ids=OTHERS.keys())
def test_another_run_is_refused_with_the_difference(saved, changed, message):
    given = {"model": NET, "key": 5, "record": RECORD} | changed()
    before = {x.name: x.read_bytes() for x in saved.iterdir()}
    with pytest.raises(jn.InvalidValueError, match=message):
        jn.simulate(duration=MS, save=saved, every=EVERY, **given)
    assert {x.name: x.read_bytes() for x in saved.iterdir()} == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"save": "x"}, "every must be one number"),
        ({"every": 5.0}, "every must be None without save="),
        ({"save": "x", "every": 0.0}, "every must be"),
        ({"save": "x", "every": 0.03}, "every"),
        ({"save": 3, "every": 5.0}, "save must be"),
        ({"save": __file__, "every": 5.0}, "save must be a folder"),
        ({"save": os.path.dirname(__file__), "every": 5.0}, "save must be empty"),
    ],
)
def test_bad_input(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jn.InvalidValueError, match=message):
        jn.simulate(NET, 1.0, **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["", "nowhere", "a file", None, "a\0b"])
def test_what_is_no_run_is_not_opened(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").touch()
    assert_refused(lambda: jn.Recording.open(path), "Recording.open", "path")
    assert_refused(lambda: jn.Recording.open(tmp_path), "Recording.open", "path")


def test_ctrl_c_saves_what_is_finished(tmp_path):
    def stop(result):
        if result.stop == 10.0:
            raise KeyboardInterrupt

    with pytest.raises(jn.Interrupted, match="the same call goes on") as stopped:
        run(tmp_path, callback=stop, check_interval=5.0)
    assert stopped.value.result.duration == 10.0
    as_one(stopped.value.result)
    assert jn.Recording.open(tmp_path).duration == 10.0
    as_one(run(tmp_path))


@pytest.mark.parametrize("when", ["before", "after"])
def test_ctrl_c_while_an_interval_is_handed_over(tmp_path, monkeypatch, when):
    calls, whole = [], module.RunFolder.write_meanwhile

    def stop(self, *given):
        calls.append(1)
        if len(calls) != 2:
            return whole(self, *given)
        if when == "after":
            whole(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(module.RunFolder, "write_meanwhile", stop)
    with pytest.raises(jn.Interrupted) as stopped:
        run(tmp_path)
    as_one(stopped.value.result)
    assert jn.Recording.open(tmp_path).n_steps == stopped.value.result.n_steps >= 140
    as_one(run(tmp_path))


def test_ctrl_c_just_after_an_interval_is_handed_over(tmp_path, monkeypatch):
    calls, begins = [], loop._Run._begin_next

    def stop(self):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        begins(self)

    monkeypatch.setattr(loop._Run, "_begin_next", stop)
    with pytest.raises(jn.Interrupted) as stopped:
        run(tmp_path)
    as_one(stopped.value.result)
    as_one(run(tmp_path))


def test_ctrl_c_before_the_first_step_loses_no_counts(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    record = jn.Record(spikes=False, rates=True)
    with monkeypatch.context() as patch:
        patch.setattr(loop._Run, "_compile", stop)
        with pytest.raises(jn.Interrupted):
            run(tmp_path, record=record)
    as_one(run(tmp_path, record=record), record=record)


def test_memory_is_asked_for_once(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(loop, "available_memory", lambda: asked.append(1) or 10**12)
    run(tmp_path)
    assert len(asked) == 1


def test_samples_of_a_function_need_memory_too(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "available_memory", lambda: 10**6)
    record = jn.Record(function=lambda state, output: np.zeros(10**6, np.float32))
    with pytest.raises(ValueError, match="must fit in the memory"):
        run(tmp_path, record=record)


@pytest.mark.slow
def test_numbers_that_no_file_knows(tmp_path, parts):
    seen, record = [], jn.Record(function=lambda s, _: s.step.astype(jnp.bfloat16), interval=1.0)
    look = lambda r: seen.append(np.asarray(r.function))  # noqa: E731
    result = run(tmp_path, record=record, callback=look, check_interval=5.0)
    for x in (*seen, np.asarray(result.function)):
        np.testing.assert_array_equal(x, jnp.arange(10, 301, 10, jnp.bfloat16)[: x.size])
    assert [x.size for x in seen] == [5, 10, 15, 20, 25, 30]


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="cannot lock files") as refused:
        run(tmp_path)
    assert not isinstance(refused.value, FolderInUseError)


def test_what_is_shown_of_spikes_reads_none(saved, monkeypatch):
    read = SonataParts.read
    text = repr(jn.Recording.open(saved).spikes)
    monkeypatch.setattr(SonataParts, "read", None)
    assert repr(jn.Recording.open(saved).spikes) == text
    monkeypatch.setattr(SonataParts, "read", read)
    assert repr(jn.simulate(NET, MS, key=5).spikes) == text


@pytest.mark.slow
def test_a_condition_that_held_is_kept(tmp_path):
    asked = []

    def until(result):
        asked.append(result.stop)
        assert len(result.events("E")[0]) == len(result.spikes["E"])
        return result.stop >= 20.0

    ended = run(tmp_path, until=until, check_interval=4.0)
    assert ended.until_held
    assert asked == [4.0, 8.0, 12.0, 16.0, 20.0]
    as_one(ended)
    again = run(tmp_path, until=until, check_interval=4.0)
    assert (again.duration, again.until_held) == (20.0, True)
    assert asked[5:] == [20.0]  # nothing is run again
    later = run(tmp_path, until=lambda x: x.stop >= 24.0, check_interval=4.0)
    assert (later.duration, later.until_held) == (24.0, True)
    further = run(tmp_path)
    assert not further.until_held
    as_one(further)


def test_one_writes_at_a_time(tmp_path):
    def nested(result):
        with pytest.raises(FolderInUseError):
            run(tmp_path)

    run(tmp_path, callback=nested, check_interval=MS)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "parts_here", NpzParts)
    written, whole = [], values.write_npz

    def full(file, arrays):
        written.append(1)
        if len(written) > 6:
            file.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(file, arrays)

    monkeypatch.setattr(values, "write_npz", full)
    with pytest.raises(OSError, match=r"No space left on device.*the same call goes on") as error:
        run(tmp_path)
    assert error.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert not list(tmp_path.glob(".*"))
    kept = jn.Recording.open(tmp_path).duration
    assert kept == 14.0
    as_one(run(tmp_path))


FULL = """
import resource
import sys
import numpy as np
import jaxneuro as jn
record = jn.Record(variables={"neurons": "v"})
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    jn.simulate(
        jn.neurons.LIF(), current=np.zeros((20_000, 1)), dt=0.1, record=record, save=sys.argv[1],
        every=2_000.0, progress=False,
    )
except OSError as error:
    print(error)
"""


@pytest.mark.slow
def test_hdf5_on_a_full_disk_does_not_crash(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "File too large" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("file", ["part-000001.h5", "part-000001.v.h5"])
def test_a_bit_that_flips_in_hdf5_changes_no_number(saved, tmp_path, file):
    def read():
        header, shapes = SonataParts().header(tmp_path / "part-000001")
        names = [x for x in shapes if not x.startswith("samples/traces/") or file.endswith(".v.h5")]
        arrays = {name: SonataParts().read(tmp_path / "part-000001", name) for name in names}
        return header.tolist(), arrays

    for part in saved.glob("part-000001.*"):
        shutil.copy(part, tmp_path)
    whole, first = (saved / file).read_bytes(), read()
    random, refused = np.random.default_rng(0), 0
    for bit in random.choice(8 * len(whole), 200, replace=False):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        (tmp_path / file).write_bytes(data)
        try:
            same(read(), first)
        except ValueError:
            refused += 1
    assert refused > 20


@pytest.mark.slow(but=["0.0"])
@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
def test_a_state_that_is_cut_off_is_named_and_the_one_before_is_there(tmp_path, part):
    run(tmp_path)
    last = max(tmp_path.glob("state-*.npz"))
    last.write_bytes(last.read_bytes()[: int(part * last.stat().st_size)])
    for use in (run, jn.Recording.open):
        with pytest.raises(jn.InvalidValueError, match=f"{last.name}' must be a whole file") as e:
            use(tmp_path)
        assert "goes on from 4" in e.value.__notes__[0]
    last.unlink()
    as_one(run(tmp_path))


def test_parts_whose_states_are_gone_are_not_deleted(tmp_path):
    run(tmp_path)
    for state in tmp_path.glob("state-*.npz"):
        state.unlink()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(jn.InvalidValueError, match="save must be a folder with its last state"):
        run(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_part_that_is_cut_off_is_named_where_it_is_read(tmp_path, parts):
    run(tmp_path)
    first = tmp_path / f"part-000000.{'npz' if parts is NpzParts else 'h5'}"
    first.write_bytes(first.read_bytes()[:-100])
    with pytest.raises(jn.InvalidValueError, match=f"{first.name}' must be a whole file") as error:
        jn.Recording.open(tmp_path).events("E")
    assert error.value.owner == "Recording.open"
    before = sorted(tmp_path.iterdir())
    for _ in range(2):  # it is found before anything is run, as one that is missing
        with pytest.raises(jn.InvalidValueError, match="save must be a folder whose part-000000"):
            run(tmp_path, 2 * MS)
        assert sorted(tmp_path.iterdir()) == before
        first.unlink(missing_ok=True)
        before = sorted(tmp_path.iterdir())


def test_a_function_of_another_structure_is_refused(tmp_path):
    run(tmp_path, record=jn.Record(function=lambda s, o: {"step": s.step}, interval=1.0))
    with pytest.raises(
        jn.InvalidValueError, match=r"record: samples of function .*int32\[\].*, was"
    ):
        run(tmp_path, record=jn.Record(function=lambda s, o: s.step, interval=1.0))


def test_the_working_directory_may_change(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    result = run("run", callback=lambda _: os.chdir(tmp_path / "elsewhere"), check_interval=10.0)
    as_one(result)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def refuse(*given):
        raise PermissionError(13, "Permission denied", "lock")

    monkeypatch.setattr("jaxneuro._disk.folder.open", refuse, raising=False)
    with pytest.raises(OSError, match=r"simulate: .*run cannot be written \(Permission denied\)"):
        run(tmp_path / "run")


def test_a_variable_whose_files_are_missing_is_named(tmp_path):
    run(tmp_path)
    for file in tmp_path.glob("part-*.v.h5"):
        file.unlink()
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.Recording.open(tmp_path)
    assert caught.value.owner == "Recording.open"
    assert "part-000000" in caught.value.field
    assert "'samples/traces/E/v'" in caught.value.must
    assert "part-000000.refractory.h5" in caught.value.got


def test_what_is_read_of_an_opened_run_is_pickled(saved):
    opened = jn.Recording.open(saved)
    same(all_of(pickle.loads(pickle.dumps(opened)))[:3], all_of(opened)[:3])


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RUN", dataclasses.replace(RUN, version=99))
    run(tmp_path)
    monkeypatch.undo()
    for use in (run, jn.Recording.open):
        with pytest.raises(jn.InvalidValueError, match=r"version 1; got 99"):
            use(tmp_path)


def test_arrays_on_disk_are_indexed_as_arrays(saved):
    opened = jn.Recording.open(saved)
    lazy, whole = opened.traces["E"]["v"], np.asarray(opened.traces["E"]["v"])
    assert (lazy.shape, lazy.dtype, lazy.ndim, len(lazy)) == (
        whole.shape,
        whole.dtype,
        whole.ndim,
        len(whole),
    )
    n = len(whole)
    mask = np.arange(n) % 3 == 0
    rows = (3, -1, slice(None), slice(5, 20), slice(None, None, -2), slice(30, 3, -4), slice(9, 9))
    for index in (*rows, [4, -2, 8], np.array([30, 1]), mask, ..., (slice(2, 9), 1), (4, 0)):
        np.testing.assert_array_equal(lazy[index], whole[index], err_msg=str(index))
    np.testing.assert_array_equal(lazy[:, 1], whole[:, 1])
    for bad in (n, -n - 1, [0, n]):
        with pytest.raises(IndexError):
            lazy[bad]


SCRIPT = """
import sys
import jax
import jaxneuro as jn
from tests.simulation.test_saved import MS, plastic
jn.configure_cpu(cache=sys.argv[2])
net = plastic()
print("ready", flush=True)
record = jn.Record(variables={"E": "v"}, interval=0.5)
ms = float(sys.argv[3])
jn.simulate(net, ms, key=5, record=record, save=sys.argv[1], every=5.0, progress=False)
"""
KILLS = int(os.environ.get("JAXNEURO_KILLS", "10"))  # 100 takes ten minutes


@pytest.mark.slow
def test_killed_again_and_again_it_has_the_bits_of_one_run(tmp_path):
    """At random moments: while it compiles, runs, and writes; nothing that counted is lost."""
    random, done, kills, patience = np.random.default_rng(3), 0, 0, 0.0
    folder, ms = tmp_path / "run", 20.0 * KILLS + 400.0
    while True:
        places = str(folder), str(tmp_path / "programs")
        command = [sys.executable, "-c", SCRIPT, *places, str(ms)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        begin = time.monotonic()
        while patience == 0.0 and not list(folder.glob("state-*.npz")):
            time.sleep(0.01)
        # From the second on half of them compile, and the others come to some intervals.
        patience = patience or time.monotonic() - begin
        try:
            process.wait(random.uniform(0.0, patience) if kills < KILLS else 600.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        now = jn.Recording.open(folder)
        assert now.n_steps >= done
        done = now.n_steps
        if process.returncode == 0:
            break
        kills += 1
    record = jn.Record(variables={"E": "v"}, interval=0.5)
    one = jn.simulate(plastic(), ms, key=5, record=record)
    result = jn.Recording.open(folder)
    same(all_of(result)[:3], all_of(one)[:3])
    same(result.state.on(plastic()), one.state)
    print(f"{kills} kills")
    assert kills >= min(KILLS, 5)
