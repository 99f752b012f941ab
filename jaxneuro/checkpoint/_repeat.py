"""A loop whose state is on the disk: `repeat`."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import spec
from .._disk.arrays import npz_shapes, read_npz
from .._disk.folder import RunFolder, part_of
from .._disk.parts import OnDisk
from .._disk.values import HEADER, FileKind, decoded, nodes_of, write_values
from .._fingerprint import fingerprint, sum_of
from .._network.changes import facts_of, unlike
from .._network.network import Network
from .._progress import Progress, is_shown
from .._text import brief, shown
from ..spec import InvalidValueError
from ._files import arrays_of, kinds_of, path_text, tree_like

_LOOP = FileKind("jaxneuro loop", 1, "jn.checkpoint.repeat")
_WHOLE = "a whole file that jn.checkpoint.repeat wrote"


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
        step: a function of the state and of k, called on the host; it depends on nothing else that
            changes. The states, and the outs, of all calls have the same structure, shapes and
            dtypes.
        state: at the begin, a pytree.
        times: how many calls in all.
        save: the folder.
        every: how many calls an interval has.
        about: what the function depends on, by name: networks, numbers, texts, arrays. A folder
            whose loop began with others is refused, with the difference.
        progress: whether to show a bar (default: in a terminal or a notebook).

    Returns:
        The state after the last call, and what all calls returned: a pytree as of one call, whose
        arrays have an axis of calls in front and are on disk (`x[...]` reads them). Where a
        finished loop is read, and a call returns other classes than dicts, tuples and lists, `step`
        is traced for them; if it cannot be, the arrays come as a dict.

    Raises:
        InvalidValueError: for the folder of another loop, of a longer one or with files that are
            not whole, and for a call that returns something else than those before.
        OSError: where it cannot be written; what it holds is whole.
        FolderInUseError: for a folder that another loop is writing; it is a `RuntimeError`.
    """
    show = is_shown(progress)
    with RunFolder("repeat", save, _LOOP) as folder:
        loop = _Loop(folder, step, state, _described(about))
        return loop.run(times, every, show)


class _Loop:
    """One call of `repeat`.

    Attributes:
        shape: what a call returns, as a pytree of the names of its arrays; None before it is known.
        kinds: the dtypes and shapes of these arrays, by name.
    """

    def __init__(self, folder: RunFolder, step: Callable, start: Any, about: dict[str, Any]):
        self.folder, self.step, self.start = folder, step, start
        about = {
            "about": json.dumps(about),
            "start": sum_of(arrays_of("repeat", "state", start).values()),
        }
        before, last = folder.about(), folder.last()
        if before is None or last is None:
            folder.go_on_after(0)
            folder.begin(about)
            self.state, self.ends = start, np.zeros(0, np.int64)
            self.shape, self.kinds = None, None
            return
        folder.refuse(_differences(about, before))
        folder.go_on_after(last[0])
        self.ends = last[1]["ends"]
        self.shape, self.kinds = last[1]["shape"], last[1]["kinds"]
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
                    state, out = self._called(now[0], k)
                    outs.append(_own(out, jax.tree.leaves(state)))
                    now = state, k + 1 - done
                    progress.advance(1)
                    if (k + 1) % every == 0:
                        self._hand_over(*now, done, outs)
            finally:
                self._hand_over(*now, done, outs)
                self.folder.wait()
        return now[0], self._outs() if times else None

    def _called(self, state: Any, k: int) -> tuple[Any, Any]:
        """What a call returns, which must be of one kind in all calls."""
        both = self.step(state, k)
        if not (isinstance(both, tuple | list) and len(both) == 2):
            raise InvalidValueError("repeat", "what step returns", "(state, out)", brief(both))
        kinds = kinds_of(both[1])
        self.kinds = kinds if self.kinds is None else self.kinds
        if self.shape is None:
            self.shape = jax.tree_util.tree_map_with_path(lambda at, x: path_text(at), both[1])
        compared = ("state", kinds_of(both[0]), kinds_of(state)), ("out", kinds, self.kinds)
        for name, now, before in compared:
            for path in (x for x in (before | now) if now.get(x) != before.get(x)):
                must = f"{before.get(path, 'nothing')}, as before call {k}"
                got = now.get(path, "nothing")
                raise InvalidValueError("repeat", f"{name}{path}", must, got)
        return both[0], both[1]

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
            each = [arrays_of("repeat", "out", out) for out in mine]
            stacked = {name: np.stack([x[name] for x in each]) for name in each[0]}
            write_values(stem.with_suffix(".npz"), _LOOP, {"out": stacked})

        # Taken now: the next call may give the memory of its state away (`donate_argnums`).
        arrays = arrays_of("repeat", "state", _own(state))
        shape = self.shape if _is_plain(self.shape) else None
        saved = {"state": arrays, "ends": ends, "shape": shape, "kinds": self.kinds}
        self.folder.write_meanwhile(part, len(ends), lambda: saved)
        self.ends = ends
        outs[first:calls] = [None] * len(mine)  # on the disk; memory holds two intervals

    def _outs(self) -> Any:
        """What all calls returned, on disk; of one call, its structure."""
        path = self.folder.part(0).with_suffix(".npz")
        shapes = npz_shapes("repeat", path, _WHOLE)
        nodes = nodes_of("repeat", path, _LOOP, _read(self.folder.path, HEADER, 0))

        def on_disk(name: str) -> OnDisk:
            (_, *row), dtype = shapes[name]
            return OnDisk(self.ends, tuple(row), dtype, partial(_read, self.folder.path, name))

        arrays = decoded("repeat", path, nodes["out"], on_disk)
        if self.shape is None and arrays:  # it has classes of its own, and no call was made here
            try:
                out = jax.eval_shape(lambda s: self.step(s, 0)[1], self.start)
                names = jax.tree_util.tree_map_with_path(lambda at, x: path_text(at), out)
                return jax.tree.map(lambda name: arrays[name], names)
            except Exception:  # a function of the user may raise anything
                return arrays
        return jax.tree.map(lambda name: arrays[name], self.shape)


def _own(tree: Any, given: Iterable[Any] = ()) -> Any:
    """A pytree with copies of what the next call may change: NumPy's arrays, and those `given`."""
    those = {id(x) for x in given if isinstance(x, jax.Array)}
    changes = lambda x: isinstance(x, np.ndarray) or id(x) in those  # noqa: E731
    return jax.tree.map(lambda x: x.copy() if changes(x) else x, tree)


def _read(folder: Path, name: str, part: int) -> np.ndarray:
    path = part_of(folder, part).with_suffix(".npz")
    found = read_npz("repeat", path, _WHOLE, names={name})
    if name not in found:
        raise InvalidValueError("repeat", f"the file {str(path)!r}", _WHOLE, f"no {name!r}")
    return found[name]


def _is_plain(shape: Any) -> bool:
    """Whether a file can say how names are nested."""
    if type(shape) in (tuple, list):
        return all(map(_is_plain, shape))
    if type(shape) is dict:
        return all(type(k) is str and _is_plain(x) for k, x in shape.items())
    return shape is None or type(shape) is str


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
