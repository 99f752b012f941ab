"""Loads the native CPU kernels, or says once that the reference runs instead."""

import ctypes
import functools
import logging
import os
import struct
from pathlib import Path
from typing import Any

import jax

from .. import spec

_log = logging.getLogger("jaxneuro")
# docs/performance.md has the measurements.
SLOWER = (
    "without them deliveries take 10 to 18 times longer (COBA), plastic weights 70 times, building "
    "connections 3 to 6, Poisson input 2 to 4; a wheel has them (docs/wheels.md), and "
    "`pip install .` builds them where there is a C++17 compiler"
)
# What XLA calls: `jaxneuro_new_sources` is the handler `JaxneuroNewSources` in the library.
_KERNELS = (
    *("counted_input", "deliver", "draw_gap_rows", "gather", "hashed_input", "k_cap", "k_cap_wide"),
    *("learn", "listed_input", "log_events", "materialize", "merge_bits", "new_past_inputs"),
    *("new_sources", "pack", "poisson", "rescale", "short_term", "stored_input", "target_sums"),
    *("value_cotangents", "weight_cotangents"),
)
_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_int64
_BITS = (*(_POINTER, _SIZE, _SIZE, _SIZE, _SIZE), *(_SIZE, _POINTER))  # pieces and their counts
_ROWS = (_SIZE, _SIZE, _SIZE, _SIZE)  # key, first row, rows
# What the host calls itself, without XLA; all of it returns a count.
_FUNCTIONS = {
    "jaxneuro_bins": (_SIZE, _SIZE),
    "jaxneuro_threads": (_SIZE,),
    "jaxneuro_vector_bytes": (_SIZE,),
    "jaxneuro_count_spikes": _BITS,
    "jaxneuro_list_spikes": (*_BITS, ctypes.c_int32, _POINTER, _POINTER),
    "jaxneuro_uniform_rows": (*_ROWS, _POINTER, _SIZE, _SIZE, _SIZE, _POINTER),
    "jaxneuro_count_draws": (*_ROWS, _SIZE, _POINTER),
    "jaxneuro_distinct_rows": (*_ROWS, _SIZE, _SIZE, _SIZE, _POINTER),
    "jaxneuro_gap_rows": (
        *(*_ROWS, _SIZE, _POINTER, _SIZE, _POINTER, _SIZE, _SIZE),
        *(_SIZE, _SIZE, _POINTER, _POINTER),
    ),
    "jaxneuro_transpose": (_POINTER, _SIZE, _SIZE, _SIZE, _SIZE, _POINTER, _POINTER, _POINTER),
    "jaxneuro_draw_values": (
        *(_SIZE, _SIZE, _SIZE, _POINTER, _POINTER, _POINTER),
        *(_POINTER, _SIZE, _POINTER, _POINTER, _SIZE, _POINTER),
    ),
    "jaxneuro_draw_pairs": (*_ROWS, _SIZE, _SIZE, _POINTER),
    "jaxneuro_stable_order": (_POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
    "jaxneuro_place_rows": (_POINTER, _POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
}


def _symbol(kernel: str) -> str:
    return "Jaxneuro" + "".join(word.capitalize() for word in kernel.split("_"))


def library_path() -> Path:
    """The library: what `JAXNEURO_NATIVE` names, or what was built with the package."""
    if given := os.environ.get("JAXNEURO_NATIVE"):
        return Path(given)
    library = Path(__file__).with_name("_cpu.pyd" if os.name == "nt" else "_cpu.so")
    if not library.exists():
        raise OSError(
            f"there is no {library.name} in {library.parent}: it was not built when this jaxneuro "
            "was installed (no C++17 compiler?)"
        )
    return library


def _check_whole(library: Path) -> None:
    """Raises for one of Linux that was cut off: to load it would end the process (SIGBUS)."""
    if not library.is_file():
        return  # which says itself what is wrong
    with open(library, "rb") as file:
        head = file.read(64)
    if len(head) < 64 or head[:4] != b"\x7fELF":
        return
    (sections,) = struct.unpack_from("<Q", head, 40)  # where the table of them is, which is last
    size, count = struct.unpack_from("<HH", head, 58)
    if library.stat().st_size < sections + size * count:
        raise OSError(f"{library} is cut off")


def native_library() -> ctypes.CDLL | None:
    """The native CPU kernels, or None; tries to load them once, logs one line if it cannot."""
    found = library_or_why_not()
    return None if isinstance(found, str) else found


@functools.cache
def library_or_why_not() -> ctypes.CDLL | str:
    """The native CPU kernels, or why they are not there.

    `JAXNEURO_NATIVE=off` in the environment switches them off, for comparisons; another value is
    the path of another library, such as that of `make native-debug`.
    """
    if os.environ.get("JAXNEURO_NATIVE", "") == "off":
        why = "switched off (JAXNEURO_NATIVE=off)"
        _log.warning("jaxneuro: native kernels are %s", why)
        return why
    try:
        path = library_path()
        _check_whole(path)
        library = ctypes.CDLL(str(path))
        for name, arguments in _FUNCTIONS.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, _SIZE
        for kernel in _KERNELS:
            handler = jax.ffi.pycapsule(getattr(library, _symbol(kernel)))
            jax.ffi.register_ffi_target(f"jaxneuro_{kernel}", handler, platform="cpu")
    except Exception as error:  # a jaxlib refuses in its own way what it does not know
        _log.warning("jaxneuro: native kernels not loaded: %s; %s", error, SLOWER)
        return f"not loaded: {error}"
    return library


@functools.cache
def exchange_available() -> bool:
    """Whether the devices of a mesh in this process can exchange by the native library.

    It needs more of jaxlib than other kernels do: states of a call, and the number of a run. It
    starts JAX: a CPU backend that starts later takes up handlers before their types, and fails.
    """
    library = native_library()
    if library is None:
        return False
    jax.devices()
    try:
        library.jaxneuro_exchange_waits.argtypes = (_SIZE, _SIZE)
        library.jaxneuro_exchange_waits.restype = _SIZE
        kind: Any = {}
        for name in ("id", "info"):
            function = getattr(library, f"jaxneuro_exchange_{name}")
            function.restype = _POINTER
            kind[f"type_{name}"] = jax.ffi.pycapsule(function())
        jax.ffi.register_ffi_type("jaxneuro_exchange", kind, platform="cpu")
        stages = {"instantiate": "make_exchange", "execute": "exchange"}
        handlers = {k: jax.ffi.pycapsule(getattr(library, _symbol(v))) for k, v in stages.items()}
        jax.ffi.register_ffi_target("jaxneuro_exchange", handlers, platform="cpu")
    except Exception as error:  # missing in the library, or a jaxlib that wants it otherwise
        _log.warning("devices of a mesh exchange by XLA, which takes longer: %s", error)
        return False
    return True


def native_available() -> bool:
    """Whether the native CPU kernels are loaded; see `native_library`."""
    return native_library() is not None


def set_bins(from_bytes: int, part: int) -> None:
    """Sets from how many bytes of a slot on events are sorted, and the places in a part of a ring.

    Results keep their bits, so this is for measurements and tests: the library starts with what
    is fastest (`native/bins.h`). With `from_bytes` 0 all deliveries sort. `part` is a power of two.

    Raises:
        InvalidValueError: for a negative size, or a part that is no power of two.
    """
    spec.check("set_bins", "from_bytes", spec.Whole(), from_bytes)
    spec.check("set_bins", "part", spec.Whole(at_least=1), part)
    if part & (part - 1):
        raise spec.InvalidValueError("set_bins", "part", "a power of two", str(part))
    library = native_library()
    if library is not None:
        library.jaxneuro_bins(from_bytes, part)
