"""`report`: what a brain has become, as text."""

from typing import Any

import jax
import numpy as np

from .._checks import is_traced, names_checked
from ._areas import shortages
from ._brain import Brain
from ._given import check_of
from ._measures import capless, statistics
from ._state import BrainState


@names_checked()
def memory(brain: Brain) -> int:
    """The bytes of a state of this brain; nothing is allocated to find out."""
    leaves = jax.tree.leaves(jax.eval_shape(brain.init, jax.ShapeDtypeStruct((), np.uint32)))
    return sum(x.size * x.dtype.itemsize for x in leaves)


@names_checked()
def report(brain: Brain, state: BrainState) -> str:
    """The areas and fibres of a brain in a table: supports, caps, synapses and weights.

    **Raises** `ValueError` inside `jit` and `vmap`, for a batch of states, and for a state of
    another brain.
    """
    check_of("report", brain, state)
    if any(is_traced(x) for x in jax.tree.leaves(state)) or np.ndim(state.round):
        raise ValueError("report: the state must be that of one brain, outside of jit and vmap")
    lines = [
        f"{int(state.round)} rounds, {int(state.remembered)} of {brain.rounds} remembered, "
        f"{memory(brain) / 1e6:.1f} MB",
        f"{'area':12} {'n':>11} {'k':>7} {'support':>8}  connectome",
    ]
    for described, area in zip(brain.areas, state.areas):
        support = int(area.support)
        kept = f" ({support} of {described.capacity} places)" if described.sampled else ""
        fixed = ", fixed" if bool(area.fixed) else ""
        silent = "" if bool(area.fired) else ", no cap" if support else ", never fired"
        lines.append(
            f"{described.name:12} {described.n:11,} {described.k:7,} {support:8,}  "
            f"{described.connectome}{kept}{fixed}{silent}"
        )
    lines.append(f"{'fibre':12} {'p':>11} {'beta':>7} {'density':>8} {'weight':>8} {'largest':>8}")
    for number, wire in enumerate(brain.wires):
        lines.append(_fibre_line(brain, state, number, wire))
    lines += [f"short: {text}" for text in shortages(brain, state)]
    return "\n".join(lines)


def _fibre_line(brain: Brain, state: BrainState, number: int, wire: Any) -> str:
    start = f"{wire.name:12} {wire.p:11g} {float(brain.beta[number]):7g}"
    silent = capless(brain, state, number)
    if silent:
        return f"{start}        -        -        -  nobody fires in {' and '.join(silent)}"
    seen = statistics(brain, state, wire.name)
    numbers = float(seen.density), float(seen.weight), float(seen.largest)
    return f"{start} {numbers[0]:8.4f} {numbers[1]:8.3f} {numbers[2]:8.3f}"
