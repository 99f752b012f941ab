"""Assemblies on this card: rounds and caps checked against those of the CPU, and timed."""

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxneuro import assemblies as ac
from jaxneuro._kernels.edges import Firing, Hashed
from jaxneuro._kernels.synaptic_input import synaptic_input
from jaxneuro._kernels.wide import UNIT_BITS, wide_integers, wide_words
from jaxneuro.assemblies import _step

from ._gpu_kernels import all_launches, seconds

TARGET = 1000.0  # rounds per second of a million neurons, of which 1000 fire
KEY = np.array([1, 2], np.uint32)


def brain_of(n: int, k: int, p: float, connectome: str = "hashed", rounds: int = 128) -> ac.Brain:
    """An area that hears a stimulus of k neurons and itself."""
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    area, stimuli = ac.Area("A", n, k, connectome), [ac.Stimulus("S", k)]
    return ac.Brain([area], stimuli, fibres, p=p, beta=0.05, rounds=rounds)


def version_of(interpret: bool, **how: Any) -> Callable:
    """`synaptic_input` as a brain calls it; with options, or interpreted on a CPU, its kernel."""
    if not (interpret or how):
        return synaptic_input

    def call(sums: jax.Array, firing: Firing, edges: Any) -> jax.Array:
        from jaxneuro._kernels.gpu_synaptic_input import hashed_pallas
        from jaxneuro._kernels.wide import wide_add

        if not isinstance(edges, Hashed):
            return synaptic_input(sums, firing, edges)
        return wide_add(sums, hashed_pallas(firing, edges, interpret=interpret, **how))

    return call


@contextlib.contextmanager
def _hearing_by(version: Callable) -> Iterator[None]:
    before, _step.synaptic_input = _step.synaptic_input, version
    try:
        yield
    finally:
        _step.synaptic_input = before


def looped(brain: ac.Brain, rounds: int, version: Callable) -> Callable:
    """`state -> (state, caps of every round, support of every round)`, compiled."""
    mask = brain.active("S->A", "A->A")

    def one(state: Any, _: Any) -> tuple[Any, Any]:
        state = brain.step(state, mask)
        return state, (brain.cap(state, "A"), brain.support(state, "A"))

    def run(state: Any) -> Any:
        with _hearing_by(version):
            state, (caps, support) = lax.scan(one, state, length=rounds)
        return state, caps, support

    return jax.jit(run)


def _on_cpu(work: Callable[[], Any]) -> Any:
    """What a function of nothing returns on the CPU of this machine."""
    with jax.default_device(jax.devices("cpu")[0]):
        return jax.tree.map(np.asarray, work())


def _same(got: Any, want: Any) -> bool:
    pairs = zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def checks(small: bool) -> Iterator[tuple[str, bool]]:
    """Name and success: rounds, batches, and many synapses onto few targets."""
    parts = (_rounds, _sampled, _dense, _batch, _races)
    return itertools.chain.from_iterable(part(small) for part in parts)


def _rounds(small: bool) -> Iterator[tuple[str, bool]]:
    """Every bit of caps, supports and histories equals that of the CPU."""
    large, rounds = (1_000_000, 1000, 0.01), 4 if small else 10
    given = {"hashed": large, "explicit": (20_000, 200, 0.05)}
    for connectome, size in given.items():
        size = (400, 20, 0.1) if small else size

        def run(version: Callable, connectome: str = connectome, size: Any = size) -> Any:
            n, k, p = size
            brain = brain_of(n, k, p, connectome)
            return looped(brain, rounds, version)(brain.init(1))

        want = _on_cpu(functools.partial(run, version_of(False)))
        got = run(version_of(small))
        moved = want[2][-1] > size[1] and not np.array_equal(*want[1][:2])
        yield f"{rounds} rounds, {connectome}, n {size[0]}", bool(moved) and _same(got, want)


def _sampled(small: bool) -> Iterator[tuple[str, bool]]:
    """Supports have the mean of those of the CPU: what is drawn follows logarithms, whose last bits
    depend on the device."""
    (n, k, p), seeds = ((2000, 30, 0.05), 8) if small else ((1_000_000, 300, 0.01), 64)

    def run() -> Any:
        brain = brain_of(n, k, p, "sampled")
        one = looped(brain, 10, version_of(False))
        states = jax.vmap(brain.init)(np.arange(seeds, dtype=np.uint32))
        return jax.vmap(lambda state: one(state)[1:])(states)

    (caps, got), (_, want) = jax.tree.map(np.asarray, run()), _on_cpu(run)
    got, want = got[:, -1], want[:, -1]
    error = math.sqrt((got.var() + want.var()) / seeds)
    near = abs(got.mean() - want.mean()) < 4 * error
    yield f"{seeds} sampled areas", bool(near and got.min() > k and (np.diff(caps) > 0).all())


def _dense(small: bool) -> Iterator[tuple[str, bool]]:
    """Sums equal those over an array of all synapses, in NumPy."""
    from jaxneuro._kernels.redraw import gap_rows

    sources, n, k, p = (40, 300, 10, 0.2) if small else (500, 20_000, 200, 0.05)
    rng, words = np.random.default_rng(0), 2
    firing = _firing(sources, n, k, words, learned=True)
    counts, targets = gap_rows((KEY[0], KEY[1]), 0, sources, n, p)
    there = np.zeros((sources, n), bool)
    there[np.repeat(np.arange(sources), counts), targets] = True
    weights, want = wide_integers(np.asarray(firing.weights)), np.zeros(n, np.int64)
    for source in firing.cap:
        times = np.bitwise_count(firing.before[source] & firing.mask & firing.after).sum(1)
        want += np.where(there[source], weights[times], 0)
    start = rng.integers(-(2**40), 2**40, n)
    for lanes in (32,) if small else (32, 128, 512):
        call = version_of(small, lanes=lanes)
        got = jax.jit(lambda *x, call=call: call(x[0], x[1], Hashed(x[2], n, p)))(
            wide_words(start), firing, KEY
        )
        right = np.array_equal(wide_integers(np.asarray(got)), start + want)
        yield f"sums of all synapses, lanes {lanes}", right


def _batch(small: bool) -> Iterator[tuple[str, bool]]:
    """Brains at once are the same brains one by one."""
    size, seeds = (300, 15, 0.1) if small else (10_000, 100, 0.05), range(3 if small else 20)

    def run(at_once: bool) -> Any:
        n, k, p = size
        brain = brain_of(n, k, p)
        one = looped(brain, 4, version_of(False))
        if at_once:
            states = jax.vmap(brain.init)(np.array(seeds, np.uint32))
            return jax.vmap(lambda state: one(state)[1:])(states)
        return [one(brain.init(seed))[1:] for seed in seeds]

    got, want = run(True), _on_cpu(lambda: run(False))
    right = all(_same([x[i] for x in got], member) for i, member in enumerate(want))
    yield f"{len(seeds)} brains at once", right


def _races(small: bool) -> Iterator[tuple[str, bool]]:
    """Every source firing, 100 times: the same exact sums each time, onto few and many targets."""
    sources, times = (60, 3) if small else (20_000, 100)
    for name, n, p in (("crowded", 16, 1.0), ("spread", 50 if small else 200_000, 0.02)):
        firing = _firing(sources, n, sources, 1, learned=True)
        compiled = jax.jit(
            lambda firing, n=n, p=p: version_of(small)(
                jnp.zeros((n, 2), jnp.uint32), firing, Hashed(jnp.asarray(KEY), n, p)
            )
        )
        want = _on_cpu(lambda n=n, p=p, f=firing: _by_default(f, n, p))
        right = [np.array_equal(compiled(firing), want) for _ in range(times)]
        yield f"{name}, {times} times", bool(want.any()) and all(right)


def _by_default(firing: Firing, n: int, p: float) -> jax.Array:
    edges = Hashed(jnp.asarray(KEY), n, p)
    return jax.jit(lambda f: synaptic_input(jnp.zeros((n, 2), jnp.uint32), f, edges))(firing)


def _firing(sources: int, n: int, k: int, words: int, learned: bool) -> Firing:
    """A random cap and, if the fibre learned, a random history."""
    rng = np.random.default_rng(1)
    bits = lambda *shape: rng.integers(0, 2**32, shape, np.uint32)  # noqa: E731
    cap = np.sort(rng.choice(sources, k, replace=False)).astype(np.int32)
    grown = np.rint(2.0**UNIT_BITS * 1.05 ** np.arange(32 * words + 1)).astype(np.int64)
    before, after = bits(sources, words), bits(n, words)
    mask = bits(words) if learned else np.zeros(words, np.uint32)
    arrays: Any = (np.array(True), cap, before, after, mask, wide_words(grown))
    return Firing(*arrays)


def input_us(n: int, k: int, p: float, steps: int, call: Callable, learned: bool) -> float:
    """Microseconds of one `synaptic_input` of a fibre within an area, in a compiled loop."""
    firing = jax.device_put(_firing(n, n, k, 2, learned))

    @jax.jit
    def loop(firing: Firing, key: jax.Array) -> jax.Array:
        def body(i: Any, sums: jax.Array) -> jax.Array:
            cap = jnp.sort((firing.cap + i.astype(jnp.int32)) % n)  # other rows in each step
            return call(sums, firing._replace(cap=cap), Hashed(key, n, p))

        return lax.fori_loop(0, steps, body, jnp.zeros((n, 2), jnp.uint32))

    key = jnp.asarray(KEY)
    return seconds(lambda: loop(firing, key)) / steps * 1e6


def by_xla(sums: jax.Array, firing: Firing, edges: Any) -> jax.Array:
    """`synaptic_input` without its kernel: the reference, on the card too."""
    from jaxneuro._kernels import synaptic_input as synaptic_input_file
    from jaxneuro._kernels.wide import wide_add

    return wide_add(sums, synaptic_input_file._one_fibre(sums, firing, edges))


def inputs(small: bool) -> Iterator[dict[str, Any]]:
    """One fibre of a hashed area: the kernel as it is, cut otherwise, ordered adds, plain XLA."""
    sizes = [(10_000, 100, 0.05), (100_000, 300, 0.05), (1_000_000, 1000, 0.01)]
    for n, k, p in [(300, 15, 0.1)] if small else sizes:
        for learned in (False, True):
            steps = 2 if small else 200
            ways: dict[str, Callable] = {"pallas": version_of(small)}
            for lanes in (64,) if small else (64, 128, 256, 512, 1024):
                ways[f"lanes {lanes}"] = version_of(small, lanes=lanes)
            ways["ordered adds"] = version_of(small, ordered=True)
            us = {name: input_us(n, k, p, steps, f, learned) for name, f in ways.items()}
            us["plain XLA"] = input_us(n, k, p, 2 if small else 10, by_xla, learned)
            yield {"what": "input", "n": n, "k": k, "p": p, "learned": learned, "us": us}


def caps(small: bool) -> Iterator[dict[str, Any]]:
    """The cap of k neurons, as `python -m benchmarks kcap` times it."""
    from .kcap import ways_of

    for n, k in [(1000, 50)] if small else [(10_000, 100), (100_000, 300), (1_000_000, 1000)]:
        ways = ways_of(n, k, not small)
        us = {name: seconds(way) * 1e6 for name, way in ways.items()}
        yield {"what": "k_cap", "n": n, "k": k, "us": us}


def projections(small: bool, left: Callable[[], float]) -> Iterator[dict[str, Any]]:
    """Rounds of one area: hashed, sampled, explicit, and many brains at once."""
    large = (400, 20, 0.1) if small else (1_000_000, 1000, 0.01)
    middle = (300, 15, 0.1) if small else (10_000, 100, 0.05)
    settings = [("hashed", large, 1), ("sampled", large, 1), ("explicit", middle, 1)]
    settings += [("hashed", middle, 1), ("hashed", middle, 3 if small else 1000)]
    for connectome, (n, k, p), brains in settings:
        if left() < 30 and not small:
            continue
        rounds = 5 if small else 100
        brain = brain_of(n, k, p, connectome)
        run, seeds = looped(brain, rounds, version_of(False)), np.arange(brains, dtype=np.uint32)
        state = jax.vmap(brain.init)(seeds) if brains > 1 else brain.init(seeds[0])
        program = jax.jit(run if brains == 1 else jax.vmap(run)).lower(state).compile()
        taken = seconds(lambda f=program, s=state: f(s)[2])
        support = np.asarray(program(state)[2]).reshape(brains, rounds)[:, -1]
        yield {
            "what": "rounds",
            "connectome": connectome,
            "n": n,
            "k": k,
            "p": p,
            "brains": brains,
            "launches_per_round": all_launches(program.as_text() or ""),
            "us": {
                "round": taken / rounds * 1e6,
                "round of a brain": taken / rounds / brains * 1e6,
            },
            "rounds_per_s": rounds * brains / taken,
            "support": float(support.mean()),
        }


def table(lines: list[dict[str, Any]]) -> Iterator[str]:
    """The lines as text: what, sizes, and microseconds of each way."""
    for line in lines:
        names = ("connectome", "n", "k", "p", "brains", "learned")
        size = ", ".join(f"{name} {line[name]}" for name in names if name in line)
        yield f"{line['what']:8} {size}"
        for name, us in line["us"].items():
            yield f"    {name:20} {us:12,.1f} us"
        if "rounds_per_s" in line:
            met = ""
            if line["n"] == 1_000_000 and line["connectome"] == "hashed":
                met = f" (target {TARGET:,.0f})"
            yield f"    {'rounds per second':20} {line['rounds_per_s']:12,.0f}{met}"


def rounded(line: dict[str, Any]) -> dict[str, Any]:
    """The line with numbers of four digits."""
    four = lambda x: float(f"{x:.4g}") if isinstance(x, float) and math.isfinite(x) else x  # noqa: E731
    us = {name: four(x) for name, x in line["us"].items()}
    return {**{name: four(x) for name, x in line.items()}, "us": us}
