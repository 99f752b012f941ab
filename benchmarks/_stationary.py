"""Mean release per spike of trains that are Poisson: what a change of the release is matched by."""


def tsodyks_markram(
    U: float, tau_rec: float, tau_fac: float, rate: float
) -> tuple[float, float, float]:
    """Mean x and u at a spike, and what it releases on average, in the convention "tsodyks2".

    x and u are taken as independent, `rate` [Hz]. With `a = E[exp(-h/tau)] = r tau / (1 + r tau)`
    of an interval h: `u = U / (1 - (1 - U) a_fac)`, `x = (1 - a_rec) / (1 - (1 - u) a_rec)`.

    **Source** Tsodyks, Pawelzik, Markram (1998), doi:10.1162/089976698300017502, eqs. 2.5 and 2.6.
    """
    a_rec, a_fac = (1e-3 * rate * t / (1.0 + 1e-3 * rate * t) for t in (tau_rec, tau_fac))
    u = U / (1.0 - (1.0 - U) * a_fac)
    x = (1.0 - a_rec) / (1.0 - (1.0 - u) * a_rec)
    return x, u, u * x


def nmda_gate(k_0: float, k_1: float, tau_decay: float, rate: float) -> float:
    """Mean of the gate `s += k_0 + k_1 s` of a Poisson train of `rate` [Hz]: equation of its mean.

    `ds/dt = r (k_0 + k_1 s) - s / tau_decay = 0`.
    """
    spikes = 1e-3 * rate * tau_decay
    return spikes * k_0 / (1.0 - spikes * k_1)
