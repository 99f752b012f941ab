"""How the tests compile, and what: counted per test, the files that take most shown at the end.

A test costs what its programs cost. So XLA makes slower code in half the time, but where
`JAXNEURO_THOROUGH` is set, as by `make science` and for a part of `make test-all`: there it makes
the code that users get.
`--compile-table FILE` writes what `Report` has of every test
as JSON. The seconds of the cores are CPU time of the processes that run tests and of those that
they start.
"""

import collections
import json
import os
import resource
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import jax
import pytest

THOROUGH = "JAXNEURO_THOROUGH" in os.environ

# Options for the bits of formulas as they stand: else x / 7 becomes x * (1 / 7).
AS_WRITTEN = {"xla_disable_hlo_passes": "algsimp"}

# JAX tells how long it took to get a program, and before that, how long to load it where it did.
GOT = "/jax/core/compile/backend_compile_duration"
LOADED = "/jax/compilation_cache/cache_retrieval_time_sec"
COST = "cost"
FILES = 10

_programs, _seconds, _loaded, _cores = 0, 0.0, 0, 0.0


class Cost(NamedTuple):
    """The cost of a test, or of several. The first test of a process has the cost of its start.

    Attributes:
        programs: compiled programs.
        compiling: time of compiling [s].
        loaded: programs from disk.
        wall: wall time [s].
        cores: CPU time of the process and of those that it started [s].
        memory: the largest so far [MB].
    """

    programs: int = 0
    compiling: float = 0.0
    loaded: int = 0
    wall: float = 0.0
    cores: float = 0.0
    memory: int = 0


def total(costs: Iterable[Cost]) -> Cost:
    """The cost of all of them."""
    costs = list(costs)
    return Cost(*map(sum, zip(*costs)))._replace(memory=max(x.memory for x in costs))


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
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 // 10**6  # Linux: KiB
        cores = sum(os.times()[:4])
        cost = [_programs, _seconds, _loaded, 0.0, cores - _cores, memory]
        item.user_properties.append((COST, cost))
        _programs, _seconds, _loaded, _cores = 0, 0.0, 0, cores


class Report:
    """The cost of each test, for the end of the session and for `--compile-table`."""

    def __init__(self, table: str | None):
        self.table = table
        self.tests: dict[str, Cost] = {}
        self.start = time.perf_counter()

    def pytest_runtest_logreport(self, report):
        cost = self.tests.get(report.nodeid, Cost())
        wall = cost.wall + report.duration
        if report.when == "teardown":
            cost = Cost(*dict(report.user_properties)[COST])
        self.tests[report.nodeid] = cost._replace(wall=wall)

    def pytest_terminal_summary(self, terminalreporter):
        if not self.tests:
            return
        files = collections.defaultdict(list)
        for name, cost in self.tests.items():
            files[name.split("::")[0]].append(cost)
        files = {file: total(costs) for file, costs in files.items()}
        if self.table:
            Path(self.table).write_text(json.dumps({"files": files, "tests": self.tests}, indent=1))
        all_of_them = total(files.values())
        write = terminalreporter.write_line
        spent = time.perf_counter() - self.start
        write(f"{spent:.0f} s of wall time, {all_of_them.cores:.0f} s of the cores")
        write(
            f"{all_of_them.programs} programs compiled in {all_of_them.compiling:.0f} s, "
            f"{all_of_them.loaded} loaded from disk; the largest process "
            f"{all_of_them.memory:,} MB. Files that take most:"
        )
        for file in sorted(files, key=lambda name: -files[name].cores)[:FILES]:
            cost = files[file]
            compiled = f"{cost.programs:4} programs in {cost.compiling:5.1f} s"
            write(f"{cost.cores:7.1f} s, {compiled}  {file}")
