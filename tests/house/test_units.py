"""Numbers that may be in SI units: `build` and `simulate` warn once per field, nothing refuses."""

import inspect
import warnings

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._build.units import check_units
from jaxneuro._fields import Model, parameters, unit_guesses
from jaxneuro._units import warn_of_units
from jaxneuro.analysis import cv_diffusion, input_moments, self_consistent_rates, siegert
from jaxneuro.spec import UNITS
from tests.zoo import CASES

N, S, ST = jn.neurons, jn.synapses, jn.stimuli
LIF = N.LIF
E = jn.Population("E", 4, LIF())
ALL = jn.connectivity.AllToAll()
NORMALISED = LIF(tau_m=1.0, c_m=1.0, e_l=0.0, v_th=1.0, v_reset=0.1, t_ref=0.0)


def population(v, model=E.model):
    return jn.Population("E", 4, model, {"v": v})


def projection(weight, synapse, **more):
    return jn.Projection("E", "E", ALL, **{"delay": 1.0, **more}, weight=weight, synapse=synapse)


def spikes(weight, synapse):
    return jn.Stimulation("E", ST.Poisson(10.0), weight=weight, synapse=synapse)


def coupling(weight):
    return jn.Coupling("E", "E", ALL, weight=weight)


def described(*parts):
    """A network of one population with models, populations, projections and so on."""
    kinds = (jn.Population, jn.Projection, jn.Stimulation, jn.Coupling, jn.Modulator)
    found = {kind: [] for kind in kinds}
    for part in parts:
        if isinstance(part, jn.Neuron):
            part = jn.Population("E", 4, part)
        elif isinstance(part, jn.Stimulus):
            part = jn.Stimulation("E", part)
        elif isinstance(part, jn.Synapse):
            part = projection(1.0, part)
        elif isinstance(part, jn.Release):
            part = projection(1.0, S.Delta(), release=part)
        elif isinstance(part, jn.Plasticity):
            part = projection(1.0, S.Delta(), plasticity=part)
        found[type(part)].append(part)
    populations, projections, stimuli, couplings, modulators = found.values()
    return jn.Description(
        populations or [E], projections, stimuli, couplings=couplings, modulators=modulators
    )


def build(*parts, dt=0.1):
    return jn.build(described(*parts), 1, dt)


def look(*parts, dt=0.1):
    """What `build` does first, without the rest of it."""
    check_units(described(*parts), dt)


NETWORK = build(projection(9.0, S.Alpha()), spikes(5.0, S.Alpha()), coupling(0.1))
DENSE = build(projection(np.full((4, 4), 9.0), S.Alpha()))

WARNED = {
    # seconds
    "tau_m": (
        lambda: look(LIF(tau_m=0.02)),
        r"LIF: tau_m must be in ms; got 0\.02, far too small: did you mean 20 \(s -> ms\)\?",
    ),
    "built": (lambda: build(LIF(tau_m=0.02)), r"LIF: tau_m must be in ms; .* 20 \(s -> ms\)\?"),
    "alone": (lambda: jn.simulate(LIF(tau_m=0.02), 0.2, dt=0.1), r"LIF: tau_m .* 20 \(s -> ms\)"),
    "tau_syn": (lambda: look(S.Exponential(0.005)), r"Exponential: tau_syn .*mean 5 \(s"),
    "a port": (
        lambda: look(S.Into(S.Ionotropic(e_gaba=-0.08), "gaba")),
        r"Ionotropic: e_gaba must be",
    ),
    "a stimulus": (lambda: look(ST.OrnsteinUhlenbeck(0.0, 1.0, tau=0.02)), r"tau .*mean 20 \(s"),
    "a rule": (lambda: look(jn.plasticity.PairSTDP(tau_plus=0.02)), r"tau_plus .*mean 20 \(s"),
    "a release": (lambda: look(jn.release.RateRelease(tau=0.02)), r"tau .*mean 20 \(s"),
    "a modulator": (
        lambda: look(jn.Modulator("D", 0.02, {"E": {"tau_m": 0.1}}, source="E")),
        r"modulator 'D': tau must be in ms.* 20 \(s -> ms\)",
    ),
    "per neuron": (lambda: look(LIF(tau_m=[0.01, 0.02] * 2)), r"0\.01 at index 0, .* 10 \(s"),
    "one of them": (
        lambda: look(LIF(tau_m=[20.0, 20.0, 20.0, 0.02])),
        r"LIF: tau_m must be in ms; got 0\.02 at index 3, .* 20 \(s -> ms\)",
    ),
    "its time": (
        lambda: look(N.AdEx(tau_w=0.144), dt=0.2),
        r"tau_w must be in ms.* 144 \(s -> ms\)",
    ),
    "set": (lambda: NETWORK.set("E", tau_m=0.02), r"population 'E': tau_m must be in ms.* 20 \(s"),
    # volts
    "threshold": (lambda: look(LIF(v_th=-0.05)), r"v_th must be in mV; got -0\.05.* mean -50 \(V"),
    "one potential": (lambda: look(LIF(v_th=[-50.0, -50.0, -50.0, -0.05])), r"v_th .*at index 3"),
    "reversal": (lambda: look(S.GABA_A(e_rev=-0.07)), r"e_rev must be in mV.* mean -70 \(V"),
    "channel": (
        lambda: look(N.HodgkinHuxley([jn.channels.Leak(e_rev=-0.054)])),
        r"Leak: e_rev must be in mV.* mean -54 \(V",
    ),
    "slope": (lambda: look(N.AdEx(delta_t=0.002)), r"delta_t must be in mV.* mean 2 \(V"),
    "start": (lambda: look(population(-0.065)), r"'E': initial v must be in mV.* mean -65 \(V"),
    "starts": (lambda: look(population(np.full(4, -0.065))), r"initial v .* mean -65 \(V"),
    "one start": (
        lambda: look(population([-60.0, -60.0, -60.0, -0.06])),
        r"'E': initial v must be in mV; got -0\.06 at index 3, .* mean -60 \(V -> mV\)",
    ),
    "drawn": (lambda: look(population(jn.Normal(-0.06, 0.004))), r"initial v must be in mV.*\(V"),
    "state0": (lambda: jn.simulate(LIF(), 0.2, dt=0.1, state0={"v": -0.06}), r"mean -60 \(V"),
    "a state": (
        lambda: NETWORK.with_values(NETWORK.init(0), "E", v=-0.065),
        r"population 'E': v must be in mV.* mean -65 \(V",
    ),
    # capacitances, conductances
    "c_m": (lambda: look(LIF(c_m=0.25)), r"c_m must be in pF; got 0\.25.* 250 \(nF -> pF\)"),
    "c_m in uF": (lambda: look(LIF(c_m=2.5e-4)), r"c_m must be in pF.* 250 \(uF -> pF\)"),
    "c_m in F": (lambda: look(LIF(c_m=250e-12)), r"c_m must be in pF.* 250 \(F -> pF\)"),
    "one c_m": (lambda: look(LIF(c_m=[0.2, *[200.0] * 3])), r"0\.2 at index 0, .* 200 \(nF -> pF"),
    "g_l": (lambda: look(N.AdEx(g_l=30e-9)), r"g_l must be in nS.* 30 \(S -> nS\)"),
    "g_l in uS": (lambda: look(N.AdEx(g_l=3e-5)), r"g_l must be in nS.* 0\.03 \(uS -> nS\)"),
    "area": (lambda: look(N.HodgkinHuxley(c_m=0.01)), r"c_m must be in uF/cm2.* 1 \(F/m2"),
    "density": (
        lambda: look(N.HodgkinHuxley([jn.channels.Leak(g=3e-4)])),
        r"Leak: g must be in mS/cm2.* 0\.3 \(S/cm2",
    ),
    # currents and weights
    "current": (lambda: look(ST.Current(2e-10)), r"amplitude must be in pA.* 200 \(A -> pA\)"),
    "a signal": (
        lambda: look(ST.Current(ST.Sinusoid(0.0, 1e-10, 5.0))),
        r"amplitude must be in pA; got a Sinusoid of -1e-10 to 1e-10, .*-100 \(A",
    ),
    "noise": (lambda: look(ST.WhiteNoise(0.0, 2e-10)), r"WhiteNoise: sd must be in pA.* 200 \(A"),
    "adaptation": (lambda: look(N.AdEx(b=80e-12)), r"b must be in pA.* 80 \(A"),
    "in nA": (lambda: look(N.AdEx(b=0.0805)), r"b must be in pA; got 0\.0805.* 80\.5 \(nA -> pA\)"),
    "subthreshold": (lambda: look(N.AdEx(a=4e-9)), r"a must be in nS.* 4 \(S"),
    "weight": (lambda: look(projection(1e-9, S.AMPA())), r"'E->E': weight .*in nS.* 1 \(S -> nS\)"),
    "gain": (lambda: look(projection(1e-12, S.AMPA(), gain=2.0)), r"weight .*in nS.* \(S -> nS\)"),
    "sent": (
        lambda: look(spikes(1e-9, S.Alpha())),
        r"stimulation .*weight must be in pA.*\(A -> pA",
    ),
    "law": (lambda: look(projection(jn.Normal(5e-11, 5e-12), S.Alpha())), r"in pA.*\(A -> pA\)"),
    "table": (lambda: look(projection(np.full((4, 4), 5e-11), S.Alpha())), r"in pA.* 50 \(A"),
    "junctions": (lambda: look(coupling(1e-9)), r"'E~E': weight .* 1 \(S"),
    "a weight that is set": (
        lambda: NETWORK.set("E->E", weight=9e-12),
        r"weight must be in pA.* 9 \(A -> pA\)",
    ),
    "weights that are set": (
        lambda: DENSE.set("E->E", weight=np.full(16, 9e-12)),
        r"weight must be in pA.* 9 \(A -> pA\)",
    ),
    "a stimulation that is set": (
        lambda: NETWORK.set("Poisson->E", weight=9e-12),
        r"weight must be in pA.* 9 \(A -> pA\)",
    ),
    "junctions that are set": (
        lambda: NETWORK.set("E~E", weight=1e-9),
        r"weight must be in nS.* 1 \(S -> nS\)",
    ),
    "an input": (
        lambda: jn.simulate(NETWORK, 0.2, inputs={"E": np.full(2, 3e-10)}),
        r"the input of 'E' must be in pA.* 300 \(A",
    ),
    "a current over time": (
        lambda: jn.simulate(LIF(), dt=0.1, current=np.full((2, 1), 3e-10)),
        r"the input of 'neurons' must be in pA.* 300 \(A",
    ),
    # theory
    "siegert": (lambda: siegert(0.012, 0.004, 20, 0.01, 0.0), r"v_th and v_reset .*in mV.* 10 \(V"),
    "its tau": (lambda: siegert(12, 4, 0.02, 10, 0), r"siegert: tau_m must be in ms.* 20 \(s"),
    "its t_ref": (lambda: siegert(12, 4, 20, 10, 0, 0.002), r"t_ref must be in ms.* 2 \(s"),
    "cv": (lambda: cv_diffusion(12, 4, 0.02, 10, 0), r"tau_m must be in ms.* 20 \(s"),
    "moments": (lambda: input_moments(5, [[1]], [[0.1]], 0.02), r"tau_m must be in ms.* 20 \(s"),
    "rates": (
        lambda: self_consistent_rates([[1]], [[1e-4]], 20.0, 0.02, 0.01),
        r"v_th and v_reset must be in mV.* 20 \(V",
    ),
    # too large
    "a large weight": (
        lambda: look(projection(1e9, S.Exponential())),
        r"'E->E': a weight of 1e\+09 pA is more than any synapse",
    ),
    "a jump": (lambda: look(spikes(1e9, S.Delta())), r"'Poisson->E': a weight of 1e\+09 mV"),
}


@pytest.mark.parametrize(("make", "message"), WARNED.values(), ids=WARNED.keys())
def test_warned_once(make, message):
    with pytest.warns(UserWarning, match=f"(?s){message}") as seen:
        make()
    assert [w.filename for w in seen] == [__file__]


def test_every_field_is_warned_of_once():
    """Not once per population, and in the order of the fields."""
    cells = LIF(tau_m=0.02, v_th=-0.05, v_reset=-0.065, e_l=-0.07)
    several = [jn.Population(name, 4, cells) for name in ("E", "I")]
    several += [jn.Population(name, 4, LIF(), {"v": -0.06}) for name in ("A", "B")]
    wires = [projection(1e-9, S.Alpha(), name=name) for name in ("F", "G")]
    with pytest.warns(UserWarning, match="far too small") as seen:
        look(*several, *wires)
    told = [str(w.message).partition(" must")[0] for w in seen]
    fields = "LIF: tau_m", "LIF: e_l", "LIF: v_th", "LIF: v_reset", "population 'A': initial v"
    assert told == [*fields, "projection 'F': weight"]


# What the time step, the time grid or the range refuses, with the hint.
REFUSED = {
    "dt": (lambda: build(dt=1e-4), r"dt must be at least 0\.001 ms; got 0\.0001.* mean 0\.1 \(s"),
    "dt alone": (lambda: jn.simulate(LIF(), 1.0, dt=1e-4), r"dt must be at least.* mean 0\.1"),
    "dt of a file": (lambda: jn.SpikeTrains([1.0], [0], 1, 0.0, 2.0).dense(1e-4), "mean 0.1"),
    "t_ref": (lambda: build(LIF(t_ref=0.002)), r"t_ref must be a whole.* mean 2 \(s"),
    "delay": (
        lambda: build(projection(1.0, S.Delta(), delay=0.0015)),
        r"projection 'E->E': delay must be a whole.* mean 1\.5 \(s",
    ),
    "one delay": (
        lambda: build(projection(1.0, S.Delta(), delay=np.where(np.eye(4), 2.0, 0.002))),
        r"delay must be a whole number.* mean 2 \(s",
    ),
    "a duration of a rule": (
        lambda: build(jn.plasticity.HomeostaticScaling(None, 5.0, interval=0.05)),
        r"interval must be a whole.* mean 50 \(s",
    ),
    "order": (
        lambda: LIF(v_reset=-0.065),
        r"v_th must be above v_reset .*; v_reset is -0\.065, far too small: did you mean -65 \(V",
    ),
    "order of times": (
        lambda: S.DoubleExponential(tau_decay=0.005),
        r"tau_decay must be above tau_rise .*; tau_decay is 0\.005, .* mean 5 \(s -> ms\)",
    ),
    "order that is set": (
        lambda: NETWORK.set("E", v_reset=-0.065),
        r"population 'E': v_th must be above v_reset .* mean -65 \(V",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make()


class Own(jn.Release):
    """A model whose time constant may be of any size."""

    tau: jn.Parameter = jn.param(1.0, unit="ms", above=0.0, least=0.0)
    theta: jn.Parameter = jn.param(1.0, unit="mV", least=0.0)
    slow: jn.Parameter = jn.param(1000.0, unit="ms", least=20.0)

    def init(self, n):
        return None

    def step(self, state, spikes, v, dt):
        return state, spikes


MEANT = {
    "zeros": lambda: LIF(e_l=0.0, v_th=20.0, v_reset=0.0, t_ref=0.0),
    "normalised": lambda: NORMALISED,
    "its start": lambda: population(0.05, NORMALISED),
    "a start at rest": lambda: population(0.05, LIF(e_l=0.0, v_th=20.0, v_reset=0.0)),
    "a start above 0": lambda: population(0.05),
    "one large": lambda: LIF(e_l=[0.01, -70.0, 0.0, -0.07]),
    "around 0": lambda: LIF(e_l=[0.01, -70.0, -5.0, -60.0]),
    "a start among others": lambda: population(np.array([-70.0, -40.0, -5.0, -0.1])),
    "drawn up to 0": lambda: population(jn.Uniform(-60.0, 0.0)),
    "large": lambda: LIF(tau_m=1e6, c_m=1e9, v_th=1e30),
    "empty": lambda: LIF(tau_m=np.zeros(0)),
    "least": lambda: Own(tau=1e-9, theta=-1e-3, slow=20.0),
    "Izhikevich": lambda: N.Izhikevich(tau_m=0.001),
    "femtosiemens": lambda: projection(1e-6, S.AMPA()),
    "no weight": lambda: projection(0.0, S.AMPA()),
    "small jumps": lambda: projection(1e-9, S.Delta()),
    "no gain": lambda: projection(1.0, S.AMPA(), gain=0.0),
    "learned": lambda: projection(1e-9, S.AMPA(), plasticity=jn.plasticity.PairSTDP(w_max=1.0)),
    "no current": lambda: ST.Current(0.0),
    "half a ms": lambda: jn.simulate(NETWORK, 0.5),
    "1 us": lambda: jn.simulate(LIF(), 0.01, dt=0.001),
    "theory": lambda: siegert([0.1, 0.0], 0.05, 1.0, 1.0, 0.0, 0.0),
    "colours": lambda: siegert(12.0, 4.0, 20.0, 10.0, 0.0, 0.01, tau_syn=0.0),
    "near rest": lambda: LIF(e_l=0.0, v_th=15.0, v_reset=0.1),
    "below rest": lambda: LIF(e_l=0.0, v_th=15.0, v_reset=-0.1),
    "rest near 0": lambda: LIF(e_l=1e-3, v_th=15.0, v_reset=0.0),
    "a threshold of its own unit": lambda: LIF(tau_m=20.0, e_l=0.0, v_th=0.1, v_reset=0.0),
    "reversal of a normalised model": lambda: jn.synapses.ExponentialConductance(5.0, e_rev=-0.1),
    "a readout": lambda: jn.neurons.LeakyIntegrator(e_l=0.1),
    "no threshold": lambda: LIF(v_th=1e3),
    "Brunel": lambda: LIF(e_l=0.0, v_th=20.0, v_reset=10.0),
    "a whole cell": lambda: N.HodgkinHuxley(
        (jn.channels.SquidSodium(g=24_000.0), jn.channels.Leak(g=60.0)), c_m=200.0
    ),
    "a short pause": lambda: LIF(t_ref=0.005),
}


def guesses_of(made, dt=0.1):
    """Looks at a model alone, or at parts of a description as `build` does."""
    if isinstance(made, Model):
        warn_of_units(unit_guesses(made, dt))
    elif isinstance(made, jn.Population | jn.Projection):
        look(made, dt=dt)


@pytest.mark.parametrize("make", MEANT.values(), ids=MEANT.keys())
def test_what_may_be_meant_passes(make):
    guesses_of(make())


# Good values at a small time step.
GOOD = {
    "delay": lambda: build(projection(1.0, S.Delta(), delay=0.002), dt=0.001),
    "axonal": lambda: build(
        projection(
            1.0, S.Delta(), delay=0.003, axonal=0.002, plasticity=jn.plasticity.PairSTDP(w_max=2.0)
        ),
        dt=0.001,
    ),
    "a synapse": lambda: build(projection(1e3, S.Exponential(0.04)), dt=0.01),
    "as long as a step": lambda: build(
        projection(1e5, S.Exponential(0.01)), LIF(tau_m=0.01), dt=0.01
    ),
    "a stimulus": lambda: build(ST.OrnsteinUhlenbeck(0.0, 1.0, tau=0.02), dt=0.01),
    "a rule": lambda: build(jn.plasticity.PairSTDP(tau_plus=0.03, w_max=2.0), dt=0.01),
    "a duration of a rule": lambda: build(
        jn.plasticity.HomeostaticScaling(None, 5.0, interval=0.002), dt=0.001
    ),
    "a membrane": lambda: jn.simulate(LIF(tau_m=0.02), 0.02, dt=0.01),
    "made alone": lambda: (LIF(c_m=0.4), N.AdEx(delta_t=0.005), jn.plasticity.PairSTDP(0.001)),
    "the least time step": lambda: build(LIF(t_ref=0.001), dt=0.001),
    "rounded": lambda: build(dt=0.011 - 0.010),
    "check_interval": lambda: jn.simulate(
        LIF(), 0.05, dt=0.025, until=lambda _: False, check_interval=0.025
    ),
    "a part and its steps": lambda: (
        jn.SpikeTrains([0.03, 2.0], [0, 0], 1, 0.0, 3000.0).between(0.025, 2.5).dense(0.005)
    ),
    "a part of a run": lambda: jn.simulate(NETWORK, 3.0).spikes.between("E", 0.002, 0.003),
    "steps from a time": lambda: jn.SpikeTrains([0.03], [0], 1, 0.0, 3.0).steps(0.001, 0.002),
    "a distance of trains": lambda: jn.analysis.van_rossum(
        jn.SpikeTrains([0.03, 0.04], [0, 1], 2, 0.0, 3.0), tau=0.01
    ),
}


@pytest.mark.parametrize("make", GOOD.values(), ids=GOOD.keys())
def test_a_good_value_passes(make):
    make()


@pytest.mark.parametrize("make", [lambda: LIF(c_m=0.4), lambda: N.AdEx(delta_t=0.005)])
def test_another_quantity_is_warned_of_at_any_time_step(make):
    with pytest.warns(UserWarning, match="far too small: did you mean") as seen:
        build(make(), dt=0.001)
    assert len(seen) == 1


def test_a_description_is_built_where_warnings_are_shown():
    """The network is that of the numbers that were given."""
    with pytest.warns(UserWarning, match="tau_m"):
        net = build(LIF(tau_m=0.02))
    assert net.get("E", "tau_m") == np.float32(0.02)


NO_NUMBERS = {
    "a truth value": (lambda: LIF(tau_m=True), r"LIF: tau_m must be a number .* got True"),
    "truth values": (lambda: LIF(v_th=[True, False]), r"LIF: v_th must be a number .* got \[True"),
    "a true weight": (lambda: projection(True, S.Alpha()), r"weight must be a number.* got True"),
    "a list of none": (lambda: LIF(tau_m=[]), r"LIF: tau_m must be a number .* got \[\]"),
}


@pytest.mark.parametrize(("make", "message"), NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_no_numbers(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("dt", "warned"), [(1.0, False), (20.0, True)])
def test_an_own_least_size(dt, warned):
    """Of a time only below the time step."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        look(Own(slow=1.5), dt=dt)
    told = [str(w.message) for w in seen]
    assert len(told) == warned
    assert (
        not warned
        or "Own: slow must be in ms; got 1.5, far too small: did you mean 1500" in told[0]
    )


def test_numbers_are_not_checked_while_they_are_traced():
    small = np.float32(0.02)
    assert jax.jit(lambda tau: LIF(tau_m=tau).tau_m)(small) == small
    assert jax.jit(jax.grad(lambda tau: LIF(tau_m=tau).tau_m))(small) == 1.0
    assert jax.jit(jax.vmap(lambda v: LIF(v_th=v).v_th))(np.array([-small]))[0] == -small
    assert jax.grad(lambda tau: LIF(tau_m=tau).tau_m)(small) == 1.0
    assert jax.vmap(lambda v: LIF(v_th=v).v_th)(np.array([-small]))[0] == -small


@pytest.mark.parametrize("name", CASES)
def test_every_model_may_be_in_its_usual_numbers(name):
    """Those of the zoo are at least twice the least size."""
    model = CASES[name].model
    guesses_of(model, dt=10.0)
    for field in parameters(type(model)):
        kind, value = field.metadata["kind"], getattr(model, field.name)
        if kind.unit in UNITS and not isinstance(value, Model):
            least = UNITS[kind.unit].least if kind.least is None else kind.least
            size = np.max(np.abs(value), initial=0.0)
            assert size == 0.0 or size >= 2.0 * least, field.name


def presets():
    """Class methods of models that make one with published numbers."""
    for folder in (N, S, jn.release, jn.plasticity, jn.channels):
        for cls in vars(folder).values():
            if inspect.isclass(cls) and issubclass(cls, Model):
                yield from (
                    getattr(cls, name)
                    for name, x in vars(cls).items()
                    if isinstance(x, classmethod) and name[0] != "_"
                )


@pytest.mark.parametrize("make", [*presets()], ids=lambda f: f.__qualname__)
def test_presets_pass(make):
    given = inspect.signature(make).parameters.values()
    if all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in given):
        guesses_of(make(), dt=10.0)
