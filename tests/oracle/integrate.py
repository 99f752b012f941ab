"""One time step of y' = f(y), from the textbook, in float64.

y is a list of arrays, one per variable.  `f(y)` returns a list of derivatives of the same length.
All variables move at once: every derivative is taken at the same y, and nothing is updated in
place.  The input is whatever f closes over, constant over the step.

    euler               y + dt f(y)
    heun                k1 = f(y), k2 = f(y + dt k1);  y + dt (k1 + k2) / 2
    rk4                 k1 = f(y), k2 = f(y + dt k1 / 2), k3 = f(y + dt k2 / 2), k4 = f(y + dt k3);
                        y + dt (k1 + 2 k2 + 2 k3 + k4) / 6
    exponential_euler   y' = source - rate y, with source and rate frozen over the step:
                        y + (source - rate y) (1 - exp(-rate dt)) / rate;  dt in place of the
                        last factor where rate is 0

Hairer, Norsett, Wanner (1993), sec. I.7 and II.1; Rush and Larsen (1978).

`linear(y)` returns for each variable a pair (source, rate), a pair (derivative, None), or the
derivative alone: without a rate a variable moves by forward Euler.
"""

import numpy as np


def _listed(y):
    return [np.asarray(x, dtype=np.float64) for x in y]


def _moved(y, k, by):
    return [x + by * slope for x, slope in zip(y, k, strict=True)]


def euler(f, y, dt):
    """Forward Euler, order 1."""
    y = _listed(y)
    return _moved(y, f(y), dt)


def heun(f, y, dt):
    """Heun's method, order 2."""
    y = _listed(y)
    k1 = f(y)
    k2 = f(_moved(y, k1, dt))
    return [x + 0.5 * dt * (a + b) for x, a, b in zip(y, k1, k2, strict=True)]


def rk4(f, y, dt):
    """The classical method of Runge and Kutta, order 4."""
    y = _listed(y)
    k1 = f(y)
    k2 = f(_moved(y, k1, 0.5 * dt))
    k3 = f(_moved(y, k2, 0.5 * dt))
    k4 = f(_moved(y, k3, dt))
    return [
        x + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        for x, a, b, c, d in zip(y, k1, k2, k3, k4, strict=True)
    ]


def mean_decay(rate, dt):
    """(1 - exp(-rate dt)) / rate, the integral of exp(-rate t) from 0 to dt."""
    rate = np.asarray(rate, dtype=np.float64)
    safe = np.where(rate == 0.0, 1.0, rate)
    return np.where(rate == 0.0, dt, -np.expm1(-safe * dt) / safe)


def exponential_euler(linear, y, dt):
    """Exponential Euler, order 1; exact in one variable while the others stand still."""
    y = _listed(y)
    new = []
    for x, part in zip(y, linear(y), strict=True):
        source, rate = part if isinstance(part, tuple) else (part, None)
        if rate is None:
            new.append(x + dt * source)
        else:
            new.append(x + (source - rate * x) * mean_decay(rate, dt))
    return new


def derivatives(linear):
    """The f(y) of a `linear(y)`: source - rate y, or the derivative where there is no rate."""

    def f(y):
        parts = (p if isinstance(p, tuple) else (p, None) for p in linear(y))
        return [s if r is None else s - r * x for x, (s, r) in zip(y, parts, strict=True)]

    return f


# By class name of the integrator: each takes the equations as pairs (source, rate).
BY_KIND = {
    "ForwardEuler": lambda linear, y, dt: euler(derivatives(linear), y, dt),
    "Heun": lambda linear, y, dt: heun(derivatives(linear), y, dt),
    "RK4": lambda linear, y, dt: rk4(derivatives(linear), y, dt),
    "ExponentialEuler": exponential_euler,
}
