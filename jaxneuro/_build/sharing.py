"""Names of what is shared, and names that would mean two things."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax

from .._describe.coupling import Coupling
from .._describe.projection import Projection
from .._fields import inner, named_parameters, parameters
from .._model import state_variables
from .._network.names import Shared
from ..spec import InvalidValueError, unknown
from .grouping import Grouping, Sender, receptor_key, synapse_of
from .merge import alone, any_state, kind_key, state_dtypes

_ALSO = {"receptor": "", "release": " and start values, to targets of one neuron model"}


class _Used(NamedTuple):
    """A receptor at a population, or a release of one, and who uses it."""

    kind: str
    population: str
    senders: list[Sender]

    @property
    def model(self) -> Any:
        first: Any = self.senders[0]
        return synapse_of(first) if self.kind == "receptor" else first.release

    @property
    def chosen(self) -> str | None:
        """The name that its senders give it."""
        return getattr(self.senders[0], f"{self.kind}_name")

    @property
    def by_class(self) -> str:
        return f"{self.population}.{type(self.model).__name__}"

    @property
    def has_name(self) -> bool:
        """Whether senders chose one, or share something that can be set or read.

        Raises:
            InvalidValueError: for a chosen name of what has no numbers.
        """
        has_numbers = bool(named_parameters(self.model) or state_dtypes(self.model))
        if self.chosen is not None and not has_numbers:
            must = f"None: {type(self.model).__name__} has no numbers"
            label = self.senders[0].label
            raise InvalidValueError(label, f"{self.kind}_name", must, repr(self.chosen))
        return self.chosen is not None or (len(self.senders) > 1 and has_numbers)


def shared_models(grouping: Grouping) -> tuple[Shared, ...]:
    """The receptors and releases that have a name of their own, in the order of their names.

    A name is the population at whose neurons they act, and what was chosen or the class:
    `E.ampa`, `E.AMPA`. Where a population has several of the class, the first of those that use it
    follows: `E.Exponential(E->E)`. So no number and no order decides what a derived name means.

    Raises:
        InvalidValueError: for a name that something else has, and for a modulator of a name that
            nothing has.
    """
    used = _used(grouping)
    classes = [x.by_class for x in used if x.chosen is None]
    taken = {p.name: p.label for p in _parts(grouping)}
    out = []
    for x in filter(lambda x: x.has_name, used):
        first = x.senders[0]
        more = f"({first.name})" if classes.count(x.by_class) > 1 else ""
        name = f"{x.by_class}{more}" if x.chosen is None else f"{x.population}.{x.chosen}"
        if name in taken:
            must = f"a name of its own, or that of a {x.kind} equal in all numbers{_ALSO[x.kind]}"
            got = f"{name!r}, which is that of {taken[name]}"
            raise InvalidValueError(first.label, f"{x.kind}_name", must, got)
        taken[name] = f"the {x.kind} of {first.label}"
        out.append(Shared(name, x.kind, tuple(p.name for p in x.senders)))
    _check_modulated(grouping, taken)
    return tuple(sorted(out))


def _check_modulated(grouping: Grouping, taken: dict[str, str]) -> None:
    modulators = {m.name for m in grouping.description.modulators}
    known = [name for name in taken if name not in modulators]
    for m in grouping.description.modulators:
        for name in m.scales:
            if name not in known:
                what = "population, projection, stimulation, coupling, shared receptor or release"
                raise unknown(what, name, known, m.label, "scales")


def _used(grouping: Grouping) -> list[_Used]:
    found: dict[tuple, _Used] = {}
    for p in sorted(grouping.senders, key=lambda p: p.name):
        where = "receptor", p.post.population
        found.setdefault((*where, receptor_key(p)), _Used(*where, [])).senders.append(p)
    for key, projections in grouping.pathways.items():
        for p in projections:
            where = "release", p.pre.population
            if not p.release.plain:
                found.setdefault((*where, key), _Used(*where, [])).senders.append(p)
    return list(found.values())


def _parts(grouping: Grouping) -> list[Any]:
    d = grouping.description
    return [*d.populations, *d.projections, *d.stimuli, *d.couplings, *d.modulators]


_OWN = {"gain", "weight"}  # what a projection itself has


def check_names(projections: Sequence[Projection | Coupling]) -> None:
    """Raises `InvalidValueError` where one name of a projection would mean two things."""
    kinds = {(kind_key(synapse_of(p)), kind_key(p.release)): p for p in reversed(projections)}
    for p in kinds.values():
        _check_names(p)


def _check_names(p: Projection | Coupling) -> None:
    """Checks one: its synapse and its release are set and read by its name."""
    kinds = {"synapse": synapse_of(p), "release": p.release}
    (synapse, of_synapse), (release, of_release) = (
        (f"{kind} {type(model).__name__}", (_parameters(model), _variables(model)))
        for kind, model in kinds.items()
    )
    for what, first, second in zip(("parameter", "state variable"), of_synapse, of_release):
        if both := first & second:
            must = f"a class without a {what} that {synapse} has too"
            raise InvalidValueError(p.label, "release", must, f"{release} with {min(both)!r}")
    for model, (names, _) in ((synapse, of_synapse), (release, of_release)):
        if names & _OWN:
            must = f"a class without the parameter {min(names & _OWN)!r}, which {p.label} has"
            raise InvalidValueError(p.label, model.split()[0], must, model)


def _parameters(model: Any) -> set[str]:
    return {f.name for f in parameters(type(model))} | set(inner(model))


def _variables(model: Any) -> set[str]:
    return set(state_variables(jax.eval_shape(lambda m: any_state(m, 2), alone(model))))
