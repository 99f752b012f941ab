"""Ion channels: their role, a leak, those of the squid axon, and some that shape firing.

Hodgkin and Huxley (1952), doi:10.1113/jphysiol.1952.sp004764.
"""

import keyword
import math
from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .. import spec
from .._fields import Model, Parameter, param
from .._numerics.maths import linoid
from ..integrators import Gate


class Channel(Model):
    """The role of an ion channel: `I = g open(v, gates) (v - e_rev)`, outward.

    Each gate x opens and closes: `dx/dt = a(v) (1 - x) - b(v) x`. A subclass has the parameters
    `g` and `e_rev`, names its `gates` (each name a state variable of the neuron) and the
    temperature `celsius` at which its rates hold.

    `rates(v)` returns a `Gate(a, b)` [1/ms] for each gate; `open(v, *gates)` the open fraction; v
    [mV] and gates (n,).

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, doi:10.1113/jphysiol.1952.sp004764.
    """

    gates: ClassVar[tuple[str, ...]] = ()
    celsius: ClassVar[float] = 6.3

    @abstractmethod
    def rates(self, v: jax.Array) -> tuple[Gate, ...]: ...

    @abstractmethod
    def open(self, v: jax.Array, *gates: jax.Array) -> Any: ...


class Channels(spec.Kind):
    """The channels of a neuron: at least one, with gates of different names and their rates."""

    def convert(self, value: Any) -> tuple:
        channels = spec.Items(spec.Of(Channel), at_least=1).convert(value)
        names = ["v"]
        for channel in channels:
            self._check(channel)
            names += channel.gates
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            must = "a list of channels whose gates have different names, none of them 'v'"
            raise spec.Unfit(must, f"several named {twice[0]!r}")
        return channels

    def read(self, entry: Any) -> Any:
        return spec.Items(spec.Of(Channel)).read(entry)

    def _check(self, channel: Any) -> None:
        """Raises `Unfit` for a channel that lacks what `Channel` says."""
        name, gates = type(channel).__name__, channel.gates
        if not (hasattr(channel, "g") and hasattr(channel, "e_rev")):
            raise spec.Unfit(
                "a list of channels with the parameters g and e_rev", f"{name} without"
            )
        if not isinstance(gates, tuple) or not all(map(_can_be_named, gates)):
            must = "a list of channels whose gates are a tuple of names that Python takes"
            raise spec.Unfit(must, f"{gates!r} of {name}")
        v = jax.ShapeDtypeStruct((), jnp.result_type(channel.g))
        try:
            rates = jax.eval_shape(lambda v: channel.rates(v), v)
            jax.eval_shape(lambda v, *x: channel.open(v, *x), v, *(v for _ in gates))
        except Exception as error:  # a method of the user may raise anything
            given = ", ".join(("v", *gates))
            must = f"a list of channels with rates(v) and open({given}) that JAX can trace"
            raise spec.Unfit(must, f"{type(error).__name__} of {name}: {error}") from error
        fits = isinstance(rates, tuple) and all(type(r) is Gate for r in rates)
        if not fits or len(rates) != len(gates):
            must = (
                "a list of channels whose rates(v) are a tuple, a Gate(opening, closing) per gate"
            )
            raise spec.Unfit(must, f"{rates!r} of {name} for the gates {gates}")


def _can_be_named(gate: Any) -> bool:
    known = isinstance(gate, str) and gate.isidentifier() and not keyword.iskeyword(gate)
    return known and not gate.startswith("_")


_TAU = spec.Numbers("ms", above=0.0, traceable=True)


def relaxing(steady: Any, tau: Any) -> Gate:
    """The rates of a gate that relaxes to `steady` with the time constant `tau` [ms].

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, eqs. 8 to 11,
        doi:10.1113/jphysiol.1952.sp004764.
    """
    spec.check("relaxing", "tau", _TAU, tau)
    return Gate(steady / tau, (1.0 - steady) / tau)


class Leak(Channel):
    """Leak: `I = g (v - e_rev)`.

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, doi:10.1113/jphysiol.1952.sp004764.
    """

    g: Parameter = param(0.3, unit="mS/cm2", at_least=0.0, doc="conductance")
    e_rev: Parameter = param(-54.387, unit="mV", doc="reversal potential")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        return ()

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        return 1.0


# This far below rest every gate is fully open or shut; faster gates would only need smaller steps.
_FAR = -100.0
_FASTEST = math.exp(50 / 18)


def _above_rest(v: jax.Array, v_rest: Any) -> jax.Array:
    return jnp.maximum(v - v_rest, _FAR)


class SquidSodium(Channel):
    """Transient sodium channel of the squid axon: `I = g m^3 h (v - e_rev)`.

    With u = v - v_rest: `a_m = 0.1 (u - 25) / (1 - exp(-(u - 25)/10))`, `b_m = 4 exp(-u/18)`,
    `a_h = 0.07 exp(-u/20)`, `b_h = 1 / (1 + exp(-(u - 30)/10))`. Two exponentials serve all
    four.

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, eqs. 20 to 24,
        doi:10.1113/jphysiol.1952.sp004764.

    Note:
        Farther than 50 mV below rest `b_m` keeps its value at 50 mV (64 per ms), farther than 100
        mV the other rates keep theirs: m is shut there, and explicit methods stay stable under any
        hyperpolarisation.
    """

    gates: ClassVar[tuple[str, ...]] = ("m", "h")

    g: Parameter = param(120.0, unit="mS/cm2", at_least=0.0, doc="conductance")
    e_rev: Parameter = param(50.0, unit="mV", doc="reversal potential")
    v_rest: Parameter = param(-65.0, unit="mV", doc="voltage at which u is 0")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        u = _above_rest(v, self.v_rest)
        slow = jnp.exp(u * (-1 / 20))
        fast = slow * slow
        a_m = linoid(u * 0.1 - 2.5, fast * math.exp(2.5))
        b_m = 4.0 * jnp.minimum(jnp.exp(u * (-1 / 18)), _FASTEST)
        b_h = 1.0 / (1.0 + fast * math.exp(3.0))
        return Gate(a_m, b_m), Gate(0.07 * slow, b_h)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        m, h = gates
        return m * m * m * h


class SquidPotassium(Channel):
    """Delayed rectifier of the squid axon: `I = g n^4 (v - e_rev)`.

    With u = v - v_rest: `a_n = 0.01 (u - 10) / (1 - exp(-(u - 10)/10))`,
    `b_n = 0.125 exp(-u/80)`. One exponential serves both.

    Reference:
        Hodgkin and Huxley (1952), A quantitative description of membrane current and its
        application to conduction and excitation in nerve, eqs. 12 and 13,
        doi:10.1113/jphysiol.1952.sp004764.

    Note:
        Farther than 100 mV below rest the rates keep their values at 100 mV.
    """

    gates: ClassVar[tuple[str, ...]] = ("n",)

    g: Parameter = param(36.0, unit="mS/cm2", at_least=0.0, doc="conductance")
    e_rev: Parameter = param(-77.0, unit="mV", doc="reversal potential")
    v_rest: Parameter = param(-65.0, unit="mV", doc="voltage at which u is 0")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        u = _above_rest(v, self.v_rest)
        slow = jnp.exp(u * (-1 / 80))
        fast = jnp.square(jnp.square(jnp.square(slow)))
        a_n = 0.1 * linoid(u * 0.1 - 1.0, fast * math.exp(1.0))
        return (Gate(a_n, 0.125 * slow),)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        return jnp.square(jnp.square(gates[0]))


class PotassiumA(Channel):
    """A-type potassium channel: `I = g a^3 b (v - e_rev)`, which delays the first spike.

    `a_inf = (0.0761 exp((v + 94.22)/31.84) / (1 + exp((v + 1.17)/28.93)))^(1/3)`,
    `tau_a = 0.3632 + 1.158 / (1 + exp((v + 55.96)/20.12))`,
    `b_inf = (1 + exp((v + 53.3)/14.54))^-4`,
    `tau_b = 1.24 + 2.678 / (1 + exp((v + 50)/16.027))` [ms].

    Reference:
        Connor, Walter, McKown (1977), Neural repetitive firing: modifications of the Hodgkin-Huxley
        axon suggested by experimental results from crustacean axons,
        doi:10.1016/S0006-3495(77)85598-7, as in Dayan and Abbott (2001), Theoretical Neuroscience,
        sec. 6.6, ISBN 9780262041997.

    Note:
        The rates are taken to hold at 6.3 C as printed; q10 scales them elsewhere.
    """

    gates: ClassVar[tuple[str, ...]] = ("a", "b")

    g: Parameter = param(47.7, unit="mS/cm2", at_least=0.0, doc="conductance")
    e_rev: Parameter = param(-75.0, unit="mV", doc="reversal potential")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        v = jnp.clip(v, -250.0, 250.0)  # the fourth power of exp() is finite in float32
        a_inf = jnp.cbrt(
            0.0761 * jnp.exp((v + 94.22) / 31.84) / (1.0 + jnp.exp((v + 1.17) / 28.93))
        )
        tau_a = 0.3632 + 1.158 / (1.0 + jnp.exp((v + 55.96) / 20.12))
        b_inf = jnp.square(jnp.square(1.0 / (1.0 + jnp.exp((v + 53.3) / 14.54))))
        tau_b = 1.24 + 2.678 / (1.0 + jnp.exp((v + 50.0) / 16.027))
        return relaxing(a_inf, tau_a), relaxing(b_inf, tau_b)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        a, b = gates
        return a * a * a * b


class PotassiumM(Channel):
    """Slow (M-type) potassium channel: `I = g p (v - e_rev)`, which adapts the rate.

    `p_inf = 1 / (1 + exp(-(v + 35)/10))`,
    `tau_p = tau_max / (3.3 exp((v + 35)/20) + exp(-(v + 35)/20))`.

    Reference:
        Yamada, Koch, Adams (1989), Multiple channels and calcium dynamics, as in Pospischil et al.
        (2008), Minimal Hodgkin-Huxley type models for different classes of cortical and thalamic
        neurons, doi:10.1007/s00422-008-0263-8.
    """

    gates: ClassVar[tuple[str, ...]] = ("p",)
    celsius: ClassVar[float] = 36.0

    g: Parameter = param(0.07, unit="mS/cm2", at_least=0.0, doc="conductance")
    e_rev: Parameter = param(-90.0, unit="mV", doc="reversal potential")
    tau_max: Parameter = param(608.0, unit="ms", above=0.0, doc="scale of the time constant")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        rise = jnp.exp((jnp.clip(v, -250.0, 250.0) + 35.0) * (1 / 20))
        steady = 1.0 / (1.0 + 1.0 / jnp.square(rise))
        return (relaxing(steady, self.tau_max / (3.3 * rise + 1.0 / rise)),)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        return gates[0]


class CalciumL(Channel):
    """L-type calcium channel: `I = g q^2 r (v - e_rev)`, which makes cells burst.

    `a_q = 0.055 (v + 27) / (1 - exp(-(v + 27)/3.8))`, `b_q = 0.94 exp(-(v + 75)/17)`,
    `a_r = 0.000457 exp(-(v + 13)/50)`, `b_r = 0.0065 / (1 + exp(-(v + 15)/28))`.

    Reference:
        Reuveni et al. (1993), Stepwise repolarization from Ca2+ plateaus in neocortical pyramidal
        cells: evidence for nonhomogeneous distribution of HVA Ca2+ channels in dendrites,
        doi:10.1523/JNEUROSCI.13-11-04609.1993, as in Pospischil et al. (2008), Minimal
        Hodgkin-Huxley type models for different classes of cortical and thalamic neurons,
        doi:10.1007/s00422-008-0263-8.
    """

    gates: ClassVar[tuple[str, ...]] = ("q", "r")
    celsius: ClassVar[float] = 36.0

    g: Parameter = param(0.1, unit="mS/cm2", at_least=0.0, doc="conductance")
    e_rev: Parameter = param(120.0, unit="mV", doc="reversal potential")

    def rates(self, v: jax.Array) -> tuple[Gate, ...]:
        v = jnp.clip(v, -250.0, 250.0)  # exp() is finite in float32
        a_q = (0.055 * 3.8) * linoid((v + 27.0) * (1 / 3.8))
        b_q = 0.94 * jnp.exp((v + 75.0) * (-1 / 17))
        a_r = 0.000457 * jnp.exp((v + 13.0) * (-1 / 50))
        b_r = 0.0065 / (1.0 + jnp.exp((v + 15.0) * (-1 / 28)))
        return Gate(a_q, b_q), Gate(a_r, b_r)

    def open(self, v: jax.Array, *gates: jax.Array) -> Any:
        q, r = gates
        return q * q * r
