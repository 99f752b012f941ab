"""What two networks differ in, by name: `Network.changes`."""

import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from .._arrays import is_traced
from .._fields import ParameterKind, inner, part_names
from .._fingerprint import fingerprint
from .._numerics.grid import InSteps
from .get import Settable, plain, rows_of, settable, text_of, value_of_own
from .weights import Connections, read_connections

if TYPE_CHECKING:
    from .network import Network


class Change(NamedTuple):
    """One difference of two networks.

    Attributes:
        name: of a population, projection, ...; "" for the network itself.
        parameter: what differs; "" where only one of them has something of the name.
        value, other: in the one and in the other; None where there is none. Of connections the
            numbers, which may be equal.
        kind: what the name is of: population, projection, ...
        units: of value and other; "" for none.
    """

    name: str
    parameter: str
    value: Any
    other: Any
    kind: str = ""
    units: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        return self.text()

    def text(self, was: str = "was", new: str = "new", gone: str = "gone") -> str:
        """The difference as a line, with these words for what `other` has, has not, and alone."""
        start = f"{self.kind} {self.name!r}" if self.name else "network"
        now, before = map(_shown, (self.value, self.other), self.units)
        if not self.parameter:
            return f"{start}: {gone if self.value is None else new}"
        if now == before:
            before += ", others"
        return f"{start}: {self.parameter} {now}, {was} {before}"


def _shown(x: Any, unit: str) -> str:
    text = x if isinstance(x, str) else "none" if x is None else text_of(x)
    return f"{text} {unit}" if unit and isinstance(x, float | np.ndarray) else text


class Changes(tuple):
    """The differences of two networks, each a `Change`; shown one per line."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no changes"


class _Fact(NamedTuple):
    """A value that is compared, and its unit."""

    value: Any
    unit: str = ""


def changes_of(net: "Network", other: "Network") -> Changes:
    """What is different in a network; see `Network.changes`."""
    grids = ("dt", net.dt, other.dt), ("dtype", str(net.dtype), str(other.dtype))
    found = [Change("", *grid) for grid in grids if grid[1] != grid[2]]
    for name in dict.fromkeys((*other.names, *net.names)):
        found += _of_name(net, other, name)
    return Changes(found)


def _of_name(net: "Network", other: "Network", name: str) -> Iterator[Change]:
    mine, its = (settable(x, name) if name in x.names else None for x in (net, other))
    kind, was = _kind(mine, name), _kind(its, name)
    if mine is None or its is None or kind != was:
        if its is not None:
            yield Change(name, "", None, was, was)
        if mine is not None:
            yield Change(name, "", kind, None, kind)
        return
    read = not _same_synapses(net, other, (mine, its))
    new, old = _facts(net, mine, name, read), _facts(other, its, name, read)
    for key in dict.fromkeys((*old, *new)):
        a, b = (facts.get(key, _Fact(None)) for facts in (new, old))
        if a.unit != b.unit or not _same(a.value, b.value):
            yield Change(name, key[1], _counted(a), _counted(b), kind, (a.unit, b.unit))


def facts_of(net: "Network") -> dict[str, dict[str, list[str]]]:
    """All that `changes` compares, of a network that will be gone.

    By name what is known, each as its text and a sum of its value; synapses (who is connected, and
    after which delay) and individual weights by a sum alone. `unlike` compares two.
    """
    out = {"network": {"dt": _kept(_Fact(net.dt, "ms")), "dtype": _kept(_Fact(str(net.dtype)))}}
    for name in net.names:
        found = settable(net, name)
        facts = _facts(net, found, name, read=False)
        out[_titled(_kind(found, name), name)] = {k[1]: _kept(x) for k, x in facts.items()}
    for number, pathway in enumerate(net.pathways):
        title = ", ".join(_titled("projection", name) for name in pathway.projections)
        facts = out.setdefault(title, {})
        table = fingerprint(*jax.tree.leaves(pathway.table)).tobytes().hex()
        facts["synapses"] = [f"{net.synapses_of(number):,}", table]
        if pathway.plastic is not None or any(m.individual for m in pathway.members):
            facts["weights"] = _kept(_Fact(pathway.weights))
    return out


def unlike(
    now: dict[str, dict[str, list[str]]], before: dict[str, dict[str, list[str]]]
) -> list[str]:
    """What `facts_of` two networks do not share, a line each."""
    lines = []
    for title in dict.fromkeys((*before, *now)):
        if title not in now or title not in before:
            lines.append(f"{title}: {'new' if title in now else 'gone'}")
            continue
        a, b = now[title], before[title]
        for key in dict.fromkeys((*b, *a)):
            new, old = a.get(key, ["none", ""]), b.get(key, ["none", ""])
            if new[1] != old[1]:
                more = ", others" if new[0] == old[0] else ""
                lines.append(f"{title}: {key} {new[0]}, was {old[0]}{more}")
    return lines


def _titled(kind: str, name: str) -> str:
    return f"{kind} {name!r}"


def _kept(fact: _Fact) -> list[str]:
    value = np.asarray(fact.value) if isinstance(fact.value, jax.Array) else fact.value
    return [_shown(value, fact.unit), fingerprint(value, fact.unit).tobytes().hex()]


def _counted(fact: _Fact) -> Any:
    return len(fact.value) if isinstance(fact.value, Connections) else fact.value


def _kind(found: Settable | None, name: str) -> str:
    return "" if found is None else found.found.label.removesuffix(f" {name!r}")


def _same_synapses(net: "Network", other: "Network", both: Any) -> bool:
    """Whether two projections or couplings have one table in memory: then nobody reads it."""
    where = []
    for x, found in zip((net, other), both):
        if found.kind == "projection":
            of = x.pathways[found.at[0]]
            where.append((found.at[1], jax.tree.leaves((of.table, of.weights))))
        elif found.kind == "coupling":
            where.append((0, jax.tree.leaves(x.couplings[found.at[0]].sides)))
        else:
            return True
    (a, mine), (b, its) = where
    return a == b and len(mine) == len(its) and all(x is y for x, y in zip(mine, its))


def _facts(net: "Network", found: Settable, name: str, read: bool) -> dict[tuple, _Fact]:
    """What is known of a name, by whose it is and what it is called."""
    out: dict[tuple, _Fact] = {}
    for number, reference in enumerate(found.found.references):
        kind = reference.kind
        if reference.shared:  # it has a name of its own, by which it is compared
            out[kind, kind] = _Fact(reference.shared.name)
            continue
        model = reference.model(net)
        out |= {(kind, row.name): _Fact(row.value, row.unit) for row in rows_of(net, found, number)}
        own = kind if len(found.found.references) > 1 else "model"
        out |= {(kind, k or own): _in_ms(x, net.dt) for k, x in _fixed(model).items()}
    facts = _described(net, found, name)
    if "gain" in found.own:
        facts["gain"] = value_of_own(net, found, name, "gain")
    if found.own:
        individual, unit = _individual(net, found), found.weight_unit(net)
        if not individual:
            out["", "weight"] = _Fact(value_of_own(net, found, name, "weight"), unit)
        if read and "gain" in found.own:
            facts["connections"] = c = read_connections(net, name)
            out["", "delay"] = _Fact(plain(c.delay, merged=True), "ms")
            if individual:
                out["", "weight"] = _Fact(c.weight, unit)
    return {("", k): _Fact(x) for k, x in facts.items()} | out


def _in_ms(value: Any, dt: float) -> _Fact:
    """A value that is compared; a duration in steps is ms, as it was described."""
    if isinstance(value, InSteps):
        return _Fact(float(f"{value.n_steps * dt:.12g}"), "ms")
    return _Fact(value)


def _individual(net: "Network", found: Settable) -> bool:
    """Whether a weight is one per synapse; of plastic synapses, those at the start."""
    if found.kind == "coupling":
        return net.couplings[found.at[0]].individual
    if found.kind == "stimulation":
        return False
    pathway = net.pathways[found.at[0]]
    return pathway.plastic is not None or pathway.members[found.at[1]].individual


def _fixed(model: Any) -> dict[str, Any]:
    """What `set` does not change of a model: classes, by their field, static fields and tables."""
    out, within = {"": type(model).__name__}, inner(model)
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if isinstance(field.metadata.get("kind"), ParameterKind) or "each_of" in field.metadata:
            continue
        if field.name not in within:
            out[field.name] = value
            continue
        parts = within[field.name]
        names = part_names(parts) if isinstance(value, tuple) else [field.name]
        if isinstance(value, tuple):
            out[field.name] = ", ".join(names)
        for name, part in zip(names, parts):
            out |= {f"{name}_{k}".rstrip("_"): x for k, x in _fixed(part).items()}
    return out


def _described(net: "Network", found: Settable, name: str) -> dict[str, Any]:
    """Sizes, ends, windows and start values of a name."""
    reference = next(iter(found.found.references), None)
    facts: dict[str, Any] = {}
    if name in net.populations:
        facts["neurons"] = net.populations[name]
        facts["positions"] = net.points.get(name)
    elif found.kind == "projection":
        mine = net.pathways[found.at[0]].members[found.at[1]]
        facts = {"source": mine.source, "target": mine.target}
    elif found.kind == "coupling":
        layer = net.couplings[found.at[0]]
        facts = {"source": layer.source, "target": layer.target, "average": layer.average}
    elif reference is not None and reference.kind == "stimulation":
        number, layer = reference.path[1], reference.path[3]
        stimulus = net.groups[number].stimuli[layer]
        target = stimulus.targets[reference.member]
        first = net.groups[number].span(target.population).start
        facts["target"] = reference.population
        facts["neurons"] = (
            np.asarray(stimulus.index) - first
            if target.span is None
            else range(*(k - first for k in target.span))
        )
        facts |= {k: x * net.dt if x else x for k, x in stimulus.window._asdict().items()}
    elif reference is not None and reference.kind == "modulator":
        layer = net.modulators[reference.path[1]]
        amounts = dict(zip(layer.scales, np.asarray(layer.amounts).tolist()))
        facts = {f"{key} of {of!r}": x for (of, key), x in amounts.items()}
        facts["start"], facts["signal"] = plain(layer.start), layer.signal
        facts["lowest"], facts["highest"] = np.asarray(layer.bounds).tolist()
    return facts | {f"initial {v.variable}": v.value for v in _initial(net) if v.owner == name}


def _initial(net: "Network") -> Iterator[Any]:
    """All start values."""
    for group in net.groups:
        yield from itertools.chain(group.initial, *group.receptor_initial)
    for layer in (*net.pathways, *net.couplings):
        yield from layer.initial


def _same(a: Any, b: Any) -> bool:
    """Whether two values are equal; traced ones are if they are one."""
    if isinstance(a, Connections) and isinstance(b, Connections):
        return np.array_equal(a.pre, b.pre) and np.array_equal(a.post, b.post)
    (mine, tree), (its, other) = jax.tree.flatten(a), jax.tree.flatten(b)
    return tree == other and all(map(_equal, mine, its))


def _equal(a: Any, b: Any) -> bool:
    if is_traced(a) or is_traced(b):
        return a is b
    if hasattr(a, "dtype") or hasattr(b, "dtype"):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)
