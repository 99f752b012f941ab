"""The Pallas kernel of `deliver`: interpreted against the oracle, and lowered for CUDA."""

import contextlib
import functools
import sys

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxlib.triton.dialect import MemSemantic, RMWOp

import jaxneuro as jn
from jaxneuro._kernels import gpu as gpu_lowering
from jaxneuro._kernels import gpu_deliver as gpu
from jaxneuro._kernels import gpu_program as gpu_atomic
from jaxneuro._kernels.gpu_program import ProgramGrid, held
from jaxneuro._kernels.table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, ONE_PLACE
from tests import strategies
from tests.kernels.delivering import deliver, deliver_pallas
from tests.kernels.test_deliver import native, start_ring, wiring
from tests.kernels.test_lowering import network, run
from tests.oracle import deliver as oracle
from tests.strategies import build_case

SMALL = ProgramGrid(rows=4, lanes=8, segments=2)
KERNEL = "__gpu$xla.gpu.triton"


# Each table is another program: what is compiled badly is compiled fast.
@functools.partial(jax.jit, static_argnums=(6, 7))
def kernel(ring, released, step, scale, weights, table, clear=True, grid=SMALL):
    return deliver_pallas(
        ring, released, step, scale, weights, table, clear, grid=grid, interpret=True
    )


def expected(case, ring, released, step, clear):
    """What the oracle makes of `released`, values (sources,)."""
    out = ring.astype(np.float64)
    if clear:
        oracle.take(out, step)
    return oracle.deliver(out, step, case.connections, released, case.gains.astype(np.float64))


def arguments(case, ring, released, step, bits):
    given = strategies.packed(released) if bits else released.astype(ring.dtype)
    numbers = (case.scale.astype(ring.dtype), case.weights.astype(ring.dtype))
    return (ring, given, np.int32(step), *numbers)


def check(case, released, step=3, clear=True, bits=True, grid=SMALL):
    ring = start_ring(case, np.float32)
    args = arguments(case, ring, released, step, bits)
    got = kernel(*args, case.table, clear, grid)
    np.testing.assert_array_equal(got, expected(case, ring, released, step, clear))


GRIDS = st.sampled_from(
    [SMALL, ProgramGrid(1, 2, 1), ProgramGrid(16, 32, 3), ProgramGrid(64, 4, 1)]
)


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=8)
def test_equals_the_oracle_exactly(data):
    # Weights, gains and values are multiples of 1/8: float32 keeps every sum.
    case = data.draw(strategies.cases())
    released = data.draw(strategies.released(case.n_sources))
    step = data.draw(st.sampled_from([-1, 0, 7, 300, 12_345_678]))
    bits = data.draw(st.booleans()) and bool(np.isin(released, (0.0, 1.0)).all())
    check(
        case,
        released,
        step,
        clear=data.draw(st.booleans()),
        bits=bits,
        grid=data.draw(GRIDS),
    )


def every_kind():
    """One table with sections of all kinds, tagged and with pointers, 130 synapses of a source."""
    kinds = [(a, b) for a in (False, True) for b in (False, True)]
    wirings = [
        wiring(0, 400, 9, 30, 4 * k + s, receptor=s, longest=3, own=own, gain=0.5 + s / 4)
        for k, own in enumerate(kinds)
        for s in (0, 1)
    ]
    few = [
        wiring(1, 60, 30, 30, 9 + s, longest=4, own=own, receptor=s % 2, gain=s / 2)
        for own in kinds
        for s in range(3)
    ]
    one_place = [wiring(2, 40, 40, 30, 30 + s, own=(True, False), gain=s / 2) for s in range(2)]
    return build_case([9, 30, 40], [30], 2, wirings + few + one_place)


EVERY_KIND = every_kind()


def test_the_table_of_every_kind_has_every_kind():
    flags = {int(words[4]) for words in np.asarray(EVERY_KIND.table.sections)}
    kinds = {a | b for a in (0, HAS_WEIGHTS) for b in (0, HAS_DELAYS)}
    assert kinds | {k | HAS_TAGS for k in kinds} <= {f & ~ONE_PLACE for f in flags}
    assert HAS_WEIGHTS | HAS_TAGS | ONE_PLACE in flags


@pytest.mark.parametrize("bits", [True, False], ids=["spikes", "values"])
def test_every_kind_with_every_neuron_firing_cut_as_on_a_card(bits):
    check(EVERY_KIND, np.ones(79), bits=bits, grid=None)


@pytest.mark.parametrize(("longest", "dtype"), [(255, np.uint8), (1000, np.uint16)])
def test_the_longest_delay_wraps_around_the_ring(longest, dtype):
    one = wiring(0, 40, 6, 8, 0, longest=longest, own=(False, True))
    one.delay[:3] = (1, longest, longest)
    case = build_case([6], [8], 1, [one])
    assert case.shape[0] == longest + 1
    assert case.table.delays.dtype == dtype
    for step in (0, 1, longest, longest + 1):
        check(case, np.ones(6), step)


def test_more_than_65536_targets_make_two_blocks():
    one = wiring(0, 60, 3, 70_000, 0, own=(True, False))
    one.post[:4] = (65_535, 65_536, 69_999, 0)
    check(build_case([3], [70_000], 1, [one]), np.ones(3))


def test_negative_and_fractional_values_and_both_zeros():
    case = build_case([6], [8], 1, [wiring(0, 50, 6, 8, 0, longest=3, own=(True, True))])
    check(case, np.array([0.0, -0.0, -1.5, 0.125, 2.0, -0.25]), bits=False)


def test_nan_weights_of_silent_sources_do_not_arrive():
    one = wiring(0, 2, 2, 2, 0, pre=np.array([0, 1]), post=np.array([0, 1]), own=(True, False))
    case = build_case([2], [2], 1, [one])
    case.weights = np.array([np.nan, 1.0], np.float32)
    zeros = np.zeros(case.shape, np.float32)
    got = kernel(*arguments(case, zeros, np.array([[0.0, 1.0]]), 0, True), case.table)
    assert float(np.asarray(got).sum()) == 0.75


@pytest.mark.parametrize("synapses", [0, 9])
def test_the_slot_handed_out_is_cleared_or_stays(synapses):
    # More places than one pass of all programs clears.
    case = build_case([2], [70], 1, [wiring(0, synapses, 2, 70, 0)])
    ring = np.ones((4, 1, 70), np.float32)
    args = arguments(case, ring, np.zeros((1, 2)), 6, True)
    np.testing.assert_array_equal(kernel(*args, case.table, False), ring)
    cleared = np.asarray(kernel(*args, case.table, True, ProgramGrid(16, 2, 1)))
    assert not cleared[2].any()
    assert cleared.sum() == 3 * 70


OPERANDS = ("ring", "released", "step", "scale", "weights")


@pytest.mark.slow(but=["step weights"])
@pytest.mark.parametrize(
    "batched", ["", "released scale", "step weights", "released step scale weights"]
)
def test_a_batch_is_its_networks_one_by_one(batched):
    case, rng = EVERY_KIND, np.random.default_rng(2)
    eighths = lambda *shape: (rng.integers(-16, 17, (3, *shape)) / 8).astype(np.float32)  # noqa: E731
    spikes = np.stack([strategies.packed(rng.random(79) < 0.5) for _ in range(3)])
    args = (
        eighths(*case.shape),
        spikes,
        np.array([0, 1, 7], np.int32),
        eighths(*case.scale.shape),
        eighths(*case.weights.shape),
    )
    # The ring has the batch axis whenever another operand has it.
    own = [name in f"ring {batched}".split() for name in OPERANDS]
    got = np.asarray(kernel(*(x if b else x[0] for x, b in zip(args, own)), case.table))
    for i in range(3):
        one = [x[i] if b else x[0] for x, b in zip(args, own)]
        np.testing.assert_array_equal(got[i], native(*one, case.table, True))


def test_bfloat16_weights_are_widened_before_the_product():
    case = EVERY_KIND
    ring = start_ring(case, np.float32)
    released = np.where(np.arange(79) % 2, 1.0, 1 / 3)  # bfloat16 would lose the third
    args = list(arguments(case, ring, released, 3, False))
    assert np.array_equal(args[4], args[4].astype(jnp.bfloat16))
    args[4] = args[4].astype(jnp.bfloat16)
    got = kernel(*args, case.table)
    assert got.dtype == jnp.float32
    np.testing.assert_allclose(got, expected(case, ring, released, 3, True), rtol=0, atol=2e-5)


def test_float64_equals_the_oracle(x64):
    case = build_case([9], [30], 1, [wiring(0, 400, 9, 30, 0, longest=3, own=(True, True))])
    case.weights = np.random.default_rng(3).normal(size=case.weights.shape)
    case.connections = [
        (*c[:3], w, *c[4:]) for c, w in zip(case.connections, case.weights[np.argsort(case.column)])
    ]
    ring = np.random.default_rng(4).normal(size=case.shape)
    released = np.random.default_rng(5).normal(size=9)
    got = kernel(*arguments(case, ring, released, 3, False), case.table)
    assert got.dtype == jnp.float64
    np.testing.assert_allclose(got, expected(case, ring, released, 3, True), rtol=0, atol=1e-12)


def test_a_ring_of_whole_quanta_takes_rounded_products():
    case = EVERY_KIND
    ring = (start_ring(case, np.float32) * 8).astype(np.int32)
    args = arguments(case, np.zeros(case.shape, np.float32), np.ones(79), 3, True)[1:]
    got = kernel(ring, *args, case.table)
    want = ring.copy()
    oracle.take(want, 3)
    for c in case.connections:
        want[oracle.arrival_place(want.shape, 3, c)] += int(np.rint(case.gains[c[5]] * c[3]))
    assert got.dtype == jnp.int32
    np.testing.assert_array_equal(got, want)


def test_products_are_rounded_half_to_even():
    rng = np.random.default_rng(6)
    halves = np.arange(-50, 50) / 2
    near = np.nextafter(np.float32(halves), np.float32(99))
    large = rng.uniform(-1, 1, 3000) * 2.0 ** rng.integers(0, 31, 3000)
    x = np.concatenate([halves, near, large, [2.0**23 + 1, -(2.0**24)]]).astype(np.float32)
    got = jax.jit(held, static_argnums=1)(x, jnp.int32)
    np.testing.assert_array_equal(got, np.rint(x).astype(np.int32))


def by_rules(stored):
    """Rows of gaps and rows with replacement, several blocks in a section; with stored ones."""
    rules, synapse = jn.connectivity, jn.synapses.Exponential()
    weight, delay = jn.Normal(1.0, 0.3), jn.Normal(1.5, 0.5, low=0.1, high=3.0)
    named = {
        "a": ("A", rules.FixedProbability(0.3, stored=stored), weight, delay),
        "b": ("A", rules.FixedProbability(0.02, stored=stored), weight, delay),
        "c": ("A", rules.FixedTotal(500, stored=stored), 0.5, 0.4),
        "d": ("B", rules.FixedOutdegree(70, stored=stored), 0.125, 0.2),
        "e": ("B", rules.FixedProbability(0.4), weight, delay),
    }
    projections = [
        jn.Projection(source, "T", rule, weight=w, delay=d, synapse=synapse, name=name)
        for name, (source, rule, w, d) in named.items()
    ]
    sizes = {"A": 30, "B": 9, "T": 90}
    models = {"A": strategies.SOURCE, "B": strategies.SOURCE, "T": strategies.TARGET}
    populations = [jn.Population(name, n, models[name]) for name, n in sizes.items()]
    net = jn.build(jn.Description(populations, projections), key=3, dt=0.1)
    (p,) = net.pathways
    every = np.full(8, 255, np.uint8)
    of_projections = np.float32(1024) * np.asarray(p.weight) * np.asarray(p.gain)
    scale = of_projections[np.asarray(p.table.block_projection)]
    ring = np.zeros((31, 1, 90), np.int32)
    return (ring, every, np.int32(5), scale, p.weights), p.table


@pytest.mark.slow
def test_drawn_rows_are_the_stored_ones_bit_for_bit():
    # A ring of integers, as the orders of the sums differ.
    args, table = by_rules(stored=False)
    got = kernel(*args, table, True, ProgramGrid(8, 16, 2))
    args, stored = by_rules(stored=True)
    assert table.n_redrawn > 0
    assert stored.n_redrawn == 0
    np.testing.assert_array_equal(got, native(*args, stored, True))


def for_cuda(f, *args):
    """The program that `f` becomes for CUDA, on a machine without a card."""
    device = contextlib.nullcontext()
    if jax.__version_info__ >= (0, 11):  # wants to know which card
        card = jax.sharding.AbstractDevice(device_kind="NVIDIA H200", num_cores=1, platform="gpu")
        mesh = jax.sharding.AbstractMesh(
            (1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,), abstract_device=card
        )
        device = jax.sharding.use_abstract_mesh(mesh)
    with device:
        return jax.jit(f).trace(*args).lower(lowering_platforms=("cuda",)).as_text()


def lowered(case=EVERY_KIND, ring_dtype=jnp.float32, bits=True):
    ring = np.zeros(case.shape, ring_dtype)
    args = arguments(case, np.zeros(case.shape, np.float32), np.ones(79), 3, bits)[1:]
    return for_cuda(lambda *x: deliver(*x, True), ring, *args, case.table)


@pytest.mark.slow(but=["spikes-float32"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.int32])
@pytest.mark.parametrize("bits", [True, False], ids=["spikes", "values"])
def test_deliver_lowers_for_cuda_to_one_kernel(dtype, bits):
    assert lowered(ring_dtype=dtype, bits=bits).count(KERNEL) == 1


@pytest.mark.slow
def test_a_whole_scan_lowers_for_cuda_with_a_kernel_per_pathway_and_group():
    net = network()
    assert for_cuda(run, net, net.init(0)).count(KERNEL) == len(net.pathways) + len(net.groups) == 2


def test_a_batch_over_gains_lowers_for_cuda_to_as_many_kernels():
    net = network()
    state = net.init(0)

    def v(gain, net, state):
        return jn.scan(net.set("E->E", gain=gain), state, 5)[0].groups[0].neurons.v

    text = for_cuda(jax.vmap(v, (0, None, None)), np.ones(3, np.float32), net, state)
    assert text.count(KERNEL) == 2  # delivery, group


def test_drawn_rows_lower_for_cuda_to_one_kernel():
    args, table = by_rules(stored=False)
    assert for_cuda(lambda *x: deliver(*x, True), *args, table).count(KERNEL) == 1


def moved(*args, **kwargs):
    raise RuntimeError("no such thing here")


@pytest.mark.parametrize(("dtype", "kind"), [(jnp.float32, RMWOp.FADD), (jnp.int32, RMWOp.ADD)])
def test_adds_are_relaxed_and_of_their_kind(monkeypatch, dtype, kind):
    relax, seen = gpu_atomic._relax, []

    def look(operation, integer):
        relax(operation, integer)
        assert operation.name == "tt.atomic_rmw"
        seen.append([operation.attributes[name].value for name in ("atomic_rmw_op", "sem")])

    monkeypatch.setattr(gpu_atomic, "_relax", look)
    lowered(ring_dtype=dtype)
    assert seen
    assert all(words == [kind, MemSemantic.RELAXED] for words in seen)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.int32])
def test_without_the_relaxed_add_jax_adds(monkeypatch, caplog, dtype):
    caplog.set_level("INFO", "jaxneuro")
    relaxed = lowered(ring_dtype=dtype)
    assert not caplog.messages
    monkeypatch.setattr(gpu_atomic, "_relax", moved)  # called while the kernel is lowered
    ordered = lowered(ring_dtype=dtype)
    assert relaxed.count(KERNEL) == ordered.count(KERNEL) == 1
    assert ordered != relaxed
    (line,) = caplog.messages
    assert "memory order" in line
    assert "no such thing here" in line


def test_names_of_jax_that_have_gone_are_as_an_add_that_cannot_be_lowered(monkeypatch):
    monkeypatch.setattr(gpu_atomic, "_relaxed_add", moved)
    assert lowered().count(KERNEL) == 1


def test_without_any_add_the_reference_runs_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr(gpu_atomic, "_relax", moved)
    monkeypatch.setattr(gpu_atomic.triton, "atomic_add", moved)
    assert_reference(lowered(), caplog)


def test_a_card_that_jax_refuses_runs_the_reference_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr(gpu, "deliver_pallas", moved)
    assert_reference(lowered(), caplog)


def assert_reference(text, caplog):
    assert KERNEL not in text
    assert "stablehlo.while" in text
    (line,) = caplog.messages
    assert "slower reference runs instead" in line
    assert "no such thing here" in line


def test_too_many_synapses_for_32_bits_are_refused(monkeypatch):
    case = EVERY_KIND
    args = arguments(case, np.zeros(case.shape, np.float32), np.ones(79), 3, True)
    assert gpu_lowering.MOST_STORED == 2**31 - 2**16
    monkeypatch.setattr(gpu_lowering, "MOST_STORED", case.table.n_stored - 1)
    with pytest.raises(ValueError, match=f"stored synapses must .* got {case.table.n_stored:,}"):
        for_cuda(lambda *x: deliver(*x, True), *args, case.table)


def test_a_cpu_never_meets_the_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxneuro._kernels.gpu_deliver", None)  # cannot be imported
    case = EVERY_KIND
    args = arguments(case, start_ring(case, np.float32), np.ones(79), 3, True)
    got = jax.jit(lambda *x: deliver(*x, True))(*args, case.table)
    ring = start_ring(case, np.float32)
    np.testing.assert_array_equal(got, expected(case, ring, np.ones(79), 3, True))
