"""`unpack` against NumPy's `nonzero`."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro._kernels import bits as bits_file
from jaxneuro._kernels import native as native_file
from jaxneuro._kernels.bits import unpack
from jaxneuro._kernels.native import native_available, native_library
from tests.refusing import assert_refused
from tests.strategies import packed

SIZES = st.one_of(st.sampled_from([0, 1, 63, 64, 65, 128, 129, 5000]), st.integers(0, 300))


@st.composite
def cases(draw):
    """Spikes, and the neurons to look at: from anywhere to anywhere, and at the ends of words."""
    n, rows = draw(SIZES), draw(st.sampled_from([0, 1, 2, 9]))
    density = draw(st.sampled_from([0.0, 0.02, 0.5, 1.1]))
    spikes = np.random.default_rng(draw(st.integers(0, 99))).random((rows, n)) < density
    edge = st.one_of(st.integers(0, n), st.sampled_from([0, n, min(n, 64), min(n, 128)]))
    start, stop = sorted((draw(edge), draw(edge)))
    return spikes, start, stop, draw(st.sampled_from([0, 7, 2**31 - 20]))


def bits_of(spikes):
    rows = [packed(row) for row in spikes]
    return np.stack(rows) if rows else np.zeros((0, 8 * -(-spikes.shape[1] // 64)), np.uint8)


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@hypothesis.given(cases())
def test_native_equals_numpy(case):
    check(unpack, case)


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@hypothesis.given(cases(), st.integers(1, 3))
def test_threads_share_the_rows(case, threads):
    before = native_library().jaxneuro_threads(0)
    native_library().jaxneuro_threads(threads)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bits_file, "_SHARED", 0)
            check(unpack, case)
    finally:
        native_library().jaxneuro_threads(before)


@hypothesis.given(cases())
def test_reference_equals_numpy(case):
    check(bits_file.unpack_reference, case)


def check(version, case):
    spikes, start, stop, first = case
    rows, neurons = np.nonzero(spikes[:, start:stop])
    got = version(bits_of(spikes), start, stop, first)
    for x, want in zip(got, (rows + first, neurons), strict=True):
        assert x.dtype == np.int32
        np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("native", [True, False])
def test_what_is_not_asked_for_does_not_count(native, monkeypatch):
    """Bits of the padding and of neighbours, in a view that is not contiguous."""
    if not native:
        monkeypatch.setattr(bits_file, "native_library", lambda: None)
    bits = np.full((3, 48), 255, np.uint8)[:, ::2]
    rows, neurons = unpack(bits, 70, 73)
    np.testing.assert_array_equal(rows, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(neurons, [0, 1, 2] * 3)


def test_without_the_library_it_is_the_reference(monkeypatch):
    bits = bits_of(np.random.default_rng(0).random((20, 200)) < 0.2)
    want = unpack(bits, 3, 190, 5)
    monkeypatch.setattr(bits_file, "native_library", lambda: None)
    for x, y in zip(unpack(bits, 3, 190, 5), want, strict=True):
        np.testing.assert_array_equal(x, y)
    assert want[0].size > 500


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_an_older_library_is_left_out_with_a_word(monkeypatch, caplog):
    monkeypatch.setattr(native_file, "_FUNCTIONS", {"jaxneuro_of_tomorrow": ()})
    assert "jaxneuro_of_tomorrow" in native_file.library_or_why_not.__wrapped__()
    (line,) = caplog.messages
    assert "native kernels not loaded" in line
    assert "jaxneuro_of_tomorrow" in line


BAD = {
    "batch": ((2, 3, 8), np.uint8, 0, 64, "bits", "uint8[2, 3, 8]"),
    "dtype": ((3, 8), np.int8, 0, 64, "bits", "int8[3, 8]"),
    "words": ((3, 12), np.uint8, 0, 64, "bits", "uint8[3, 12]"),
    "stop": ((3, 8), np.uint8, 0, 65, "neurons", "0 ... 65"),
    "start": ((3, 8), np.uint8, -1, 5, "neurons", "-1 ... 5"),
    "order": ((3, 8), np.uint8, 6, 5, "neurons", "6 ... 5"),
}


@pytest.mark.parametrize(("shape", "dtype", "start", "stop", "field", "got"), BAD.values(), ids=BAD)
def test_bad_input(shape, dtype, start, stop, field, got):
    assert_refused(lambda: unpack(np.zeros(shape, dtype), start, stop), "unpack", field, got)
