"""How many threads one call of a native kernel may use."""

from .._checks import check_count
from ._native import native_library


def threads(n: int | None = None) -> int:
    """Sets how many threads a call of a native kernel may use, if given; returns the number.

    At first these are the cores that the process may use, or the value of `JAXNEURO_THREADS` in the
    environment, at most 64. Results keep their bits, whatever the number.

    **Raises** `ValueError` for a number below 1.
    """
    if n is not None:
        check_count("threads", n, at_least=1)
    library = native_library()
    return 1 if library is None else library.jaxneuro_threads(n or 0)
