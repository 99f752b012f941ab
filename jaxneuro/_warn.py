"""Warnings that point at the line of the user."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)
# What stands between a call of the user and the package: classes of equinox, generated methods.
_BETWEEN = {"equinox", "dataclasses.py", "<string>"}


def warn(text: str) -> None:
    """Warns at the line outside of the package from which it was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def _is_inside(file: str) -> bool:
    return file.startswith(_PACKAGE) or not _BETWEEN.isdisjoint(Path(file).parts)
