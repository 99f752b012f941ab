"""Compiled programs: a store on disk that all runs of the suite share, and memory given back.

The store is JAX's compilation cache, in the user's cache folder (`$XDG_CACHE_HOME`, or `~/.cache`),
under `jaxneuro-tests`; `JAX_COMPILATION_CACHE_DIR` names another place. JAX's key has all that a
program depends on: its text, the options and flags, the version of XLA and the processor. So a run
compiles only what changed. Examples that a test runs in processes of their own share it too.

A process that was cut off may leave half a program behind. JAX refuses to read it, warns (which
the settings of pytest allow) and compiles. Beyond `LARGEST` bytes the programs that were not used
for longest go, at the end of a run. To empty the store, delete its folder.
"""

import contextlib
import ctypes
import gc
import os
import zlib
from pathlib import Path

import jax
import pytest

from jaxneuro._kernels.cpu import LARGEST, shrink, store_folder

OURS = "JAX_COMPILATION_CACHE_DIR" not in os.environ  # and not a folder of somebody's own
# A process that holds more than so many MB frees its programs before the next group: not after
# each group, for what JAX itself is made of would be traced and loaded again every time.
FULL_MB = 1250
# How a test starts a Python in which warnings are errors.
STRICT = [
    *("-W", "error"),
    *("-W", "ignore:Error reading persistent compilation cache entry"),
    *("-W", "ignore:Error writing persistent compilation cache entry"),
]

_group = None


def group_of(nodeid: str) -> str:
    """The tests that share programs, and so a process: a file, or the laws of some models."""
    file, _, test = nodeid.partition("::")
    if not file.startswith("tests/laws"):
        return file
    model = test.partition("[")[2].strip("]").partition(",")[0]
    return f"laws {zlib.crc32(model.encode()) % 6}"


def use_store() -> None:
    """Programs of this process, and of those it starts, come from the store and go into it."""
    folder = os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(store_folder("jaxneuro-tests")))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def free_programs() -> None:
    """Forgets every compiled program: those of a finished file are of no more use."""
    from jaxneuro._run import chunks

    chunks._programs.clear()
    jax.clear_caches()
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # what is free goes back to the system
        ctypes.CDLL(None).malloc_trim(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """The programs of finished groups are freed when there are many of them."""
    global _group
    group = group_of(item.nodeid)
    if _group not in (None, group) and _held_mb() > FULL_MB:
        free_programs()
    _group = group


def _held_mb() -> float:
    """Memory that this process holds now; endless where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("inf")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def pytest_sessionfinish(session):
    if OURS and not hasattr(session.config, "workerinput"):
        shrink(Path(os.environ["JAX_COMPILATION_CACHE_DIR"]), LARGEST)
