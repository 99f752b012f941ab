"""Brian2 in its C++ standalone mode: device set-up, compilation and timing of a network."""

from __future__ import annotations

import argparse
import shutil
import tempfile

import brian2 as b
from _common import DT_MS, ChildPeakRss, Stopwatch, emit


def set_up(args: argparse.Namespace) -> None:
    """Choose the device, its threads, the step and the seed; call before building a network."""
    b.set_device("cpp_standalone", build_on_run=False)
    if args.threads > 1:  # 0, the default, compiles without OpenMP: faster than one OpenMP thread
        b.prefs.devices.cpp_standalone.openmp_threads = args.threads
    b.defaultclock.dt = DT_MS * b.ms
    b.seed(args.seed)


def connect(group: b.NeuronGroup, exc: str, inh: str) -> tuple[b.Synapses, b.Synapses]:
    """Connect with probability 80/N; the first 80 % of the neurons are excitatory."""
    n = len(group)
    synapses = b.Synapses(group, group, on_pre=exc), b.Synapses(group, group, on_pre=inh)
    for projection, sources in zip(synapses, ("i < n_exc", "i >= n_exc"), strict=True):
        projection.connect(sources, p=80.0 / n, namespace={"n_exc": int(0.8 * n)})
    return synapses


def run(
    bench: str,
    args: argparse.Namespace,
    group: b.NeuronGroup,
    synapses: tuple[b.Synapses, ...],
    made_s: float,
    inputs: tuple[b.PoissonInput, ...] = (),
) -> None:
    """Compile and run the network and print the JSON line.

    wall_s is the time loop alone, as the generated program measures it; what else that program
    does (drawing the connections, writing results) is build_s; compile_s is code generation and
    the compiler, with the `made_s` seconds it took to describe the network.
    """
    monitor = b.SpikeMonitor(group, record=False)
    network = b.Network(group, *inputs, *synapses, monitor)
    folder = tempfile.mkdtemp()
    try:
        with Stopwatch() as compiling:
            network.run(args.seconds * b.second, namespace={})
            b.device.build(directory=folder, compile=True, run=False)
        with Stopwatch() as running, ChildPeakRss("main") as memory:
            b.device.run(directory=folder, with_output=False)
        wall_s = b.device._last_run_time
        emit(
            args,
            ["brian2", "numpy"],
            float(monitor.num_spikes),
            bench=bench,
            impl="brian2-cpp",
            synapses=sum(len(s) for s in synapses),
            build_s=running.wall - wall_s,
            compile_s=made_s + compiling.wall,
            wall_s=wall_s,
            cpu_s=running.cpu,
            peak_rss_mb=memory.mb,
            precision="float64",
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
