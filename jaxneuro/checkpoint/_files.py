"""Pytrees in files: `save` and `load`."""

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import spec
from .._arrays import as_array
from .._disk.values import FileKind, read_values, write_values
from .._network.network import Network
from .._network.state import SavedState
from ..assemblies import Brain
from ..spec import InvalidValueError

_FILE = FileKind("jaxneuro checkpoint", 1, "jn.checkpoint.save")


def save(path: str | os.PathLike, state: Any, **trees: Any) -> None:
    """Writes a state, and what else is given by name, to a file that `load` reads.

    All are pytrees: the state of a network, of a batch or of an assembly brain, parameters, an
    optimiser. Leaves are arrays, numbers, or JAX keys.

    The state of a network over a mesh loads over the same mesh; `net.as_one_device(state)` is one
    that loads over any number of devices.

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
    write_values(
        whole, _FILE, {name: arrays_of("save", name, tree) for name, tree in given.items()}
    )


def load(path: str | os.PathLike, state: Any, **trees: Any) -> Any:
    """What `save` wrote, as pytrees like those that are given.

    Args:
        path: the file.
        state: a pytree of the same structure, shapes and dtypes, whose values do not matter; or the
            network or the brain of a state.
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
    found = read_values("load", whole, _FILE)
    given = {"state": state, **trees}
    for name in given:
        spec.check_known("saved tree", name, found)
    loaded = tuple(tree_like(name, tree, found[name]) for name, tree in given.items())
    return loaded if trees else loaded[0]


# --- Pytrees as arrays by name.


def arrays_of(owner: str, name: str, tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a pytree by their paths; raises `InvalidValueError` for what is no number."""
    out = {}
    for path, x in jax.tree_util.tree_leaves_with_path(tree):
        if not getattr(x, "is_fully_addressable", True):
            must = "on the devices of this process"
            raise InvalidValueError(owner, f"{name}{path_text(path)}", must, "on those of several")
        x = jax.random.key_data(x) if _is_key(x) else x
        found = np.asarray(x)
        if found.dtype.hasobject or found.dtype.kind in "USMm":
            must = "an array, a number or a JAX key"
            got = f"a {type(x).__name__}"
            raise InvalidValueError(owner, f"{name}{path_text(path)}", must, got)
        out[path_text(path)] = found
    return out


def tree_like(name: str, like: Any, arrays: Any) -> Any:
    """A pytree of arrays by their paths; raises `InvalidValueError` if they are of another."""
    arrays = arrays if isinstance(arrays, dict) else {}
    for path, x in arrays.items():
        if not (isinstance(path, str) and isinstance(x, np.ndarray)):
            raise InvalidValueError("load", f"{name}{path}", "an array", f"a {type(x).__name__}")
    if isinstance(like, Network):
        number, step = (arrays.get(key, np.zeros(0)) for key in (".fingerprint", ".step"))
        if (number.shape, step.shape) == ((2,), ()) and step.dtype.kind == "i":
            return SavedState(arrays, number, int(step)).on(like)
        like = jax.eval_shape(lambda net: net.init(0), like)
    elif isinstance(like, Brain) and ".beta" not in arrays:  # the state of a brain, not a brain
        like = jax.eval_shape(lambda: like.init(0))
    leaves, tree = jax.tree_util.tree_flatten_with_path(like)
    expected = {path_text(path): x for path, x in leaves}
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
    if isinstance(like, np.ndarray):
        return x
    return x[()] if isinstance(like, np.generic) else x.item()


def _is_key(x: Any) -> bool:
    return jnp.issubdtype(getattr(x, "dtype", np.dtype(int)), jax.dtypes.prng_key)


def kinds_of(tree: Any) -> dict[str, str]:
    """The dtypes and shapes of the leaves of a pytree, by their paths."""
    return {path_text(path): _what(x) for path, x in jax.tree_util.tree_leaves_with_path(tree)}


def _what(x: Any) -> str:
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return f"{x.dtype} of shape {x.shape}"


def path_text(path: Any) -> str:
    return jax.tree_util.keystr(path)
