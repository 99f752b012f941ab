"""Leaky integrate-and-fire neurons with synaptic currents of their own, by matrix exponentials.

Between arrivals and spikes the system is linear, y' = A y, so that y(t + dt) = exp(A dt) y(t)
(Rotter and Diesmann 1999, eq. 7, doi:10.1007/s004220050570).  The variables are

    exp:    i_ex, i_in, u, current          i' = -i / tau_syn
    alpha:  di_ex, i_ex, di_in, i_in, u, current
                                            di' = -di / tau_syn,   i' = di - i / tau_syn
    delta:  u, current

with u = v - e_l, u' = -u / tau_m + (i_ex + i_in + current) / c_m, current' = 0 over a step.

Order inside a step: reset of those that spiked in the step before; the linear system; arrivals
are added to i (alpha: w e / tau_syn to di, so that i peaks at w); the jump is added to v; threshold
v >= v_th.  After a spike in step k v is held at v_reset in the steps k+1 .. k+n_ref while the
currents go on; n_ref = round(t_ref / dt).  A jump is lost meanwhile.

Units: ms, mV, pF, pA.
"""

import numpy as np


def expm(a):
    """exp of matrices (..., k, k): Taylor series after scaling, then squaring."""
    halvings = int(max(0.0, np.ceil(np.log2(np.abs(a).sum(-1).max() + 1e-300)) + 3))
    a = a / 2.0**halvings
    out = term = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    for k in range(1, 17):
        term = term @ a / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out


def propagator(kind, params, dt):
    """exp(A dt), (..., k, k), with the parameters' shape in front; and the variables' names."""
    names = {
        "exp": ("i_ex", "i_in", "u", "current"),
        "alpha": ("di_ex", "i_ex", "di_in", "i_in", "u", "current"),
        "delta": ("u", "current"),
    }[kind]
    at = {name: k for k, name in enumerate(names)}
    shape = np.broadcast_shapes(*(np.shape(x) for x in params.values()))
    a = np.zeros((*shape, len(names), len(names)))
    a[..., at["u"], at["u"]] = -1.0 / params["tau_m"]
    for name in names:
        if name in ("i_ex", "i_in", "current"):
            a[..., at["u"], at[name]] = 1.0 / params["c_m"]
        if name != "u" and name != "current":
            a[..., at[name], at[name]] = -1.0 / params["tau_syn_" + name[-2:]]
        if name in ("di_ex", "di_in"):
            a[..., at[name[1:]], at[name]] = 1.0
    return expm(a * dt), at


# How the variables are called that take what arrives.
FIRST = {"exp": "i_", "alpha": "di_", "delta": "none"}


def neuron(kind):
    """The oracle of one of the three neurons: `(params, drives, n, dt) -> outputs`."""

    def oracle(params, drives, n, dt):
        p = {k: x for k, x in params.items() if isinstance(x, np.ndarray)}
        step, at = propagator(kind, p, dt)
        takes = {name[-2:]: name for name in at if name.startswith(FIRST[kind])}
        factor = {port: np.e / p["tau_syn_" + port] if kind == "alpha" else 1.0 for port in takes}
        held_steps = np.rint(p["t_ref"] / dt).astype(int)
        y = np.zeros((n, len(at)))
        v, left = np.broadcast_to(p["e_l"], n), np.zeros(n, int)
        out = {name: [] for name in ("spikes", "v", *at) if name not in ("u", "current")}
        current, _, jump = map(np.asarray, drives[:3])
        for k in range(len(current)):
            y[:, at["u"]], y[:, at["current"]] = v - p["e_l"], current[k]
            y = np.einsum("...ij,...j->...i", step, y)
            for port, first in takes.items():
                y[:, at[first]] += factor[port] * np.asarray(drives[3][port], np.float64)[k]
            v = np.where(left > 0, p["v_reset"], y[:, at["u"]] + p["e_l"] + jump[k])
            spikes = (v >= p["v_th"]) & (left == 0)
            now = {"spikes": spikes, "v": v, **{name: y[:, i].copy() for name, i in at.items()}}
            for name, values in out.items():
                values.append(now[name])
            left = np.where(spikes, held_steps, np.maximum(left - 1, 0))
            v = np.where(spikes, p["v_reset"], v)
        return out

    return oracle


exponential, alpha, delta = neuron("exp"), neuron("alpha"), neuron("delta")
