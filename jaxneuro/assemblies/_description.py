"""What a brain consists of: areas, stimuli and the fibres between them."""

import dataclasses
from typing import Any

from .. import spec

CONNECTOMES = ("hashed", "explicit", "sampled")
# Weights above this are kept at it: the largest sums then fit into 63 bits.
LARGEST_WEIGHT = 2.0**20
LARGEST_BETA = 1000.0
BETA = spec.Number(at_least=0.0, at_most=LARGEST_BETA, traceable=True)


@dataclasses.dataclass(frozen=True)
class End(spec.Name):
    """The name of an area or a stimulus, of which names of fibres are made."""

    def convert(self, value: Any) -> str:
        name = super().convert(value)
        if "->" in name:
            raise spec.Unfit("a name without '->'")
        return name


class Area(spec.Value, eq=True):
    """n neurons, of which the k with the largest input fire.

    `connectome` says how the synapses onto this area are kept: "hashed" (drawn again in every
    round, never stored), "explicit" (stored) or "sampled" (only neurons that ever fired exist).
    """

    name: str = spec.field(End(), doc="its name")
    n: int = spec.field(spec.Whole(1, 2**30), doc="neurons")
    k: int = spec.field(spec.Whole(1), doc="the size of the cap")
    connectome: str = spec.field(
        spec.OneOf(*CONNECTOMES), default="hashed", doc="how the synapses onto it are kept"
    )
    capacity: int | None = spec.field(
        spec.Maybe(spec.Whole(1)),
        default=None,
        doc="neurons that a sampled area has room for, by default 8 k",
    )
    refraction: float = spec.field(
        spec.Number(at_least=0.0, at_most=2.0**20),
        default=0.0,
        doc="what the input of a neuron is lowered by for each time that it has fired",
    )
    homeostasis: bool = spec.field(
        spec.Flag(),
        default=False,
        doc="whether the weights that a neuron receives from one source are divided by their sum "
        "in every round; not of a sampled area, whose sums are not known",
    )
    rules = (
        spec.Rule("k", "at most n ({n})", lambda k, n: k <= n),
        spec.Rule(
            "capacity",
            "None, unless connectome is 'sampled'",
            lambda capacity, connectome: capacity is None or connectome == "sampled",
        ),
        spec.Rule(
            "capacity", "at least k ({k})", lambda capacity, k: capacity is None or capacity >= k
        ),
        spec.Rule(
            "homeostasis",
            "False of a sampled area, whose sums of weights are not known",
            lambda homeostasis, connectome: not (homeostasis and connectome == "sampled"),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampled:
            room = 8 * self.k if self.capacity is None else self.capacity
            object.__setattr__(self, "capacity", min(room, self.n))

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"area {self.name!r}"

    @property
    def sampled(self) -> bool:
        """Whether only neurons that ever fired exist."""
        return self.connectome == "sampled"

    @property
    def places(self) -> int:
        """The length of its arrays: all neurons, or those that a sampled area keeps."""
        return self.n if self.capacity is None else self.capacity


class Stimulus(spec.Value, eq=True):
    """Neurons outside the brain that all fire whenever the stimulus is active.

    For more, use an area whose cap is set (`brain.with_cap`).
    """

    name: str = spec.field(End(), doc="its name")
    size: int = spec.field(spec.Whole(1, 65_535), doc="neurons")

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"stimulus {self.name!r}"


class Fibre(spec.Value, eq=True):
    """The synapses from an area or a stimulus onto an area, or of an area onto itself.

    A fibre of p = 0 has none, and drives nothing. None for p or beta: those of the brain.
    """

    source: str = spec.field(spec.Name(), doc="the name of an area or a stimulus")
    target: str = spec.field(spec.Name(), doc="the name of an area")
    p: float | None = spec.field(
        spec.Maybe(spec.FRACTION), default=None, doc="the probability of each synapse"
    )
    beta: Any = spec.field(
        spec.Maybe(BETA),
        default=None,
        doc="what a weight grows by when both its neurons fire, to six decimals",
    )
    w_max: float = spec.field(
        spec.Number(at_least=1.0, at_most=LARGEST_WEIGHT),
        default=LARGEST_WEIGHT,
        doc="the ceiling of weights",
    )

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"fibre {self.name}"

    @property
    def name(self) -> str:
        """Its ends: "A->B"."""
        return f"{self.source}->{self.target}"
