"""Balance of excitation and inhibition."""

import numpy as np

from .._checks import check_bounds
from ._given import arrays_checked
from ._spikes import array_of


@arrays_checked
def excitation_inhibition(
    excitatory: np.ndarray, inhibitory: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Balance of excitatory and inhibitory currents: (ratio, correlation), each `(n,)`.

    `ratio = -mean(I_E) / mean(I_I)` over time, and Pearson's correlation of `I_E` and `-I_I` at
    lag 0: 1 if inhibition follows excitation at once (tight balance). Both currents [pA] as
    they flow into the neuron, excitation positive and inhibition negative, of one shape
    `(steps, n)`, or `(steps,)` for one neuron, which gives numbers. The ratio is inf without
    inhibition, and nan without any current; the correlation is nan where a current is constant.

    **Raises** `ValueError` for shapes that differ or have fewer than 2 steps, currents that are not
    finite, or a mean of the wrong sign.

    **Source** Okun and Lampl (2008), doi:10.1038/nn.2105.
    """
    plus = array_of("excitatory", excitatory).astype(np.float64)
    minus = -array_of("inhibitory", inhibitory).astype(np.float64)
    if plus.shape != minus.shape or plus.ndim not in (1, 2) or plus.shape[0] < 2:
        raise ValueError(
            "excitatory and inhibitory must have one shape (steps, n) or (steps,), of at least 2 "
            f"steps; got {plus.shape} and {minus.shape}"
        )
    check_bounds("excitatory", plus, "pA")
    check_bounds("inhibitory", minus, "pA")
    mean_plus, mean_minus = plus.mean(axis=0), minus.mean(axis=0)
    for name, mean, must in (
        ("excitatory", mean_plus, "at least"),
        ("inhibitory", mean_minus, "at most"),
    ):
        if (mean < 0).any():
            raise ValueError(
                f"the mean of {name} must be {must} 0 pA in every neuron (excitation flows in, "
                f"inhibition flows out); got the opposite in {int((mean < 0).sum())}. Pass the "
                "negative"
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean_plus / mean_minus
        constant = (np.ptp(plus, axis=0) == 0) | (np.ptp(minus, axis=0) == 0)
        together = ((plus - mean_plus) * (minus - mean_minus)).mean(axis=0)
        correlation = np.where(constant, np.nan, together / (plus.std(axis=0) * minus.std(axis=0)))
    return ratio, correlation
