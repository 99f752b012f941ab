"""Networks and their states in a notebook."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._checks import is_traced
from .._html import ROWS, bars, diagram, page, table


def html_of_network(net: Any) -> str:
    """Populations as boxes with arrows, and tables of what it is made of."""
    models = {member.name: type(g.model).__name__ for g in net.groups for member in g.members}
    populations = [(name, f"{n:,}", models[name]) for name, n in net.populations.items()]
    wires = [(p, m) for p in net.pathways for m in p.members]
    projections = [(m.name, _receptor(net, p, m), _weights(p, m)) for p, m in wires]
    spans = [c.span for c in net.couplings]
    couplings = [(c.name, "gap junctions" if c.receptor is None else "graded") for c in spans]
    stimuli = [
        (name, type(s.model).__name__) for g in net.groups for s in g.stimuli for name in s.names
    ]
    modulators = [
        (m.span.name, ", ".join(f"{parameter} of {name}" for name, parameter in m.span.scales))
        for m in net.modulators
    ]
    tables = [
        table(("population", "neurons", "model"), populations),
        table(("projection", "receptor", "weights"), projections),
        table(("coupling", "kind"), couplings),
        table(("stimulation", "stimulus"), stimuli),
        table(("modulator", "scales"), modulators),
    ]
    arrows = [(m.source, m.target) for _, m in wires]
    drawing = diagram(net.populations, arrows, [(c.source, c.target) for c in spans])
    return page(f"{net!r}, dt = {net.dt:g} ms", tables, drawing)


def _receptor(net: Any, pathway: Any, member: Any) -> str:
    return type(net.groups[pathway.target].receptors[member.receptor]).__name__


def _weights(pathway: Any, member: Any) -> str:
    if pathway.plastic is not None:
        return f"plastic, {type(pathway.plastic.rule).__name__}"
    return "one per synapse" if member.individual else "one for all"


def html_of_state(state: Any) -> str:
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
    note = "a group is all populations of one model; net.read(state, name, variable) reads one"
    return page(f"{state!r} ({note})", [table(head, rows)], next(drawings, ""))


def _variables(state: Any) -> Iterator[tuple[str, str, Any]]:
    for k, group in enumerate(state.groups):
        for where, holder in [
            (f"neurons of group {k}", group.neurons),
            *((f"receptor {r} of group {k}", x) for r, x in enumerate(group.receptors)),
        ]:
            for name in getattr(holder, "_fields", ()):
                x = getattr(holder, name)
                if hasattr(x, "shape"):
                    yield where, name, x


def _numbers(x: Any) -> np.ndarray | None:
    """The finite numbers of an array, None if it is traced, not of floats, or has none."""
    if is_traced(x) or not np.issubdtype(x.dtype, np.floating):
        return None
    values = np.ravel(np.asarray(x))
    values = values[np.isfinite(values)]
    return values if values.size else None


def _range(x: Any) -> tuple[str, str]:
    if is_traced(x):
        return "traced", "traced"
    values = np.asarray(x)
    if not values.size or values.dtype.kind not in "biuf":
        return "", ""
    return f"{float(values.min()):g}", f"{float(values.max()):g}"
