"""Delivery of release values into a ring of arrivals, and its exact gradients.

The ring is an array [slots, receptors, targets].  A connection is
(source, target, receptor, weight, delay_steps, projection).  Delivery at step k:

    ring[(k + delay) mod slots, receptor, target] += values[source] gains[projection] weight

for every connection whose source has a value other than 0; several connections between the same
two neurons add up.  Delays are 1 .. slots - 1, so that slot k is never written in step k;
a ring of one slot takes delays of 1, and must have been cleared.

The map is ring_after = ring + M values, linear in each of ring, weights, gains and values.  The
gradients of L = sum(cotangent ring_after) are those of this map, so the gradient with respect to
a value is M^T cotangent also where the value is 0 (skipping a 0 does not change the function).
"""

import numpy as np


def arrival_place(shape, step, connection):
    """The index (slot, receptor, target) into which a connection delivers at this step."""
    _, target, receptor, _, delay, _ = connection
    slots = shape[0]
    if not 1 <= delay < max(slots, 2):
        raise ValueError(f"a delay must be 1 .. slots - 1 = {slots - 1} steps, got {delay}")
    return (step + delay) % slots, receptor, target


def deliver(ring, step, connections, values, gains):
    """Add what the sources release at this step into the ring, in place; returns the ring."""
    for connection in connections:
        source, _, _, weight, _, projection = connection
        place = arrival_place(ring.shape, step, connection)
        if values[source] != 0:
            ring[place] += values[source] * gains[projection] * weight
    return ring


def take(ring, step):
    """A copy of the arrivals [receptors, targets] of this step; the slot is cleared in place."""
    slot = step % ring.shape[0]
    arrivals = ring[slot].copy()
    ring[slot] = 0.0
    return arrivals


def deliver_matrices(shape, step, connections, values, gains):
    """Dense derivatives of the flattened ring after delivery.

    Returns (by_weight [cells, connections], by_gain [cells, projections],
    by_value [cells, sources]); by_value is the matrix M of the linear map.
    """
    cells = int(np.prod(shape))
    by_weight = np.zeros((cells, len(connections)))
    by_gain = np.zeros((cells, len(gains)))
    by_value = np.zeros((cells, len(values)))
    for number, connection in enumerate(connections):
        source, _, _, weight, _, projection = connection
        cell = np.ravel_multi_index(arrival_place(shape, step, connection), shape)
        by_weight[cell, number] += values[source] * gains[projection]
        by_gain[cell, projection] += values[source] * weight
        by_value[cell, source] += gains[projection] * weight
    return by_weight, by_gain, by_value


def deliver_gradient(ring, step, connections, values, gains, cotangent):
    """Gradients of sum(cotangent * ring_after): a tuple (weights, gains, values, ring).

    The gradient of the weights is in the order of the connections.
    """
    by_weight, by_gain, by_value = deliver_matrices(ring.shape, step, connections, values, gains)
    flat = np.asarray(cotangent, dtype=np.float64).reshape(-1)
    ring_gradient = flat.reshape(ring.shape).copy()
    return by_weight.T @ flat, by_gain.T @ flat, by_value.T @ flat, ring_gradient
