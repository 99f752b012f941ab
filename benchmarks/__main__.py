"""`python -m benchmarks NAME [options]`: one benchmark, one JSON line on stdout."""

import argparse
import importlib
import os
from pathlib import Path

# Benchmarks in which XLA's pool has all cores of the process: of a sweep each thread runs a chunk,
# and in training a matrix product is worth a thread.
POOLED = ("digits", "layers", "sweep")
NAMES = sorted(p.stem for p in Path(__file__).parent.glob("[a-z]*.py"))


def set_threads(options: argparse.Namespace) -> None:
    """Gives this process so many cores, before JAX starts.

    XLA's pool keeps one thread (see docs/performance.md), except in the benchmarks of `POOLED`. The
    native kernels use all cores of the process, one of which turns spikes into events while the
    next chunk runs.
    """
    import jaxneuro as jn

    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        threads = options.threads
        if threads > len(cores):
            raise SystemExit(f"--threads must be at most {len(cores)}, the cores of this process")
        os.sched_setaffinity(0, cores[:threads])
    xla_threads = 2 if getattr(options, "case", "") == "two threads" else 1
    if options.name in POOLED:
        xla_threads = options.threads
    jn.configure_cpu(xla_threads=xla_threads)


def make_parser() -> argparse.ArgumentParser:
    """The parser of all benchmarks; what it returns has the `run` of the one that is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name in NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        command = commands.add_parser(name, help=str(module.__doc__).splitlines()[0])
        command.add_argument("--threads", type=int, default=1)
        command.set_defaults(run=module.run)
        module.add_options(command)
    return parser


def main() -> None:
    options = make_parser().parse_args()
    set_threads(options)
    options.run(options)


if __name__ == "__main__":
    main()
