"""Exponential integrate-and-fire neurons, plain and adaptive, and how they go up to their peak.

Fourcaud-Trocme, Hansel, van Vreeswijk, Brunel (2003); Brette and Gerstner (2005).

v goes to infinity in finite time, so that steps in v do not determine well when. Above `v_th` the
upswing is therefore integrated in `z = exp(-(v - v_th) / delta_t)`, which falls to 0 with a bounded
slope:

    dz/dt = -g_l / c_m - z rest / (delta_t c_m)

with `rest` [pA] the current without the exponential one. The time of the spike is then known to a
small part of the step, and the neuron continues from its reset within the same step.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Neuron
from ..integrators import Integrator, Linear, rk4
from ..integrators._integrators import method_field
from ..spec import AtMost, Less
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import countdown

# Of c_m / g_l: with shorter steps v is followed further, and v is a slow variable.
_SHORT = 4.99e-3


class EIFState(NamedTuple):
    """State of n EIF neurons.

    Attributes:
        v: membrane potential [mV], after the reset.
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class EIF(Neuron):
    """Exponential integrate-and-fire neuron, fitted to a Wang-Buzsaki neuron of 1e-4 cm2.

    Equations: `c_m dv/dt = -g_l (v - e_l) + g_l delta_t exp((v - v_th) / delta_t) + current
    - conductance v`; a spike when `v >= v_peak`, then `v = v_reset`, held for `t_ref`.

    Update: `method`, by default RK4, of fourth order. During the upswing it moves
    `exp(-(v - v_th)/delta_t)` instead of v, which would diverge. Then `jump` is added and the
    peak tested. The reset is at the interpolated time of the spike *within* the step; if `t_ref`
    is 0, a Taylor series of second order gives the rest of the step.

    A constant current brings v to `v_th` at rheobase, `g_l (v_th - e_l - delta_t)`.

    Start: at `e_l`.

    Reference:
        Fourcaud-Trocme et al. (2003), How spike generation mechanisms determine the neuronal
        response to fluctuating inputs, doi:10.1523/JNEUROSCI.23-37-11628.2003.

    Note:
        At most one spike per step; v is recorded after the reset.
    """

    c_m: Parameter = param(100.0, unit="pF", above=0.0, doc="capacitance")
    g_l: Parameter = param(10.0, unit="nS", above=0.0, doc="leak conductance")
    e_l: Parameter = param(-65.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-59.9, unit="mV", doc="where the exponential current is g_l delta_t")
    delta_t: Parameter = param(3.48, unit="mV", above=0.0, least=0.005, doc="width of that current")
    v_reset: Parameter = param(-68.0, unit="mV", doc="reset")
    v_peak: Parameter = param(0.0, unit="mV", doc="end of the upswing")
    t_ref: Parameter = param(1.7, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_peak"), AtMost("v_th", "v_peak"))

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.c_m / self.g_l}

    def init(self, n: int) -> EIFState:
        v = jnp.full(n, self.e_l)
        return EIFState(v, jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * self.c_m / self.g_l

    def step(self, state: EIFState, drive: Drive, dt: float) -> tuple[EIFState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        course, start = _begin(self, state.v, 0.0, drive, dt)

        def flow(y: tuple, t: float) -> tuple:
            now = _during(self, course, drive.at(t, dt))
            return (_motion(self, now, _voltage(self, course, y[0]), 0.0),)

        (end,) = self.method(flow, (start,), dt)
        v = jnp.where(free, drive.jumped(_voltage(self, course, end)), state.v)
        spikes, fired = threshold(v, self.v_peak, self.surrogate, state.v, self.v_th, free=free)
        late, _ = _since_peak(self, course, start, end, state.v, 0.0, dt)
        late = jnp.where(self.t_ref < 0.5 * dt, late, jnp.zeros_like(late))
        v = jnp.where(fired, _after_reset(self, course, drive, 0.0, 0.0, late, dt), v)
        return EIFState(v, fired, left), spikes


class AdExState(NamedTuple):
    """State of n AdEx neurons.

    Attributes:
        v: membrane potential [mV], after the reset.
        w: adaptation [pA], after the reset.
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.

    Reference:
        Brette and Gerstner (2005), Adaptive exponential integrate-and-fire model as an effective
        description of neuronal activity, doi:10.1152/jn.00686.2005.
    """

    v: jax.Array
    w: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class AdEx(Neuron):
    """Adaptive exponential neuron; its defaults are those of NEST's `aeif_cond_exp`.

    Equations: `c_m dv/dt = -g_l (v - e_l) + g_l delta_t exp((v - v_th) / delta_t) - w + current
    - conductance v` and `tau_w dw/dt = a (v - e_l) - w`; a spike when `v >= v_peak`, then
    `v = v_reset`, `w = w + b`, v held for `t_ref` while w goes on.

    Update: `method`, by default RK4, of fourth order. During the upswing it moves
    `exp(-(v - v_th)/delta_t)` instead of v, which would diverge. Then `jump` is added and the
    peak tested. The reset is at the interpolated time of the spike *within* the step; if `t_ref`
    is 0, a Taylor series of second order gives the rest of the step. So spikes are not delayed.

    Start: at `e_l`, w = 0.

    Reference:
        Brette and Gerstner (2005), Adaptive exponential integrate-and-fire model as an effective
        description of neuronal activity, doi:10.1152/jn.00686.2005; the presets, with their
        currents and a start at rest, are those of Naud et al. (2008), Firing patterns in the
        adaptive exponential integrate-and-fire model, doi:10.1007/s00422-008-0264-7.

    Note:
        At most one spike per step; v is recorded after the reset, as in NEST.
    """

    c_m: Parameter = param(281.0, unit="pF", above=0.0, doc="capacitance")
    g_l: Parameter = param(30.0, unit="nS", above=0.0, doc="leak conductance")
    e_l: Parameter = param(-70.6, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-50.4, unit="mV", doc="where the exponential current is g_l delta_t")
    delta_t: Parameter = param(2.0, unit="mV", above=0.0, least=0.005, doc="width of that current")
    a: Parameter = param(4.0, unit="nS", least=1e-7, doc="effect of v on w")
    b: Parameter = param(80.5, unit="pA", least=0.5, doc="what a spike adds to w")
    tau_w: Parameter = param(144.0, unit="ms", above=0.0, least=1.0, doc="time constant of w")
    v_reset: Parameter = param(-60.0, unit="mV", doc="reset")
    v_peak: Parameter = param(0.0, unit="mV", doc="end of the upswing")
    t_ref: Parameter = param(0.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    method: Integrator = method_field(rk4)
    surrogate: Surrogate | None = surrogate_field()
    rules = (Less("v_reset", "v_peak"), AtMost("v_th", "v_peak"))

    @classmethod
    def tonic(cls) -> "AdEx":
        """Tonic spiking, at 500 pA (fig. 4a)."""
        return cls(200.0, 10.0, -70.0, -50.0, 2.0, 2.0, 0.0, 30.0, -58.0)

    @classmethod
    def adapting(cls) -> "AdEx":
        """Adapting spikes, at 500 pA (fig. 4b)."""
        return cls(200.0, 12.0, -70.0, -50.0, 2.0, 2.0, 60.0, 300.0, -58.0)

    @classmethod
    def initial_burst(cls) -> "AdEx":
        """A burst, then single spikes, at 400 pA (fig. 4c)."""
        return cls(130.0, 18.0, -58.0, -50.0, 2.0, 4.0, 120.0, 150.0, -50.0)

    @classmethod
    def regular_bursting(cls) -> "AdEx":
        """Burst after burst, at 210 pA (fig. 4d)."""
        return cls(200.0, 10.0, -58.0, -50.0, 2.0, 2.0, 100.0, 120.0, -46.0)

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.c_m / self.g_l, "w": self.tau_w}

    def init(self, n: int) -> AdExState:
        v = jnp.full(n, self.e_l)
        return AdExState(v, jnp.zeros_like(v), jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def largest_step(self) -> jax.Array | float | None:
        reach = self.method.reach
        return None if reach is None else reach * jnp.minimum(self.c_m / self.g_l, self.tau_w)

    def step(self, state: AdExState, drive: Drive, dt: float) -> tuple[AdExState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        course, start = _begin(self, state.v, state.w, drive, dt)

        def flow(y: tuple, t: float) -> tuple:
            now = _during(self, course, drive.at(t, dt))
            v = _voltage(self, course, y[0])
            pull = self.a * (jnp.minimum(v, self.v_peak) - self.e_l)
            return _motion(self, now, v, y[1]), Linear(pull / self.tau_w, 1.0 / self.tau_w)

        end, w = self.method(flow, (start, state.w), dt)
        resting = self.a * (self.v_reset - self.e_l)
        held = resting + (state.w - resting) * jnp.exp(-dt / self.tau_w)
        v = jnp.where(free, drive.jumped(_voltage(self, course, end)), state.v)
        w = jnp.where(free, w, held)
        spikes, fired = threshold(v, self.v_peak, self.surrogate, state.v, free=free)
        late, mean = _since_peak(self, course, start, end, state.v, state.w, dt)
        towards_peak = self.a * (mean - self.e_l) - state.w
        at_peak = state.w + (dt - late) * towards_peak / self.tau_w
        reset = jnp.where(late > 0, at_peak, w) + self.b
        fall = (resting - reset) / self.tau_w
        w = jnp.where(fired, reset + late * fall, w)
        late = jnp.where(self.t_ref < 0.5 * dt, late, jnp.zeros_like(late))
        v = jnp.where(fired, _after_reset(self, course, drive, reset, fall, late, dt), v)
        return AdExState(v, w, fired, left), spikes


class _Course(NamedTuple):
    """What determines the motion of the coordinate in a step.

    Attributes:
        inward: the current at v = 0 without w [pA].
        g: the conductance [nS].
        up: which neurons take the step in z, bool (n,).
    """

    inward: jax.Array
    g: jax.Array
    up: jax.Array


def _begin(
    model: EIF | AdEx, v: jax.Array, w: jax.Array | float, drive: Drive, dt: float
) -> tuple[_Course, jax.Array]:
    """The course of the step, and the coordinate at its start: z or v."""
    current, conductance = drive.linear()
    inward, g = model.g_l * model.e_l + current, model.g_l + conductance
    rest = jnp.abs(inward - w - g * v)
    z = jnp.exp((model.v_th - jnp.maximum(v, model.v_th)) / model.delta_t)
    # While the other currents dominate, v is the better coordinate: until the exponential current
    # is a quarter of them, or to the end if they move v by more than delta_t in a step.
    slow = rest * dt < model.delta_t * model.c_m
    # Near v_th v may be slow. The way to z and back would then lose what a short step moves v by.
    short = dt * model.g_l < _SHORT * model.c_m
    higher = jnp.minimum(2.0 * model.delta_t, 0.5 * (model.v_peak - model.v_th))
    onset = jnp.where(short, model.v_th + higher, model.v_th)
    up = (v > onset) & slow & (z * rest < 4.0 * model.g_l * model.delta_t)
    return _Course(inward, g, up), jnp.where(up, z, v)


def _during(model: EIF | AdEx, course: _Course, drive: Drive) -> _Course:
    """The course under the drive at one moment of the step."""
    current, conductance = drive.linear()
    return _Course(model.g_l * model.e_l + current, model.g_l + conductance, course.up)


def _peak(model: EIF | AdEx) -> jax.Array:
    """z at v_peak; the bound keeps its logarithm finite."""
    return jnp.maximum(jnp.exp((model.v_th - model.v_peak) / model.delta_t), 1e-30)


def _voltage(model: EIF | AdEx, course: _Course, y: jax.Array) -> jax.Array:
    """v [mV] at the coordinate y; above `v_peak` it is linear in z."""
    peak = _peak(model)
    z = jnp.where(course.up, y, jnp.ones_like(y))
    below = model.v_th - model.delta_t * jnp.log(jnp.maximum(z, peak))
    v = jnp.where(z > peak, below, model.v_peak + model.delta_t * (peak - z))
    return jnp.where(course.up, v, y)


def _motion(model: EIF | AdEx, course: _Course, v: jax.Array, w: jax.Array | float) -> Linear:
    """The derivative of the coordinate at the voltage v."""
    x = jnp.where(course.up, model.v_th, v)
    steep = jnp.exp(jnp.minimum((x - model.v_th) / model.delta_t, 20.0))
    source = (course.inward - w + model.g_l * model.delta_t * steep) / model.c_m
    rate = (course.inward - w - course.g * v) / (model.delta_t * model.c_m)
    return Linear(
        jnp.where(course.up, -model.g_l / model.c_m, source),
        jnp.where(course.up, rate, course.g / model.c_m),
    )


def _since_peak(
    model: EIF | AdEx,
    course: _Course,
    start: jax.Array,
    end: jax.Array,
    v: jax.Array,
    w: jax.Array | float,
    dt: float,
) -> tuple[jax.Array, jax.Array]:
    """Time [ms] since z fell below its value at `v_peak` in this step, else 0; and the mean v.

    The time is a cubic Hermite polynomial of z from the `start` to the `end` of the step. The
    mean [mV] is that of v from its start to the peak, for a z that falls linearly.
    """
    peak = _peak(model)
    over = course.up & (end <= peak)
    span = jnp.where(over, start - end, jnp.ones_like(end))

    def pace(z: jax.Array, at: jax.Array) -> jax.Array:
        rest = (course.inward - w - course.g * at) / model.delta_t
        slope = jnp.minimum(-(model.g_l + z * rest) / model.c_m, -1e-6)
        return span / (dt * jnp.where(over, slope, -jnp.ones_like(z)))

    x = jnp.where(over, jnp.clip((peak - end) / span, 0.0, 1.0), jnp.zeros_like(end))
    bend = x * pace(start, v) - (1.0 - x) * pace(end, model.v_peak)
    late = dt * jnp.clip(x * (x * (3.0 - 2.0 * x) + (1.0 - x) * bend), 0.0, 1.0)
    fall = jnp.where(over & (start > peak), start - peak, jnp.ones_like(end))
    mean = v + model.delta_t - (model.v_peak - v) * (peak / fall)
    return late, mean


def _after_reset(
    model: EIF | AdEx,
    course: _Course,
    drive: Drive,
    w: jax.Array | float,
    dw: jax.Array | float,
    late: jax.Array,
    dt: float,
) -> jax.Array:
    """v [mV] `late` [ms] after the reset to `v_reset`, with w of slope dw, by a Taylor series."""
    # The drive in the middle of the rest of the step is its mean over that rest.
    course = _during(model, course, drive.at(dt - 0.5 * late, dt))
    steep = model.g_l * jnp.exp((model.v_reset - model.v_th) / model.delta_t)
    flow = course.inward - w - course.g * model.v_reset + steep * model.delta_t
    first = flow / model.c_m
    second = ((steep - course.g) * first - dw) / model.c_m
    return model.v_reset + late * (first + 0.5 * late * second)
