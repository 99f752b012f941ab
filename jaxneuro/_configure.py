"""Settings of JAX's CPU backend that a library must not touch on its own."""

import os
import warnings

from ._checks import check_count

_EXTRA = "xla_cpu_use_multi_output_fusion=true,xla_cpu_flatten_after_fusion=true"
_FLAG = "--xla_backend_extra_options="


def _backend_started() -> bool:
    try:
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())
    except (ImportError, AttributeError):  # private: a newer JAX may have moved it
        return False


def configure_cpu(threads: int = 1) -> bool:
    """Sets XLA's CPU options for small steps in a loop. Call it before the first use of JAX.

    Adds `xla_cpu_use_multi_output_fusion` and `xla_cpu_flatten_after_fusion` to XLA_FLAGS
    (one pass over a neuron's variables instead of several), and sets NPROC, the size of
    XLA's thread pool, to `threads`: one thread is fastest for the small operations of a time
    step. Results keep their bits. What is gained is in docs/performance.md. Returns whether
    the settings will take effect.

    **Raises** `ValueError` for a number of threads below 1. Warns when JAX has already
    started: then nothing is changed.

    **Source** measured; docs/performance.md.
    """
    check_count("configure_cpu: threads", threads, at_least=1)
    if _backend_started():
        warnings.warn(
            "configure_cpu came too late: JAX has already started, nothing was changed. Call "
            "it right after `import jaxneuro`",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    flags = os.environ.get("XLA_FLAGS", "")
    if _EXTRA not in flags:
        if _FLAG in flags:
            flags = flags.replace(_FLAG, f"{_FLAG}{_EXTRA},", 1)
        else:
            flags = f"{flags} {_FLAG}{_EXTRA}".strip()
        os.environ["XLA_FLAGS"] = flags
    os.environ["NPROC"] = str(threads)
    return True
