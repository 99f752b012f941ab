"""`unpack`: packed bits to the steps and neurons of the spikes, on the host."""

import numpy as np

from ._native import native_library


def unpack(
    bits: np.ndarray, start: int, stop: int, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Row and neuron of every set bit of the neurons `start ... stop`, in order.

    **Step** `bits` uint8 `(rows, bytes)` as `pack` makes them; returns int32 arrays: rows
    counted from `first`, neurons from `start`. Not for traced arrays.

    **Raises** `ValueError` for bits of more than one network, or neurons that they do not have.
    """
    if bits.ndim != 2 or bits.dtype != np.uint8 or bits.shape[1] % 8:
        raise ValueError(
            "spikes must be of one network, bits uint8 (steps, bytes) with whole words of 8 bytes; "
            f"got {bits.dtype}{list(bits.shape)}"
        )
    if not 0 <= start <= stop <= 8 * bits.shape[1]:
        raise ValueError(
            f"neurons must lie between 0 and {8 * bits.shape[1]}; got {start} ... {stop}"
        )
    bits = np.ascontiguousarray(bits)
    library = native_library()
    if library is None:
        return unpack_reference(bits, start, stop, first)
    place = (bits.ctypes.data, *bits.shape, start, stop)
    count = library.jaxneuro_count_bits(*place)
    rows, neurons = np.empty(count, np.int32), np.empty(count, np.int32)
    library.jaxneuro_list_bits(*place, first, count, rows.ctypes.data, neurons.ctypes.data)
    return rows, neurons


def unpack_reference(
    bits: np.ndarray, start: int, stop: int, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """`unpack` in NumPy; see there. Looks at whole 64-bit words first: most are 0."""
    word = start // 64
    words = bits.view(np.uint64)[:, word : -(-stop // 64)]
    if words.size == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    found = np.flatnonzero(words != 0)
    bit = np.flatnonzero(
        np.unpackbits(words.reshape(-1)[found].view(np.uint8), bitorder="little").view(bool)
    )
    at = found[bit >> 6]
    row = at // words.shape[1]
    neuron = (at - row * words.shape[1] + word) * 64 + (bit & 63)
    inside = (neuron >= start) & (neuron < stop)
    return (row[inside] + first).astype(np.int32), (neuron[inside] - start).astype(np.int32)
