"""How the tests compile, and what: counted per test, the files that compile most shown at the end.

A test costs what its programs cost. So XLA makes slower code in half the time, but where
`JAXNEURO_THOROUGH` is set, as `make test-all` does: there it makes the code that users get, and
shapes are checked (`conftest.py`). `--compile-table FILE` writes what `Report` has of every test
as JSON. The seconds of the cores are CPU time of the processes that run tests and of those that
they start.
"""

import collections
import json
import os
import resource
import time
from pathlib import Path

import jax
import pytest

THOROUGH = "JAXNEURO_THOROUGH" in os.environ

# JAX tells how long it took to get a program, and before that, how long to load it where it did.
GOT = "/jax/core/compile/backend_compile_duration"
LOADED = "/jax/compilation_cache/cache_retrieval_time_sec"
NAME = (
    "programs compiled, seconds of compiling, programs from disk, seconds of cores, MB of the "
    "process"
)
FILES = 10

_programs, _seconds, _loaded, _cores = 0, 0.0, 0, 0.0


def set_flags() -> None:
    """Sets what XLA reads when its backend is first used, which importing JAX is not.

    Eight devices. A program is compiled as one part, for each process has one core: the same code,
    some percent sooner. Then code that LLVM does not optimise, by the older of two emitters.
    """
    flags = {"xla_force_host_platform_device_count": 8, "xla_cpu_parallel_codegen_split_count": 1}
    if not THOROUGH:
        flags["xla_backend_optimization_level"] = 0
        if jax.__version_info__ < (0, 11):  # jax 0.12 ends if it is told this one
            flags["xla_cpu_use_fusion_emitters"] = "false"
    given = os.environ.get("XLA_FLAGS", "")
    more = [f"--{flag}={value}" for flag, value in flags.items() if flag not in given]
    os.environ["XLA_FLAGS"] = " ".join([given, *more]).strip()


def _count(event: str, duration: float, **_) -> None:
    global _programs, _seconds, _loaded
    if event == GOT:
        _programs, _seconds = _programs + 1, _seconds + duration
    elif event == LOADED:
        _programs, _seconds, _loaded = _programs - 1, _seconds - duration, _loaded + 1


jax.monitoring.register_event_duration_secs_listener(_count)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """A process sends what a test compiled with the report of its teardown."""
    global _programs, _seconds, _loaded, _cores
    if call.when == "teardown":
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        cores = sum(os.times()[:4])
        counts = [_programs, _seconds, _loaded, cores - _cores, memory]
        item.user_properties.append((NAME, counts))
        _programs, _seconds, _loaded, _cores = 0, 0.0, 0, cores


class Report:
    """Of each test: programs, seconds of compiling, programs from disk, wall time, cores, MB."""

    def __init__(self, table: str | None):
        self.table = table
        self.tests = collections.defaultdict(lambda: [0, 0.0, 0, 0.0, 0.0, 0])
        self.memory, self.start = 0, time.perf_counter()

    def pytest_runtest_logreport(self, report):
        mine = self.tests[report.nodeid]
        mine[3] += report.duration
        if report.when == "teardown":
            *counts, cores, memory = dict(report.user_properties)[NAME]
            mine[:3], mine[4:] = counts, (cores, memory)
            self.memory = max(self.memory, memory)

    def pytest_terminal_summary(self, terminalreporter):
        files = collections.defaultdict(lambda: [0, 0.0, 0, 0.0, 0.0, 0])
        for name, counts in self.tests.items():
            file = name.split("::")[0]
            files[file] = [a + b for a, b in zip(files[file], counts)]
        if self.table:
            Path(self.table).write_text(json.dumps({"files": files, "tests": self.tests}, indent=1))
        if not files:
            return
        programs, seconds, loaded, wall, cores, _ = map(sum, zip(*files.values()))
        write = terminalreporter.write_line
        spent = time.perf_counter() - self.start
        write(f"{spent:.0f} s of wall time, {cores:.0f} s of the cores")
        write(
            f"{programs} programs compiled in {seconds:.0f} s of {wall:.0f} s, {loaded} loaded "
            f"from disk; the largest process {self.memory:,} MB. Files that compile most:"
        )
        for file in sorted(files, key=lambda name: -files[name][1])[:FILES]:
            programs, seconds, _, _, cores, _ = files[file]
            write(f"{programs:6} programs {seconds:7.1f} s of {cores:7.1f} s  {file}")
