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

ROOT = Path(__file__).resolve().parents[1] / ".peers"

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
}


class PeerError(RuntimeError):
    """A peer could not be installed or run; the message says which step, and its last output."""


def tail(text: str, lines: int = 15) -> str:
    """The last lines of a program's output, indented, for an error message."""
    kept = text.strip().splitlines()[-lines:]
    return "\n".join("    " + line for line in kept) or "    (no output)"


def environment(peer: str) -> Path:
    """Path of the peer's python; makes the environment if it is missing, stale or half-made.

    A marker file, written last, holds what was installed: without it, or with other contents
    than wanted now, the folder is removed and made again.
    """
    if peer not in REQUIREMENTS:
        raise PeerError(f"unknown peer {peer!r}: known are {', '.join(REQUIREMENTS)}")
    folder = ROOT / peer
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    marker = folder / "complete.json"
    wanted = json.dumps(
        {"python": f"{sys.version_info.major}.{sys.version_info.minor}", "pip": REQUIREMENTS[peer]}
    )
    if python.exists() and marker.exists() and marker.read_text() == wanted:
        return python
    print(f"making the environment of {peer} in {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    ROOT.mkdir(exist_ok=True)
    (ROOT / ".gitignore").write_text("*\n")
    _run(peer, [sys.executable, "-m", "venv", str(folder)])
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(peer, [*pip, *REQUIREMENTS[peer]])
    marker.write_text(wanted)
    return python


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


if __name__ == "__main__":  # python benchmarks/_environments.py [PEER ...]
    for name in sys.argv[1:] or REQUIREMENTS:
        print(environment(name))
