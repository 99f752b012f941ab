"""Dictionaries by names, whose errors list the names that they have."""

from collections.abc import Callable, Iterable
from typing import Any

import jax

from ..spec import unknown


class NoSuchNameError(KeyError, ValueError):
    """There is nothing of that name; a `KeyError` and a `ValueError`."""

    def __str__(self) -> str:
        return str(self.args[0])


def register_dictionary(kind: type, made: Callable[[Iterable], Any]) -> None:
    """Lets JAX map over a class as over any dictionary; `made` is what comes out, of the pairs."""
    jax.tree_util.register_pytree_with_keys(
        kind,
        lambda x: (tuple((jax.tree_util.DictKey(k), x[k]) for k in sorted(x)), tuple(sorted(x))),
        lambda names, values: made(zip(names, values)),
    )


class ByName(dict):
    """A dictionary by the names of populations; the error for another name lists them."""

    def __missing__(self, name: Any) -> Any:
        raise NoSuchNameError(str(unknown("population", name, self)))

    def __reduce__(self) -> tuple:
        return ByName, (dict(self),)


register_dictionary(ByName, ByName)
