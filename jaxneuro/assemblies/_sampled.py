"""The cap of a sampled area: the neurons that it keeps, and candidates."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._kernels import k_cap_wide, wide_equal, wide_less, wide_units
from ._candidates import Candidates, find, search_of, smallest, write_synapses
from ._state import AreaState, BrainState

_NOTHING = np.array([0, 0x80000000], np.uint32)  # below every input


def sampled_cap(
    brain: Any, state: BrainState, number: int, driving: tuple, moves: Any, sums: Any, page: Any
) -> tuple[AreaState, dict[int, Any]]:
    """The area with its new cap, and the synapses of its fibres with those of new neurons.

    `sums` (capacity, 2) is what the neurons receive that it keeps.
    """
    described, area = brain.areas[number], state.areas[number]
    kept = jnp.arange(described.places) < area.support
    sums = jnp.where(kept[:, None], sums, jnp.asarray(_NOTHING))
    search = search_of(brain, state, number, driving, sums)
    new = find(brain, state, search, moves)
    cap, fresh, limit, lost = _winners(described, area, sums, new)
    place = jnp.where(fresh >= 0, area.support + fresh, described.places)
    place = jnp.where(moves, place, described.places)
    synapses = {
        fibre: write_synapses(search, state, wire, new, place)
        for wire, fibre in enumerate(search.fibres)
    }
    at = jnp.where(moves & (page.bit != 0), page.number, area.limits.shape[0])
    fresh_count = jnp.where(moves, jnp.sum(fresh >= 0, dtype=jnp.int32), 0)
    area = area._replace(
        cap=jnp.where(moves, cap, area.cap),
        fired=area.fired | moves,
        support=area.support + fresh_count,
        rank=area.rank.at[place].set(new.rank, mode="drop"),
        limits=area.limits.at[at].set(limit, mode="drop"),
        lost=area.lost + jnp.where(moves, lost, 0),
    )
    return area, synapses


def _winners(described: Any, area: AreaState, sums: Any, new: Candidates) -> tuple[Any, ...]:
    """The k largest of kept neurons and candidates.

    Returns their places; for each candidate the number among the new neurons, or -1; the input and
    rank of the last winner (3,); and how many candidates should have won and had no room.
    """
    k, places = described.k, described.places
    order = jnp.arange(k, dtype=jnp.int32)
    there = order < jnp.minimum(new.found, k)
    room = order < places - area.support
    x = wide_units(new.x)
    keys = jnp.concatenate([sums, jnp.where((there & room)[:, None], x, jnp.asarray(_NOTHING))])
    rank = jnp.concatenate([area.rank, new.rank])
    chosen, limit = _k_by_rank(keys, rank, k)
    wins = jnp.zeros(places + k, bool).at[chosen].set(True)[places:]
    fresh = jnp.where(wins, jnp.cumsum(wins.astype(jnp.int32)) - 1, -1)
    new_place = area.support + fresh.at[jnp.maximum(chosen - places, 0)].get()
    cap = jnp.where(chosen < places, chosen, new_place)
    lost = jnp.sum(there & ~room & _above(x, new.rank, limit), dtype=jnp.int32)
    return cap, fresh, limit, lost


def _k_by_rank(keys: Any, rank: Any, k: int) -> tuple[Any, Any]:
    """The k largest keys, ties to the lower rank, and the last of them: (low, high, rank)."""
    last = smallest(keys, k_cap_wide(keys, k))
    above = wide_less(last, keys)
    tied = wide_equal(keys, last)
    # Larger keys first, then the tied ones by rank, then the others.
    order = jnp.where(above, np.uint32(2), jnp.where(tied, np.uint32(1), np.uint32(0)))
    chosen = k_cap_wide(jnp.stack([~rank, order], axis=-1), k)
    worst = jnp.max(jnp.where(tied[chosen], rank[chosen], 0))
    return chosen, jnp.concatenate([last, worst[None]])


def _above(x: Any, rank: Any, limit: Any) -> Any:
    return wide_less(limit[:2], x) | (wide_equal(x, limit[:2]) & (rank < limit[2]))
