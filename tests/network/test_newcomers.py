"""What someone who comes from NEST or Brian2 may get wrong: an error says what to do instead."""

import pickle

import jax
import numpy as np
import pytest

import jaxneuro as jn

E = jn.Population("E", 4, jn.neurons.LIF())
ALL = jn.connectivity.AllToAll()
DELTA = {"weight": 1.0, "delay": 1.0, "synapse": jn.synapses.Delta()}


def described(**named):
    return jn.Description([E], [jn.Projection("E", "E", ALL, **DELTA | named)])


def built(**named):
    return jn.build(described(**named), 1, 0.1)


SMALL = jn.build(jn.Description([E]), 1, 0.1)


REFUSED = {
    # names
    "set v": (
        lambda: jn.build(described(), 0, 0.1).set("E", v=-60.0),
        "no parameter of population 'E' named 'v'",
    ),
    "set n": (
        lambda: jn.build(described(), 0, 0.1).set("E", n=9),
        "no parameter of population 'E' named 'n'",
    ),
    "set tau": (
        lambda: jn.build(described(), 0, 0.1).set("E", tau_mem=9.0),
        "did you mean 'tau_m'",
    ),
    "build in jit": (
        lambda: jax.jit(lambda dt: jn.build(described(), 0, dt))(0.1),
        "build: description must",
    ),
    "a weight in jit": (
        lambda: jax.jit(lambda w: jn.Projection("E", "E", ALL, **(DELTA | {"weight": w})))(1.0),
        r"got JitTracer.*vary it inside by net\.set",
    ),
    "a current in grad": (
        lambda: jax.grad(lambda x: jn.simulate(E.model, 1.0, dt=0.1, current=x).run_s)(1.0),
        "cannot be traced; inside jit, vmap and grad use jn.scan",
    ),
    "simulate in jit": (
        lambda: jax.jit(lambda x: jn.simulate(E.model, 1.0).run_s * x)(1.0),
        "cannot be traced; inside jit, vmap and grad use jn.scan",
    ),
    "source": (lambda: jn.Projection(E, "E", ALL, **DELTA), "source must .* give its name, 'E'"),
    "target": (lambda: jn.Stimulation(E, jn.stimuli.Current(1.0)), "target .* give its name, 'E'"),
    "coupled": (
        lambda: jn.Coupling("E", E, ALL, weight=1.0),
        "coupling 'E~Population': target must",
    ),
    "part": (
        lambda: jn.Part(E, range(2)),
        "Part: population must",
    ),
    "several": (lambda: jn.Part(["E", "I"]), "Part: population must"),
    # texts and truth values as numbers
    "dt": (lambda: jn.build(described(), 1, "0.1"), "dt must be .*; got '0.1'"),
    "true dt": (lambda: jn.build(described(), 1, True), "dt must be .*; got True"),
    "duration": (lambda: jn.simulate(E.model, "100", dt=0.1), "duration must be .*; got '100'"),
    # a number per neuron or per step
    "f-I": (lambda: jn.simulate(E.model, np.linspace(0, 9, 20), dt=0.1), "duration must be"),
    "no duration": (lambda: jn.simulate(E.model, dt=0.1, current=[1, 2]), "duration must be"),
    "two durations": (
        lambda: jn.simulate(E.model, 0.5, dt=0.1, current=np.ones((6, 1))),
        r"one with shape \(5,\)",
    ),
    "of a network": (lambda: jn.simulate(SMALL, 0.4, inputs={"E": range(4)}), "4 neurons and 4 t"),
    "turned": (lambda: jn.simulate(SMALL, 0.6, inputs={"E": np.ones((4, 6))}), "transpose it"),
    "constants": (
        lambda: jn.simulate(SMALL, 9.0, inputs={"E": np.ones(4)}),
        "a jn.stimuli.Current",
    ),
    "lengths": (
        lambda: jn.simulate(E.model, 1.0, dt=0.1, n=3, current=[1, 2]),
        "simulate: current must",
    ),
    "twice": (
        lambda: jn.simulate(E.model, 0.2, dt=0.1, current=1.0, inputs={"neurons": [1, 2]}),
        "once",
    ),
    "its own": (lambda: jn.simulate(SMALL, 1.0, current=1.0), "current belong to a bare neuron"),
    # delays
    "tail": (lambda: built(delay=jn.Normal(1.5, 0.75)), "reaches down to -3.25.*low=0.1"),
    "tail above 0": (lambda: built(delay=jn.LogNormal(-3.0, 0.5)), "reaches down to 0.002"),
    "from 0": (lambda: built(delay=jn.Uniform(0.0, 2.0)), "at least one time step .0.1 ms"),
    "drawn in s": (lambda: built(delay=jn.Uniform(0.001, 0.002)), "delay must be .* not in s"),
    "computed in s": (lambda: built(delay=lambda i, j: 0.001 + 0 * i), "at most 0.001 ms.*in s"),
    "true": (lambda: jn.simulate(E.model, True, dt=0.1), "duration must be .*; got True"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make()


def test_what_is_meant_is_built():
    delays = (jn.Normal(1.5, 0.75, low=0.05), jn.LogNormal(0.5, 0.5), lambda i, j: 0.5 * (i != j))
    for delay in delays:
        assert built(delay=delay).connections("E->E").delay.min() >= 0.1


def test_a_constant_current_per_neuron_is_an_f_i_curve():
    currents = np.array([0.0, 600.0, 300.0])
    got = jn.simulate(E.model, 60.0, dt=0.1, current=currents)
    want = jn.simulate(E.model, dt=0.1, current=np.tile(currents, (600, 1)))
    assert got.populations == {"neurons": 3}
    np.testing.assert_array_equal(got.events("neurons"), want.events("neurons"))
    assert list(np.unique(got.events("neurons")[1])) == [1]


def test_what_was_not_recorded_says_how_to_record_it(tmp_path):
    run = jn.simulate(SMALL, 0.3, record=jn.Record(variables={"E": "v"}))
    for ask, message in (
        (lambda r: r.traces["I"], "The known ones: 'E'.*jn.Record.variables={'I': ...}"),
        (lambda r: r.traces["E"]["w"], "known ones: 'v'.*variables={'E': .'v', 'w'.}"),
        (lambda r: r.traces["v"], r"'v' is of 'E': \['E'\]\['v'\]"),
        (lambda r: r.counts["E"], "jn.Record.rates=True"),
        (lambda r: r.weights["E->E"], "weights={'E->E': ...}"),
        (lambda r: r.rate(["E", "I"]), "the name of a population must"),
        (lambda r: r.events(E), "got a Population: give its name, 'E'"),
    ):
        with pytest.raises(ValueError, match=message):
            ask(run)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent; make it first"):
        run.save(tmp_path / "absent" / "run.npz")
    assert isinstance(run.traces, dict)
    assert len(jax.tree.leaves(run.traces)) == 1
    again = pickle.loads(pickle.dumps(run.traces))
    with pytest.raises(KeyError, match="known ones: 'v'"):
        again["E"]["w"]


def test_a_population_where_a_record_needs_its_name():
    cells = jn.Population("E", 10, jn.neurons.LIF())
    for field in ("variables", "means", "neurons", "weights", "weight_histograms"):
        with pytest.raises(
            jn.InvalidValueError,
            match=f"Record: {field} must",
        ) as caught:
            jn.Record(**{field: {cells: "v"}})
        assert caught.value.field == field
