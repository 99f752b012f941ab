"""Single neurons against NEST: the same spike train into the same neuron.

NEST is installed into an environment of its own on first use (`benchmarks/_environments.py`). Both
get the same trains, at the same steps: those of `SpikeTimes` with a delay, which are those of a
spike_generator with that delay.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from benchmarks._environments import environment

pytestmark = pytest.mark.science
SCRIPT = Path(__file__).with_name("nest_runs.py")
DELAY, SEEDS, SCALES = 1.5, 4, (0.5, 1.0, 2.0)


class Compared(NamedTuple):
    """A model of NEST and ours: (excitatory, inhibitory) synapses, weights, rates [1/ms].

    Ours and its synapses are functions, so that their numbers are made in float64.
    """

    name: str
    theirs: dict[str, float]
    ours: Callable
    synapses: Callable
    weights: tuple[float, float]
    rates: tuple[float, float]


def trains(case: Compared, ms: float) -> list[dict]:
    """Poisson trains in units of 0.1 ms, of weights times each scale, `SEEDS` neurons of each."""
    out = []
    for sign, (weight, rate) in enumerate(zip(case.weights, case.rates)):
        given: dict[str, list] = {"trains": [], "weights": []}
        for scale in SCALES:
            for seed in range(SEEDS):
                rng = np.random.default_rng((sign, seed, round(10 * scale)))
                counts = rng.poisson(0.1 * rate / scale, round(10 * ms))
                given["trains"].append((np.repeat(np.arange(counts.size), counts) + 1).tolist())
                given["weights"].append(weight * scale)
        out.append(given)
    return out


def nest_steps(case: Compared, inputs: list[dict], ms: float, dt: float) -> list[np.ndarray]:
    job = {"model": case.name, "params": case.theirs, "inputs": inputs}
    job |= {"dt": dt, "ms": ms, "delay": DELAY}
    done = subprocess.run(
        [environment("nest"), SCRIPT], input=json.dumps(job), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [np.array(steps, int) for steps in json.loads(done.stdout.splitlines()[-1])]


def our_steps(case: Compared, inputs: list[dict], ms: float, dt: float) -> list[np.ndarray]:
    stimuli = []
    for name, synapse, given in zip(("ex", "in"), case.synapses(), inputs):
        times = [0.1 * np.asarray(train) for train in given["trains"]]
        # A conductance is never negative: there the sign is in the reversal potential.
        conductance = isinstance(synapse, jn.synapses.ExponentialConductance)
        weights = np.abs(given["weights"]) if conductance else np.asarray(given["weights"])
        stimuli.append(
            jn.Stimulation(
                "all",
                jn.stimuli.SpikeTimes(times),
                weight=weights,
                synapse=synapse,
                delay=DELAY,
                name=name,
            )
        )
    n = len(SCALES) * SEEDS
    described = jn.Description([jn.Population("all", n, case.ours())], [], stimuli)
    net = jn.build(described, 0, dt, jnp.float64)
    result = jn.simulate(net, ms, progress=False)
    return [np.rint(result.spikes["all"].of(k) / dt).astype(int) for k in range(n)]


def compare(case: Compared, ms: float, dt: float) -> tuple[int, int, int]:
    """Neurons with another count, spikes at another step, and by how many; prints all of it."""
    inputs = trains(case, ms)
    a, b = our_steps(case, inputs, ms, dt), nest_steps(case, inputs, ms, dt)
    counts = [x.size for x in a], [x.size for x in b]
    apart = [np.abs(x - y) for x, y in zip(a, b) if x.size == y.size]
    other = len(a) - len(apart)
    away = np.concatenate([*apart, np.zeros(1, int)])
    print(
        f"{case.name} {case.theirs}, {ms:g} ms at {dt} ms: spikes of each neuron {counts[0]}, "
        f"NEST {counts[1]}; neurons with another number {other}; of those with the same number "
        f"{np.count_nonzero(away)} spikes at another step, at most {away.max()} steps away"
    )
    assert min(counts[1]) >= 10, "too few spikes to say anything"
    return other, np.count_nonzero(away), int(away.max())


def currents():
    return jn.synapses.Direct("ex"), jn.synapses.Direct("in")


def jumps():
    return jn.synapses.Delta(), jn.synapses.Delta()


def conductances():
    exponential = jn.synapses.ExponentialConductance
    return exponential(0.2, 0.0), exponential(2.0, -85.0)


CORTICAL = {"tau_syn_ex": 0.5, "tau_syn_in": 0.5}
EXACT = {
    "exp": Compared(
        "iaf_psc_exp", {}, lambda: jn.neurons.IafPscExp(), currents, (60.0, -250.0), (6.0, 0.7)
    ),
    "exp, microcircuit": Compared(
        "iaf_psc_exp",
        CORTICAL,
        lambda: jn.neurons.IafPscExp(**CORTICAL),
        currents,
        (88.0, -352.0),
        (16.0, 2.0),
    ),
    "alpha": Compared(
        "iaf_psc_alpha", {}, lambda: jn.neurons.IafPscAlpha(), currents, (25.0, -100.0), (6.0, 0.7)
    ),
    "alpha, tau_m = tau_syn": Compared(
        "iaf_psc_alpha",
        {"tau_syn_in": 10.0},
        lambda: jn.neurons.IafPscAlpha(tau_syn_in=10.0),
        currents,
        (25.0, -20.0),
        (6.0, 0.7),
    ),
    "delta": Compared(
        "iaf_psc_delta",
        {},
        lambda: jn.neurons.IafPscDelta(),
        jumps,
        (0.5, -2.0),
        (4.5, 0.45),
    ),
    "izhikevich": Compared(
        "izhikevich", {}, lambda: jn.neurons.Izhikevich(), jumps, (1.0, -3.0), (10.0, 1.5)
    ),
}
ADAPTIVE = {
    "iaf_cond_exp": Compared(
        "iaf_cond_exp",
        {},
        lambda: jn.neurons.LIF(tau_m=250.0 / 16.6667, v_reset=-60.0),
        conductances,
        (10.0, -5.0),
        (6.0, 1.0),
    ),
    "aeif_cond_exp": Compared(
        "aeif_cond_exp", {}, lambda: jn.neurons.AdEx(), conductances, (20.0, -5.0), (6.0, 1.0)
    ),
}


@pytest.mark.parametrize("case", EXACT.values(), ids=EXACT.keys())
def test_exact_models_spike_at_the_same_steps(case, x64):
    assert compare(case, 10_000.0, 0.1) == (0, 0, 0)


@pytest.mark.parametrize("case", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_solved_models_spike_within_a_step(case, x64):
    """NEST solves them with an adaptive method: the same number of spikes."""
    other, _, away = compare(case, 1000.0, 0.1)
    assert other == 0
    assert away <= 1


@pytest.mark.parametrize("case", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_solved_models_spike_at_the_same_fine_steps(case, x64):
    assert compare(case, 1000.0, 0.01) == (0, 0, 0)
