"""The Pallas kernel of `learn`: interpreted against the reference, and lowered for CUDA."""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._build.plastic import post_step
from jaxneuro._fields import Parameter, param
from jaxneuro._kernels import gpu_learn as gpu
from jaxneuro._kernels import gpu_program as gpu_atomic
from jaxneuro._kernels.call import batched
from jaxneuro._kernels.clock import Clock
from jaxneuro._kernels.gpu_program import ProgramGrid
from jaxneuro._kernels.learn import _CHANGED, _RANKS, learn, unpacked
from jaxneuro._kernels.learn_reference import learn_reference
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._kernels.table import HAS_DELAYS, HAS_TAGS
from jaxneuro._model import Plasticity, Trace
from jaxneuro._numerics.grid import on_grid
from jaxneuro.neurons import LIF
from tests.kernels.learning import DT, case_of, inputs_of, run
from tests.kernels.test_gpu import KERNEL, for_cuda, moved

rules = jn.plasticity
PAIR = rules.PairSTDP(w_max=1.0, rate=0.1)
CENTRED = rules.PairSTDP(w_max=1.0, rate=0.1, pairing="presynaptic_centred")
# Far from its bounds: the reference brings a weight within them in every step, `learn` (on a CPU,
# too) only where it visits it, and these weights move between visits.
REWARD = rules.RewardModulatedSTDP(w_min=-1e4, w_max=1e4, a_plus=0.1, a_minus=0.1)
POWER = rules.PowerLawSTDP()


class EveryPhase(Plasticity):
    """Something of everything that a phase can read and change."""

    rate: Parameter = param(0.1)

    def pre_traces(self):
        return {"x": Trace(20.0), "last": Trace(5.0, nearest=True)}

    def post_traces(self):
        return {"y": Trace(20.0), "z": Trace(5.0)}

    def variables(self):
        return {"c": 0.5, "seen": 0.0}

    def bounds(self):
        return -2.0, 2.0

    def on_pre(self, synapse, pre, post):
        return {"weight": synapse.weight - self.rate * pre.released * post.y, "seen": 1.0}

    def on_post(self, synapse, pre, post):
        grown = self.rate * pre.last * (1.0 + pre.arriving) * jnp.where(post.z > 0.5, 1.0, 0.0)
        return {"c": synapse.c + self.rate * pre.x, "weight": synapse.weight + grown}

    def on_tick(self, synapse, pre, post):
        return {"weight": 0.9 * synapse.weight + self.rate * synapse.c * post.z, "seen": 0.0}

    def between(self, synapse, elapsed, start, stop):
        return {"c": synapse.c * jnp.exp(-elapsed / 30.0)}


def interpreted(*args):
    return gpu.learn_pallas(*args, grid=ProgramGrid(rows=4, lanes=8, segments=2), interpret=True)


ONE_DELAY = {"delays": 3}
SHIFTED = {"place": 4}
BLOCKS = {"n_targets": 70_000, "n_sources": 2, "synapses": 40, "delays": 2}
TAGGED = {"n_targets": 70_000, "n_sources": 3, "synapses": 40}
CASES = {
    "variable and lapses": (CENTRED, ONE_DELAY, {"values": True}),
    "reward": (REWARD, SHIFTED, {}),
    "every phase": (EveryPhase(), {"post": ("y", "z")}, {"ticks": 7, "values": True}),
    "two blocks": (POWER, BLOCKS, {"steps": 12, "frozen": 2}),
    "tags, own delays": (PAIR, TAGGED, {"steps": 12, "frozen": 2}),
}


def close(got, want):
    """Equal up to the rounding of a decay that visits cut into more pieces."""
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


def setting(name):
    rule, layout, given = CASES[name]
    case = case_of(rule, **layout)
    return case, inputs_of(case, **given)


@pytest.mark.slow(but=["every phase"])
@pytest.mark.parametrize("name", CASES)
def test_a_run_equals_the_reference(name):
    # Rows wait for up to 25 steps with several events of each target; then weights are frozen.
    case, inputs = setting(name)
    arrived, (ring, synapses, _) = run(interpreted, case, inputs)
    want, (ring_want, synapses_want, _) = run(learn_reference, case, inputs)
    close((arrived, ring, synapses), (want, ring_want, synapses_want))
    assert np.asarray(arrived).any()
    assert np.std(np.asarray(synapses.weights) - case.weights) > 0.01
    assert np.isfinite(np.asarray(synapses.weights)).all()


def test_the_tables_are_of_every_kind():
    flags = {name: int(np.asarray(setting(name)[0].table.sections)[0, 4]) for name in CASES}
    blocks = {name: setting(name)[0].table.block_offset.shape[0] for name in CASES}
    assert flags["every phase"] & HAS_DELAYS
    assert not flags["every phase"] & HAS_TAGS
    assert not flags["variable and lapses"] & HAS_DELAYS
    assert flags["tags, own delays"] & HAS_TAGS
    assert flags["tags, own delays"] & HAS_DELAYS
    assert not flags["two blocks"] & (HAS_TAGS | HAS_DELAYS)
    assert blocks["two blocks"] == blocks["tags, own delays"] == 2


@functools.cache
def late():
    """Inputs for which every row has waited for another time, up to 25 steps."""
    case, inputs = setting("variable and lapses")
    _, (ring, synapses, learn_inputs) = run(learn_reference, case, inputs)
    ring, synapses, learn_inputs = jax.tree.map(np.asarray, (ring, synapses, learn_inputs))
    rng = np.random.default_rng(3)
    before = (learn_inputs.step - rng.integers(1, 26, case.n_sources)).astype(np.int32)
    now = {"tick": np.bool_(False), "learning": np.int32(1)}
    learn_inputs = learn_inputs._replace(limit=np.int32(learn_inputs.step - 15), **now)
    return case, ring, synapses._replace(row_time=before), learn_inputs


@functools.cache
def step_of(version, synapses):
    """One step of a version; `synapses` how many, 0 for an empty table."""
    case = late()[0] if synapses else case_of(CENTRED, synapses=0, **ONE_DELAY)
    return jax.jit(lambda *x: version(*x, case.table, case.programs, True))


def stepped(version, *operands):
    return jax.tree.map(np.asarray, step_of(version, operands[1].weights.size)(*operands))


@pytest.mark.slow
def test_rows_that_are_not_visited_stay_as_they_were():
    case, ring, old, learn_inputs = late()
    ring_got, got = stepped(interpreted, ring, old, learn_inputs)
    ring_want, want = stepped(learn_reference, ring, old, learn_inputs)
    event = np.unpackbits(learn_inputs.released.bits, bitorder="little")[: case.n_sources] > 0
    visited = event | (old.row_time < learn_inputs.limit)
    assert visited.any()
    assert not visited.all()
    pointers = np.asarray(case.table.pointers)
    mine = np.repeat(visited, np.diff(pointers))
    close(ring_got, ring_want)
    np.testing.assert_array_equal(got.row_time, np.where(visited, learn_inputs.step, old.row_time))
    close(got.weights[mine], want.weights[mine])
    close(got.variables[:, mine], want.variables[:, mine])
    np.testing.assert_array_equal(got.weights[~mine], old.weights[~mine])
    np.testing.assert_array_equal(got.variables[:, ~mine], old.variables[:, ~mine])


@pytest.mark.slow
def test_frozen_weights_are_delivered_and_kept():
    _, ring, old, learn_inputs = late()
    learn_inputs = learn_inputs._replace(tick=np.bool_(False), learning=np.int32(0))
    ring_got, got = stepped(interpreted, ring, old, learn_inputs)
    ring_want, _ = stepped(learn_reference, ring, old, learn_inputs)
    close(ring_got, ring_want)
    assert ring_got.any()
    np.testing.assert_array_equal(got.weights, old.weights)
    np.testing.assert_array_equal(got.variables, old.variables)


def over_axes(version, case):
    """A version of `learn` that takes batches as `learn` does."""

    def one(*operands):
        *arrays, table = operands
        ring, synapses = version(*unpacked(arrays), table, case.programs, True)
        return (ring, *synapses)

    call = batched(one, _RANKS, "", in_place=_CHANGED)

    def run(ring, synapses, learn_inputs):
        released, log = learn_inputs.released.operands(ring.dtype), learn_inputs.log
        flat = (
            *released,
            *Clock.of(learn_inputs.step),
            *learn_inputs[2:8],
            log.head,
            log.events,
            log.numbers,
            learn_inputs.shared,
        )
        return call(ring, *synapses, *flat, case.table)

    return run


@pytest.mark.slow
def test_a_nested_batch_is_its_networks_one_by_one():
    case, ring, old, learn_inputs = late()
    weights = old.weights * np.array([0.5, 1.0], np.float32)[:, None]
    scale = learn_inputs.scale * np.array([1.0, 2.0, 3.0], np.float32)[:, None]
    step = learn_inputs.step + np.array([0, 1, 2], np.int32)

    def one(weights, scale, step, version):
        now = learn_inputs._replace(scale=scale, step=step)
        return over_axes(version, case)(ring, old._replace(weights=weights), now)

    def nested(version):
        inner = jax.vmap(functools.partial(one, version=version), (None, 0, 0))
        return jax.jit(jax.vmap(inner, (0, None, None)))

    got = nested(interpreted)(weights, scale, step)
    for i, k in np.ndindex(2, 3):
        now = learn_inputs._replace(scale=scale[k], step=step[k])
        single = stepped(interpreted, ring, old._replace(weights=weights[i]), now)
        for x, y in zip(got, (single[0], *single[1])):
            np.testing.assert_allclose(x[i, k], y, rtol=0, atol=1e-6)


def test_a_table_without_synapses_only_clears():
    case, _, old, learn_inputs = late()
    empty = case_of(CENTRED, synapses=0, **ONE_DELAY)
    ring = np.ones((4, case.n_targets), np.float32)
    none = old._replace(weights=empty.weights, variables=old.variables[:, :0])
    got, _ = stepped(interpreted, ring, none, learn_inputs)
    assert not got[learn_inputs.step % 4].any()
    assert got.sum() == 3 * case.n_targets


def lowered(case=None, values=False):
    chosen, ring, synapses, learn_inputs = late()
    case = chosen if case is None else case
    if not values:
        learn_inputs = learn_inputs._replace(released=SpikeOutput(learn_inputs.released.bits))
    names = case.programs.names
    synapses = synapses._replace(
        weights=case.weights,
        variables=np.zeros((len(names.variables), *case.weights.shape), np.float32),
        row_traces=np.zeros((len(names.traces), case.n_sources), np.float32),
    )
    learn_inputs = learn_inputs._replace(
        numbers=np.asarray(case.programs.numbers(case.rule)),
        post=np.zeros((case.slots, len(names.ring), case.n_targets), np.float32),
        shared=np.zeros((1, len(names.shared)), np.float32),
        log=learn_inputs.log._replace(
            numbers=np.zeros((len(names.log), learn_inputs.log.capacity), np.float32)
        ),
    )
    call = lambda *x: learn(*x[:3], x[3], case.programs, True)  # noqa: E731
    return for_cuda(call, ring, synapses, learn_inputs, case.table)


@pytest.mark.parametrize("values", [True, False], ids=["values", "spikes"])
def test_learn_lowers_for_cuda_to_two_kernels(values, caplog):
    assert lowered(values=values).count(KERNEL) == 2
    assert not caplog.messages


# Those whose operations differ most.
SOME_RULES = [
    *(REWARD, POWER, EveryPhase(), rules.DiehlCookSTDP(), rules.ClopathSTDP(), rules.BCM(0.1, 1.0)),
    rules.HomeostaticScaling(rules.TripletSTDP(), 5.0),
]


@pytest.mark.slow(but=["BCM"])
@pytest.mark.parametrize("rule", SOME_RULES, ids=lambda rule: type(rule).__name__)
def test_a_rule_lowers_for_cuda_to_two_kernels(rule, caplog):
    rule = on_grid("a rule", rule, DT)
    numbers = tuple(post_step(rule, LIF(), "a rule", DT, np.float32)[0])
    assert lowered(case_of(rule, post=numbers)).count(KERNEL) == 2
    assert not caplog.messages


class Rounding(Plasticity):
    """Triton's lowering does not know `round`."""

    def on_pre(self, synapse, pre, post):
        return {"weight": jnp.round(synapse.weight)}


def assert_reference(text, caplog, why):
    assert KERNEL not in text
    (line,) = caplog.messages
    assert "slower reference runs instead" in line
    assert why in line


def test_a_rule_that_triton_does_not_know_runs_the_reference_and_says_so(caplog):
    assert_reference(lowered(case_of(Rounding(), post=())), caplog, "round")


def test_a_card_that_jax_refuses_runs_the_reference_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr(gpu, "learn_pallas", moved)
    assert_reference(lowered(), caplog, "no such thing here")


def test_without_the_relaxed_add_jax_adds(monkeypatch, caplog):
    caplog.set_level("INFO", "jaxneuro")
    monkeypatch.setattr(gpu_atomic, "_relax", moved)  # called while the kernel is lowered
    assert lowered().count(KERNEL) == 2
    (line,) = caplog.messages
    assert "memory order" in line


def test_a_cpu_never_meets_the_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxneuro._kernels.gpu_learn", None)  # cannot be imported
    _, ring, old, learn_inputs = late()
    got, _ = stepped(learn, ring, old, learn_inputs)
    want, _ = stepped(learn_reference, ring, old, learn_inputs)
    close(got, want)


@pytest.mark.slow
def test_a_plastic_network_lowers_for_cuda_to_kernels(caplog):
    lif = jn.neurons.LIF()
    populations = [jn.Population(name, n, lif) for name, n in (("A", 20), ("B", 30))]
    rule = rules.Normalized(PAIR, 10.0)  # sums over synapses, and factors
    wire = jn.Projection(
        *("A", "B", jn.connectivity.FixedProbability(0.3)),
        **{"weight": 0.5, "delay": 1.0, "synapse": jn.synapses.Exponential(), "plasticity": rule},
    )
    net = jn.build(jn.Description(populations, [wire]), key=0, dt=0.1)
    text = for_cuda(lambda net, state: jn.scan(net, state, 5), net, net.init(0))
    assert (len(net.pathways), len(net.groups)) == (1, 1)
    assert text.count(KERNEL) == 4  # targets, synapses, rows, group
    assert "jaxneuro_" not in text
    assert not caplog.messages
