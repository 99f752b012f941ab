"""What analysis takes: results, recordings, batches, arrays; and what it gives inside `jit`."""

import dataclasses
import functools
import inspect
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import analysis
from jaxneuro.analysis import Traces
from tests import runs
from tests.refusing import assert_refused

ALL = runs.batch()


def changed(**fields):
    return jax.tree.map(np.asarray, dataclasses.replace(ALL, **fields))


BATCH = changed(counts={}, statistics={})
MORE = {
    "population_bursts": {"threshold": 5.0},
    "multistep_branching_ratio": {"bin_ms": 2.0, "max_lag": 3},
    "power_spectrum": {"segment_ms": 100.0},
    "crossing_times": {"level": -60.0},
    "fano_factor": {"bin_ms": 20.0},
    "avalanches": {"bin_ms": 1.0},
    "branching_ratio": {"bin_ms": 2.0},
    "bursts": {"min_spikes": 2},
    "victor_purpura": {"cost": 0.1},
    "van_rossum": {"tau": 10.0},
    "coincidence_factor": {"delta": 1.0},
    "psth": {"onsets": [80.0, 130.0], "window": (-20.0, 20.0)},
}
MORE |= {name: {"bin_ms": 10.0} for name in ("count_covariance", "count_correlation")}
NAMES = {"cross_correlogram": ("E", "I"), "excitation_inhibition": ("E->E", "I->E")}
FUNCTIONS = {
    name: value
    for name, value in vars(analysis).items()
    if inspect.isfunction(value) and "source" in inspect.signature(value).parameters
}
FUNCTIONS.pop("summary")
TRACED = (
    *("neuron_rates", "population_rate", "spike_counts", "interval_cvs", "interval_cv"),
    *("count_covariance", "count_correlation", "count_synchrony", "fano_factor"),
)


def ask(name, source, **window):
    return FUNCTIONS[name](source, *NAMES.get(name, ("E",)), **MORE.get(name, {}), **window)


def same(got, want, **near):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        np.testing.assert_allclose(x, y, **near)


def plain(value):
    """Spike trains as arrays, which can be compared."""
    return (value.times, value.neurons) if isinstance(value, jn.SpikeTrains) else value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_is_its_runs(name):
    got, many = ask(name, BATCH), ask(name, SimpleNamespace(recording=BATCH))
    each = [[plain(ask(name, BATCH[i, j])) for j in range(3)] for i in range(2)]
    if isinstance(got, list):
        same([[plain(x) for x in row] for row in got], each)
        same([[plain(x) for x in row] for row in many], each)
    else:
        rows = [jax.tree.map(lambda *x: np.stack(x), *row) for row in each]
        same(got, jax.tree.map(lambda *x: np.stack(x), *rows))
        same(many, got)
    result = BATCH[1, 2].result()
    same(plain(ask(name, result)), each[1][2])
    if "population" in inspect.signature(FUNCTIONS[name]).parameters:
        given = {"other": result.spikes["I"]} if name in NAMES else {}
        arrays = FUNCTIONS[name](result.spikes["E"], **given, **MORE.get(name, {}))
        same(plain(arrays), each[1][2])


CHOSEN = [0, 1, 4]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_part_is_its_neurons(name):
    """`Part` in the place of a name, and neurons that spike trains select by number."""
    run = BATCH[1, 2].result()
    few, more = FUNCTIONS[name], dict(MORE.get(name, {}))
    part, trains = jn.Part("E", CHOSEN), run.spikes["E"]
    if "population" not in inspect.signature(few).parameters:  # samples
        v = {k: Traces(run.sample_times, x[:, CHOSEN]) for k, x in run.traces["E"].items()}
        if name == "crossing_times":
            same(plain(few(run, part, **more)), plain(few(v["v"], **more)))
        return
    mine = np.isin(trains.neurons, CHOSEN)
    renumbered = np.searchsorted(CHOSEN, trains.neurons[mine])
    alone = jn.SpikeTrains(trains.times[mine], renumbered, 3, trains.start, trains.stop)
    more |= {"other": run.spikes["I"]} if name in NAMES else {}
    want = plain(few(alone, **more))
    same(plain(few(trains[CHOSEN], **more)), want)
    more |= {"other": "I"} if name in NAMES else {}
    same(plain(few(run, part, **more)), want)
    same(plain(few(BATCH, part, **more)[1][2]), want) if name == "neuron_rates" else None


def test_parts_of_what_is_kept():
    every = jax.tree.map(lambda x: x[1, 2], ALL)
    sums = dataclasses.replace(every.result(), spikes=None, counts={})
    for part, count in ((jn.Part("E", CHOSEN), 3), (jn.Part("E", slice(1, None)), 4)):
        rates = analysis.neuron_rates(every.result(), "E")[part.where]
        assert len(rates) == count
        same(analysis.neuron_rates(sums, part), rates)
        for run in (every.result(), sums):
            np.testing.assert_allclose(run.rate(part), rates.mean())
        window = {"start": 50.0, "stop": 100.0}
        inside = analysis.neuron_rates(every.result(), part, **window)
        np.testing.assert_allclose(every.result().rate(part, **window), inside.mean())
    late = dataclasses.replace(every.result(), spikes=None, statistics={})
    with pytest.raises(ValueError, match="spikes of 'E' were not recorded"):
        late.rate(jn.Part("E", CHOSEN))


def test_parts_that_there_are_not():
    run = BATCH[1, 2].result()
    for where in ([7], [False, True], "core", jn.space.Area(low=(0.0,), high=(1.0,))):
        part = jn.Part("E", where)
        assert_refused(lambda part=part: run.rate(part), "part of 'E'", "where")
        refused = lambda part=part: analysis.neuron_rates(run, part)  # noqa: E731
        assert_refused(refused, "part of 'E'", "where")
    assert_refused(
        lambda: analysis.spike_counts(run, jn.Part("F", [0])), "spike_counts", "population", "'F'"
    )
    traced = lambda x: analysis.neuron_rates(x, jn.Part("E", [0]))  # noqa: E731
    assert_refused(lambda: jax.eval_shape(traced, BATCH), "neuron_rates", "the population")


@pytest.mark.slow(but=["all"])
@pytest.mark.parametrize("window", [{}, {"start": 50.0, "stop": 200.0}], ids=["all", "a part"])
def test_inside_jit(window):
    def all_of(batch):
        return {name: ask(name, batch, **window) for name in TRACED}

    got = jax.jit(all_of)(BATCH)
    for name in TRACED:
        same(got[name], ask(name, BATCH, **window), rtol=2e-5, atol=1e-6)
    assert {x.dtype for x in jax.tree.leaves(got)} <= {np.dtype("f4"), np.dtype("i4")}


def test_inside_jit_of_a_late_run():
    """At 10^7 ms float32 has whole ms: lengths are computed in steps."""
    first = 2 * 10**7
    sums = {"E": ALL.statistics["E"]}
    late = changed(first_step=jnp.full((2, 3), first, jnp.int32), counts={}, statistics=sums)
    for window in ({"start": 10_000_020.5}, {"stop": 10_000_150.25}):
        rates = lambda x, w=window: analysis.neuron_rates(x, "E", **w)  # noqa: E731
        same(jax.jit(rates)(late), rates(late), rtol=1e-6)


def test_inside_jit_of_no_step():
    spikes = dataclasses.replace(ALL.spikes, bits=(ALL.spikes.bits[0][:, :, :0],))
    none = changed(counts={}, statistics={}, spikes=spikes, info=ALL.info._replace(n_steps=0))
    for name in ("interval_cvs", "spike_counts", "population_rate"):
        got = jax.eval_shape(lambda x, name=name: ask(name, x), none)
        assert [x.shape for x in jax.tree.leaves(got)] == [
            np.shape(x) for x in jax.tree.leaves(ask(name, none))
        ]
    assert_refused(
        lambda: jax.eval_shape(lambda x: ask("neuron_rates", x), none), "neuron_rates", "the run"
    )


def test_inside_jit_from_a_time_on():
    def some(batch):
        rates = analysis.neuron_rates(batch, "E", start=100.0)
        return rates, analysis.interval_cv(batch, "E", stop=150.0)

    same(jax.jit(some)(BATCH), some(BATCH), rtol=1e-5)
    for window in (
        {"start": 90.0, "stop": 80.0},
        {"start": 90.0, "stop": 90.0, "bin_ms": 1.0},
        {"start": 90.0, "stop": 290.5},  # 200 ms were run
    ):
        function = analysis.spike_counts if "bin_ms" in window else analysis.neuron_rates
        ask_for = functools.partial(function, population="E", **window)
        assert_refused(lambda f=ask_for: jax.eval_shape(f, BATCH), function.__name__, "stop")
    assert_refused(
        lambda: jax.eval_shape(lambda x: analysis.spike_counts(x, "E", start=100.0), BATCH),
        "spike_counts",
        "start and stop",
        "start=100.0, stop=None",
    )


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, "summary"} - {*TRACED}))
def test_what_is_not_for_jit_says_what_to_return(name):
    with pytest.raises(jn.InvalidValueError, match="return the recording from the function"):
        jax.eval_shape(lambda x: ask(name, x) if name in FUNCTIONS else analysis.summary(x), BATCH)


def test_sums_and_counts_suffice():
    few = changed(spikes=None)
    names = "neuron_rates", "interval_cvs", "interval_cv", "population_rate", "count_synchrony"
    traced = jax.jit(lambda x: {name: ask(name, x) for name in names})(few)
    for name in names:
        same(ask(name, few), ask(name, BATCH), rtol=1e-12)
        same(traced[name], ask(name, BATCH), rtol=2e-5, atol=1e-6)
    for function in (analysis.neuron_rates, analysis.interval_cv):
        part = functools.partial(function, population="E", start=50.0)
        assert_refused(lambda part=part: part(few), function.__name__, "start and stop")
        with pytest.raises(jn.InvalidValueError, match="sums of the whole run"):
            jax.eval_shape(part, few)
    with pytest.raises(ValueError, match="were not recorded"):
        analysis.spike_counts(few, "E")
    assert_refused(
        lambda: jax.eval_shape(lambda x: analysis.spike_counts(x, "E"), few),
        "spike_counts",
        "spikes of 'E'",
        "none",
    )


@pytest.mark.slow
def test_rates_of_counts_have_a_gradient():
    few = dataclasses.replace(ALL[0, 0], spikes=None)

    def mean(scale):
        counts = {name: scale * x.astype(jnp.float32) for name, x in few.counts.items()}
        return analysis.population_rate(dataclasses.replace(few, counts=counts), "E", bin_ms=10.0)[
            1
        ].mean()

    value, slope = jax.jit(jax.value_and_grad(mean))(1.0)
    assert float(slope) == pytest.approx(float(value), rel=1e-5)


def test_what_is_no_source():
    trains, traces = jn.SpikeTrains([1.0], [0], 1, 0.0, 2.0), Traces([1.0, 2.0], [0.0, 1.0])
    two = BATCH[0, 0].result()
    for call, field in (
        (lambda: analysis.interval_cv(3), "the source"),
        (lambda: analysis.interval_cv(np.ones(3), "E"), "the source"),
        (lambda: analysis.interval_cv(traces), "the source"),
        (lambda: analysis.voltage_synchrony(trains), "the source"),
        (lambda: analysis.interval_cv(trains, "E"), "the name"),
        (lambda: analysis.voltage_synchrony(traces, "E"), "the name"),
        (lambda: analysis.interval_cv(two), "population"),
        (lambda: analysis.interval_cv(jax.tree.map(lambda x: x[:0], BATCH), "E"), "a batch"),
    ):
        owner = (
            "voltage_synchrony" if "voltage_synchrony" in call.__code__.co_names else "interval_cv"
        )
        assert_refused(call, owner, field)
    assert_refused(lambda: analysis.interval_cv(two, "X"), "interval_cv", "population", "'X'")
    with pytest.raises(ValueError, match=r"Record\(variables="):
        analysis.crossing_times(two, "I")


def test_the_only_population_needs_no_name():
    one = runs.result({"E": [(1.0, 0), (3.0, 0)]}, {"E": 2}, 10.0)
    assert analysis.neuron_rates(one).tolist() == [200.0, 0.0]


def test_a_part_of_the_samples():
    result = BATCH[0, 1].result()
    trains = analysis.crossing_times(result, "E", level=-60.0, start=50.0, stop=120.0)
    assert (trains.start, trains.stop) == (51.0, 120.0)
    whole = analysis.crossing_times(result, "E", level=-60.0)
    inside = whole.between(51.0, 120.0)
    np.testing.assert_allclose(trains.times, inside.times)
    assert 0 < len(trains) < len(whole)


def test_the_summary_of_a_batch():
    text = analysis.summary(BATCH, start=50.0)
    rates = analysis.neuron_rates(BATCH, "E", start=50.0).mean(axis=-1)
    line = f"  E: 5 neurons, {rates.mean():.2f} ({rates.min():.2f} to {rates.max():.2f}) Hz, CV"
    assert line in text
    assert "2 x 3 runs of 200 ms" in text
    assert len(text.splitlines()) == 3
    few = analysis.summary(changed(spikes=None))
    assert few == analysis.summary(BATCH)
    counts = analysis.summary(changed(spikes=None, statistics={}), start=50.0)
    assert counts.splitlines()[1] == line + " -"
    assert "not recorded" in analysis.summary(changed(spikes=None, statistics={}, counts={}))
    assert "key 5" in analysis.summary(BATCH[1, 2])


def test_the_table_of_the_guide():
    """It says of every function what it gives, of a run and of a batch, and whether in `jit`."""
    page = Path(jn.__file__).parents[1] / "docs" / "guide" / "analysis.md"
    rows = [[x.strip() for x in line.split("|")[1:-1]] for line in page.read_text().splitlines()]
    rows = {row[0].strip("`"): row[2:] for row in rows if len(row) == 5 and row[3] in KINDS}
    assert set(rows) == set(FUNCTIONS)
    for name, (shapes, kind, inside) in rows.items():
        of_batch, of_run = ask(name, BATCH), ask(name, BATCH[0, 1])
        assert KINDS[kind] is isinstance(of_batch, list), name
        assert (inside == "yes") is (name in TRACED), name
        if isinstance(of_run, jn.SpikeTrains):
            assert shapes == "`SpikeTrains`"
            continue
        said = [x.strip("()` ").rstrip(",") for x in shapes.split("`, `")]
        said = [x.split(", ") if x else [] for x in said]
        got = [np.shape(x) for x in jax.tree.leaves(of_run)]
        assert [len(x) for x in said] == [len(x) for x in got], name
        for axes, lengths in zip(said, got):
            assert all(n == runs.N for axis, n in zip(axes, lengths) if axis == "n" and n != 4)


KINDS = {"stacked": False, "a list": True}
