"""A native kernel refuses operands that are not what it declares, by kernel and name.

The rows call the library as the package does, with one operand changed; without the checks each
would read or write memory that is not the operand's.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.gather import make_gather_table
from jaxneuro._kernels.native import native_available

pytestmark = pytest.mark.skipif(not native_available(), reason="no native library")


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


PACK = {"spikes": zeros(70, dtype=bool)}
SHORT_TERM = {
    **{name: zeros(20) for name in ("x", "u", "x_low", "u_low")},
    **{"spikes": zeros(20, dtype=bool), "adds": zeros(1), "x_loss": zeros(20), "u_loss": zeros(1)},
}
LOG = {
    "count": np.int32(0),
    "head": zeros(5, 2, dtype=np.int32),
    "events of the log": zeros(16, 3, dtype=np.int32),
    "numbers of the log": zeros(2, 16),
    "events": zeros(5, dtype=bool),
    "numbers": zeros(2, 5),
    "step": np.int32(3),
}
DELIVER = {
    "ring": zeros(3, 4),
    "bits": zeros(8, dtype=np.uint8),
    "values": zeros(2),
    "step": np.int32(0),
    "scale": zeros(1),
    "weights": zeros(0),
    "sections": zeros(0, 16, dtype=np.uint32),
    "pointers": zeros(0, dtype=np.uint32),
    "targets": zeros(0, dtype=np.uint16),
    "tags": zeros(0, dtype=np.uint16),
    "delays": zeros(0, dtype=np.uint8),
    "block_offset": zeros(1, dtype=np.int32),
    "block_delay": zeros(1, dtype=np.int32),
    "block_span": zeros(1, 2, dtype=np.int32),
    "draws": zeros(0, 20, dtype=np.uint32),
    "draw_tables": zeros(0, dtype=np.uint32),
}
_table, _ = make_gather_table(np.array([0, 1]), np.array([2, 0]), 2, 3)
GATHER = {
    "values": zeros(3),
    "weights": zeros(0),
    **{name: getattr(_table, name) for name in ("starts", "sources", "runs", "counts")},
}
NO_CHANGE = {"n_targets": np.int64(4), "clear": False}

# Kernel, operands, results that it makes, how many operands it changes, attributes.
PACKED = ("pack", PACK, [((16,), np.uint8)], 0, {})
SHORT = ("short_term", SHORT_TERM, [((20,), np.float32)], 4, {"jump_first": False})
LOGGED = ("log_events", LOG, [], 4, {})
DELIVERED = ("deliver", DELIVER, [], 1, NO_CHANGE)
GATHERED = ("gather", GATHER, [((2,), np.float32)], 0, {})
CALLS = (PACKED, SHORT, LOGGED, DELIVERED, GATHERED)


def call(kernel, operands, made, changed, attributes):
    arrays = [jnp.asarray(x) for x in operands.values()]
    out = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays[:changed]]
    out += [jax.ShapeDtypeStruct(*x) for x in made]
    aliases = {k: k for k in range(changed)}
    target = jax.ffi.ffi_call(f"jaxneuro_{kernel}", out, input_output_aliases=aliases)
    return jax.block_until_ready(jax.jit(lambda *x: target(*x, **attributes))(*arrays))


@pytest.mark.parametrize("good", CALLS, ids=lambda x: x[0])
def test_what_a_kernel_declares_is_taken(good):
    call(*good)


@pytest.mark.parametrize(
    ("good", "name", "wrong", "says"),
    [
        (PACKED, "spikes", zeros(70, dtype=np.uint8), "must be bool (neurons); got uint8 (70)"),
        (SHORT, "u", zeros(20, dtype=np.float16), "must be float32 (sources = 20); got float16"),
        (SHORT, "x_low", zeros(19), "must be float32 (sources = 20); got float32 (19)"),
        (SHORT, "spikes", zeros(2, 20, dtype=bool), "(sources = 20); got bool (2, 20)"),
        (SHORT, "adds", zeros(7), "must be one number for all sources, or one for each"),
        (LOGGED, "numbers", zeros(3, 5), "(rows = 2, targets = 5); got float32 (3, 5)"),
        (LOGGED, "events of the log", zeros(12, 3, dtype=np.int32), None),
        (DELIVERED, "bits", zeros(7, dtype=np.uint8), "must be whole words of 8 bytes"),
        (DELIVERED, "values", zeros(200), "must have a number for each source that has a bit"),
        (DELIVERED, "scale", zeros(2), None),
        (DELIVERED, "step", zeros(1, dtype=np.int32), "must be int32 (); got int32 (1)"),
        (
            DELIVERED,
            "sections",
            zeros(1, 15, dtype=np.uint32),
            "(sections = 1, 16); got uint32 (1, 15)",
        ),
        (
            DELIVERED,
            "targets",
            zeros(0, dtype=np.int32),
            "must be uint16 (synapses); got int32 (0)",
        ),
        (DELIVERED, "delays", zeros(2, 0, dtype=np.uint8), "must be uint8 or uint16 (delays)"),
        (GATHERED, "weights", zeros(3), None),
        (GATHERED, "starts", zeros(3, dtype=np.int32), "must be one of each slice, and the end"),
    ],
)
def test_another_operand_is_an_error_that_names_it(good, name, wrong, says):
    kernel, operands, *rest = good
    with pytest.raises(jax.errors.JaxRuntimeError) as raised:
        call(kernel, {**operands, name: wrong}, *rest)
    text = str(raised.value)
    assert re.search(rf"{kernel}: ", text)
    if says is None:  # two disagree: the second of them is named
        assert "got" in text
    else:
        assert f"{kernel}: {name} " in text
        assert says in text


def test_a_result_of_another_shape_is_an_error():
    with pytest.raises(jax.errors.JaxRuntimeError, match="pack: bits must have a bit for each"):
        call("pack", PACK, [((8,), np.uint8)], 0, {})


def test_another_number_of_operands_is_an_error():
    few = dict(list(SHORT_TERM.items())[:-1])
    with pytest.raises(jax.errors.JaxRuntimeError, match="short_term: must have 8 operands; got 7"):
        call("short_term", few, *SHORT[2:])


def test_a_batch_of_another_length_is_an_error():
    batch = {name: np.stack([x, x]) for name, x in SHORT_TERM.items()}
    made = [((2, 20), np.float32)]
    call("short_term", batch, made, *SHORT[3:])
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=re.escape("short_term: adds must be float32 (numbers to add) after the batch's (2)"),
    ):
        call("short_term", {**batch, "adds": zeros(3, 1)}, made, *SHORT[3:])
