"""`python -m jaxneuro` as a stranger uses it."""

import os
import platform
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import jax
import jaxlib
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.installed import cpu_features
from jaxneuro._kernels.native import SLOWER, library_path, native_available
from jaxneuro._kernels.threads import threads
from tests.io.files import JSON, TOML
from tests.store import STRICT

ROOT = Path(__file__).parents[2]


def command(*arguments):
    return [sys.executable, *STRICT, "-m", "jaxneuro", *map(str, arguments)]


def environment():
    # Not the 8 devices of the tests.
    env = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    return {**env, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}


def run(*arguments, folder=ROOT):
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.toml"
    path.write_text(TOML.replace("amplitude = 200.0", "amplitude = 500.0"))
    return path


@pytest.fixture
def main(tmp_path, monkeypatch):
    """The command line in this process, in a folder of its own."""
    from jaxneuro.__main__ import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jn, "configure_cpu", lambda **_: None)  # JAX has started in the tests
    return lambda *arguments: main([str(x) for x in arguments])


@pytest.mark.thorough
def test_a_run_is_saved(net, tmp_path):
    options = ("--seconds", 0.05, "--dt", 0.5, "--seed", 3, "--record", "I:v", "E->I:current")
    done = run(
        "run",
        net,
        *options,
        "--interval",
        5,
        "--out",
        "r.npz",
        "--figure",
        "r.png",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "real-time factor" in done.stdout
    assert "E: 20 neurons" in done.stdout
    assert (tmp_path / "r.png").stat().st_size > 5_000
    saved = jn.Result.load(tmp_path / "r.npz")
    built = jn.build(jn.io.read_description(net), 3, 0.5)
    record = jn.Record(variables={"I": "v", "E->I": "current"}, interval=5.0)
    direct = jn.simulate(built, 50.0, key=3, record=record)
    assert direct.events("I")[0].size > 0
    for name in ("E", "I"):
        for a, b in zip(saved.events(name), direct.events(name)):
            np.testing.assert_array_equal(a, b)
    assert saved.traces["I"]["v"].shape == (10, 5)
    np.testing.assert_array_equal(saved.traces["I"]["v"], direct.traces["I"]["v"])
    np.testing.assert_array_equal(saved.traces["E->I"]["current"], direct.traces["E->I"]["current"])


def test_the_example_of_the_help(main, tmp_path):
    from jaxneuro.__main__ import _EPILOG

    (line,) = (x for x in _EPILOG.splitlines() if "--record" in x)
    example = shlex.split(line)[3:]
    part = '"source": {"population": "E", "area": "left"},\n      "target": "I"'
    assert part in JSON
    (tmp_path / "net.json").write_text(JSON.replace(part, '"source": "I", "target": "E"'))
    assert main(*example, "--seconds", 0.01) == 0
    saved = jn.Result.load(tmp_path / "result.npz")
    assert saved.traces["I->E"]["current"].shape == (10, 20)


@pytest.mark.slow
def test_a_run_records_a_stimulation(main, tmp_path):
    """Its receptor, where it sends spikes."""
    old = '"stimulus": {"type": "Current", "amplitude": 200.0}'
    new = '"stimulus": {"type": "Poisson", "rate": 1e4}, "weight": 1, "synapse": "Exponential"'
    (tmp_path / "net.json").write_text(JSON.replace(old, new))
    options = ("--record", "Poisson->I:current", "--seconds", 0.005, "--out", "r.npz")
    assert main("run", "net.json", *options) == 0
    x = jn.Result.load(tmp_path / "r.npz").traces["Poisson->I"]["current"]
    assert x.shape == (50, 5)
    assert x[-1].min() > 0


def test_a_run_in_a_folder_records_into_it(main, net, tmp_path):
    options = ("--record", "E:v", "--interval", "1", "--save", "kept", "--every", "5")
    assert main("run", net, "--seconds", 0.01, *options) == 0
    assert jn.Recording.open(tmp_path / "kept").traces["E"]["v"].shape == (10, 20)


def test_a_population_without_intervals_has_no_cv(main, net, capsys):
    assert main("run", net, "--seconds", 0.001) == 0
    assert "E: 20 neurons, 0.00 Hz, CV -\n" in capsys.readouterr().out


@pytest.mark.slow
def test_info_builds_nothing(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(JSON.replace('"n": 5', '"n": 2000000000'))  # more than can be built
    done = run("info", path)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert rows["I"] == ["I", "2,000,000,000", "LIF"]
    assert rows["E"] == ["E", "20", "LIF", "Grid"]
    assert rows["E->I"][1] == "15,000,000,000"  # 15 of the 20 are in the area, p is 0.5
    assert rows["E->I"][-2:] == ["FixedProbability", "Exponential"]
    assert rows["E->I"][3] == "GB"
    assert float(rows["E->I"][2]) > 15
    assert rows["Current->I"] == ["Current->I", "Current", "I"]


def info(capsys):
    return dict(re.split(r" {2,}", x, maxsplit=1) for x in capsys.readouterr().out.splitlines())


def test_info_without_a_file_says_what_is_here(main, capsys):
    assert main("info") == 0
    rows = info(capsys)
    versions = [rows[x].split(",")[0] for x in ("jaxneuro", "jax", "jaxlib", "numpy")]
    assert versions == [x.__version__ for x in (jn, jax, jaxlib, np)]
    assert rows["python"].startswith(platform.python_version())
    assert rows["devices"].count("cpu:") == len(jax.devices())
    assert rows["threads"].startswith(f"{threads()} ")
    assert ("_cpu" in rows["native kernels"]) == native_available()


def test_info_where_no_kernels_are_loaded(main, capsys, monkeypatch):
    monkeypatch.setattr("jaxneuro._kernels.installed.library_or_why_not", lambda: "not built")
    monkeypatch.setattr("jaxneuro._kernels.threads.native_library", lambda: None)
    assert main("info") == 0
    rows = info(capsys)
    assert rows["native kernels"] == "not built"
    assert rows["threads"].startswith("no native kernel")


def test_features_of_a_cpu(tmp_path):
    (tmp_path / "x86").write_text("model name : A\nflags\t\t: fpu avx2 avx512fp16 popcnt\n")
    (tmp_path / "arm").write_text("Features\t: fp asimd\n")
    found = [cpu_features(tmp_path / name) for name in ("x86", "arm", "none")]
    assert found[:2] == ["popcnt, avx2", "asimd"]
    assert "not known" in found[2]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [None, 0, 60, 100_000])
def test_a_library_that_does_not_load_is_one_warning(kept, tmp_path):
    code = "from jaxneuro._kernels.native import native_library as f; print(f(), f())"
    path = tmp_path / "nothing.so"
    if kept is not None:
        if not native_available():
            pytest.skip("there is no native library here")
        path.write_bytes(library_path().read_bytes()[:kept])
    env = {**environment(), "JAXNEURO_NATIVE": str(path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "None None\n"
    (line,) = done.stderr.splitlines()
    assert "nothing.so" in line
    assert SLOWER in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "value", "row"),
    [("JAXNEURO_NATIVE", "off", "switched off"), ("JAX_PLATFORMS", "cuda", "JAX_PLATFORMS='cuda'")],
)
def test_info_of_what_is_not_there(variable, value, row):
    command = [sys.executable, "-m", "jaxneuro", "info"]
    env = {**environment(), variable: value}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0
    assert row in done.stdout


@pytest.fixture
def coupled(tmp_path):
    """Gap junctions, and two modulators of which one follows a signal."""
    cells = jn.Population("E", 30, jn.neurons.LIF())
    rule = jn.connectivity.FixedProbability(0.2)
    synapse = jn.synapses.Exponential()
    network = jn.Description(
        [cells],
        [jn.Projection("E", "E", rule, weight=1.0, delay=1.0, synapse=synapse)],
        couplings=[jn.Coupling("E", "E", rule, weight=1.0)],
        modulators=[
            jn.Modulator("calm", 5.0, {"E->E": {"gain": 0.5}}, signal="light"),
            jn.Modulator("da", 5.0, {"E": {"e_l": 0.01}}, source="E", highest=2.0, lowest=0.5),
        ],
    )
    jn.io.write_description(network, tmp_path / "coupled.json")
    return tmp_path / "coupled.json"


def test_info_of_couplings_and_modulators(main, coupled, capsys):
    assert main("info", coupled) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines() if line.strip()]
    assert "about 180 synapses, about 180 coupled neighbours" in printed
    totals = [row for row in rows if row[:2] == ["in", "all"]]
    parts = [row for row in rows if row[0] in ("E->E", "E~E")]
    assert [row[1:4] for row in parts] == [row[2:5] for row in totals]
    assert parts[1][4:] == ["FixedProbability", "gap", "junctions"]
    assert ["calm", "light", "E->E:", "gain"] in rows
    assert ["da", "E", "E:", "e_l"] in rows


@pytest.mark.slow
def test_inputs_of_a_run(main, coupled, capsys):
    """A number, or a file; without the signal the error says how to give it."""
    short = ("run", coupled, "--seconds", 0.002, "--out", "r.npz", "--record", "calm:level")
    assert main(*short) == 2
    assert "needs the signal 'light'; give --input light=0.0" in capsys.readouterr().err
    assert main(*short, "--input", "light=0.5") == 0
    one = jn.Result.load("r.npz").traces["calm"]["level"]
    np.save("light.npy", np.full(20, 0.5))
    assert main(*short, "--input", "light=light.npy", "E=0") == 0
    np.testing.assert_array_equal(one, jn.Result.load("r.npz").traces["calm"]["level"])
    assert one[-1] > 5
    with open("npz.npy", "wb") as file:
        np.savez(file, x=np.ones(20))
    np.save("pickle.npy", np.array([None]))
    with open("short.npy", "wb") as file:
        about = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(file, about)
    for bad, message in (
        *((f"light={name}.npy", "must be an .npy file") for name in ("npz", "pickle", "short")),
        ("light", "NAME=VALUE"),
        ("light=x", "number or an .npy file; got 'x'"),
        ("light=no.npy", "no such file"),
    ):
        assert main(*short, "--input", bad) == 2
        assert message in capsys.readouterr().err


def test_models(main, capsys):
    assert main("models") == 0
    assert "\n  LIF: tau_m = 10.0 ms, c_m" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_ends_early_is_no_error():
    started = subprocess.Popen(
        command("models"), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    started.stdout.close()  # as `| head` does
    with started.stderr as said:
        assert said.read() == b""
    assert started.wait() == 141


@pytest.mark.slow
def test_help(main, capsys):
    done = run("--help")
    assert done.returncode == 0
    assert "run" in done.stdout
    assert "info" in done.stdout
    with pytest.raises(SystemExit) as stop:
        main("run", "--help")
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    for option in ("--seconds", "--dt", "--seed", "--out", "--record", "--interval", "--figure"):
        assert option in printed
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2


WRONG = {
    "a missing file": (("run", "nothing.json"), "nothing.json: there is no such file"),
    "info of a missing file": (("info", "nothing.json"), "there is no such file"),
    "a bad file": (("run", "bad.json"), "bad.json, line 11: "),
    "a bad file for info": (("info", "bad.json"), "did you mean 'LIF'"),
    "folder of --out": (
        ("run", "net.toml", "--out", "no/r.npz"),
        "--out must name a file in a fol",
    ),
    "--out a folder": (("run", "net.toml", "--out", "."), "--out must name a file in a folder"),
    "kind of figure": (
        ("run", "net.toml", "--figure", "r.xyz"),
        "--figure must end in one of .eps",
    ),
    "name of --record": (
        ("run", "net.toml", "--record", "X:v", "--out", "r.npz"),
        "graded coupling or modulator 'X'",
    ),
    "current of --record": (
        ("run", "net.toml", "--record", "Current->I:v", "--out", "r.npz"),
        "no population, projection, stimulation of spikes, graded coupling or modulator",
    ),
    "form of --record": (("run", "net.toml", "--record", "E"), "NAME:VARIABLE, such as E:v"),
    "variable": (("run", "net.toml", "--record", "E:w", "--out", "r.npz"), "named 'w'"),
    "--interval": (
        ("run", "net.toml", "--record", "E:v", "--out", "r.npz", "--interval", "0"),
        "interval must be finite and above 0",
    ),
    "--interval alone": (("run", "net.toml", "--interval", "1"), "--interval needs --record"),
    "--record alone": (
        ("run", "net.toml", "--record", "E:v"),
        "--record needs --out FILE.npz or --sa",
    ),
    "kind of --out": (
        ("run", "net.toml", "--out", "o.csv"),
        "jn.Result.load('o.npz').to_pandas().to_csv('o.csv')",
    ),
    "--seconds 0": (("run", "net.toml", "--seconds", "0"), "--seconds must be a finite number abo"),
    "--dt": (("run", "net.toml", "--dt", "-1"), "dt must be"),
    "--seconds": (("run", "net.toml", "--seconds", "-1"), "--seconds must be a finite number"),
    "--seconds nan": (("run", "net.toml", "--seconds", "nan"), "--seconds must be a finite number"),
    "off the grid": (("run", "net.toml", "--seconds", "0.00015"), "--seconds, in ms,"),
    "size": (("run", "net.toml", "--max-mb", "0.0001"), "must have at most 0.0001 MB"),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_line_for_an_error(case, main, net, tmp_path, capsys):
    arguments, said = WRONG[case]
    (tmp_path / "bad.json").write_text(JSON.replace('"model": "LIF"', '"model": "LFI"'))
    assert main(*arguments) == 2
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert err.startswith("jaxneuro: ")
    assert said in err
    assert "real-time" not in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "net.toml"]


def test_an_unknown_option_shows_the_usage_of_its_command(main, capsys):
    with pytest.raises(SystemExit) as stop:
        main("run", "net.toml", "--ms", "50")
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert "usage: python -m jaxneuro run " in err
    assert "unrecognized arguments: --ms 50" in err


@pytest.mark.slow
def test_no_traceback(tmp_path):
    done = run("run", "nothing.json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "jaxneuro: nothing.json: there is no such file\n"


def test_what_was_run_before_a_nan_is_saved(main, tmp_path, capsys):
    text = TOML.replace('model]\ntype = "LIF"', 'model]\ntype = "LIF"\nc_m = 0.5')
    text = text.replace("amplitude = 200.0", "amplitude = 3e38").replace("delay = 1.5", "delay = 1")
    (tmp_path / "net.toml").write_text(text)
    assert main("run", "net.toml", "--seconds", 0.1, "--dt", 1.0, "--out", "r.npz") == 2
    err = capsys.readouterr().err
    assert "v of population 'I' is inf" in err
    assert err.count("\n") == 1
    assert jn.Result.load(tmp_path / "r.npz").n_steps > 0


def test_ctrl_c_saves_what_was_run(main, net, tmp_path, capsys, monkeypatch):
    from jaxneuro._run import simulate as _simulate

    advance, calls = _simulate.Progress.advance, []

    def interrupt(self, ms):
        advance(self, ms)
        if self._doing != "simulating":
            return
        calls.append(ms)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(_simulate.Progress, "advance", interrupt)
    # A shell starts background jobs with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main("run", net, "--seconds", 1e5, "--out", "r.npz") == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted: this is what was recorded until then" in capsys.readouterr().out
    saved = jn.Result.load(tmp_path / "r.npz")
    assert saved.interrupted
    assert 0 < saved.duration == sum(calls) < 1e9


def test_ctrl_c_before_the_run(main, net, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(jn, "build", interrupt)
    assert main("run", net) == 130
    assert capsys.readouterr().err == "jaxneuro: interrupted before anything was recorded\n"
