"""Run a peer simulator's benchmark script in that peer's own environment.

Import this module before pinning the calling process to a core: the peers get the cores the
process had at import, not the narrower set it may have given itself since.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._environments import REQUIREMENTS, PeerError, environment, tail
from ._record import Record, make_record, print_record

SCRIPTS = Path(__file__).resolve().parent / "peers"

_CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None

# Settings of ours that a peer must not inherit: they would change its imports or its compiler.
_PRIVATE = ("PYTHON", "JAX_", "XLA_", "OMP_", "NUMBA_", "VIRTUAL_ENV")

# What the scripts measure beyond the keys of a record.
_EXTRA = ("cpu_s", "precision")


def known_peers(bench: str) -> list[str]:
    """The peers that have a script for this benchmark."""
    return [peer for peer in REQUIREMENTS if (SCRIPTS / f"{peer}_{bench}.py").exists()]


def run_peer(
    peer: str,
    bench: str,
    neurons: int,
    seconds: float,
    threads: int = 1,
    seed: int = 1,
    **more: float | str,
) -> Record:
    """Run one peer once, in a process of its own; print and return its record.

    `more`: options that only the scripts of this benchmark have.

    Raises PeerError if the peer has no such script, cannot be installed, or fails.
    """
    options = {"neurons": neurons, "seconds": seconds, "threads": threads, "seed": seed, **more}
    fields = run_script(peer, bench, options)
    rec = make_record(**{key: value for key, value in fields.items() if key not in _EXTRA})
    print_record(rec)
    return rec


def run_script(peer: str, bench: str, options: Mapping[str, object]) -> dict[str, Any]:
    """Run one peer once, in a process of its own; return the fields of its JSON line.

    Raises PeerError if the peer has no such script, cannot be installed, or fails.
    """
    if peer not in known_peers(bench):
        known = ", ".join(known_peers(bench)) or "none"
        raise PeerError(f"no script of {peer!r} for benchmark {bench!r}: known peers are {known}")
    command = [str(environment(peer)), str(SCRIPTS / f"{peer}_{bench}.py")]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    with all_cores():
        done = subprocess.run(
            command, env=_clean_environ(), capture_output=True, text=True, check=False
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        why = f"exit status {done.returncode}" if done.returncode else "no JSON line"
        raise PeerError(
            f"{peer} {bench} failed, {why}:\n    {' '.join(command)}\n"
            f"{tail(done.stderr or done.stdout)}"
        )
    return json.loads(lines[-1])


def _clean_environ() -> dict[str, str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(_PRIVATE)}
    environ["JAX_PLATFORMS"] = "cpu"
    return environ


@contextmanager
def all_cores() -> Iterator[None]:
    """Give this thread its original cores while it starts and awaits a child, which inherits."""
    if _CORES is None:
        yield
        return
    narrowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, narrowed)
