"""Receptors with several variables, with a voltage, or with kinetics that saturate.

Every function is step(state, arrivals, v, params, dt) -> (new_state, drive) and leads from t_k to
t_k+1.  `state` is a dict of variables by name, empty before the first step; `drive` a dict of
`current`, `conductance` and their slopes, of the parts that exist.  The drive is the mean over the
step of the state that stood at t_k, and the slope of the straight line nearest to it by least
squares, both by Gauss-Legendre quadrature of the solution:

    mean  = (1 / dt)    * integral of g(t_k + u) over the step
    slope = (12 / dt^3) * integral of (u - dt/2) g(t_k + u) over the step

Then the state moves over the step and takes the arrivals at the END of the step.

alpha                 g(u) = (g + x u / tau) exp(-u / tau),  x(u) = x exp(-u / tau);  x += e w
double_exponential    g(u) = g exp(-u / tau_decay)
                             + c x (exp(-u / tau_decay) - exp(-u / tau_rise)),
                      c = tau_decay / (tau_decay - tau_rise)
                      x(u) = x exp(-u / tau_rise);  x += w / peak, the peak of g for x = 1
nmda                  as the conductance, times 1 / (1 + mg / 3.57 exp(-0.062 v*)), with v* = v in
                      the first step (or where v was 0 before) and then v + (v - v before) / 2
two_state             r decays with beta;  1 - r is multiplied by exp(-alpha a)
gaba_b                r decays with k2, ds/dt = k3 r - k4 s;  1 - r is multiplied by exp(-k1 a);
                      the drive has g_max s^4 / (s^4 + k_d) in the middle of the step
several               the sum of the parts, each with its share of the arrivals

The synaptic current is current - conductance v.  Units: ms, mV, pA, nS, mM ms, uM.
"""

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def mean_and_slope(course, dt):
    """Of course(u) over 0 <= u < dt."""
    values = [course(0.5 * dt * (1.0 + x)) for x in NODES]
    mean = 0.5 * sum(w * y for w, y in zip(WEIGHTS, values))
    slope = (3.0 / dt) * sum(w * x * y for w, x, y in zip(WEIGHTS, NODES, values))
    return mean, slope


def pull(mean, slope, e_rev):
    """The drive of a conductance with a reversal potential."""
    return {
        "current": mean * e_rev,
        "conductance": mean,
        "current_slope": slope * e_rev,
        "conductance_slope": slope,
    }


def _alpha(state, arrivals, params, dt):
    g, x, tau = state.get("g", 0.0), state.get("x", 0.0), params["tau_syn"]

    def course(u):
        return (g + x * u / tau) * np.exp(-u / tau)

    new = {"g": course(dt), "x": x * np.exp(-dt / tau) + np.e * arrivals}
    return new, *mean_and_slope(course, dt)


def _double_exponential(state, arrivals, params, dt):
    g, x = state.get("g", 0.0), state.get("x", 0.0)
    rise, decay = params["tau_rise"], params["tau_decay"]
    factor = decay / (decay - rise)

    def course(u):
        return g * np.exp(-u / decay) + x * factor * (np.exp(-u / decay) - np.exp(-u / rise))

    top = np.log(decay / rise) * rise * decay / (decay - rise)
    peak = factor * (np.exp(-top / decay) - np.exp(-top / rise))
    new = {"g": course(dt), "x": x * np.exp(-dt / rise) + arrivals / peak}
    return new, *mean_and_slope(course, dt)


def _exponential(state, arrivals, params, dt):
    g, tau = state.get("g", 0.0), params["tau_syn"]

    def course(u):
        return g * np.exp(-u / tau)

    return {"g": course(dt) + arrivals}, *mean_and_slope(course, dt)


def _as_current(kinetics):
    def step(state, arrivals, v, params, dt):
        state, mean, _ = kinetics(state, arrivals, params, dt)
        return state, {"current": mean}

    return step


def _as_conductance(kinetics):
    def step(state, arrivals, v, params, dt):
        state, mean, slope = kinetics(state, arrivals, params, dt)
        return state, pull(mean, slope, params["e_rev"])

    return step


def open_share(v, mg):
    """The share of NMDA channels that magnesium leaves open."""
    return 1.0 / (1.0 + mg / 3.57 * np.exp(-0.062 * v))


def _as_nmda(kinetics):
    def step(state, arrivals, v, params, dt):
        middle = v + 0.5 * (v - state.get("v", v))
        share = open_share(middle, params["mg"])
        state, mean, slope = kinetics(state, arrivals, params, dt)
        return {**state, "v": v}, pull(share * mean, share * slope, params["e_rev"])

    return step


alpha, alpha_conductance = _as_current(_alpha), _as_conductance(_alpha)
double_exponential = _as_current(_double_exponential)
double_exponential_conductance = _as_conductance(_double_exponential)
exponential_conductance = _as_conductance(_exponential)
nmda, double_exponential_nmda = _as_nmda(_exponential), _as_nmda(_double_exponential)


def two_state(state, arrivals, v, params, dt):
    """Receptors that transmitter opens as far as they are closed."""
    r = state.get("r", 0.0)

    def course(u):
        return params["g_max"] * r * np.exp(-params["beta"] * u)

    decayed = r * np.exp(-params["beta"] * dt)
    new = 1.0 - (1.0 - decayed) * np.exp(-params["alpha"] * arrivals)
    return {"r": new}, pull(*mean_and_slope(course, dt), params["e_rev"])


def gaba_b(state, arrivals, v, params, dt):
    """Activated receptors, G protein, and channels that four of them open."""
    r, s = state.get("r", 0.0), state.get("s", 0.0)
    k2, k4 = params["k2"], params["k4"]

    def protein(u):
        made = r * params["k3"] * (np.exp(-k2 * u) - np.exp(-k4 * u)) / (k4 - k2)
        return s * np.exp(-k4 * u) + made

    fourth = protein(0.5 * dt) ** 4
    g = params["g_max"] * fourth / (fourth + params["k_d"])
    new = 1.0 - (1.0 - r * np.exp(-k2 * dt)) * np.exp(-params["k1"] * arrivals)
    return {"r": new, "s": protein(dt)}, {"current": g * params["e_rev"], "conductance": g}


BY_KIND = {
    "Alpha": alpha,
    "AMPA": exponential_conductance,
    "NMDA": nmda,
}


def several(state, arrivals, v, params, dt):
    """The parts that `params["parts"]` lists, added up."""
    total, new = {}, {}
    for k, (part, share) in enumerate(zip(params["parts"], params["shares"])):
        step = BY_KIND[part["kind"]]
        new[k], drive = step(state.get(k, {}), share * arrivals, v, part, dt)
        for name, x in drive.items():
            total[name] = total.get(name, 0.0) + x
    return new, total
