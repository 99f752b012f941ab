"""Convolutions as connections: their currents and gradients are those of JAX's convolution."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.connectivity import Convolution
from tests.refusing import assert_refused

from .drawing import P, draw, set_chunk

RULES = [
    Convolution((5, 4), 3),
    Convolution((1, 1), 1, channels=(2, 3)),
    Convolution((5, 6), (3, 2), stride=2, padding=1, channels=(2, 3)),
    Convolution((7, 5), (2, 4), stride=(3, 1), padding=(0, 2), channels=(1, 2)),
    Convolution((6, 6), 2, stride=4, channels=(3, 1)),  # sources without targets
    Convolution((2, 3), 2, padding=3, channels=(2, 1)),  # targets without sources
    Convolution((1, 1), 1, stride=3, padding=1),  # no connections
]
by_rule = pytest.mark.parametrize("rule", RULES, ids=repr)


def definition(rule):
    """(source, target, kernel element) of each connection, sorted, from the definition."""
    (rows, columns), (i_all, o_all) = rule.shape, rule.channels
    out = []
    for r, c, o in np.ndindex(*rule.target_shape, o_all):
        for dr, dc, i in np.ndindex(*rule.kernel, i_all):
            row = r * rule.stride[0] - rule.padding[0] + dr
            column = c * rule.stride[1] - rule.padding[1] + dc
            if 0 <= row < rows and 0 <= column < columns:
                source = (row * columns + column) * i_all + i
                target = (r * rule.target_shape[1] + c) * o_all + o
                out.append((source, target, ((dr * rule.kernel[1] + dc) * i_all + i) * o_all + o))
    return np.array(sorted(out), int).reshape(-1, 3).T


def convolved(rule, spikes, kernel):
    """JAX's convolution of spikes (trials, sources): (trials, targets)."""
    images = spikes.reshape(-1, *rule.shape, rule.channels[0])
    padding = [(p, p) for p in rule.padding]
    dimensions = ("NHWC", "HWIO", "NHWC")
    out = jax.lax.conv_general_dilated(
        images, kernel, rule.stride, padding, dimension_numbers=dimensions
    )
    return out.reshape(len(images), -1)


def kernel_of(rule, seed=0):
    return np.random.default_rng(seed).normal(size=(*rule.kernel, *rule.channels))


def description(rule, weight, sizes=None):
    n_pre, n_post = sizes or (rule.sources, rule.targets)
    cells = [
        jn.Population("in", n_pre, jn.neurons.Relay()),
        jn.Population("out", n_post, jn.neurons.LeakyIntegrator(tau_m=20.0, c_m=20.0)),
    ]
    wire = {"delay": 1.0, "synapse": jn.synapses.Delta()}
    return jn.Description(cells, [jn.Projection("in", "out", rule, weight=weight, **wire)])


def network(*given):
    return jn.build(description(*given), key=0, dt=1.0, dtype=jnp.result_type(float))


def voltages(net, spikes):
    """The voltages (targets,) when spikes (sources,) arrive, which add their weights."""
    inputs = jnp.zeros((2, spikes.size), bool).at[0].set(spikes)
    record = jn.Record(spikes=False, variables={"out": "v"}, interval=1.0)
    return jn.scan(net, net.init(0), 2, {"in": inputs}, record)[1].traces["out"]["v"][-1]


@by_rule
def test_connections_and_elements_are_those_of_the_definition(rule, monkeypatch):
    source, target, element = definition(rule)
    for _ in range(2):
        np.testing.assert_array_equal(draw(rule, rule.sources, rule.targets), (source, target))
        np.testing.assert_array_equal(rule.element, element)
        set_chunk(monkeypatch, 7)
    assert rule.expected(rule.sources, rule.targets, False) == source.size
    kernel = kernel_of(rule)
    np.testing.assert_array_equal(rule.weights(kernel), kernel.ravel()[element])
    np.testing.assert_array_equal(rule.weights(jnp.asarray(kernel)), jnp.ravel(kernel)[element])


@by_rule
def test_the_target_shape_is_that_of_jax(rule):
    zeros = jnp.zeros((1, rule.sources))
    assert convolved(rule, zeros, jnp.zeros((*rule.kernel, *rule.channels))).size == rule.targets


def spikes_of(rule):
    return np.random.default_rng(1).random(rule.sources) < 0.5


@by_rule
def test_currents_are_the_convolution_of_the_spikes(rule, x64):
    kernel, spikes = kernel_of(rule), spikes_of(rule)
    net = network(rule, rule.weights(kernel))
    source, target, element = definition(rule)
    listed = net.connections("in->out")
    np.testing.assert_array_equal((listed.pre, listed.post), (source, target))
    np.testing.assert_array_equal(listed.weight, kernel.ravel()[element])
    want = convolved(rule, jnp.asarray(spikes, float), kernel)[0]
    np.testing.assert_allclose(voltages(net, spikes), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shaped", [False, True])
def test_the_gradient_by_the_kernel_is_that_of_jax(shaped, x64):
    rule = RULES[2]
    kernel, spikes = kernel_of(rule), spikes_of(rule)
    net = network(rule, rule.weights(kernel))
    shape = kernel.shape if shaped else None
    groups = jn.shared("weight", rule.element, shape)
    params, rebuild = jn.trainable(net, {"in->out": groups})
    start = params["in->out"]["weight"]
    np.testing.assert_array_equal(start, kernel if shaped else kernel.ravel())
    readout = np.random.default_rng(2).normal(size=rule.targets)

    @jax.jit
    @jax.grad
    def slope(params, net):
        return readout @ voltages(rebuild(params, net), spikes)

    want = jax.grad(lambda k: readout @ convolved(rule, jnp.asarray(spikes, float), k)[0])(kernel)
    got = slope(params, net)["in->out"]["weight"]
    np.testing.assert_allclose(got, want.reshape(start.shape), rtol=1e-12, atol=1e-12)
    other = jax.tree.map(lambda x: 3.0 * x - 1.0, params)
    made = rebuild(other, net).get("in->out", "weight")
    np.testing.assert_allclose(made, rule.weights(3.0 * kernel - 1.0), rtol=1e-12)


@pytest.mark.parametrize("format", ["json", "toml"])
def test_a_network_file_holds_the_rule_and_its_weights(format):
    rule = RULES[3]
    described = description(rule, rule.weights(kernel_of(rule)))
    back = jn.io.parse_description(jn.io.format_description(described, format), format)
    assert repr(back.projections[0].rule) == repr(rule)
    listed, want = (jn.build(x, key=0, dt=1.0).connections("in->out") for x in (back, described))
    for field in ("pre", "post", "weight"):
        np.testing.assert_array_equal(getattr(listed, field), getattr(want, field))


BAD = {
    "one number": ({"shape": 4}, "shape", "4"),
    "three numbers": ({"kernel": (1, 2, 3)}, "kernel", "(1, 2, 3)"),
    "no whole number": ({"kernel": 1.5}, "kernel", "1.5"),
    "too large": ({"kernel": (3, 5)}, "kernel", "(3, 5)"),
    "no stride": ({"stride": 0}, "stride", "0"),
    "negative": ({"padding": (0, -1)}, "padding", "-1"),
    "one channel": ({"channels": 2}, "channels", "2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_fields_are_refused(case):
    fields, field, got = BAD[case]
    fields = {"shape": (4, 4), "kernel": 2, **fields}
    assert_refused(lambda: Convolution(**fields), "Convolution", field, got)


def test_other_sizes_and_kernels_are_refused():
    rule = RULES[2]
    assert_refused(lambda: rule.check(P, 60, 35, False), P, "rule", "60 and 35")
    assert_refused(lambda: network(rule, 1.0, (59, 36)), "projection 'in->out'", "rule", "59")
    flat = np.zeros(kernel_of(rule).size)
    assert_refused(lambda: rule.weights(flat), "Convolution.weights", "kernel", "(36,)")
