"""Numbers in SI units are refused with the unit; what somebody means on purpose passes."""

import dataclasses
import inspect

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._fields import Model
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


def net_of(*projections):
    return jn.Description([E], list(projections))


def spikes(weight, synapse):
    return jn.Stimulation("E", ST.Poisson(10.0), weight=weight, synapse=synapse)


def build(dt=0.1, **more):
    wires = [projection(1.0, S.Delta(), **more)] if more else []
    return jn.build(jn.Description([E], wires), 1, dt)


NETWORK = build()

REFUSED = {
    # seconds
    "tau_m": (lambda: LIF(tau_m=0.02), r"LIF: tau_m must be in ms; got 0\.02.* 20 \(s -> ms\)"),
    "t_ref": (lambda: LIF(t_ref=0.002), r"t_ref must be in ms.* mean 2 \(s"),
    "tau_syn": (lambda: S.Exponential(0.005), r"Exponential: tau_syn .*mean 5 \(s"),
    "a rule": (lambda: jn.plasticity.PairSTDP(tau_plus=0.02), r"tau_plus .*mean 20 \(s"),
    "a release": (lambda: jn.release.RateRelease(tau=0.02), r"tau .*mean 20 \(s"),
    "per neuron": (lambda: LIF(tau_m=[0.01, 0.02]), r"got 0\.01 at index 0, .* 10 \(s"),
    "one of them": (
        lambda: LIF(tau_m=[20.0, 20.0, 0.02]),
        r"LIF: tau_m must be in ms; got 0\.02 at index 2, .* 20 \(s -> ms\)",
    ),
    "one capacitance": (lambda: LIF(c_m=[0.2, 200.0]), r"got 0\.2 at index 0, .* 200 \(nF -> pF"),
    "one potential": (lambda: LIF(v_th=[-50.0, -50.0, -0.05]), r"v_th .* -0\.05 at index 2"),
    "one start": (
        lambda: population([-60.0, -60.0, -60.0, -0.06]),
        r"'E': initial v must be in mV; got -0\.06 at index 3, .* mean -60 \(V -> mV\)",
    ),
    "set": (lambda: NETWORK.set("E", tau_m=0.02), r"tau_m must be in ms.* 20 \(s"),
    "dt": (lambda: build(1e-4), r"dt must be in ms; got 0\.0001.* mean 0\.1"),
    "dt alone": (lambda: jn.simulate(LIF(), 1.0, dt=1e-4), r"dt must be in ms.* mean 0\.1"),
    "delay": (lambda: build(delay=0.0015), "projection 'E->E': delay must"),
    # volts
    "potentials": (lambda: LIF(v_th=-0.05, v_reset=-0.065, e_l=-0.07), r"mean -70 \(V -> mV\)"),
    "threshold": (lambda: LIF(v_th=-0.05), r"v_th must be in mV; got -0\.05.* mean -50 \(V"),
    "reversal": (lambda: S.GABA_A(e_rev=-0.07), r"e_rev must be in mV.* mean -70 \(V"),
    "channel": (lambda: jn.channels.Leak(e_rev=-0.054), r"e_rev must be in mV.* mean -54 \(V"),
    "slope": (lambda: N.AdEx(delta_t=0.002), r"delta_t must be in mV.* mean 2 \(V"),
    "start": (lambda: population(-0.065), r"'E': initial v must be in mV.* mean -65 \(V"),
    "starts": (lambda: population(np.full(4, -0.065)), r"initial v .* mean -65 \(V"),
    "drawn": (lambda: population(jn.Normal(-0.06, 0.004)), r"initial v must be in mV.*\(V"),
    "state0": (lambda: jn.simulate(LIF(), 1.0, dt=0.1, state0={"v": -0.06}), r"mean -60 \(V"),
    # capacitances, conductances
    "c_m": (lambda: LIF(c_m=0.25), r"c_m must be in pF; got 0\.25.* 250 \(nF -> pF\)"),
    "c_m in uF": (lambda: LIF(c_m=2.5e-4), r"c_m must be in pF.* 250 \(uF -> pF\)"),
    "c_m in F": (lambda: LIF(c_m=250e-12), r"c_m must be in pF.* 250 \(F -> pF\)"),
    "g_l": (lambda: N.AdEx(g_l=30e-9), r"g_l must be in nS.* 30 \(S -> nS\)"),
    "g_l in uS": (lambda: N.AdEx(c_m=281.0, g_l=3e-5), r"g_l must be in nS.* 0\.03 \(uS -> nS\)"),
    "area": (lambda: N.HodgkinHuxley(c_m=0.01), r"c_m must be in uF/cm2.* 1 \(F/m2"),
    "density": (lambda: jn.channels.Leak(g=3e-4), r"g must be in mS/cm2.* 0\.3 \(S/cm2"),
    # currents and weights
    "current": (lambda: ST.Current(2e-10), r"amplitude must be in pA.* 200 \(A -> pA\)"),
    "a signal": (
        lambda: ST.Current(ST.Sinusoid(0.0, 1e-10, 5.0)),
        r"amplitude must be in pA; got a Sinusoid .*-100 \(A",
    ),
    "noise": (lambda: ST.WhiteNoise(0.0, 2e-10), r"WhiteNoise: sd must be in pA.* 200 \(A"),
    "adaptation": (lambda: N.AdEx(b=80e-12), r"b must be in pA.* 80 \(A"),
    "in nA": (lambda: N.AdEx(b=0.0805), r"b must be in pA; got 0\.0805.* 80\.5 \(nA -> pA\)"),
    "its time": (lambda: N.AdEx(tau_w=0.144), r"tau_w must be in ms.* 144 \(s -> ms\)"),
    "modulator": (
        lambda: jn.Modulator("D", 0.2, {"E": {"tau_m": 0.1}}, source="E"),
        r"tau must be in ms.* 200 \(s -> ms\)",
    ),
    "subthreshold": (lambda: N.AdEx(a=4e-9), r"a must be in nS.* 4 \(S"),
    "weight": (lambda: projection(1e-9, S.AMPA()), r"'E->E': weight .*in nS.* 1 \(S -> nS\)"),
    "a port": (lambda: spikes(1e-9, S.Alpha()), r"stimulation .*weight must be in pA.*\(A -> pA"),
    "law": (lambda: projection(jn.Normal(5e-11, 5e-12), S.Alpha()), r"weight .*in pA.*\(A -> pA\)"),
    "table": (lambda: projection(np.full((4, 4), 5e-11), S.Exponential()), r"in pA.* 50 \(A"),
    "a weight that is set": (
        lambda: jn.build(net_of(projection(9.0, S.Alpha())), 1, 0.1).set("E->E", weight=9e-12),
        r"weight must be in pA.* 9 \(A -> pA\)",
    ),
    "weights that are set": (
        lambda: jn.build(net_of(projection(np.full((4, 4), 9.0), S.Alpha())), 1, 0.1).set(
            "E->E", weight=np.full(16, 9e-12)
        ),
        r"weight must be in pA.* 9 \(A -> pA\)",
    ),
    "a stimulation that is set": (
        lambda: jn.build(jn.Description([E], [], [spikes(5.0, S.Alpha())]), 1, 0.1).set(
            "Poisson->E", weight=9e-12
        ),
        r"weight must be in pA.* 9 \(A -> pA\)",
    ),
    "junctions that are set": (
        lambda: jn.build(
            jn.Description([E], couplings=[jn.Coupling("E", "E", ALL, weight=0.1)]), 1, 0.1
        ).set("E~E", weight=1e-9),
        r"weight must be in nS.* 1 \(S -> nS\)",
    ),
    "an input": (
        lambda: jn.simulate(jn.build(net_of(), 1, 0.1), 1.0, inputs={"E": np.full(10, 3e-10)}),
        r"the input of 'E' must be in pA.* 300 \(A",
    ),
    "gain": (lambda: projection(1e-12, S.GABA_A(), gain=2.0), r"weight .*in nS.* \(S -> nS\)"),
    "junctions": (lambda: jn.Coupling("E", "E", ALL, weight=1e-9), r"'E~E': weight .* 1 \(S"),
    # theory
    "siegert": (lambda: siegert(0.012, 0.004, 20, 0.01, 0.0), r"v_th and v_reset .*in mV.* 10 \(V"),
    "its tau": (lambda: siegert(12, 4, 0.02, 10, 0), r"tau_m must be in ms.* 20 \(s"),
    "its t_ref": (lambda: siegert(12, 4, 20, 10, 0, 0.002), r"t_ref must be in ms.* 2 \(s"),
    "cv": (lambda: cv_diffusion(12, 4, 0.02, 10, 0), r"tau_m must be in ms.* 20 \(s"),
    "moments": (lambda: input_moments(5, [[1]], [[0.1]], 0.02), r"tau_m must be in ms.* 20 \(s"),
    "rates": (
        lambda: self_consistent_rates([[1]], [[1e-4]], 20.0, 0.02, 0.01),
        r"v_th and v_reset must be in mV.* 20 \(V",
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
}


@pytest.mark.parametrize("make", MEANT.values(), ids=MEANT.keys())
def test_what_is_meant_passes(make):
    make()


WARNED = {
    "a weight": (
        lambda: projection(1e9, S.Exponential()),
        r"'E->E': a weight of 1e\+09 pA is more than any synapse",
    ),
    "a jump": (lambda: spikes(1e9, S.Delta()), r"'Poisson->E': a weight of 1e\+09 mV"),
}


@pytest.mark.parametrize(("make", "message"), WARNED.values(), ids=WARNED.keys())
def test_what_is_hardly_meant_is_told(make, message):
    with pytest.warns(UserWarning, match=message) as seen:
        make()
    assert [w.filename for w in seen] == [__file__]


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


def test_an_own_least_size():
    with pytest.raises(ValueError, match=r"Own: slow must be in ms; got 1\.5.* 1500 \(s -> ms\)"):
        Own(slow=1.5)


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
    dataclasses.replace(model)
    for field in dataclasses.fields(model):
        kind = field.metadata.get("kind")
        value = getattr(model, field.name)
        if getattr(kind, "unit", "1") in UNITS and not isinstance(value, Model):
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
        make()


LEGAL = {
    "near rest": lambda: LIF(e_l=0.0, v_th=15.0, v_reset=0.1),
    "below rest": lambda: LIF(e_l=0.0, v_th=15.0, v_reset=-0.1),
    "rest near 0": lambda: LIF(e_l=1e-3, v_th=15.0, v_reset=0.0),
    "normalised": lambda: LIF(tau_m=20.0, e_l=0.0, v_th=0.1, v_reset=0.0),
    "reversal of a normalised model": lambda: jn.synapses.ExponentialConductance(5.0, e_rev=-0.1),
    "a readout": lambda: jn.neurons.LeakyIntegrator(e_l=0.1),
    "no threshold": lambda: LIF(v_th=1e3),
    "Brunel": lambda: LIF(e_l=0.0, v_th=20.0, v_reset=10.0),
    "a whole cell": lambda: N.HodgkinHuxley(
        (jn.channels.SquidSodium(g=24_000.0), jn.channels.Leak(g=60.0)), c_m=200.0
    ),
    "a short pause": lambda: LIF(t_ref=0.005),
}


@pytest.mark.parametrize("make", LEGAL.values(), ids=LEGAL.keys())
def test_what_may_be_meant_passes(make):
    make()
