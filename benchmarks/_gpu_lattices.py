"""Lattices with gap junctions on this card: `gather` and whole lattices checked against NumPy."""

import functools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from jaxneuro._kernels.gather import gather, make_gather_table
from jaxneuro._kernels.gpu_gather import gather_pallas

from ._gpu_checks import eighths
from ._run import DT
from .lattices import CONDUCTANCE, description


def checks(interpret: bool) -> Iterator[tuple[str, bool]]:
    """Name and success: row sums of several shapes, and the voltages of a lattice."""
    yield from sums(interpret)
    side, n_steps = (6, 100) if interpret else (50, 500)
    yield f"lattice of side {side}, {n_steps} steps", lattice(side, n_steps)


def sums(interpret: bool) -> Iterator[tuple[str, bool]]:
    """Rows of unequal length and of one, with and without weights: the same exact sums each time.

    Values and weights are eighths, whose sums have no rounding.
    """
    call = jax.jit(functools.partial(gather_pallas, interpret=True) if interpret else gather)
    rng = np.random.default_rng(0)
    shapes = {"short rows": (1000, 1000, 12), "long rows": (33, 70_000, 2000), "one row": (1, 5, 7)}
    for name, (n_rows, n_sources, most) in shapes.items():
        counts = rng.integers(0, most + 1, n_rows)
        counts[0] = most
        rows = np.repeat(np.arange(n_rows), counts)
        sources = rng.integers(0, n_sources, rows.size)
        weights = eighths(rows, sources).astype(np.float32)
        values = eighths(np.arange(n_sources), np.arange(n_sources)).astype(np.float32)
        table, column = make_gather_table(rows, sources, n_rows, n_sources, weights)
        for own in (True, False):
            given = column if own else jnp.zeros(0)
            want = np.zeros(n_rows)
            np.add.at(want, rows, values[sources] * (weights if own else 1.0))
            got = [np.asarray(call(jnp.asarray(values), given, table)) for _ in range(3)]
            same = all(np.array_equal(x, want) for x in got)
            yield f"gather, {name}, {'weights' if own else 'no weights'}", same


def lattice(side: int, n_steps: int) -> bool:
    """Whether a lattice moves as lixirnet's equations say: nearly all voltages within 0.1 mV.

    Rounding may move a spike by a step, and its neighbours part slowly from then on: in float32 all
    2,500 voltages agree to 1e-4 mV after 600 steps and 98 % after 1,000, in float64 all to 1e-13.
    """
    net = jn.build(description(side), key=1, dt=DT)
    state = net.init(1)
    record = jn.Record(variables={"lattice": "v"}, interval=n_steps * DT)
    run = jax.jit(jn.scan, static_argnums=(2, 4))
    recorded = run(net, state, n_steps, None, record)[1]
    got = np.asarray(recorded.traces["lattice"]["v"])[-1]
    v, u = (np.asarray(net.read(state, "lattice", x), np.float64) for x in "vu")
    c = net.connections("lattice~lattice")
    count = np.maximum(np.bincount(c.post, minlength=v.size), 1)
    reached = v
    for _ in range(n_steps):
        seen = np.bincount(c.post, v[c.pre] - v[c.post], v.size) / count
        rise = 0.04 * v**2 + 5 * v + 140 - u + CONDUCTANCE * seen
        reached, u = v + DT * rise / 100, u + DT * 0.02 * (0.2 * v - u)
        v, u = np.where(reached >= 30, -55.0, reached), np.where(reached >= 30, u + 8, u)
    return bool((np.abs(got - reached) < 0.1).mean() > 0.99)
