"""Names of the receptors and releases that several share."""

from typing import Any, NamedTuple

from ..spec import unknown
from .._fields import named_parameters
from .._network import Shared
from ._grouping import Grouping, Sender, receptor_key, synapse_of
from ._states import state_dtypes

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

        **Raises** `ValueError` for a chosen name of what has no numbers.
        """
        has_numbers = bool(named_parameters(self.model) or state_dtypes(self.model))
        if self.chosen is not None and not has_numbers:
            raise ValueError(
                f"{self.senders[0].label}: {self.kind}_name must name a {self.kind} with numbers; "
                f"{type(self.model).__name__} has none. Leave {self.chosen!r} out"
            )
        return self.chosen is not None or (len(self.senders) > 1 and has_numbers)


def shared_models(grouping: Grouping) -> tuple[Shared, ...]:
    """The receptors and releases that have a name of their own, in the order of their names.

    A name is the population at whose neurons they act, and what was chosen or the class:
    `E.ampa`, `E.AMPA`. Where a population has several of the class, the first of those that use it
    follows: `E.Exponential(E->E)`. So no number and no order decides what a derived name means.

    **Raises** `ValueError` for a name that something else has, and for a modulator of a name that
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
            raise ValueError(
                f"{first.label}: its {x.kind} has the name {name!r}, which is that of "
                f"{taken[name]} too: give it another one, {x.kind}_name=. One name is for "
                f"{x.kind}s that are shared: equal in all numbers{_ALSO[x.kind]}"
            )
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
                raise ValueError(f"{m.label}: {unknown(what, name, known)}")


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
