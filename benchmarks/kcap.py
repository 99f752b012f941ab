"""Times the cap of k neurons and `lax.top_k` in turn, for numbers of several sizes."""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from jaxneuro._kernels.k_cap import ONE_PROGRAM, k_cap, k_cap_reference, k_cap_wide, key_words
from jaxneuro._kernels.native import native_available
from jaxneuro.assemblies import soft_cap

from ._record import cpu_device
from ._run import versions

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
CAPS = (100, 1_000, 10_000, 100_000)
BATCH = (200, 5_000, 100)  # networks, neurons of each, k
MOST_SHARE = 2  # a cap is at most 1 / 2 of the neurons
DIGIT = 4  # bits per pass of XLA's version on a GPU


def add_options(parser: argparse.ArgumentParser) -> None:
    """Sizes and turns."""
    parser.add_argument("--neurons", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--k", type=int, nargs="*", default=list(CAPS))
    parser.add_argument("--repeats", type=int, default=11, help="turns after one warm-up")


def in_turn(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every way in every turn: A B C A B C ..."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            jax.block_until_ready(way())
            if turn:
                taken[name].append(time.perf_counter() - start)
    return taken


def ways_of(n: int, k: int, gpu: bool) -> dict[str, Callable[[], Any]]:
    """Everything to time for one network, as functions of nothing."""
    rng = np.random.default_rng(n)
    x = jax.device_put(rng.normal(size=n).astype(np.float32))
    sums = jax.device_put(rng.poisson(20.0, n).astype(np.int32))  # with ties, as those of edges
    words = jax.device_put(np.stack([rng.integers(0, 2**32, n), np.zeros(n)], 1).astype(np.uint32))
    ways: dict[str, tuple[Callable, Any]] = {
        "ours": (lambda x: k_cap(x, k), x),
        "top_k": (lambda x: lax.top_k(x, k)[1], x),
        "ours, ties": (lambda x: k_cap(x, k), sums),
        "ours, 64 bits": (lambda x: k_cap_wide(x, k), words),
    }
    if n <= 1_000_000:
        ways["soft"] = (lambda x: soft_cap(x, k), x)
    if gpu or n <= 1_000_000:
        digit = DIGIT if gpu else 1
        ways["passes of XLA"] = (lambda x: k_cap_reference(key_words(x), k, digit), x)
    if gpu and n <= 8 * ONE_PROGRAM:
        from jaxneuro._kernels.gpu_k_cap import k_cap_pallas

        ways["one program"] = (lambda x: k_cap_pallas(key_words(x), k), x)
    return {name: _ready(f, given) for name, (f, given) in ways.items()}


def _ready(f: Callable, given: Any) -> Callable[[], Any]:
    compiled = jax.jit(f)
    return lambda: compiled(given)


def batch(networks: int, n: int, k: int) -> dict[str, Callable[[], Any]]:
    """The same for many small networks."""
    x = jax.device_put(np.random.default_rng(0).normal(size=(networks, n)).astype(np.float32))
    ours = jax.vmap(lambda x: k_cap(x, k))
    return {"ours": _ready(ours, x), "top_k": _ready(lambda x: lax.top_k(x, k)[1], x)}


def run(options) -> None:
    """One JSON line per size and k: median microseconds, and top_k / ours of each turn."""
    device = jax.devices()[0]
    gpu = device.platform == "gpu"
    about = {
        "native": native_available(),
        "threads": options.threads,
        "device": str(device.device_kind) if gpu else cpu_device(),
        "versions": versions(),
    }

    def write(networks: int, n: int, k: int, ways: dict[str, Callable[[], Any]]) -> None:
        taken = in_turn(ways, options.repeats)
        ratios = [b / a for a, b in zip(taken["ours"], taken["top_k"])]
        line = {
            "bench": "kcap",
            "networks": networks,
            "neurons": n,
            "k": k,
            "us": {name: round(statistics.median(s) * 1e6, 1) for name, s in taken.items()},
            "top_k/ours": round(statistics.median(ratios), 2),
            "spread": [round(min(ratios), 2), round(max(ratios), 2)],
        }
        print(json.dumps({**line, **about}), flush=True)

    write(*BATCH, batch(*BATCH))
    for n in options.neurons:
        for k in options.k:
            if k * MOST_SHARE <= n:
                write(1, n, k, ways_of(n, k, gpu))
