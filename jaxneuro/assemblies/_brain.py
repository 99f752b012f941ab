"""`Brain`: areas, stimuli and fibres as one value that steps in rounds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Int32, UInt32

from .. import spec
from .._arrays import ArrayLike, as_array, is_traced
from .._fingerprint import fingerprint
from .._html import page, table
from .._numerics.streams import seed_of, stream_key
from .._text import counted, text_inside
from ..spec import InvalidValueError
from ._description import BETA, LARGEST_BETA, Area, Fibre, Stimulus
from ._state import (
    NEVER,
    AreaState,
    BrainState,
    Origin,
    changed,
    check,
    check_of,
    checked_active,
    silent,
    with_cap,
)
from ._step import drivers, input_of, step
from ._weights import Wire, init_fibres, weight_tables, wires_of

_SHOWN = 6  # areas, stimuli or fibres that a brain as text lists


class Brain(eqx.Module):
    """Areas of neurons that fire in rounds: the assembly calculus.

    In a round every area with an active fibre from something that fires gets a new *cap*: of its n
    neurons the k with the largest input, ties to the lower index. The input of a neuron is the
    sum of the weights of its synapses from what fired in the round before, less its refraction.
    Then each synapse from a neuron that fired before onto one that fires now is multiplied by
    1 + beta. All areas change at once.

    Attributes:
        areas, stimuli, fibres: as given.
        wires: the fibres with their ends.
        p: the default of fibres.
        beta: the default of fibres; as a leaf (F,), that of each.
        weights: a leaf, uint32 (F, rounds + 1, 2): the weight after so many potentiations.
        refraction: a leaf (A,), that of each area.
        rounds: how many rounds it remembers: those with learning, and all in which a sampled area
            fires.
        origin: by which a state of another brain is known: a brain that differs in betas, ceilings
            or refractions alone takes it.

    Raises:
        InvalidValueError: for names that are not unique or not known, p outside [0, 1], beta
            outside [0, 1000], a fibre without p, two fibres between the same ends, and ceilings of
            weights with which an input could leave 64 bits.

    Reference:
        Papadimitriou, Vempala, Mitropolsky, Collins, Maass (2020), Brain computation by assemblies
        of neurons, doi:10.1073/pnas.2001893117.
    """

    beta: Float[Array, " fibres"]
    weights: UInt32[Array, "fibres potentiations 2"]
    refraction: Float32[Array, " areas"]
    areas: tuple[Area, ...] = eqx.field(static=True)
    stimuli: tuple[Stimulus, ...] = eqx.field(static=True)
    fibres: tuple[Fibre, ...] = eqx.field(static=True)
    wires: tuple[Wire, ...] = eqx.field(static=True)
    rounds: int = eqx.field(static=True)
    origin: Origin = eqx.field(static=True)

    if not TYPE_CHECKING:  # every name would be right
        __getattribute__ = object.__getattribute__  # methods that `jax.jit` takes

    @spec.arguments(
        areas=spec.Items(spec.Of(Area)),
        stimuli=spec.Items(spec.Of(Stimulus)),
        fibres=spec.Items(spec.Of(Fibre)),
        p=spec.Maybe(spec.FRACTION),
        beta=BETA,
        rounds=spec.Whole(1),
    )
    def __init__(
        self,
        areas: Sequence[Area],
        stimuli: Sequence[Stimulus] = (),
        fibres: Sequence[Fibre] = (),
        *,
        p: float | None = None,
        beta: ArrayLike = 0.1,
        rounds: int = 64,
    ) -> None:
        self.areas = tuple(areas)
        self.stimuli = tuple(stimuli)
        self.fibres = tuple(fibres)
        _check_names(self)
        self.rounds = rounds
        self.wires = wires_of(self.areas, self.stimuli, self.fibres, p)
        self.origin = _origin(self)
        given: list[Any] = [beta if f.beta is None else f.beta for f in self.fibres]
        traced = any(is_traced(x) for x in given)
        self.beta = jnp.stack(given) if traced else as_array(given, np.float32)
        self.weights = weight_tables(self.beta, self._ceilings, self.rounds)
        self.refraction = as_array([a.refraction for a in self.areas], np.float32)

    __pdoc__ = text_inside

    def __repr__(self) -> str:
        """Areas with their neurons and caps, stimuli and fibres."""
        areas = [f"{a.name} {a.n:,} (k {a.k:,})" for a in self.areas]
        stimuli = [f"{s.name} {s.size:,}" for s in self.stimuli]
        parts = [
            f"{counted(len(some), kind)}{': ' * bool(some)}{', '.join(some[:_SHOWN])}"
            f"{', ...' * (len(some) > _SHOWN)}"
            for kind, some in (("area", areas), ("stimulus", stimuli), ("fibre", self.fibre_names))
        ]
        return f"Brain: {'; '.join(parts)}"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        rows = [(a.name, "area", f"{a.n:,}", f"{a.k:,}") for a in self.areas]
        rows += [(s.name, "stimulus", f"{s.size:,}", "") for s in self.stimuli]
        fibres = [(w.name, f"{w.p:g}") for w in self.wires]
        tables = [table(("name", "kind", "neurons", "cap"), rows), table(("fibre", "p"), fibres)]
        sizes = counted(len(self.areas), "area"), counted(len(self.wires), "fibre")
        return page(f"Brain: {', '.join(sizes)}", tables)

    @property
    def _ceilings(self) -> Float32[np.ndarray, " fibres"]:
        return np.array([f.w_max for f in self.fibres], np.float32)

    @property
    def area_names(self) -> tuple[str, ...]:
        """The names of the areas, in their order."""
        return tuple(a.name for a in self.areas)

    @property
    def fibre_names(self) -> tuple[str, ...]:
        """The names of the fibres: "A->B"."""
        return tuple(w.name for w in self.wires)

    @property
    def words(self) -> int:
        """Words of the history of a neuron."""
        return -(-self.rounds // 32)

    def number(self, area: str) -> int:
        """The number of an area, or `ValueError`."""
        spec.check_known("area", area, self.area_names)
        return self.area_names.index(area)

    def active(self, *fibres: str) -> Bool[np.ndarray, " fibres"]:
        """The fibres that are active in a round: bool (F,), from their names ("A->B").

        Raises:
            InvalidValueError: for an unknown fibre.
        """
        for name in fibres:
            _check_fibre(self, name)
        return np.array([name in fibres for name in self.fibre_names], bool)

    def inhibit(self, active: ArrayLike, *areas: str) -> Bool[Any, "*rounds fibres"]:
        """Active fibres without those from or onto the given areas: bool (F,) or (rounds, F)."""
        active = checked_active("inhibit", len(self.fibres), active, (1, 2))
        numbers = {self.number(area) for area in areas}
        open_ = np.array([w.number not in numbers and w.into not in numbers for w in self.wires])
        return active & open_

    def with_beta(self, beta: ArrayLike) -> "Brain":
        """The same brain with another beta: one number, or (F,) one per fibre; may be traced.

        It has no derivative: `jax.grad` through a round raises `ValueError` and names the soft cap.
        """
        shape = (len(self.fibres),)
        if not is_traced(beta):
            spec.check("with_beta", "beta", spec.Numbers(at_least=0.0, at_most=LARGEST_BETA), beta)
        if np.shape(beta) not in ((), shape):
            raise InvalidValueError(
                "with_beta", "beta", f"one number or one per fibre, {shape}", str(np.shape(beta))
            )
        new = jnp.broadcast_to(jnp.asarray(beta, jnp.float32), shape)
        tables = weight_tables(new, self._ceilings, self.rounds)
        return eqx.tree_at(lambda b: (b.beta, b.weights), self, (new, tables))

    def init(self, key: Any) -> BrainState:
        """The state before the first round; all synapses follow from the key.

        `key` is an integer of at least 0, a JAX key, or a traced uint32. May be vmapped.
        """
        return _init(self, jnp.asarray(seed_of(key)))

    def step(self, state: BrainState, active: ArrayLike, plastic: ArrayLike = True) -> BrainState:
        """One round. `active` bool (F,) the active fibres, `plastic` whether synapses learn.

        Both may be traced. Fibres that are not active in a NumPy array take no time.

        Raises:
            InvalidValueError: for an `active` or `plastic` of another shape or dtype.
        """
        return step(self, state, active, plastic)

    def cap(self, state: BrainState, area: str) -> Int32[Array, "*batch k"]:
        """The neurons of an area that fired last, ascending: int32 (k,); see `fired`.

        Where fewer neurons fire, the rest is -1, nobody.
        Neurons of a sampled area are numbered as they first fired.
        """
        check_of("cap", self, state)
        number = self.number(area)
        cap = state.areas[number].cap
        return jnp.where(cap < self.areas[number].places, cap, -1)

    def fired(self, state: BrainState, area: str) -> Bool[Array, "*batch"]:
        """Whether an area has a cap: bool ()."""
        check_of("fired", self, state)
        return state.areas[self.number(area)].fired

    def support(self, state: BrainState, area: str) -> Int32[Array, "*batch"]:
        """How many neurons of an area ever fired: int32 ()."""
        check_of("support", self, state)
        return state.areas[self.number(area)].support

    def input(self, state: BrainState, active: ArrayLike, area: str) -> Float32[Array, " n"]:
        """What the neurons of an area would receive in the next round: float32 (n,).

        Of a sampled area: its `capacity` places, in which those after the support are empty.
        """
        check_of("input", self, state)
        number = self.number(area)
        return input_of(self, state, drivers(self, state, active), number)

    def with_cap(self, state: BrainState, area: str, neurons: ArrayLike) -> BrainState:
        """The state in which the given neurons, int (m,), are the cap of an area.

        They may be fewer than k, and -1 is nobody, so that a cap of any size has one shape.

        Raises:
            InvalidValueError: unless they are at most k different neurons of the area (in a sampled
                area: that ever fired); not checked where they are traced.
        """
        check_of("with_cap", self, state)
        return with_cap(self, state, area, neurons)

    def fix(self, state: BrainState, area: str, fixed: ArrayLike = True) -> BrainState:
        """The state in which an area keeps its cap, whatever it receives, or not any more.

        Its synapses learn as before.
        """
        check_of("fix", self, state)
        return changed(state, self.number(area), fixed=jnp.asarray(fixed, bool))

    def release(self, state: BrainState, area: str) -> BrainState:
        """The state in which an area is not fixed."""
        return self.fix(state, area, False)

    def balance(self, state: BrainState, area: str, balanced: ArrayLike = True) -> BrainState:
        """The state in which homeostasis acts on an area, or rests.

        While it rests, the sums of weights are kept, and what is received is not divided by them.

        Raises:
            InvalidValueError: for an area without homeostasis.
        """
        check_of("balance", self, state)
        number = self.number(area)
        if not self.areas[number].homeostasis:
            raise ValueError(f"area {area!r} must have homeostasis: Area(..., homeostasis=True)")
        return changed(state, number, balanced=jnp.asarray(balanced, bool))

    def clear(self, state: BrainState, area: str) -> BrainState:
        """The state in which an area has no cap: it fires nothing until it is driven again."""
        check_of("clear", self, state)
        return silent(self, state, (area,), True)

    def rest(self, state: BrainState, area: str) -> BrainState:
        """The state in which no neuron of an area is refracted."""
        check_of("rest", self, state)
        number = self.number(area)
        return changed(state, number, wins=jnp.zeros_like(state.areas[number].wins))

    def check(self, state: BrainState) -> None:
        """Raises `ValueError` if a capacity was exceeded, with the one to ask for.

        On the host: a traced state is refused.
        """
        check_of("check", self, state)
        check(self, state)


def _origin(brain: Brain) -> Origin:
    """Of all that shapes and synapses follow from."""
    areas = [
        (a.name, a.n, a.k, a.connectome, a.capacity, a.refraction > 0, a.homeostasis)
        for a in brain.areas
    ]
    stimuli = [(s.name, s.size) for s in brain.stimuli]
    wires = [(w.name, w.p) for w in brain.wires]
    bits = fingerprint(areas, stimuli, wires, brain.rounds)
    return Origin(brain.area_names, bits.tobytes().hex())


def _check_fibre(brain: Brain, name: Any) -> None:
    source, _, target = name.partition("->") if isinstance(name, str) else ("", "", "")
    ends = {x.name for x in (*brain.areas, *brain.stimuli)}
    if name not in brain.fibre_names and source in ends and target in brain.area_names:
        raise ValueError(
            f"there is no fibre from {source!r} onto {target!r}; the brain needs one, "
            f"fibres=[..., ac.Fibre({source!r}, {target!r})]. It has: "
            f"{', '.join(map(repr, brain.fibre_names)) or 'none'}"
        )
    spec.check_known("fibre", name, brain.fibre_names)


def _check_names(brain: Brain) -> None:
    names = [x.name for x in (*brain.areas, *brain.stimuli)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"a brain: names of areas and stimuli must be unique; twice: {twice}")
    if not brain.areas:
        raise InvalidValueError("", "a brain", "one with at least one area", "none")


@eqx.filter_jit
def _init(brain: Brain, seed: UInt32[Array, ""]) -> BrainState:
    zero, words, n_fibres = jnp.int32(0), brain.words, len(brain.wires)
    history = jnp.zeros((n_fibres, words), jnp.uint32)
    areas = tuple(_init_area(area, words, brain.rounds, seed) for area in brain.areas)
    fibres = init_fibres(brain.wires, seed)
    return BrainState(seed, zero, zero, zero, history, history, areas, fibres, brain.origin)


def _init_area(area: Area, words: int, rounds: int, seed: UInt32[Array, ""]) -> AreaState:
    n, zero, no = area.places, jnp.int32(0), jnp.asarray(False)
    history = jnp.zeros((n, words), jnp.uint32)
    kept = n if area.sampled else 0
    return AreaState(
        cap=jnp.full(area.k, n, jnp.int32),
        fired=no,
        fixed=no,
        balanced=jnp.asarray(area.homeostasis),
        support=zero,
        ever=jnp.zeros(0 if area.sampled else n, bool),
        wins=jnp.zeros(n if area.refraction else 0, jnp.int32),
        before=history,
        after=history,
        key=jnp.stack([jnp.asarray(w) for w in stream_key(seed, area.name, "candidates")]),
        rank=jnp.zeros(kept, jnp.uint32),
        limits=jnp.asarray(np.tile(NEVER, (rounds if area.sampled else 0, 1))),
        lost=zero,
    )
