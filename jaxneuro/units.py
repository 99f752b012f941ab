"""Units as plain numbers, for those who think in others: `20 * jn.units.ms`, `0.3 * jn.units.nA`.

jaxneuro counts in ms, mV, pA, pF, nS, um and Hz. A unit here is how many of these it is, so that a
product with it is the number that a model takes.
"""

us, ms, s = 1e-3, 1.0, 1e3
uV, mV, V = 1e-3, 1.0, 1e3
pA, nA, uA, A = 1.0, 1e3, 1e6, 1e12
pF, nF, uF, F = 1.0, 1e3, 1e6, 1e12
pS, nS, uS, mS, S = 1e-3, 1.0, 1e3, 1e6, 1e9
nm, um, mm, m = 1e-3, 1.0, 1e3, 1e6
Hz, kHz = 1.0, 1e3

__all__ = [  # noqa: RUF022 - by kind
    "us",
    "ms",
    "s",
    "uV",
    "mV",
    "V",
    "pA",
    "nA",
    "uA",
    "A",
    "pF",
    "nF",
    "uF",
    "F",
    "pS",
    "nS",
    "uS",
    "mS",
    "S",
    "nm",
    "um",
    "mm",
    "m",
    "Hz",
    "kHz",
]
