"""NEST: kernel set-up, the random network of COBA and CUBA, and the timing of any network."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from _common import DT_MS, Stopwatch, emit, peak_rss_mb

os.environ["PYNEST_QUIET"] = "1"  # no banner on stdout
import nest


def run(bench: str, args: argparse.Namespace, model: str, exc: float, inh: float, **params) -> None:
    """Build the network (first 80 % excitatory, probability 80/N), run it, print the JSON line.

    `exc` and `inh` are synaptic weights (pA or nS, by model); the delay is one step.
    """
    n = args.neurons
    n_exc = int(0.8 * n)

    def make() -> int:
        v_init = nest.random.uniform(params["V_reset"], params["V_th"])
        neurons = nest.Create(model, n, params={**params, "V_m": v_init})
        for sources, weight in ((neurons[:n_exc], exc), (neurons[n_exc:], inh)):
            nest.Connect(
                sources,
                neurons,
                {"rule": "pairwise_bernoulli", "p": 80.0 / n, "allow_autapses": True},
                {"synapse_model": "static_synapse", "weight": weight, "delay": DT_MS},
            )
        return 0

    timed(bench, args, make)


def timed(bench: str, args: argparse.Namespace, make: Callable[[], int]) -> None:
    """Set the kernel up, time `make` and a run, print the JSON line.

    `make` builds the network and returns how many of its connections come from generators.
    """
    nest.verbosity = nest.VerbosityLevel.ERROR
    nest.ResetKernel()
    nest.set(resolution=DT_MS, local_num_threads=args.threads, rng_seed=args.seed)
    with Stopwatch() as building:
        from_generators = make()
        nest.Prepare()
        nest.Run(DT_MS)  # the first step builds the connection tables: not simulation
    with Stopwatch() as running:
        nest.Run(args.seconds * 1e3)
    nest.Cleanup()
    emit(
        args,
        ["nest-simulator", "numpy"],
        nest.local_spike_counter,  # of the latest Run alone
        bench=bench,
        impl="nest",
        synapses=nest.num_connections - from_generators,
        build_s=building.wall,
        compile_s=None,
        wall_s=running.wall,
        cpu_s=running.cpu,
        peak_rss_mb=peak_rss_mb(),
        precision="float64",
    )
