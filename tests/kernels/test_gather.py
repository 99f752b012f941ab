"""`gather`: native kernel, reference and Pallas kernel against the oracle, and transformations."""

import functools
import sys

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.gather import gather, gather_reference, make_gather_table, read_gather_table
from jaxneuro._kernels.gpu_gather import gather_pallas
from jaxneuro._kernels.native import native_available, native_library
from jaxneuro._kernels.threads import threads
from tests.kernels.gather_cases import (
    LAYOUTS,
    NO_WEIGHTS,
    RAGGED,
    case_of,
    multiples_of_an_eighth,
)
from tests.kernels.test_gpu import KERNEL, assert_reference, for_cuda, moved
from tests.oracle import gather as oracle

NATIVE = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")


@jax.jit
def every_version(values, weights, table):
    versions = [gather, gather_reference]
    if table.n_entries:
        versions.append(functools.partial(gather_pallas, interpret=True))
    return [[version(values, own, table) for version in versions] for own in (weights, weights[:0])]


def check(case, values=None, column=None):
    values = case.values if values is None else values
    column = case.column if column is None else column
    weighted, plain = every_version(values, column, case.table)
    for got in weighted:
        assert got.dtype == values.dtype
        np.testing.assert_array_equal(got, case.expected())
    for got in plain:
        np.testing.assert_array_equal(got, case.expected(weights=np.ones(len(case.rows))))


@hypothesis.given(
    name=st.sampled_from(sorted(LAYOUTS)), seed=st.integers(0, 2**32 - 1), sheet=st.booleans()
)
def test_equals_the_oracle_exactly(name, seed, sheet):
    check(case_of(name, seed, sheet))


@pytest.mark.parametrize("name", ["ragged", "all alike"])
def test_padding_reaches_no_row(name):
    case = case_of(name)
    used = np.isin(np.arange(case.n_sources), case.sources)
    keep = case.sources != 0
    case.rows, case.sources, case.weights = (
        x[keep] for x in (case.rows, case.sources, case.weights)
    )
    case.table, column = make_gather_table(
        case.rows, case.sources, case.n_rows, case.n_sources, case.weights
    )
    column = np.array(column)
    padding = np.ones(column.size, bool)
    padding[read_gather_table(case.table)[2]] = False
    assert padding.any()
    column[padding] = np.nan
    values = np.where(used & (np.arange(case.n_sources) > 0), case.values, np.float32(np.nan))
    check(case, values, column)
    loss = jax.jit(jax.grad(lambda v, w: jnp.sum(gather(v, w, case.table)), (0, 1)))
    of_values, of_weights = loss(values, column)
    assert np.isfinite(of_values).all()
    assert np.isfinite(of_weights).all()
    np.testing.assert_array_equal(np.asarray(of_weights)[padding], 0)


def test_nan_reaches_the_rows_that_read_it():
    case = case_of("ragged")
    values = case.values.copy()
    values[case.sources[0]] = np.nan
    reached = np.isin(np.arange(case.n_rows), case.rows[case.sources == case.sources[0]])
    for versions in every_version(values, case.column, case.table):
        for got in versions:
            np.testing.assert_array_equal(np.isnan(got), reached)


def test_neighbours_that_wrap_around_are_no_neighbours():
    # The sources of a slice are 65,530 ... 65,535, 0 ... 9; as 16-bit numbers they rise by 1.
    rows = np.arange(16)
    sources = (65_530 + rows) % 65_536
    table, _ = make_gather_table(rows, sources, 16, 65_536)
    assert table.sources.dtype == jnp.uint16
    values = np.arange(65_536, dtype=np.float32)
    np.testing.assert_array_equal(jax.jit(gather)(values, NO_WEIGHTS, table), sources)


def test_the_last_sources_are_read_as_neighbours():
    for n_sources in (300, 70_000):
        rows = np.arange(16)
        table, _ = make_gather_table(rows, n_sources - 16 + rows, 16, n_sources)
        values = np.arange(n_sources, dtype=np.float32)
        got = jax.jit(gather)(values, NO_WEIGHTS, table)
        np.testing.assert_array_equal(got, n_sources - 16 + rows)


def test_float64(x64):
    case = case_of("ragged")
    values, weights = case.values.astype(np.float64), np.asarray(case.column, np.float64)
    values *= 1 + 2.0**-40
    for got in every_version(values, weights, case.table)[0]:
        assert got.dtype == jnp.float64
        np.testing.assert_array_equal(got, case.expected(values))


# Threads and vectors


@pytest.fixture
def several():
    """Sets how many threads a call may use; puts the number back."""
    before = threads()
    yield threads
    threads(before)


@pytest.fixture
def vectors():
    """Sets how many bytes a vector may have; puts the number back."""
    library = native_library()
    assert library is not None
    before = library.jaxneuro_vector_bytes(0)
    yield library.jaxneuro_vector_bytes
    library.jaxneuro_vector_bytes(before)


def large(n_sources, seed=1):
    """Enough entries for threads; half of the rows are those of a sheet."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, 9_003)
    counts[:4_000] = 30
    rows = np.repeat(np.arange(9_003), counts)
    sources = rng.integers(0, n_sources, rows.size)
    sources[:120_000] = rows[:120_000] + np.tile(np.arange(30) * 3, 4_000)
    weights = rng.normal(size=rows.size).astype(np.float32)
    table, column = make_gather_table(rows, sources, 9_003, n_sources, weights)
    return table, column, rng.normal(size=n_sources).astype(np.float32)


def one_by_one(table, column, values):
    """The sums in the precision of the values, entry by entry."""
    rows, sources, at = read_gather_table(table)
    counts = np.asarray(table.counts)
    k = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    products = values[sources] if column.size == 0 else np.asarray(column)[at] * values[sources]
    out = np.zeros(table.n_rows, values.dtype)
    for number in range(table.longest):
        mine = k == number
        out[rows[mine]] += products[mine]
    return out


@NATIVE
@pytest.mark.parametrize("n_sources", [9_000, 90_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_depend_on_neither_threads_nor_vectors(n_sources, dtype, several, vectors, request):
    if dtype == "float64":
        request.getfixturevalue("x64")
    table, column, values = large(n_sources)
    assert table.n_entries > 200_000
    column, values = np.asarray(column).astype(dtype), values.astype(dtype)
    run = jax.jit(gather)
    for own in (column, column[:0]):
        want = one_by_one(table, own, values)
        for width in (16, 32, 64):
            assert vectors(width) <= width
            for n in (1, 2, 3, 8) if width == 16 else (2,):
                assert several(n) == n
                np.testing.assert_array_equal(run(values, own, table), want)


@NATIVE
def test_sums_of_denormal_numbers(several, vectors):
    # XLA's threads may take them for 0; then the others must, too.
    table, column, values = large(9_000)
    values, run = values * np.float32(1e-39), jax.jit(gather)
    several(1)
    want = run(values, column, table)
    for n, width in ((3, 64), (3, 16)):
        several(n), vectors(width)
        np.testing.assert_array_equal(run(values, column, table), want)


# Transformations

LOSS = jax.value_and_grad(lambda v, w, table, bar: jnp.sum(gather(v, w, table) * bar), (0, 1))


@pytest.mark.parametrize("name", ["ragged", "sources in 32 bits", "no source"])
def test_the_gradient_is_that_of_the_oracle(name):
    case = case_of(name)
    bar = multiples_of_an_eighth(np.random.default_rng(5), case.n_rows)
    value, (of_values, of_weights) = jax.jit(LOSS)(case.values, case.column, case.table, bar)
    assert value == np.sum(case.expected() * bar)
    want = oracle.gradient(bar, case.values, case.weights, case.rows, case.sources)
    np.testing.assert_array_equal(of_values, want[0])
    at = read_gather_table(case.table)[2]
    order = np.lexsort((case.sources, case.rows))
    np.testing.assert_array_equal(np.asarray(of_weights)[at], want[1][order])


def test_the_gradient_without_weights():
    case, ones = case_of("ragged"), np.ones(RAGGED.sum())
    bar = multiples_of_an_eighth(np.random.default_rng(5), case.n_rows)
    _, (of_values, of_weights) = jax.jit(LOSS)(case.values, NO_WEIGHTS, case.table, bar)
    want = oracle.gradient(bar, case.values, ones, case.rows, case.sources)
    np.testing.assert_array_equal(of_values, want[0])
    assert of_weights.shape == (0,)


BATCHES = {
    "values": [(0, None)],
    "weights": [(None, 0)],
    "both": [(0, 0)],
    "values in weights": [(0, None), (None, 0)],
    "weights in values": [(None, 0), (0, None)],
    "thrice": [(0, 0), (None, 0), (0, None)],
}


@jax.jit
def of_one(values, column, table, bar):
    return gather(values, column, table), LOSS(values, column, table, bar)[1]


@pytest.mark.slow(but=["values"])
@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_is_its_members(batch):
    case, rng = case_of("ragged"), np.random.default_rng(7)
    axes, sizes = BATCHES[batch], (2, 3, 2)[: len(BATCHES[batch])]
    # The last vmap in the list is the outermost: its axis is the first.
    shapes = [tuple(n for n, a in zip(sizes, axes) if a[i] == 0)[::-1] for i in (0, 1)]
    values = multiples_of_an_eighth(rng, (*shapes[0], case.n_sources))
    column = np.asarray(case.column) * multiples_of_an_eighth(rng, (*shapes[1], 1))
    bar = multiples_of_an_eighth(rng, case.n_rows)
    run, slow = gather, gather_reference
    loss = lambda v, w, table: LOSS(v, w, table, bar)[1]  # noqa: E731
    for a in axes:
        run, slow, loss = (jax.vmap(f, (*a, None)) for f in (run, slow, loss))

    @jax.jit
    def every(values, column, table):
        return run(values, column, table), slow(values, column, table), loss(values, column, table)

    got, want, bars = every(values, column, case.table)
    np.testing.assert_array_equal(got, want)
    full = tuple(sizes[::-1])
    assert got.shape == (*full, case.n_rows)
    for index in np.ndindex(full):
        mine = [
            x[tuple(j for j, a in zip(index, axes[::-1]) if a[i] == 0)]
            for i, x in enumerate((values, column))
        ]
        one, one_bars = of_one(*mine, case.table, bar)
        np.testing.assert_array_equal(got[index], one)
        for a, b in zip(bars, one_bars):
            np.testing.assert_array_equal(a[index], b)


@NATIVE
def test_a_batch_on_threads(several):
    table, column, values = large(9_000)
    batch = np.stack([values, 2 * values, -values])
    run = jax.jit(jax.vmap(gather, (0, None, None)))
    want = [one_by_one(table, column, x) for x in batch]
    for n in (1, 3):
        several(n)
        np.testing.assert_array_equal(run(batch, column, table), want)


def test_every_device_of_a_mesh_adds_its_own():
    case = case_of("ragged")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("members",))
    over, same = jax.sharding.PartitionSpec("members"), jax.sharding.PartitionSpec()
    values = multiples_of_an_eighth(np.random.default_rng(3), (8, case.n_sources))

    def own(values, column, table):
        by_member = jax.vmap(gather, (0, None, None))
        return by_member(values, column, table), by_member(values, column[:0], table)

    specs = {"in_specs": (over, same, same), "out_specs": over}
    run = jax.jit(jax.shard_map(own, mesh=mesh, **specs))
    ones = np.ones(len(case.rows))
    got, plain = run(values, case.column, case.table)
    np.testing.assert_array_equal(got, [case.expected(x) for x in values])
    np.testing.assert_array_equal(plain, [case.expected(x, ones) for x in values])


def test_a_batched_table_is_refused():
    case = case_of("ragged")
    tables = jax.tree.map(lambda x: np.stack([x, x]), case.table)
    with pytest.raises(ValueError, match="table of connections must not be batched"):
        jax.vmap(gather, (None, None, 0))(case.values, case.column, tables)


@NATIVE
def test_the_native_kernel_is_what_runs():
    case = case_of("ragged")
    text = jax.jit(gather).lower(case.values, case.column, case.table).compile().as_text()
    assert "jaxneuro_gather" in text
    assert "while" not in text


# CUDA


def lowered(batch=(), weighted=True, gradient=False):
    case = case_of("ragged")
    run = (lambda v, w: LOSS(v, w, case.table, 1.0)) if gradient else None
    run = run or (lambda v, w: gather(v, w, case.table))
    for _ in batch:
        run = jax.vmap(run, (0, None))
    values = np.broadcast_to(case.values, (*batch, case.n_sources))
    return for_cuda(run, values, case.column if weighted else NO_WEIGHTS)


@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "no weights"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
def test_it_lowers_for_cuda_to_one_kernel(batch, weighted):
    text = lowered(batch, weighted)
    assert text.count(KERNEL) == 1
    assert "stablehlo.while" not in text


def test_the_gradient_lowers_for_cuda():
    assert lowered(gradient=True).count(KERNEL) == 1


@pytest.mark.parametrize("axes", [[(0, None)], [(0, None), (None, 0)]], ids=str)
def test_a_batch_of_the_kernel_is_its_members(axes):
    """As `batched` passes it: all axes, of length 1 where nothing varies along one."""
    case, rng = case_of("ragged"), np.random.default_rng(9)
    values = multiples_of_an_eighth(rng, (2, 3, case.n_sources)[2 - len(axes) :])
    column = np.asarray(case.column)
    if len(axes) == 2:
        values = np.broadcast_to(values[:1], (2, 3, case.n_sources))
        column = column * np.array([1, 2], np.float32)[:, None, None]
    run = jax.jit(functools.partial(gather_pallas, interpret=True))
    got = run(values, column, case.table)
    for index in np.ndindex(values.shape[:-1]):
        factor = 1 + index[0] if len(axes) == 2 else 1
        np.testing.assert_array_equal(got[index], factor * case.expected(values[index]))


@pytest.mark.parametrize("batch", [(), (2, 3)], ids=str)
def test_a_card_that_jax_refuses_runs_the_reference_and_says_so(monkeypatch, caplog, batch):
    monkeypatch.setattr("jaxneuro._kernels.gpu_gather.gather_pallas", moved)
    assert_reference(lowered(batch), caplog)


def test_a_cpu_never_meets_the_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxneuro._kernels.gpu_gather", None)
    case = case_of("ragged")
    got = jax.jit(gather)(case.values, case.column, case.table)
    np.testing.assert_array_equal(got, case.expected())
