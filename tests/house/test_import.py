"""`import jaxneuro` is quick: it starts nothing and loads nothing that may not be needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import jaxneuro as jn

ROOT = Path(__file__).parents[2]


def python(*arguments, **environment):
    """Runs Python at the root of the repository; returns what it printed."""
    # Not the 8 devices of the tests: a stranger has none of these settings.
    env = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    path = os.pathsep.join([str(ROOT), env.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    env = {**env, "PYTHONPATH": path, "MPLBACKEND": "agg", **environment}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_no_backend_and_no_extras():
    printed = python(
        "-c",
        "import jax, equinox, sys; before = set(sys.modules)\n"
        "import jaxneuro; from jax._src import xla_bridge\n"
        "print(xla_bridge.backends_are_initialized())\n"
        "print(*sorted(set(sys.modules) - before))",
    )
    started, modules = printed.splitlines()
    assert started == "False"
    assert "jaxneuro._network" in modules.split()
    later = ("jaxneuro.assemblies", "jaxneuro.parallel", "jaxneuro.plot")
    for name in ("matplotlib", "tqdm", "scipy.special", "pandas", *later):
        assert name not in modules.split()


def test_what_is_loaded_later_is_there():
    assert {"assemblies", "plot", "sweep"} <= set(dir(jn))
    assert jn.sweep is jn.parallel.sweep
    with pytest.raises(AttributeError, match=r"no attribute 'swep'.*docs/names\.md"):
        jn.swep  # noqa: B018


@pytest.mark.slow
def test_the_environment_is_left_alone():
    printed = python(
        "-c",
        "import os; before = dict(os.environ)\nimport jaxneuro\nprint(dict(os.environ) == before)",
    )
    assert printed == "True\n"


@pytest.mark.slow
def test_configure_cpu_comes_in_time():
    printed = python(
        "-c",
        "import jaxneuro as jn, os; print(jn.configure_cpu(threads=1), os.environ['NPROC'])\n"
        "import jax; print(float(jax.numpy.ones(3).sum()))",
    )
    assert printed == "True 1\n3.0\n"


def test_configure_cpu_says_when_it_is_late():
    import jax

    import jaxneuro as jn

    jax.devices()
    before = dict(os.environ)
    with pytest.warns(RuntimeWarning, match="came too late"):
        assert jn.configure_cpu() is False
    assert dict(os.environ) == before
    with pytest.raises(ValueError, match=r"threads must be .* at least 1; got 0"):
        jn.configure_cpu(0)
