"""What NEST makes of plastic synapses: the weight at each presynaptic spike, case by case.

`nest_cases()` runs NEST once a session and gives what a rule of ours can be compared with. The
names of rules and parameters are those of `tests/oracle/plasticity.py`; a delay is dendritic as a
whole, as it is in NEST: a presynaptic spike arrives at the synapse at once.
"""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks._environments import environment

SCRIPT = Path(__file__).with_name("nest_plasticity_runs.py")
DT, MS = 0.1, 10_000.0
DELAYS = (10, 15, 37)  # steps
STEPS = round(MS / DT)


class Rule(NamedTuple):
    """A synapse of NEST, its numbers there, and the same numbers by the names of the oracle."""

    name: str
    model: str
    rule: str
    weight: float
    synapse: dict[str, float]  # NEST's
    neuron: dict[str, float]  # NEST's, of the postsynaptic neuron
    parameters: dict  # ours


class Trains(NamedTuple):
    """Steps of spikes; `rewards` are steps in which a volume transmitter gets a spike."""

    pre: list[int]
    post: list[int]
    rewards: list[int]


class Case(NamedTuple):
    """One synapse in NEST: `weights[i]` is what NEST delivered for the spike of step `pre[i]`."""

    name: str
    rule: str
    parameters: dict
    pre: list[int]
    post: list[int]
    rewards: list[tuple[int, float]]  # step, amount
    dt: float
    delay: int  # steps, all of it dendritic
    weight: float  # at the start
    weights: np.ndarray
    last: int  # the last step of the run


def pair(name: str, model: str, pairing: str = "all", **changed) -> Rule:
    """A rule that adds to weight / w_max; `changed` by our names."""
    numbers = {"rate": 0.02, "alpha": 1.05, "mu_plus": 0.4, "mu_minus": 0.7}
    numbers |= {"tau_plus": 17.0, "tau_minus": 31.0, "w_max": 80.0, **changed}
    theirs = {"rate": "lambda", "w_max": "Wmax"}
    synapse = {theirs.get(k, k): v for k, v in numbers.items() if k != "tau_minus"}
    neuron = {"tau_minus": numbers["tau_minus"]}
    return Rule(name, model, "pair", 30.0, synapse, neuron, {**numbers, "pairing": pairing})


def power_law() -> Rule:
    synapse = {"lambda": 0.1, "alpha": 0.0513, "mu": 0.4, "tau_plus": 15.0}
    numbers = {"rate": 0.1, "alpha": 0.0513, "mu": 0.4, "tau_plus": 15.0, "tau_minus": 30.0}
    return Rule(
        "power_law", "stdp_pl_synapse_hom", "power_law", 45.0, synapse, {"tau_minus": 30.0}, numbers
    )


def triplet() -> Rule:
    """Stronger than NEST's defaults, so that in ten seconds every term is seen."""
    synapse = {"tau_plus": 16.8, "tau_plus_triplet": 101.0, "Wmax": 100.0}
    synapse |= {"Aplus": 5e-3, "Aminus": 7e-3, "Aplus_triplet": 6.2e-3, "Aminus_triplet": 2.3e-3}
    neuron = {"tau_minus": 33.7, "tau_minus_triplet": 125.0}
    numbers = {"tau_plus": 16.8, "tau_plus_triplet": 101.0, "w_max": 100.0, **neuron}
    numbers |= {"a2_plus": 5e-3, "a2_minus": 7e-3, "a3_plus": 6.2e-3, "a3_minus": 2.3e-3}
    return Rule("triplet", "stdp_triplet_synapse", "triplet", 10.0, synapse, neuron, numbers)


def vogels(name: str = "vogels", eta: float = 0.002, w_max: float = 20.0) -> Rule:
    numbers = {"tau": 20.0, "alpha": 0.9, "eta": eta}
    return Rule(
        name,
        "vogels_sprekeler_synapse",
        "vogels",
        0.5,
        {**numbers, "Wmax": w_max},
        {"tau_minus": 20.0},
        {**numbers, "w_max": w_max},
    )


def dopamine(name: str = "reward_modulated", weight: float = 60.0, a_minus: float = 0.6) -> Rule:
    synapse = {"A_plus": 1.0, "A_minus": a_minus, "tau_plus": 20.0, "tau_c": 700.0, "tau_n": 150.0}
    synapse |= {"b": 0.002, "Wmin": 0.0, "Wmax": 400.0}
    numbers = {"a_plus": 1.0, "a_minus": a_minus, "tau_plus": 20.0, "tau_c": 700.0, "tau_n": 150.0}
    numbers |= {"tau_minus": 31.0, "baseline": 0.002, "w_min": 0.0, "w_max": 400.0}
    neuron = {"tau_minus": 31.0}
    return Rule(name, "stdp_dopamine_synapse", "reward_modulated", weight, synapse, neuron, numbers)


SYMMETRIC = pair("nearest_symmetric", "stdp_nn_symm_synapse", "nearest_symmetric")
RESTRICTED = pair("nearest_restricted", "stdp_nn_restr_synapse", "nearest_restricted")
RULES = (
    pair("pair", "stdp_synapse"),
    pair("pair_additive", "stdp_synapse", mu_plus=0.0, mu_minus=0.0),
    pair("pair_multiplicative", "stdp_synapse", mu_plus=1.0, mu_minus=1.0),
    pair("pair_at_bounds", "stdp_synapse", mu_plus=0.0, mu_minus=0.0, rate=0.5, alpha=0.4),
    SYMMETRIC,
    RESTRICTED,
    pair("presynaptic_centred", "stdp_nn_pre_centered_synapse", "presynaptic_centred"),
    power_law(),
    triplet(),
    vogels(),
    dopamine(),
)


def random_trains(delay: int, rewarded: bool = False, together: int = 20) -> Trains:
    """300 random spikes of each neuron, `together` pairs of which arrive in one step.

    The first arrival is a presynaptic one. Of the rewards a third come with a presynaptic spike
    and a third with a postsynaptic arrival.
    """
    rng = np.random.default_rng(delay)
    pre = rng.choice(np.arange(100, STEPS - 100), 300, replace=False)
    post = rng.choice(np.arange(100, STEPS - 100), 300, replace=False)
    post[:together] = pre[:together] - delay
    near = slice(together, 4 * together)  # close by, on either side
    post[near] = pre[near] + rng.integers(-100, 100, 3 * together)
    post = post[post + delay > 60]
    rewards = [*rng.choice(STEPS, 20), *rng.choice(pre, 20), *(rng.choice(post, 20) + delay)]
    rewards = [step for step in rewards if 60 <= step < STEPS] if rewarded else []
    return Trains(*(np.unique(train).tolist() for train in ([50, *pre], post, rewards)))


def answers_of(cases: list[dict], ms: float = MS) -> list[dict]:
    """What the script in NEST's environment answers."""
    done = subprocess.run(
        [environment("nest"), SCRIPT],
        input=json.dumps({"dt": DT, "ms": ms, "cases": cases}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def in_nest(jobs: list[tuple[Rule, int, Trains]], slice_steps: int = 1) -> list[Case]:
    """What NEST gives for each (rule, delay, trains); NEST goes `slice_steps` steps at a time."""
    cases = [
        {"model": rule.model, "synapse": rule.synapse, "neuron": rule.neuron, **trains._asdict()}
        | {"weight": rule.weight, "delay": delay * DT, "slice": slice_steps}
        for rule, delay, trains in jobs
    ]
    answers = answers_of(cases)
    return [_case(*job, answer) for job, answer in zip(jobs, answers, strict=True)]


def _case(rule: Rule, delay: int, trains: Trains, answer: dict) -> Case:
    assert (answer["pre"], answer["post"]) == (trains.pre, trains.post), "spikes at other steps"
    assert answer["steps"] == trains.pre, "the weights of other spikes"
    return Case(
        f"{rule.name}_{delay}",
        rule.rule,
        rule.parameters,
        trains.pre,
        trains.post,
        [(step, 1.0 / rule.parameters["tau_n"]) for step in trains.rewards],
        DT,
        delay,
        rule.weight,
        np.array(answer["weights"]),
        STEPS,
    )


def names() -> list[str]:
    """The names of the cases of `nest_cases`, without running NEST."""
    return [f"{rule.name}_{delay}" for rule in RULES for delay in DELAYS]


@cache
def nest_cases() -> dict[str, Case]:
    """By name: every rule with every delay; runs NEST once."""
    jobs = [
        (rule, delay, random_trains(delay, rule.rule == "reward_modulated"))
        for rule in RULES
        for delay in DELAYS
    ]
    return {case.name: case for case in in_nest(jobs)}


class VoltageCase(NamedTuple):
    """A synapse that follows the voltage: by step, from step 0, as NEST has them at its end."""

    name: str
    parameters: dict
    pre: list[int]
    v: np.ndarray
    u_plus: np.ndarray  # low-passed, and delayed by `BARS_LATE` steps
    u_minus: np.ndarray
    dt: float
    delay: int
    weight: float
    weights: np.ndarray
    last: int


BARS_LATE = 50  # steps: NEST's delay_u_bars of 5 ms


@cache
def nest_clopath_cases() -> dict[str, VoltageCase]:
    """By name: two neurons with two delays, 2 s each, pushed to spike; runs NEST once."""
    numbers = {"a_ltd": 1.4e-4, "a_ltp": 8e-5, "theta_minus": -70.6, "theta_plus": -45.3}
    neuron = {theirs: numbers[theirs.lower()] for theirs in ("A_LTD", "A_LTP")}
    neuron |= {"theta_minus": -70.6, "theta_plus": -45.3}
    neuron |= {"A_LTD_const": True, "delay_u_bars": BARS_LATE * DT}
    bounds = {"Wmin": 0.0, "Wmax": 1.2, "tau_x": 15.0}
    numbers |= {"w_min": 0.0, "w_max": 1.2, "tau_x": 15.0}
    rng = np.random.default_rng(3)
    # No spike before the delayed values arrive: until then NEST takes them for 0 mV.
    pre, post = (np.unique(rng.integers(100, 19_900, n)).tolist() for n in (220, 80))
    given = {"model": "clopath_synapse", "synapse": bounds, "neuron": neuron, "weight": 1.0}
    jobs = [
        (model, delay, {**given, "driven": model, "push": push, "pre": pre, "post": post})
        for model, push in (("aeif_psc_delta_clopath", 30.0), ("hh_psc_alpha_clopath", 2000.0))
        for delay in (10, 37)
    ]
    answers = answers_of([{**job, "delay": delay * DT} for _, delay, job in jobs], 2000.0)
    out = {}
    for (model, delay, _), got in zip(jobs, answers, strict=True):
        assert got["steps"] == pre, "the weights of other spikes"
        # From step 0; nothing is above a threshold before the first value.
        late = {"v": 0, "u_plus": BARS_LATE, "u_minus": BARS_LATE}
        series = [np.r_[np.full(got["first"] + k, -1e3), got[name]] for name, k in late.items()]
        more = (DT, delay, 1.0, np.array(got["weights"]), 19_999)
        name = f"{model}_{delay}"
        out[name] = VoltageCase(name, numbers, pre, *(x[:20_000] for x in series), *more)
    return out
