"""Numbers as text for users."""


def counted(n: int, noun: str) -> str:
    """A number with its noun: 1 population, 4,000 neurons."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def an(name: str) -> str:
    """The name of a class with its article: a LIF, an AMPA."""
    return f"{'an' if name[:1] in 'AEIO' else 'a'} {name}"


def megabytes(n: float) -> str:
    """Bytes as text: 800 B, 28.8 kB, 0.7 MB, 1.3 GB, 90.0 TB."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size or (unit == "MB" and n >= 1e5):
            return f"{n / size:.1f} {unit}"
    return f"{n:.0f} B"
