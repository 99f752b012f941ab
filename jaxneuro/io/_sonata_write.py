"""Writes networks of point neurons in the SONATA format."""

import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from jaxtyping import Int64, Num

from .. import spec
from .._disk.hdf5 import check_h5py, put, put_spikes, writing
from .._disk.whole import write_whole
from .._network.get import of_member
from .._network.group import Group
from .._network.network import Network
from .._network.stimuli import StimulusGroup, Window
from .._text import shown
from ..neurons import LIF, Izhikevich, Relay
from ..spec import InvalidValueError
from ..stimuli import Current, ScheduledSpikes, Signal
from ..synapses import AMPA, GABA_A, Delta, Direct, ExponentialConductance
from ._sonata_models import TEMPLATES, Template

_FIRST = 100  # the id of the first type
_FILES = (  # that an older network may have, and are not all written again
    *("network/nodes_[0-9]*.h5", "network/node_types_[0-9]*.csv", "network/edges.h5"),
    *("network/edge_types.csv", "components/neurons/neuron_[0-9]*.json", "inputs/spikes.h5"),
    *("circuit_config.json", "simulation_config.json"),
)


class _Nodes(NamedTuple):
    """A population as it is written.

    Attributes:
        name, n: as ours.
        points: their positions, of which the first three axes are written; None without any.
        template: its model; None for virtual nodes.
        values: parameters of theirs, a number for all or one for each.
        signs: of weights onto each receptor of the group.
    """

    name: str
    n: int
    points: Any
    template: Template | None
    values: Mapping[str, Any]
    signs: Mapping[int, float]


class _Edges(NamedTuple):
    """A projection as it is written; weight and delay are a number or one for each."""

    name: str
    source: str
    target: str
    pre: Int64[np.ndarray, " n"]
    post: Int64[np.ndarray, " n"]
    weight: Any
    delay: Any


@spec.arguments(
    net=spec.Of(Network),
    folder=spec.FilePath("folder"),
    duration=spec.Number("ms", at_least=0.0),
)
def write_sonata(
    net: Network, folder: str | os.PathLike, *, duration: float = 1000.0, key: Any = 0
) -> None:
    """Writes a network to a folder in the SONATA format, over one that it wrote there before.

    `read_sonata` of it gives the same network: populations in their order, connections, weights,
    delays, parameters, start values, positions and given spikes, for what `docs/from_sonata.md`
    lists. A `Relay` that `SpikeTimes` drive is a population of virtual nodes with a file of spikes.
    A fourth axis and periods of positions, names of receptors and the surrogates of gradients are
    not written.

    Args:
        net: the network.
        folder: where the files go; it is made if it is not there.
        duration: that of a run, for the config [ms].
        key: of the run whose start values are written, where they are drawn.

    Raises:
        ImportError: without h5py.
        InvalidValueError: before a file is touched, for what SONATA, or its models that are ours,
            cannot say: the name of the part is in it. Also where `folder` is a file.

    Reference:
        Dai et al. (2020), The SONATA data format for efficient description of large-scale network
        models, doi:10.1371/journal.pcbi.1007696.
    """
    check_h5py("SONATA networks are")
    for what, parts in (("coupling", net.couplings), ("modulator", net.modulators)):
        for part in parts:
            _refuse(f"{what} {part.name!r}", "left out: SONATA has none", "one")
    nodes = [_nodes(net, name, key) for name in net.populations]
    of = {x.name: x for x in nodes}
    edges = [_edges(net, name, of) for name in net.projections]
    spikes = {x.name: _spikes(net, x.name) for x in nodes if x.template is None}
    for name in (*of, *net.projections):
        if "/" in name or name == ".":
            _refuse(f"the name {name!r}", "one without '/': HDF5 parts names by it", repr(name))
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InvalidValueError("write_sonata", "folder", "a folder", str(error)) from None
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as new:
        _write(Path(new), net.dt, duration, nodes, edges, spikes)
        _replace(Path(folder), Path(new))


def _replace(folder: Path, new: Path) -> None:
    """Moves a whole network to where an older one may be, the configs last."""
    for pattern in _FILES:
        for path in folder.glob(pattern):
            path.unlink()
    for path in sorted(new.rglob("*"), key=lambda x: -len(x.parts)):
        there = folder / path.relative_to(new)
        there.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            there.mkdir(exist_ok=True)
        else:
            os.replace(path, there)


def _refuse(owner: str, must: str, got: str, field: str = "") -> NoReturn:
    raise InvalidValueError(owner, field, must, got)


def _nodes(net: Network, name: str, key: Any) -> _Nodes:
    """A population with the numbers of its neurons."""
    at, span = net.population(name)
    group, owner = net.groups[at], f"population {name!r}"
    index = group.populations.index(name)
    n, model = span.stop - span.start, of_member(group.model, group.sizes, index)
    points = net.positions(name) if name in net.points else None
    used = sorted(
        {
            member.receptor
            for pathway in net.pathways
            for member in pathway.members
            if member.target == name
        }
    )
    if type(model) is Relay:
        if used:
            _refuse(owner, "without projections onto it, as virtual nodes", "a Relay with some")
        return _Nodes(name, n, points, None, {}, {})
    receptors = {k: of_member(group.receptors[k], group.sizes, index) for k in used}
    template = _template(owner, model, receptors)
    values = _parameters(owner, template, model)
    signs = _receptors(owner, template, model, receptors, values)
    state = net.init(key)
    onto = {m.name for p in net.pathways for m in p.members if m.target == name}
    starts = (*group.initial, *(x for k in used for x in group.receptor_initial[k]))
    known = [t.ours for t in template.starts.values()]
    for given in starts:
        if given.owner in {name, *onto} and given.variable not in known:
            _refuse(owner, f"a start value of {', '.join(known)}", given.variable, "initial")
    for theirs, ours in template.starts.items():
        values[theirs] = net.read(state, name, ours.ours)
    values["I_e"] = _current(owner, group, index, n)
    return _Nodes(name, n, points, template, {k: _short(x) for k, x in values.items()}, signs)


def _template(owner: str, model: Any, receptors: Mapping[int, Any]) -> Template:
    """The template of a neuron with its receptors."""
    kinds = {_kind(x) for x in receptors.values()}
    fitting = [t for t in TEMPLATES.values() if t.model is type(model) and not t.fixed]
    if type(model) is LIF:  # with jumps it is an iaf_psc_delta
        fitting.append(TEMPLATES["nest:iaf_psc_delta"])
    if not fitting:
        known = ", ".join(dict.fromkeys(t.model.__name__ for t in TEMPLATES.values()))
        _refuse(owner, f"of a model that SONATA files name: {known}, Relay", type(model).__name__)
    for template in fitting:
        if kinds <= {template.synapse}:
            return template
    must = " or ".join(f"{t.synapse.__name__} onto it, for {t.name}" for t in fitting)
    got = ", ".join(sorted(type(x).__name__ for x in receptors.values()))
    raise InvalidValueError(owner, "synapses", must, got)


def _kind(synapse: Any) -> type:
    """The class that has its equations."""
    return ExponentialConductance if type(synapse) in (AMPA, GABA_A) else type(synapse)


def _parameters(owner: str, template: Template, model: Any) -> dict[str, Any]:
    """The numbers of a neuron by their names."""
    ours = {k: t.ours for k, t in template.parameters.items() if t.ours and t.ours != "g_l"}
    values = {k: np.asarray(getattr(model, name)) for k, name in ours.items()}
    if "g_L" in template.parameters:
        values["g_L"] = _leak(model)
    usual = type(model)()
    fields = ("method", "c_m", "tau_m") if template.model is Izhikevich else ("method",)
    for field in fields:
        mine, theirs = getattr(model, field, None), getattr(usual, field, None)
        same = mine == theirs if field == "method" else np.all(np.asarray(mine) == theirs)
        if not same:
            _refuse(owner, f"{theirs}, as {template.name} has it", shown(mine), field)
    return values


def _leak(model: Any) -> Num[np.ndarray, "..."]:
    """The leak of a membrane such that `c_m / g_L` is its time constant, bit for bit."""
    if hasattr(model, "g_l"):
        return np.asarray(model.g_l)
    c, tau = np.asarray(model.c_m, np.float64), np.asarray(model.tau_m, np.float64)
    best = c / tau
    for g in (np.nextafter(best, 0.0), np.nextafter(best, np.inf)):
        best = np.where((c / best != tau) & (c / g == tau), g, best)
    return best


def _receptors(
    owner: str,
    template: Template,
    model: Any,
    receptors: Mapping[int, Any],
    values: dict[str, Any],
) -> dict[int, float]:
    """The sign of what reaches each receptor; adds the numbers of receptors to `values`."""
    if issubclass(template.synapse, Delta | Direct):
        return dict.fromkeys(receptors, 1.0)
    order = sorted(receptors, key=lambda k: float(np.mean(receptors[k].e_rev)), reverse=True)
    sides = ["ex", "in"]
    if len(order) == 1 and np.mean(receptors[order[0]].e_rev) <= np.mean(model.e_l):
        sides = ["in"]
    if len(order) > 2:
        _refuse(owner, "at most two conductances onto it", f"{len(order)}", "synapses")
    for number, side in zip(order, sides):
        values[f"tau_syn_{side}"] = np.asarray(receptors[number].tau_syn)
        values[f"E_{side}"] = np.asarray(receptors[number].e_rev)
    return {k: -1.0 if side == "in" else 1.0 for k, side in zip(order, sides)}


def _current(owner: str, group: Group, index: int, n: int) -> Any:
    """The constant current into a population."""
    total: Any = np.zeros(n)
    for layer in group.stimuli:
        for k, target in enumerate(layer.targets):
            if target.population != index:
                continue
            model: Any = layer.model
            constant = type(model) is Current and layer.window == Window()
            if not constant or isinstance(model.amplitude, Signal):
                must = "a constant Current, or spikes into a Relay that projects onto it"
                got = f"{type(model).__name__}, {target.name!r}"
                _refuse(owner, must, got, "stimuli")
            total[_driven(layer, k)] += of_member(model.amplitude, layer.sizes, k)
    return total


def _driven(layer: StimulusGroup, k: int) -> Int64[np.ndarray, " n"]:
    """The neurons of the population that a stimulation drives."""
    target = layer.targets[k]
    if target.span is not None:
        return target.first + np.arange(target.n)
    return np.asarray(layer.index)[layer.neurons(k)] - target.first


def _spikes(net: Network, name: str) -> tuple[Num[np.ndarray, " n"], Int64[np.ndarray, " n"]]:
    """Times and neurons of the spikes that a relay is given."""
    group, owner = net.groups[net.population(name)[0]], f"population {name!r}"
    index = group.populations.index(name)
    times, neurons = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for layer in group.stimuli:
        for k, target in enumerate(layer.targets):
            if target.population != index:
                continue
            model: Any = layer.model
            if not isinstance(model, ScheduledSpikes) or np.min(np.asarray(layer.weight)) < 0.5:
                must = "spikes that are given, SpikeTimes, with weights of at least 0.5"
                _refuse(owner, must, f"{type(model).__name__}, {target.name!r}", "stimuli")
            steps = np.asarray(model.steps, np.int64)[: -model.most]
            here = _driven(layer, k)
            if model.neurons is None:
                who = np.tile(here, steps.size)
                steps = np.repeat(steps, here.size)
            else:
                who = here[np.asarray(model.neurons)[: -model.most]]
            window = layer.window
            on = steps >= window.start
            on &= window.stop is None or steps < window.stop
            times.append(steps[on] + window.delay + 1)
            neurons.append(who[on])
    both = np.unique(np.stack([np.concatenate(times), np.concatenate(neurons)]), axis=1)
    return both[0] * net.dt, both[1]


def _edges(net: Network, name: str, of: Mapping[str, _Nodes]) -> _Edges:
    """A projection with its connections."""
    owner = f"projection {name!r}"
    pathway, k = next((p, p.projections.index(name)) for p in net.pathways if name in p.projections)
    member = pathway.members[k]
    if pathway.plastic is not None:
        got = type(pathway.plastic.rule).__name__
        _refuse(owner, "None: a static_synapse", got, "plasticity")
    if not pathway.release.plain:
        _refuse(owner, "Spikes: a static_synapse", type(pathway.release).__name__, "release")
    found = net.connections(name)
    scale = np.asarray(pathway.gain)[k] * of[member.target].signs[member.receptor]
    weight = found.weight.astype(net.dtype) * scale.astype(net.dtype)
    return _Edges(
        name,
        member.source,
        member.target,
        found.pre,
        found.post,
        _short(weight),
        _short(found.delay),
    )


def _short(x: Any) -> Any:
    """One number where all are equal, a float32 with the fewest digits that give it."""
    x = np.asarray(x)
    if x.size and (x == x.flat[0]).all():
        one = x.flat[0]
        return float(str(one)) if x.dtype == np.float32 else float(one)
    return x


def _write(
    folder: Path,
    dt: float,
    duration: float,
    nodes: list[_Nodes],
    edges: list[_Edges],
    spikes: Mapping[str, tuple],
) -> None:
    for name in ("network", "components/neurons", "components/synapses", "inputs"):
        (folder / name).mkdir(parents=True)
    network, listed = folder / "network", []
    # NEST takes files of one model_type alone; and a reader has the order of populations.
    for k, x in enumerate(nodes, _FIRST):
        with writing(network / f"nodes_{k}.h5") as file:
            _put_nodes(file, k, x)
        _table(network / f"node_types_{k}.csv", [_node_type(k, x)])
        if x.template is not None:
            numbers = {name: v for name, v in x.values.items() if isinstance(v, float)}
            _json(folder / f"components/neurons/neuron_{k}.json", numbers)
        file, types = f"$NETWORK_DIR/nodes_{k}.h5", f"$NETWORK_DIR/node_types_{k}.csv"
        kind = {"type": "virtual" if x.template is None else "point_neuron"}
        names = {x.name: kind}  # which libsonata asks for
        listed.append({"nodes_file": file, "node_types_file": types, "populations": names})
    networks: dict[str, Any] = {"nodes": listed, "edges": []}
    if edges:
        with writing(network / "edges.h5") as file:
            _put_edges(file, edges)
        _table(network / "edge_types.csv", [_edge_type(k, x) for k, x in enumerate(edges)])
        file, types = "$NETWORK_DIR/edges.h5", "$NETWORK_DIR/edge_types.csv"
        names = {x.name: {"type": "chemical"} for x in edges}
        networks["edges"].append(
            {"edges_file": file, "edge_types_file": types, "populations": names}
        )
    components = {
        "point_neuron_models_dir": "$BASE_DIR/components/neurons",
        "synaptic_models_dir": "$BASE_DIR/components/synapses",
    }
    manifest = {"$BASE_DIR": ".", "$NETWORK_DIR": "$BASE_DIR/network"}
    circuit = {"manifest": manifest, "components": components, "networks": networks}
    _json(folder / "circuit_config.json", circuit)
    given = {name: x for name, x in spikes.items() if x[0].size}
    if given:
        with writing(folder / "inputs/spikes.h5") as file:
            for name, (times, neurons) in given.items():
                put_spikes(file, name, times, neurons)
    inputs = {
        f"{name} spikes": {
            "input_type": "spikes",
            "module": "h5",
            "input_file": "$BASE_DIR/inputs/spikes.h5",
            "node_set": name,
        }
        for name in given
    }
    simulation = {
        "manifest": {"$BASE_DIR": "."},
        "network": "$BASE_DIR/circuit_config.json",
        "target_simulator": "NEST",
        "run": {"tstop": duration, "dt": dt},
        "inputs": inputs,
        "output": {"output_dir": "$BASE_DIR/output", "spikes_file": "spikes.h5"},
    }
    _json(folder / "simulation_config.json", simulation)


def _node_type(k: int, x: _Nodes) -> dict[str, Any]:
    row: dict[str, Any] = {"node_type_id": k, "population": x.name}
    if x.template is None:
        return row | {"model_type": "virtual"}
    row |= {"model_type": "point_neuron", "model_template": x.template.name}
    return row | {"dynamics_params": f"neuron_{k}.json"}


def _edge_type(k: int, x: _Edges) -> dict[str, Any]:
    row = {"edge_type_id": _FIRST + k, "model_template": "static_synapse"}
    for name, value in (("syn_weight", x.weight), ("delay", x.delay)):
        row[name] = repr(value) if isinstance(value, float) else "NULL"
    return row


def _put_nodes(file: Any, k: int, x: _Nodes) -> None:
    group = file.create_group(f"nodes/{x.name}")
    put(group, "node_id", np.arange(x.n, dtype=np.uint64))
    put(group, "node_type_id", np.full(x.n, k, np.uint32))
    put(group, "node_group_id", np.zeros(x.n, np.uint32))
    put(group, "node_group_index", np.arange(x.n, dtype=np.uint64))
    own = group.create_group("0")
    for axis, along in zip("xyz", [] if x.points is None else x.points.T):
        put(own, axis, along)
    for name, value in x.values.items():
        if not isinstance(value, float):
            put(own, f"dynamics_params/{name}", value)


def _put_edges(file: Any, edges: list[_Edges]) -> None:
    file.create_group("edges", track_order=True)
    for k, x in enumerate(edges):
        group, n = file.create_group(f"edges/{x.name}"), x.pre.size
        for side, end, ids in (("source", x.source, x.pre), ("target", x.target, x.post)):
            put(group, f"{side}_node_id", ids.astype(np.uint64)).attrs["node_population"] = end
        put(group, "edge_type_id", np.full(n, _FIRST + k, np.uint32))
        put(group, "edge_group_id", np.zeros(n, np.uint16))
        put(group, "edge_group_index", np.arange(n, dtype=np.uint64))
        own = group.create_group("0")
        for name, value in (("syn_weight", x.weight), ("delay", x.delay)):
            if not isinstance(value, float):
                put(own, name, value)


def _json(path: Path, data: Mapping[str, Any]) -> None:
    text = json.dumps(data, indent=2) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))


def _table(path: Path, rows: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    head = list(dict.fromkeys(k for row in rows for k in row))
    writer = csv.DictWriter(text, head, delimiter=" ", restval="NULL", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, lambda file: file.write(text.getvalue().encode()))
