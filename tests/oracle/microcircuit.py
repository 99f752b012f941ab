"""The cortical microcircuit of Potjans and Diesmann (2014), doi:10.1093/cercor/bhs358, in NumPy.

Eight populations of NEST's iaf_psc_exp, order 23E 23I 4E 4I 5E 5I 6E 6I:

    c_m dv/dt = c_m/tau_m (e_l - v) + i + i_dc,  tau_syn di/dt = -i,  i += w per spike,

moved over a step h by the exact propagators

    v(t+h) = e_l + (v - e_l) P22 + i P21 + i_dc P20,  i(t+h) = i P11 + arrivals,
    P11 = exp(-h/tau_syn),  P22 = exp(-h/tau_m),  P20 = tau_m/c_m (1 - P22),
    P21 = tau_syn tau_m / (c_m (tau_m - tau_syn)) (P22 - P11).

A spike where v >= v_th; then v is e_l for t_ref, while i goes on.

A pair of populations has ln(1 - C) / ln(1 - 1/(N_pre N_post)) synapses, both ends drawn uniformly
with replacement. Scaled to a fraction f (section 2 of van Albada, Helias and Diesmann (2015),
doi:10.1371/journal.pcbi.1004490): N, in-degrees and external in-degrees times f, weights over
sqrt(f), and a current that gives back the mean input lost at the rates of the full network.

Measured with this file at f = 0.1, Poisson drive, 3 s after 0.5 s, seeds 0 to 23: mean rates .479
2.10 3.98 5.01 6.53 7.81 .845 7.00 Hz, sd over the seeds 3.4 1.9 1.0 0.5 3.8 0.7 3.7 0.5 %. Over
10 s the sd are hardly smaller (3.3 1.4 0.9 0.3 3.1 0.7 3.7 0.5 %): the networks differ. At f = 0.2
with DC drive, 2 s, seeds 0 to 11: .613 2.22 3.78 4.89 7.03 7.60 .851 6.73 Hz, sd 4.7 2.2 1.2 0.5
4.6 0.5 3.3 0.6 %.
"""

import numpy as np

H, TAU_SYN, TAU_M, C_M, E_L, V_TH, T_REF = 0.1, 0.5, 10.0, 250.0, -65.0, -50.0, 2.0  # ms, pF, mV
P11, P22 = np.exp(-H / TAU_SYN), np.exp(-H / TAU_M)
P20 = TAU_M / C_M * (1.0 - P22)  # mV/pA
P21 = TAU_SYN * TAU_M / (C_M * (TAU_M - TAU_SYN)) * (P22 - P11)  # mV/pA

SIZES = [20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948]
PROBABILITIES = [  # of the target of a row, from the source of a column
    [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0000, 0.0076, 0.0000],
    [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0000, 0.0042, 0.0000],
    [0.0077, 0.0059, 0.0497, 0.1350, 0.0067, 0.0003, 0.0453, 0.0000],
    [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0000, 0.1057, 0.0000],
    [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0000],
    [0.0548, 0.0269, 0.0257, 0.0022, 0.0600, 0.3158, 0.0086, 0.0000],
    [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252],
    [0.0364, 0.0010, 0.0034, 0.0005, 0.0277, 0.0080, 0.0658, 0.1443],
]
EXTERNAL = [1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100]  # inputs at 8 Hz
BACKGROUND, WEIGHT = 8.0, 87.80849  # Hz, pA
V0_MEAN = [-68.28, -63.16, -63.33, -63.45, -63.11, -61.66, -66.72, -61.43]  # mV
V0_SD = [5.36, 4.57, 4.74, 4.94, 4.94, 4.55, 5.46, 4.48]
RATES = [0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829]  # Hz, full scale, NEST


def mean_weight(target, source):
    """pA at full scale: inhibitory sources -4 times, 4E to 23E twice."""
    if source % 2 == 1:
        return -4.0 * WEIGHT
    return 2.0 * WEIGHT if (target, source) == (0, 2) else WEIGHT


def synapses(target, source):
    """Number of synapses of a pair of populations at full scale."""
    pairs = float(SIZES[target]) * SIZES[source]
    return round(np.log1p(-PROBABILITIES[target][source]) / np.log1p(-1.0 / pairs))


def size(population, f):
    """Neurons of a population at the fraction f."""
    return round(SIZES[population] * f)


def scaled_synapses(target, source, f):
    """The in-degree times f, of the scaled number of targets."""
    return round(synapses(target, source) / SIZES[target] * f * size(target, f))


def currents(f, drive):
    """Constant current of each population, pA.

    With Poisson drive what the scaled weights and in-degrees lose of the mean input; with DC
    drive that of the recurrent input, and the mean of the Poisson input at full scale.
    """
    amplitudes = []
    for target in range(8):
        recurrent = sum(
            mean_weight(target, source) * synapses(target, source) / SIZES[target] * RATES[source]
            for source in range(8)
        )
        external = WEIGHT * EXTERNAL[target] * BACKGROUND
        lost = 1.0 - np.sqrt(f)
        total = lost * recurrent + (lost * external if drive == "poisson" else external)
        amplitudes.append(1e-3 * TAU_SYN * total)
    return np.array(amplitudes)


def redraw(rng, mean, sd, n, allowed):
    """Normal numbers, those that are not allowed drawn again."""
    x = rng.normal(mean, sd, n)
    while (bad := np.flatnonzero(~allowed(x))).size:
        x[bad] = rng.normal(mean, sd, bad.size)
    return x


def draw(rng, f):
    """(first synapse of each source, delay steps, targets, weights [pA]), by source."""
    first = np.cumsum([0] + [size(k, f) for k in range(8)])
    pre, post, weight, delay = [], [], [], []
    for target, source in np.ndindex(8, 8):
        count = scaled_synapses(target, source, f)
        if count == 0:
            continue
        w, d = mean_weight(target, source) / np.sqrt(f), 1.5 if source % 2 == 0 else 0.75
        pre.append(rng.integers(first[source], first[source + 1], count))
        post.append(rng.integers(first[target], first[target + 1], count))
        sign = np.sign(w)
        weight.append(redraw(rng, w, 0.1 * abs(w), count, lambda x, s=sign: s * x > 0))
        ms = redraw(rng, d, 0.5 * d, count, lambda x: x >= 0.05)
        delay.append(np.maximum(np.rint(ms / H).astype(np.int64), 1))
    order = np.argsort(np.concatenate(pre), kind="stable")
    rows = np.searchsorted(np.concatenate(pre)[order], np.arange(first[-1] + 1))
    return rows, *(np.concatenate(x)[order] for x in (delay, post, weight))


def run(seed, f, seconds, discard=0.5, drive="poisson"):
    """Mean rate of each population [Hz] from `discard` s on, over the `seconds` after it."""
    rng = np.random.default_rng(seed)
    sizes = [size(k, f) for k in range(8)]
    n, first = sum(sizes), np.cumsum([0, *sizes])
    rows, delay, post, weight = draw(rng, f)
    ring = np.zeros((int(delay.max()) + 1, n))
    flat = ring.ravel()
    v = rng.normal(np.repeat(V0_MEAN, sizes), np.repeat(V0_SD, sizes))
    i, refractory = np.zeros(n), np.zeros(n, np.int64)
    push = E_L * (1.0 - P22) + np.repeat(currents(f, drive), sizes) * P20
    # The trains of a population's neurons together: one Poisson number, spread uniformly.
    background = 1e-3 * H * f * BACKGROUND * np.array(EXTERNAL) * sizes
    counts, begin = np.zeros(n, np.int64), round(1e3 * discard / H)
    for step in range(begin + round(1e3 * seconds / H)):
        slot = ring[step % ring.shape[0]]
        v = np.where(refractory == 0, v * P22 + i * P21 + push, v)
        refractory -= refractory > 0
        i = i * P11 + slot
        slot[:] = 0.0
        if drive == "poisson":
            events = rng.poisson(background)
            who = rng.integers(np.repeat(first[:-1], events), np.repeat(first[1:], events))
            i += np.bincount(who, minlength=n) * (WEIGHT / np.sqrt(f))
        spiking = np.flatnonzero(v >= V_TH)
        v[spiking], refractory[spiking] = E_L, round(T_REF / H)
        for source in spiking:
            row = slice(rows[source], rows[source + 1])
            np.add.at(flat, (step + delay[row]) % ring.shape[0] * n + post[row], weight[row])
        if step >= begin:
            counts[spiking] += 1
    return np.add.reduceat(counts, first[:8]) / (np.array(sizes) * seconds)
