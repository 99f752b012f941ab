"""Means of releases at Poisson trains: what the weights of another release are matched by."""


def tsodyks_markram(
    U: float, tau_rec: float, tau_fac: float, rate: float
) -> tuple[float, float, float]:
    """Mean x and u at a spike, and their product, in the convention "tsodyks2"; `rate` [Hz].

    `u = U (1 + r tau_fac) / (1 + U r tau_fac)`, `x = 1 / (1 + u r tau_rec)`: x and u are taken as
    independent.

    **Source** Tsodyks, Pawelzik, Markram (1998), doi:10.1162/089976698300017502.
    """
    per_rec, per_fac = 1e-3 * rate * tau_rec, 1e-3 * rate * tau_fac
    u = U * (1.0 + per_fac) / (1.0 + U * per_fac)
    x = 1.0 / (1.0 + u * per_rec)
    return x, u, u * x


def nmda_gate(k_0: float, k_1: float, tau_decay: float, rate: float) -> float:
    """Mean of the gate `s += k_0 + k_1 s` at `rate` [Hz].

    It is where `ds/dt = r (k_0 + k_1 s) - s / tau_decay` is 0.
    """
    spikes = 1e-3 * rate * tau_decay
    return spikes * k_0 / (1.0 - spikes * k_1)
