"""What the compiled loop looks like: the ring stays in place, and the loop lowers for CUDA."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.native import native_available

OPTIONS = {"xla_cpu_copy_insertion_use_region_analysis": True}
SHAPE = 21, 194  # slots, two receptors of 97 neurons: no other array has this shape
# Any number of batch axes before it, and what makes an array of that shape.
RING = re.compile(r"= f32\[(?:\d+,)*21,194\](?:\{[\d,]*\})? ([\w\-]+)\(")
IN_PLACE = {"get-tuple-element", "custom-call", "parameter", "bitcast"}


def network():
    lif = jn.neurons.LIF()
    start = {"v": jn.Uniform(-60.0, -50.1)}
    populations = [jn.Population("E", 80, lif, start), jn.Population("I", 17, lif)]
    rule = jn.connectivity.FixedProbability(0.1)
    projections = [
        jn.Projection(
            source,
            target,
            rule,
            weight=jn.Normal(10.0, 1.0) if source == "E" else -40.0,
            delay=2.0 if source == "E" else 1.0,
            synapse=jn.synapses.Exponential(tau_syn=2.0 if source == "E" else 4.0),
        )
        for source in "EI"
        for target in "EI"
    ]
    drive = jn.Stimulation("E", jn.stimuli.Current(300.0), name="drive")
    return jn.build(jn.Description(populations, projections, [drive]), key=0, dt=0.1)


def run(net, state):
    return jn.scan(net, state, 50)


def loop_bodies(text):
    """The computations of the bodies of all while loops, and all that they call, by name."""
    parts = re.split(r"^(?=(?:ENTRY )?%\S+ \()", text, flags=re.MULTILINE)
    by_name = {m[1]: p for p in parts if (m := re.match(r"(?:ENTRY )?%(\S+) \(", p))}
    found, todo = {}, re.findall(r"body=%([\w.\-]+)", text)
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = by_name[name]
            todo += re.findall(r"(?:calls|to_apply|body)=%([\w.\-]+)", by_name[name])
    return found


def makers_of_rings(text):
    """The operations in loop bodies that make an array of the ring's shape."""
    return {op for body in loop_bodies(text).values() for op in RING.findall(body)}


def compiled(f, *args):
    return jax.jit(f).lower(*args).compile(compiler_options=OPTIONS).as_text()


def loss(gain, drive, net, state):
    swept = net.set("E->E", gain=gain).set("drive", amplitude=drive)
    return jnp.sum(jn.scan(swept, state, 50)[0].groups[0].receptors[0].current)


def nested(f):
    """Over both numbers, one `vmap` in the other."""
    return jax.vmap(jax.vmap(f, (None, 0, None, None)), (0, None, None, None))


FLAT = jax.vmap(loss, (0, 0, None, None))
RUNS = {
    "one": loss,
    "flat": FLAT,
    "nested": nested(loss),
    "thrice": jax.vmap(nested(loss), (0, *3 * [None])),
}


@pytest.mark.slow(but=["one"])
@pytest.mark.skipif(not native_available(), reason="XLA copies the ring for the reference's loop")
@pytest.mark.parametrize("batch", RUNS)
def test_the_ring_is_not_copied_in_the_loop(batch):
    net = network()
    state = net.init(0)
    assert [group.ring.shape for group in state.groups] == [SHAPE]
    axes = {"one": 0, "flat": 1, "nested": 1, "thrice": 2}[batch]
    gains, drives = np.ones((2, 3)[:axes], np.float32), np.full((3,)[:axes], 200.0, np.float32)
    if batch == "flat":
        gains = np.ones(3, np.float32)
    text = compiled(RUNS[batch], gains, drives, net, state)
    assert "custom-call" in makers_of_rings(text)
    assert makers_of_rings(text) <= IN_PLACE


def test_a_copied_ring_would_be_found():
    # Reading a slot and clearing it in the same step, beside the old ring: that is a copy.
    def body(ring, step):
        new = ring.at[step % 21].set(0.0) + jnp.roll(ring, 1, axis=0)
        return new.at[(step + 1) % 21, 0].add(ring[step % 21, 1]), ring[step % 21]

    def bad(ring):
        return jax.lax.scan(body, ring, jnp.arange(5, dtype=jnp.int32))

    assert not makers_of_rings(compiled(bad, np.zeros(SHAPE, np.float32))) <= IN_PLACE


@pytest.mark.slow(but=["values"])
@pytest.mark.parametrize("way", ["values", "gradients"])
def test_a_nested_batch_is_the_flat_one_bit_for_bit(way):
    net = network()
    state = net.init(0)
    gains, drives = np.linspace(0.5, 2.0, 2), np.linspace(900.0, 1500.0, 3)
    f, g = (
        (loss, FLAT)
        if way == "values"
        else (jax.grad(loss), jax.vmap(jax.grad(loss), (0, 0, None, None)))
    )
    pairs = (
        np.stack(np.meshgrid(gains, drives, indexing="ij"), -1).reshape(-1, 2).astype(np.float32)
    )
    flat = jax.jit(g)(pairs[:, 0], pairs[:, 1], net, state)
    got = jax.jit(nested(f))(gains.astype(np.float32), drives.astype(np.float32), net, state)
    np.testing.assert_array_equal(np.asarray(got).ravel(), flat)
    assert len(np.unique(flat)) >= 3  # a gain acts linearly as long as nothing comes back


@pytest.mark.slow(but=["scan"])
@pytest.mark.parametrize("what", ["scan", "gradient", "batch"])
def test_the_loop_lowers_for_cuda_on_this_machine(what):
    net = network()
    state = net.init(0)

    if what == "scan":
        traced = jax.jit(run).trace(net, state)
    elif what == "gradient":
        traced = jax.jit(jax.grad(loss)).trace(1.0, 300.0, net, state)
    else:
        ones = np.ones(3, np.float32)
        traced = jax.jit(FLAT).trace(ones, ones, net, state)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.while" in text
    assert "jaxneuro_deliver" not in text
