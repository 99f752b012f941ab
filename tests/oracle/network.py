"""A network of one group of LIF neurons, several receptors and several projections.

Step k leads from t_k = k dt to t_k+1, in this order:

    (1) the neurons move under the drive of the synapses as they stand at t_k;
    (2) the synapses decay over the step and take the arrivals of slot k (delta jumps v here);
    (3) threshold: the spikes of step k (v is recorded here, at a spike before its reset);
    (4) delivery of the spikes of step k into slots k + d, d >= 1.

populations: list of dicts with n, current [pA] (constant; 0 if absent) and the parameters of
    lif.py (c_m, tau_m, e_l, v_th, v_reset, t_ref); they stand one after the other in the group.
receptors: list of dicts with kind (a function of synapses.py) and params (a dict).
projections: list of dicts with the equally long arrays pre, post, weight, delay_steps (pre and
    post number the neurons of the GROUP), receptor (an index into receptors) and gain
    (1 if absent).  The unit of the weight is that of the receptor: pA, nS or mV.
outside: list of dicts with receptor and arrivals [n_steps, n], weighted spikes from outside the
    network; those of row k arrive in (2) of step k.
"""

import numpy as np

from .deliver import take
from .lif import lif_step

LIF_PARAMS = ("c_m", "tau_m", "e_l", "v_th", "v_reset", "t_ref")


def spread(populations, name, default=None):
    """A parameter of all populations as one array over the neurons of the group."""
    parts = []
    for population in populations:
        value = population[name] if default is None else population.get(name, default)
        parts.append(np.full(population["n"], value, dtype=np.float64))
    return np.concatenate(parts)


def rows_of(projection, n):
    """Per source neuron: (post, weight times gain, delay_steps) of its connections."""
    pre = np.asarray(projection["pre"], dtype=np.int64)
    post = np.asarray(projection["post"], dtype=np.int64)
    weight = np.asarray(projection["weight"], dtype=np.float64) * projection.get("gain", 1.0)
    delay = np.asarray(projection["delay_steps"], dtype=np.int64)
    if delay.size and delay.min() < 1:
        raise ValueError(f"a delay must be at least one step, got {delay.min()}")
    order = np.argsort(pre, kind="stable")
    first = np.searchsorted(pre[order], np.arange(n + 1))
    rows = []
    for source in range(n):
        chosen = order[first[source] : first[source + 1]]
        rows.append((post[chosen], weight[chosen], delay[chosen]))
    return rows


def total_drive(receptors, states, arrivals, constant, dt):
    """Step every receptor; returns (new states, drive of the group), drive as in synapses.py."""
    new_states = []
    drive = [constant.copy(), *(np.zeros_like(constant) for _ in range(4))]
    for receptor, state, arriving in zip(receptors, states, arrivals):
        outcome = receptor["kind"](state, arriving, receptor["params"], dt)
        new_states.append(outcome[0])
        for total, part in zip(drive, outcome[1:]):
            if part is not None:
                total += part
    return new_states, drive


def run(populations, projections, n_steps, dt, v0, receptors, record=(), outside=()):
    """Run n_steps from rest of all synapses, nobody refractory, v = v0 (one number or array).

    Returns (spikes, trace): spikes is a list of (step, neuron), ascending; trace is v
    [n_steps, len(record)] of the recorded neurons at the end of each step.
    """
    params = {name: spread(populations, name) for name in LIF_PARAMS}
    constant = spread(populations, "current", 0.0)
    n = constant.size
    v = np.full(n, v0, dtype=np.float64)
    refractory = np.zeros(n, dtype=np.int64)
    spiked = np.zeros(n, dtype=bool)
    states = [np.zeros(n) for _ in receptors]

    tables = [(projection["receptor"], rows_of(projection, n)) for projection in projections]
    longest = max([1] + [int(np.max(p["delay_steps"], initial=1)) for p in projections])
    ring = np.zeros((longest + 1, len(receptors), n))

    record = np.asarray(record, dtype=np.int64)
    trace = np.zeros((n_steps, record.size))
    spikes = []
    for step in range(n_steps):
        arrivals = take(ring, step)
        for source in outside:
            arrivals[source["receptor"]] += source["arrivals"][step]
        states, drive = total_drive(receptors, states, arrivals, constant, dt)
        v, refractory, spiked = lif_step(
            v, refractory, spiked, *drive[:3], params, dt, slopes=drive[3:]
        )
        trace[step] = v[record]
        for neuron in np.flatnonzero(spiked):
            spikes.append((step, int(neuron)))
            for receptor, rows in tables:
                post, weight, delay = rows[neuron]
                np.add.at(ring, ((step + delay) % (longest + 1), receptor, post), weight)
    return spikes, trace
