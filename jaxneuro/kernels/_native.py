"""Loads the native CPU kernels, or says once that the reference runs instead."""

import ctypes
import functools
import logging
import os
from pathlib import Path

import jax

_log = logging.getLogger("jaxneuro")
_TARGETS = {"jaxneuro_deliver": "JaxneuroDeliver", "jaxneuro_pack": "JaxneuroPack"}


def _library() -> Path:
    found = sorted(Path(__file__).parent.glob("_cpu*.so")) + sorted(
        Path(__file__).parent.glob("_cpu*.pyd")
    )
    if not found:
        raise OSError("it was not built when jaxneuro was installed (no C++17 compiler?)")
    return found[0]


@functools.cache
def native_available() -> bool:
    """Whether the native CPU kernels are loaded; tries once, logs one line if not.

    `JAXNEURO_NATIVE=off` in the environment leaves them out, to compare.
    """
    if os.environ.get("JAXNEURO_NATIVE", "") == "off":
        _log.warning("native kernels are switched off (JAXNEURO_NATIVE=off): using the reference")
        return False
    try:
        library = ctypes.CDLL(str(_library()))
        for target, symbol in _TARGETS.items():
            handler = jax.ffi.pycapsule(getattr(library, symbol))
            jax.ffi.register_ffi_target(target, handler, platform="cpu")
    except Exception as error:  # an old jaxlib refuses a newer header in its own way
        _log.warning("native kernels not loaded, the slower reference runs instead: %s", error)
        return False
    return True
