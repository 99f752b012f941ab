"""What the bounds of modulators allow must be a network that could be set, before and after."""

import jax
import numpy as np
import pytest

import jaxneuro as jn

DT = 0.1
PAIR = jn.connectivity.AllToAll(autapses=False)
TWO = jn.synapses.DoubleExponentialConductance(2.0, 5.0)


def modulator(name, scales, highest=2.0, lowest=0.5):
    return jn.Modulator(name, 10.0, scales, start=1.0, lowest=lowest, highest=highest)


def build(modulators, projections=(), weight=None, model=None):
    cells = jn.Population("E", 10, model or jn.neurons.LIF())
    gap = [] if weight is None else [jn.Coupling("E", "E", PAIR, weight=weight)]
    description = jn.Description([cells], projections, couplings=gap, modulators=modulators)
    return jn.build(description, 1, DT)


def project(name="E->E", **given):
    given = {"weight": 1.0, "delay": 0.1, "synapse": TWO, **given}
    return jn.Projection("E", "E", PAIR, name=name, **given)


def facilitating(name, U=0.4):
    return project(name, release=jn.release.TsodyksMarkram(U=U))


GAIN = {"E~E": {"gain": 1.0}}
LEAKY = jn.neurons.LeakyIzhikevich()
TOGETHER = {
    "one release": (
        lambda: build(
            [modulator(m, {"E.TsodyksMarkram": {"U": 1.0}}) for m in "mk"],
            [facilitating("a"), facilitating("b")],
        ),
        "modulators 'k' and 'm': highest must",
    ),
    "two parameters of one model": (
        lambda: build(
            [
                modulator("m", {"E->E": {"tau_rise": 1.0}}),
                modulator("k", {"E->E": {"tau_decay": 1.0}}),
            ],
            [project()],
        ),
        "modulators 'k' and 'm': lowest or highest must",
    ),
    "a threshold and a reset": (
        lambda: build([modulator("m", {"E": {"v_th": 0.1, "v_reset": -0.1}})]),
        "modulator 'm': lowest or highest must",
    ),
    "between the bounds": (
        lambda: build(
            [modulator("m", {"E->E": {"tau_rise": 1.0, "tau_decay": 0.1}})],
            [project(synapse=jn.synapses.DoubleExponentialConductance(3.0, 5.0))],
        ),
        r"tau_rise of 'E->E' times 2 and tau_decay of 'E->E' times 1\.1",
    ),
    "what moves the limit of gap junctions": (
        lambda: build(
            [modulator("m", GAIN | {"E": {"c_m": -0.1}}, 3.0, 0.4)], (), 985 * 0.3 / 9, LEAKY
        ),
        "modulator 'm': lowest or highest must",
    ),
}


@pytest.mark.parametrize("case", TOGETHER)
def test_what_can_happen_together_is_tried_together(case):
    make, message = TOGETHER[case]
    with pytest.raises(ValueError, match=message):
        make()


def test_what_one_level_keeps_apart_is_allowed():
    """Time constants that grow together keep their order, also where they meet their bounds."""
    build([modulator("m", {"E->E": {"tau_rise": 1.0, "tau_decay": 1.0}})], [project()])
    build([modulator("m", GAIN | {"E": {"c_m": 1.0}}, 3.0, 0.4)], (), 985 * 0.9 / 9, LEAKY)


def test_many_modulators_are_tried_together():
    scales = [{"E->E": {"tau_rise": 1.0}}] * 4 + [{"E->E": {"tau_decay": -1.0}}] * 4
    with pytest.raises(ValueError, match=r"'0' and '1' .*tau_rise of 'E->E' times"):
        build([modulator(str(k), s, 1.2, 0.8) for k, s in enumerate(scales)], [project()])


@pytest.fixture(scope="module")
def net():
    scales = GAIN | {"a": {"U": 1.0, "tau_rec": 1.0}, "E": {"c": 0.1}}
    model = jn.neurons.Izhikevich()
    return build(
        [modulator("m", scales, 5.0)],
        [facilitating("a", 0.1)],
        0.1,
        model,
    )


def test_set_tries_the_bounds_again(net):
    for name, values, message in (
        ("E~E", {"gain": 4.0}, "modulator 'm': highest must"),
        ("E~E", {"weight": 0.4}, "gain of 'E~E' times 5 .*at most 9.7"),
        ("a", {"U": 0.9}, "modulator 'm': highest must"),
    ):
        with pytest.raises(ValueError, match=message):
            net.set(name, **values)
    assert float(net.set("E~E", gain=2.0).set("a", U=0.2).pathways[0].release.U) == np.float32(0.2)


def test_what_is_not_known_is_not_tried(net):
    """Under jit a value is assumed to stay valid, as anywhere."""
    change = jax.jit(lambda n, x: n.set("a", U=x).pathways[0].release.U)
    assert float(change(net, 0.9)) == np.float32(0.9)
