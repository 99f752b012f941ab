"""Rules of users that are not what a rule should be: `build` says which method, and why."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

P = jn.plasticity
TRACES = {"pre_traces": lambda self: {"x": jn.Trace(20.0)}}
KEY = jax.random.key(0)
SUMS = {"intervals": lambda self: (None, 0.5)}


def built(rule, target=None, source=None, **more):
    values = {"weight": 0.5, "delay": 1.0, "synapse": jn.synapses.Exponential(5.0), **more}
    p = jn.Projection("in", "out", jn.connectivity.AllToAll(), plasticity=rule, **values)
    source = source or jn.neurons.PoissonSource(200.0)
    cells = [jn.Population("in", 20, source), jn.Population("out", 5, target or jn.neurons.LIF())]
    return jn.build(jn.Description(cells, [p]), key=1, dt=0.1)


def own(**methods):
    """A rule with some methods, which lowers weights at a spike."""
    methods = {"on_pre": lambda self, s, pre, post: {"weight": 0.9 * s.weight}} | methods
    return type("Own", (jn.Plasticity,), methods)()


def scaled(factors):
    return own(**SUMS, factors=factors)


LINK = "projection 'in->out'"
REFUSED = {
    "three of five": (scaled(lambda *a: jnp.array([1.0, 0.5, 0.25])), "factors", "float32[3]"),
    "one": (scaled(lambda *a: jnp.ones(1)), "factors", "float32[1]"),
    "truths": (scaled(lambda self, total, *a: total > 1), "factors", "bool[1009]"),
    "a wrong call": (scaled(lambda self, total, *a: total.size(3)), "factors", "TypeError"),
    "if": (
        own(on_pre=lambda self, s, *a: {"weight": s.weight if s.weight > 0.5 else 0.0}),
        *("on_pre", "truth value of an array"),
    ),
    "numpy": (
        own(on_pre=lambda self, s, *a: {"weight": np.clip(np.asarray(s.weight), 0, 1)}),
        *("on_pre", "TracerArrayConversionError"),
    ),
    "undeclared": (own(on_pre=lambda self, s, pre, post: {"weight": pre.x}), "on_pre", "'x'"),
    "between": (own(between=lambda *a: 1 + "a"), "between", "TypeError"),
    "list of traces": (
        own(pre_traces=lambda self: [jn.Trace(20.0)]),
        *("pre_traces", "[Trace(tau=20.0"),
    ),
    "a number": (own(post_traces=lambda self: {"y": 20.0}), "post_traces", "20.0 at ['y']"),
    "a text": (own(pre_traces=lambda self: {"x": jn.Trace("20")}), "pre_traces", "Trace(tau='20'"),
    "variables": (own(variables=lambda self: ["c"]), "variables", "['c']"),
    "a variable": (own(variables=lambda self: {"c": "0"}), "variables", "'0' at ['c']"),
    "intervals": (own(intervals=lambda self: 5), "intervals", "5"),
    "off the grid": (
        own(intervals=lambda self: (None, 0.25), factors=lambda *a: 0.5),
        *("intervals", "0.25 ms, between 0.2 and 0.3 ms"),
    ),
    "an interval that is a leaf": (
        own(intervals=lambda self: (jnp.asarray(0.5), None), on_tick=lambda *a: {}),
        *("intervals", "Array(0.5"),
    ),
    "bounds": (own(bounds=lambda self: 1.0), "bounds", "1.0"),
    "backwards": (own(bounds=lambda self: (1.0, 0.0)), "bounds", "(1.0, 0.0)"),
    "step_post": (own(step_post=lambda *a: a[1]), "step_post", "{}"),
    "numbers": (
        own(step_post=lambda self, s, z, v, dt: ({"y": jnp.zeros(2)}, z, s)),
        *("step_post", "{'y': float32[2]}"),
    ),
    "events": (
        own(step_post=lambda self, s, z, v, dt: ({"y": v}, v, s)),
        *("step_post", "float32[1009]"),
    ),
    "whole": (
        own(
            init_post=lambda self, n: {"y": jnp.zeros(n, int)},
            step_post=lambda self, s, z, v, dt: (s, z, {"y": v}),
        ),
        *("step_post", "float32 after it"),
    ),
    "drawn weights": (
        own(on_pre=lambda self, s, *a: {"weight": s.weight + np.random.random()}),
        *("on_pre", "draws from np.random"),
    ),
    "a key": (
        own(on_post=lambda self, s, *a: {"weight": s.weight * jax.random.uniform(KEY)}),
        *("on_post", "numbers of a key that never changes"),
    ),
    "drawn between": (
        own(between=lambda self, s, *a: {"weight": s.weight * np.random.random()}),
        *("between", "draws from np.random"),
    ),
    "drawn numbers": (
        own(step_post=lambda self, s, z, v, dt: ({"y": v + np.random.random()}, z, s)),
        *("step_post", "draws from np.random"),
    ),
    "drawn factors": (scaled(lambda *a: np.random.random()), "factors", "draws from np.random"),
    "shared": (
        own(init_shared=lambda self: {"c": jnp.zeros(3)}),
        *("init_shared", "{'c': float32[3]}"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    rule, method, got = REFUSED[case]
    weight = jn.Uniform(0.1, 0.9)
    assert_refused(lambda: built(rule, weight=weight), f"Own ({LINK})", method, got)


def test_one_factor_for_all_targets():
    net = built(own(**SUMS, on_pre=lambda *a: {}, factors=lambda *a: 0.5))
    weights = net.weights(jn.simulate(net, 1.0, progress=False).state, "in->out")
    assert weights.shape == (100,)
    np.testing.assert_array_equal(weights, 0.25)


SILENT, GRADED = jn.neurons.LeakyIntegrator(), {"release": jn.release.Graded()}
RATES = {
    "Hebb": P.Hebb(eta=0.1, activity="rate", w_max=10.0),
    "Oja": P.Oja(0.1, activity="rate"),
    "BCM": P.BCM(0.1, 2.0, activity="rate"),
    "inside": P.Normalized(P.Oja(0.1, activity="rate"), total=10.0),
}


@pytest.mark.parametrize("rule", RATES.values(), ids=RATES.keys())
def test_activities_of_neurons_that_spike(rule):
    assert_refused(lambda: built(rule), LINK, "plasticity")
    assert_refused(lambda: built(rule, SILENT), LINK, "release")
    for target in (SILENT, jn.neurons.ThresholdLinearRate()):
        built(rule, target, release=jn.release.RateRelease())
        built(rule, target, target, **GRADED)


def test_hebb_between_rate_units():
    """Rates held at 2 and 3: each step adds eta x y dt, with the rates at its end."""
    x, y = (jn.neurons.LinearRate(tau=1.0) for _ in range(2))
    direct = {"synapse": jn.synapses.Direct("input"), "delay": 0.1, **GRADED}
    p = jn.Projection(
        *("in", "out", jn.connectivity.OneToOne()),
        weight=0.0,
        plasticity=P.Hebb(eta=0.1, activity="rate", w_min=None),
        gain=0.0,
        **direct,
    )
    cells = [jn.Population("in", 2, x, {"r": 2.0}), jn.Population("out", 2, y, {"r": 3.0})]
    held = [jn.Stimulation(k, jn.stimuli.Current(a)) for k, a in (("in", 2.0), ("out", 3.0))]
    net = jn.build(jn.Description(cells, [p], held), key=1, dt=0.1)
    weights = net.weights(jn.simulate(net, 1.0, progress=False).state, "in->out")
    np.testing.assert_allclose(weights, 0.1 * 2.0 * 3.0 * 0.1 * 9, rtol=1e-5)


def test_a_change_for_a_new_weight_is_told():
    change = own(post_traces=lambda self: {"y": jn.Trace(20.0)}, on_pre=_lower)
    with pytest.warns(UserWarning, match=r"Own .*on_pre returns the new weight, .* depend") as seen:
        built(change)
    assert [w.filename for w in seen] == [__file__]


def _lower(self, synapse, pre, post):
    return {"weight": -0.01 * post.y}


def test_a_weight_that_is_kept_in_a_variable_is_not_told():
    built(
        own(
            variables=lambda self: {"w": 0.5},
            on_pre=lambda self, s, *a: {"w": 0.9 * s.w, "weight": jnp.where(s.w > 0.2, 1.0, 0.0)},
        )
    )
