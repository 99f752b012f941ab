"""What the compiled loop looks like: the ring stays in place, and the loop lowers for CUDA."""

import re

import jax
import jax.numpy as jnp
import pytest

import jaxneuro as jn
from jaxneuro.kernels import native_available

OPTIONS = {"xla_cpu_copy_insertion_use_region_analysis": True}
RING = "f32[21,2,97]"  # slots, receptors, neurons: no other array has this shape


def network():
    lif = jn.neurons.LIF()
    populations = [jn.Population("E", 80, lif), jn.Population("I", 17, lif)]
    rule = jn.connectivity.FixedProbability(0.1)
    projections = [
        jn.Projection(
            source,
            target,
            rule,
            weight=jn.numerics.Normal(10.0, 1.0) if source == "E" else -40.0,
            delay=2.0 if source == "E" else 1.0,
            synapse=jn.synapses.Exponential(tau_syn=2.0 if source == "E" else 4.0),
        )
        for source in "EI"
        for target in "EI"
    ]
    return jn.build(jn.Description(populations, projections), key=0, dt=0.1)


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


def ring_copies(text):
    """The lines in loop bodies that copy an array of the ring's shape."""
    lines = [line for body in loop_bodies(text).values() for line in body.splitlines()]
    copy = re.compile(re.escape(RING) + r"(?:\{[\d,]*\})? copy(?:-start)?\(")
    return [line for line in lines if copy.search(line)]


def compiled(f, *args):
    return jax.jit(f).lower(*args).compile(compiler_options=OPTIONS).as_text()


@pytest.mark.skipif(not native_available(), reason="XLA copies the ring for the reference's loop")
def test_the_ring_is_not_copied_in_the_loop():
    net = network()
    state = net.init(0)
    assert [r.shape for r in (g.ring for g in state.groups)] == [(21, 2, 97)]
    text = compiled(run, net, state)
    bodies = loop_bodies(text)
    assert any(RING in body for body in bodies.values())
    assert ring_copies(text) == []


def test_a_copied_ring_would_be_found():
    # Reading a slot and clearing it in the same step, beside the old ring: that is a copy.
    def body(ring, step):
        new = ring.at[step % 21].set(0.0) + jnp.roll(ring, 1, axis=0)
        return new.at[(step + 1) % 21, 0].add(ring[step % 21, 1]), ring[step % 21]

    def bad(ring):
        return jax.lax.scan(body, ring, jnp.arange(5, dtype=jnp.int32))

    assert ring_copies(compiled(bad, jnp.zeros((21, 2, 97)))) != []


@pytest.mark.parametrize("what", ["scan", "gradient", "batch"])
def test_the_loop_lowers_for_cuda_on_this_machine(what):
    net = network()
    state = net.init(0)

    def loss(gain, net, state):
        return jnp.sum(jn.scan(net.set("E->E", gain=gain), state, 5)[0].groups[0].receptors[0][0])

    if what == "scan":
        traced = jax.jit(run).trace(net, state)
    elif what == "gradient":
        traced = jax.jit(jax.grad(loss)).trace(jnp.float32(1.0), net, state)
    else:
        gains = jnp.ones(3)
        traced = jax.jit(jax.vmap(loss, (0, None, None))).trace(gains, net, state)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.while" in text
    assert "jaxneuro_deliver" not in text
