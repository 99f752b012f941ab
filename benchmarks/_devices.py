"""One network on some devices, laid out and ready to run in turn with other cases.

`python -m benchmarks._devices CASE` is a process that keeps one case: it runs once for every line
that it reads, and answers with a JSON line. The number of virtual devices of a CPU and XLA's pool
of threads are fixed in a process, so that cases need processes of their own.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from ._record import Record, round_floats


class Case(NamedTuple):
    """What one process runs.

    **Fields** `name`; `network` of `NETWORKS`; `neurons`; `ms` of biology; `devices` of the mesh, 1
    for the network as `build` returned it; `threads` of native kernels; `platform` "cpu" or "gpu";
    `copies` of this process that run at the same time and know nothing of each other.
    """

    name: str
    network: str
    neurons: int
    ms: float
    devices: int = 1
    threads: int = 1
    platform: str = "cpu"
    copies: int = 1


def describe(network: str, neurons: int) -> Any:
    """The description of a network of about so many neurons."""
    from examples.cortical_microcircuit import N
    from examples.cortical_microcircuit import description as microcircuit

    from . import _balanced, brunel, flybrain

    if network == "microcircuit":
        return microcircuit(neurons / sum(N[:8]), "poisson")
    if network == "brunel":
        return brunel.description(neurons)
    if network == "flybrain":
        return flybrain.of_size(neurons)
    return getattr(_balanced, network)(neurons)


NETWORKS = ("brunel", "coba", "cuba", "flybrain", "microcircuit")


class Laid:
    """A network on its devices, compiled and warm; `facts` of it, as a record."""

    def __init__(self, case: Case, seed: int = 1):
        import jax
        import numpy as np
        from jax.sharding import Mesh

        import jaxneuro as jn

        from ._run import DT

        self.case = case
        start = time.perf_counter()
        net = jn.build(describe(case.network, case.neurons), key=seed, dt=DT)
        built = time.perf_counter()
        self.facts: Record = {"neurons": net.n_neurons, "synapses": net.n_synapses, "dt_ms": DT}
        self.facts |= {"build_s": built - start, "bytes_per_step": 0, "steps_per_exchange": None}
        self.net, there = net, net.connection_bytes
        if case.devices > 1:
            devices = jax.devices(case.platform)[: case.devices]
            self.net = jn.parallel.shard(net, Mesh(np.array(devices), ("devices",)))
            self.facts["shard_s"] = time.perf_counter() - built
            report = jn.parallel.report(net, jn.parallel.Contiguous(), case.devices)
            self.facts["bytes_per_step"] = round(report.bytes_per_s * 1e-3 * DT)
            layout: Any = self.net.layout
            self.facts["steps_per_exchange"] = layout.shortest
            there = self.net.connection_bytes / case.devices
        self.facts["connections_mb_per_device"] = there / 2**20
        warm = self._run(self.net.init(seed))
        self.state = warm.state  # past the first spikes, which come all at once
        self.facts |= {"compile_s": warm.compile_s, "spikes": _fingerprint(warm)}
        spikes = sum(warm.events(name)[0].size for name in warm.populations)
        self.facts["rate_hz"] = spikes / net.n_neurons / (1e-3 * case.ms)

    def _run(self, state: Any) -> Any:
        import jaxneuro as jn

        return jn.simulate(self.net, self.case.ms, state=state, progress=False)

    def once(self) -> float:
        """Microseconds per step of a run from the end of the first one."""
        result = self._run(self.state)
        return result.run_s * 1e6 / result.n_steps


def _fingerprint(result: Any) -> str:
    """A number of eight hexadecimal digits that all spikes of a run decide."""
    crc = 0
    for name in result.populations:
        for column in result.events(name):
            crc = zlib.crc32(column.tobytes(), crc)
    return f"{crc:08x}"


class Apart:
    """A case in processes of its own, as many as it has copies."""

    def __init__(self, case: Case):
        command = [sys.executable, "-m", "benchmarks._devices", json.dumps(case)]
        how: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.case = case
        self.processes: list[Any] = [
            subprocess.Popen(command, env=_environment(case), **how) for _ in range(case.copies)
        ]
        self.facts: Record = self._answers()[0]

    def once(self) -> float:
        """Microseconds per step, of the slowest copy."""
        for process in self.processes:
            process.stdin.write("run\n")
            process.stdin.flush()
        return max(self._answers())

    def close(self) -> None:
        """Ends the processes."""
        for process in self.processes:
            process.stdin.close()
            process.wait()

    def _answers(self) -> list[Any]:
        lines = [process.stdout.readline() for process in self.processes]
        if not all(lines):
            raise SystemExit(f"the process of {self.case.name!r} ended; its error stands above")
        return [json.loads(line) for line in lines]


def _environment(case: Case) -> dict[str, str]:
    """The environment of a process: what JAX reads before it starts."""
    virtual = f"--xla_force_host_platform_device_count={case.devices}"
    if case.platform != "cpu":
        return os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return os.environ | {"XLA_FLAGS": virtual, "JAX_PLATFORMS": "cpu"}


def take_turns(runners: Sequence[Any], repeats: int) -> list[list[float]]:
    """Microseconds per step of every runner in each of some turns (A B C A B C ...)."""
    turns = [[runner.once() for runner in runners] for _ in range(repeats)]
    return [list(times) for times in zip(*turns)]


def records(runners: Sequence[Any], times: Sequence[list[float]], weak: bool) -> Iterator[Record]:
    """One line per case; ratios are those of the first case to it, medians over the turns.

    Under strong scaling the same network is faster by `speedup`; under weak scaling, where
    neurons grow with the workers, `speedup` is that of one network of this size. Spikes are
    compared on CPUs: on a card the sums of arrivals have no order.
    """
    first = runners[0]
    for runner, mine in zip(runners, times):
        case, facts = runner.case, dict(runner.facts)
        alike = case.platform == first.case.platform
        workers = max(case.devices, case.threads, case.copies) if alike else 1
        same = facts.pop("spikes") == first.facts["spikes"]
        comparable = case.platform == "cpu" and alike and case.copies == 1 and not weak
        kept = median(a / b for a, b in zip(times[0], mine))
        step = median(mine)
        line = {
            "bench": "devices",
            "case": case.name,
            "network": case.network,
            "scaling": "weak" if weak else "strong",
            "platform": case.platform,
            "devices": case.devices,
            "threads": case.threads,
            "copies": case.copies,
            **facts,
            "bio_s": 1e-3 * case.ms,
            "us_per_step": step,
            "us_least": min(mine),
            "us_most": max(mine),
            "rtf": step * 1e-3 / facts["dt_ms"],
            "speedup": kept * workers if weak else kept,
            "efficiency": kept if weak else kept / workers,
            "exchanged_mb_per_s": facts["bytes_per_step"] / step,
            "same_spikes": same if comparable else None,
        }
        yield {key: round_floats(value) for key, value in line.items()}


def table(lines: Sequence[Record]) -> list[str]:
    """The lines as plain text."""
    head = f"{'case':32}  {'us per step':>11}  {'least':>8}  {'speed-up':>8}  {'efficiency':>10}"
    out = [f"{head}  {'bytes/step':>10}  {'MB/device':>9}  same spikes"]
    for x in lines:
        row = f"{x['case']:32}  {x['us_per_step']:11,.1f}  {x['us_least']:8,.1f}"
        row += f"  {x['speedup']:8.2f}  {x['efficiency']:10.2f}  {x['bytes_per_step']:10,}"
        same = {True: "yes", False: "NO", None: ""}[x["same_spikes"]]
        out.append(f"{row}  {x['connections_mb_per_device']:9,.1f}  {same}".rstrip())
    return out


@contextlib.contextmanager
def opened(cases: Sequence[Case], make: Callable[[Case], Any]) -> Iterator[list[Any]]:
    """Runners of cases, one built after the other; processes end with the block."""
    runners: list[Any] = []
    try:
        for case in cases:
            runners.append(make(case))
        yield runners
    finally:
        for runner in runners:
            if isinstance(runner, Apart):
                runner.close()


def main() -> None:
    """Builds the case of the first argument, then runs it once for every line of stdin."""
    import jaxneuro as jn

    case = Case(*json.loads(sys.argv[1]))
    jn.configure_cpu(threads=case.threads, xla_threads=case.devices)
    laid = Laid(case)
    print(json.dumps(laid.facts), flush=True)
    for _ in sys.stdin:
        print(json.dumps(laid.once()), flush=True)


if __name__ == "__main__":
    main()
