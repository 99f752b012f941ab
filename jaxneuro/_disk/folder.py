"""Folders that a long run writes interval by interval, and from which it goes on.

    run.npz             which run it is
    part-000003.npz     what was recorded in interval 3
    state-000003.npz    what is needed to go on after it; with it the interval counts
    lock                of the process that writes

Every file is whole or not there. A part is written before the state that counts it, so that a
process that is killed at any moment leaves a folder that ends with a finished interval. The last
two states stay.
"""

import collections
import concurrent.futures
import errno
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .. import spec
from ..spec import InvalidValueError
from .values import FileKind, read_values, write_values

_STATES = 2  # that are kept
_SHOWN = 5  # differences in a message
_STATE = re.compile(r"state-(\d{6,})\.npz")
_PART = re.compile(r"part-(\d{6,})\b.*")


class FolderInUseError(RuntimeError):
    """Another process, or another call in this one, is writing the folder."""


class RunFolder:
    """The folder of one run, of a `kind`.

    For whoever writes it is a context in which it is locked, and a thread writes what it is handed.
    """

    def __init__(self, owner: str, path: Any, kind: FileKind):
        given = spec.check(owner, "save", spec.FilePath("folder"), path)
        if given.exists() and not given.is_dir():
            raise InvalidValueError(owner, "save", "a folder", f"the file {os.fspath(given)!r}")
        self.path, self.owner, self.kind, self._lock = given.absolute(), owner, kind, None
        self._sizes = np.zeros(0, np.int64)  # of what an interval has in files, in bytes
        self._writer: concurrent.futures.ThreadPoolExecutor | None = None
        self._pending: concurrent.futures.Future | None = None

    def __enter__(self) -> "RunFolder":
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            foreign = [x.name for x in self.path.iterdir() if x.name != "lock"]
            if foreign and not (self.path / "run.npz").exists() and not self._unfinished(foreign):
                must = "empty, or one that was begun by the same call"
                got = f"{os.fspath(self.path)!r}, with {sorted(foreign)[0]!r}"
                raise InvalidValueError(self.owner, "save", must, got)
            self._lock = _locked(self.path)
        except OSError as error:
            text = f"{self.owner}: {self.path} cannot be written ({error.strerror})"
            raise OSError(error.errno, text) from error
        self._writer = concurrent.futures.ThreadPoolExecutor(1, "jaxneuro saves")
        for file in self.path.glob(".*.part"):  # what a killed process was writing
            file.unlink(missing_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._lock is not None and self._writer is not None:
            self._writer.shutdown()
            self._lock.close()

    @staticmethod
    def _unfinished(names: list[str]) -> bool:
        """Whether there is only what a process leaves that is killed before it has begun."""
        return all(name.startswith(".run.npz.") for name in names)

    def about(self) -> dict[str, Any] | None:
        """Which run it is; None of a folder that is not begun."""
        path = self.path / "run.npz"
        return read_values(self.owner, path, self.kind) if path.exists() else None

    def begin(self, about: Mapping[str, Any]) -> None:
        """Says which run it is."""
        write_values(self.path / "run.npz", self.kind, about)

    def refuse(self, differences: list[str]) -> None:
        """Raises `InvalidValueError` if there are differences to the run of the folder."""
        if differences:
            more = len(differences) - _SHOWN
            text = "; ".join(differences[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
            must, hint = "a folder of this very run", ". Give another folder, or delete this one"
            raise InvalidValueError(self.owner, "save", must, f"that of another ({text})", hint)

    def last(self) -> tuple[int, dict[str, Any]] | None:
        """How many intervals count, and the state after them; None before the first."""
        numbers = self._states()
        while numbers:
            path = self.path / f"state-{numbers[-1]:06d}.npz"
            try:
                found = read_values(self.owner, path, self.kind)
                self._sizes = found.pop("sizes", self._sizes)
                return numbers[-1], found
            except FileNotFoundError:  # whoever writes has just gone on
                numbers = self._states()
            except InvalidValueError as error:
                before = f"; without this file it goes on from {numbers[-2]}" * (len(numbers) > 1)
                error.add_note(f"{self.path} holds {numbers[-1]} intervals{before}")
                raise
        return None

    def part(self, number: int) -> Path:
        """How the files of an interval begin, counted from 0."""
        return part_of(self.path, number)

    def chunks(self) -> list[Path]:
        """The files of parts that are in no order of time, as those of a sweep."""
        return sorted(self.path.glob("part-*.npz"))

    def go_on_after(self, number: int) -> None:
        """Deletes the part that was being written after `number` intervals: no state counts it.

        Raises:
            InvalidValueError: for later ones, whose states somebody has taken away, and for earlier
                ones whose files have not the size with which they were written.
        """
        held: collections.Counter[int] = collections.Counter()
        beyond = []
        for file in self.path.iterdir():
            if not (found := _PART.fullmatch(file.name)):
                continue
            if int(found[1]) < number:
                held[int(found[1])] += file.stat().st_size
            else:
                beyond.append((int(found[1]), file))
        if beyond and max(beyond)[0] > number:
            got = f"{os.fspath(self.path)!r}, with {max(beyond)[1].name} and states of {number}"
            raise InvalidValueError(self.owner, "save", "a folder with its last state", got)
        for part, size in enumerate(self._sizes.tolist()):
            if held[part] != size:
                must = f"a folder whose {self.part(part).name} has {size:,} bytes"
                raise InvalidValueError(self.owner, "save", must, f"{held[part]:,} bytes")
        for _, file in beyond:
            file.unlink()
        for old in self._states()[:-_STATES]:
            (self.path / f"state-{old:06d}.npz").unlink(missing_ok=True)

    def write(self, part: Callable[[Path], None], number: int, state: Mapping[str, Any]) -> None:
        """Writes the last of `number` intervals, and then the state after it: they count now.

        `part` writes the files of an interval, whose names begin with a path.
        """
        try:
            part(self.part(number - 1))
            size = sum(x.stat().st_size for x in self.path.glob(f"{self.part(number - 1).name}.*"))
            self._sizes = np.append(self._sizes[: number - 1], size)
            values = {"sizes": self._sizes, **state}
            write_values(self.path / f"state-{number:06d}.npz", self.kind, values)
        except OSError as error:
            text = f"{self.owner}: {self.path} cannot be written ({error.strerror or error})"
            text += ". What it holds is whole, and the same call goes on from there"
            raise OSError(*filter(None, [error.errno]), text) from error
        (self.path / f"state-{number - _STATES:06d}.npz").unlink(missing_ok=True)

    def write_meanwhile(
        self, part: Callable[[Path], None], number: int, state: Callable[[], Any]
    ) -> None:
        """`write` in a thread of its own, when what was handed over before is written.

        Raises:
            OSError: where that could not be written.
        """
        self.wait()
        assert self._writer is not None
        self._pending = self._writer.submit(lambda: self.write(part, number, state()))

    def wait(self) -> None:
        """Until all that was handed over is on the disk.

        Raises:
            OSError: where it could not be written.
        """
        if self._pending is not None:
            self._pending.result()

    def _states(self) -> list[int]:
        found = (_STATE.fullmatch(file.name) for file in self.path.iterdir())
        return sorted(int(x[1]) for x in found if x)


def part_of(folder: Path, number: int) -> Path:
    """How the files of an interval begin, counted from 0."""
    return folder / f"part-{number:06d}"


def _locked(folder: Path) -> Any:
    """An open file that nobody else has locked; the system frees it when the process ends."""
    file = open(folder / "lock", "a+b")  # noqa: SIM115 - open as long as it is locked
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError as error:
        file.close()
        if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK):
            text = f"{folder} is on a file system that cannot lock files ({error.strerror})"
            raise OSError(error.errno, f"{text}: give a folder on another one") from error
        text = f"{folder} is being written by another run; wait for it, or give another folder"
        raise FolderInUseError(text) from error
    return file
