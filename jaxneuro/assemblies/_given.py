"""Checks of what a round is given."""

from typing import Any

import jax
import numpy as np


def checked_active(what: str, fibres: int, active: Any, ranks: tuple[int, ...] = (1,)) -> Any:
    """The mask of active fibres, a NumPy array if it was a list, or `ValueError`."""
    if not isinstance(active, jax.Array):
        active = np.asarray(active)
    if active.dtype != bool or active.shape[-1:] != (fibres,) or active.ndim not in ranks:
        shapes = " or ".join((f"({fibres},)", f"(rounds, {fibres})")[rank - 1] for rank in ranks)
        raise ValueError(
            f"{what}: active must be bool {shapes}, from brain.active(...); got "
            f"{active.dtype} {active.shape}"
        )
    return active


def checked_plastic(what: str, plastic: Any, ranks: tuple[int, ...] = (0,)) -> Any:
    """Whether synapses learn: a bool or an array of them, or `ValueError`."""
    if not isinstance(plastic, jax.Array):
        plastic = np.asarray(plastic)
    if plastic.dtype != bool or plastic.ndim not in ranks:
        shapes = " or ".join(("one bool", "bool (rounds,)")[rank] for rank in ranks)
        raise ValueError(f"{what}: plastic must be {shapes}; got {plastic.dtype} {plastic.shape}")
    return plastic if plastic.ndim or isinstance(plastic, jax.Array) else bool(plastic)
