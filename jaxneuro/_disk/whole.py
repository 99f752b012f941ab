"""Files that are there whole, or not at all."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..spec import InvalidValueError


class NoSuchFileError(FileNotFoundError, ValueError):
    """There is no file of that name; a `FileNotFoundError` and a `ValueError`."""


def check_file(path: Path) -> None:
    """Raises `FileNotFoundError` (a `ValueError` too) unless there is a file."""
    if not path.exists():
        raise NoSuchFileError(f"{path}: there is no such file")
    if not path.is_file():
        raise InvalidValueError(str(path), "", "a file", "a folder or a device")


def write_whole(path: Path, write: Callable[[Any], None]) -> None:
    """Writes a file beside `path` and renames it: there is all of it, or what was there before.

    When this returns, a computer that loses its power keeps the file.

    Raises `FileNotFoundError` for a missing folder, `IsADirectoryError` for a `path` that is one.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{path}: there is no folder {path.parent}; make it first, or save elsewhere"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(unfinished, "w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        _sync_folder(path.parent)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()


def _sync_folder(folder: Path) -> None:
    """Brings the names of the files of a folder to the disk, where a system has a call for it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system lets folders be synced
            os.fsync(handle)
    finally:
        os.close(handle)
