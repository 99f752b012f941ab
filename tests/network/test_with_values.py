"""`Network.with_values`: state variables set by name, in the middle of a run too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

RULE = jn.connectivity.AllToAll()
CELLS = [jn.Population(name, n, jn.neurons.LIF()) for name, n in (("A", 3), ("B", 4))]
NET = jn.build(
    jn.Description(
        CELLS,
        [
            jn.Projection(
                *("A", "B", RULE),
                weight=1.0,
                delay=0.1,
                synapse=jn.synapses.AMPA(),
                release=jn.release.TsodyksMarkram(0.3, 80.0),
            )
        ],
        couplings=[
            jn.Coupling(
                *("B", "A", RULE),
                weight=1.0,
                release=jn.release.RateRelease(),
                synapse=jn.synapses.AMPA(tau_syn=3.0),
            )
        ],
        modulators=[jn.Modulator("m", 10.0, start=1.0)],
    ),
    0,
    0.1,
)
STATE = NET.init(0)


@pytest.mark.parametrize(
    ("name", "variable", "value"),
    [
        ("A", "v", -61.5),
        ("B", "v", [-61.0, -62.0, -63.0, -64.0]),
        ("A->B", "x", [0.1, 0.2, 0.3]),
        ("A->B", "g", 2.5),
        ("B~A", "r", 0.5),
        ("m", "level", 3.0),
    ],
)
def test_only_what_is_named_changes(name, variable, value):
    new = NET.with_values(STATE, name, **{variable: value})
    x = np.asarray(NET.read(new, name, variable))
    np.testing.assert_array_equal(x, np.broadcast_to(np.float32(value), x.shape))
    others = [
        (other, v)
        for other in NET.names
        for v in NET.variables(STATE, other)
        if (other, v) != (name, variable)
    ]
    for other, v in others:
        np.testing.assert_array_equal(NET.read(new, other, v), NET.read(STATE, other, v))
    for a, b in zip(jax.tree.leaves(new), jax.tree.leaves(STATE)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)


def test_a_run_goes_on_from_it():
    level = jnp.linspace(0.0, 2.0, 3)

    def last(x):
        state = NET.with_values(STATE, "m", level=x)
        return NET.read(jn.scan(NET, state, 10)[0], "m", "level")[0]

    np.testing.assert_allclose(jax.jit(jax.vmap(last))(level), level * np.exp(-0.1), rtol=1e-6)


ANY_NAME = "population, projection, stimulation, coupling, modulator, shared receptor or release"


@pytest.mark.parametrize(
    ("name", "values", "owner", "field", "got"),
    [
        ("A->B", {"y": 1.0}, "", "state variable of projection 'A->B'", "'y'"),
        (
            "C",
            {"v": 1.0},
            *(
                "",
                ANY_NAME,
                "'C'",
            ),
        ),
        ("A->B", {"x": [1.0, 2.0]}, "projection 'A->B'", "x", "shape (2,)"),
        ("A", {"v": np.nan}, "population 'A'", "v", "nan"),
        ("A->B", {"x": 1.5}, "projection 'A->B'", "x", "1.5"),
        ("B~A", {"r": -1.0}, "coupling 'B~A'", "r", "-1"),
        ("A->B", {"g": -2.0}, "projection 'A->B'", "g", "-2"),
        ("A", {"spikes": 1.0}, "population 'A'", "spikes", "one of bool"),
    ],
)
def test_refused(name, values, owner, field, got):
    assert_refused(lambda: NET.with_values(STATE, name, **values), owner, field, got)


def test_what_rounding_leaves_outside_the_bounds_can_be_set():
    new = NET.with_values(STATE, "A->B", x=np.float32(1.0 + 3e-7), g=-1e-9)
    np.testing.assert_array_equal(NET.read(new, "A->B", "x"), np.float32(1.0 + 3e-7))
