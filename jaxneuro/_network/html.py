"""Networks and their states in a notebook."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Num, Shaped, UInt32

from .._arrays import AnyArray, is_traced
from .._html import ROWS, bars, diagram, page, table

if TYPE_CHECKING:
    from .network import Network
    from .pathway import Pathway, ProjectionMember
    from .state import NetworkState
    from .weights import Connections

_READ = 300_000  # synapses of a pathway that are read for a page
_SHOWN = 3  # names of populations in a row
_KEPT = 32  # networks whose names are kept
_NAMES: dict[bytes, tuple] = {}  # populations and receptors of each group, by fingerprint


def html_of_network(net: "Network") -> str:
    """Populations as boxes with arrows, and tables of what it is made of."""
    models = {member.name: type(g.model).__name__ for g in net.groups for member in g.members}
    populations = [(name, f"{n:,}", models[name]) for name, n in net.populations.items()]
    wires = [(p, m) for p in net.pathways for m in p.members]
    projections = [
        (m.name, _receptor(net, p, m), _weights(p, m), *_sizes(net, number, m.name))
        for number, p in enumerate(net.pathways)
        for m in p.members
    ]
    couplings = [
        (c.name, "gap junctions" if c.receptor is None else "graded") for c in net.couplings
    ]
    stimuli = [
        (name, type(s.model).__name__) for g in net.groups for s in g.stimuli for name in s.names
    ]
    modulators = [
        (m.name, ", ".join(f"{parameter} of {name}" for name, parameter in m.scales))
        for m in net.modulators
    ]
    shared = [(s.name, s.kind, ", ".join(s.senders)) for s in net.shared]
    tables = [
        table(("population", "neurons", "model"), populations),
        table(("projection", "receptor", "weights", "delay", "synapses"), projections),
        table(("coupling", "kind"), couplings),
        table(("stimulation", "stimulus"), stimuli),
        table(("shared", "kind", "by"), shared),
        table(("modulator", "scales"), modulators),
    ]
    arrows = [(m.source, m.target) for _, m in wires]
    drawing = diagram(net.populations, arrows, [(c.source, c.target) for c in net.couplings])
    return page(f"{net!r}, dt = {net.dt:g} ms", tables, drawing)


def _receptor(net: "Network", pathway: "Pathway", member: "ProjectionMember") -> str:
    return type(net.groups[pathway.target].receptors[member.receptor]).__name__


def _weights(pathway: "Pathway", member: "ProjectionMember") -> str:
    if pathway.plastic is not None:
        return f"plastic, {type(pathway.plastic.rule).__name__}"
    return "one per synapse" if member.individual else "one for all"


def _sizes(net: "Network", number: int, name: str) -> tuple[str, str]:
    """The delays of a projection, and its synapses: of large ones what need not be read."""
    pathway, total = net.pathways[number], net.synapses_of(number)
    if net.layout is None and total <= _READ:
        c = net.connections(name)
        pairs = c.shape[0] * c.shape[1]
        share = f" ({100 * len(c) / pairs:.3g} % of pairs)" if pairs else ""
        return _delays(c.delay), f"{len(c):,}{share}"
    alone = len(pathway.members) == 1
    return "see net.connections", f"{total:,}" if alone else f"some of {total:,}"


def _delays(delays: Num[np.ndarray, " synapses"]) -> str:
    if not delays.size:
        return ""
    low, high = float(delays.min()), float(delays.max())
    return f"{low:g} ms" if low == high else f"{low:g} to {high:g} ms"


def html_of_connections(connections: "Connections") -> str:
    """How many there are, their weights and delays, and the degrees of the neurons."""
    c = connections
    rows = [("weight", *_summary(c.weight)), ("delay (ms)", *_summary(c.delay))]
    for what, n, index in (("targets of a source", 0, c.pre), ("sources of a target", 1, c.post)):
        rows.append((what, *_summary(np.bincount(index, minlength=c.shape[n]))))
    drawing = bars("weights", c.weight) if c.weight.size and np.isfinite(c.weight).all() else ""
    title = f"{c!r}, {c.shape[0]:,} to {c.shape[1]:,} neurons"
    return page(title, [table(("", "lowest", "mean", "highest"), rows)], drawing)


def _summary(x: Num[np.ndarray, " _"]) -> tuple[str, str, str]:
    if not x.size:
        return "", "", ""
    return f"{float(x.min()):.4g}", f"{float(x.mean()):.4g}", f"{float(x.max()):.4g}"


def remember_names(fingerprint: UInt32[AnyArray, "2"], groups: Any) -> None:
    """Keeps what the groups of a network are called, for the pages of its states."""
    names = tuple((g.populations, tuple(type(r).__name__ for r in g.receptors)) for g in groups)
    _NAMES[np.asarray(fingerprint).tobytes()] = names
    while len(_NAMES) > _KEPT:
        _NAMES.pop(next(iter(_NAMES)))


def remembered(fingerprint: UInt32[AnyArray, "2"]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The populations and the receptors of each group of a network; () where they are not known."""
    return _NAMES.get(np.asarray(fingerprint).tobytes(), ())


def html_of_state(state: "NetworkState") -> str:
    """The variables of neurons and receptors with their ranges; a histogram of the first."""
    found = list(_variables(state))
    rows = [(where, name, str(x.shape), *_range(x)) for where, name, x in found[: ROWS + 1]]
    rows += [("", "", "", "", "")] * (len(found) - len(rows))
    head = ("part", "variable", "shape", "lowest", "highest")
    drawings = (
        bars(f"{name} of {where}", numbers)
        for where, name, x in found
        if (numbers := _numbers(x)) is not None
    )
    note = "populations of one model are one array; net.read(state, name, variable) reads one"
    return page(f"{state!r} ({note})", [table(head, rows)], next(drawings, ""))


def _variables(state: "NetworkState") -> Iterator[tuple[str, str, Shaped[AnyArray, "..."]]]:
    names = () if is_traced(state.fingerprint) else remembered(state.fingerprint)
    for k, group in enumerate(state.groups):
        populations, receptors = names[k] if k < len(names) else ((), ())
        of = _few(populations) or f"group {k}"
        kinds = receptors or [f"receptor {r}" for r in range(len(group.receptors))]
        for where, holder in [
            (f"neurons of {of}", group.neurons),
            *((f"{kind} of {of}", x) for kind, x in zip(kinds, group.receptors)),
        ]:
            for name in getattr(holder, "_fields", ()):
                x = getattr(holder, name)
                if hasattr(x, "shape"):
                    yield where, name, x


def _few(populations: tuple[str, ...]) -> str:
    more = len(populations) - _SHOWN
    return ", ".join(populations[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _numbers(x: Shaped[AnyArray, "..."]) -> Float[np.ndarray, " finite"] | None:
    """The finite numbers of an array, None if it is traced, not of floats, or has none."""
    if is_traced(x) or not np.issubdtype(x.dtype, np.floating):
        return None
    values = np.ravel(np.asarray(x))
    values = values[np.isfinite(values)]
    return values if values.size else None


def _range(x: Shaped[AnyArray, "..."]) -> tuple[str, str]:
    if is_traced(x):
        return "traced", "traced"
    values = np.asarray(x)
    if not values.size or values.dtype.kind not in "biuf":
        return "", ""
    return f"{float(values.min()):g}", f"{float(values.max()):g}"
