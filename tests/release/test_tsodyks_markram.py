"""Short-term plasticity: both conventions by hand, their digits, their slopes, what is refused."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.release.alone import released, train

TM = jn.release.TsodyksMarkram
DT = 0.1


def values_at(model, steps, at, dt=DT):
    spikes = train(steps, at)
    v = np.zeros(spikes.shape, np.float32)
    values, state = released(model, spikes, v, dt)
    values = np.asarray(values)[:, 0]
    assert not values[~spikes[:, 0]].any()
    return values[list(at)], state


@pytest.mark.slow
def test_tsodyks2_by_hand():
    """NEST's defaults: U, then what is left of the rest after 50 ms of recovery."""
    values, _ = values_at(TM(0.5, 800.0, 0.0), 501, (0, 500))
    x = 1 - 0.5 * np.exp(-50 / 800)
    np.testing.assert_allclose(values, [0.5, 0.5 * x], rtol=1e-6)


def test_jump_first_by_hand():
    values, _ = values_at(TM(0.5, 800.0, 50.0, "jump first"), 501, (0, 500))
    u = 0.5 + 0.25 * np.exp(-1.0)
    u, x = u + 0.5 * (1 - u), 1 - 0.75 * np.exp(-50 / 800)
    np.testing.assert_allclose(values, [0.75, u * x], rtol=1e-6)


def test_the_state_after_the_first_spike():
    for model, x, u in (
        (TM(0.5, 800.0, 50.0), 0.5, 0.75),
        (TM(0.5, 800.0, 50.0, "jump first"), 0.25, 0.75),
    ):
        _, state = values_at(model, 501, (500,))
        assert (float(state.x[0]), float(state.u[0])) == (x, u)


def test_a_spike_in_every_step():
    """Without recovery to speak of, tsodyks2 with tau_fac = 0 halves what is left each time."""
    values, _ = values_at(TM(0.5, 1e9, 0.0), 501, range(0, 6))
    np.testing.assert_allclose(values, 0.5 ** np.arange(1, 7), rtol=1e-5)


def test_recovery_keeps_its_digits():
    """In float32 after 10 time constants of 8000 steps: x alone would have stopped far away.

    Compiled as users get it, and with more than one neuron: there XLA would take the low digits for
    0 if it saw that x rests at 1.
    """
    spikes = np.repeat(train(80_001, (0,)), 8, axis=1)
    v, model = np.zeros(spikes.shape, np.float32), TM(0.5, 800.0, 800.0, "jump first")
    _, state = jax.jit(released.__wrapped__, static_argnums=3)(model, spikes, v, DT)
    x = (float(state.x[0]) - 1.0) + float(state.x_low[0])
    u = (float(state.u[0]) - 0.5) + float(state.u_low[0])
    np.testing.assert_allclose([x, u], np.array([-0.75, 0.25]) * np.exp(-10.0), rtol=1e-4)


def test_presets_depress_and_facilitate():
    """At 20 Hz; the steady values are those of the equations."""
    at = range(0, 20_001, 500)
    for preset, sign in (("depressing", -1), ("facilitating", 1)):
        values, _ = values_at(getattr(TM, preset)(), 20_001, at)
        assert sign * (values[1] - values[0]) > 0
        np.testing.assert_allclose(values[-1], values[-2], rtol=1e-4)
    memory = TM.working_memory()
    assert memory.convention == "jump first"
    values, _ = values_at(memory, 20_001, at)
    np.testing.assert_allclose(values[0], 0.2 + 0.2 * 0.8, rtol=1e-6)


@pytest.mark.parametrize("convention", ["tsodyks2", "jump first"])
def test_slopes_of_spikes_that_are_numbers(convention):
    """Of U, tau_rec and tau_fac, at tau_fac = 0 too; and of the spikes of a surrogate gradient."""
    spikes = np.float32(train(60, (0, 20, 50)))

    def total(model, spikes):
        def body(state, now):
            return model.step(state, now, None, 1.0)

        return jax.lax.scan(body, model.init(1), spikes)[1].sum()

    slopes = jax.jit(jax.grad(total, (0, 1)))
    for tau_fac in (0.0, 30.0):
        model = TM(0.3, 100.0, tau_fac, convention)
        by_model, by_spikes = slopes(model, spikes)
        assert by_model.U != 0
        assert by_model.tau_rec < 0
        assert np.isfinite(by_model.tau_fac)
        assert (by_model.tau_fac != 0) == (tau_fac > 0)
        assert (np.asarray(by_spikes)[[0, 20, 50]] != 0).all()
        # What a spike would have released: a slope where there is none, too.
        assert (np.asarray(by_spikes) != 0).all()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"convention": "release first"}, "convention"),
        ({"tau_rec": 0.0}, "tau_rec"),
        ({"tau_fac": [0.5, -0.4]}, "tau_fac"),
    ],
)
def test_what_it_refuses(given, field):
    with pytest.raises(jn.InvalidValueError) as error:
        TM(**given)
    assert (error.value.owner, error.value.field) == ("TsodyksMarkram", field)
