"""A loop whose state is on the disk: `repeat`."""

import functools
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import spec
from .._disk.arrays import read_npz
from .._disk.folder import RunFolder
from .._disk.parts import OnDisk
from .._disk.values import FileKind, plain_name, write_values
from .._fingerprint import fingerprint, sum_of
from .._network.changes import facts_of, unlike
from .._network.network import Network
from .._progress import Progress
from .._text import shown
from ..spec import InvalidValueError
from ._files import arrays_of, dtype_of, path_text, tree_like

_LOOP = FileKind("jaxneuro loop", 1, "jn.checkpoint.repeat")


@spec.arguments(
    step=spec.Function(),
    times=spec.Whole(),
    every=spec.Whole(1),
    progress=spec.Maybe(spec.Flag()),
)
def repeat(
    step: Callable[[Any, int], tuple[Any, Any]],
    state: Any,
    times: int,
    *,
    save: str | os.PathLike,
    every: int = 1,
    about: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> tuple[Any, Any]:
    """Calls `state, out = step(state, k)` for k from 0 on, with all of it in a folder.

    After each `every` calls the state and what the calls returned reach the disk, while the next
    ones run. The same line after a crash, Ctrl-C or `kill -9` goes on after the last finished
    interval; with more `times` it goes further; a finished loop is read. So for a batch::

        runs = jax.jit(jax.vmap(lambda s: jn.scan(net, s, 10_000)))
        states = jax.vmap(net.init)(jnp.arange(100))
        states, recorded = jn.checkpoint.repeat(
            lambda s, k: runs(s), states, 60, save="runs/", about={"net": net}
        )

    and for training, where the state is `(parameters, optimiser)` and `out` a loss.

    Args:
        step: a function of the state and of k. It is not traced; it depends on nothing else that
            changes.
        state: at the begin, a pytree.
        times: how many calls in all.
        save: the folder.
        every: how many calls an interval has.
        about: what the function depends on, by name: networks, numbers, texts, arrays. A folder
            whose loop began with others is refused, with the difference.
        progress: whether to show a bar (default: if stderr is a terminal).

    Returns:
        The state after the last call, and what all calls returned: a pytree as of one call, whose
        arrays have an axis of calls in front and are on disk (`x[...]` reads them).

    Raises:
        InvalidValueError: for the folder of another loop, or of a longer one.
        OSError: where it cannot be written; what it holds is whole.
        FolderInUseError: for a folder that another loop is writing; it is a `RuntimeError`.
    """
    show = sys.stderr.isatty() if progress is None else progress
    with RunFolder("repeat", save, _LOOP) as folder:
        loop = _Loop(folder, step, state, _described(about))
        return loop.run(times, every, show)


class _Loop:
    """One call of `repeat`."""

    def __init__(self, folder: RunFolder, step: Callable, start: Any, about: dict[str, Any]):
        self.folder, self.step, self.start = folder, step, start
        arrays = arrays_of("state", start)
        about = {"about": json.dumps(about), "start": sum_of(arrays.values())}
        before, last = folder.about(), folder.last()
        if before is None or last is None:
            folder.forget_after(0)
            folder.begin(about)
            self.state, self.ends = start, np.zeros(0, np.int64)
            return
        folder.refuse(_differences(about, before))
        folder.forget_after(last[0])
        self.ends = last[1]["ends"]
        self.state = tree_like("state", start, last[1]["state"])

    def run(self, times: int, every: int, show: bool) -> tuple[Any, Any]:
        done = int(self.ends[-1]) if self.ends.size else 0
        if times < done:
            must = f"{done} or more, which the folder holds"
            raise InvalidValueError("repeat", "times", must, str(times))
        outs: list[Any] = []
        now = self.state, 0  # assigned at once: Ctrl-C leaves whole calls
        with Progress("repeating", times, "calls", show) as progress:
            progress.advance(done)
            try:
                for k in range(done, times):
                    state, out = self.step(now[0], k)
                    outs.append(out)
                    now = state, k + 1 - done
                    progress.advance(1)
                    if (k + 1) % every == 0:
                        self._hand_over(*now, done, outs)
            finally:
                self._hand_over(*now, done, outs)
                self.folder.wait()
        return now[0], self._outs(times)

    def _hand_over(self, state: Any, calls: int, done: int, outs: list[Any]) -> None:
        """Has what the last of `calls` returned written, and the state after them.

        `done` are those of earlier processes. What is handed over is counted, and not again.
        """
        before = int(self.ends[-1]) if self.ends.size else 0
        if done + calls == before:
            return
        first = before - done
        ends, mine = np.append(self.ends, done + calls), outs[first:calls]

        def part(stem: Path) -> None:
            each = [arrays_of("out", out) for out in mine]
            stacked = {name: np.stack([x[name] for x in each]) for name in each[0]}
            write_values(stem.with_suffix(".npz"), _LOOP, {"out": stacked})

        saved = lambda: {"state": arrays_of("state", state), "ends": ends}  # noqa: E731
        self.folder.write_meanwhile(part, len(ends), saved)
        self.ends = ends
        outs[first:calls] = [None] * len(mine)  # on the disk; memory holds two intervals

    def _outs(self, times: int) -> Any:
        """What all calls returned, on disk; of one call, its structure."""
        if not times:
            return None
        try:
            out = jax.eval_shape(lambda s: self.step(s, 0)[1], self.start)
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):  # it cannot be traced
            out = self.step(self.start, 0)[1]
        paths, tree = jax.tree_util.tree_flatten_with_path(out)
        read = functools.partial(_read, self.folder)
        names = [f"out/{plain_name(path_text(path))}" for path, _ in paths]
        leaves = [
            OnDisk(self.ends, np.shape(x), dtype_of(x), functools.partial(read, name=name))
            for name, (_, x) in zip(names, paths)
        ]
        return jax.tree.unflatten(tree, leaves)


def _read(folder: RunFolder, part: int, name: str) -> np.ndarray:
    path = folder.part(part).with_suffix(".npz")
    return read_npz("repeat", path, "a whole file", names={name})[name]


# --- Which loop it is.


def _described(about: Any) -> dict[str, Any]:
    given = spec.check("repeat", "about", spec.Maybe(spec.Entries(spec.Anything())), about) or {}
    return {
        name: facts_of(x)
        if isinstance(x, Network)
        else {name: {"is": [shown(x), fingerprint(x).tobytes().hex()]}}
        for name, x in given.items()
    }


def _differences(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    mine, its = (json.loads(x["about"]) for x in (now, before))
    found = [f"{name}: it is new" for name in mine if name not in its]
    found += [f"{name}: it was given" for name in its if name not in mine]
    found += [line for name in mine if name in its for line in unlike(mine[name], its[name])]
    if not found and now["start"] != before["start"]:
        found = ["state: it starts from another one"]
    return found
