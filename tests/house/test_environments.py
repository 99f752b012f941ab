"""The peers' environments: two processes that want one at once, and one that is cut off."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import _environments

# A process of its own, whose venv and pip are a stand-in: pip says that it ran, and never ends
# where it is told so.
SCRIPT = """
import sys, time
from pathlib import Path
from benchmarks import _environments

root, stops = Path(sys.argv[1]), sys.argv[2] == "stops"

def stand_in(peer, command):
    if command[1:3] == ["-m", "venv"]:
        python = _environments._python(Path(command[3]))
        python.parent.mkdir(parents=True)
        python.touch()
        return
    with (root / "pip ran").open("a") as log:
        print("pip", file=log, flush=True)
    if stops:
        print("half", flush=True)
        sys.stdin.read()
    time.sleep(0.2)  # so that another would begin as well, were there no lock

_environments.ROOT, _environments._run = root / "peers", stand_in
print("ready", flush=True)
sys.stdin.readline()
print(_environments.environment("nest"))
"""


@pytest.fixture
def start(tmp_path):
    """Starts a process that waits for `go`; what is still there afterwards is killed."""
    with contextlib.ExitStack() as started:

        def start(how: str = "goes on") -> subprocess.Popen:
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                [sys.executable, "-c", SCRIPT, tmp_path, how],
                cwd=Path(__file__).parents[2],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                text=True,
            )
            started.callback(process.communicate)
            started.callback(process.kill)
            assert process.stdout.readline() == "ready\n"
            return process

        yield start


def go(process: subprocess.Popen) -> None:
    process.stdin.write("go\n")
    process.stdin.flush()


def check(root: Path, processes: list[subprocess.Popen], installed: int) -> None:
    python = str(_environments._python(root / "peers" / "nest"))
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert out == f"{python}\n", err
    assert (root / "pip ran").read_text() == installed * "pip\n"
    left = sorted(path.name for path in (root / "peers").iterdir())
    assert left == [".gitignore", "nest", "nest.lock"]


@pytest.mark.slow
def test_of_two_processes_one_makes_it_and_the_other_waits(tmp_path, start):
    processes = [start(), start()]
    for process in processes:
        go(process)
    check(tmp_path, processes, installed=1)


def test_what_was_cut_off_leaves_no_lock_and_nothing_half_made(tmp_path, start):
    killed = start("stops")
    go(killed)
    assert killed.stdout.readline() == "half\n"
    waits = start()
    go(waits)
    assert not (tmp_path / "peers" / "nest").exists()
    killed.kill()
    killed.communicate()
    check(tmp_path, [waits], installed=2)


def test_one_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch):
    def refuse(peer, command):
        if "pip" in command:
            raise _environments.PeerError("no such package")
        Path(command[3]).mkdir()

    monkeypatch.setattr(_environments, "ROOT", tmp_path)
    monkeypatch.setattr(_environments, "_run", refuse)
    with pytest.raises(_environments.PeerError, match="no such package"):
        _environments.environment("nest")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "nest.lock"]
