"""Recorders of a user's own: in scans, chunks, batches, files and saved runs."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import balanced
from tests.refusing import assert_refused

NET = jn.build(balanced(), 1, 0.1)


@dataclasses.dataclass(frozen=True)
class Quantiles:
    """Quantiles of v of a population, and the number of its spikes in the step."""

    population: str
    at: tuple[float, ...]

    def check(self, net, state):
        if self.population not in net.populations:
            raise jn.InvalidValueError("Quantiles", "population", "known", self.population)

    def sample(self, net, state, output):
        v = net.read(state, self.population, "v")
        spikes = output.spikes[self.population].sum(dtype=jnp.int32)
        return {"v": jnp.quantile(v, jnp.asarray(self.at)), "spikes": spikes}


QUARTILES = Quantiles("E", (0.25, 0.5, 0.75))
RECORD = jn.Record(variables={"E": "v"}, recorders={"quartiles": QUARTILES}, interval=0.5)


@pytest.fixture(scope="module")
def run():
    return jn.simulate(NET, 20.0, record=RECORD)


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    jax.tree.map(np.testing.assert_array_equal, a, b)


def test_it_samples(run):
    found = run.samples["quartiles"]
    expected = np.quantile(np.asarray(run.traces["E"]["v"]), QUARTILES.at, axis=1).T
    np.testing.assert_allclose(found["v"], expected, rtol=1e-5)
    steps = np.rint(run.spikes["E"].times / 0.1).astype(int)
    counts = np.bincount(steps, minlength=201)[5::5]
    np.testing.assert_array_equal(found["spikes"], counts)
    assert counts.sum() > 0


@pytest.mark.slow
def test_scan_and_batches(run):
    scan = jax.jit(lambda net, key: jn.scan(net, net.init(key), 200, None, RECORD)[1])
    same(scan(NET, 0).samples["quartiles"], run.samples["quartiles"])
    many = jax.jit(jax.vmap(scan, (None, 0)))(NET, np.arange(2, dtype=np.uint32))
    same(many[0].result().samples["quartiles"], run.samples["quartiles"])


def test_a_run_that_is_too_short_for_a_sample():
    short = jn.simulate(NET, 0.2, record=RECORD)
    assert short.samples["quartiles"]["v"].shape == (0, 3)
    assert "no samples" in repr(short)


def test_files(run, tmp_path):
    run.save(tmp_path / "run.npz")
    same(jn.Result.load(tmp_path / "run.npz").samples["quartiles"], run.samples["quartiles"])


def test_saved_runs(run, tmp_path):
    for ms in (10.0, 20.0):
        jn.simulate(NET, ms, record=RECORD, save=tmp_path / "run", every=5.0)
    found = jn.Recording.open(tmp_path / "run").samples["quartiles"]
    same(jax.tree.map(np.asarray, found), run.samples["quartiles"])
    other = dataclasses.replace(RECORD, recorders={"quartiles": Quantiles("I", (0.5,))})
    with pytest.raises(jn.InvalidValueError, match="quartiles"):
        jn.simulate(NET, 30.0, record=other, save=tmp_path / "run", every=5.0)


class Mean:
    def sample(self, net, state, output):
        return net.read(state, "E", "v").mean()


class Above(Mean):
    def __init__(self, v):
        self.v = v


@pytest.mark.parametrize(
    ("name", "recorder"),
    [
        ("traces", QUARTILES),  # the name of one of the package
        ("mine", Quantiles),  # a class
        ("mine", lambda net, state, output: state.step),
        ("mine", Quantiles("E", [0.5])),  # cannot be hashed
        ("mine", Above(-60.0)),  # attributes, but no dataclass
    ],
)
def test_refused(name, recorder):
    assert_refused(lambda: jn.Record(recorders={name: recorder}), "Record", "recorders")


def test_what_has_no_values_needs_no_dataclass():
    jn.Record(recorders={"mine": Mean()})


def test_a_network_that_does_not_fit():
    record = jn.Record(recorders={"mine": Quantiles("X", (0.5,))})
    for ms in (0.0, 1.0):
        assert_refused(lambda ms=ms: jn.simulate(NET, ms, record=record), "Quantiles", "population")


@dataclasses.dataclass(frozen=True)
class Nothing:
    def sample(self, net, state, output):
        return None


def test_a_recorder_that_returns_nothing():
    record = jn.Record(recorders={"mine": Nothing()})
    assert_refused(lambda: jn.simulate(NET, 1.0, record=record), "Record", "recorders['mine']")
