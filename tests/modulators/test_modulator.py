"""Modulators: their level, what they scale, the signals that they take and give."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.io import format_description, parse_description
from tests.refusing import assert_refused

DT, STEPS = 0.1, 120
BOUNDS = {"lowest": 0.1, "highest": 2.0}
PAIR = jn.connectivity.AllToAll()
CURRENT = jn.synapses.Exponential(5.0)
AMOUNTS = {
    "A->B": {"gain": 0.5},
    "B": {"tau_m": -0.2, "e_l": 0.01},
    "slow": {"tau_syn": 0.3, "U": -0.4},
    "wave": {"amplitude": 0.25},
    "kicks": {"weight": 0.7},
    "rain": {"rate": 0.5},
    "gap": {"gain": 2.0},
}


def described(**keywords):
    """Two populations of one group and one of another, with everything that can be scaled."""
    lif, other = jn.neurons.LIF(), jn.neurons.LIF(tau_m=30.0)
    release = jn.release.TsodyksMarkram(U=0.4, tau_rec=50.0, tau_fac=30.0)
    spikes = jn.stimuli.SpikeTimes([1.0, 1.0, 4.0, 6.0], [0, 1, 2, 0])
    return jn.Description(
        [
            jn.Population("A", 3, lif),
            jn.Population("B", 4, other),
            jn.Population("C", 2, jn.neurons.AdEx()),
        ],
        [
            jn.Projection("A", "B", PAIR, weight=90.0, delay=0.3, synapse=CURRENT),
            jn.Projection("A", "A", PAIR, weight=70.0, delay=0.2, synapse=CURRENT),
            jn.Projection(
                *("A", "C", PAIR),
                weight=400.0,
                delay=0.2,
                synapse=jn.synapses.Exponential(3.0),
                release=release,
                name="slow",
            ),
        ],
        [
            jn.Stimulation("A", spikes, weight=30.0, synapse=jn.synapses.Delta(), name="kicks"),
            jn.Stimulation("C", jn.stimuli.Current(300.0), name="wave"),
            jn.Stimulation(
                *("B", jn.stimuli.Poisson(900.0)),
                weight=0.2,
                synapse=jn.synapses.Delta(),
                name="rain",
            ),
        ],
        couplings=[jn.Coupling("B", "B", PAIR, weight=1.0, name="gap")],
        **keywords,
    )


def modulator(**keywords):
    given = {"source": "A", "signal": "reward", "per_spike": 0.3} | BOUNDS
    return jn.Modulator("dopamine", 4.0, AMOUNTS, **(given | keywords))


def run(net, inputs, record=None):
    record = record or jn.Record(variables={"dopamine": "level", "B": "v", "C": "v", "A": "v"})
    return jn.simulate(net, STEPS * DT, key=3, inputs=inputs, record=record, progress=False)


def value_of(name, parameter):
    """What a parameter is without a modulator."""
    d = described()
    things = {x.name: x for x in (*d.populations, *d.projections, *d.stimuli, *d.couplings)}
    thing = things[name]
    if parameter in ("gain", "weight"):
        return getattr(thing, parameter)
    parts = (getattr(thing, part, None) for part in ("model", "synapse", "release", "stimulus"))
    return next(getattr(part, parameter) for part in parts if hasattr(part, parameter))


@pytest.fixture(scope="module")
def modulated():
    with jax.enable_x64(True):
        reward = np.zeros(STEPS)
        reward[[20, 70]] = 0.5, 0.9
        net = jn.build(described(modulators=[modulator()]), 1, DT, jnp.float64)
        return net, {"reward": reward}, run(net, {"reward": reward})


@pytest.mark.slow
def test_the_level_follows_spikes_and_the_signal(modulated):
    """dc/dt = -(c - baseline) / tau in closed form, jumps at the end of the step."""
    _, inputs, result = modulated
    times, _ = result.events("A")
    counts = np.bincount(np.rint(np.asarray(times) / DT).astype(int) - 1, minlength=STEPS)
    assert counts.sum() >= 3
    level, expected = 0.0, []
    for count, extra in zip(counts, inputs["reward"]):
        level = level * np.exp(-DT / 4.0) + 0.3 * count + extra
        expected.append(level)
    np.testing.assert_allclose(result.traces["dopamine"]["level"][:, 0], expected, rtol=1e-13)


def test_the_level_returns_to_its_baseline():
    """From its start, and from what is set free, in closed form."""
    cells = [jn.Population("A", 2, jn.neurons.LIF())]
    given = np.zeros(STEPS)
    given[30] = 0.7
    decayed = np.exp(-DT * np.arange(1, STEPS + 1) / 4.0)
    later = np.where(np.arange(STEPS) < 30, 0.0, 0.7 * np.exp(-DT * (np.arange(STEPS) - 30) / 4.0))
    for start, away in ((1.5, 1.1), (None, 0.0)):  # without a start it is at its baseline
        how = {"signal": "given", "baseline": 0.4, "start": start} | BOUNDS
        m = jn.Modulator("m", 4.0, {"A": {"tau_m": 0.1}}, **how)
        net = jn.build(jn.Description(cells, modulators=[m]), 0, DT)
        found = run(net, {"given": given}, jn.Record(variables={"m": "level"})).traces["m"]["level"]
        np.testing.assert_allclose(found[:, 0], 0.4 + away * decayed + later, rtol=1e-5)


@pytest.mark.slow
def test_everything_is_scaled_as_if_it_were_set(modulated):
    """In every step the network is the one whose parameters are multiplied by 1 + a c."""
    _, _, result = modulated
    levels = np.asarray(result.traces["dopamine"]["level"][:, 0])
    with jax.enable_x64(True):
        plain = jn.build(described(), 1, DT, jnp.float64)

        def body(state, level):
            net = plain
            for name, amounts in AMOUNTS.items():
                for key, amount in amounts.items():
                    factor = jnp.clip(1 + amount * level, *BOUNDS.values())
                    net = net.set(name, **{key: factor * value_of(name, key)})
            state, _ = net.step(state)
            return state, [net.read(state, p, "v") for p in "ABC"]

        before = jnp.asarray(np.concatenate([[0.0], levels[:-1]]))
        _, traces = jax.jit(lambda s: jax.lax.scan(body, s, before))(plain.init(3))
    for name, expected in zip("ABC", traces):
        np.testing.assert_allclose(result.traces[name]["v"], expected, rtol=1e-12)
    unscaled = jn.build(described(), 1, DT)
    other = run(unscaled, {}, jn.Record(variables={"B": "v"})).traces["B"]["v"]
    assert np.abs(np.asarray(other) - result.traces["B"]["v"]).max() > 0.1


@pytest.mark.slow
def test_chunks_and_files_change_nothing(modulated):
    _, inputs, result = modulated
    with jax.enable_x64(True):
        text = format_description(described(modulators=[modulator()]))
        again = jn.build(parse_description(text), 1, DT, jnp.float64)
        half = {"reward": inputs["reward"][: STEPS // 2]}, {"reward": inputs["reward"][60:]}
        record = jn.Record(variables={"dopamine": "level", "A": "v"})
        first = jn.simulate(again, 6.0, key=3, inputs=half[0], record=record, progress=False)
        second = jn.simulate(
            again, 6.0, state=first.state, inputs=half[1], record=record, progress=False
        )
    for name, variable in (("dopamine", "level"), ("A", "v")):
        joined = np.concatenate([r.traces[name][variable] for r in (first, second)])
        np.testing.assert_array_equal(joined, result.traces[name][variable])


@pytest.mark.slow
def test_batches_and_gradients():
    """Over per_spike: a batch is its members, a gradient the quotient of differences."""
    with jax.enable_x64(True):
        scales = {"C": {"g_l": 0.4}}
        m = jn.Modulator("dopamine", 4.0, scales, source="A", signal="reward", **BOUNDS)
        net = jn.build(described(modulators=[m]), 1, DT, jnp.float64)
        state, inputs = net.init(0), {"reward": jnp.full(STEPS, 0.01)}

        def last(x):
            changed = net.set("dopamine", per_spike=x)
            return jnp.sum(net.read(jn.scan(changed, state, STEPS, inputs)[0], "C", "v"))

        x, step = jnp.array([0.1, 0.3, 0.3 + 1e-5, 0.3 - 1e-5]), 1e-5
        values, slopes = jax.jit(jax.vmap(jax.value_and_grad(last)))(x)
    assert values[0] != values[1]
    assert float(slopes[1]) == pytest.approx(float(values[2] - values[3]) / (2 * step), rel=1e-5)


def test_a_modulator_is_the_signal_of_a_rule():
    """Spikes of A as a reward: the same as a run that is given what they set free."""
    rule = jn.plasticity.RewardModulatedSTDP(reward="dopamine", tau_c=200.0)
    plastic = jn.Projection(
        *("A", "A", PAIR), weight=10.0, delay=0.2, synapse=CURRENT, plasticity=rule, name="learns"
    )
    d = described()
    parts = d.populations, [*d.projections, plastic], d.stimuli
    m = jn.Modulator("dopamine", 10.0, source="A", per_spike=0.02, signal="reward")
    fed = jn.build(jn.Description(*parts, modulators=[m]), 1, DT)
    assert fed.signals == ("reward",)
    given = jn.build(jn.Description(*parts), 1, DT)
    assert given.signals == ("dopamine",)
    reward = np.full(STEPS, 1e-3, np.float32)
    a = run(fed, {"reward": reward}, jn.Record())
    times, _ = a.events("A")
    counts = np.bincount(np.rint(np.asarray(times) / DT).astype(int) - 1, minlength=STEPS)
    b = run(given, {"dopamine": np.float32(0.02) * counts.astype(np.float32) + reward}, jn.Record())
    weights = [net.weights(r.state, "learns") for net, r in ((fed, a), (given, b))]
    np.testing.assert_array_equal(*weights)
    assert np.abs(np.asarray(weights[0]) - 10.0).max() > 1e-4


def built(m, deterministic=False):
    return jn.build(described(modulators=[m]), 1, DT, deterministic=deterministic)


def simple(scales, **keywords):
    return jn.Modulator("m", 5.0, scales, **({"start": 1.0} | keywords))


def small(m):
    """Two projections with named receptors, and gap junctions of neurons stepped by Euler."""
    how = {"weight": 1.0, "delay": 0.1, "synapse": CURRENT}
    p, q = (jn.Projection("A", "A", PAIR, **how, receptor_name=x, name=x) for x in "pq")
    gap = jn.Coupling("A", "A", PAIR, weight=0.01, name="gap")
    population = jn.Population("A", 2, jn.neurons.Izhikevich())
    return jn.Description([population], [p, q], couplings=[gap], modulators=[m])


BAD = {
    "tau": (lambda: jn.Modulator("m", 0.0, start=1.0), "modulator 'm'", "tau", "0.0"),
    "nothing sets it free": (lambda: jn.Modulator("m", 1.0), "modulator 'm'", "source", "None"),
    "a number": (
        lambda: simple({"A": {"tau_m": "x"}}),
        *("modulator 'm'", "scales", "'x' at ['tau_m'] at ['A']"),
    ),
    "amounts": (lambda: simple({"A": 2.0}), "modulator 'm'", "scales", "2.0 at ['A']"),
    "bounds": (lambda: simple({}, lowest=1.5), "modulator 'm'", "lowest", "1.5"),
    "a sign that would turn": (lambda: simple({}, lowest=-0.1), "modulator 'm'", "lowest", "-0.1"),
    "a time constant of 0": (
        lambda: built(simple({"A": {"tau_m": -1.0}})),
        *("modulator 'm'", "lowest", "tau_m of 'A' times 0: population 'A'"),
    ),
    "a probability above 1": (
        lambda: built(simple({"slow": {"U": 1.0}}, highest=3.0)),
        *("modulator 'm'", "highest", "U of 'slow' times 3: projection 'slow'"),
    ),
    "a weight where none is": (
        lambda: built(simple({"wave": {"weight": 1.0}})),
        *("modulator 'm'", "scales", "there is no parameter of stimulation"),
    ),
    "gap junctions that two modulators make unstable": (
        lambda: jn.build(
            jn.Description(
                *([jn.Population("A", 2, jn.neurons.Izhikevich())], (), ()),
                couplings=[jn.Coupling("A", "A", PAIR, weight=4.0, name="gap")],
                modulators=[
                    jn.Modulator(m, 5.0, {"gap": {"gain": 1.0}}, start=1.0, highest=2.0)
                    for m in "pq"
                ],
            ),
            *(1, DT),
        ),
        *("modulators 'p' and 'q'", "highest", "gain of 'gap' times 4: coupling 'gap'"),
    ),
    "signal": (lambda: simple({}, signal=""), "modulator 'm'", "signal", "''"),
    "source": (
        lambda: described(modulators=[simple({}, source="X")]),
        *("modulator 'm'", "source", "'X'"),
    ),
    "a population's signal": (
        lambda: described(modulators=[simple({}, signal="A")]),
        *("modulator 'm'", "signal", "'A', a population"),
    ),
    "another modulator's level": (
        lambda: described(modulators=[simple({}, signal="k"), jn.Modulator("k", 1.0, start=1.0)]),
        *("modulator 'm'", "signal", "'k', another modulator, which cannot"),
    ),
    "a number that float32 does not hold": (
        lambda: built(simple({"A": {"e_l": 0.1}}, per_spike=1e300)),
        *("modulator 'm'", "per_spike", "1e+300"),
    ),
    "a taken name": (
        lambda: described(modulators=[jn.Modulator("A", 1.0, start=1.0)]),
        *("Description", "modulators", "population 'A' and modulator 'A'"),
    ),
    "an unknown name": (
        lambda: described(modulators=[simple({"A->X": {"gain": 1.0}})]),
        *("modulator 'm'", "scales", "'A->X'"),
    ),
    "an unknown parameter": (
        lambda: built(simple({"A->B": {"tau": 1.0}})),
        *("modulator 'm'", "scales", "there is no parameter of projection"),
    ),
    "a whole number of steps": (
        lambda: built(simple({"A": {"t_ref": 1.0}})),
        *("modulator 'm'", "scales", "t_ref of population 'A', a whole number"),
    ),
    "one number twice": (
        lambda: jn.build(small(simple({"p": {"tau_syn": 1.0}, "A.p": {"tau_syn": 1.0}})), 1, DT),
        *("modulator 'm'", "scales", "tau_syn twice, by two names of one model"),
    ),
    "gap junctions without a bound": (
        lambda: built(simple({"gap": {"gain": 1.0}})),
        *("modulator 'm'", "highest", "none"),
    ),
    "unstable gap junctions": (
        lambda: jn.build(small(simple({"gap": {"gain": 1.0}}, highest=1e6)), 1, DT),
        *("modulator 'm'", "highest", "gain of 'gap' times 1e+06: coupling"),
    ),
    "counted arrivals": (
        lambda: jn.build(small(simple({"p": {"gain": 1.0}})), 1, DT, deterministic=True),
        *("modulator 'm'", "scales", "one"),
    ),
    "a missing signal": (
        lambda: run(built(simple({}, signal="reward")), {}, jn.Record()),
        *("simulate", "the input of 'reward'", "none"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(case):
    assert_refused(*BAD[case])


def test_a_parameter_may_be_called_gain():
    """That of a rate unit, which is no gain of a coupling."""
    cells = [jn.Population("R", 2, jn.neurons.LinearRate())]
    names = [f for f in ("gain", "tau") if hasattr(cells[0].model, f)]
    scales = {"R": dict.fromkeys(names, 0.5)}
    m = simple(scales, lowest=0.5, highest=2.0)
    net = jn.build(jn.Description(cells, modulators=[m]), 0, DT)
    assert len(net.modulators[0].targets) == len(names) >= 1


def test_a_modulator_that_nothing_reads_is_said(caplog):
    """It can be recorded, but it does nothing."""
    cells = [jn.Population("R", 2, jn.neurons.LIF())]
    jn.build(jn.Description(cells, modulators=[simple({})]), 0, DT)
    assert "modulator 'm' scales nothing, and no rule of plasticity reads it" in caplog.text
