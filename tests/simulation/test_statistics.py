"""Running sums of spikes: exact, in chunks, batches, on several devices; CVs and rates of them."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxneuro as jn
from jaxneuro._kernels.wide import wide_integers, wide_product, wide_words
from jaxneuro._run.recorded import NotRecordedError
from jaxneuro._run.statistics import SpikeSums, cvs_of_sums, joined_sums, sums_of
from tests.oracle import spike_sums as oracle
from tests.parallel.networks import mesh

# Relays spike as they are told; those of the soft population have a surrogate gradient.
SOFT = jn.neurons.LIF(
    tau_m=5.0, v_th=-50.0, e_l=-60.0, t_ref=0.3, surrogate=jn.surrogates.FastSigmoid()
)
MADE = jn.Description(
    [jn.Population("told", 7, jn.neurons.Relay()), jn.Population("soft", 3, SOFT)],
    [],
    [jn.Stimulation("soft", jn.stimuli.Current([2000.0, 9000.0, 0.0]))],
)
NET = jn.build(MADE, 0, 0.1)
RECORD = jn.Record(statistics=..., rates=True)
STEPS = 120
RUN = jax.jit(jn.scan, static_argnums=(2, 4))
RNG = np.random.default_rng(3)


def told(rng=RNG):
    """Spikes of the relays: none, one, two, in every step, a clock, and two at random."""
    spikes = rng.random((STEPS, 7)) < 0.2
    spikes[:, :5] = False
    spikes[17, 1] = spikes[0, 2] = spikes[-1, 2] = True
    spikes[:, 3] = True
    spikes[3::13, 4] = True
    return spikes


TOLD = told()


def fields(sums):
    """Count, first, last and squares of each neuron, as the oracle has them."""
    columns = *map(np.asarray, sums[:3]), wide_integers(sums.squares)
    return [tuple(int(x) for x in row) for row in zip(*columns)]


def expected(result, name):
    return oracle.sums(result.spikes[name].dense(0.1), result.first_step)


@pytest.mark.slow(but=["None"])
@pytest.mark.parametrize("chunk", [None, 1, 7, 40])
def test_they_are_those_of_the_spikes(chunk, chunks):
    if chunk:
        chunks(chunk)
    result = jn.simulate(NET, STEPS / 10, inputs={"told": TOLD}, record=RECORD)
    assert fields(result.statistics["told"]) == oracle.sums(TOLD, 0)
    assert fields(result.statistics["soft"]) == expected(result, "soft")
    assert len(result.spikes["soft"]) > 5
    assert {type(x) for x in result.statistics["told"]} == {np.ndarray}
    silent = jn.simulate(
        NET, STEPS / 10, inputs={"told": TOLD}, record=jn.Record(spikes=False, statistics="told")
    )
    assert list(silent.statistics) == ["told"]
    assert fields(silent.statistics["told"]) == oracle.sums(TOLD, 0)


@pytest.mark.parametrize("cut", [1, 30, 119])
def test_two_runs_add_up(cut):
    first = jn.simulate(NET, cut / 10, inputs={"told": TOLD[:cut]}, record=RECORD)
    rest = jn.simulate(
        NET, (STEPS - cut) / 10, inputs={"told": TOLD[cut:]}, record=RECORD, state=first
    )
    assert fields(rest.statistics["told"]) == oracle.sums(TOLD[cut:], cut)
    both = joined_sums(first.statistics["told"], rest.statistics["told"])
    assert fields(both) == oracle.sums(TOLD, 0)


def test_a_batch():
    trials = np.stack([told() for _ in range(3)])
    many = jax.jit(
        jax.vmap(lambda x: jn.scan(NET, NET.init(0), STEPS, {"told": x}, RECORD)[1].statistics)
    )(trials)
    for k, spikes in enumerate(trials):
        mine = SpikeSums(*(x[k] for x in many["told"]))
        assert fields(mine) == oracle.sums(spikes, 0)


@pytest.mark.slow
def test_two_devices():
    """On two devices, also where they take several steps between two exchanges."""
    slow = jn.Projection(
        "told",
        "soft",
        jn.connectivity.AllToAll(),
        weight=900.0,
        delay=0.5,
        synapse=jn.synapses.Exponential(2.0),
    )
    made = jn.Description(MADE.populations, [slow], MADE.stimuli)
    one, two = jn.build(made, 0, 0.1), jn.build(made, 0, 0.1, mesh=mesh(2))
    assert two.expand().steps_together(STEPS) == 5
    alone = jn.simulate(one, STEPS / 10, inputs={"told": TOLD}, record=RECORD)
    laid = jn.simulate(two, STEPS / 10, inputs={"told": TOLD}, record=RECORD)
    runs = [laid.statistics]
    for record in (RECORD, jn.Record(statistics=..., means={"soft": "v"}, interval=0.1)):
        runs.append(RUN(two, two.init(0), STEPS, {"told": TOLD}, record)[1].statistics)
    for found in runs:
        assert fields(found["told"]) == oracle.sums(TOLD, 0)
        assert fields(found["soft"]) == expected(alone, "soft")


def test_a_gradient_goes_past_them():
    def spikes(gain):
        net = NET.set("soft", tau_m=5.0 * gain)
        recording = jn.scan(net, net.init(0), STEPS, {"told": TOLD}, RECORD)[1]
        return recording.counts["soft"].sum(), recording.statistics["soft"]

    (count, sums), slope = jax.jit(jax.value_and_grad(spikes, has_aux=True))(1.0)
    assert int(count) == int(sums.count.sum()) > 5
    assert np.isfinite(slope)
    assert slope != 0.0


WORDS = st.one_of(
    st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**16 - 1, 2**16, 2**31, 2**32 - 1])
)
product = jax.jit(wide_product)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=8, max_size=8))
def test_products(pairs):
    a, b = np.array(pairs, np.uint32).T
    words = np.asarray(product(a, b)).astype(object)
    assert [int(low + (high << 32)) for low, high in words] == [x * y for x, y in pairs]


def sums_from(trains):
    """The sums of lists of steps."""
    rows = [
        (
            len(t),
            *((t[0], t[-1]) if t else (0, 0)),
            sum((b - a) ** 2 for a, b in itertools.pairwise(t)),
        )
        for t in trains
    ]
    count, first, last, squares = zip(*rows)
    whole = (np.array(x, np.int32) for x in (count, first, last))
    return SpikeSums(*whole, wide_words(np.array(squares, np.int64)))


FAR = 2**20
TRAINS = [
    list(range(5, 5 + 1000 * 37, 37)),  # a clock
    [FAR * k for k in range(1500)],  # one with long intervals
    [0, FAR, 2 * FAR + 1],  # nearly one
    [0, 2**31 - 2],  # two spikes
    [0, 1, 2**31 - 2],
    [10, 11, 14, 30, 31, 90],
    [7],
    [],
]
traced_cvs = jax.jit(cvs_of_sums, static_argnums=1)


def test_cvs():
    sums = sums_from(TRAINS)
    exact = [oracle.cv(*row) if row[0] > 2 else np.nan for row in fields(sums)]
    known, traced = cvs_of_sums(sums), traced_cvs(sums, 3)
    assert (known.dtype, traced.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(known, exact, rtol=1e-9)
    np.testing.assert_allclose(traced, exact, rtol=1e-4)
    assert known[0] == known[1] == traced[0] == traced[1] == 0.0
    assert known[2] > 0.0
    assert traced[2] > 0.0
    for found in (cvs_of_sums(sums, 2), traced_cvs(sums, 2)):
        assert found[3] == 0.0  # of one interval
        assert np.isnan(found[6:]).all()


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=12, max_size=12))
def test_joined_sums_are_associative(spikes):
    parts = [oracle.sums(spikes[k : k + 4], k) for k in (0, 4, 8)]
    a, b, c = (
        SpikeSums(
            *np.array(part, np.int64).T[:3].astype(np.int32), wide_words([x[3] for x in part])
        )
        for part in parts
    )
    left, right = joined_sums(joined_sums(a, b), c), joined_sums(a, joined_sums(b, c))
    assert fields(left) == fields(right) == oracle.sums(spikes, 0)


def test_a_scan():
    """In the loop; `simulate` makes them of the spikes of its chunks."""
    state = NET.init(0)._replace(step=jnp.int32(1000))
    found = RUN(NET, state, STEPS, {"told": TOLD}, RECORD)[1].statistics
    assert fields(found["told"]) == oracle.sums(TOLD, 1000)


def test_sums_of_dense_spikes():
    found = jax.jit(sums_of)(TOLD, jnp.int32(1000))
    assert fields(found) == oracle.sums(TOLD, 1000)


def test_rates():
    every = jn.simulate(NET, STEPS / 10, inputs={"told": TOLD}, record=RECORD)
    record = jn.Record(spikes=False, statistics="told")
    sums = jn.simulate(NET, STEPS / 10, inputs={"told": TOLD}, record=record)
    assert sums.rate("told") == every.rate("told") > 0.0
    assert sums.rate("told", 0.0, STEPS / 10) == every.rate("told")
    with pytest.raises(NotRecordedError):
        sums.rate("told", 1.0, 2.0)
    with pytest.raises(NotRecordedError):
        sums.rate("soft")
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.simulate(NET, 1.0, record=jn.Record(statistics="else"))
    assert "told" in str(caught.value)
