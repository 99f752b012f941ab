"""Builds the native CPU kernels where there is a compiler; all else is in pyproject.toml."""

import functools
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

WINDOWS = platform.system() == "Windows"
NATIVE = Path("jaxneuro/_kernels/native")
OBJECTS = Path("build/objects")
SOURCES = (
    *(
        "assembly",
        "cotangents",
        "draw",
        "exchange",
        "gather",
        "k_cap",
        "kernels",
        "learn",
        "new_sources",
    ),
    *("operands", "poisson", "short_term"),
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
    if WINDOWS:
        return ["/std:c++17", "/O2"]
    aligned = ["-falign-functions=64", "-falign-loops=32"]
    return ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-g0", *aligned]


def with_headers(source: Path) -> list[Path]:
    """A file and all that it includes, but for the headers of the compiler itself."""
    found = [source]
    for path in found:  # grows below
        for name in re.findall(r'#include "(.+)"', path.read_text(encoding="utf-8")):
            places = [folder / name for folder in (NATIVE, *map(Path, jaxlib_headers()))]
            found += [place for place in places if place.exists() and place not in found]
    return found


class BuildKernels(build_ext):
    """Compiles as many files at once as there are cores, and only those that changed."""

    compiled = False

    def get_ext_filename(self, fullname: str) -> str:
        # `ctypes` loads it and nothing in it is Python's, so its name has no version of Python.
        return os.path.join(*fullname.split(".")) + (".pyd" if WINDOWS else ".so")

    def get_export_symbols(self, ext: Extension) -> list[str]:
        # The names that `ctypes` asks for, which Windows must be told; no PyInit is among them.
        text = "".join((NATIVE / f"{name}.cc").read_text(encoding="utf-8") for name in SOURCES)
        return re.findall(r'^(?:extern "C"|[A-Z_]+\().*?\b([Jj]axneuro_?\w+)(?=[(,])', text, re.M)

    def build_extension(self, ext: Extension) -> None:
        # A failure leaves no old one, also where an editable install has it.
        Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)
        if self.editable_mode:
            Path(self.get_ext_filename(ext.name)).unlink(missing_ok=True)
        OBJECTS.mkdir(parents=True, exist_ok=True)
        # Large files first, or the last of them would be compiled alone.
        sources = sorted(map(Path, ext.sources), key=lambda path: -path.stat().st_size)
        with (
            tempfile.TemporaryDirectory(dir=OBJECTS) as new,  # others may build here meanwhile
            ThreadPoolExecutor(os.cpu_count()) as pool,
        ):
            objects = list(pool.map(lambda source: self.object_of(source, ext, new), sources))
        for old in set(OBJECTS.glob(f"*{self.compiler.obj_extension}")) - set(objects):
            if time.time() - old.stat().st_mtime > 3600:  # no other build has just made it
                old.unlink(missing_ok=True)
        ext.sources, ext.extra_objects, self.force = [], [str(path) for path in objects], True
        super().build_extension(ext)
        self.compiled = True

    def object_of(self, source: Path, ext: Extension, new: str) -> Path:
        """The object file, named by all that it is made from, and compiled unless it is there."""
        options = ext.extra_compile_args, os.environ.get("MACOSX_DEPLOYMENT_TARGET")
        text = hashlib.sha256(self.compiler_text + repr(options).encode())
        for path in with_headers(source):
            text.update(path.read_bytes())
        kept = OBJECTS / f"{source.stem}-{text.hexdigest()[:16]}{self.compiler.obj_extension}"
        if WINDOWS or not kept.exists():  # its compiler does not tell its version here
            option = "/I" if WINDOWS else "-isystem"
            headers = [part for path in jaxlib_headers() for part in (option, path)]
            (made,) = self.compiler.compile(
                [str(source)],
                output_dir=new,
                extra_postargs=[*ext.extra_compile_args, *headers],
            )
            os.replace(made, kept)  # a compiler that is stopped leaves no half of it
        return kept

    @functools.cached_property
    def compiler_text(self) -> bytes:
        """The compiler's command and version."""
        command = getattr(self.compiler, "compiler_so_cxx", [])
        try:
            version = subprocess.run([*command, "--version"], capture_output=True).stdout
        except OSError:  # no compiler, or one whose command is not known yet
            version = b""
        return repr(command).encode() + version


class Wheel(bdist_wheel):
    """One wheel for every Python of a platform, or of all platforms if nothing was compiled."""

    def run(self) -> None:
        # What an older build left there would be in the wheel, also modules that are no more.
        shutil.rmtree(self.get_finalized_command("build").build_lib, ignore_errors=True)
        super().run()

    def run_command(self, command: str) -> None:
        super().run_command(command)
        if command == "build":
            self.root_is_pure = not self.get_finalized_command("build_ext").compiled

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(
    cmdclass={"build_ext": BuildKernels, "bdist_wheel": Wheel},
    ext_modules=[
        Extension(
            "jaxneuro._kernels._cpu",
            sources=[str(NATIVE / f"{name}.cc") for name in SOURCES],
            depends=sorted(map(str, NATIVE.glob("*.h"))),
            extra_compile_args=compile_options(),
            language="c++",
            optional=True,
        )
    ],
)
