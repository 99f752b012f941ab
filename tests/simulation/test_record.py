"""Records: which neurons, and what is refused."""

import warnings

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.surrogates import FastSigmoid
from tests.refusing import assert_refused

N = 12
NET = jn.build(
    jn.Description(
        [jn.Population("E", N, jn.neurons.LIF(), initial={"v": np.linspace(-70.0, -60.0, N)})]
    ),
    0,
    0.1,
)
ALL = jn.simulate(NET, 1.0, record=jn.Record(variables={"E": "v"})).traces["E"]["v"]
MASK = np.arange(N) % 5 == 2

CHOICES = {
    "slice": (slice(2, 9, 3), [2, 5, 8]),
    "open slice": (slice(9, None), [9, 10, 11]),
    "last": (slice(-2, None), [10, 11]),
    "backwards": (slice(None, None, -5), [11, 6, 1]),
    "range": (range(1, 8, 3), [1, 4, 7]),
    "mask": (MASK, [2, 7]),
    "list of booleans": (MASK.tolist(), [2, 7]),
    "array": (np.asarray([7, 3], np.uint8), [7, 3]),
    "a JAX array": (jax.numpy.asarray([4, 0]), [4, 0]),
    "one": (5, [5]),
}


@pytest.mark.parametrize(("given", "numbers"), CHOICES.values(), ids=CHOICES.keys())
def test_which_neurons(given, numbers):
    record = jn.Record(variables={"E": "v"}, neurons={"E": given})
    result = jn.simulate(NET, 1.0, record=record)
    np.testing.assert_array_equal(result.neurons["E"], numbers)
    np.testing.assert_array_equal(result.traces["E"]["v"], ALL[:, numbers])
    again = jn.Record(variables={"E": "v"}, neurons={"E": given})
    assert (hash(again), again) == (hash(record), record)
    short = jn.Record(variables={"E": "v"}, neurons={"E": given}, interval=10.0)
    assert jn.simulate(NET, 1.0, record=short).traces["E"]["v"].shape == (0, len(numbers))


def test_records_of_other_neurons_are_different():
    records = [jn.Record(variables={"E": "v"}, neurons={"E": g}) for g, _ in CHOICES.values()]
    assert len(set(records)) == len(records) - 1  # the mask as an array and as a list
    longer = jn.Record(variables={"E": "v"}, neurons={"E": [*MASK.tolist(), False]})
    assert longer not in records


WRONG_NAMES = ({"variables": {"E": 3}}, {"means": {"E": 3.0}}, {"means": "v"}, {"lfp": (1,)})
WRONG_NEURONS = {
    "empty": [],
    "empty range": range(0),
    "mask of nothing": np.zeros(N, bool),
    "twice": [3, 1, 3],
    "negative": [3, -1],
    "fraction": [1.5],
    "text": "all",
    "matrix": [[1, 2]],
    "ragged": [[1], [2, 3]],
    "true": True,
    "slice of numbers": slice(0, 1.5),
    "slice without a step": slice(0, 5, 0),
}


@pytest.mark.parametrize("values", WRONG_NAMES, ids=str)
def test_what_is_no_name(values):
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.Record(**values)
    assert (caught.value.owner, caught.value.field) == ("Record", next(iter(values)))


@pytest.mark.parametrize("field", ["variables", "means", "neurons", "weights", "weight_histograms"])
def test_a_population_for_its_name(field):
    cells = jn.Population("E", 10, jn.neurons.LIF())
    assert_refused(lambda: jn.Record(**{field: {cells: "v"}}), "Record", field)


def test_traces_are_a_dict_and_a_pytree():
    run = jn.simulate(NET, 0.3, record=jn.Record(variables={"E": "v"}))
    assert isinstance(run.traces, dict)
    assert len(jax.tree.leaves(run.traces)) == 1


@pytest.mark.parametrize("given", WRONG_NEURONS.values(), ids=WRONG_NEURONS)
def test_what_are_no_neurons(given):
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.Record(variables={"E": "v"}, neurons={"E": given})
    assert (caught.value.owner, caught.value.field) == ("Record", "neurons")
    assert "at ['E']" in caught.value.got


def test_neurons_without_variables():
    assert_refused(lambda: jn.Record(neurons={"E": [0]}), "Record", "neurons", "'E'")


UNFIT = {
    "slice": (slice(20, 30), "must be at least one of 12"),
    "mask": (np.ones(5, bool), "must be a mask of one boolean per neuron, 12 of them; got 5"),
    "number": ([3, 12], "neurons of 'E' must be below 12, its size; got 12"),
    "range": (range(10, 14), "must be below 12, its size; got 13"),
}


@pytest.mark.parametrize("ms", [0.1, 1.0])
@pytest.mark.parametrize(("given", "said"), UNFIT.values(), ids=UNFIT.keys())
def test_what_does_not_fit_the_network(given, said, ms):
    record = jn.Record(variables={"E": "v"}, neurons={"E": given}, interval=0.5)
    with pytest.raises(ValueError, match=said):
        jn.simulate(NET, ms, record=record)


@pytest.mark.parametrize(
    "draw", [np.random.random, lambda: jax.random.uniform(jax.random.key(0))], ids=["numpy", "key"]
)
def test_a_function_that_draws_once(draw):
    record = jn.Record(function=lambda state, output: draw())
    assert_refused(lambda: jn.simulate(NET, 1.0, record=record), "Record", "function")


def _raises(state, output):
    raise KeyError("no such thing")


FUNCTIONS = {
    "raises": (_raises, KeyError, "KeyError: 'no such thing'"),
    "one argument": (lambda state: state.step, TypeError, "TypeError: .*positional"),
    "no array": (lambda state, output: "text", TypeError, "TypeError"),
}


@pytest.mark.parametrize(("function", "cause", "said"), FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_function_that_fails(function, cause, said):
    with pytest.raises(ValueError, match=f"Record: function must be a .*got {said}") as caught:
        jn.simulate(NET, 1.0, record=jn.Record(function=function))
    assert isinstance(caught.value.__cause__, cause)


def rewarded(**more):
    """Neurons and a level that a signal raises."""
    level = jn.Modulator(
        "dopamine", 50.0, {"E": {"tau_m": 0.5}}, signal="reward", lowest=0.5, highest=1.0
    )
    cells = jn.Population("E", N, jn.neurons.LIF(**more), initial={"v": jn.Uniform(-70.0, -50.0)})
    drive = jn.Stimulation("E", jn.stimuli.Current(9000.0))
    return jn.build(jn.Description([cells], [], [drive], modulators=[level]), 0, 0.1)


@pytest.mark.slow(but=["bits"])
@pytest.mark.parametrize("more", [{}, {"surrogate": FastSigmoid(1.0)}], ids=["bits", "surrogate"])
def test_a_function_in_a_network_with_a_signal(more):
    """It is sampled by `simulate` as by `scan`, and is not traced where no program is compiled."""
    traced = []

    def function(state, output):
        traced.append(1)
        return state.modulators[0].level, output.spikes["E"], output.bits[0]

    net, record = rewarded(**more), jn.Record(function=function, interval=0.5)
    reward = np.linspace(0.0, 0.01, 50, dtype=np.float32)
    first = jn.simulate(net, 5.0, key=1, inputs={"reward": reward}, record=record)
    _, same = jax.jit(jn.scan, static_argnums=(2, 4))(
        net, net.init(1), 50, {"reward": reward}, record
    )
    jax.tree.map(np.testing.assert_array_equal, first.function, same.function)
    assert first.function[0][-1] > 0.0
    assert first.spikes["E"].times.size > 0
    sizes = [x.nbytes // 10 for x in first.function]
    assert record.sample_bytes(net, net.init(1)) == sum(sizes)
    before = len(traced)
    again = jn.simulate(net, 5.0, key=1, inputs={"reward": reward}, record=record)
    assert (again.compile_s, len(traced)) == (0.0, before)


def warned(run):
    """What a run returns, and the warnings at lines of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = run()
    assert {w.filename for w in caught} <= {__file__}
    return out, [str(w.message) for w in caught]


def onto_two(model, synapse, weight=50.0):
    """Spikes that arrive at B, and C of the same model, which gets none."""
    cells = [
        jn.Population("A", 5, jn.neurons.PoissonSource(200.0)),
        jn.Population("B", 2, model),
        jn.Population("C", 2, model),
    ]
    ends = ("A", "B", jn.connectivity.AllToAll())
    sent = jn.Projection(*ends, weight=weight, delay=1.0, synapse=synapse, name="A->B")
    return jn.build(jn.Description(cells, [sent]), 0, 0.1)


ALPHA, FLY = jn.neurons.IafPscAlpha(), jn.neurons.FlyLIF()
FEEDS = {
    "Alpha": (ALPHA, jn.synapses.Alpha(2.0), "i_ex", True),
    "Direct": (ALPHA, jn.synapses.Direct("ex"), "i_ex", False),
    "fly, Exponential": (FLY, jn.synapses.Exponential(5.0), "g", True),
    "fly, Direct": (FLY, jn.synapses.Direct("g"), "g", False),
}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "synapse", "name", "warns"), FEEDS.values(), ids=FEEDS.keys())
def test_a_variable_that_nothing_feeds(model, synapse, name, warns):
    """Another receptor has a current of its own; only a variable that is named is warned of."""
    net = onto_two(model, synapse)
    record = jn.Record(variables={"B": name, "C": name}, means={"B": name})
    result, said = warned(lambda: jn.simulate(net, 20.0, record=record, progress=False))
    unfed = ["B", "C"] if warns else ["C"]
    assert all(f"{name!r} of {k!r}" in x for k, x in zip(unfed, said, strict=True))
    assert all(f"jn.synapses.Direct({model.ports[0]!r})" in x for x in said)
    assert [k for k in "BC" if not result.traces[k][name].any()] == unfed
    scanned = lambda net: jn.scan(net, net.init(0), 10, record=record)[1].traces  # noqa: E731
    assert warned(lambda: jax.eval_shape(scanned, net))[1] == said
    record = jn.Record(variables={"B": ..., "C": ...})
    assert warned(lambda: jn.simulate(net, 1.0, record=record, progress=False))[1] == []


def test_a_port_of_a_receptor_that_nothing_feeds():
    into = jn.synapses.Into(jn.synapses.Ionotropic(), "ampa")
    net = onto_two(jn.neurons.LIF(), into, 0.5)
    record = jn.Record(variables={"A->B": ("r_ampa", "r_gaba")})
    said = warned(lambda: jn.simulate(net, 1.0, record=record, progress=False))[1]
    assert len(said) == 1
    assert all(part in said[0] for part in ("'r_gaba' of 'A->B'", "Into(Ionotropic(...), 'gaba')"))


@pytest.mark.slow
@pytest.mark.parametrize(("synapse", "warns"), [("Exponential", False), ("Direct", True)])
def test_a_field_potential_without_the_currents_of_neurons(synapse, warns):
    made = {"Direct": jn.synapses.Direct("ex"), "Exponential": jn.synapses.Exponential(5.0)}
    net = onto_two(jn.neurons.IafPscExp(), made[synapse])
    record = jn.Record(lfp=("B", "C"))
    result, said = warned(lambda: jn.simulate(net, 20.0, record=record, progress=False))
    assert ["LFP of 'B'" in x for x in said] == [True] * warns
    assert result.lfp["B"].any() != warns
