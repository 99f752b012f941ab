"""How a network is built: the same bits on any threads, narrow weights, progress, Ctrl-C."""

import sys
import threading
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._build import build as building
from jaxneuro._build import memory
from jaxneuro._describe.estimate import estimate
from jaxneuro._describe.resolve import Resolver
from jaxneuro._kernels import draw as draw_file
from jaxneuro._kernels import redraw
from jaxneuro._kernels import threads as threads_file
from jaxneuro._kernels.threads import threads
from jaxneuro._numerics.streams import seed_of
from jaxneuro._tables import lay_out
from jaxneuro.connectivity import (
    Explicit,
    FixedIndegree,
    FixedOutdegree,
    FixedProbability,
    FixedTotal,
    SymmetricBernoulli,
)
from tests.connectivity.drawing import draw, set_chunk
from tests.oracle.quantiles import positions_in_rows, probabilities

LIF = jn.neurons.LIF()
OWN = {"weight": jn.Normal(3.0, 1.0), "delay": jn.Uniform(0.1, 9.0)}
NEAR = jn.connectivity.DistanceProbability(jn.space.Gaussian(40.0))
CAPPED = jn.connectivity.DistanceProbability(jn.space.Gaussian(90.0), max_indegree=30)
RULES = {
    "total": FixedTotal(4000),
    "total-once": FixedTotal(4000, multapses=False),
    "indegree": FixedIndegree(40),
    "indegree-once": FixedIndegree(40, multapses=False, autapses=False),
    "outdegree": FixedOutdegree(45, autapses=False),
    "outdegree-once": FixedOutdegree(45, multapses=False),
    "probability": FixedProbability(0.4, autapses=False),
    "all": jn.connectivity.AllToAll(autapses=False),
    "symmetric": SymmetricBernoulli(0.3),
    "explicit": Explicit(np.arange(5000) % 97, np.arange(5000) * 7 % 100),
    "near": NEAR,
    "capped": CAPPED,
}


def within(rules, **values):
    """A population of 100 neurons with a projection for each rule."""
    grid = jn.space.Grid((10, 10), spacing=20.0, periodic=True)
    values = {**OWN, "synapse": jn.synapses.Exponential(), **values}
    projections = [
        jn.Projection("a", "a", rule, name=name, **values) for name, rule in rules.items()
    ]
    return jn.Description([jn.Population("a", 100, LIF, positions=grid)], projections)


def leaves(net):
    """All arrays of the connections."""
    return [np.asarray(x) for x in jax.tree.leaves(net.pathways)]


def same_bits(a, b):
    for x, y in zip(leaves(a), leaves(b), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@pytest.fixture
def many_chunks(monkeypatch):
    set_chunk(monkeypatch, 300)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize(
    "values", [{}, {"weight": lambda i, j: i + 0.5 * j, "delay": 0.3}], ids=["drawn", "computed"]
)
def test_bits_do_not_depend_on_threads(n, values, many_chunks, monkeypatch):
    base = jn.build(within(RULES, **values), 5, 0.1)
    monkeypatch.setattr(threads_file, "threads", lambda: n)
    same_bits(jn.build(within(RULES, **values), 5, 0.1), base)
    assert base.n_synapses > 40_000


@pytest.mark.slow
def test_without_the_library_it_is_the_same_network(many_chunks, monkeypatch):
    base = jn.build(within(RULES), 5, 0.1)
    for module in (draw_file, draw_file, redraw):
        monkeypatch.setattr(module, "native_library", lambda: None)
    same_bits(jn.build(within(RULES), 5, 0.1), base)


@pytest.mark.parametrize("chunk", [None, 700])
@pytest.mark.parametrize(
    "rule",
    [FixedOutdegree(900), FixedIndegree(1), FixedProbability(0.01)],
    ids=["k out", "k in", "p"],
)
def test_rows_over_blocks_of_65536_targets(rule, chunk, monkeypatch):
    """A row goes on in the next block of targets, with the weights of its next positions."""
    sizes, law = (20, 140_000), jn.Uniform(1.0, 9.0)
    if chunk is not None:
        set_chunk(monkeypatch, chunk)
    p = jn.Projection("a", "b", rule, weight=law, delay=0.1, synapse=jn.synapses.Delta(), name="p")
    populations = [jn.Population(k, n, LIF) for k, n in zip("ab", sizes)]
    net = jn.build(jn.Description(populations, [p]), 0, 0.1)
    table = net.pathways[0].table
    assert table.tags.size == 0
    assert table.block_offset.size == 3
    c = net.connections("p")
    pre, post = draw(rule, *sizes)
    np.testing.assert_array_equal(c.pre, pre)
    np.testing.assert_array_equal(c.post, post)
    some = np.linspace(0, pre.size - 1, 1500).astype(int)
    u = probabilities(0, "p", pre[some], positions_in_rows(pre)[some], 0)
    np.testing.assert_array_equal(c.weight[some], (1.0 + 8.0 * u).astype(np.float32))


def test_bfloat16_weights_are_the_rounded_ones():
    rules = {k: RULES[k] for k in ("total", "indegree", "near")}
    wide, narrow = (jn.build(within(rules), 5, 0.1, weights=w) for w in (None, jnp.bfloat16))
    (a,), (b,) = wide.pathways, narrow.pathways
    assert a.weights.dtype == jnp.float32
    assert b.weights.dtype == jnp.bfloat16
    np.testing.assert_array_equal(b.weights, np.asarray(a.weights).astype(ml_dtypes.bfloat16))
    assert wide.connection_bytes - narrow.connection_bytes == 2 * wide.n_synapses
    for name in rules:
        x, y = (net.connections(name).weight for net in (wide, narrow))
        assert y.dtype == np.float64
        np.testing.assert_array_equal(y, x.astype(ml_dtypes.bfloat16).astype(np.float64))
    for x, y in zip(jax.tree.leaves(a.table), jax.tree.leaves(b.table), strict=True):
        np.testing.assert_array_equal(x, y)


def test_bfloat16_weights_in_a_network_of_float64(x64):
    narrow = jn.build(within({"all": RULES["all"]}), 5, 0.1, jnp.float64, weights=jnp.bfloat16)
    wide = jn.build(within({"all": RULES["all"]}), 5, 0.1, jnp.float64)
    assert wide.pathways[0].weights.dtype == jnp.float64
    want = np.asarray(wide.pathways[0].weights).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(narrow.pathways[0].weights, want)


@pytest.mark.parametrize("weights", [jnp.float16, jnp.float64, np.int8, "half", 16], ids=str)
def test_other_weights_are_refused(weights):
    with pytest.raises(ValueError, match=r"weights must be None .*float32.* or bfloat16; got"):
        jn.build(within({}), 0, 0.1, weights=weights)


def test_narrow_weights_count_in_the_estimate(monkeypatch):
    expected = []
    monkeypatch.setattr(building, "check_fits", lambda estimate, *rest: expected.append(estimate))
    for weights in (None, jnp.bfloat16):
        jn.build(within({"all": RULES["all"]}), 0, 0.1, weights=weights)
    wide, narrow = expected
    assert wide.bytes - narrow.bytes == 2 * wide.synapses == 2 * 9900


@pytest.mark.parametrize("name", RULES)
def test_what_building_needs_counts_in_the_estimate(name, monkeypatch):
    """Free memory for the connections alone is too little, for what is held beside them enough."""
    description = within({name: RULES[name]})
    (p,) = estimate(resolved(description), 100).projections
    assert p.building >= 1200
    enough = p.bytes + p.building + 64 * p.synapses * (threads() + 2) + 1_000_000
    for free, fits in ((p.bytes + p.building, False), (enough, True)):
        monkeypatch.setattr(memory, "available_memory", lambda free=free: free)
        if fits:
            jn.build(description, 0, 0.1)
        else:
            with pytest.raises(ValueError, match="build: description must"):
                jn.build(description, 0, 0.1)


def resolved(description):
    resolver = Resolver(description, seed_of(0))
    return [resolver.resolve(p) for p in description.projections]


class Terminal:
    """Standard error that says it is a terminal."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def isatty(self):
        return True


def notebook(shell):
    """The module IPython, as it is loaded where `shell` runs the cells."""
    return SimpleNamespace(get_ipython=lambda: shell)


@pytest.mark.slow(but=["None"])
@pytest.mark.parametrize("shell", [None, SimpleNamespace(), SimpleNamespace(kernel=1)])
def test_progress_in_a_notebook(shell, many_chunks, capsys, monkeypatch):
    """Only the shell of a notebook has a kernel."""
    monkeypatch.setitem(sys.modules, "IPython", notebook(shell))
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(building, "_SHOWN", 1000)
    jn.build(within(RULES), 5, 0.1)
    assert ("building" in capsys.readouterr().err) == hasattr(shell, "kernel")
    jn.build(within(RULES), 5, 0.1, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("tqdm", [True, False], ids=["tqdm", "a line"])
def test_progress(tqdm, many_chunks, capsys, monkeypatch):
    if not tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    description = within(RULES)
    jn.build(description, 5, 0.1, progress=True)
    text = capsys.readouterr().err
    assert "building" in text
    assert "100" in text
    assert "million synapses" in text
    jn.build(description, 5, 0.1)
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    jn.build(description, 5, 0.1)  # a small one
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(building, "_SHOWN", 1000)
    jn.build(description, 5, 0.1, progress=False)
    assert capsys.readouterr().err == ""
    jn.build(description, 5, 0.1)
    assert "building" in capsys.readouterr().err


def test_progress_counts_every_synapse_once(many_chunks, monkeypatch):
    steps = []
    monkeypatch.setattr(building.Progress, "advance", lambda self, amount: steps.append(amount))
    net = jn.build(within(RULES), 5, 0.1)
    assert sum(steps) == pytest.approx(1e-6 * net.n_synapses)
    assert len(steps) > 100


@pytest.mark.slow(but=["40"])
@pytest.mark.parametrize("when", [3, 40, 90])
def test_ctrl_c_leaves_nothing_under_way(when, many_chunks, monkeypatch):
    """It comes in the main thread, which is told of progress, while others draw and write."""
    monkeypatch.setattr(threads_file, "threads", lambda: 4)
    base = jn.build(within(RULES), 5, 0.1)
    begun, done, calls, write = [], [], [], lay_out._write

    def counted(*arguments):
        begun.append(1)
        result = write(*arguments)
        done.append(1)
        return result

    def interrupt(self, amount):
        calls.append(1)
        if len(calls) == when:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(lay_out, "_write", counted)
        patched.setattr(building.Progress, "advance", interrupt)
        with pytest.raises(KeyboardInterrupt):
            jn.build(within(RULES), 5, 0.1)
        assert len(calls) == when
        assert len(begun) == len(done)
    same_bits(jn.build(within(RULES), 5, 0.1), base)


def test_an_error_in_a_thread_reaches_the_caller(many_chunks):
    class Broken(jn.connectivity.Rule):
        def check(self, name, n_pre, n_post, same):
            pass

        def expected(self, n_pre, n_post, same):
            return 5.0 * n_pre

        def rows(self, key, n_pre, n_post, same):
            def targets(first, stop):
                raise ValueError("projection 'q': there is a hole in the table")

            return jn.connectivity.RowDraws(np.full(n_pre, 5), targets)

        def draw(self, key, n_pre, n_post, same):
            return iter(())

    with pytest.raises(ValueError, match="a hole in the table"):
        jn.build(within({"p": RULES["all"], "q": Broken()}), 0, 0.1)


@pytest.mark.parametrize("rule", ["total", "indegree", "probability"])
def test_functions_of_a_person_run_in_the_thread_of_the_call(rule, many_chunks, monkeypatch):
    monkeypatch.setattr(threads_file, "threads", lambda: 4)
    seen = set()

    def weight(i, j):
        seen.add(threading.current_thread())
        return i + 0.5 * j

    net = jn.build(within({"own": RULES["all"], rule: RULES[rule]}, weight=weight), 0, 0.1)
    assert seen == {threading.current_thread()}
    c = net.connections(rule)
    np.testing.assert_array_equal(c.weight, c.pre + 0.5 * c.post)
