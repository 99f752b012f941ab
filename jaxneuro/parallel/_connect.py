"""`connect`: joins the processes of a run."""

import re
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from .. import spec
from ..spec import InvalidValueError


@spec.arguments(
    processes=spec.Maybe(spec.Whole(1)),
    process=spec.Maybe(spec.Whole()),
    lost_after=spec.Number(unit="s", above=0.0),
    wait=spec.Number(unit="s", above=0.0),
)
def connect(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
    *,
    lost_after: float = 60.0,
    wait: float = 300.0,
) -> Mesh:
    """Joins this process to the others of a run; returns the mesh over the devices of all.

    Every process calls it once, before anything is computed, and then runs the same program: each
    line that touches a network over the mesh is reached by all of them, in the same order. Under
    SLURM and Open MPI it needs no arguments. Elsewhere `coordinator` is the address and port of
    process 0 ("10.0.0.1:12345"), which all can reach, `processes` how many there are, `process` the
    number of this one. The mesh has one axis, "devices"; the devices of a process are neighbours.

    `wait` [s] is how long to wait for the others at the start. A process that is not heard of for
    `lost_after` [s] counts as lost, and JAX then ends all others. On CPUs the others notice sooner:
    the next exchange fails and `simulate` raises `LostProcessError`, which has the result so far.
    Process 0 also keeps the list of all; if it is the one that dies, JAX ends the others at once.

    Raises:
        InvalidValueError: for some of `coordinator`, `processes` and `process` without the others,
            an address without a port, a number of this process that is not below their number, and
            times that are not positive; `RuntimeError` of JAX where something was computed before,
            or the others do not come.

    Reference:
        `jax.distributed.initialize`, https://docs.jax.dev/en/latest/multi_process.html.
    """
    given = coordinator, processes, process
    if any(x is None for x in given) and any(x is not None for x in given):
        raise ValueError(
            "connect: coordinator, processes and process belong together; give all three, or none "
            f"under SLURM and Open MPI; got {coordinator!r}, {processes!r} and {process!r}"
        )
    if coordinator is not None and not re.fullmatch(r".+:\d+", str(coordinator)):
        raise InvalidValueError(
            "connect",
            "coordinator",
            "the address and a free port of process 0, such as '10.0.0.1:12345'",
            repr(coordinator),
        )
    if processes is not None:
        spec.check("connect", "process", spec.Whole(0, processes - 1), process)
    lost = max(round(lost_after), 1)
    times: dict[str, Any] = {
        "initialization_timeout": max(round(wait), 1),
        "heartbeat_timeout_seconds": lost,
        "shutdown_timeout_seconds": lost,  # who ends waits for the others, who may be lost
    }
    jax.distributed.initialize(coordinator, processes, process, **times)
    return Mesh(np.array(jax.devices()), ("devices",))
