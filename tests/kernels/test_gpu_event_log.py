"""The Pallas kernel of `log_events`: interpreted against the native one, and lowered for CUDA."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.bits import pack_reference
from jaxneuro._kernels.event_log import EventLog, empty_log, log_events
from jaxneuro._kernels.gpu_event_log import log_pallas
from tests.kernels.test_gpu import KERNEL, for_cuda

STEPS = 12


@functools.partial(jax.jit, static_argnums=(2, 3))
def logged(events, numbers, first, fused):
    """Log and limits after some steps of events (steps, targets)."""
    n = events.shape[1]

    def one(log, now):
        k, fired, x = now
        others = jnp.ones(first, bool)  # neurons of the group before the targets
        bits = pack_reference(jnp.concatenate([others, fired, jnp.ones(9, bool)]))
        if fused:
            *log, limit = log_pallas(*log, bits, x, k, first, 3, interpret=True)
        else:
            log, limit = log_events(EventLog(*log), fired, x, k, 3)
        return tuple(log), limit

    start = tuple(empty_log(n, 1, numbers.shape[1], np.float32))
    return jax.lax.scan(one, start, (jnp.arange(STEPS), events, numbers))


@pytest.mark.slow
@hypothesis.given(
    n=st.sampled_from([1, 70, 256, 257, 9000]),
    first=st.sampled_from([0, 3, 8, 8197]),
    rows=st.sampled_from([0, 2]),
    rate=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 99),
)
@hypothesis.settings(max_examples=6)
def test_equals_the_native_kernel_in_every_bit(n, first, rows, rate, seed):
    rng = np.random.default_rng(seed)
    events = rng.random((STEPS, n)) < rate
    numbers = rng.random((STEPS, rows, n)).astype(np.float32)
    both = [logged(events, numbers, first, fused) for fused in (True, False)]
    jax.tree.map(np.testing.assert_array_equal, *both)
    assert int(both[0][0][0]) == events.sum()


def test_it_lowers_for_cuda_to_one_launch_in_a_batch_too():
    log, x = empty_log(70, 1, 1, np.float32), jnp.zeros((1, 70))

    def one(log, events):
        return log_events(log, events, x, jnp.int32(3), 3)

    events = jnp.zeros(70, bool)
    assert for_cuda(one, log, events).count(KERNEL) == 1
    many = jax.tree.map(lambda x: jnp.stack([x, x]), (log, events))
    assert for_cuda(jax.vmap(one), *many).count(KERNEL) == 1
