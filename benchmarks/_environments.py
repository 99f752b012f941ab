"""One virtual environment per peer simulator, made on first use below `.peers/`.

The peers' requirements exclude each other (and ours), so each gets its own environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ._one_at_a_time import one_at_a_time

ROOT = Path(__file__).resolve().parents[1] / ".peers"
MARKER = "complete.json"  # in an environment: what was installed, written last

REQUIREMENTS: dict[str, list[str]] = {
    "brian2": ["brian2==2.9.0", "numpy<2"],
    "nest": ["nest-simulator==3.10.0"],
    "brainpy": [
        "brainpy==2.8.2",
        "brainpy_state==0.1.0",
        "brainstate==0.5.4",
        "brainevent==0.2.1",
        "braintools==0.3.0",
        "brainunit==0.5.2",
        "jax==0.10.2",
        "numba==0.68.1",  # not a requirement of brainevent, but its CPU kernels need it
    ],
    "spyx": [
        "spyx==1.0.0",
        "flax==0.12.8",
        "optax==0.2.8",
        "jax==0.10.2",
        "scikit-learn==1.9.1",  # has the images of `digits`
    ],
    "jaxpike": ["jaxpike==0.1.4", "equinox==0.13.8", "jax==0.10.2"],
    "snntorch": ["snntorch==1.0.0", "torch==2.14.1", "scikit-learn==1.9.1"],
}


class PeerError(RuntimeError):
    """A peer could not be installed or run; the message says which step, and its last output."""


def tail(text: str, lines: int = 15) -> str:
    """The last lines of a program's output, indented, for an error message."""
    kept = text.strip().splitlines()[-lines:]
    return "\n".join("    " + line for line in kept) or "    (no output)"


def environment(peer: str) -> Path:
    """Path of the peer's python; makes the environment if it is missing or stale.

    One process makes it, others that want it wait. It is made under another name and renamed
    when it is whole, so that one cut off leaves nothing but rubbish, which the next one removes.
    So call only its python, as here: the scripts that pip wrote know the other name.
    """
    if peer not in REQUIREMENTS:
        raise PeerError(f"unknown peer {peer!r}: known are {', '.join(REQUIREMENTS)}")
    folder = ROOT / peer
    if not _is_wanted(folder, peer):
        ROOT.mkdir(exist_ok=True)
        (ROOT / ".gitignore").write_text("*\n")
        with one_at_a_time(ROOT / f"{peer}.lock"):
            if not _is_wanted(folder, peer):  # nobody made it meanwhile
                _make(folder, peer)
    return _python(folder)


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _contents(peer: str) -> str:
    """What the marker file of an environment holds: what was installed."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return json.dumps({"python": version, "pip": REQUIREMENTS[peer]})


def _is_wanted(folder: Path, peer: str) -> bool:
    marker = folder / MARKER
    return _python(folder).exists() and marker.exists() and marker.read_text() == _contents(peer)


def _make(folder: Path, peer: str) -> None:
    print(f"making the environment of {peer} in {folder}", file=sys.stderr, flush=True)
    for left in ROOT.glob(f"{peer}.making-*"):
        shutil.rmtree(left, ignore_errors=True)
    # A name of its own: the pip of a process that was killed may still be writing.
    new = ROOT / f"{peer}.making-{os.getpid()}"
    try:
        _run(peer, [sys.executable, "-m", "venv", str(new)])
        pip = [str(_python(new)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run(peer, [*pip, *REQUIREMENTS[peer]])
        (new / MARKER).write_text(_contents(peer))
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _run(peer: str, command: list[str]) -> None:
    """Run one step of the installation; its output only appears in the error."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise PeerError(
            f"cannot make the environment of {peer}: exit status {done.returncode} from\n"
            f"    {' '.join(command)}\n{tail(done.stdout)}"
        )


if __name__ == "__main__":  # python -m benchmarks._environments [PEER ...]
    for name in sys.argv[1:] or REQUIREMENTS:
        print(environment(name))
