"""The strict configuration of every test."""

import os

import hypothesis
import jax
import jaxtyping
import pytest
import xdist.scheduler

from tests import compiling, shapes

# Where shapes and dtypes of arrays in signatures are checked by `make test-all`.
CHECKED = (
    *("_numerics", "_tables", "_network", "_mesh", "_build", "_run"),
    *("analysis", "connectivity", "space", "assemblies"),
)
if os.environ.get("JAXNEURO_CHECK_SHAPES"):
    jaxtyping.install_import_hook("jaxneuro._kernels", "beartype.beartype")
    jaxtyping.install_import_hook([f"jaxneuro.{x}" for x in CHECKED], f"{shapes.__name__}.arrays")

from jaxneuro import _warn  # noqa: E402
from tests import contracts, store  # noqa: E402

_warn._BETWEEN.add("jaxtyping")  # a warning still points at the line of the test

compiling.set_flags()
if not compiling.THOROUGH:
    contracts.remember()

# Tests run in parallel processes: one thread each, but where a test asks for more.
os.environ.setdefault("JAXNEURO_THREADS", "1")

jax.config.update("jax_numpy_dtype_promotion", "strict")
store.use_store()

hypothesis.settings.register_profile(
    "jaxneuro",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.function_scoped_fixture,
    ],
)
hypothesis.settings.load_profile("jaxneuro")


@pytest.fixture
def x64():
    """64-bit JAX for one test."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


# Few tests that take long, so that no process waits for another at the end.
FIRST = (
    "tests/house/test_examples.py",
    "tests/parallel/test_processes.py",
    "tests/house/test_assemblies_page.py",
    "tests/network/test_microcircuit.py",
    "tests/house/test_store.py",
    "tests/simulation/test_threads.py",
)


class ByGroup(xdist.scheduler.LoadScopeScheduling):
    """What compiles the same programs goes to one process.

    `--dist loadgroup` itself would do, but xdist 3.8 cannot tell its groups to pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        return store.group_of(nodeid)

    def _assign_work_unit(self, node):
        for group in reversed(FIRST):  # the others by their number of tests
            if group in self.workqueue:
                self.workqueue.move_to_end(group, last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(config, items):
    """Takes `slow(but=[...])` from the cases that it names, and makes slow what is `thorough`."""
    found, whole = {}, not any("::" in arg for arg in config.args)
    for item in items:
        for mark in [mark for mark in item.own_markers if "but" in mark.kwargs]:
            kept = item.callspec.id in mark.kwargs["but"]
            name = item.nodeid.split("[")[0]
            found[name] = found.get(name, False) or kept
            if kept:
                item.own_markers.remove(mark)
        if item.get_closest_marker("thorough"):
            item.add_marker("slow")
    if whole and (gone := [name for name, kept in found.items() if not kept]):
        raise pytest.UsageError(f"but=[...] names no case of {', '.join(gone)}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByGroup(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_addoption(parser):
    parser.addoption("--compile-table", metavar="FILE", help="what each test compiles, as JSON")


def pytest_configure(config):
    config.pluginmanager.register(compiling, "what each test compiles")
    config.pluginmanager.register(store, "compiled programs on disk and in memory")
    if not hasattr(config, "workerinput"):
        report = compiling.Report(config.getoption("compile_table"))
        config.pluginmanager.register(report, "which files compile most")
