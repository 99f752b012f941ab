"""Compiled programs on disk, by JAX's own compilation cache.

JAX's key has all that a program depends on: its text, the options and flags, the version of XLA. A
home may be shared by machines of several kinds: each has a folder of its own. A process that was
cut off may leave half a program behind; JAX refuses to read it, warns and compiles.
"""

import atexit
import contextlib
import hashlib
import os
import platform
from pathlib import Path

import jax

LARGEST = 1 << 30


def store_folder(name: str) -> Path:
    """The folder `name` of this kind of processor, in the user's cache folder."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kind = platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        kind += next((x for x in lines if x.startswith(("flags", "Features"))), "")
    return base / name / hashlib.blake2b(kind.encode(), digest_size=4).hexdigest()


def keep_programs(folder: Path | None = None) -> None:
    """Programs of this process come from a folder and go into it, by default one of the user's.

    A folder that the user has given to JAX already stays. At the end of the process the programs of
    our own folder that were not used for longest go, beyond 1 GiB.
    """
    if getattr(jax.config, "jax_compilation_cache_dir", None) is None:
        ours = store_folder("jaxneuro") if folder is None else folder
        jax.config.update("jax_compilation_cache_dir", str(ours))
        atexit.register(shrink, ours, LARGEST)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def shrink(folder: Path, largest: int) -> None:
    """Deletes the programs that were not used for longest, until `largest` bytes are left."""
    programs = []
    for path in folder.glob("*-cache"):
        with contextlib.suppress(OSError):  # another process has deleted it
            about = path.stat()
            programs.append((max(about.st_atime, about.st_mtime), about.st_size, path))
    size = 0
    for _, bytes_of_it, path in sorted(programs, reverse=True):
        size += bytes_of_it
        if size > largest:
            path.unlink(missing_ok=True)
