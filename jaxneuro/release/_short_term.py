"""Short-term plasticity: what a spike releases depends on those before it."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._kernels.short_term import ShortTerm, at_spikes, relaxed, short_term
from .._model import Release, StochasticRelease
from .._numerics.distributions import unit_interval
from .._numerics.streams import Stream
from ..spec import OneOf, Whole, field

CONVENTIONS = ("tsodyks2", "jump first")
MOST_SITES = 64


class TsodyksMarkramState(NamedTuple):
    """State of the short-term plasticity of n source neurons.

    Attributes:
        x: fraction of the resources that is there (n,), after the spike if there was one.
        u: fraction of these that a spike uses (n,), after the spike if there was one.
        x_low: digits below those of x (n,).
        u_low: digits below those of u (n,).
    """

    x: jax.Array
    u: jax.Array
    x_low: jax.Array
    u_low: jax.Array


class TsodyksMarkram(Release):
    """Short-term plasticity: a spike releases the fraction `u` of the resources `x`.

    Equations: `dx/dt = (1 - x) / tau_rec`, `du/dt = (U - u) / tau_fac`, from x = 1 and u = U. At a
    spike, in this order, with `convention`

    * `"tsodyks2"`: release `r = u x`, then `x -= r` and `u += U (1 - u)`. The first spike releases
      U, later ones `u_n x_n` with `u_n+1 = U + u_n (1 - U) exp(-h/tau_fac)` and
      `x_n+1 = 1 + (x_n - u_n x_n - 1) exp(-h/tau_rec)`, h the interval. The same numbers come from
      a u that decays to 0 and jumps before the release, as the papers write it; here u is what
      the next spike will use;
    * `"jump first"`: `u += U (1 - u)`, then release `r = u x`, then `x -= r`. The first spike
      releases `U (2 - U)`: 0.75 for U = 0.5.

    `tau_fac = 0`: u is U again one step after a spike, so that tsodyks2 only depresses. Update:
    exact between spikes, whatever the interval, to all digits of the dtype.

    Reference:
        "tsodyks2": Tsodyks, Pawelzik, Markram (1998), Neural networks with dynamic synapses,
        doi:10.1162/089976698300017502, with the order of NEST's tsodyks2_synapse,
        https://nest-simulator.readthedocs.io. "jump first": Mongillo, Barak, Tsodyks (2008),
        Synaptic theory of working memory, doi:10.1126/science.1150769.

    Note:
        It differs from NEST's tsodyks_synapse, whose released resources pass through an active
        state before they recover.
    """

    with_spikes: ClassVar[bool] = True
    own_digits: ClassVar[tuple[str, ...]] = ("x", "u")
    state_bounds: ClassVar[Mapping[str, tuple]] = {"x": (0.0, 1.0), "u": (0.0, 1.0)}

    U: Parameter = param(
        0.5, at_least=0.0, at_most=1.0, doc="fraction that the first spike adds to u"
    )
    tau_rec: Parameter = param(
        800.0, unit="ms", above=0.0, least=2.0, doc="recovery of the resources"
    )
    tau_fac: Parameter = param(
        0.0, unit="ms", at_least=0.0, least=2.0, doc="facilitation, 0 for none"
    )
    convention: str = field(
        OneOf(*CONVENTIONS), default="tsodyks2", static=True, doc="order of what happens at a spike"
    )

    @classmethod
    def depressing(cls) -> "TsodyksMarkram":
        """Dominated by depression: Tsodyks and Wu (2013), doi:10.4249/scholarpedia.3153, fig. 1."""
        return cls(0.45, 750.0, 50.0)

    @classmethod
    def facilitating(cls) -> "TsodyksMarkram":
        """Dominated by facilitation: Tsodyks and Wu (2013), fig. 1."""
        return cls(0.15, 50.0, 750.0)

    @classmethod
    def working_memory(cls) -> "TsodyksMarkram":
        """Of Mongillo, Barak, Tsodyks (2008): u holds a memory for seconds."""
        return cls(0.2, 200.0, 1500.0, "jump first")

    def time_constants(self) -> dict[str, Any]:
        return {"x": self.tau_rec, "u": self.tau_fac}

    def init(self, n: int) -> TsodyksMarkramState:
        zero = jnp.zeros(n, jnp.result_type(self.U, self.tau_rec, self.tau_fac))
        return TsodyksMarkramState(zero + 1.0, zero + self.U, zero, zero)

    def step(
        self, state: TsodyksMarkramState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TsodyksMarkramState, jax.Array]:
        losses = decay(self.tau_rec, dt), decay(self.tau_fac, dt)
        jump_first = self.convention == "jump first"
        now, released = short_term(ShortTerm(*state), spikes, self.U, losses, jump_first)
        return TsodyksMarkramState(*now), released


class QuantalReleaseState(NamedTuple):
    """State of the release sites of n source neurons.

    Attributes:
        empty: number of sites without a vesicle just after the last spike (n,).
        waiting: probability that one of these is still empty (n,).
        u: probability that a vesicle is released by a spike (n,).
        u_low: digits below those of u (n,).
        stream: stream of the random bits.
        step: steps done, int32 ().
    """

    empty: jax.Array
    waiting: jax.Array
    u: jax.Array
    u_low: jax.Array
    stream: Stream
    step: jax.Array


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

    It starts with a vesicle at each site. What a spike releases is the fraction of the sites that
    release.

    Reference:
        Fuhrmann, Segev, Markram, Tsodyks (2002), Coding of temporal information by
        activity-dependent synapses, doi:10.1152/jn.00258.2001.

    Note:
        Unlike in the source, u may facilitate. Releases are drawn, so they have no gradient with
        respect to the fields; one with respect to spikes goes through the drawn fraction.
    """

    own_digits: ClassVar[tuple[str, ...]] = ("u",)
    state_bounds: ClassVar[Mapping[str, tuple]] = {
        "empty": (0, "sites", int),
        "waiting": (0.0, 1.0),
        "u": (0.0, 1.0),
    }

    U: Parameter = param(
        0.5, at_least=0.0, at_most=1.0, doc="probability of release at the first spike"
    )
    tau_rec: Parameter = param(
        800.0, unit="ms", above=0.0, least=2.0, doc="mean time until a site has a vesicle again"
    )
    tau_fac: Parameter = param(
        0.0, unit="ms", at_least=0.0, least=2.0, doc="facilitation, 0 for none"
    )
    sites: int = field(Whole(1, MOST_SITES), default=1, static=True, doc="release sites")

    def time_constants(self) -> dict[str, Any]:
        return {"waiting": self.tau_rec, "u": self.tau_fac}

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


def decay(tau: jax.Array, dt: float) -> jax.Array:
    """`exp(-dt/tau) - 1`, to all digits; -1 where tau is 0: all is gone after a step."""
    lasts = tau > 0
    # Two `where`: a gradient evaluates both branches.
    return jnp.where(lasts, jnp.expm1(-dt / jnp.where(lasts, tau, jnp.ones_like(tau))), -1.0)


def binomial(uniform: jax.Array, n: Any, p: jax.Array, most: int) -> jax.Array:
    """A number of n <= most trials of probability p, from one uniform number, by inversion."""
    flipped = p > 0.5
    q = jnp.where(flipped, 1.0 - p, p)  # at most 1/2, so that no probability underflows
    odds = q / (1.0 - q)
    law = below = jnp.exp(n * jnp.log1p(-q))
    count = (uniform > below).astype(p.dtype)
    for k in range(1, most):
        law = law * (odds * ((n - (k - 1)) / k))
        below = below + law
        count = count + (uniform > below).astype(p.dtype)
    count = jnp.minimum(count, n)
    return jnp.where(flipped, n - count, count)
