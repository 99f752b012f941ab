"""A lock on a file, so that a block of code runs in one process at a time."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Waits, without a limit and without a message, until no process holds `path`; then holds it.

    The operating system gives it back when its process ends, however it ends. The file stays.
    """
    with path.open("a+b") as file:
        _acquire(file)
        try:
            yield
        finally:
            _release(file)


if sys.platform == "win32":
    import msvcrt

    def _acquire(file: IO[bytes]) -> None:
        while True:  # the wait of msvcrt ends after ten seconds
            with contextlib.suppress(OSError):
                file.seek(0)
                return msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            time.sleep(0.2)

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
