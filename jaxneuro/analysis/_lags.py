"""Products of two series at all lags up to a longest one."""

import numpy as np


def lag_products(x: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """`sum over t of x[t] y[t + k]` for k = -m ... m, of series of one length: `(2 m + 1,)`.

    Multiplies the Fourier transforms of blocks of x and of the part of y that their lags reach.
    The spectra of all blocks are added and transformed back once.
    """
    size = 1 << max(13, (8 * m + 1).bit_length())
    block = size - 2 * m
    ahead = np.concatenate([np.zeros(m), y, np.zeros(m)])
    spectrum = np.zeros(size // 2 + 1, np.complex128)
    for at in range(0, x.size, block):
        here = np.fft.rfft(x[at : at + block], size)
        spectrum += here.conj() * np.fft.rfft(ahead[at : at + size], size)
    return np.fft.irfft(spectrum, size)[: 2 * m + 1]
