"""Quantal release: vesicles of a few sites, each released or not.

Fuhrmann, Segev, Markram, Tsodyks (2002).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._fields import Parameter, param
from .._numerics import Stream, unit_interval
from .._types import StochasticRelease
from ._at_spikes import at_spikes, decay, relaxed
from ._binomial import binomial

MOST = 64


class QuantalReleaseState(NamedTuple):
    """State of the release sites of n source neurons.

    **Fields** `empty` (n,): number of sites without a vesicle just after the last spike; `waiting`
    (n,): probability that one of these is still empty; `u` (n,): probability that a vesicle is
    released by a spike; `u_low` (n,): digits below those of u; `stream` of the random bits; `step`
    int32 (): steps done.
    """

    empty: jax.Array
    waiting: jax.Array
    u: jax.Array
    u_low: jax.Array
    stream: Stream
    step: jax.Array


def _as_sites(value: Any) -> int:
    # A converter: it sees an array before equinox warns of one in a static field.
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and 1 <= value <= MOST):
        raise ValueError(
            f"QuantalRelease: sites must be a whole number from 1 to {MOST}, one for all neurons; "
            f"got {value!r}"
        )
    return int(value)


class QuantalRelease(StochasticRelease):
    """Quantal release: a spike releases the vesicle of each site that has one at random.

    Equations: at a spike each of the `sites` that has a vesicle releases it with probability u,
    then `u += U (1 - u)`; between spikes an empty site gets a new one at the rate `1 / tau_rec` and
    `du/dt = (U - u) / tau_fac`. So the mean over many runs is that of `TsodyksMarkram` with the
    same fields in the convention "tsodyks2", and a first spike releases a number of mean
    `sites U` and variance `sites U (1 - U)`. Delivered is this number over `sites`: a weight is
    that of all sites together. Exact between spikes: how many sites were refilled is drawn at the
    next spike.

    The number is drawn once per source neuron and projection: all synapses of a neuron's axon in
    one projection get the same. For contacts that release independently use several projections.
    The bits depend on the seed, the neuron and the step alone. The work grows with `sites`.

    **Fields** each () or (n,): `U` probability of release at the first spike; `tau_rec` [ms] mean
    time until a site has a vesicle again; `tau_fac` [ms] facilitation, 0 for none. `sites`: number
    of release sites, 1 to 64.

    **Step** `init(n, stream)` starts with a vesicle at each site. `step` returns the fraction of
    the sites that release, (n,).

    **Raises** `ValueError` for U outside [0, 1], `tau_rec <= 0`, `tau_fac < 0`, or `sites` that is
    no whole number from 1 to 64.

    **Source** Fuhrmann, Segev, Markram, Tsodyks (2002), doi:10.1152/jn.00258.2001.

    **Differs** u may facilitate. Releases are drawn, so they have no gradient with respect to the
    fields; one with respect to spikes goes through the drawn fraction.
    """

    state_bounds: ClassVar[Mapping[str, tuple]] = {
        "empty": (0, "sites", int),
        "waiting": (0.0, 1.0),
        "u": (0.0, 1.0),
    }

    U: Parameter = param(0.5, at_least=0.0, at_most=1.0)
    tau_rec: Parameter = param(800.0, unit="ms", above=0.0, least=2.0)
    tau_fac: Parameter = param(0.0, unit="ms", at_least=0.0, least=2.0)
    sites: int = eqx.field(static=True, default=1, converter=_as_sites)

    def init(self, n: int, stream: Stream) -> QuantalReleaseState:
        zero = jnp.zeros(n, jnp.result_type(self.U, self.tau_rec, self.tau_fac))
        step = jnp.zeros((), jnp.int32)
        return QuantalReleaseState(zero, zero + 1.0, zero + self.U, zero, stream, step)

    def step(
        self, state: QuantalReleaseState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[QuantalReleaseState, jax.Array]:
        waiting = state.waiting + state.waiting * decay(self.tau_rec, dt)
        u, u_low = relaxed(state.u, state.u_low, self.U, decay(self.tau_fac, dt))
        words = (state.stream.word(state.step, purpose) for purpose in (0, 1))
        refill, release = (unit_interval(jnp.asarray(w)).astype(u.dtype) for w in words)
        still = state.empty - binomial(refill, state.empty, 1.0 - waiting, self.sites)
        released = binomial(release, self.sites - still, u, self.sites)
        fired = spikes if spikes.dtype == jnp.bool_ else spikes > 0
        new = QuantalReleaseState(
            jnp.where(fired, still + released, state.empty),
            jnp.where(fired, jnp.ones_like(waiting), waiting),
            u + at_spikes(spikes, self.U * (1.0 - u)),
            u_low,
            state.stream,
            state.step + 1,
        )
        return new, at_spikes(spikes, released / self.sites)
