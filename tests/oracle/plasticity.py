"""Synaptic plasticity: the weight of one synapse, by sums over lists of spikes.

No trace is carried from one event to the next. With s the arrivals at the synapse of presynaptic
spikes and p those of postsynaptic ones, K(t) at an event of time t is summed anew,

    K+(t) = sum over s < t of exp(-(t - s) / tau_plus)
    K-(t) = sum over p < t of exp(-(t - p) / tau_minus)

strictly: events that coincide at the synapse do not see each other. A presynaptic spike of step k
arrives in step k + a, a postsynaptic one in step k + d. In a step in which both arrive the
postsynaptic event acts first, then the presynaptic one, then the weight is delivered. The weight is
brought into its bounds after each event (`trace`: once after both).

Every oracle takes `Spikes` and the start weight, and returns the list of (step, weight) delivered
at the presynaptic arrivals, and the weight at the end of step `last`.

Morrison et al. (2007, 2008); Guetig et al. (2003); Pfister and Gerstner (2006); Vogels et al.
(2011); Izhikevich (2007); Diehl and Cook (2015); Clopath et al. (2010).
"""

from typing import NamedTuple

import numpy as np


class Spikes(NamedTuple):
    """Sorted steps of spikes, each at most once; delays in steps; the last step that counts."""

    pre: list
    post: list
    a: int
    d: int
    dt: float
    last: int


class Seen(NamedTuple):
    """What an event of a step sees: ages [ms] of the earlier arrivals, and who arrives now."""

    pre: np.ndarray
    post: np.ndarray
    pre_now: bool
    post_now: bool


def arrivals(spikes):
    """The steps in which presynaptic and postsynaptic spikes arrive, up to `last`."""
    for train in (spikes.pre, spikes.post):
        assert np.all(np.diff(train) > 0), "steps must be sorted, each at most once"
    pre = np.asarray(spikes.pre, np.int64) + spikes.a
    post = np.asarray(spikes.post, np.int64) + spikes.d
    return pre[pre <= spikes.last], post[post <= spikes.last]


def events(spikes):
    """(step, Seen) of each step in which something arrives."""
    pre, post = arrivals(spikes)
    for step in np.union1d(pre, post):
        yield (
            int(step),
            Seen(
                (step - pre[pre < step]) * spikes.dt,
                (step - post[post < step]) * spikes.dt,
                bool(np.any(pre == step)),
                bool(np.any(post == step)),
            ),
        )


def trace(ages, tau):
    """The sum over all earlier arrivals."""
    return float(np.sum(np.exp(-ages / tau)))


def nearest(ages, tau):
    """The latest of the earlier arrivals alone; 0 without one."""
    return float(np.exp(-np.min(ages) / tau)) if ages.size else 0.0


def clipped(w, low, high):
    return min(max(w, low), high)


def in_turn(spikes, w, on_post, on_pre, low, high):
    """What the rules share: `on_post(w, seen)` and `on_pre(w, seen)` give the new weight."""
    delivered = []
    for step, seen in events(spikes):
        if seen.post_now:
            w = clipped(on_post(w, seen), low, high)
        if seen.pre_now:
            w = clipped(on_pre(w, seen), low, high)
            delivered.append((step, w))
    return delivered, w


def restricted_plus(seen, tau):
    """The latest presynaptic arrival s, unless a postsynaptic one came after it, before now.

    One that came together with s belongs to the time before s.
    """
    if not seen.pre.size:
        return 0.0
    taken = np.any(seen.post < np.min(seen.pre))
    return 0.0 if taken else nearest(seen.pre, tau)


def restricted_minus(seen, tau):
    """The latest postsynaptic arrival before now, if one came after the latest presynaptic one.

    One that comes now, together with this presynaptic arrival, counts as having come, though not
    as a partner: then the partner is the one before it.
    """
    since = np.min(seen.pre) if seen.pre.size else np.inf
    came = seen.post_now or np.any(seen.post < since)
    return nearest(seen.post, tau) if came else 0.0


def centred_plus(seen, tau):
    """Presynaptic arrivals since the latest postsynaptic one, with it included."""
    since = np.min(seen.post) if seen.post.size else np.inf
    return trace(seen.pre[seen.pre <= since], tau)


PAIRINGS = {
    "all": (lambda seen, tau: trace(seen.pre, tau), lambda seen, tau: trace(seen.post, tau)),
    "nearest_symmetric": (
        lambda seen, tau: nearest(seen.pre, tau),
        lambda seen, tau: nearest(seen.post, tau),
    ),
    "nearest_restricted": (restricted_plus, restricted_minus),
    "presynaptic_centred": (centred_plus, lambda seen, tau: nearest(seen.post, tau)),
}


def pair(
    spikes,
    weight,
    rate=0.01,
    alpha=1.0,
    mu_plus=1.0,
    mu_minus=1.0,
    tau_plus=20.0,
    tau_minus=20.0,
    w_max=100.0,
    pairing="all",
):
    """With x = w / w_max: x += rate (1 - x)^mu_plus K+;  x -= alpha rate x^mu_minus K-."""
    k_plus, k_minus = PAIRINGS[pairing]

    def on_post(w, seen):
        return w + w_max * rate * (1.0 - w / w_max) ** mu_plus * k_plus(seen, tau_plus)

    def on_pre(w, seen):
        return w - w_max * alpha * rate * (w / w_max) ** mu_minus * k_minus(seen, tau_minus)

    return in_turn(spikes, weight, on_post, on_pre, 0.0, w_max)


def power_law(spikes, weight, rate=0.1, alpha=0.0513, mu=0.4, tau_plus=15.0, tau_minus=30.0):
    """w += rate w^mu K+;  w -= rate alpha w K-;  never below 0."""

    def on_post(w, seen):
        return w + rate * w**mu * trace(seen.pre, tau_plus)

    def on_pre(w, seen):
        return w - rate * alpha * w * trace(seen.post, tau_minus)

    return in_turn(spikes, weight, on_post, on_pre, 0.0, np.inf)


def trace_pair(
    spikes,
    weight,
    a_plus=0.01,
    a_minus=0.012,
    tau_plus=20.0,
    tau_minus=20.0,
    w_min=0.0,
    w_max=1.0,
):
    """w += a_plus K+ at a postsynaptic event, w -= a_minus K- at a presynaptic one.

    Where both arrive in a step the weight is brought into its bounds once, after both.
    """
    delivered, w = [], weight
    for step, seen in events(spikes):
        up = a_plus * trace(seen.pre, tau_plus) if seen.post_now else 0.0
        down = a_minus * trace(seen.post, tau_minus) if seen.pre_now else 0.0
        w = clipped(w + up - down, w_min, w_max)
        if seen.pre_now:
            delivered.append((step, w))
    return delivered, w


def triplet(
    spikes,
    weight,
    tau_plus=16.8,
    tau_plus_triplet=101.0,
    a2_plus=5e-10,
    a2_minus=7e-3,
    a3_plus=6.2e-3,
    a3_minus=2.3e-4,
    tau_minus=20.0,
    tau_minus_triplet=110.0,
    w_max=100.0,
):
    """w += K+ (a2_plus + a3_plus K-'), w -= K- (a2_minus + a3_minus K+'), primes of the triplet."""

    def on_post(w, seen):
        third = trace(seen.post, tau_minus_triplet)
        return w + trace(seen.pre, tau_plus) * (a2_plus + a3_plus * third)

    def on_pre(w, seen):
        third = trace(seen.pre, tau_plus_triplet)
        return w - trace(seen.post, tau_minus) * (a2_minus + a3_minus * third)

    return in_turn(spikes, weight, on_post, on_pre, 0.0, w_max)


def vogels(spikes, weight, tau=20.0, alpha=0.12, eta=0.001, w_max=1.0):
    """w += eta (K- - alpha) at a presynaptic event, w += eta K+ at a postsynaptic one."""

    def on_post(w, seen):
        return w + eta * trace(seen.pre, tau)

    def on_pre(w, seen):
        return w + eta * (trace(seen.post, tau) - alpha)

    return in_turn(spikes, weight, on_post, on_pre, 0.0, w_max)


def diehl_cook(
    spikes,
    weight,
    eta_pre=1e-4,
    eta_post=1e-2,
    tau_pre=20.0,
    tau_post_1=20.0,
    tau_post_2=40.0,
    w_max=1.0,
):
    """w -= eta_pre x1 and w += eta_post r x2; r, x1 and x2 of the nearest arrival alone."""

    def on_post(w, seen):
        return w + eta_post * nearest(seen.pre, tau_pre) * nearest(seen.post, tau_post_2)

    def on_pre(w, seen):
        return w - eta_pre * nearest(seen.post, tau_post_1)

    return in_turn(spikes, weight, on_post, on_pre, 0.0, w_max)


def decayed(jumps, now, dt, tau):
    """The sum of size exp(-age / tau) over all (step, size) up to the end of step `now`."""
    step, size = np.array(jumps, np.float64).reshape(-1, 2).T
    past = step <= now
    return float(np.sum(size[past] * np.exp(-(now - step[past]) * dt / tau)))


def reward_modulated(
    spikes,
    weight,
    rewards=(),
    a_plus=0.01,
    a_minus=0.012,
    tau_plus=20.0,
    tau_minus=20.0,
    tau_c=1000.0,
    tau_n=200.0,
    baseline=0.0,
    w_min=0.0,
    w_max=1.0,
    cuts=(),
):
    """dw/dt = c (n - baseline); `rewards` of (step, amount): n += amount at the end of that step.

    c += a_plus K+ at a postsynaptic event, c -= a_minus K- at a presynaptic one; c decays with
    tau_c, n with tau_n. From one event or reward to the next the integral is exact. The weight is
    brought into its bounds at the arrivals of spikes, not at rewards, and in the steps `cuts`.
    """
    seen_at, cuts = dict(events(spikes)), set(cuts)
    times = {*seen_at, *cuts, *(step for step, _ in rewards), spikes.last}
    stops = sorted(step for step in times if step <= spikes.last)
    both = 1.0 / (1.0 / tau_c + 1.0 / tau_n)
    delivered, jumps, w, now = [], [], weight, 0
    for stop in stops:
        c = decayed(jumps, now, spikes.dt, tau_c)
        n = decayed(rewards, now, spikes.dt, tau_n)
        elapsed = (stop - now) * spikes.dt
        w -= c * n * both * np.expm1(-elapsed / both)
        w += baseline * c * tau_c * np.expm1(-elapsed / tau_c)
        now, seen = stop, seen_at.get(stop)
        if seen or stop in cuts:
            w = clipped(w, w_min, w_max)
        if seen and seen.post_now:
            jumps.append((stop, a_plus * trace(seen.pre, tau_plus)))
        if seen and seen.pre_now:
            jumps.append((stop, -a_minus * trace(seen.post, tau_minus)))
            delivered.append((stop, w))
    return delivered, clipped(w, w_min, w_max)


def low_passed(v, tau, dt, start):
    """u[k] at the end of step k, where v[k] stood throughout it; u was `start` before step 0."""
    v, ages = np.asarray(v, np.float64), dt * np.arange(len(v))
    kept = np.exp(-ages / tau)
    new = [np.sum(v[: k + 1][::-1] * kept[: k + 1]) for k in range(len(v))]
    return -np.expm1(-dt / tau) * np.array(new) + start * np.exp(-(ages + dt) / tau)


def clopath(
    spikes,
    weight,
    v,
    u_plus,
    u_minus,
    a_ltd=1.4e-4,
    a_ltp=8e-5,
    theta_minus=-70.6,
    theta_plus=-45.3,
    tau_x=15.0,
    w_min=0.0,
    w_max=100.0,
):
    """Voltages and their low-passed values by step, as they left the soma: they arrive d later.

    In every step w += dt a_ltp x [v - theta_plus] [u_plus - theta_minus], then at a presynaptic
    event w -= a_ltd [u_minus - theta_minus]; [y] = max(y, 0), tau_x x' = -x + spikes, so that x is
    K / tau_x. Before step 0 nothing arrives.
    """
    pre, _ = arrivals(spikes._replace(post=[]))
    delivered, w = [], weight
    for step in range(spikes.last + 1):
        sent = step - spikes.d
        if sent >= 0:
            x = trace((step - pre[pre < step]) * spikes.dt, tau_x) / tau_x
            raised = max(v[sent] - theta_plus, 0.0) * max(u_plus[sent] - theta_minus, 0.0)
            w = min(w + spikes.dt * a_ltp * x * raised, w_max)
        if np.any(pre == step):
            if sent >= 0:
                w = max(w - a_ltd * max(u_minus[sent] - theta_minus, 0.0), w_min)
            delivered.append((step, w))
    return delivered, w
