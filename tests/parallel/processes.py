"""Runs a program in several processes that are joined by `jn.parallel.connect`."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.store import STRICT

ROOT = Path(__file__).parents[2]
# Processes of one machine share its memory; gloo, which joins them, needs nothing else.
FLAGS = "--xla_force_host_platform_device_count={} --xla_cpu_parallel_codegen_split_count=1"


def start(program, processes, arguments, devices=1):
    """The processes of a Python program.

    It gets the address of process 0, their number, its own and `arguments`; each process has so
    many devices.
    """
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    environment = {**os.environ, "JAXNEURO_THREADS": "1", "XLA_FLAGS": FLAGS.format(devices)}
    return [
        subprocess.Popen(
            [
                *(sys.executable, *STRICT, "-c", program),
                *map(str, (address, processes, number, *arguments)),
            ],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(processes)
    ]


def finished(started, timeout=300):
    """What processes printed, when all have ended; none is left behind."""
    try:
        return [p.communicate(timeout=timeout)[0] for p in started]
    finally:
        for p in started:
            p.kill()
