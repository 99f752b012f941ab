"""`learn`: the native kernel equals the reference, for every layout of a table."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels import event_log
from jaxneuro._kernels.bits import pack
from jaxneuro._kernels.event_log import LONG_AGO, empty_log, log_events
from jaxneuro._kernels.learn import LearnInputs, PlasticSynapses, learn
from jaxneuro._kernels.learn_reference import learn_reference
from jaxneuro._kernels.native import native_available, native_library
from jaxneuro._kernels.rule_programs import check_rule
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._kernels.table import HAS_DELAYS, HAS_TAGS, Section
from jaxneuro._tables.bundles import ListedBundle, Placement
from jaxneuro._tables.lay_out import lay_out

pytestmark = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
STEPS, DT = 40, 0.1
FAR = 70_000  # targets: more than one block
# Sources, targets, synapses, delays [steps] (None: each its own), flags that the layout must have.
LAYOUTS = {
    "one delay": (12, 15, 150, 3, 0),
    "own delays": (12, 15, 150, None, HAS_DELAYS),
    "two blocks": (4, FAR, 200, 3, 0),
    "two blocks, own delays": (4, FAR, 200, None, HAS_DELAYS),
    "tags": (30, FAR, 200, 3, HAS_TAGS),
    "tags, own delays": (30, FAR, 200, None, HAS_TAGS | HAS_DELAYS),
    "long rows": (3, 40, 1500, None, HAS_DELAYS),
    "ranges": (4, 9000, 20_000, None, HAS_DELAYS),
    "nobody": (3, 5, 0, 3, 0),
}
RULES = {
    "pair": lambda: jn.plasticity.PairSTDP(0.05, mu_plus=0.4, mu_minus=0.8, w_max=1.0),
    "reward": lambda: jn.plasticity.RewardModulatedSTDP(w_max=1.0, tau_c=100.0),
}


class Setting:
    """A table with everything that a run of `learn` needs."""

    def __init__(self, layout, rule):
        self.n_pre, self.n_post, size, delay, flags = LAYOUTS[layout]
        rng = np.random.default_rng(len(layout))
        self.rng, self.rule = rng, RULES[rule]()
        # Half of the targets are the same few, so that most events concern a synapse.
        post = np.where(
            rng.random(size) < 0.5, rng.integers(0, 5, size), rng.integers(0, self.n_post, size)
        )
        bundle = ListedBundle(
            rng.integers(0, self.n_pre, size),
            post,
            self.n_pre,
            self.n_post,
            weights=rng.uniform(0.2, 0.8, size),
            delays=rng.integers(1, 9, size) if delay is None else delay,
        )
        self.table, self.weights, self.longest = lay_out([Placement(bundle, 0)], self.n_post)
        if size:
            found = Section.read(np.asarray(self.table.sections)[0])
            assert found.flags & flags == flags
        names = ("y",)
        self.programs = check_rule(self.rule, "a rule", names, DT, jnp.float32)
        hot = np.zeros(self.n_post)
        hot[:5] = 0.3
        hot[5:] = 0.01
        self.pre = rng.random((STEPS, self.n_pre)) < 0.1
        self.post = rng.random((STEPS, self.n_post)) < hot

    def start(self):
        names, n = self.programs.names, self.weights.shape[0]
        synapses = PlasticSynapses(
            self.weights,
            jnp.zeros((len(names.variables), n)),
            jnp.full(self.n_pre, -1, jnp.int32),
            jnp.zeros((len(names.traces), self.n_pre)),
        )
        slots = self.longest + 1
        log = empty_log(self.n_post, slots, len(names.log), np.float32)
        ring = jnp.zeros((slots, self.n_post))
        shared = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), self.rule.init_shared())
        values = jnp.stack([*shared.values()]) if shared else jnp.zeros(0)
        kept = jnp.tile(values[None], (64, 1))
        return (
            ring,
            synapses,
            log,
            jnp.zeros((slots, 1, self.n_post)),
            self.rule.init_post(self.n_post),
            shared,
            kept,
        )

    def run(self, version):
        """Rings and synapses at the end, and all that arrived."""

        def step(carry, now):
            ring, synapses, log, y_ring, y, shared, kept, k = carry
            spikes, fired = now
            before, events, y = self.rule.step_post(y, fired, None, DT)
            y_ring = y_ring.at[k % y_ring.shape[0], 0].set(before["y"])
            nothing = jnp.zeros((0, self.n_post))
            new, limit = log_events(log, events, nothing, k, self.longest)
            shared = self.rule.step_shared(shared, {"reward": jnp.where(k % 7 == 0, 0.1, 0.0)}, DT)
            shared = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), shared)
            if shared:
                kept = kept.at[k % 64].set(jnp.stack([*shared.values()]))
            limit = jnp.where(k == STEPS - 1, 2**31 - 1, limit).astype(jnp.int32)
            learn_inputs = LearnInputs(
                *(SpikeOutput(pack(spikes)), k, limit, jnp.bool_(False), jnp.int32(1)),
                jnp.ones(self.table.block_projection.shape),
                *(self.programs.numbers(self.rule), y_ring, new, kept),
            )
            arrived = ring[k % ring.shape[0]]
            ring, synapses = version(ring, synapses, learn_inputs, self.table, self.programs, True)
            return (ring, synapses, new, y_ring, y, shared, kept, k + 1), arrived

        carry = (*self.start(), jnp.int32(0))
        carry, arrived = jax.lax.scan(step, carry, (self.pre, self.post))
        return carry[0], carry[1], arrived


@pytest.mark.slow(but=["one delay"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_native_equals_the_reference(layout):
    setting = Setting(layout, "pair")
    versions = (learn, learn_reference)
    got, want = (jax.jit(functools.partial(setting.run, v))() for v in versions)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    if setting.weights.size:
        assert np.abs(got[1].weights - setting.weights).max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["own delays", "tags, own delays"])
def test_variables_and_shared_numbers(layout):
    setting = Setting(layout, "reward")
    versions = (learn, learn_reference)
    got, want = (jax.jit(functools.partial(setting.run, v))() for v in versions)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        np.testing.assert_allclose(a, b, rtol=5e-5, atol=2e-6)
    assert np.abs(np.asarray(got[1].variables)).max() > 0.1


def test_events_are_logged_as_the_reference_does(monkeypatch):
    rng = np.random.default_rng(0)
    events = rng.random((30, 21)) < 0.6
    numbers = rng.normal(size=(30, 2, 21)).astype(np.float32)

    def run():
        log = empty_log(21, 4, 2, np.float32)
        one = lambda log, x: log_events(log, *x, 3)  # noqa: E731
        return jax.lax.scan(one, log, (events, numbers, jnp.arange(30, dtype=jnp.int32)))

    native = jax.jit(run)()
    with monkeypatch.context() as patch:
        patch.setattr(event_log, "native_available", lambda: False)
        patch.setattr("jaxneuro._kernels.call.native_available", lambda: False)
        reference = jax.jit(lambda: run())()
    assert native_library() is not None
    jax.tree.map(np.testing.assert_array_equal, native, reference)
    log, limits = native
    assert int(log.count) > log.capacity, "it went round"
    assert np.sum(limits > LONG_AGO) >= 2, "it filled its halves"
