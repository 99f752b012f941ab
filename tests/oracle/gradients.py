"""The derivative of a small network, by hand.

Layer 0 is given: spikes s0. Layer 1 are leaky neurons with a threshold of 1 and a reset to 0 at the
start of the next step, layer 2 are leaky without threshold. A spike of source i in step k adds
w[i, j] to target j in step k + d[i, j]:

    u[k] = r[k] decay + sum of w0 s0      s1[k] = u[k] >= 1      r[k+1] = (1 - s1[k]) u[k]
    v2[k] = v2[k-1] decay + sum of w1 s1                         loss = mean of v2^2

The derivative of a spike is that of the rise of a smooth step with the slope
`beta/2 / (1 + beta |x|)^2` at x = u - 1, from r to u in each step, where u >= r and r < 1. The
reset itself has no derivative. A bar is the derivative of the loss by what it stands on.
"""

import numpy as np


def two_layers(weights, delays, spikes, tau, beta, dt):
    """Loss, and its derivatives by both matrices of weights."""
    (w0, w1), (d0, d1) = weights, delays
    steps, decay = len(spikes), np.exp(-dt / tau)

    def slope(x):
        return 0.5 * beta / (1.0 + beta * np.abs(x)) ** 2

    def arriving(w, d, s, k):
        total = np.zeros(w.shape[1])
        for i, j in np.ndindex(*w.shape):
            if k - d[i, j] >= 0 and s[k - d[i, j]][i]:
                total[j] += w[i, j]
        return total

    r, u, s1 = [], [], []
    v2 = np.zeros((steps + 1, w1.shape[1]))
    v, fired = np.zeros(w0.shape[1]), np.zeros(w0.shape[1], bool)
    for k in range(steps):
        start = np.where(fired, 0.0, v)
        v = start * decay + arriving(w0, d0, spikes, k)
        fired = v >= 1.0
        r.append(start)
        u.append(v)
        s1.append(fired)
        v2[k + 1] = v2[k] * decay + arriving(w1, d1, s1, k)
    loss = np.mean(v2[1:] ** 2)

    # What arrives in step k has the bar of u1 or v2 in step k.
    v2_bar = np.zeros((steps + 1, w1.shape[1]))
    for k in range(steps - 1, -1, -1):
        later = v2_bar[k + 1] * decay if k + 1 < steps else 0.0
        v2_bar[k] = 2.0 * v2[k + 1] / (steps * w1.shape[1]) + later
    u_bar, w0_bar, w1_bar = np.zeros((steps, w0.shape[1])), np.zeros(w0.shape), np.zeros(w1.shape)
    next_r_bar = np.zeros(w0.shape[1])
    for k in range(steps - 1, -1, -1):
        s_bar = np.zeros(w0.shape[1])
        for i, j in np.ndindex(*w1.shape):
            if k + d1[i, j] < steps:
                s_bar[i] += w1[i, j] * v2_bar[k + d1[i, j]][j]
                w1_bar[i, j] += s1[k][i] * v2_bar[k + d1[i, j]][j]
        counted = (u[k] >= r[k]) & (r[k] < 1.0)
        u_bar[k] = np.where(s1[k], 0.0, next_r_bar) + np.where(
            counted, s_bar * slope(u[k] - 1.0), 0.0
        )
        r_bar = u_bar[k] * decay - np.where(counted, s_bar * slope(r[k] - 1.0), 0.0)
        next_r_bar = r_bar
    for i, j in np.ndindex(*w0.shape):
        for k in range(steps - d0[i, j]):
            w0_bar[i, j] += spikes[k][i] * u_bar[k + d0[i, j]][j]
    return loss, (w0_bar, w1_bar)
