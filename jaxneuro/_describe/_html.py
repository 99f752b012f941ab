"""A description in a notebook."""

from typing import Any

from .._html import diagram, page, table
from .._text import shown


def html_of_description(description: Any) -> str:
    """Populations as boxes with arrows, and tables of what is described."""
    sizes = {p.name: p.n for p in description.populations}
    arrows = [(p.pre.population, p.post.population) for p in description.projections]
    lines = [(c.pre.population, c.post.population) for c in description.couplings]
    populations = [(p.name, f"{p.n:,}", shown(p.model)) for p in description.populations]
    expected = {p.name: p.synapses for p in description.estimate().projections}
    wires = [
        (p.name, shown(p.rule), f"{expected[p.name]:,}", shown(p.weight), shown(p.delay))
        for p in description.projections
    ]
    couplings = [(c.name, shown(c.rule), shown(c.weight)) for c in description.couplings]
    stimuli = [(s.name, shown(s.stimulus)) for s in description.stimuli]
    modulators = [(m.name, shown(m.scales)) for m in description.modulators]
    tables = [
        table(("population", "neurons", "model"), populations),
        table(("projection", "rule", "synapses (about)", "weight", "delay (ms)"), wires),
        table(("coupling", "rule", "weight"), couplings),
        table(("stimulation", "stimulus"), stimuli),
        table(("modulator", "scales"), modulators),
    ]
    return page(repr(description), tables, diagram(sizes, arrows, lines))
