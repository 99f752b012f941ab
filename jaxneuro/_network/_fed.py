"""What feeds the receptors and ports of a population, and the variables that nothing feeds."""

from typing import Any

from jaxneuro._network._named import Holder, named
from jaxneuro._network._ring import input_rows

from ..synapses import Direct


def arriving(net: Any, population: str) -> set[tuple[int, int]]:
    """Receptor and row of arrivals of all that is sent to a population."""
    number = net.population(population)[0]
    group = net.groups[number]
    sent = [x for p in net.pathways if p.target == number for x in p.members]
    sent += [c.span for c in net.couplings if c.release is not None]
    found = {(x.receptor, x.input) for x in sent if x.target == population}
    return found | {
        (s.receptor, s.input)
        for s in group.stimuli
        if s.receptor is not None
        and any(group.populations[t.population] == population for t in s.targets)
    }


def unfed(net: Any, name: str) -> dict[str, str]:
    """The variables of a name that only a port fills to which nothing leads: what would feed it."""
    out: dict[str, str] = {}
    for holder in named(net, name).holders:
        fills = getattr(holder.model(net), "port_fills", {})
        fed = _fed_ports(net, holder) if fills else ()
        for port in (port for port in fills if port not in fed):
            synapse = f"jn.synapses.Direct({port!r})"
            if holder.kind == "receptor":
                synapse = f"jn.synapses.Into({type(holder.model(net)).__name__}(...), {port!r})"
            out |= dict.fromkeys(fills[port], synapse)
    return out


def _fed_ports(net: Any, holder: Holder) -> set[str]:
    """The ports of a neuron or of a receptor, at one population, to which something leads."""
    receptors, fed = (getattr(net.groups[holder.path[1]], k) for k in ("receptors", "fed"))
    sent = arriving(net, holder.population)
    if holder.kind == "population":
        return {receptors[k].port for k, _ in sent if isinstance(receptors[k], Direct)}
    mine: Any = holder.path[3]
    first = input_rows(receptors, fed)[mine].start
    return {receptors[mine].ports[row - first] for k, row in sent if k == mine}
