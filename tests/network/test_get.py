"""`Network.get` and `Network.parameters`: what is set, by the names of `set`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.everything import everything, of_the_zoo
from tests.network.networks import balanced

NET = jn.build(everything(), 0, 0.1)


@pytest.fixture(scope="module")
def zoo():
    return jn.build(of_the_zoo(), 0, 0.1)


def assert_same(new, old):
    assert jax.tree.structure(new) == jax.tree.structure(old)
    for a, b in zip(jax.tree.leaves(new), jax.tree.leaves(old)):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b), strict=True)


@pytest.mark.slow(but=["everything"])
@pytest.mark.parametrize("which", ["everything", "the zoo"])
def test_what_is_read_is_set_again_to_the_bit(which, request):
    net = NET if which == "everything" else request.getfixturevalue("zoo")
    read = 0
    for name in net.names:
        values = {key: net.get(name, key) for key in net.parameters(name)}
        if name == "gap of each":
            del values["weight"]  # cannot be set
        assert_same(net.set(name, **values), net)
        read += len(values)
    assert read > 60


def test_words_of_a_weight():
    words = {name: {row.name: row for row in NET.parameters(name).rows} for name in NET.names}
    assert "gap junction" in words["gap"]["weight"].words
    assert words["gap"]["weight"].unit == "nS"
    assert "spike" in words["E->I"]["weight"].words


def test_what_is_set_is_read():
    new = {
        "E": {"tau_m": 11.5},
        "I": {"tau_m": 17.0, "c_m": np.float32([100.0, 110.0, 120.0, 130.0])},
        "both": {"nmda_mg": 0.5, "nmda_share": 0.25, "gain": 3.0, "weight": 0.125},
        "gate": {"kinetics_alpha": 2.0, "v_half": -50.0},
        "plastic": {"rate": 0.25, "gain": 0.5},
        "noise": {"rate": 4.0, "weight": np.float32([1.0, 2.0, 3.0, 4.0])},
        "noise H": {"weight": 2.5},
        "gap": {"weight": 0.25, "gain": 2.0},
        "m": {"tau": 50.0, "baseline": 0.5},
        "E.Exponential": {"tau_syn": 4.0},
    }
    net = NET
    for name, values in new.items():
        net = net.set(name, **values)
    for name, values in new.items():
        for key, value in values.items():
            got = net.get(name, key)
            assert type(got) is (float if np.ndim(value) == 0 else np.ndarray), (name, key)
            np.testing.assert_array_equal(got, value, err_msg=f"{name} {key}")
            np.testing.assert_array_equal(net.parameters(name)[key], got)


def test_one_number_or_one_of_each():
    assert NET.get("E", "tau_m") == 10.0  # of a group in which another has an array
    assert NET.get("H", "tau_m") == 12.0  # of a population of one
    np.testing.assert_array_equal(NET.get("I", "tau_m"), np.float32(np.linspace(15, 20, 4)))
    for name in ("E->I", "gap of each"):
        np.testing.assert_array_equal(NET.get(name, "weight"), NET.connections(name).weight)
    assert len(NET.get("E->I", "weight")) == len(NET.connections("E->I")) > 4


def test_whole_models_and_shared_ones():
    assert NET.get("gate", "kinetics").alpha == np.float32(1.1)
    assert isinstance(NET.get("steps", "amplitude"), jn.stimuli.Steps)
    slower = NET.set("E.Exponential", tau_syn=7.0)
    assert slower.get("E->E", "tau_syn") == slower.get("E.Exponential", "tau_syn") == 7.0
    with pytest.raises(ValueError, match=r"E\.Exponential"):
        NET.set("E->E", tau_syn=7.0)
    kinetics = jn.synapses.DestexheKinetics(3.0, 0.5)
    assert NET.set("gate", kinetics=kinetics).get("gate", "kinetics_beta") == 0.5


def test_individual_weights_of_less_precision():
    net = jn.build(balanced(weight=jn.Normal(6.0, 1.0, low=0.0)), 0, 0.1, weights=jnp.bfloat16)
    assert_same(net.set("E->E", weight=net.get("E->E", "weight")), net)


def test_under_jit():
    known = [("E->E", "gain"), ("gap", "weight"), ("H->E", "U"), ("noise H", "weight")]
    traced = jax.jit(lambda net: [net.get(*pair) for pair in known])(NET)
    for pair, value in zip(known, traced):
        np.testing.assert_array_equal(value, NET.get(*pair), err_msg=str(pair))
    weights = np.asarray(NET.get("E->I", "weight"))[::-1]
    closed = jax.jit(lambda w: NET.set("E->I", weight=w).get("E->I", "weight"))(weights)
    np.testing.assert_array_equal(closed, weights)
    with pytest.raises(jn.InvalidValueError) as raised:
        jax.eval_shape(lambda net: net.get("E->I", "weight"), NET)
    assert (raised.value.owner, raised.value.field) == ("projection 'E->I'", "weight")


def test_what_cannot_be_read():
    with pytest.raises(jn.InvalidValueError, match=r"net\.weights\(state, 'plastic'\)"):
        NET.get("plastic", "weight")
    assert "weight" not in NET.parameters("plastic")
    for name, key in (("X", "tau_m"), ("E", "tau"), ("E->E", "rate"), ("steps", "weight")):
        errors = []
        for use in (lambda: NET.get(name, key), lambda: NET.set(name, **{key: 1.0})):  # noqa: B023
            with pytest.raises(jn.InvalidValueError) as raised:
                use()
            errors.append(str(raised.value))
        assert errors[0] == errors[1]
    with pytest.raises(KeyError, match="did you mean 'tau_m'"):
        NET.parameters("E")["tau"]


def test_the_table():
    table = NET.parameters("gate")
    rows = {row.name: row for row in table.rows}
    assert list(table) == list(rows)
    assert rows["kinetics_alpha"][1:4] == (float(np.float32(1.1)), "1/(mM ms)", "receptor")
    assert rows["v_half"][1:4] == (-60.0, "mV", "release")
    assert rows["gain"].unit == ""
    assert NET.parameters("E->E").rows[0].of == "receptor 'E.Exponential'"
    assert {row.unit for row in NET.parameters("noise H").rows} == {"Hz", "ms", "pA"}
    text = repr(NET.parameters("I")).splitlines()
    assert len(text) == 1 + len(NET.parameters("I"))
    assert text[2].split() == ["c_m", "150.0", "pF", "population", "capacitance"]
    page = table._repr_html_()
    assert all(name in page for name in table)
