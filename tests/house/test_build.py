"""What the native kernels are built with."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETUP = (ROOT / "setup.py").read_text()
needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


def test_the_headers_are_of_the_oldest_jaxlib_that_may_run_them():
    """A jaxlib refuses what was built with newer headers than its own, and JAX then has no CPU."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (runs,) = [x for x in project["project"]["dependencies"] if x.startswith("jaxlib")]
    oldest = re.fullmatch(r"jaxlib>=([\d.]+)", runs)[1]
    assert any(x.startswith(f"jaxlib=={oldest}.*") for x in project["build-system"]["requires"])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A project of three small kernels, built by this setup.py: a function builds a wheel of it."""
    pytest.importorskip("setuptools", minversion="77")
    root = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "setup.py", root)
    (root / "pyproject.toml").write_text('[project]\nname = "jaxneuro"\nversion = "1"\n')
    native = root / "jaxneuro" / "_kernels" / "native"
    native.mkdir(parents=True)
    for name in re.findall(r'"(\w+)"', re.search(r"SOURCES = \((.*?)\n\)", SETUP, re.S)[1]):
        (native / f"{name}.cc").write_text('#include "all.h"\n')
    (native / "all.h").write_text("")
    (native / "one.h").write_text('extern "C" int one() { return 1; }\n')
    (native / "draw.cc").write_text('#include "one.h"\n')

    def build(**environment):
        shutil.rmtree(root / "dist", ignore_errors=True)
        command = [sys.executable, "setup.py", "-q", "bdist_wheel"]
        done = subprocess.run(
            command, cwd=root, env=os.environ | environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        (wheel,) = (root / "dist").iterdir()
        return wheel

    return build


def _objects(wheel):
    folder = wheel.parents[1] / "build" / "objects"
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*-*")}


@pytest.mark.slow
@needs_compiler
def test_a_build_compiles_the_files_that_changed_and_no_others(built):
    wheel = built()
    native = wheel.parents[1] / "jaxneuro" / "_kernels" / "native"
    first = _objects(wheel)
    assert _objects(built()) == first, "nothing changed"
    (native / "one.h").write_text('extern "C" int one() { return 2; }\n')
    second = _objects(built())
    (changed,) = second.keys() - first.keys()
    assert changed.startswith("draw-"), "the one file that includes the header"
    assert first.items() <= second.items(), "what another build may be linking"
    for name in second:
        os.utime(wheel.parents[1] / "build" / "objects" / name, (0, 0))
    assert first.keys() - _objects(built()).keys() == {x for x in first if x.startswith("draw-")}


@pytest.mark.slow
@needs_compiler
def test_modules_that_are_no_more_are_not_in_a_wheel(built):
    wheel = built()
    gone = wheel.parents[1] / "jaxneuro" / "gone.py"
    gone.write_text("")
    assert "jaxneuro/gone.py" in zipfile.ZipFile(built()).namelist()
    gone.unlink()
    assert "jaxneuro/gone.py" not in zipfile.ZipFile(built()).namelist()


@pytest.mark.slow
@needs_compiler
def test_a_wheel_serves_every_python_of_a_platform_or_all_platforms_without_a_compiler(built):
    """Its library is gone from a wheel that was built after it, when the compiler was gone."""
    wheel = built()
    assert re.fullmatch(r"jaxneuro-1-py3-none-(?!any)\w+\.whl", wheel.name)
    (library,) = [x for x in zipfile.ZipFile(wheel).namelist() if "_cpu" in x]
    assert library in ("jaxneuro/_kernels/_cpu.so", "jaxneuro/_kernels/_cpu.pyd")
    pure = built(CC="/no/such", CXX="/no/such")
    assert pure.name == "jaxneuro-1-py3-none-any.whl"
    assert not [x for x in zipfile.ZipFile(pure).namelist() if "_cpu" in x]
