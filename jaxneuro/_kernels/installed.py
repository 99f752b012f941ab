"""What is installed and used here: versions, native kernels, CPU, threads, devices."""

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import jax
import jaxlib
import numpy as np

from .._version import __version__
from .native import library_or_why_not, library_path
from .threads import threads

# The kernels have a version for each of these kinds of vectors, and for popcnt.
_FEATURES = ("popcnt", "avx2", "avx512f", "asimd")


def installed() -> Iterator[tuple[str, str]]:
    """Names and texts, one after the other: to count devices starts JAX, which may take long."""
    yield "jaxneuro", f"{__version__}, from {Path(__file__).parents[1]}"
    for module in (jax, jaxlib, np):
        yield module.__name__, module.__version__
    yield "python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    library = library_or_why_not()
    if isinstance(library, str):
        yield "native kernels", library
    else:
        bits = 8 * library.jaxneuro_vector_bytes(0)
        yield "native kernels", f"{library_path()}, vectors of {bits} bits"
    yield "CPU", cpu_features()
    yield "cores", f"{_cores()} that this process may use"
    kernel = "no native kernel" if isinstance(library, str) else f"{threads()} of a native kernel"
    yield "threads", f"{kernel}, XLA {os.environ.get('NPROC', 'all')}"
    yield "devices", _devices()


def _devices() -> str:
    try:
        found = jax.devices()
    except Exception as error:  # of a platform that is not here, JAX raises one or another
        asked = os.environ.get("JAX_PLATFORMS")
        given = "" if asked is None else f" with JAX_PLATFORMS={asked!r}"
        return f"none{given} ({str(error) or type(error).__name__})"
    return ", ".join(f"{x.platform}:{x.id} ({x.device_kind})" for x in found)


def _cores() -> int | None:
    allowed = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() if allowed is None else len(allowed(0))


def cpu_features(path: Path = Path("/proc/cpuinfo")) -> str:
    """Those of the features of the CPU by which kernels differ, as Linux lists them."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return "features are not known on this system"
    line = next((x for x in lines if x.lower().startswith(("flags", "features"))), "")
    return ", ".join(x for x in _FEATURES if x in line.split()) or f"none of {', '.join(_FEATURES)}"
