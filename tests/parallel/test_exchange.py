"""Devices of one process exchange natively, with the bits of `lax.all_gather`, and never hang."""

import operator
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import jaxneuro as jn
from jaxneuro import parallel
from jaxneuro._kernels import exchange as exchange_file
from jaxneuro._kernels.exchange import Line, exchange, line_of
from tests.house.test_import import python

from .networks import driven, mesh

DEVICES = np.array(jax.devices())


@pytest.fixture
def waiting():
    """How devices wait may be changed by a test."""
    if not exchange_file.exchange_available():
        pytest.skip("the native library is not there")
    yield exchange_file.waits
    exchange_file.waits(hold_us=2000, limit_ms=40_000)


def over(mesh, f, jit=jax.jit):
    """`f(line, x)` on each device of a mesh, x along all of its axes; the line is along `axes`."""
    every = P(mesh.axis_names)
    return jit(jax.shard_map(f, mesh=mesh, in_specs=every, out_specs=every, check_vma=False))


def steps_of(gather, steps=40):
    """Steps with exchanges that do not depend on each other, of numbers of 1, 2, 4 and 8 bytes."""

    def run(x):
        def step(k, x):
            bits, level = (x.astype(jnp.int32) % 251).astype(jnp.uint8), x * 0.25
            wide = gather(level.astype(jnp.complex64)).real
            short = gather(level.astype(jnp.int16))
            every = gather(bits), gather(level), gather(x > 100), short, wide
            sums = sum(e.astype(x.dtype).sum(0) for e in every)
            return (3 * x + sums + (k + lax.axis_index(("a", "b"))).astype(x.dtype)) % 1024

        return lax.fori_loop(0, steps, step, x)

    return run


@pytest.mark.slow(but=["a-b"])
@pytest.mark.parametrize("axes", [("a", "b"), ("b",), ("a",)], ids="-".join)
def test_the_bits_of_all_gather_along_one_axis_or_two(axes):
    """Eight devices, on as few cores as there are; other lines run beside the one of a device."""
    two = Mesh(DEVICES[:8].reshape(2, 4), ("a", "b"))
    others = tuple(name for name in "ab" if name not in axes)

    def natively(x):
        line = line_of(axes, others)
        return steps_of(lambda x: exchange(x, line))(x)

    x = np.arange(8 * 70, dtype=np.float32)
    found = over(two, natively)(x)
    expected = over(two, steps_of(lambda x: exchange_file._reference(x, axes)))(x)
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(found)) > 100


def test_derivatives_batches_and_other_platforms():
    two = mesh(2)

    def squares(gather):
        def f(x):
            every, here = gather(x), lax.axis_index("devices").astype(x.dtype)
            return (every[0] * every[1] ** 2 * (1.0 + here))[None]

        return lambda x: over(two, f, jit=lambda f: f)(x).sum()

    native = squares(lambda x: exchange(x, line_of(("devices",), ())))
    reference = squares(lambda x: exchange_file._reference(x, ("devices",)))
    x = np.arange(24, dtype=np.float32).reshape(2, 12) / 8
    for change in (jax.vmap, lambda f: jax.vmap(jax.grad(f)), lambda f: jax.vmap(jax.jacfwd(f))):
        got, want = (jax.jit(change(f))(x) for f in (native, reference))
        np.testing.assert_array_equal(got, want)
    traced = jax.jit(native).trace(x[0])
    for platform, there, not_there in (
        ("cpu", "jaxneuro_exchange", "all_gather"),
        ("cuda", "all_gather", "jaxneuro_exchange"),
    ):
        if platform == "cpu" and not exchange_file.exchange_available():
            continue
        text = traced.lower(lowering_platforms=(platform,)).as_text()
        assert there in text
        assert not_there not in text


@pytest.mark.slow
def test_it_may_be_asked_before_jax_starts():
    """In a process of its own: JAX has started in this one."""
    printed = python(
        "-c",
        "import jax\nfrom jaxneuro._kernels.exchange import exchange_available\n"
        "exchange_available()\nprint(jax.devices('cpu')[0].platform)",
    )
    assert printed == "cpu\n"


EARLY = """
import jax
from jaxneuro._kernels.native import native_library

jax.devices()
stages = {"instantiate": "JaxneuroMakeExchange", "execute": "JaxneuroExchange"}
handlers = {k: jax.ffi.pycapsule(getattr(native_library(), v)) for k, v in stages.items()}
try:
    jax.ffi.register_ffi_target("early", handlers, platform="cpu")
except Exception as error:
    print("refused:", error)
"""


@pytest.mark.slow
def test_before_its_state_it_is_refused(waiting):
    """And so left to XLA: a program that calls it would fail."""
    assert python("-c", EARLY).startswith("refused: ")


@pytest.mark.slow
def test_a_network_exchanges_by_xla_where_it_must(monkeypatch):
    monkeypatch.setattr(exchange_file, "exchange_available", lambda: False)
    net = driven()
    laid = parallel.shard(net, mesh(2))
    run = jax.jit(lambda net: jn.scan(net, net.init(3), 200)[1])
    text = run.lower(laid).as_text()
    assert "all_gather" in text
    assert "jaxneuro_exchange" not in text
    one = run(net)
    assert jax.tree.reduce(operator.add, jax.tree.map(lambda x: np.count_nonzero(x), one)) > 100
    jax.tree.map(np.testing.assert_array_equal, one, run(laid))


@pytest.mark.slow
@pytest.mark.parametrize("hold_us", [2000, 0])
def test_programs_of_several_threads_at_once(waiting, hold_us):
    """Each dispatches two runs at a time; with 0, a device gives its thread back at every wait."""
    before = waiting(hold_us=hold_us)
    two, axes = Mesh(DEVICES[:4].reshape(2, 2), ("a", "b")), ("a", "b")
    natively = lambda x: steps_of(lambda x: exchange(x, line_of(axes, ())))(x)  # noqa: E731
    by_xla = steps_of(lambda x: exchange_file._reference(x, axes))
    programs = []
    for size in (30, 500):
        x = np.arange(4 * size, dtype=np.float32)
        programs.append((over(two, natively), x, np.asarray(over(two, by_xla)(x))))
    wrong = []

    def work(run, x, expected):
        for _ in range(5):
            for found in (run(x), run(x)):
                wrong.extend(np.flatnonzero(np.asarray(found) != expected))

    threads = [threading.Thread(target=work, args=p) for p in programs * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    assert not wrong
    assert hold_us or waiting() > before


def test_a_device_that_fails_ends_the_run_with_an_error(waiting):
    """The others wait as long as they may, then they fail, too; the next run is a new one."""
    waiting(limit_ms=300)

    def f(x):
        line = line_of(("devices",), ())
        nowhere = jnp.where(x[0] < 0, 7, line.seat[0])  # an error of the call on this device
        return exchange(x, Line(line.seat.at[0].set(nowhere), line.axes)).sum(0)

    run = over(mesh(2), f)
    for value in (-1.0, 2.0, -1.0, 2.0):
        x = np.array([1, 1, value, 2], np.float32)
        if value > 0:
            np.testing.assert_array_equal(run(x), [3, 3, 3, 3])
        else:
            with pytest.raises(jax.errors.JaxRuntimeError, match=r"did not come|a seat is"):
                jax.block_until_ready(run(x))
