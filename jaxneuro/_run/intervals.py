"""What a saved run has recorded: intervals in files, read where they are asked for."""

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Shaped

from .. import spec
from .._disk.arrays import MOST_MB
from .._disk.folder import RunFolder
from .._disk.parts import EventsOnDisk, OnDisk
from .._disk.values import HEADER, decoded, header_of, nodes_of
from .._network.state import SavedState
from ..spec import InvalidValueError
from .checked import check_fields, check_layout, check_run, check_spikes, sums_of_file
from .info import RunInfo
from .part_files import RUN, parts_named
from .result import Result

# Of each field that grows, what its arrays have a row for.
_ROWS = {"spikes": "spikes", "counts": "steps", "samples": "samples"}


class Ends(NamedTuple):
    """How much a run has recorded up to the end of each interval.

    Attributes:
        steps: how many were run.
        samples: how many were taken.
        spikes: how many there were, by population.
    """

    steps: tuple[int, ...] = ()
    samples: tuple[int, ...] = ()
    spikes: Mapping[str, tuple[int, ...]] = {}

    def after(self, values: Mapping[str, Any]) -> "Ends":
        """With one more interval, of these fields of a `Result`."""
        steps, samples = values["n_steps"], len(values["sample_times"])
        spikes = {name: len(x[0]) for name, x in (values["spikes"] or {}).items()}
        more = lambda ends, n: (*ends, (ends[-1] if ends else 0) + n)  # noqa: E731
        return Ends(
            more(self.steps, steps),
            more(self.samples, samples),
            {name: more(self.spikes.get(name, ()), n) for name, n in spikes.items()},
        )

    def saved(self) -> dict[str, Any]:
        """As a file holds it."""
        spikes = {name: np.array(x, np.int64) for name, x in self.spikes.items()}
        steps, samples = (np.array(x, np.int64) for x in (self.steps, self.samples))
        return {"steps": steps, "samples": samples, "spikes": spikes}

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> "Ends":
        """What `saved` made."""
        whole = lambda x: tuple(np.asarray(x).tolist())  # noqa: E731
        spikes = {name: whole(x) for name, x in saved["spikes"].items()}
        return cls(whole(saved["steps"]), whole(saved["samples"]), spikes)


class _Intervals:
    """The intervals of a run, whose arrays are read by their names; `now` is one in memory."""

    def __init__(
        self, folder: RunFolder, about: Any, sizes: Any, ends: Ends, now: Mapping[str, Any] | None
    ):
        self._parts, self._sizes = parts_named(about["parts"]), sizes
        # One of its own: a result may be pickled, and a lock and a thread that writes may not.
        self._folder = RunFolder(folder.owner, folder.path, RUN)
        self._ends, self._now = ends, {}
        self._files = len(ends.steps) - (now is not None)
        if now is not None:
            self._now[HEADER] = header_of(RUN, grown(now), self._now)

    def fields(self) -> dict[str, Any]:
        """Those fields of a `Result` that grow in a run."""
        # An interval without a sample, or without a step, may lack what the others have.
        ends = self._ends.samples if self._ends.samples[-1] else self._ends.steps
        number = min(int(np.searchsorted(ends, 0, side="right")), len(ends) - 1)
        path = self._folder.part(number)
        with _owned(self._folder.owner):
            if number < self._files:
                header, shapes = self._parts.header(path)
            else:
                header = self._now[HEADER]
                shapes = {name: (x.shape, x.dtype) for name, x in self._now.items()}
            nodes = nodes_of("", path, RUN, header)
            try:
                found = {
                    field: self._decoded(path, nodes[field], getattr(self._ends, rows), shapes)
                    for field, rows in _ROWS.items()
                    if field != "spikes"
                }
                return {"spikes": self._spikes(path, nodes["spikes"], shapes), **found}
            except InvalidValueError:
                raise
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                named = f"the file {str(path)!r}"
                raise InvalidValueError("", named, "whole", f"a damaged one: {error!r}") from error

    def _decoded(
        self, path: Path, node: Any, rows: tuple[int, ...], shapes: Any, change: Any = None
    ) -> Any:
        """A value whose arrays are those of all intervals; `rows` is how many end with each."""
        ends = np.array(rows, np.int64)

        def array(name: str) -> OnDisk:
            if name not in shapes:
                there = sorted(x.name for x in path.parent.glob(f"{path.name}.*"))
                named, got = f"the files '{path}.*'", f"{', '.join(there)}, which lack it"
                raise InvalidValueError("", named, f"whole, with {name!r}", got)
            (_, *row), dtype = shapes[name]
            read = functools.partial(self._rows, name, ends, tuple(row), dtype, change)
            return OnDisk(ends, tuple(row), dtype, read)

        return decoded("", path, node, array)

    def _rows(
        self, name: str, ends: Any, row: tuple[int, ...], dtype: Any, change: Any, part: int
    ) -> Shaped[np.ndarray, "rows ..."]:
        """An array of an interval, of the shape that it must have; `change` makes another of it."""
        shape = (int(ends[part] - (ends[part - 1] if part else 0)), *row)
        with _owned(self._folder.owner):
            x = self._read(part, name)
            if (x.shape, x.dtype) != (shape, dtype):
                must, got = (f"{d} of shape {n}" for d, n in ((dtype, shape), (x.dtype, x.shape)))
                raise InvalidValueError("", self._named(part, name), must, got)
            return x if change is None else change(part, x)

    def _spikes(self, path: Path, node: Any, shapes: Any) -> dict[str, EventsOnDisk] | None:
        if "plain" in node:
            return None
        found, ends = {}, np.array(self._ends.steps, np.int64)
        for name, rows in self._ends.spikes.items():
            inside = dict(node["dict"])[name]["tuple"]
            changes = functools.partial(self._steps, name), functools.partial(self._neurons, name)
            at, of = (self._decoded(path, x, rows, shapes, f) for x, f in zip(inside, changes))
            if any(x.ndim != 1 or x.dtype.kind not in "iu" for x in (at, of)):
                raise ValueError(f"spikes of {name!r}")
            found[name] = EventsOnDisk(at, of, ends)
        return found

    def _steps(self, of: str, part: int, x: Any) -> Any:
        """Steps from the begin of the run on; in a file they are from that of its own."""
        begin, end = self._ends.steps[part - 1] if part else 0, self._ends.steps[part]
        check_spikes(self._named(part, f"steps of {of}"), x, end - begin, ascending=True)
        return x + x.dtype.type(begin)

    def _neurons(self, of: str, part: int, x: Any) -> Any:
        return check_spikes(self._named(part, f"neurons of {of}"), x, self._sizes[of])

    def _named(self, part: int, name: str) -> str:
        return f"{name} in the file {str(self._folder.part(part))!r}"

    def _read(self, part: int, name: str) -> Shaped[np.ndarray, "rows ..."]:
        """An array of an interval."""
        here = part >= self._files
        return self._now[name] if here else self._parts.read(self._folder.part(part), name)


@contextlib.contextmanager
def _owned(owner: str) -> Iterator[None]:
    """Errors of what reads files, which does not know for whom it does, are those of an owner."""
    try:
        yield
    except InvalidValueError as error:
        field = f"{error.owner} {error.field}".strip()  # what reads HDF5 has the file as its owner
        of = field, error.must, error.got, error.hint
        raise InvalidValueError(owner, *of) from error.__cause__


def grown(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Result` that grow in a run."""
    return {name: values[name] for name in _ROWS}


def result_fields(
    folder: RunFolder, about: Any, saved: Mapping[str, Any], now: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The fields of the `Result` of a run: `saved` is its last state, `now` what came after it."""
    ends = Ends.of(saved["ends"])
    ends = ends if now is None else ends.after(now)
    info = RunInfo(*json.loads(about["info"]))
    done, first, every = ends.steps[-1], about["first_step"], info.every
    samples = np.arange(first // every, (first + done) // every) if every else np.zeros(0)
    layout: Any = tuple(map(tuple, info.layout))
    sizes = check_layout(folder.owner, layout)
    return {
        **info._replace(n_steps=done, layout=layout).fields(),
        **_Intervals(folder, about, sizes, ends, now).fields(),
        "state": SavedState(**saved["state"]) if "state" in saved else None,
        "first_step": first,
        "sample_times": every * (samples.astype(np.int64) + 1) * info.dt,
        "constants": about["constants"],
        "statistics": sums_of_file(saved["sums"]),
        "key": about["key"],
        **{name: saved[name] for name in ("compile_s", "run_s", "until_held")},
    }


def open_run(owner: str, path: Any) -> Result:
    """The result of the run in a folder, of which nothing is read before it is asked for."""
    given = spec.check(owner, "path", spec.FilePath("folder"), path)
    about = RunFolder(owner, given, RUN).about() if given.is_dir() else None
    if about is None:
        must = "a folder that simulate(save=) wrote"
        raise InvalidValueError(owner, "path", must, repr(str(given)))
    folder = RunFolder(owner, given, RUN)
    last = folder.last()
    if last is None:
        must = "of a run with a finished interval"
        raise InvalidValueError(owner, "path", must, f"{str(folder.path)!r}, which has none")
    where = folder.path / "run.npz"
    check_run(owner, where, about, last[1])
    _check_samples(owner, folder, about, last[1])
    found = result_fields(folder, about, last[1])
    check_fields(owner, where, {**found, "state": None})
    return Result(network=None, **found)


def _check_samples(owner: str, folder: RunFolder, about: Any, saved: Any) -> None:
    """Raises `InvalidValueError` unless samples are as many as steps say and files hold."""
    every, ends, first = json.loads(about["info"])[3], saved["ends"], about["first_step"]
    done, samples = int(ends["steps"][-1]), int(ends["samples"][-1])
    expected = (first + done) // every - first // every if every else 0
    held = sum(file.stat().st_size for file in folder.path.glob("part-*"))
    if samples != expected or 8 * samples > max(1e6 * MOST_MB, 8 * held):
        named = f"the last state in {str(folder.path)!r}"
        must = f"one with {expected} samples, and files that hold them"
        raise InvalidValueError(owner, named, must, str(samples))
