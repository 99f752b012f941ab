"""Z-order: numbers along a curve on which neighbours in space are mostly neighbours."""

import numpy as np


def morton_codes(points: np.ndarray) -> np.ndarray:
    """The place of each point on the Z-order curve through the box of all points: uint64 (n,).

    `points` (n, d), d from 1 to 16: each coordinate becomes a whole number of 64 // d bits (at most
    21), whose bits are interleaved, those of the first coordinate lowest.

    **Source** Morton (1966), A computer oriented geodetic data base, IBM.
    """
    x = np.asarray(points, np.float64)
    n, dimensions = x.shape
    if not 1 <= dimensions <= 16:
        raise ValueError(f"Z-order needs positions of 1 to 16 dimensions; got {dimensions}")
    bits = min(64 // dimensions, 21)
    low = x.min(0, initial=np.inf) if n else np.zeros(dimensions)
    width = np.maximum((x.max(0, initial=-np.inf) if n else low) - low, np.finfo(float).tiny)
    cells = np.minimum((x - low) / width * 2**bits, 2**bits - 1).astype(np.uint64)
    code = np.zeros(n, np.uint64)
    for bit in range(bits):
        for axis in range(dimensions):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            code |= one << np.uint64(bit * dimensions + axis)
    return code
