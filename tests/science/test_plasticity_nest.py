"""The oracle of plasticity against NEST 3.10: the weight at each of 300 presynaptic spikes.

The trains have 20 pairs that arrive at the synapse in one step. There NEST does what the oracle
does: the postsynaptic event acts first, and neither sees the other. Every rule agrees: at each
spike to 1e-12 of the start weight and to 1e-9 relative (the latter where additive steps leave next
to nothing of the weight; elsewhere it is 1e-13). What differs, and why, by the experiments below:

* `stdp_nn_symm_synapse` and `stdp_nn_restr_synapse` take the start of the run for a presynaptic
  spike: a postsynaptic spike before the first presynaptic one raises the weight. `t_lastspike` is 0
  and those two have no trace that would say that there was none. The oracle with a spike in step 0
  agrees. In the other tests the first arrival is a presynaptic one.
* `vogels_sprekeler_synapse` cuts the weight at Wmax between the two halves of a presynaptic event,
  so that at the bound it ends alpha eta below; the oracle cuts the sum.
* `stdp_dopamine_synapse` is exact if NEST goes forward one step at a time. Otherwise all synapses
  are brought to the end of the slice (the shortest delay in the network) before the presynaptic
  spikes of the slice are seen, and each is then taken back to its spike as if nothing had happened
  in between: rewards and postsynaptic arrivals between a presynaptic spike and the end of its slice
  act wrongly. With slices of 1 ms that is up to about 10 % of the weight here; without such events
  it agrees again.
* `stdp_dopamine_synapse` brings the weight into its bounds at every reward and in every slice, the
  oracle at arrivals of spikes: a weight at a bound leaves it at another time. The oracle agrees if
  it is cut in every step.
* `clopath_synapse` agrees where it is given NEST's own low-passed voltages, `delay_u_bars` later
  (the neuron integrates them together with its voltage, within a step). For that long from the
  start of the run NEST takes them for 0 mV, far above the threshold: no spike here is so early.
"""

import numpy as np
import pytest

from tests.oracle import plasticity as oracle

from . import plasticity_cases as given

pytestmark = pytest.mark.science
EXACT = (1e-9, 1e-12)  # relative, and of the start weight


def by_oracle(case, pre=None, **more):
    """The weights at all presynaptic spikes of `pre` (those of the case)."""
    pre = case.pre if pre is None else pre
    spikes = oracle.Spikes(pre, case.post, 0, case.delay, case.dt, case.last)
    more |= {"rewards": case.rewards} if case.rewards else {}
    delivered, _ = getattr(oracle, case.rule)(spikes, case.weight, **case.parameters, **more)
    assert [step for step, _ in delivered] == pre
    return np.array([w for _, w in delivered])


def off(case, weights):
    """The greatest relative difference, and the greatest of the start weight; prints both."""
    away = np.abs(weights - case.weights)
    scale = np.maximum(np.abs(case.weights), 1e-300)
    relative, of_start = np.max(away / scale), np.max(away) / case.weight
    print(
        f"{case.name}: {len(case.pre)} presynaptic spikes, weights {case.weights.min():g} "
        f"to {case.weights.max():g}, off {relative:.1e} relative, {of_start:.1e} of the start"
    )
    return relative, of_start


def agree(case, weights):
    return all(x < most for x, most in zip(off(case, weights), EXACT))


@pytest.mark.parametrize("name", given.names())
def test_the_weight_at_every_presynaptic_spike(name):
    case = given.nest_cases()[name]
    assert len(case.pre) >= 200
    assert len(case.post) >= 200
    assert len({*case.pre} & {step + case.delay for step in case.post}) >= 20
    assert np.ptp(case.weights) > 0.01 * case.weight, "the weight hardly moved"
    assert agree(case, by_oracle(case))


@pytest.mark.parametrize("delay", given.DELAYS)
def test_both_bounds_are_met(delay):
    case = given.nest_cases()[f"pair_at_bounds_{delay}"]
    assert case.weights.min() == 0.0
    # The same steps below twice the bound: what NEST gives is not that.
    wider = {**case.parameters, "w_max": 2 * case.parameters["w_max"]}
    wider["rate"] = case.parameters["rate"] / 2
    assert by_oracle(case._replace(parameters=wider)).max() > case.parameters["w_max"]
    assert case.weights.max() < case.parameters["w_max"]


def test_two_of_the_nearest_rules_take_the_start_for_a_presynaptic_spike():
    """Postsynaptic spikes first: what they differ by is gone with a presynaptic one in step 0."""
    trains = given.Trains([300, 900, 1500], [100, 150, 700, 1450], [])
    for case in given.in_nest([(rule, 15, trains) for rule in (given.SYMMETRIC, given.RESTRICTED)]):
        assert off(case, by_oracle(case))[0] > 1e-3
        assert agree(case, by_oracle(case, [0, *case.pre])[1:])


def test_vogels_at_the_upper_bound_is_cut_in_the_middle_of_an_event():
    rule = given.vogels("vogels_at_bound", eta=0.02, w_max=0.6)
    (case,) = given.in_nest([(rule, 15, given.random_trains(15))])
    step = rule.parameters["alpha"] * rule.parameters["eta"]
    ours = by_oracle(case)
    assert off(case, ours)[0] > 1e-3
    at_bound = ours == 0.6
    assert at_bound.sum() > 5
    assert np.all(case.weights <= 0.6 - step + 1e-12)
    assert np.abs(ours - case.weights).max() < step + 1e-12


def without_what_follows(trains, delay, slice_steps):
    """No reward and no postsynaptic arrival between a presynaptic spike and its slice's end."""
    behind = {
        later
        for step in trains.pre
        for later in range(step + 1, -(-step // slice_steps) * slice_steps + 1)
    }
    post = [step for step in trains.post if step + delay not in behind]
    return given.Trains(trains.pre, post, [step for step in trains.rewards if step not in behind])


@pytest.mark.parametrize("delay", given.DELAYS)
def test_dopamine_in_slices_of_ten_steps(delay):
    trains = given.random_trains(delay, rewarded=True)
    quiet = without_what_follows(trains, delay, 10)
    assert len(quiet.post) > 200
    jobs = [(given.dopamine("slices_of_ten"), delay, t) for t in (trains, quiet)]
    inexact, exact = given.in_nest(jobs, slice_steps=10)
    assert 1e-3 < off(inexact, by_oracle(inexact))[0] < 0.2
    assert agree(exact, by_oracle(exact))


def test_dopamine_at_a_bound_is_cut_in_every_step():
    rule = given.dopamine("dopamine_at_bound", weight=5.0, a_minus=1.5)
    trains = given.Trains(*([s for s in t if s < 30_000] for t in given.random_trains(15, True)))
    (case,) = given.in_nest([(rule, 15, trains)])
    assert case.weights.min() == 0.0
    assert off(case, by_oracle(case))[0] > 1e-3
    assert agree(case, by_oracle(case, cuts=range(30_000)))


def test_clopath_given_the_voltages():
    for case in given.nest_clopath_cases().values():
        spikes = oracle.Spikes(case.pre, [], 0, case.delay, case.dt, case.last)
        voltages = (case.v, case.u_plus, case.u_minus)
        delivered, _ = oracle.clopath(spikes, case.weight, *voltages, **case.parameters)
        assert [step for step, _ in delivered] == case.pre
        assert np.ptp(case.weights) > 0.05
        assert agree(case, np.array([w for _, w in delivered]))
