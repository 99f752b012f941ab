"""The largest stable sum of gap conductances of each neuron model, for its zoo page.

`python -m scripts.zoo_gap_limits` measures them again and prints the lines of `LIMITS`.
"""

import inspect
import math
from typing import Any

import jax
import numpy as np

import jaxneuro as jn

DT = 0.1  # ms
# By model, with its defaults, in its own unit of current per mV.
LIMITS = {
    "ALIF": math.inf,
    "AdEx": 7796,
    "EIF": 2777,
    "EscapeRateLIF": math.inf,
    "FitzHughNagumo": 27.42,
    "GIF": math.inf,
    "GLIF": math.inf,
    "HindmarshRose": 10.02,
    "HodgkinHuxley": 27.13,
    "HomeostaticLIF": math.inf,
    "Izhikevich": 9.701,
    "LIF": math.inf,
    "LeakyIntegrator": math.inf,
    "LeakyIzhikevich": 985,
    "MorrisLecar": 555,
    "QIF": 2771,
    "TraubMiles": math.inf,
    "TwoCompartment": 5549,
    "WangBuzsaki": 27.78,
}


def measured() -> dict[str, float]:
    """The limits of all models that have a voltage and take a conductance."""
    out = {}
    for name, cls in sorted(vars(jn.neurons).items()):
        if inspect.isclass(cls) and issubclass(cls, jn.Neuron) and not inspect.isabstract(cls):
            limit = _limit(cls)
            if limit is not None:
                out[name] = limit
    return out


def _limit(cls: Any) -> float | None:
    gap = jn.Coupling("E", "E", jn.connectivity.AllToAll(autapses=False), weight=0.0)
    try:
        model = cls()
        cells = [jn.Population("E", 2, model)]
        jn.build(jn.Description(cells, couplings=[gap]), 0, DT)
    except (TypeError, ValueError):
        return None
    return jn.neurons.largest_conductance(jax.tree.map(np.asarray, model), DT)


def page() -> str:
    """The paragraph and the table of the page."""
    rows = "".join(f"| `{name}` | {shown(limit)} |\n" for name, limit in LIMITS.items())
    return (
        f"\nThe largest stable sum of the conductances at a neuron at dt = {DT} ms, for the "
        "default parameters, in the unit of the model "
        "(`jn.neurons.largest_conductance(model, dt)`; `build` refuses more). *Any* is stable, "
        "not exact: where the sum is above about `c_m / dt`, two "
        "neurons do nothing but swap their voltages in every step.\n\n| model | largest sum |\n"
        f"|---|---|\n{rows}"
    )


def shown(limit: float) -> str:
    """A limit as text."""
    return "any" if np.isinf(limit) else f"{limit:.3g}" if limit < 1000 else f"{limit:.0f}"


if __name__ == "__main__":
    for name, limit in measured().items():
        value = "math.inf" if np.isinf(limit) else f"{limit:.4g}"
        print(f'    "{name}": {value},')
