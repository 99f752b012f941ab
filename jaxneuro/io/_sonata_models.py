"""What models of SONATA networks are ours: the table by which networks are read and written."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .._model import Neuron, Synapse
from ..neurons import LIF, AdEx, IafPscAlpha, IafPscDelta, IafPscExp, Izhikevich
from ..spec import InvalidValueError, unknown
from ..synapses import AlphaConductance, Delta, Direct, ExponentialConductance

_POINT = ("point_neuron", "point_process")
# One number for all neurons, or one for each.
Numbers = float | Float[np.ndarray, " n"]


class Theirs(NamedTuple):
    """A parameter of theirs.

    Attributes:
        ours: the name of ours; "" for what ours does not have.
        default: its value where none is given; without one of ours, the only one that maps.
        scale: ours over theirs.
    """

    ours: str
    default: float
    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class Template:
    """How a `model_template` maps.

    Attributes:
        name: its name.
        model: our model.
        parameters: those of the neuron, by their name.
        starts: start values, by their name; ours is a state variable.
        synapse: what an edge becomes.
        fixed: parameters of our model that theirs does not have.
        current: whether it takes a constant current, `I_e`.
    """

    name: str
    model: type[Neuron]
    parameters: Mapping[str, Theirs]
    starts: Mapping[str, Theirs]
    synapse: type[Synapse]
    fixed: Mapping[str, float] = dataclasses.field(default_factory=dict)
    current: bool = True

    @property
    def receptors(self) -> Mapping[str, Theirs]:
        """Parameters of synapses that are not in our neuron."""
        if issubclass(self.synapse, Direct | Delta):
            return {}
        return {
            "tau_syn_ex": Theirs("ex tau_syn", 0.2),
            "tau_syn_in": Theirs("in tau_syn", 2.0),
            "E_ex": Theirs("ex e_rev", 0.0),
            "E_in": Theirs("in e_rev", -85.0),
        }

    @property
    def known(self) -> Mapping[str, Theirs]:
        """All that may be given, by their name."""
        current = {"I_e": Theirs("current", 0.0)} if self.current else {}
        return {**self.parameters, **self.starts, **self.receptors, **current}

    def neuron(self, values: Mapping[str, Numbers]) -> Neuron:
        """Our neuron with their values."""
        ours = {t.ours: t.scale * values[k] for k, t in self.parameters.items() if t.ours}
        if self.model is LIF:
            ours["tau_m"] = ours["c_m"] / ours.pop("g_l")
        made: Any = self.model
        return made(**ours, **self.fixed)

    def synapses(self, values: Mapping[str, Numbers]) -> dict[str, Synapse]:
        """Our receptors with their values: "ex" for weights of at least 0, "in" for others."""
        if issubclass(self.synapse, Delta):
            return {"": Delta()}
        if issubclass(self.synapse, Direct):
            return {side: Direct(side) for side in ("ex", "in")}
        given: dict[str, dict[str, Any]] = {"ex": {}, "in": {}}
        for name, theirs in self.receptors.items():
            side, ours = theirs.ours.split()
            given[side][ours] = values[name]
        return {side: self.synapse(**mine) for side, mine in given.items()}


def _parameters(**theirs: tuple[str, float]) -> dict[str, Theirs]:
    return {name: Theirs(*given) for name, given in theirs.items()}


_IAF = _parameters(
    tau_m=("tau_m", 10.0),
    C_m=("c_m", 250.0),
    E_L=("e_l", -70.0),
    V_th=("v_th", -55.0),
    V_reset=("v_reset", -70.0),
    t_ref=("t_ref", 2.0),
)
_SYN = _parameters(tau_syn_ex=("tau_syn_ex", 2.0), tau_syn_in=("tau_syn_in", 2.0))
_COND = _parameters(
    g_L=("g_l", 16.6667),
    C_m=("c_m", 250.0),
    E_L=("e_l", -70.0),
    V_th=("v_th", -55.0),
    V_reset=("v_reset", -60.0),
    t_ref=("t_ref", 2.0),
)
_AEIF = _parameters(
    C_m=("c_m", 281.0),
    g_L=("g_l", 30.0),
    E_L=("e_l", -70.6),
    V_th=("v_th", -50.4),
    Delta_T=("delta_t", 2.0),
    a=("a", 4.0),
    b=("b", 80.5),
    tau_w=("tau_w", 144.0),
    V_reset=("v_reset", -60.0),
    V_peak=("v_peak", 0.0),
    t_ref=("t_ref", 0.0),
)
_IZHIKEVICH = _parameters(
    a=("a", 0.02),
    b=("b", 0.2),
    c=("c", -65.0),
    d=("d", 8.0),
    V_th=("v_th", 30.0),
    consistent_integration=("", 1.0),
)
# In seconds, as bmtk has them; what NEURON calls so is in ms.
_INTFIRE = {"tau": Theirs("tau_m", 0.01, 1e3), "refrac": Theirs("t_ref", 0.005, 1e3)}
# NEST leaves V_m where it is when E_L is set.
_V, _V_AEIF = _parameters(V_m=("v", -70.0)), _parameters(V_m=("v", -70.6), w=("w", 0.0))
_V_IZHIKEVICH = _parameters(V_m=("v", -65.0), U_m=("u", -13.0))
_NO_NOISE = _parameters(delta=("", 0.0), rho=("", 0.01))
_NO_INPUT = _parameters(refractory_input=("", 0.0))

TEMPLATES = {
    template.name: template
    for template in (
        Template("nest:iaf_psc_alpha", IafPscAlpha, _IAF | _SYN, _V, Direct),
        Template("nest:iaf_psc_exp", IafPscExp, _IAF | _SYN | _NO_NOISE, _V, Direct),
        Template("nest:iaf_psc_delta", IafPscDelta, _IAF | _NO_INPUT, _V, Delta),
        Template("nest:iaf_cond_exp", LIF, _COND, _V, ExponentialConductance),
        Template("nest:iaf_cond_alpha", LIF, _COND, _V, AlphaConductance),
        Template("nest:aeif_cond_exp", AdEx, _AEIF, _V_AEIF, ExponentialConductance),
        Template("nest:aeif_cond_alpha", AdEx, _AEIF, _V_AEIF, AlphaConductance),
        Template("nest:izhikevich", Izhikevich, _IZHIKEVICH, _V_IZHIKEVICH, Delta),
        Template(
            "nrn:IntFire1",
            IafPscDelta,
            _INTFIRE,
            {},
            Delta,
            {"e_l": 0.0, "v_th": 1.0, "v_reset": 0.0},
            current=False,
        ),
    )
}


def template_of(table: str, node_type: int, row: dict[str, str] | None) -> str | None:
    """The model of a node type; None for virtual nodes; raises for one that does not map."""
    owner = f"{table}, node type {node_type}"
    if row is None:
        raise InvalidValueError(table, "node_type_id", f"given for type {node_type}", "none")
    kind = row.get("model_type")
    if kind == "virtual":
        return None
    if kind not in _POINT:
        must = f"one of {', '.join(_POINT)} and virtual, which map"
        raise InvalidValueError(owner, "model_type", must, repr(kind))
    template = row.get("model_template")
    if template not in TEMPLATES:
        must = f"one of {', '.join(TEMPLATES)}, which map"
        raise InvalidValueError(owner, "model_template", must, repr(template))
    return template


def check_maps(owner: str, name: str, template: Template) -> None:
    """Raises `InvalidValueError` for a parameter that ours does not have."""
    if name != "type" and name not in template.known:
        raise unknown(f"parameter of {template.name}", name, template.known, owner, name)


def table() -> str:
    """What maps onto what, as a table for the docs."""
    lines = ["| SONATA | ours | an edge is | parameters | start |", "|---|---|---|---|---|"]
    words = {
        Delta: "`Delta`",
        Direct: '`Direct("ex")` or `Direct("in")`',
        ExponentialConductance: "one of two `ExponentialConductance`",
        AlphaConductance: "one of two `AlphaConductance`",
    }
    for t in TEMPLATES.values():
        given = ", ".join(f"`{k}` {_said(x)}" for k, x in {**t.parameters, **t.receptors}.items())
        start = ", ".join(f"`{k}` {x.default:g}" for k, x in t.starts.items()) or "0"
        row = (f"`{t.name}`", f"`{t.model.__name__}`", words[t.synapse], given, start)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _said(x: Theirs) -> str:
    return f"{x.default:g}" if x.ours else f"only {x.default:g}"
