"""From which size of a ring deliveries sort events by the part of the ring that they reach."""

from .._checks import check_count
from ._native import native_library


def set_bins(from_bytes: int, part: int) -> None:
    """Sets from how many bytes of a slot on events are sorted, and the places in a part of a ring.

    Results keep their bits, so this is for measurements and tests: the library starts with what
    is fastest (`native/bins.h`). With `from_bytes` 0 all deliveries sort. `part` is a power of two.

    **Raises** `ValueError` for a negative size, or a part that is no power of two.
    """
    check_count("set_bins: from_bytes", from_bytes)
    check_count("set_bins: part", part, at_least=1)
    if part & (part - 1):
        raise ValueError(f"set_bins: part must be a power of two; got {part}")
    library = native_library()
    if library is not None:
        library.jaxneuro_bins(from_bytes, part)
