"""A sweep refuses, before it compiles, what a single run refuses; and nothing else."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._numerics.streams import seed_of
from jaxneuro.parallel import _sweep_program as _sweep_checks
from jaxneuro.parallel._sweep_points import Points, read_points
from jaxneuro.parallel._sweep_program import SweepProgram
from tests.refusing import assert_refused

LIF = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-40.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)


@pytest.fixture(scope="module")
def net():
    fast = jn.synapses.AMPA()
    description = jn.Description(
        [jn.Population("E", 6, LIF)],
        [],
        [jn.Stimulation("E", jn.stimuli.Poisson(50.0), weight=1.0, synapse=fast, name="noise")],
    )
    return jn.build(description, key=1, dt=0.1)


@pytest.fixture(scope="module")
def check(net):
    """Traces a function that sets values of the network, and makes its checks."""

    def made(fn, grid, keep=lambda swept: swept.groups[0].model.tau_m):
        points = read_points(grid)
        program = SweepProgram(lambda **point: keep(fn(net, **point)), points.one(0))
        program.check(points)
        assert len(program._jaxpr.outvars) == len(program.leaves)

    return made


@pytest.mark.parametrize(
    ("fn", "grid", "message"),
    [
        (lambda n, x: n.set("E", tau_m=x), [20.0, -5.0, 9.0], r"x=-5\. is refused: .* tau_m must"),
        (lambda n, x: n.set("E", tau_m=jnp.log(x)), [20.0, 0.5], r"x=0\.5 .*tau_m must .* -0\.69"),
        (
            lambda n, x: n.set("E", t_ref=x),
            [2.0, 2.05, 2.1],
            r"x=2\.05 .*whole number of time steps",
        ),
        (lambda n, x: n.set("E", v_th=x), [-50.0, -70.0], r"x=-70\. .*v_th must be above v_reset"),
        (lambda n, x: n.set("noise", rate=x), [9.0, -5.0], "noise.*rate must be .*at least 0.0 Hz"),
        (lambda n, x: n.set("noise", weight=x), [9.0, -5.0], "stimulation 'noise': weight must"),
        (lambda n, x: (n.init(x), n)[1], [3, -1], "x=-1 is refused: key must be an integer"),
    ],
)
def test_what_a_single_run_refuses(check, fn, grid, message):
    with pytest.raises(ValueError, match=f"sweep: the point .*{message}"):
        check(fn, {"x": grid})


def test_what_a_single_run_warns_of(check):
    with pytest.warns(UserWarning, match="tau_m must be in ms; got 0.02, far too small") as seen:
        check(lambda n, x: n.set("E", tau_m=x), {"x": [20.0, 0.02]})
    assert len(seen) == 1


def test_a_number_per_neuron(check):
    with pytest.raises(ValueError, match=r"tau_m must be finite and above .* at index 3"):
        check(
            lambda n, x: n.set("E", tau_m=x), {"x": np.array([[9.0] * 6, [9.0] * 3 + [-1.0] * 3])}
        )


def test_numbers_of_many_neurons_are_looked_at_where_the_grid_is_extreme(monkeypatch, check):
    monkeypatch.setattr(_sweep_checks, "_SMALL", 4)
    for grid in ([9.0, 8.0, -1.0, 7.0], [9.0, -1.0, 0.5, 7.0]):
        with pytest.raises(
            ValueError, match=r"x=-1\. is refused: .*tau_m must be finite and above"
        ):
            check(lambda n, x: n.set("E", tau_m=x * jnp.ones(6)), {"x": grid})


def test_values_that_do_not_go_together(check):
    """Each axis alone is allowed, and so is the first point of the grid."""
    grid = {"low": [-80.0, -60.0, -52.0], "high": [-50.0, -55.0]}
    with pytest.raises(
        ValueError, match=r"low=-52., high=-55. is refused: .*v_th must be above v_reset"
    ):
        check(lambda n, low, high: n.set("E", v_reset=low, v_th=high), grid)
    with pytest.raises(ValueError, match=r"depend on each other go into one net\.set"):
        check(lambda n, low, high: n.set("E", v_reset=low).set("E", v_th=high), grid)


@pytest.mark.parametrize(
    "fn",
    [
        lambda n, x: n.set("E", t_ref=x, v_th=-50.0 + x),
        lambda n, x: n.set("E", tau_m=jnp.where(x > 2.2, 20.0, x)),
        lambda n, x: n.set("E", tau_m=jax.lax.cond(x > 0.0, lambda: x, lambda: -x)),
        lambda n, x: jax.lax.cond(x > 9.0, lambda: n.set("E", tau_m=x - 8.0), lambda: n),
        lambda n, x: n.set("E", tau_m=x).set("noise", rate=jnp.zeros(6), weight=x),
        lambda n, x: (n.init(jax.random.key(x.astype(int))), n)[1],
    ],
)
def test_what_a_single_run_takes(check, fn):
    check(fn, {"x": [2.0, 2.1, 2.3, 2.3000002]})


def test_a_jitted_function_is_looked_into(net):
    fn = functools.partial(jax.jit(lambda n, tau: n.set("E", tau_m=tau).groups[0].model.tau_m), net)
    with pytest.raises(ValueError, match=r"tau=-5\. is refused"):
        jn.sweep(fn, {"tau": [-5.0]})
    with pytest.raises(ValueError, match=r"tau=-5\. is refused"):
        jn.sweep(
            jax.jit(lambda tau: net.set("E", tau_m=tau).groups[0].model.tau_m), {"tau": [-5.0]}
        )


def test_nothing_of_the_run_is_computed(net):
    """What a check needs is computed, not what comes after: a callback would tell."""
    called = []

    def fn(x):
        swept = net.set("E", tau_m=x)
        jax.debug.callback(called.append, x)
        return swept.groups[0].model.tau_m

    program = SweepProgram(fn, {"x": np.float32(1.0)})
    program.check(read_points({"x": [3.0, 5.0]}))
    assert called == []


def test_a_large_grid_is_looked_at_along_its_axes(monkeypatch):
    monkeypatch.setattr(_sweep_checks, "_MOST", 50)
    x = np.arange(100.0)
    points = Points({"a": -x, "b": x, "c": np.abs(x - 30.0)}, product=True)
    at = points.take(_sweep_checks._candidates(points))
    assert len(at["a"]) < 300
    ends = {(a, b, c) for a, b, c in zip(*(at[k].tolist() for k in "abc"))}
    assert {(a, b, c) for a in (0.0, -99.0) for b in (0.0, 99.0) for c in (0.0, 69.0)} <= ends
    listed = Points({"a": -x, "b": np.abs(x - 30.0)}, product=False)
    rows = _sweep_checks._candidates(listed)
    assert {0, 30, 99} <= set(rows.tolist())


def test_building_and_seeds_that_are_no_whole_numbers(net):
    def builds(x):
        rule, synapse = jn.connectivity.AllToAll(), jn.synapses.AMPA()
        pair = jn.Projection("E", "E", rule, weight=x, delay=1.0, synapse=synapse)
        return jn.build(jn.Description([jn.Population("E", 6, LIF)], [pair]), key=1, dt=0.1).init(0)

    with pytest.raises(ValueError, match=r"Build the network once, outside, .* got JitTracer"):
        jn.sweep(builds, {"x": [1.0, 2.0]})
    assert_refused(
        lambda: jn.sweep(lambda seed: net.init(seed).seed, {"seed": np.linspace(0, 9, 10)}),
        "sweep",
        "key",
        "float32 numbers",
    )


def test_start_values_and_weights_are_checked(check):
    gate = jn.synapses.TwoStateConductance()
    rule = jn.plasticity.PairSTDP(w_max=100.0)
    one = jn.connectivity.OneToOne()
    wire = jn.Projection("E", "E", one, weight=1.0, delay=1.0, synapse=gate, plasticity=rule)
    plastic = jn.build(jn.Description([jn.Population("E", 6, LIF)], [wire]), key=1, dt=0.1)
    weigh = lambda _, x: plastic.with_weights(plastic.init(1), "E->E", x)  # noqa: E731
    with pytest.raises(ValueError, match=r"x=1000\. is refused: .* within the bounds of PairSTDP"):
        check(weigh, {"x": [50.0, 1000.0]}, lambda state: state.step)
    start = lambda _, x: plastic.with_values(plastic.init(1), "E->E", r=x)  # noqa: E731
    with pytest.raises(ValueError, match=r"x=2\. is refused: .*r must be from 0 to 1"):
        check(start, {"x": [1.0, 2.0]}, lambda state: state.step)
    check(start, {"x": [0.5, 1.0]}, lambda state: state.step)


def test_large_seeds():
    seeds = [1, 2**31 + 5, 2**32 - 1]
    words = jn.sweep(lambda seed: seed_of(seed), {"seed": seeds}, progress=False)
    assert words.values.tolist() == seeds
    assert words.axes["seed"].tolist() == seeds


def test_a_parameter_on_which_nothing_depends(net, caplog):
    def other(gain, seed):
        net.set("noise", weight=gain)  # and not the network that runs
        return jn.scan(net, net.init(seed), 5)[0].step

    grid = {"gain": [0.5, 1.0], "seed": [1, 2]}
    jn.sweep(other, grid, progress=False)
    assert "sweep: no result depends on gain. Is the network" in caplog.text
    caplog.clear()
    jn.sweep(lambda gain, seed: (gain, seed), grid, progress=False)
    jn.sweep(lambda gain: 1.0, {"gain": [1.0]}, progress=False)
    assert not caplog.text
