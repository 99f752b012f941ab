"""Settings of JAX's CPU backend that only the user may change; compiled programs kept on disk.

JAX's key of a program has all that it depends on: its text, the options and flags, the version of
XLA. A home may be shared by machines of several kinds: each has a folder of its own. A process that
was cut off may leave half a program behind; JAX refuses to read it, warns and compiles.
"""

import atexit
import contextlib
import hashlib
import os
import platform
import warnings
from pathlib import Path

import jax

from .. import spec
from .threads import threads as native_threads


def _backend_started() -> bool:
    try:
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())
    except (ImportError, AttributeError):  # private: a newer JAX may have moved it
        return False


@spec.arguments(xla_threads=spec.Whole(at_least=1))
def configure_cpu(
    threads: int | None = None, *, xla_threads: int = 1, cache: bool | str | os.PathLike = False
) -> bool:
    """Sets how many CPU threads are used. Call it before the first use of JAX.

    `threads` is what one call of a native kernel may use: long deliveries, large Poisson inputs
    and builds use up to that many (None: all cores that the process may use). `xla_threads` is
    the size of XLA's pool, NPROC in the environment: one is fastest for the small operations of a
    time step, where every parallel one waits for its slowest thread. Results keep their bits.
    docs/performance.md has the measured gain. Returns whether the settings will take effect.

    `cache=True` keeps compiled programs on disk, so that a second run of a script starts at once:
    in `~/.cache/jaxneuro` (`$XDG_CACHE_HOME`), at most 1 GiB, or in the folder that `cache` or
    JAX's own `jax_compilation_cache_dir` names. It may be switched on at any time.

    Raises:
        InvalidValueError: for a number below 1, or a `cache` of another kind. Warns when JAX has
            already started: then XLA's pool stays as it is.
    """
    if threads is not None:
        spec.check("configure_cpu", "threads", spec.Whole(at_least=1), threads)
    if not isinstance(cache, bool | str | os.PathLike):
        must = "True, False or a folder"
        raise spec.InvalidValueError("configure_cpu", "cache", must, repr(cache))
    if cache is not False:
        keep_programs(None if cache is True else Path(cache))
    if threads is not None:
        os.environ["JAXNEURO_THREADS"] = str(threads)
    if _backend_started():
        if threads is not None:
            native_threads(threads)
        warnings.warn(
            "configure_cpu came too late: JAX has already started, so XLA's pool of threads was "
            "not changed. Call it right after `import jaxneuro`",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    os.environ["NPROC"] = str(xla_threads)
    return True


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
