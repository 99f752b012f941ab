"""The store of compiled programs that the suite keeps on disk."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import store

ROOT = Path(__file__).parents[2]
PROGRAM = """
    import warnings
    warnings.simplefilter("always")
    from tests import compiling, store
    store.use_store()
    import jax
    def plus_one(x):
        return x + 1
    assert jax.jit(plus_one)(1.0) == 2.0
    print(compiling._programs, compiling._loaded)
"""


def run(folder):
    """Programs compiled and loaded by a process that uses the store, and its warnings."""
    env = {k: v for k, v in os.environ.items() if k != "JAX_ENABLE_COMPILATION_CACHE"}
    env["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
    done = subprocess.run(
        command, env=env, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    compiled, loaded = map(int, done.stdout.split())
    return compiled, loaded, done.stderr


@pytest.mark.slow
def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    compiled, loaded, _ = run(tmp_path)
    assert compiled > 0
    assert loaded == 0
    assert run(tmp_path) == (0, compiled, "")
    half = next(tmp_path.glob("jit_plus_one*-cache"))  # as a run leaves it that is cut off
    half.write_bytes(half.read_bytes()[:100])
    again, loaded, errors = run(tmp_path)
    assert (again, loaded) == (1, compiled - 1)
    assert "Error reading persistent compilation cache entry" in errors


@pytest.mark.slow
def test_what_was_not_used_for_longest_goes_first(tmp_path):
    for age in range(5):
        path = tmp_path / f"{age}-cache"
        path.write_bytes(bytes(10))
        os.utime(path, (1000 - age, 1000 - age))
    store.shrink(tmp_path, 25)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0-cache", "1-cache"]
