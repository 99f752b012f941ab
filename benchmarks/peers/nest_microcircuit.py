"""NEST: the cortical microcircuit of Potjans and Diesmann (2014), iaf_psc_exp, at any scale."""

from __future__ import annotations

import numpy as np
from _common import arguments

SIZES = (20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948)
PROBABILITIES = (  # of the target of a row, from the source of a column
    (0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0000, 0.0076, 0.0000),
    (0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0000, 0.0042, 0.0000),
    (0.0077, 0.0059, 0.0497, 0.1350, 0.0067, 0.0003, 0.0453, 0.0000),
    (0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0000, 0.1057, 0.0000),
    (0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0000),
    (0.0548, 0.0269, 0.0257, 0.0022, 0.0600, 0.3158, 0.0086, 0.0000),
    (0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252),
    (0.0364, 0.0010, 0.0034, 0.0005, 0.0277, 0.0080, 0.0658, 0.1443),
)
EXTERNAL = (1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100)  # inputs at 8 Hz
WEIGHT, BACKGROUND, TAU_SYN = 87.80849, 8.0, 0.5  # pA, Hz, ms
V0 = (-68.28, -63.16, -63.33, -63.45, -63.11, -61.66, -66.72, -61.43)  # mV
SD0 = (5.36, 4.57, 4.74, 4.94, 4.94, 4.55, 5.46, 4.48)
RATES = (0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829)  # Hz, full scale
CELL = {
    **{"C_m": 250.0, "tau_m": 10.0, "E_L": -65.0, "V_th": -50.0, "V_reset": -65.0, "t_ref": 2.0},
    **{"tau_syn_ex": TAU_SYN, "tau_syn_in": TAU_SYN},
}


def scaled(scale: float, poisson: bool):
    """Neurons, numbers of synapses, weights [pA] and currents [pA] at a scale."""
    n = [round(scale * x) for x in SIZES]
    pairs = np.outer(SIZES, SIZES).astype(float)
    full = np.rint(np.log1p(-np.array(PROBABILITIES)) / np.log1p(-1.0 / pairs))
    inputs = full / np.array(SIZES)[:, None]
    weights = WEIGHT * np.tile([1.0, -4.0], (8, 4))
    weights[0, 2] *= 2.0
    lost = 1.0 - np.sqrt(scale)
    current = lost * (weights * inputs) @ np.array(RATES)
    current += (lost if poisson else 1.0) * WEIGHT * BACKGROUND * np.array(EXTERNAL)
    totals = np.rint(scale * inputs * np.array(n)[:, None]).astype(int)
    return n, totals, weights / np.sqrt(scale), 1e-3 * TAU_SYN * current


def main() -> None:
    args = arguments(neurons=0, scale=1.0, drive="poisson")
    import _nest
    import nest

    poisson = args.drive == "poisson"
    n, totals, weights, currents = scaled(args.scale, poisson)
    args.neurons = sum(n)

    def connect(source, target, total: int, weight: float, delay: float) -> None:
        # Two synapse models: NEST has at most 134 million connections per thread and model.
        low, high = (0.0, np.inf) if weight > 0 else (-np.inf, 0.0)
        law = nest.random.normal(weight, 0.1 * abs(weight))
        synapse = {
            "synapse_model": "exc" if weight > 0 else "inh",
            "weight": nest.math.redraw(law, min=low, max=high),
            "delay": nest.math.redraw(nest.random.normal(delay, 0.5 * delay), min=0.05, max=np.inf),
        }
        nest.Connect(source, target, {"rule": "fixed_total_number", "N": total}, synapse)

    def make() -> int:
        for name in ("exc", "inh"):
            nest.CopyModel("static_synapse", name)
        cells = []
        for k in range(8):
            start = nest.random.normal(V0[k], SD0[k])
            params = {**CELL, "V_m": start, "I_e": float(currents[k])}
            cells.append(nest.Create("iaf_psc_exp", n[k], params=params))
        for i, j in np.argwhere(totals):
            delay = 0.75 if j % 2 else 1.5
            connect(cells[j], cells[i], int(totals[i, j]), float(weights[i, j]), delay)
        for k in range(8 if poisson else 0):
            rate = BACKGROUND * args.scale * EXTERNAL[k]
            noise = nest.Create("poisson_generator", params={"rate": rate})
            nest.Connect(noise, cells[k], syn_spec={"weight": float(weights[0, 0]), "delay": 1.5})
        return args.neurons if poisson else 0

    _nest.timed("microcircuit", args, make)


if __name__ == "__main__":
    main()
