"""Float32 against float64 for every time constant, from a hundredth of it per step to 1e-8."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network.slow import slow_variables
from jaxneuro._numerics.compensated import no_low, step_compensated
from tests.zoo import CASES, cast, init

STEPS, RATIOS = 1000, 10.0 ** -np.arange(2.0, 9.0)
CLOSE = 0.01  # of what a run of so many steps changes
# Releases but the short-term ones stay single numbers: build warns of what they would lose.
SINGLE = (jn.release.RateRelease, jn.release.NMDAGate, jn.release.ClearedTransmitter)


def constants_of(model):
    """The longest time constant of each variable that has one."""
    return {name: float(np.max(tau)) for name, tau in model.time_constants().items()}


MODELS = {
    name: case.model
    for name, case in CASES.items()
    if not isinstance(case.model, (jn.Stimulus, *SINGLE)) and "surrogate" not in name
    if any(constants_of(case.model).values())
}


def at_rest(model, n, dtype):
    """What a step gets where nothing happens."""
    zero, v = jnp.zeros(n, dtype), jnp.full(n, -65.0, dtype)
    if isinstance(model, jn.Neuron):
        return (jn.Drive(zero, arrivals=dict.fromkeys(model.ports, zero) or None),)
    if isinstance(model, jn.Synapse):
        return (jnp.zeros((len(model.ports), n), dtype) if model.ports else zero, v)
    return zero > 0, v


@functools.partial(jax.jit, static_argnums=(2, 3))
def changes(model, dts, names, kept):
    """What each variable has changed by after `STEPS` steps of each length: (dts,) by name."""

    def run(dt):
        state = init(model, 1)
        for name in names:
            x = getattr(state, name)
            state = state._replace(**{name: x - 5.0 if name == "v" else x + 0.25})
        quiet = at_rest(model, 1, dt.dtype)

        def body(carry, _):
            state, low = carry
            state, low, _ = step_compensated(
                lambda state, *now: model.step(state, *now, dt), state, low, *quiet
            )
            return (state, low), None

        start = state
        (state, low), _ = jax.lax.scan(body, (state, no_low(state, kept)), None, length=STEPS)
        own = {name: getattr(state, f"{name}_low") for name in model.own_digits}
        digits = own | low
        return {
            name: (getattr(state, name) - getattr(start, name) + digits.get(name, 0.0))[0]
            for name in names
        }

    return jax.vmap(run)(dts)


def in_double(model, dts, names):
    with jax.enable_x64(True):
        exact = changes(cast(model, jnp.float64), jnp.asarray(dts, jnp.float64), names, ())
        return {name: np.asarray(x) for name, x in exact.items()}


@pytest.mark.slow(but=["ALIF"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_float32_changes_as_float64_does(model):
    constants = constants_of(model)
    names, dts = tuple(constants), RATIOS * max(constants.values())
    exact = in_double(model, dts, names)
    single = changes(model, jnp.asarray(dts, jnp.float32), names, ())
    slow = {name for name, tau in constants.items() if tau}
    kept = tuple(sorted(slow - {*model.own_digits}))
    more = changes(model, jnp.asarray(dts, jnp.float32), names, kept)
    for k, dt in enumerate(dts):
        slow = slow_variables("it", model, lambda: init(model, 1), dt, np.float32)
        for name in names:
            got = float((more if name in slow else single)[name][k])
            if constants[name] and np.isfinite(exact[name][k]):  # a long step may diverge
                assert got == pytest.approx(exact[name][k], rel=CLOSE), (name, dt)
    assert kept == slow


@pytest.mark.slow(but=["LIF-1.01-0.001-0.001"])
@pytest.mark.parametrize(
    ("above", "dt", "close"), [(1.002, 0.001, 1e-3), (1.01, 0.001, 1e-3), (1.005, 0.01, 1e-3)]
)
@pytest.mark.parametrize("cls", [jn.neurons.LIF, jn.neurons.IafPscDelta])
def test_intervals_near_rheobase(cls, above, dt, close):
    """The interval of the closed form, on the grid."""
    neuron, tau, depth = cls(tau_m=20.0, c_m=250.0, t_ref=2.0), 20.0, 15.0
    current = above * depth * 250.0 / tau
    exact = 2.0 + tau * math.log(above / (above - 1.0))
    result = jn.simulate(neuron, math.ceil(exact), dt=dt, current=current)
    (first,) = result.spikes["neurons"].times
    assert first == pytest.approx(exact - 2.0, abs=max(close * exact, 1.01 * dt))


RHEOBASES = {
    "EIF": (jn.neurons.EIF(), 16.2, 700.0),
    "AdEx": (jn.neurons.AdEx(), 660.0, 200.0),
    "QIF": (jn.neurons.QIF(), 70.0, 700.0),
    "GLIF": (jn.neurons.GLIF(), 270.5, 300.0),
    "ALIF": (jn.neurons.ALIF(), 375.0, 200.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", RHEOBASES.values(), ids=RHEOBASES.keys())
def test_first_spikes_near_rheobase_are_those_of_float64(case):
    model, rheobase, duration = case

    def first_spike(dtype):
        drive = jn.Stimulation("E", jn.stimuli.Current(1.01 * rheobase), name="drive")
        net = jn.build(jn.Description([jn.Population("E", 1, model)], (), [drive]), 0, 0.01, dtype)
        return jn.simulate(net, duration).spikes["E"].times[0]

    got = first_spike(jnp.float32)
    with jax.enable_x64(True):
        exact = first_spike(jnp.float64)
    assert got == pytest.approx(exact, rel=1e-3)


@pytest.mark.slow(but=["0.01"])
@pytest.mark.parametrize("eta", [0.05, 0.01])
def test_a_homeostatic_neuron_seeks_its_rate(eta):
    neuron = jn.neurons.HomeostaticLIF(eta=eta, target=5.0)
    net = jn.build(jn.Description([jn.Population("E", 1, neuron)]), 0, 0.01)
    assert net.groups[0].slow == (("theta", "v"),)
    result = jn.simulate(net, 10_000.0, inputs={"E": 420.0})
    theta = float(result.state.groups[0].neurons.theta[0])
    spikes = len(result.spikes["E"])
    fired = bool(result.state.groups[0].neurons.spikes[0])
    # theta is eta times what fired beyond the target: a spike's jump comes in the next step.
    assert theta == pytest.approx(eta * (spikes - fired - 50.0), rel=0, abs=0.01 * eta)
