"""The text of docs/zoo_transmission.md: every synapse, release and coupling."""

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import jaxneuro as jn
from scripts import zoo_gap_limits
from scripts.zoo_names import TRANSMISSION
from scripts.zoo_sections import (
    DOCS,
    block,
    classes,
    ends,
    equations,
    fields,
    in_order,
    presets,
    summary,
    table,
)

PAGE = DOCS / "zoo_transmission.md"
# Releases that deliver something else than 0 also between spikes.
EVERY_STEP = {
    *("ClearedTransmitter", "DecayingTransmitter", "Graded", "RateRelease", "VoltageRelease"),
}
# Where the tests of these models are.
FOLDERS = ("synapses", "release", "science")
OF_COUPLINGS = ("network", "couplings", "modulators", "science")

HEAD = """<!-- Written by `make zoo` from the docstrings: change those, not this page. -->

# The zoo: every synapse, release and coupling

A spike passes a *release* (what the source neuron sets free), the connections with their weights
and delays, and a *synapse* (the receptor of the target). `Projection` has one of each. A `Coupling`
acts in every step instead, without a delay. This page shows every model with its equations,
parameters, figure, tests, and its names in NEST, Brian2 and lixirnet. To write one of your own,
read [write-a-model.md](write-a-model.md#a-receptor-in-15-lines). Neurons are in [zoo.md](zoo.md).

Units are ms, mV, pA, pF and nS. The left panel of a figure shows the response to one spike, 10 ms
after the start; the right one to ten spikes at 50 Hz and a late one, grey ticks. The weight is 1 in
the unit of the arrivals unless the text of the panel says otherwise. Receptors of a transmitter
concentration are shown with 1 mM that decays within some 5 ms: the release
`ClearedTransmitter(clearance=0.2)`. A voltage in a panel is that of a clamped neuron.

"""
NAMES = """
*Drive* is what the neuron gets: a current, a conductance with its reversal potential, a jump of v,
or arrivals at a port. *Delivers* says whether a release delivers at spikes alone or in every step,
in which every connection is read.

In the tables of names, "none" means that the simulator has no such model. NEST is 3.10. In Brian2 a
user writes the equations, and `on_pre` says what a spike does; examples are those of its
repository. The names of lixirnet are those of its crate `spiking_neural_networks`.

"""
KINETICS = """
## Kinetics of receptors

How the open fraction r of `LigandGated`, `LigandGatedNMDA`, `Ionotropic` and `DopaGluGABA` follows
the concentration.
"""


class Kind(NamedTuple):
    """A kind of coupling: its title, what it does, and how it is written."""

    title: str
    text: str
    code: str


COUPLINGS = {
    "GapJunctions": Kind(
        "Gap junctions",
        "Into neuron i flows `sum_j g_ij (v_j - v_i)`, with the voltages of the start of the step; "
        "every pair is drawn once, g_ij = g_ji. The figure has five `WangBuzsaki` neurons, all "
        "coupled with 0.04 mS/cm2, of which the first is driven: its spike is a spikelet in the "
        "others.",
        """jn.Coupling("cells", "cells", jn.connectivity.AllToAll(autapses=False), weight=0.04)""",
    ),
    "AveragedGapJunctions": Kind(
        "Averaged gap junctions",
        "Into neuron i flows the mean over its couplings, `(1/k_i) sum_j g_ij (v_j - v_i)`, k_i "
        "their number. Neurons and weights of the figure are those of the sum above: here each of "
        "the four couplings counts a quarter.",
        """\
jn.Coupling("cells", "cells", jn.connectivity.AllToAll(autapses=False), weight=0.04, average=True)
""",
    ),
    "CoupledVoltages": Kind(
        "Graded coupling by the voltage",
        "The voltage of a source sets a concentration free, `T_j = t_max / (1 + exp(-(v_j - "
        "v_half)/slope))`; `sum_j w_ij T_j` of the last step opens the receptors of neuron i. In "
        "the figure one neuron drives another.",
        """\
jn.Coupling(
    "cells",
    "targets",
    jn.connectivity.OneToOne(),
    weight=1.0,
    release=jn.release.VoltageRelease(),
    synapse=jn.synapses.LigandGated(jn.synapses.DestexheKinetics.ampa(), g=0.02),
)""",
    ),
    "CoupledSpikeRates": Kind(
        "Graded coupling by the spike rate",
        "Spikes of a source make a rate r_j [Hz], `tau dr_j/dt = -r_j`, `r_j += 1000/tau`; the "
        "rate unit i gets `sum_j w_ij r_j` of the last step at its port. In the figure a spiking "
        "neuron drives a rate unit.",
        """\
jn.Coupling(
    "cells",
    "units",
    jn.connectivity.OneToOne(),
    weight=1.0,
    release=jn.release.RateRelease(),
    synapse=jn.synapses.Direct("input"),
)""",
    ),
    "CoupledRates": Kind(
        "Graded coupling of rate units",
        "The rate unit i gets `sum_j w_ij r_j` at its port, r_j the activity of the sources at the "
        "end of the last step. In the figure one unit drives another.",
        """\
jn.Coupling(
    "sources",
    "units",
    jn.connectivity.OneToOne(),
    weight=1.0,
    release=jn.release.Graded(),
    synapse=jn.synapses.Direct("input"),
)""",
    ),
}


def synapses() -> dict[str, type]:
    """The public receptors by name, in the order of the alphabet."""
    return in_order(classes(jn.synapses, jn.Synapse))


def kinetics() -> dict[str, type]:
    """The public kinetics of receptors."""
    return in_order(classes(jn.synapses, jn.synapses.Kinetics))


def releases() -> dict[str, type]:
    """The public releases."""
    return in_order(classes(jn.release, jn.Release))


def models() -> dict[str, type]:
    """All classes that have a section."""
    return {**synapses(), **kinetics(), **releases()}


def figures() -> list[str]:
    """The names of all figures."""
    return [*models(), *COUPLINGS]


def page() -> str:
    """The text of the page."""
    links = lambda found: [(f"[`{k}`](#{k.lower()})", summary(c)) for k, c in found.items()]  # noqa: E731
    drives = [(*row, _drive(cls)) for row, cls in zip(links(synapses()), synapses().values())]
    whens = [(*row, _when(cls)) for row, cls in zip(links(releases()), releases().values())]
    kinds = [
        (f"[{x.title}](#{_anchor(x.title)})", f"`{_short(x.code)}`") for x in COUPLINGS.values()
    ]
    parts = [
        HEAD,
        table(("synapse", "what it is", "drive"), drives) + "\n",
        table(("release", "what it is", "delivers"), whens) + "\n",
        table(("coupling", "how it is written"), kinds),
        NAMES,
        "## Synapses\n",
        *(_model(cls) for cls in synapses().values()),
        KINETICS,
        *(_model(cls) for cls in kinetics().values()),
        "\n## Releases\n",
        *(_model(cls) for cls in releases().values()),
        "\n## Couplings\n",
        _coupling_class(),
        *(_coupling(name, kind) for name, kind in COUPLINGS.items()),
    ]
    return "".join(parts)


def _model(cls: type) -> str:
    name = cls.__name__
    figure = f"\n![{name}: response to a spike, and to a train](zoo/{name}.png)\n"
    start = f"\n### {name}\n\n{equations(cls)}\n"
    return start + figure + fields(cls) + presets(cls) + _names(name) + ends(cls, FOLDERS)


def _coupling_class() -> str:
    cls = jn.Coupling
    start = f"\n{equations(cls)}\n\nFields: {block(cls, 'Fields')}\n"
    return start + f"\nRaises: {block(cls, 'Raises')}\n" + ends(cls, OF_COUPLINGS)


def _coupling(name: str, kind: Kind) -> str:
    figure = f"\n![{kind.title}: a driven and an undriven neuron](zoo/{name}.png)\n"
    code = f"\n```python\n{kind.code.strip()}\n```\n"
    limits = zoo_gap_limits.page() if name == "GapJunctions" else ""
    return f"\n### {kind.title}\n\n{kind.text}\n{code}{figure}{limits}{_names(name)}"


def _names(name: str) -> str:
    return "\nNames elsewhere:\n\n" + table(("NEST", "Brian2", "lixirnet"), [TRANSMISSION[name]])


def example(cls: type) -> Any:
    """A value of a synapse: its defaults, or as the figure has it where it has none."""
    if cls is jn.synapses.Several:
        return cls((jn.synapses.AMPA(), jn.synapses.NMDA()), (1.0, 0.4))
    if cls is jn.synapses.Into:
        return cls(jn.synapses.Ionotropic(), "ampa")
    return cls()


def _drive(cls: type) -> str:
    """What a synapse gives to its neuron, from the drive that it returns."""
    model = example(cls)
    if cls is jn.synapses.Into:
        return "that of its receptor"
    arrivals = jnp.zeros((len(model.ports), 1) if model.ports else 1)

    def drive() -> jn.Drive:
        return model.step(model.init(1), arrivals, jnp.zeros(1), 0.1)[1]

    found = jax.eval_shape(drive)
    if cls is jn.synapses.Several:
        return "the sum of those of its parts"
    if found.arrivals is not None:
        return "arrivals"
    if found.jump is not None:
        return "jump of v"
    return "current" if found.conductance is None else "conductance"


def _when(cls: type) -> str:
    return "in every step" if cls.__name__ in EVERY_STEP else "at spikes"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _short(code: str) -> str:
    """What makes a coupling of a kind one of its kind."""
    parts = [
        re.sub(r"\(.*", "", x) for x in re.findall(r"(?:release|synapse|average)=[\w.]+", code)
    ]
    return f"Coupling(..., {', '.join(parts)})".replace(", )", ")").replace("jn.", "")
