"""Builds the native CPU kernels where there is a compiler; all else is in pyproject.toml."""

import importlib.util
import platform
from pathlib import Path

from setuptools import Extension, setup

NATIVE = "jaxneuro/_kernels/native"
SOURCES = (
    *("assembly", "draw", "exchange", "gather", "k_cap", "kernels", "learn", "new_sources"),
    *("poisson", "short_term"),
)


def jaxlib_headers() -> list[str]:
    """The folder of XLA's FFI headers, which jaxlib ships."""
    spec = importlib.util.find_spec("jaxlib")
    if spec is None or not spec.submodule_search_locations:
        return []
    return [str(Path(p) / "include") for p in spec.submodule_search_locations]


def compile_options() -> list[str]:
    """-O3 but no contraction: the kernels must equal the reference bit for bit.

    Loops are aligned, or what a kernel takes would depend by 10 % on where other files push it.
    """
    if platform.system() == "Windows":
        return ["/std:c++17", "/O2"]
    system = [flag for path in jaxlib_headers() for flag in ("-isystem", path)]
    aligned = ["-falign-functions=64", "-falign-loops=32"]
    return ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-g0", *aligned, *system]


setup(
    ext_modules=[
        Extension(
            "jaxneuro._kernels._cpu",
            sources=[f"{NATIVE}/{name}.cc" for name in SOURCES],
            depends=sorted(str(path) for path in Path(NATIVE).glob("*.h")),
            include_dirs=jaxlib_headers(),
            extra_compile_args=compile_options(),
            language="c++",
            optional=True,
        )
    ]
)
