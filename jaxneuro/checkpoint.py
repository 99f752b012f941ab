"""States and other pytrees in files, and loops of any function that survive a crash.

`jn.simulate(..., save=)` does all of this for a run of a network. Here is what it has for batches,
assemblies and training: `save` and `load` by hand, and `repeat`, a loop whose state is on the disk.

Files are npz archives of named arrays with sums: nothing in them runs. A file is there whole or not
at all.
"""

import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import spec
from ._arrays import as_array
from ._disk.arrays import read_npz
from ._disk.folder import RunFolder
from ._disk.parts import OnDisk
from ._disk.values import FileKind, read_values, write_values
from ._fingerprint import fingerprint
from ._network.changes import facts_of, unlike
from ._network.network import Network
from ._progress import Progress
from ._text import shown
from .spec import InvalidValueError

__all__ = ["load", "repeat", "save"]

_FILE = FileKind("jaxneuro checkpoint", 1, "jn.checkpoint.save")
_LOOP = FileKind("jaxneuro loop", 1, "jn.checkpoint.repeat")


def save(path: str | os.PathLike, state: Any, **trees: Any) -> None:
    """Writes a state, and what else is given by name, to a file that `load` reads.

    All are pytrees: the state of a network, of a batch or of an assembly brain, parameters, an
    optimiser. Leaves are arrays, numbers, or JAX keys.

    Args:
        path: the file; one that is there is replaced when the new one is whole.
        state: a pytree.
        trees: further ones by name.

    Raises:
        InvalidValueError: for leaves that are neither arrays nor numbers.
        FileNotFoundError: for a missing folder.
        OSError: where it cannot be written; what was there before is whole.
    """
    whole = spec.check("save", "path", spec.FilePath(), path)
    given = {"state": state, **trees}
    write_values(whole, _FILE, {name: _arrays(name, tree) for name, tree in given.items()})


def load(path: str | os.PathLike, state: Any, **trees: Any) -> Any:
    """What `save` wrote, as pytrees like those that are given.

    Args:
        path: the file.
        state: a pytree of the same structure, shapes and dtypes, whose values do not matter; or the
            network of a state.
        trees: those of the others by name.

    Returns:
        The state; with `trees`, a tuple of it and of them in their order. Arrays lie where those
        of the given trees do.

    Raises:
        InvalidValueError: for a file that is cut off, of another kind or of a newer version, and
            for trees of another structure, with the first difference.
        FileNotFoundError: for a missing file.
    """
    whole = spec.check("load", "path", spec.FilePath(), path)
    _, found = read_values("load", whole, _FILE)
    given = {"state": state, **trees}
    for name in given:
        spec.check_known("saved tree", name, found)
    loaded = tuple(_like(name, tree, found[name]) for name, tree in given.items())
    return loaded if trees else loaded[0]


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
        arrays = _arrays("state", start)
        about = {"about": json.dumps(about), "start": _sum(arrays)}
        before, last = folder.about(), folder.last()
        folder.forget_after(0 if last is None else last[0])
        if before is None or last is None:
            folder.begin(about)
            self.state, self.ends = start, np.zeros(0, np.int64)
            return
        folder.refuse(_differences(about, before))
        self.ends = last[1]["ends"]
        self.state = _like("state", start, last[1]["state"])

    def run(self, times: int, every: int, show: bool) -> tuple[Any, Any]:
        done = int(self.ends[-1]) if self.ends.size else 0
        if times < done:
            must = f"{done} or more, which the folder holds"
            raise InvalidValueError("repeat", "times", must, str(times))
        state, outs = self.state, []
        with Progress("repeating", times, "calls", show) as progress:
            progress.advance(done)
            try:
                for k in range(done, times):
                    new, out = self.step(state, k)
                    outs.append(out)
                    state = new
                    progress.advance(1)
                    if (k + 1) % every == 0:
                        self._hand_over(state, outs)
                        outs = []
            finally:
                if outs:
                    self._hand_over(state, outs)
                self.folder.wait()
        return state, self._outs(times)

    def _hand_over(self, state: Any, outs: list[Any]) -> None:
        """Has what some calls returned written, and the state after them."""
        before = int(self.ends[-1]) if self.ends.size else 0
        self.ends = ends = np.append(self.ends, before + len(outs))

        def part(stem: Path) -> None:
            each = [_arrays("out", out) for out in outs]
            stacked = {name: np.stack([x[name] for x in each]) for name in each[0]}
            write_values(stem.with_suffix(".npz"), _LOOP, {"out": stacked})

        saved = lambda: {"state": _arrays("state", state), "ends": ends}  # noqa: E731
        self.folder.write_meanwhile(part, len(ends), saved)

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
        names = [f"out/{_name(path)}" for path, _ in paths]
        leaves = [
            OnDisk(self.ends, np.shape(x), _dtype(x), functools.partial(read, name=name))
            for name, (_, x) in zip(names, paths)
        ]
        return jax.tree.unflatten(tree, leaves)


def _read(folder: RunFolder, part: int, name: str) -> np.ndarray:
    path = folder.part(part).with_suffix(".npz")
    return read_npz("repeat", path, "a whole file", names={name})[name]


# --- Pytrees as arrays by name.


def _arrays(name: str, tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a pytree by their paths; raises `InvalidValueError` for what is no number."""
    out = {}
    for path, x in jax.tree_util.tree_leaves_with_path(tree):
        if not getattr(x, "is_fully_addressable", True):
            must = "on the devices of this process"
            raise InvalidValueError("save", f"{name}{_name(path)}", must, "on those of several")
        x = jax.random.key_data(x) if _is_key(x) else x
        found = np.asarray(x)
        if found.dtype.hasobject or found.dtype.kind in "USMm":
            must = "an array, a number or a JAX key"
            raise InvalidValueError("save", f"{name}{_name(path)}", must, f"a {type(x).__name__}")
        out[_name(path)] = found
    return out


def _like(name: str, like: Any, arrays: Any) -> Any:
    """A pytree of arrays by their paths; raises `InvalidValueError` if they are of another."""
    if isinstance(like, Network):
        like = jax.eval_shape(lambda net: net.init(0), like)
    leaves, tree = jax.tree_util.tree_flatten_with_path(like)
    expected = {_name(path): x for path, x in leaves}
    arrays = arrays if isinstance(arrays, dict) else {}
    for path in dict.fromkeys((*expected, *arrays)):
        found, x = arrays.get(path), expected.get(path)
        x = jax.eval_shape(jax.random.key_data, x) if _is_key(x) else x
        want = _what(x) if path in expected else "nothing"
        got = "nothing" if found is None else _what(found)
        if want != got:
            raise InvalidValueError("load", f"{name}{path}", want, got)
    found = [_placed(arrays[path], x) for path, x in expected.items()]
    return jax.tree.unflatten(tree, found)


def _placed(x: np.ndarray, like: Any) -> Any:
    """An array as what it was saved from: on a device, on the host, or a number."""
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(x), impl=jax.random.key_impl(like))
    if isinstance(like, jax.ShapeDtypeStruct):
        return as_array(x)
    if isinstance(like, jax.Array):
        return jax.device_put(x, like.sharding)
    return x if isinstance(like, np.ndarray | np.generic) else np.asarray(x).item()


def _is_key(x: Any) -> bool:
    return jnp.issubdtype(getattr(x, "dtype", np.dtype(int)), jax.dtypes.prng_key)


def _dtype(x: Any) -> np.dtype:
    return np.dtype(getattr(x, "dtype", np.asarray(x).dtype))


def _what(x: Any) -> str:
    return f"{_dtype(x)} of shape {np.shape(x)}"


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path)


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


def _sum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, x in arrays.items():
        digest.update(f"{name}{x.dtype}{x.shape}".encode() + np.ascontiguousarray(x).tobytes())
    return digest.hexdigest()
