"""Stimuli that draw, from the words of their streams, in float64.

With w the one word and w0, w1 the two words of a neuron in step k, m = rate dt / 1000 and U = 2^32:

Poisson               the number of j = 0, 1, ... with w < U P(N > j), N Poisson of mean m
Gamma                 s counts stages from w0 mod a (w0 of step 0, purpose 99); s += Poisson of
                      mean a m; s div a spikes, s mod a stays
DeadTimePoisson       first left = 1 + floor(w1 / (U m)) if that is <= D, else 0; a spike where
                      left = 0 and w0 < U p, p = m / (1 - m D); then left = D, else left - 1
MultipleInteraction   M Poisson of mean m / c from w of index 2^32 - 1; spike j of M is taken
                      where w(j mod 2) of purpose 2 (j div 2) is < U c
WhiteNoise            mean + sd N(k div e), e steps an interval
OrnsteinUhlenbeck     x of step 0 is N of step 0, purpose 99; x' = x q + sqrt(1 - q^2) N(k),
                      q = exp(-dt / tau); current mean + sd x
PulsePackets          t = centre + sd z, z the normal quantile of ((w0 div 2^9) + 1/2) 2^-23, w0
                      on the host of index neuron, counter number of the spike; nearest step,
                      dropped at t <= 0
N(k)                  sqrt(-2 log u) cos(pi w1 / 2^31), u = (w0 + 1/2) / U

Every function takes a dict of parameters, the numbers of the steps, n, dt and the key of the
stream; it returns arrays (steps, n).
"""

import numpy as np
from scipy.special import gammainc, ndtri

from .stimuli import spike_counts, value_at
from .threefry import MASK, step_bits, step_word, threefry2x32

U = 2.0**32
START = 99


def poisson_count(word, mean):
    """The counts of mean `mean`: P(N > j) is the incomplete gamma function of j + 1."""
    count, j = np.zeros(word.shape), 0
    while (above := word < U * gammainc(j + 1, mean)).any():
        count, j = count + above, j + 1
    return count


def normal(words):
    angle = np.pi * words[1] / 2**31
    return np.sqrt(-2 * np.log((words[0] + 0.5) / U)) * np.cos(angle)


def poisson(p, steps, n, dt, key):
    out = []
    for k in steps:
        mean = value_at(p["rate"], k, dt) * dt / 1000
        out.append(poisson_count(step_word(key, np.arange(n), k), mean))
    return np.array(out)


def gamma(p, steps, n, dt, key):
    order, index, out = p["order"], np.arange(n), []
    stage = step_bits(key, index, 0, START)[0] % order
    for k in steps:
        mean = order * value_at(p["rate"], k, dt) * dt / 1000
        stage = stage + poisson_count(step_word(key, index, k), mean)
        out.append(stage // order)
        stage = stage % order
    return np.array(out)


def dead_time_poisson(p, steps, n, dt, key):
    mean, dead = p["rate"] * dt / 1000, np.rint(p["dead_time"] / dt)
    chance = mean / (1 - mean * dead)
    left, out = None, []
    for k in steps:
        words = step_bits(key, np.arange(n), k)
        if left is None:
            left = 1 + np.floor(words[1] / U / mean)
            left = np.where(left <= dead, left, 0)
        spikes = (left == 0) & (words[0] < U * chance)
        left = np.where(spikes, dead, np.maximum(left - 1, 0))
        out.append(spikes)
    return np.array(out, np.float64)


def multiple_interaction(p, steps, n, dt, key):
    index, c, out = np.arange(n), p["correlation"], []
    for k in steps:
        mean = value_at(p["rate"], k, dt) * dt / 1000 / c
        mother = poisson_count(step_word(key, np.full(n, MASK), k), mean)
        count = np.zeros(n)
        for j in range(int(mother.max())):
            word = step_bits(key, index, k, purpose=2 * (j // 2))[j % 2]
            count += (j < mother) & (word < U * c)
        out.append(count)
    return np.array(out)


def white_noise(p, steps, n, dt, key):
    every = np.rint(p["interval"] / dt).astype(int)
    noise = [normal(step_bits(key, np.arange(n), k // every)) for k in steps]
    return p["mean"] + p["sd"] * np.array(noise)


def ornstein_uhlenbeck(p, steps, n, dt, key):
    index, out = np.arange(n), []
    x, q = normal(step_bits(key, index, 0, START)), np.exp(-dt / p["tau"])
    for k in steps:
        out.append(p["mean"] + p["sd"] * x)
        x = x * q + np.sqrt(1 - q * q) * normal(step_bits(key, index, k))
    return np.array(out)


def spike_times(p, steps, n, dt, key):
    ends = np.rint(p["times"] / dt).astype(int)
    return spike_counts(len(steps), n, ends, p["neurons"])


def pulse_packets(p, steps, n, dt, key):
    centres = np.repeat(p["times"], p["activity"])
    words = threefry2x32(key[0], key[1], np.arange(n)[:, None], np.arange(centres.size))[0]
    z = ndtri(((words >> 9) + 0.5) / 2**23)
    ends = np.rint((centres + np.broadcast_to(p["sd"], n)[:, None] * z) / dt).astype(int)
    neurons, kept = np.nonzero(ends > 0)
    return spike_counts(len(steps), n, ends[neurons, kept], neurons)
