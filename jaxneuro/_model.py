"""The roles of models, and the values that models pass to each other.

Every role has the same two methods: `init` makes a state; `step` maps `(state, input, dt)` to
`(state, output)` and has no other effect.
"""

import operator
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from ._fields import Model
from ._text import shown


class Drive(NamedTuple):
    """What synapses and stimuli do to a neuron during one time step.

    The synaptic current is `current - conductance * v`; both are means over the step. If they
    change much during a step, `current_slope` and `conductance_slope` give the straight line
    nearest to them: `current + current_slope (t - dt/2)`, t from 0 to dt. A neuron may ignore the
    slopes and is then of second order in dt. `jump` is added to v after the membrane has moved and
    before the threshold is tested. `arrivals` is what `Direct` synapses pass on unchanged at the
    end of the step: by port of the neuron, in the neuron's own units. A part that is None does not
    exist and costs nothing.

    Attributes:
        current: [pA]; this and the other numbers are `(..., n)`, a scalar, or None.
        conductance: [nS].
        jump: [mV].
        arrivals: a dictionary of such arrays, or None.
        current_slope: [pA/ms].
        conductance_slope: [nS/ms].
    """

    current: jax.Array | None = None
    conductance: jax.Array | None = None
    jump: jax.Array | None = None
    arrivals: dict[str, jax.Array] | None = None
    current_slope: jax.Array | None = None
    conductance_slope: jax.Array | None = None

    def __repr__(self) -> str:
        named = zip(self._fields, self)
        parts = ", ".join(f"{k}={shown(x)}" for k, x in named if x is not None)
        return f"Drive({parts})"

    def at(self, t: Any, dt: float) -> "Drive":
        """The drive at the time t [ms], () or (n,), after the start of the step."""
        middle = isinstance(t, float) and t == 0.5 * dt
        if (self.current_slope is None and self.conductance_slope is None) or middle:
            return self
        parts = zip(self[:2], (self.current_slope, self.conductance_slope))
        current, conductance = (
            x if slope is None else (0.0 if x is None else x) + (t - 0.5 * dt) * slope
            for x, slope in parts
        )
        return self._replace(current=current, conductance=conductance)

    def linear(self) -> tuple[Any, Any]:
        """Current [pA] and conductance [nS] for a `Linear` derivative; 0.0 if absent."""
        return tuple(0.0 if x is None else x for x in (self.current, self.conductance))  # type: ignore[return-value]

    def arriving(self, port: str) -> Any:
        """What arrives at a port at the end of the step; 0.0 if nothing does."""
        return 0.0 if self.arrivals is None else self.arrivals.get(port, 0.0)

    def current_at(self, v: jax.Array) -> jax.Array:
        """The current [pA] at the voltage v [mV]: `current - conductance v`, or 0."""
        inward = jnp.zeros_like(v) if self.current is None else self.current
        return inward if self.conductance is None else inward - self.conductance * v

    def jumped(self, v: jax.Array) -> jax.Array:
        """`v + jump` [mV]; v itself if there is no jump."""
        return v if self.jump is None else v + self.jump


def add_drives(a: Drive, b: Drive) -> Drive:
    """The sum of two drives, part by part; a part that neither has stays None."""
    current, conductance, jump, *slopes = (
        _sum(x, y, operator.add) for x, y in zip(a[:3] + a[4:], b[:3] + b[4:])
    )
    return Drive(current, conductance, jump, _sum(a.arrivals, b.arrivals, _add_ports), *slopes)


def _sum(x: Any, y: Any, add: Any) -> Any:
    return y if x is None else x if y is None else add(x, y)


def _add_ports(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    return {port: _sum(a.get(port), b.get(port), operator.add) for port in a | b}


class Neuron(Model):
    """The role of a neuron model: subclass it to add one (see CONTRIBUTING.md).

    `init(n)` returns the state of n neurons. `step(state, drive, dt)` moves them from t to t + dt
    and returns `(state, spikes)`, spikes of shape `(n,)`, boolean (or float 0/1 with a surrogate
    gradient). Arrays of the state have shape `(n,)`.

    `ports` names what `Direct` synapses may pass to the neuron; `port_signs` says which of them
    take weights of at least 0 (1) or at most 0 (-1) only. `port_fills` names the variables of the
    state that a port alone fills, `{"ex": ("i_ex",)}`: recording one warns where nothing leads to
    the port. `rate_sign` is None where `voltage` gives mV; a model whose `voltage` gives a rate has
    1 if it is never negative, and 0 otherwise. `state_bounds` as of `Synapse`.
    `input_part` is the part of the drive that the `inputs` of a run are: a current [pA], or
    "jump", 1 for a spike, of neurons that repeat spikes. `repeats_inputs` says that the spikes of a
    step are those inputs, where nothing else drives the neurons.
    """

    input_part: ClassVar[str] = "current"
    repeats_inputs: ClassVar[bool] = False
    ports: ClassVar[tuple[str, ...]] = ()
    port_signs: ClassVar[Mapping[str, int]] = {}
    port_fills: ClassVar[Mapping[str, tuple]] = {}
    rate_sign: ClassVar[int | None] = None
    state_bounds: ClassVar[Mapping[str, tuple]] = {}

    @abstractmethod
    def init(self, n: int) -> Any: ...

    @abstractmethod
    def step(self, state: Any, drive: Drive, dt: float) -> tuple[Any, jax.Array]: ...

    def voltage(self, state: Any) -> jax.Array | None:
        """v [mV] that synapses get at the start of a step; None for a neuron without a voltage."""
        return getattr(state, "v", None)

    def largest_step(self) -> Any:
        """The largest dt [ms] at which the model is known to be stable, () or (n,), or None.

        `build` refuses a larger one. A necessary bound is enough: the check for non-finite states
        finds what it does not exclude.
        """
        return None


class StochasticNeuron(Neuron):
    """The role of a neuron that draws random numbers: its `init` also gets a stream of bits.

    `init(n, stream)` returns the state of n neurons, which keeps `stream`, a `numerics.Stream`, and
    the number of steps done; `step` is that of `Neuron`.
    """

    @abstractmethod
    def init(self, n: int, stream: Any) -> Any: ...  # type: ignore[override]


class Synapse(Model):
    """The role of a synapse model: one receptor of a group of target neurons.

    `init(n)` returns the state of n targets. `step(state, arrivals, v, dt)` returns `(state,
    drive)`. The drive is the mean over the step, from the state at its start. The new state has
    decayed over the step and then taken `arrivals` `(n,)`, the summed weights that arrive at its
    end. `v` [mV] is the voltage at the start of the step, None for neurons without one.

    A receptor with several kinds of input names them in `ports`: its `arrivals` are then
    `(ports, n)`, in their order; a projection has `synapses.Into(receptor, port)` as its synapse.
    `port_fills` as of `Neuron`. `weight_sign` says that weights must be at least 0 (1) or at most 0
    (-1); 0 allows both.
    `weight_unit` is `"pA"` or `"nS"`: `build` warns of weights that are far too small for it. With
    `""` weights may be of any size. `response_area` is the largest area under the response to an
    arrival of weight 1, divided by the longest of the `time_constants`: `build` needs it to warn of
    weights that do not move v. 0 means that it is not known.
    `state_bounds` says between what start values and other values that are set must lie,
    `{"r": (0.0, 1.0)}`: None for no bound, the name of a field, `"kinetics.highest"`, for its
    number. A third entry is `int` for whole numbers, `Distribution` where one may reach beyond.
    """

    ports: ClassVar[tuple[str, ...]] = ()
    port_fills: ClassVar[Mapping[str, tuple]] = {}
    weight_sign: ClassVar[int] = 0
    weight_unit: ClassVar[str] = ""
    response_area: ClassVar[float] = 0.0
    state_bounds: ClassVar[Mapping[str, tuple]] = {}

    @abstractmethod
    def init(self, n: int) -> Any: ...

    @abstractmethod
    def step(
        self, state: Any, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[Any, Drive]: ...


class Release(Model):
    """The role of a release model: what a source neuron passes to its synapses.

    `init(n)` returns the state of n source neurons. `step(state, spikes, v, dt)` returns `(state,
    values)`, values `(n,)`: 0 delivers nothing, any other number scales the weights of all the
    neuron's synapses in that step. A class with `plain = True` returns the spikes unchanged; the
    network then keeps nothing for it. One with `with_spikes = True` returns 0 for every neuron that
    does not spike: the network then delivers the sources whose bits are packed already, instead of
    looking for values that are not 0. `reads` says what v must be: `"voltage"`, in mV;
    `"activity"`, a voltage or a rate, which is also what `step` returns; `""` for a release that
    does not need it. `state_bounds` as of `Synapse`.
    """

    plain: ClassVar[bool] = False
    with_spikes: ClassVar[bool] = False
    reads: ClassVar[str] = ""
    state_bounds: ClassVar[Mapping[str, tuple]] = {}

    @abstractmethod
    def init(self, n: int) -> Any: ...

    @abstractmethod
    def step(
        self, state: Any, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[Any, jax.Array]: ...


class StochasticRelease(Release):
    """The role of a release that draws random numbers: its `init` also gets a stream of bits.

    `init(n, stream)` returns the state of n source neurons, which keeps `stream`, a
    `numerics.Stream`, and the number of steps done; `step` is that of `Release`.
    """

    @abstractmethod
    def init(self, n: int, stream: Any) -> Any: ...  # type: ignore[override]


class Stimulus(Model):
    """The role of a stimulus: a current or conductance into neurons from outside the network.

    `init(n, stream)` returns the state for n target neurons; a stimulus that draws keeps `stream`,
    a `numerics.Stream` of the n neurons. `step(state, step, dt)` returns `(state, drive)` for the
    time step with the integer number `step`; parts of the drive are () or (n,). `prepare(label, n,
    dt, key)` is called once by `build`, on the host: it checks what needs dt and returns the
    stimulus that runs, with times as whole steps.

    If several populations have a stimulus of one kind, its parameters and streams are spread over
    the n neurons. A class with `takes_runs = True` may get one number per population instead,
    (runs,): set it only if `step` does nothing with both but pass them to `kernels.poisson`.
    """

    takes_runs: ClassVar[bool] = False

    @abstractmethod
    def init(self, n: int, stream: Any) -> Any: ...

    @abstractmethod
    def step(self, state: Any, step: jax.Array, dt: float) -> tuple[Any, Any]: ...

    def prepare(self, label: str, n: int, dt: float, key: Any) -> "Stimulus":
        """The stimulus as it runs at the time step `dt` [ms]; raises for times off the grid.

        `label` names it in errors, `key` is the stream of its draws on the host.
        """
        return self


class SpikeStimulus(Stimulus):
    """The role of a stimulus that sends spikes: each arrives at a synapse with a weight.

    As `Stimulus`, but `step` returns `(state, counts)`: the number of spikes that each neuron gets
    at the end of the step, floating, (n,). `Stimulation` adds the weight, the synapse and the
    delay.
    """

    def events_per_spike(self) -> Any:
        """How many Poisson events it draws for each spike that its rates ask for."""
        return 1.0


class Trace(NamedTuple):
    """A number of a neuron that decays, dx/dt = -x / tau, and jumps at each of its events.

    Attributes:
        tau: [ms].
        jump: what an event adds.
        nearest: an event sets x to `jump` instead, so that only the nearest event counts.
    """

    tau: Any
    jump: Any = 1.0
    nearest: bool = False

    def decayed(self, x: Any, elapsed: Any) -> Any:
        """x after `elapsed` ms without an event."""
        return x * jnp.exp(-elapsed / self.tau)

    def jumped(self, x: Any) -> Any:
        """x just after an event."""
        return jnp.broadcast_to(self.jump, x.shape) if self.nearest else x + self.jump


class NamedNumbers:
    """Numbers by name, as attributes: those of a synapse, of its source or of its target."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    def __repr__(self) -> str:
        return f"NamedNumbers({', '.join(self.__dict__)})"


class Plasticity(Model):
    """The role of a rule by which weights change: subclass it to add one (docs/plasticity.md).

    A rule never sees the connections. It says which numbers a source neuron and a target neuron
    have, and what one synapse does at an event, as a function of numbers of that synapse alone:

    * `on_pre(synapse, pre, post)`: a presynaptic event arrives at the synapse;
    * `on_post(synapse, pre, post)`: a postsynaptic event arrives there;
    * `on_tick(synapse, pre, post)`: once per interval, at all synapses;
    * `between(synapse, elapsed, start, stop)`: `elapsed` ms went by since the synapse was last
      touched, in closed form; `start` and `stop` are the shared numbers of then and now.

    Each returns a dictionary of what it changes: `{"weight": ...}`; one that a rule does not define
    does nothing. `synapse` has the weight and the further variables; `pre` the traces of the
    source, `released`, what it released (1 for a spike, 0 for none), and `arriving`, whether a
    presynaptic event arrives in this step (1 or 0); `post` the numbers of the target. All are those
    just before the events of this time step: neurons that spike in one step do not see each other's
    spike. In one step `on_post` comes first, then `on_tick`, then `on_pre`, and what is delivered
    has the weight after it. At an event the weight is brought into `bounds`, after `between` and
    after what the event does; between events it may pass a bound and come back.

    The kernels trace these functions: they must be elementwise, in `jnp`. What needs a sum over all
    synapses of a target goes into `factors`.

    `pre_traces`, `post_traces` give traces by name. A rule whose numbers of a target are something
    else defines `init_post(n)` and `step_post(state, spikes, v, dt)`, which returns `(numbers,
    events, state)`: (n,) each, numbers before the events, events boolean. Numbers that all synapses
    share, from named inputs of a run (`signals`): `init_shared()` and `step_shared(state, signals,
    dt)`. `needs_spikes` says that no weight changes where the targets never spike: `build` refuses
    that.
    """

    signals: ClassVar[tuple[str, ...]] = ()
    needs_spikes: ClassVar[bool] = False

    def on_pre(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        """What a presynaptic event changes at a synapse."""
        return {}

    def on_post(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        """What a postsynaptic event changes at a synapse; here `pre.released` is 0."""
        return {}

    def on_tick(self, synapse: Any, pre: Any, post: Any) -> dict[str, Any]:
        """What changes at every synapse once per interval; see `intervals`."""
        return {}

    def between(self, synapse: Any, elapsed: Any, start: Any, stop: Any) -> dict[str, Any]:
        """What `elapsed` ms without an event change at a synapse."""
        return {}

    def variables(self) -> dict[str, float]:
        """Variables that a synapse has beside its weight, with their start values."""
        return {}

    def pre_traces(self) -> dict[str, Trace]:
        """Traces of a source neuron."""
        return {}

    def post_traces(self) -> dict[str, Trace]:
        """Traces of a target neuron; see `init_post` for other numbers."""
        return {}

    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest weight; None for none. They may not depend on state."""
        return 0.0, None

    def limits(self) -> tuple[Any, Any]:
        """Between what weights lie, None for no limit; `bounds`, unless a rule clips by itself.

        Start weights are checked against it, and histograms of weights reach from one to the other.
        """
        return self.bounds()

    def intervals(self) -> tuple[Any, Any]:
        """The times [ms] from one call of `on_tick`, and of `factors`, to the next; None for never.

        They are part of the program: numbers, or fields declared with `static`. `build` makes
        steps of them, and refuses a time between two steps.
        """
        return None, None

    def init_post(self, n: int) -> dict[str, Any]:
        """The state of the numbers of n target neurons."""
        return {name: jnp.zeros(n) for name in self.post_traces()}

    def step_post(
        self, state: Any, spikes: jax.Array, v: Any, dt: float
    ) -> tuple[dict[str, Any], jax.Array, Any]:
        """Numbers of the target neurons before the events of this step, the events, the state.

        `v` [mV] is the voltage at the end of the step, before a reset.
        """
        traces = self.post_traces()
        before = {name: trace.decayed(state[name], dt) for name, trace in traces.items()}
        after = {
            name: jnp.where(spikes, trace.jumped(before[name]), before[name])
            for name, trace in traces.items()
        }
        return before, spikes, after

    def init_shared(self) -> dict[str, Any]:
        """The state of the numbers that all synapses share: scalars by name."""
        return {}

    def step_shared(
        self, state: dict[str, Any], signals: dict[str, Any], dt: float
    ) -> dict[str, Any]:
        """The shared numbers at the end of a step; `signals` are scalars by name."""
        return state

    def factors(self, total: jax.Array, synapses: jax.Array, state: Any) -> jax.Array:
        """What multiplies all weights of a target neuron: (n,).

        `total` (n,) is the sum of its weights, `synapses` (n,) their number, `state` what
        `step_post` returned. See `intervals`.
        """
        return jnp.ones_like(total)


def state_variables(state: Any) -> list[str]:
    """The names of the arrays in the state of a model (a named tuple or a module)."""
    names = getattr(state, "_fields", None)
    return list(getattr(state, "__dict__", ()) if names is None else names)
