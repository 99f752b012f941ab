"""Reads networks of point neurons in the SONATA format.

Reference:
    Dai et al. (2020), The SONATA data format for efficient description of large-scale network
    models, doi:10.1371/journal.pcbi.1007696.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int64, Num

from .. import spec
from .._describe.description import Description
from .._describe.population import Population
from .._describe.projection import Projection
from .._describe.stimulation import Stimulation
from .._model import Synapse
from .._numerics.grid import TIME_STEP, check_resolved, step_counts, time_tolerance
from .._text import counted
from ..connectivity import Explicit
from ..neurons import Relay
from ..spec import InvalidValueError
from ..stimuli import Current, SpikeTimes
from ..synapses import Delta
from ._sonata_files import (
    Arrays,
    Groups,
    Opener,
    Part,
    by_type,
    config_of,
    json_of,
    number,
    types_of,
)
from ._sonata_models import TEMPLATES, Numbers, Template, check_maps, template_of

_STATIC = ("static_synapse", "nest:static_synapse")
_PLAIN_WEIGHTS = ("wmax", "default_weight_fnc", "set_syn_weight")
_JUMPS = ("instantaneous", "instanteneous")  # as the files of the Allen Institute spell it
_DELAY = 1.0  # of NEST [ms]
_TIME = spec.Number("ms", at_least=0.0)


class SonataNodes(NamedTuple):
    """The nodes that a population of ours is, in its order.

    Attributes:
        population: the name of theirs.
        ids: their ids there.
        types: their node types.
    """

    population: str
    ids: Int64[np.ndarray, " n"]
    types: Int64[np.ndarray, " n"]

    def __repr__(self) -> str:
        kinds = counted(np.unique(self.types).size, "type")
        return f"SonataNodes: {counted(self.ids.size, 'node')} of {self.population!r}, {kinds}"


class SonataNetwork(spec.Value):
    """A network that was read from SONATA files, with what its config says of a run."""

    description: Description = spec.field(
        spec.Of(Description), doc="the network, with the spikes of its inputs as stimuli"
    )
    dt: float = spec.field(TIME_STEP, doc="the time step")
    duration: float | None = spec.field(
        spec.Maybe(_TIME), doc="of the run; None if the config has none"
    )
    nodes: Mapping[str, SonataNodes] = spec.field(
        spec.Anything(), doc="for each population which nodes it is, `SonataNodes`"
    )


@spec.arguments(
    path=spec.FilePath(),
    dt=spec.Maybe(TIME_STEP),
    max_mb=spec.Number(above=0.0),
)
def read_sonata(
    path: str | os.PathLike, *, dt: float | None = None, max_mb: float = 4096.0
) -> SonataNetwork:
    """The network of point neurons of a SONATA config, or of a folder that has one.

    ::

        given = jn.io.read_sonata("network/")
        net = jn.build(given.description, key=0, dt=given.dt)
        result = jn.simulate(net, given.duration)

    A population of nodes with one model is one of ours of the same name; with several it is one for
    each, `"v1:iaf_psc_exp"`. It has positions on those axes on which each of its nodes has one.
    `docs/from_sonata.md` lists the models, and says what is refused. Delays, and spikes of inputs,
    are brought onto the time grid. Nothing in a file is executed.

    Args:
        path: a config (`config.json`, `simulation_config.json`, `circuit_config.json`), or its
            folder.
        dt: a time step instead of that of the config [ms].
        max_mb: the most bytes of arrays that are read, in MB.

    Raises:
        FileNotFoundError: for a missing file.
        ImportError: without h5py.
        InvalidValueError: for anything else, with the name of the file: what maps onto no model of
            ours, and what is no SONATA network.

    Reference:
        Dai et al. (2020), The SONATA data format for efficient description of large-scale network
        models, doi:10.1371/journal.pcbi.1007696.
    """
    opener, config = Opener(1e6 * max_mb), config_of(Path(path))
    run = config.get("run")
    dt = _of_run(run, "dt", TIME_STEP) if dt is None else dt
    if dt is None:
        must = "given, by the config or by dt= here"
        raise InvalidValueError("read_sonata", "run.dt", must, "none")
    reader = _Reader(opener, config, dt)
    networks = config.get("networks")
    if networks is None:
        raise InvalidValueError(Path(path).name, "networks", "a key of the config", "none")
    for entry in networks.at("nodes", list, "networks").value:
        reader.read_nodes(networks._replace(value=entry))
    for entry in networks.at("edges", list, "networks").value if "edges" in networks.value else ():
        reader.read_edges(networks._replace(value=entry))
    reader.read_inputs()
    duration = _of_run(run, "tstop", _TIME)
    duration = _of_run(run, "duration", _TIME) if duration is None else duration
    return SonataNetwork(reader.description(), dt, duration, reader.nodes)


def _of_run(run: Part | None, key: str, kind: spec.Number) -> float | None:
    """A number of the config of a run; None if it has none."""
    if run is None or not isinstance(run.value, dict) or run.value.get(key) is None:
        return None
    return spec.check(run.path.name, f"run.{key}", kind, run.value[key])


class _Ours(NamedTuple):
    """A population of ours: its model and receptors; `None` for a virtual one."""

    name: str
    n: int
    template: Template | None
    synapses: Mapping[str, Synapse]


class _Theirs(NamedTuple):
    """A population of nodes: ascending ids, and of each which of ours it is in, and where."""

    ids: Int64[np.ndarray, " n"]
    number: Int64[np.ndarray, " n"]
    place: Int64[np.ndarray, " n"]
    ours: list[_Ours]

    def find(self, owner: str, at: str, ids: Int64[np.ndarray, " m"]) -> Int64[np.ndarray, " m"]:
        """Where the nodes of ids are; raises for an id that there is not."""
        found = np.searchsorted(self.ids, ids)
        bad = found >= self.ids.size
        bad[~bad] = self.ids[found[~bad]] != ids[~bad]
        if bad.any():
            first = int(bad.argmax())
            must = f"ids of the {self.ids.size} nodes"
            raise InvalidValueError(owner, at, must, f"{ids[first]} at index {first}")
        return found


class _Reader:
    """What has been read of a network so far."""

    def __init__(self, opener: Opener, config: Mapping[str, Part], dt: float) -> None:
        self._opener, self._config, self._dt = opener, config, dt
        self._theirs: dict[str, _Theirs] = {}
        self._populations: list[Population] = []
        self._projections: list[Projection] = []
        self._stimuli: list[Stimulation] = []
        self.nodes: dict[str, SonataNodes] = {}

    def description(self) -> Description:
        """All of it."""
        return Description(self._populations, self._projections, self._stimuli)

    def read_nodes(self, entry: Part) -> None:
        """The populations of a file of nodes."""
        file, table = entry.file("nodes_file", "nodes"), entry.file("node_types_file", "nodes")
        rows = types_of(table, "node_type_id")
        with self._opener.open(file) as arrays:
            for name in arrays.populations("nodes"):
                if name in self._theirs:
                    must = "given once"
                    raise InvalidValueError(file.name, f"population {name!r}", must, "twice")
                self._population(arrays, name, table.name, rows)

    def _population(
        self, arrays: Arrays, name: str, table: str, rows: dict[int, dict[str, str]]
    ) -> None:
        at, owner = f"nodes/{name}", f"{arrays.name}, population {name!r}"
        types = arrays.ids(f"{at}/node_type_id")
        n = types.size
        ids = np.arange(n)
        if arrays.member(f"{at}/node_id") is not None:
            ids = arrays.ids(f"{at}/node_id", n)
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        if (np.diff(ids) == 0).any():
            raise InvalidValueError(owner, "node_id", "ids, each once", "one twice")
        groups = Groups(arrays, "node", name, n)
        groups.check_none("model_template", "model_type")
        # Without a node it is what its table of types says.
        present = np.unique(types).tolist() or [
            t for t, row in rows.items() if row.get("population", name) == name
        ]
        templates = {t: template_of(table, t, rows.get(t)) for t in present}
        kinds = list(dict.fromkeys(templates.values(), None))
        kind_of = {t: kinds.index(kind) for t, kind in templates.items()}
        which = by_type(owner, types, rows, lambda t: kind_of[t]).astype(np.int64)
        points = _points(groups, n)
        place, ours = np.zeros(n, np.int64), []
        for k, kind in enumerate(kinds):
            mine = order[which[order] == k]
            place[mine] = np.arange(mine.size)
            short = kind.split(":")[-1] if kind else "virtual"
            own = name if len(kinds) == 1 else f"{name}:{short}"
            template, values = (TEMPLATES[kind] if kind else None), {}
            if template is not None:
                given = self._values(owner, table, rows, template, types, groups)
                known = template.known
                values = {k: _one(x[mine]) if n else known[k].default for k, x in given.items()}
            ours.append(self._neurons(owner, own, template, values, points[mine]))
            self.nodes[own] = SonataNodes(name, ids[np.isin(order, mine)], types[mine])
        self._theirs[name] = _Theirs(ids, which[order], place[order], ours)

    def _values(
        self,
        owner: str,
        table: str,
        rows: dict[int, dict[str, str]],
        template: Template,
        types: Int64[np.ndarray, " n"],
        groups: Groups,
    ) -> dict[str, Float[np.ndarray, " n"]]:
        """Each parameter of theirs of each node."""
        known = template.known
        given: dict[int, dict[str, float]] = {}
        for t in np.unique(types).tolist():
            if rows[t].get("model_template") != template.name:
                given[t] = {}
                continue
            given[t] = self._parameters("point_neuron_models_dir", rows[t])
            for name in given[t]:
                check_maps(f"{rows[t]['dynamics_params']}, node type {t}", name, template)
        for name in groups.names("dynamics_params"):
            check_maps(owner, name, template)
        out = {}
        for name, theirs in known.items():
            base = by_type(
                owner,
                types,
                rows,
                lambda t: given[t].get(name, theirs.default),  # noqa: B023
            )
            out[name] = groups.over(f"dynamics_params/{name}", base)
            if not theirs.ours and (out[name] != theirs.default).any():
                bad = out[name][out[name] != theirs.default][0]
                field = f"{template.name} {name}"
                raise InvalidValueError(owner, field, f"{theirs.default:g}, as ours", f"{bad:g}")
        return out

    def _parameters(self, folder: str, row: dict[str, str]) -> dict[str, float]:
        """The numbers in the JSON file of a type."""
        if "dynamics_params" not in row:
            return {}
        components = self._config.get("components")
        if components is None:
            must = f"an object with {folder}"
            raise InvalidValueError("the config", "components", must, "none")
        path = components.file(folder, "components") / row["dynamics_params"]
        data = json_of(path)
        words = {"type", "level_of_detail"} & set(data)
        return {k: x if k in words else number(path.name, k, x) for k, x in data.items()}

    def _neurons(
        self,
        owner: str,
        name: str,
        template: Template | None,
        values: Mapping[str, Numbers],
        points: Float[np.ndarray, "n axes"],
    ) -> _Ours:
        n, cell, start, synapses = len(points), Relay(), {}, {}
        axes = np.isfinite(points).all(axis=0)  # those on which each has a place
        placed = points[:, axes] if n and axes.any() else None
        try:
            if template is not None:
                cell, synapses = template.neuron(values), template.synapses(values)
                start = {t.ours: values[k] for k, t in template.starts.items()}
            self._populations.append(Population(name, n, cell, start, positions=placed))
            if np.any(values.get("I_e", 0.0)):
                current = Current(values["I_e"])
                self._stimuli.append(Stimulation(name, current, name=f"{name} I_e"))
        except InvalidValueError as error:
            raise _inside(owner, template.name if template else "", error) from error
        return _Ours(name, n, template, synapses)

    def read_edges(self, entry: Part) -> None:
        """The populations of a file of edges."""
        if isinstance(entry.value, dict) and entry.value.get("enabled") is False:
            return
        file, table = entry.file("edges_file", "edges"), entry.file("edge_types_file", "edges")
        rows = types_of(table, "edge_type_id")
        with self._opener.open(file) as arrays:
            for name in arrays.populations("edges"):
                self._edges(arrays, name, table.name, rows)

    def _edges(
        self, arrays: Arrays, name: str, table: str, rows: dict[int, dict[str, str]]
    ) -> None:
        at, owner = f"edges/{name}", f"{arrays.name}, population {name!r}"
        types = arrays.ids(f"{at}/edge_type_id")
        n, groups = types.size, Groups(arrays, "edge", name, types.size)
        ends = []
        for side in ("source", "target"):
            here = f"{at}/{side}_node_id"
            ids = arrays.ids(here, n)
            theirs = self._theirs.get(arrays.text(here, "node_population") or "")
            if theirs is None:
                must = f"its attribute node_population one of {', '.join(self._theirs)}"
                got = str(arrays.text(here, "node_population"))
                raise InvalidValueError(arrays.name, f"/{here}", must, got)
            ends.append((theirs, theirs.find(arrays.name, f"/{here}", ids)))
        groups.check_none("model_template")
        signs = {t: self._sign(table, t, rows[t]) for t in np.unique(types).tolist() if t in rows}
        for field in sorted(groups.names("dynamics_params")):
            raise InvalidValueError(owner, f"dynamics_params/{field}", "left out", "values")

        def each(field: str, default: float) -> Num[np.ndarray, " n"]:
            def of_type(t: int) -> float:
                said = f"{field} of edge type {t}"
                return number(table, said, rows[t].get(field, default))

            return groups.over(field, by_type(owner, types, rows, of_type))

        weight = each("syn_weight", 1.0) * each("nsyns", 1.0)
        weight = weight * by_type(owner, types, rows, lambda t: signs[t])
        steps = np.rint(each("delay", _DELAY) / self._dt)
        if n and steps.min() < 1:
            must = f"at least the time step, {self._dt:g} ms"
            got = f"a delay of less than half of it in edge {int(steps.argmin())}"
            raise InvalidValueError(owner, "delay", must, got)
        self._pieces(owner, name, ends[0], ends[1], weight, steps * self._dt)

    def _sign(self, table: str, edge_type: int, row: dict[str, str]) -> float:
        """That of the weights of an edge type; raises where its synapse does not map."""
        owner = f"{table}, edge type {edge_type}"
        if row.get("model_template", _STATIC[0]) not in _STATIC:
            must, got = "static_synapse, the one that maps", repr(row["model_template"])
            raise InvalidValueError(owner, "model_template", must, got)
        if row.get("weight_function", _PLAIN_WEIGHTS[0]) not in _PLAIN_WEIGHTS:
            must, got = f"one of {', '.join(_PLAIN_WEIGHTS)}", repr(row["weight_function"])
            raise InvalidValueError(owner, "weight_function", must, got)
        given = self._parameters("synaptic_models_dir", row)
        owner = f"{row.get('dynamics_params')}, edge type {edge_type}"
        for name, value in given.items():
            if name == "level_of_detail" and value not in _JUMPS:
                raise InvalidValueError(owner, name, f"{_JUMPS[0]}, which maps", repr(value))
            if name == "sign" and value not in (1.0, -1.0):
                raise InvalidValueError(owner, name, "1 or -1", f"{value:g}")
            if name not in ("sign", "level_of_detail", "type"):
                must = "left out: of a static synapse only sign maps"
                raise InvalidValueError(owner, name, must, str(value))
        return given.get("sign", 1.0)

    def _pieces(
        self,
        owner: str,
        name: str,
        sources: tuple[_Theirs, Int64[np.ndarray, " n"]],
        targets: tuple[_Theirs, Int64[np.ndarray, " n"]],
        weight: Num[np.ndarray, " n"],
        delay: Num[np.ndarray, " n"],
    ) -> None:
        """Edges as projections: between each pair of ours, onto each receptor."""
        (pre, i), (post, j) = sources, targets
        made: list[tuple[_Ours, _Ours, str, Num[np.ndarray, " m"]]] = []
        for a, source in enumerate(pre.ours):
            for b, target in enumerate(post.ours):
                mine = (pre.number[i] == a) & (post.number[j] == b)
                if mine.any() and target.template is None:
                    must, got = "no virtual nodes", f"{target.name!r}, which is virtual"
                    raise InvalidValueError(owner, "target_node_id", must, got)
                for side in target.synapses:
                    signed = mine & ((weight < 0) == (side == "in")) if side else mine
                    if signed.any():
                        made.append((source, target, side, np.flatnonzero(signed)))
        for source, target, side, at in made:
            own = name
            if len(made) > 1:
                own = f"{name}: {source.name}->{target.name} {side}".rstrip()
            w, synapse = weight[at], target.synapses[side]
            if synapse.weight_sign == 1:  # a conductance, whose sign is in its reversal potential
                w = np.abs(w)
            rule = Explicit(
                pre.place[i[at]].astype(np.int32),
                post.place[j[at]].astype(np.int32),
                (source.n, target.n),
            )
            try:
                projection = Projection(
                    source.name,
                    target.name,
                    rule,
                    weight=_one(w),
                    delay=_one(delay[at]),
                    synapse=synapse,
                    name=self._free(own),
                )
            except InvalidValueError as error:
                raise _inside(owner, "", error) from error
            self._projections.append(projection)

    def _free(self, name: str) -> str:
        """A name that nothing else has."""
        parts = (*self._populations, *self._projections, *self._stimuli)
        taken, k, own = {p.name for p in parts}, 2, name
        while own in taken:
            own, k = f"{name} {k}", k + 1
        return own

    def read_inputs(self) -> None:
        """The spikes of virtual nodes."""
        inputs = self._config.get("inputs")
        if inputs is None:
            return
        if not isinstance(inputs.value, dict):
            raise InvalidValueError(inputs.path.name, "inputs", "an object", "another value")
        for key in inputs.value:
            spec.check(inputs.path.name, "a name in inputs", spec.Name(), key)
            entry = inputs.at(key, dict, "inputs")
            field = f"inputs.{key}"
            if entry.value.get("enabled") is False:
                continue
            for name, known in (("input_type", ("spikes",)), ("module", ("h5", "sonata"))):
                if entry.value.get(name) not in known:
                    must, got = f"{known[0]!r}, which maps", repr(entry.value.get(name))
                    raise InvalidValueError(entry.path.name, f"{field}.{name}", must, got)
            self._spikes(self._node_set(entry, field), entry.file("input_file", field), key)

    def _node_set(self, entry: Part, field: str) -> str:
        """The population that a set of nodes is."""
        said = given = entry.value.get("node_set")
        if isinstance(given, str) and given not in self._theirs:
            sets = self._config.get("node_sets_file")
            if sets is not None:
                whole = sets._replace(value={"node_sets_file": sets.value})
                given = json_of(whole.file("node_sets_file", "config")).get(given)
        if isinstance(given, dict) and set(given) == {"population"}:
            given = given["population"]
        if not isinstance(given, str) or given not in self._theirs:
            known = ", ".join(self._theirs)
            must = f"a population, or a set that is one ({known})"
            raise InvalidValueError(entry.path.name, f"{field}.node_set", must, repr(said)[:80])
        return given

    def _spikes(self, population: str, path: Path, key: str) -> None:
        theirs = self._theirs[population]
        with self._opener.open(path) as arrays:
            at = "spikes"
            if arrays.member("spikes/timestamps") is None:
                at = f"spikes/{population}"
                if arrays.member(at) is None:
                    must = f"of the population {population!r}"
                    got = f"spikes of {', '.join(arrays.names('spikes')) or 'none'}"
                    raise InvalidValueError(arrays.name, "/spikes", must, got)
            name = "node_ids" if arrays.member(f"{at}/node_ids") is not None else "gids"
            ids = arrays.ids(f"{at}/{name}")
            timestamps = arrays.numbers(f"{at}/timestamps", ids.size, dtype=None)
            units = arrays.text(f"{at}/timestamps", "units")
            if units not in (None, "ms", "milliseconds"):
                raise InvalidValueError(arrays.name, f"/{at}/timestamps", "in ms", repr(units))
            node = theirs.find(arrays.name, f"/{at}/{name}", ids)
        times = timestamps.astype(np.float64)
        if times.size and times.min() < 0.0:
            got = f"{times.min():g} at index {int(times.argmin())}"
            raise InvalidValueError(arrays.name, f"/{at}/timestamps", "at least 0 ms", got)
        tolerance = time_tolerance(times, timestamps.dtype)
        check_resolved(arrays.name, f"/{at}/timestamps", tolerance, self._dt)
        # As NEST does: to the end of the step.
        steps = np.maximum(step_counts(times, self._dt, tolerance), 1)
        for k, ours in enumerate(theirs.ours):
            mine = theirs.number[node] == k
            if not mine.any():
                continue
            if ours.template is not None:
                must = "into virtual nodes"
                raise InvalidValueError(arrays.name, "its spikes", must, f"into {ours.name!r}")
            stimulus = SpikeTimes(steps[mine] * self._dt, theirs.place[node[mine]])
            own = self._free(key if len(theirs.ours) == 1 else f"{key}: {ours.name}")
            made = Stimulation(ours.name, stimulus, weight=1.0, synapse=Delta(), name=own)
            self._stimuli.append(made)


def _points(groups: Groups, n: int) -> Float[np.ndarray, "n axes"]:
    """Positions on the axes x, y and z; NaN where a node has none."""
    nowhere = np.full(n, np.nan)
    return np.stack([groups.over(axis, nowhere, finite=False) for axis in "xyz"], axis=1)


def _one(x: Num[np.ndarray, " n"]) -> Numbers:
    """One number where all are equal."""
    if x.size and (x == x[0]).all():
        return float(x[0])
    return x


def _inside(owner: str, field: str, error: InvalidValueError) -> InvalidValueError:
    """An error of ours about something in a file."""
    where = " ".join(x for x in (field, error.field) if x)
    return InvalidValueError(owner, where, error.must, error.got, error.hint)
