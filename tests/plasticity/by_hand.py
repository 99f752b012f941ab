"""Rules of spikes by their definitions: lists of spike times, every pair counted."""

import numpy as np


def before(times, now):
    return [t for t in times if t < now]


def summed(times, now, tau, nearest=False):
    """What the spikes before now have left; of the last one only, if nearest."""
    earlier = before(times, now)
    earlier = earlier[-1:] if nearest else earlier
    return sum(np.exp(-(now - t) / tau) for t in earlier)


def events(pre, post):
    """Times in order; at one time the postsynaptic spike comes first."""
    return sorted([(t, 0) for t in post] + [(t, 1) for t in pre])


def driven(pre, post, w, on_post, on_pre, high=np.inf):
    for now, is_pre in events(pre, post):
        w = (on_pre if is_pre else on_post)(w, now)
        w = min(max(w, 0.0), high)
    return w


def pair(p, pre, post, w):
    """Pairs of `PairSTDP`, chosen by their times."""
    nearest = p["pairing"] != "all"

    def potentiating(now):
        if p["pairing"] == "presynaptic_centred":
            since = max(before(post, now), default=-1)
            return summed([t for t in pre if t >= since], now, p["tau_plus"])
        if p["pairing"] == "nearest_restricted":
            last = max(before(pre, now), default=-1)
            if any(last < t < now for t in post):
                return 0.0
        return summed(pre, now, p["tau_plus"], nearest)

    def depressing(now):
        if p["pairing"] == "nearest_restricted":
            last = max(before(pre, now), default=-1)
            if not any(last < t <= now for t in post):
                return 0.0
        return summed(post, now, p["tau_minus"], nearest)

    def on_post(w, now):
        u = w / p["w_max"]
        return p["w_max"] * (u + p["rate"] * (1 - u) ** p["mu_plus"] * potentiating(now))

    def on_pre(w, now):
        u = w / p["w_max"]
        return p["w_max"] * (u - p["alpha"] * p["rate"] * u ** p["mu_minus"] * depressing(now))

    return driven(pre, post, w, on_post, on_pre, p["w_max"])


def power_law(p, pre, post, w):
    return driven(
        pre,
        post,
        w,
        lambda w, now: w + p["rate"] * w ** p["mu"] * summed(pre, now, p["tau_plus"]),
        lambda w, now: w - p["rate"] * p["alpha"] * w * summed(post, now, p["tau_minus"]),
    )


def triplet(p, pre, post, w):
    near = p["pairing"] == "nearest"

    def on_post(w, now):
        r1, o2 = (
            summed(pre, now, p["tau_plus"], near),
            summed(post, now, p["tau_minus_triplet"], near),
        )
        return w + r1 * (p["a2_plus"] + p["a3_plus"] * o2)

    def on_pre(w, now):
        o1, r2 = (
            summed(post, now, p["tau_minus"], near),
            summed(pre, now, p["tau_plus_triplet"], near),
        )
        return w - o1 * (p["a2_minus"] + p["a3_minus"] * r2)

    return driven(pre, post, w, on_post, on_pre, p["w_max"])


def vogels(p, pre, post, w):
    return driven(
        pre,
        post,
        w,
        lambda w, now: w + p["eta"] * summed(pre, now, p["tau"]),
        lambda w, now: w + p["eta"] * (summed(post, now, p["tau"]) - p["alpha"]),
        p["w_max"],
    )


def diehl_cook(p, pre, post, w):
    def on_post(w, now):
        x = summed(pre, now, p["tau_pre"], True)
        return w + p["eta_post"] * x * summed(post, now, p["tau_post_2"], True)

    return driven(
        pre,
        post,
        w,
        on_post,
        lambda w, now: w - p["eta_pre"] * summed(post, now, p["tau_post_1"], True),
        p["w_max"],
    )


def trace(p, pre, post, w):
    """One clip per time, after both spikes."""
    for now in sorted({*pre, *post}):
        if now in post:
            w += p["a_plus"] * summed(pre, now, p["tau_plus"])
        if now in pre:
            w -= p["a_minus"] * summed(post, now, p["tau_minus"])
        w = min(max(w, p["w_min"]), p["w_max"])
    return w
