"""Settings of JAX's CPU backend that only the user may change."""

import os
import warnings
from pathlib import Path

from .._checks import check_count
from ._program_store import keep_programs
from ._threads import threads as native_threads


def _backend_started() -> bool:
    try:
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())
    except (ImportError, AttributeError):  # private: a newer JAX may have moved it
        return False


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

    **Raises** `ValueError` for a number below 1, or a `cache` of another kind. Warns when JAX has
    already started: then XLA's pool stays as it is.
    """
    if threads is not None:
        check_count("configure_cpu: threads", threads, at_least=1)
    check_count("configure_cpu: xla_threads", xla_threads, at_least=1)
    if not isinstance(cache, bool | str | os.PathLike):
        raise ValueError(f"configure_cpu: cache must be True, False or a folder; got {cache!r}")
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
